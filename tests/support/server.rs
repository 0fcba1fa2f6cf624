//! A server of objects, as S3, the hub of Hugging Face and plain web servers answer; and what may go wrong with one.
//!
//! It speaks HTTP/1.1 with a thread for each connection: HEAD and GET with `Range` and `If-Match`, ListObjectsV2 in pages,
//! uploads in parts ([`uploads`](super::uploads)), and the two calls of the hub that list a data set. It notes what it was asked for.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::uploads::{Uploads, WriteFault, write};

/// Objects to a page of a list.
const PAGE: usize = 3;
/// The commit of every revision of every data set.
pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// What goes wrong with requests for bytes of objects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// So many of them are answered by this status.
    Status(u16, usize),
    /// So many bodies end in the middle, with the connection.
    Cut(usize),
    /// After so many of them, each object is another one.
    ChangedAfter(usize),
    /// So many say that there are fewer bytes than were asked for, and send no more.
    Short(usize),
    /// After so many of them, none is ever answered.
    SilentAfter(usize),
    /// Every answer comes after so many milliseconds.
    Slow(u64),
    /// Whole objects are sent, whatever part is asked for.
    NoParts,
}

/// A request for bytes of an object: its name, the first byte, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) name: String,
    pub(crate) start: usize,
    pub(crate) bytes: usize,
}

#[derive(Default)]
struct Held {
    objects: BTreeMap<String, Vec<u8>>,
    faults: Vec<Fault>,
    asked: Vec<Asked>,
    /// What is added to each tag.
    changes: usize,
    /// The header `Authorization` that is asked for, if any is.
    secret: Option<String>,
    /// Whether objects have tags.
    untagged: bool,
    /// Whether nobody may ask what is known of objects without their bytes.
    headless: bool,
    uploads: Uploads,
}

/// A server on this machine, until the process ends.
pub(crate) struct Server {
    pub(crate) address: String,
    held: Arc<Mutex<Held>>,
}

impl Server {
    /// A server of these objects, by name: the bucket, a slash, and the key.
    pub(crate) fn new(objects: &[(&str, Vec<u8>)]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let held = Arc::new(Mutex::new(Held::default()));
        for (name, bytes) in objects {
            held.lock().unwrap().objects.insert((*name).to_owned(), bytes.clone());
        }
        let shared = Arc::clone(&held);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || drop(serve(&stream, &shared)));
            }
        });
        Server { address, held }
    }

    /// Has this go wrong from now on.
    pub(crate) fn fault(&self, fault: Fault) {
        self.held.lock().unwrap().faults.push(fault);
    }

    /// Has this go wrong with what is written from now on.
    pub(crate) fn write_fault(&self, fault: WriteFault) {
        self.held.lock().unwrap().uploads.begin(fault);
    }

    /// Parts that were written so far, and uploads that are neither complete nor given up.
    pub(crate) fn uploads(&self) -> (usize, usize) {
        let held = self.held.lock().unwrap();
        (held.uploads.parts, held.uploads.open())
    }

    /// All objects whose names begin so, by what follows.
    pub(crate) fn objects(&self, beginning: &str) -> BTreeMap<String, Vec<u8>> {
        let held = self.held.lock().unwrap();
        let below = |(name, bytes): (&String, &Vec<u8>)| {
            Some((name.strip_prefix(beginning)?.to_owned(), bytes.clone()))
        };
        held.objects.iter().filter_map(below).collect()
    }

    /// Nothing goes wrong any more, and nothing was asked for.
    pub(crate) fn forget(&self) {
        let mut held = self.held.lock().unwrap();
        held.faults.clear();
        held.uploads.fault = None;
        held.asked.clear();
    }

    /// Gives nothing to whoever does not send this.
    pub(crate) fn require(&self, authorization: &str) {
        self.held.lock().unwrap().secret = Some(authorization.to_owned());
    }

    /// Takes the tags of all objects.
    pub(crate) fn without_tags(&self) {
        self.held.lock().unwrap().untagged = true;
    }

    /// Has requests for heads refused.
    pub(crate) fn without_heads(&self) {
        self.held.lock().unwrap().headless = true;
    }

    /// What was asked for.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.held.lock().unwrap().asked.clone()
    }

    /// Bytes of all objects.
    pub(crate) fn bytes(&self) -> usize {
        self.held.lock().unwrap().objects.values().map(Vec::len).sum()
    }

    /// The variables that lead the program here, as somebody whom S3 knows.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let here = format!("http://{}", self.address);
        vec![
            ("AWS_ENDPOINT_URL", here.clone()),
            ("AWS_ACCESS_KEY_ID", "somebody".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "open-sesame".to_owned()),
            ("AWS_MAX_ATTEMPTS", "4".to_owned()),
            ("HF_ENDPOINT", here),
            ("HOME", "/nowhere".to_owned()),
        ]
    }
}

