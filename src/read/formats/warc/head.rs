//! The head of a record, by which one knows what it is and where it ends.

use memchr::memchr;

use crate::read::payload::HeaderLines;
use crate::read::record::Refusal;

/// Longest head of a record: Common Crawl's longest are of some KiB.
pub(super) const MOST_HEAD: usize = 64 << 10;

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordContent {
    /// What a server sent.
    Http,
    /// The document itself.
    Document,
    /// Nothing that is a document.
    Other,
}

/// What the head of a record says.
#[derive(Clone, Debug)]
pub(super) struct CrawlHead<'a> {
    /// What the record holds.
    pub(super) content: RecordContent,
    /// Its media type.
    pub(super) media: Option<&'a str>,
    /// What it is called.
    pub(super) id: Option<&'a str>,
    /// Where it is from.
    pub(super) url: Option<&'a str>,
    /// When it was fetched.
    pub(super) date: Option<&'a str>,
    /// All of its headers, where it has some.
    pub(super) headers: Option<HeaderLines<'a>>,
    /// Bytes of the content.
    pub(super) bytes: u64,
}

/// How the heads of records of a format are read.
pub(super) trait RecordHead: Send + 'static {
    /// Whether a record may begin with these bytes, of which more may follow.
    fn may_begin(bytes: &[u8]) -> bool;

    /// The fewest bytes with which [`may_begin`](RecordHead::may_begin) is sure.
    const SURE: usize;

    /// Where the head ends that begins here, if all of it is there.
    fn end(bytes: &[u8]) -> Option<usize>;

    /// What a whole head says.
    ///
    /// # Errors
    /// [`Refusal::Malformed`].
    fn read(head: &[u8]) -> Result<CrawlHead<'_>, Refusal>;
}

/// Heads of WARC: a version, and header lines up to a blank one.
pub(super) struct WarcHead;

impl WarcHead {
    /// Whether a file begins with a record.
    pub(super) fn begins(bytes: &[u8]) -> bool {
        let version = bytes.strip_prefix(b"WARC/").unwrap_or_default();
        version.first().is_some_and(u8::is_ascii_digit)
    }
}

impl RecordHead for WarcHead {
    const SURE: usize = b"WARC/".len() + 1;

    fn may_begin(bytes: &[u8]) -> bool {
        let length = bytes.len().min(b"WARC/".len());
        bytes[..length] == b"WARC/"[..length] && bytes.get(length).is_none_or(u8::is_ascii_digit)
    }

    fn end(bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let end = at + memchr(b'\n', &bytes[at..])? + 1;
            let line = &bytes[at..end];
            let is_header = at == 0 || matches!(line[0], b' ' | b'\t') || memchr(b':', line).is_some();
            // With a line that is no header it ends, too: then it is none.
            if !is_header || matches!(line, b"\n" | b"\r\n") {
                return Some(end);
            }
            at = end;
        }
    }

    fn read(head: &[u8]) -> Result<CrawlHead<'_>, Refusal> {
        let malformed = |what: &str| Refusal::Malformed(what.to_owned());
        let (headers, _) = HeaderLines::split(head).ok_or_else(|| malformed("the header does not end"))?;
        if !WarcHead::begins(head) {
            return Err(malformed("what should be a record does not begin with WARC/ and a version"));
        }
        let length = headers.get("Content-Length").and_then(|length| length.parse().ok());
        let bytes = length.ok_or_else(|| malformed("the header has no Content-Length that is a number"))?;
        let (media, url) = (headers.get("Content-Type"), headers.get("WARC-Target-URI").map(bare));
        let begins = |scheme: &str| {
            url.and_then(|url| url.get(..scheme.len())).is_some_and(|url| url.eq_ignore_ascii_case(scheme))
        };
        // What answers a web address is HTTP, whether the record says so or not.
        let is_http = || media.map_or_else(|| begins("http:") || begins("https:"), is_http);
        let content = match headers.get("WARC-Type").map(str::to_ascii_lowercase).as_deref() {
            _ if begins("dns:") => RecordContent::Other,
            Some("response") if is_http() => RecordContent::Http,
            Some("response" | "resource" | "conversion") => RecordContent::Document,
            Some(_) => RecordContent::Other,
            None => return Err(malformed("the header has no WARC-Type")),
        };
        let (id, date) = (headers.get("WARC-Record-ID"), headers.get("WARC-Date"));
        Ok(CrawlHead { content, media, id, url, date, headers: Some(headers), bytes })
    }
}

fn is_http(media: &str) -> bool {
    media.split(';').next().is_some_and(|name| name.trim().eq_ignore_ascii_case("application/http"))
}

/// An address without the angle brackets that early writers put around it.
fn bare(url: &str) -> &str {
    url.strip_prefix('<').and_then(|url| url.strip_suffix('>')).unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_answers_a_web_address_is_http_unless_its_record_says_otherwise() {
        let content = |headers: &str| {
            let head = format!("WARC/1.0\r\n{headers}Content-Length: 3\r\n\r\n");
            WarcHead::read(head.as_bytes()).expect("a head").content
        };
        let (web, file) = ("WARC-Target-URI: <http://a/>\r\n", "WARC-Target-URI: ftp://a/\r\n");
        for (headers, expected) in [
            (format!("WARC-Type: response\r\n{web}"), RecordContent::Http),
            (format!("WARC-Type: Response\r\n{web}Content-Type: application/http\r\n"), RecordContent::Http),
            (format!("WARC-Type: response\r\n{web}Content-Type: text/plain\r\n"), RecordContent::Document),
            (format!("WARC-Type: response\r\n{file}"), RecordContent::Document),
            (format!("WARC-Type: resource\r\n{web}"), RecordContent::Document),
            ("WARC-Type: response\r\nWARC-Target-URI: dns:a\r\n".to_owned(), RecordContent::Other),
            (format!("WARC-Type: request\r\n{web}"), RecordContent::Other),
        ] {
            assert_eq!(content(&headers), expected, "{headers}");
        }
    }
}
