//! What a process tells of itself: metrics over HTTP, a line an epoch, times of operators. A process is held at its end,
//! when it has counted all and still answers, by a pipe that is full when it writes its report.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::Value;

use crate::support::output::Output;
use crate::support::program::Dir;
use crate::support::texts::{line, words};

/// Longest time for anything here to happen.
const LONG: Duration = Duration::from_secs(60);

/// Records in two files, every third with a near-copy, one line of them no record.
fn records(dir: &Dir) {
    for (name, from) in [("in/a.jsonl", 0), ("in/b.jsonl", 600)] {
        let mut text = String::new();
        for i in from..from + 600 {
            text += &line(&format!("d{i}"), &words(i * 1000, 90));
            if i % 3 == 0 {
                text += &line(&format!("copy{i}"), &words(i * 1000 + 2, 90));
            }
        }
        dir.write(name, text + "no record\n");
    }
}

/// A port that was free a moment ago, and so were those above it.
fn free_port() -> u16 {
    loop {
        let found = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = found.local_addr().unwrap().port();
        let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if (1..4).all(|i| port.checked_add(i).is_some_and(free)) {
            return port;
        }
    }
}

/// The beginning of a line that launches two processes at ports of their own.
fn two(dir: &Dir) -> &'static str {
    let port = free_port();
    dir.write("two.hosts", format!("127.0.0.1:{port}\n127.0.0.1:{}\n", port + 1));
    "launch --hosts two.hosts"
}

/// A process that cannot end before its report is read.
struct Held {
    child: Child,
    full: PipeReader,
    junk: usize,
}

/// Which stream is a full pipe.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Error,
}

fn hold(dir: &Dir, line: &str, held: Stream) -> Held {
    let (full, mut writer) = std::io::pipe().unwrap();
    let junk = fill(&mut writer);
    let mut command = Command::new(env!("CARGO_BIN_EXE_alike"));
    command.args(line.split_whitespace()).current_dir(dir.path()).stdin(Stdio::null());
    let other = || Stdio::from(fs::File::create(dir.join("other")).unwrap());
    match held {
        Stream::Out => command.stdout(writer).stderr(other()),
        Stream::Error => command.stderr(writer).stdout(other()),
    };
    Held { child: command.spawn().unwrap(), full, junk }
}