/// A request, as far as it matters.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

fn request(input: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    input.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let query = pairs.map(|(name, value)| (decoded(name), decoded(value))).collect();
    Some(Request { method, path: decoded(path.trim_start_matches('/')), query, headers, body })
}

fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let hex =
            (*first == b'%').then(|| u8::from_str_radix(std::str::from_utf8(after.get(..2)?).ok()?, 16).ok());
        match hex.flatten() {
            Some(byte) => (bytes.push(byte), rest = &after[2..]),
            None => (bytes.push(*first), rest = after),
        };
    }
    String::from_utf8(bytes).unwrap()
}

/// An answer: status, headers, and the body, of which perhaps not all is sent.
pub(super) struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
    length: usize,
}

impl Answer {
    pub(super) fn of(status: u16, headers: &str, body: impl Into<Vec<u8>>) -> Answer {
        let body = body.into();
        Answer { status, headers: headers.to_owned(), length: body.len(), body }
    }
}

fn serve(stream: &TcpStream, held: &Mutex<Held>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut input, mut output) = (BufReader::new(stream), stream);
    while let Some(request) = request(&mut input) {
        let Some(answer) = answer(&request, held) else {
            thread::sleep(Duration::from_secs(600));
            return Ok(());
        };
        let Answer { status, headers, body, length } = answer;
        write!(output, "HTTP/1.1 {status} Status\r\nContent-Length: {length}\r\n{headers}\r\n")?;
        if request.method != "HEAD" {
            output.write_all(&body)?;
        }
        if body.len() != length {
            return Ok(());
        }
    }
    Ok(())
}

fn answer(request: &Request, held: &Mutex<Held>) -> Option<Answer> {
    let secret = held.lock().unwrap().secret.clone();
    if let Some(secret) = secret.filter(|_| !request.path.starts_with("moved/")) {
        let given = request.headers.get("authorization").map_or("", String::as_str);
        if !given.contains(&secret) {
            let body = "<Error><Code>AccessDenied</Code></Error>";
            return Some(Answer::of(if given.is_empty() { 401 } else { 403 }, "", body));
        }
    }
    // A token is for the hub, and for nobody that it sends anyone to.
    if request.path.starts_with("moved/") && request.headers.contains_key("authorization") {
        return Some(Answer::of(400, "", ""));
    }
    if !matches!(&*request.method, "GET" | "HEAD") {
        let Held { objects, uploads, .. } = &mut *held.lock().unwrap();
        return write(request, objects, uploads);
    }
    if request.query.contains_key("list-type") {
        return Some(list(request, &held.lock().unwrap()));
    }
    if request.query.get("comp").is_some_and(|asked| asked == "list") {
        return Some(list_of_container(request, &held.lock().unwrap()));
    }
    if let Some(answer) = hub(request, &held.lock().unwrap()) {
        return Some(answer);
    }
    object(request, held)
}

/// A page of a list of objects, as S3 gives it.
fn list(request: &Request, held: &Held) -> Answer {
    let bucket = format!("{}/", request.path.trim_end_matches('/'));
    let of = |name: &str| request.query.get(name).cloned().unwrap_or_default();
    let (prefix, after) = (of("prefix"), of("continuation-token"));
    // In no order that anybody may rely on.
    let keys =
        held.objects.iter().rev().filter_map(|(name, bytes)| Some((name.strip_prefix(&bucket)?, bytes)));
    let keys: Vec<_> = keys.filter(|(key, _)| key.starts_with(&prefix)).collect();
    let from: usize = after.parse().unwrap_or(0);
    let mut body = String::from("<?xml version=\"1.0\"?><ListBucketResult>");
    for (key, bytes) in keys.iter().skip(from).take(PAGE) {
        body += &format!(
            "<Contents><Key>{}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>{}</ETag><Size>{}</Size>\
             </Contents>",
            key.replace('&', "&amp;"),
            tag(held, bytes).replace('"', "&quot;"),
            bytes.len()
        );
    }
    if keys.len() > from + PAGE {
        let next = from + PAGE;
        body +=
            &format!("<IsTruncated>true</IsTruncated><NextContinuationToken>{next}</NextContinuationToken>");
    }
    Answer::of(200, "Content-Type: application/xml\r\n", body + "</ListBucketResult>")
}

/// All of a list of objects, as Azure gives it: with entity tags that have no quotes.
fn list_of_container(request: &Request, held: &Held) -> Answer {
    let container = format!("{}/", request.path.trim_end_matches('/'));
    let prefix = request.query.get("prefix").cloned().unwrap_or_default();
    let keys = held.objects.iter().filter_map(|(name, bytes)| Some((name.strip_prefix(&container)?, bytes)));
    let blobs = keys.filter(|(key, _)| key.starts_with(&prefix)).map(|(key, bytes)| {
        format!(
            "<Blob><Name>{}</Name><Properties><Last-Modified>Thu, 01 Jan 2026 00:00:00 GMT</Last-Modified><Etag>{}</Etag>\
             <Content-Length>{}</Content-Length><Content-Type>text/plain</Content-Type></Properties></Blob>",
            key.replace('&', "&amp;"),
            tag(held, bytes).replace('"', ""),
            bytes.len()
        )
    });
    let body = format!(
        "<?xml version=\"1.0\"?><EnumerationResults><Blobs>{}</Blobs><NextMarker/></EnumerationResults>",
        blobs.collect::<String>()
    );
    Answer::of(200, "Content-Type: application/xml\r\n", body)
}

fn tag(held: &Held, bytes: &[u8]) -> String {
    let sum = bytes.iter().fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    format!("\"{sum:x}-{}\"", held.changes)
}

/// What the hub says of data sets, and where it sends whoever wants a file.
fn hub(request: &Request, held: &Held) -> Option<Answer> {
    let json = |body: String| Some(Answer::of(200, "Content-Type: application/json\r\n", body));
    if let Some(rest) = request.path.strip_prefix("api/datasets/") {
        let mut parts = rest.splitn(5, '/');
        let (owner, name) = (parts.next()?, parts.next()?);
        let (call, revision) = (parts.next()?, parts.next()?);
        let folder = parts.next().unwrap_or("");
        if call == "revision" {
            return match revision {
                "main" | "v1" => json(format!("{{\"sha\": \"{COMMIT}\"}}")),
                _ => Some(Answer::of(404, "", "")),
            };
        }
        let set = format!("{owner}/{name}/");
        let of_set = held.objects.iter().filter_map(|(at, bytes)| Some((at.strip_prefix(&set)?, bytes)));
        let files: Vec<_> = of_set.filter(|(path, _)| path.starts_with(folder)).collect();
        let from: usize = request.query.get("cursor").map_or(0, |cursor| cursor.parse().unwrap());
        let page = files.iter().skip(from).take(PAGE).map(|(path, bytes)| {
            serde_json::json!({"type": "file", "path": path, "size": bytes.len(), "oid": "1"})
        });
        let mut entries = vec![serde_json::json!({"type": "directory", "path": "data", "oid": "2"})];
        entries.extend(page);
        let answer = json(serde_json::Value::Array(entries).to_string())?;
        let host = &request.headers["host"];
        let more = files.len() > from + PAGE;
        let link = format!(
            "Link: <http://{host}/{}?recursive=true&cursor={}>; rel=\"next\"\r\n",
            request.path,
            from + PAGE
        );
        return Some(if more {
            Answer { headers: answer.headers.clone() + &link, ..answer }
        } else {
            answer
        });
    }
    let rest = request.path.strip_prefix("datasets/")?;
    let (set, file) = rest.split_once(&format!("/resolve/{COMMIT}/"))?;
    // Files are elsewhere, for whoever was let in here.
    let elsewhere = request.headers["host"].replace("127.0.0.1", "localhost");
    Some(Answer::of(302, &format!("Location: http://{elsewhere}/moved/{set}/{file}?signed=1\r\n"), ""))
}