/// Fills a pipe; with how many bytes.
fn fill(writer: &mut PipeWriter) -> usize {
    let flags = fcntl_getfl(&*writer).unwrap();
    fcntl_setfl(&*writer, flags | OFlags::NONBLOCK).unwrap();
    let mut junk = 0;
    for piece in [&[b'#'; 4096][..], b"#"] {
        loop {
            match writer.write(piece) {
                Ok(some) => junk += some,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
    fcntl_setfl(&*writer, flags).unwrap();
    junk
}

impl Held {
    /// Lets it end well; what it had to say.
    fn release(mut self) -> String {
        let mut all = Vec::new();
        self.full.read_to_end(&mut all).unwrap();
        let text = String::from_utf8(all.split_off(self.junk)).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{text}");
        text
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // It has ended, unless the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answer to GET PATH, or nothing if nobody is there.
fn get(port: u16, path: &str) -> Option<(String, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    Some((head.to_owned(), body.to_owned()))
}

/// Values by name and labels.
type Values = BTreeMap<(String, BTreeMap<String, String>), f64>;

/// A page of the text format, every line held to it; and which names are counters.
fn parse(page: &str) -> (Values, BTreeSet<String>) {
    let (mut values, mut counters, mut done) = (Values::new(), BTreeSet::new(), BTreeSet::new());
    let mut family = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(told) = line.strip_prefix("# HELP ") {
            let (name, help) = told.split_once(' ').expect("help");
            assert!(!help.is_empty() && done.insert(name.to_owned()), "{name} stands there twice");
            let kind = lines.next().and_then(|line| line.strip_prefix("# TYPE ")).expect("a type");
            let (same, kind) = kind.split_once(' ').expect("a type");
            assert!(same == name && ["counter", "gauge"].contains(&kind), "{line}");
            if kind == "counter" {
                counters.insert(name.to_owned());
            }
            name.clone_into(&mut family);
            continue;
        }
        let (name, rest) = line.split_once('{').expect("labels");
        let (labels, value) = rest.rsplit_once("} ").expect("a value");
        assert_eq!(name, family, "a value without its help");
        let known = values.insert((name.to_owned(), pairs(labels)), value.parse().expect("a number"));
        assert!(known.is_none(), "twice: {line}");
    }
    assert!(page.ends_with('\n'));
    (values, counters)
}

/// Labels without anything to escape, as those of a page of alike are.
fn pairs(labels: &str) -> BTreeMap<String, String> {
    let pairs = labels.split(',').map(|label| label.split_once('=').expect("name=value"));
    let bare = |value: &str| value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).map(str::to_owned);
    pairs.map(|(name, value)| (name.to_owned(), bare(value).expect("quotes"))).collect()
}

/// The sum over all labels that have these among them.
fn sum(values: &Values, name: &str, with: &[(&str, &str)]) -> f64 {
    let fits = |labels: &BTreeMap<String, String>| {
        with.iter().all(|(name, value)| labels.get(*name).is_some_and(|known| known == value))
    };
    let found: Vec<f64> = values
        .iter()
        .filter(|((known, labels), _)| known == name && fits(labels))
        .map(|(_, value)| *value)
        .collect();
    assert!(!found.is_empty(), "no {name} {with:?}");
    found.iter().sum()
}

/// Asks again and again until `enough`; no counter ever falls.
fn watch(port: u16, enough: impl Fn(&Values) -> bool) -> Values {
    let (begun, mut last) = (Instant::now(), Values::new());
    loop {
        assert!(begun.elapsed() < LONG, "{last:?}");
        let Some((head, body)) = get(port, "/metrics") else { continue };
        assert!(
            head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("text/plain; version=0.0.4"),
            "{head}"
        );
        let (values, counters) = parse(&body);
        for (place, value) in values.iter().filter(|((name, _), _)| counters.contains(name)) {
            let before = last.get(place).copied().unwrap_or(0.0);
            assert!(*value >= before, "{place:?} fell from {before} to {value}");
        }
        last = values;
        if enough(&last) {
            return last;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a process has nothing more to do: it has been in its last stage for a while.
fn over(values: &Values, stage: &str) -> bool {
    let known = values.keys().any(|(name, _)| name == "alike_stage");
    known
        && sum(values, "alike_stage", &[("stage", stage)]) == 1.0
        && sum(values, "alike_stage_seconds_total", &[("stage", stage)]) > 2.0
}

#[test]
fn a_run_counts_what_its_summary_says() {
    let dir = Dir::new();
    records(&dir);
    let port = free_port();
    let held = hold(&dir, &format!("dedup in --out out -w 2 --metrics 127.0.0.1:{port}"), Stream::Error);
    let values = watch(port, |values| over(values, "write"));
    assert_eq!(get(port, "/healthz").expect("answered").1, "ok\n");
    held.release();
    let summary = Output::read(&dir.join("out")).summary;
    for (name, told) in [
        ("alike_documents_total", &summary["documents"]),
        ("alike_refused_records_total", &summary["rejected"]),
        ("alike_read_bytes_total", &summary["inputs"]["bytes"]),
        ("alike_text_bytes_total", &summary["inputs"]["text_bytes"]),
        ("alike_candidates_total", &summary["candidates"]),
        ("alike_verified_candidates_total", &summary["verified"]),
        ("alike_links_total", &summary["near_duplicates"]),
        ("alike_hot_groups_total", &summary["hot_groups"]),
        ("alike_workers", &summary["workers"]),
    ] {
        assert_eq!(
            Some(sum(&values, name, &[("process", "0"), ("command", "dedup")])),
            told.as_f64(),
            "{name}"
        );
    }
    assert_eq!(summary["near_duplicates"], 400);
    assert_eq!(sum(&values, "alike_stage", &[]), 1.0);
    assert!(sum(&values, "alike_postings_total", &[]) > 0.0 && sum(&values, "alike_units_total", &[]) > 0.0);
    let (resident, peak) = ("alike_memory_resident_bytes", "alike_memory_peak_bytes");
    assert!(sum(&values, resident, &[]) > 1e6 && sum(&values, peak, &[]) >= sum(&values, resident, &[]));
    assert_eq!(sum(&values, "alike_peers", &[]), 0.0);
}

#[test]
fn processes_of_a_load_count_together_what_its_report_says() {
    let dir = Dir::new();
    records(&dir);
    let port = free_port();
    dir.write("hosts", format!("127.0.0.1:{port}\n127.0.0.1:{}\n", port + 1));
    let line = |process: usize, more: &str| {
        format!("load c in --hosts hosts --insecure -w 1 --epoch 128K --json -p {process} {more}")
    };
    let held = hold(&dir, &line(0, &format!("--metrics localhost:{}", port + 2)), Stream::Out);
    let waits = watch(port + 2, |_| true);
    assert_eq!(sum(&waits, "alike_info", &[("version", env!("CARGO_PKG_VERSION"))]), 1.0);
    let other = dir.alike(&line(1, "--json-progress --profile"), None).ok();
    let values = watch(port + 2, |values| over(values, "write"));
    let report: Value = serde_json::from_str(&held.release()).unwrap();
    let one = |name: &str| sum(&values, name, &[("process", "0"), ("command", "load")]);
    assert_eq!((one("alike_peers"), one("alike_peers_alive")), (1.0, 0.0), "the other has left");
    assert_eq!(Some(one("alike_epochs_total")), report["epochs"].as_f64());
    assert!(report["epochs"].as_u64() > Some(3) && report["records"] == 1600, "{report}");
    assert_eq!(one("alike_commits_total"), 1.0);
    for channel in ["data", "control"] {
        for name in ["alike_wire_sent_bytes_total", "alike_wire_received_bytes_total"] {
            assert!(sum(&values, name, &[("peer", "1"), ("channel", channel)]) > 0.0, "{name} {channel}");
        }
    }
    let lines = crate::support::output::jsonl(other.stderr.as_bytes());
    let epochs: Vec<&Value> = lines.iter().filter(|line| line["event"] == "epoch").collect();
    let counted = |field: &str| epochs.iter().map(|line| line[field].as_f64().unwrap()).sum::<f64>();
    for (name, field) in [("alike_documents_total", "records"), ("alike_refused_records_total", "refused")] {
        let all = if field == "records" { 1600.0 } else { 2.0 };
        assert_eq!(one(name) + counted(field), all, "{name}");
    }
    let bytes: u64 =
        ["in/a.jsonl", "in/b.jsonl"].map(|name| fs::metadata(dir.join(name)).unwrap().len()).iter().sum();
    assert_eq!(one("alike_read_bytes_total") + counted("bytes"), bytes as f64);
    assert_eq!(one("alike_links_total") + counted("links"), 400.0);
    assert!(epochs.iter().all(|line| line["process"] == 1 && line["load"] == 1));
    assert!(epochs.iter().any(|line| line["wire_sent_bytes"].as_u64() > Some(0)));
    let profile = lines.iter().find(|line| line["event"] == "profile").expect("a profile");
    assert!(profile["process"] == 1 && !profile["rows"].as_array().unwrap().is_empty());
}

#[test]
fn strangers_do_not_hinder_a_run() {
    let dir = Dir::new();
    records(&dir);
    let plain = dir.output("in", "plain");
    let port = free_port();
    let held = hold(&dir, &format!("dedup in --out out --metrics 127.0.0.1:{port}"), Stream::Error);
    watch(port, |_| true);
    let call = |_| TcpStream::connect(("127.0.0.1", port)).unwrap();
    let silent: Vec<TcpStream> = (0..200).map(call).collect();
    for number in 0..50 {
        let garbage: Vec<u8> = (0..number * 400).map(|i| (i * 7 + number) as u8).collect();
        // Whether it is heard to the end is not the point.
        let _ = call(0).write_all(&garbage);
    }
    let begun = Instant::now();
    watch(port, |values| over(values, "write"));
    assert!(get(port, "/healthz").is_some());
    assert!(begun.elapsed() < LONG / 2, "{:?}", begun.elapsed());
    held.release();
    drop(silent);
    let out = Output::read(&dir.join("out"));
    assert_eq!((out.kept, out.duplicates, out.clusters), (plain.kept, plain.duplicates, plain.clusters));
}

#[test]
fn an_address_that_cannot_be_is_a_clear_error() {
    let dir = Dir::new();
    records(&dir);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    for (address, part) in [
        (format!("127.0.0.1:{port}"), format!("cannot listen at port {port}")),
        ("127.0.0.1".to_owned(), "has no port".to_owned()),
        ("127.0.0.1:65536".to_owned(), "expected host:port".to_owned()),
        (":9100".to_owned(), "expected host:port".to_owned()),
        ("65536".to_owned(), "expected a port up to 65535".to_owned()),
        ("no.such.host.invalid:9100".to_owned(), "the host is not found".to_owned()),
    ] {
        for command in ["dedup in --out out", "load c in", "delete c --ids in", "compact c", "recluster c"] {
            dir.alike(&format!("{command} --metrics {address}"), None).code(2).says(&part).says("--metrics");
        }
    }
    assert!(!dir.join("out").exists() && !dir.join("c").exists());
    // Of two on this machine the second takes the next port, which is taken.
    let first = port.checked_sub(1).unwrap();
    let ran = dir.alike(&format!("{} -- load c in -w 1 --metrics 127.0.0.1:{first}", two(&dir)), None);
    ran.code(2).says(&format!("[1] alike: error: --metrics 127.0.0.1:{first}: cannot listen at port {port}"));
}

#[test]
fn a_port_that_the_system_chose_is_told() {
    let dir = Dir::new();
    records(&dir);
    let ran = dir.alike("dedup in --dry-run --quiet --metrics 127.0.0.1:0", None).ok();
    assert!(ran.stderr.starts_with("alike: metrics at http://127.0.0.1:"), "{}", ran.stderr);
    // A port alone is one of this machine.
    let ran = dir.alike("dedup in --dry-run --quiet --metrics 0", None).ok();
    let local = ["http://127.0.0.1:", "http://[::1]:"].map(|address| format!("alike: metrics at {address}"));
    assert!(local.iter().any(|told| ran.stderr.starts_with(told)), "{}", ran.stderr);
    let ran = dir.alike("dedup in --dry-run --json-progress --metrics 127.0.0.1:0 --profile", None).ok();
    let lines = crate::support::output::jsonl(ran.stderr.as_bytes());
    assert!(lines[0]["event"] == "metrics" && lines[0]["address"].is_string(), "{}", lines[0]);
    let events = |event: &str| lines.iter().filter(|line| line["event"] == event).count();
    assert!(events("profile") == 1 && events("warning") > 0, "{lines:?}");
    assert_eq!(lines.last().unwrap()["summary"]["documents"], 1600);
    let ran = dir.alike(&format!("{} -- load c in -w 1 --metrics localhost:0", two(&dir)), None).ok();
    for index in 0..2 {
        assert!(ran.stderr.contains(&format!("[{index}] alike: metrics at http://")), "{}", ran.stderr);
    }
}

#[test]
fn every_epoch_has_a_line() {
    let dir = Dir::new();
    records(&dir);
    let ran =
        dir.alike("load people in --epoch 128K", None).ok().says("load 1, epoch 1: ").says("(the last): ");
    let told = ran.stderr.lines().filter(|line| line.starts_with("load 1, epoch ")).count();
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["epochs"], told);
    let ran = dir.alike("load one in", None).ok();
    assert!(!ran.stderr.contains("epoch"), "{}", ran.stderr);
    let ran = dir.alike("load quiet in --epoch 128K --quiet --json", None).ok();
    assert_eq!(ran.stderr, "");

    let ran = dir
        .alike(&format!("{} --json-progress -- load two in --epoch 128K -w 1 --json", two(&dir)), None)
        .ok();
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let lines = crate::support::output::jsonl(ran.stderr.as_bytes());
    let mut records = 0;
    for process in 0..2 {
        let own: Vec<&Value> =
            lines.iter().filter(|line| line["event"] == "epoch" && line["process"] == process).collect();
        let numbers: Vec<u64> = own.iter().map(|line| line["epoch"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=report["epochs"].as_u64().unwrap()).collect::<Vec<_>>());
        assert!(own.iter().rev().skip(1).all(|line| line["last"] == false));
        assert_eq!(own.last().unwrap()["last"], true);
        records += own.iter().map(|line| line["records"].as_u64().unwrap()).sum::<u64>();
        let whole = |line: &&Value| {
            let stages = line["stages"].as_object().unwrap().values().map(|s| s.as_f64().unwrap());
            (stages.sum::<f64>() - line["seconds"].as_f64().unwrap()).abs() < 1e-6
        };
        assert!(own.iter().all(whole) && own.iter().all(|line| line["memory_peak_bytes"].is_u64()));
    }
    assert_eq!(records, 1600);
    let ran = dir.alike(&format!("{} -- load three in --epoch 128K -w 1", two(&dir)), None).ok();
    ran.says("[0] load 1, epoch 1: ").says("[1] load 1, epoch 1: ").says("over the wire");
}

#[test]
fn a_profile_says_where_the_time_went() {
    let dir = Dir::new();
    records(&dir);
    let plain = dir.output("in", "plain");
    dir.alike("dedup in --out out --profile=missing/times.json", None).code(2).says("missing is no folder");
    assert!(!dir.join("out").exists(), "told before the work");
    let ran = dir.alike("dedup in --out out -w 2 --profile", None).ok();
    for part in ["STAGE    OPERATOR", "read     (outside operators)", "collide  Collide"] {
        assert!(ran.stderr.contains(part), "no {part}: {}", ran.stderr);
    }
    assert_eq!(Output::read(&dir.join("out")).duplicates, plain.duplicates);
    dir.alike(&format!("{} -- load c in -w 1 --epoch 256K --profile=times.json", two(&dir)), None).ok();
    for process in 0..2 {
        let text = fs::read(dir.join(&format!("times.json.{process}"))).unwrap();
        let profile: Value = serde_json::from_slice(&text).unwrap();
        assert!(profile["process"] == process && profile["command"] == "load");
        let rows = profile["rows"].as_array().unwrap();
        let of = |operator: &'static str| rows.iter().filter(move |row| row["operator"] == operator);
        for operator in ["Collide", "Count", "Verify", "LastWriteWins", "(outside operators)"] {
            assert!(of(operator).count() > 0, "no {operator}: {rows:?}");
        }
        assert!(of("Collide").all(|row| row["activations"].as_u64() > Some(0)));
        assert!(rows.iter().all(|row| row["seconds"].as_f64().is_some_and(|s| (0.0..600.0).contains(&s))));
    }
    dir.write("mine", "mine");
    dir.alike("recluster c --profile=mine", None).code(2).says("exists already");
    // Without an equals sign the next word is an input.
    dir.alike("dedup --profile in --dry-run", None).ok().says("OPERATOR");
    assert_eq!(fs::read(dir.join("mine")).unwrap(), b"mine");
}