/// An object, or a part of it; `None` if there is never an answer.
fn object(request: &Request, held: &Mutex<Held>) -> Option<Answer> {
    let mut held = held.lock().unwrap();
    let name = request.path.strip_prefix("moved/").unwrap_or(&request.path).to_owned();
    let Some(bytes) = held.objects.get(&name).cloned() else {
        return Some(Answer::of(404, "", "<Error><Code>NoSuchKey</Code></Error>"));
    };
    if held.headless && request.method == "HEAD" {
        return Some(Answer::of(405, "", ""));
    }
    let (is_get, mut cut, mut short, mut no_parts, mut status, mut slow) =
        (request.method == "GET", false, false, false, None, 0);
    let gets = held.asked.len();
    let (mut changed, mut silent) = (false, false);
    for fault in held.faults.iter_mut().filter(|_| is_get) {
        match fault {
            Fault::Status(code, times) if *times > 0 => (*times, status) = (*times - 1, Some(*code)),
            Fault::Cut(times) if *times > 0 => (*times, cut) = (*times - 1, true),
            Fault::Short(times) if *times > 0 => (*times, short) = (*times - 1, true),
            Fault::ChangedAfter(times) => changed |= gets >= *times,
            Fault::SilentAfter(times) => silent |= gets >= *times,
            Fault::Slow(time) => slow = *time,
            Fault::NoParts => no_parts = true,
            _ => {}
        }
    }
    held.changes = usize::from(changed);
    let tag = tag(&held, &bytes);
    let whole = 0..bytes.len();
    let range = request.headers.get("range").filter(|_| !no_parts).map_or(whole.clone(), |range| {
        let (start, end) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        start.parse().unwrap()..end.parse::<usize>().map_or(bytes.len(), |end| (end + 1).min(bytes.len()))
    });
    if is_get {
        held.asked.push(Asked { name, start: range.start, bytes: range.len() });
    }
    if silent {
        return None;
    }
    let tagged = if held.untagged { String::new() } else { format!("ETag: {tag}\r\n") };
    drop(held);
    thread::sleep(Duration::from_millis(slow));
    if let Some(status) = status {
        return Some(Answer::of(status, "", "<Error><Code>SlowDown</Code></Error>"));
    }
    if request.headers.get("if-match").is_some_and(|wanted| *wanted != tag) {
        return Some(Answer::of(412, "", "<Error><Code>PreconditionFailed</Code></Error>"));
    }
    let is_ranged = request.headers.contains_key("range") && !no_parts;
    if range.start > range.end || (is_ranged && range.start >= bytes.len()) {
        return Some(Answer::of(416, &format!("Content-Range: bytes */{}\r\n", bytes.len()), ""));
    }
    let dated = "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nAccept-Ranges: bytes\r\n";
    let mut headers = format!("{tagged}{dated}");
    let mut status = 200;
    if is_ranged {
        status = 206;
        headers +=
            &format!("Content-Range: bytes {}-{}/{}\r\n", range.start, range.end.max(1) - 1, bytes.len());
    }
    let mut answer = Answer::of(status, &headers, &bytes[range.clone()]);
    if cut || short {
        answer.body.truncate(range.len() / 2);
    }
    if short {
        answer.length = answer.body.len();
    }
    Some(answer)
}
