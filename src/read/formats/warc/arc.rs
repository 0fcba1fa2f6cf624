//! Heads of ARC, which came before WARC: a line of address, host, time, media type and length.

use super::head::{CrawlHead, RecordContent, RecordHead};
use crate::read::record::Refusal;

/// Heads of ARC.
pub(super) struct ArcHead;

impl ArcHead {
    /// Whether bytes begin as the record that describes a file does.
    pub(super) fn describes_file(bytes: &[u8]) -> bool {
        bytes.get(..DESCRIPTION.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(DESCRIPTION))
    }

    /// The head that bytes begin with, and what stands behind it.
    pub(super) fn begins(bytes: &[u8]) -> Option<(CrawlHead<'_>, &[u8])> {
        let (head, behind) = bytes.split_at(ArcHead::end(bytes).filter(|_| ArcHead::may_begin(bytes))?);
        Some((ArcHead::read(head).ok()?, behind))
    }

    /// Whether bytes, which are all of a file or its beginning, are a page: an address, a time to the second, a media type and a length,
    /// and so many bytes, behind which is nothing or another record.
    pub(super) fn begins_page(bytes: &[u8], are_whole: bool) -> bool {
        let Some((head, behind)) = ArcHead::begins(bytes) else { return false };
        // What web servers sent begins so, as far as it is there.
        let begins = &behind[..behind.len().min(b"HTTP/".len())];
        let is_sent = head.content != RecordContent::Http || b"HTTP/".starts_with(begins);
        let is_sure = head.date.is_some_and(|time| matches!(time.len(), 12 | 14))
            && head.media.is_some_and(|media| media.contains('/') || media == NO_MEDIA);
        let goes_on = match usize::try_from(head.bytes).ok().and_then(|length| behind.get(length..)) {
            Some(behind) => {
                let next = behind.trim_ascii_start();
                next.is_empty() || ArcHead::may_begin(next)
            }
            None => !are_whole,
        };
        is_sure && is_sent && goes_on
    }
}

/// How the record begins that describes a file.
const DESCRIPTION: &[u8] = b"filedesc://";
/// What crawlers write where a server did not say of which media type a page is.
const NO_MEDIA: &str = "no-type";
/// How addresses begin.
const SCHEMES: [&[u8]; 7] =
    [b"http://", b"https://", b"filedesc:", b"dns:", b"ftp://", b"gopher://", b"warcinfo:"];

impl RecordHead for ArcHead {
    const SURE: usize = 9;

    fn may_begin(bytes: &[u8]) -> bool {
        SCHEMES.iter().any(|scheme| {
            let length = scheme.len().min(bytes.len());
            bytes[..length].eq_ignore_ascii_case(&scheme[..length])
        })
    }

    fn end(bytes: &[u8]) -> Option<usize> {
        bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1)
    }

    fn read(head: &[u8]) -> Result<CrawlHead<'_>, Refusal> {
        let malformed =
            || Refusal::Malformed("what should be a record does not begin with an ARC header".into());
        let line = std::str::from_utf8(head.trim_ascii_end()).map_err(|_| malformed())?;
        // An address may have spaces in it: what else there is stands behind it. Version 2 has more of that.
        let words: Vec<&str> = line.rsplitn(5, ' ').collect();
        let [length, media, time, _, url] = words[..] else { return Err(malformed()) };
        let (url, time, media) =
            if is_time(time) { (url, time, media) } else { version_2(line).ok_or_else(malformed)? };
        let bytes = length.parse().map_err(|_| malformed())?;
        let scheme = url.split(':').next().unwrap_or_default().to_ascii_lowercase();
        Ok(CrawlHead {
            content: match &*scheme {
                "http" | "https" => RecordContent::Http,
                "filedesc" | "dns" | "warcinfo" => RecordContent::Other,
                // Servers of files send these as they are.
                _ => RecordContent::Document,
            },
            media: Some(media),
            id: None,
            url: Some(url),
            date: Some(time),
            headers: None,
            bytes,
        })
    }
}

/// Address, time and media type of a head of version 2: address, host, time, type, result, checksum, location, offset, file
/// name, length.
fn version_2(line: &str) -> Option<(&str, &str, &str)> {
    let words: Vec<&str> = line.rsplitn(10, ' ').collect();
    let [.., media, time, _, url] = words[..] else { return None };
    (words.len() == 10 && is_time(time)).then_some((url, time, media))
}

/// Whether this is a time, as `20141031103200`.
fn is_time(word: &str) -> bool {
    word.len() >= 8 && word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_from_behind() {
        let read = |line: &str| {
            let head = ArcHead::read(line.as_bytes()).expect("a head");
            (
                head.url.map(str::to_owned),
                head.date.map(str::to_owned),
                head.media.map(str::to_owned),
                head.bytes,
            )
        };
        let expected =
            |url: &str| (Some(url.into()), Some("20141031103200".into()), Some("text/html".into()), 15);
        assert_eq!(read("http://a/b 1.2.3.4 20141031103200 text/html 15\n"), expected("http://a/b"));
        assert_eq!(read("http://a/b c 1.2.3.4 20141031103200 text/html 15\r\n"), expected("http://a/b c"));
        assert_eq!(
            read("http://a/ 1.2.3.4 20141031103200 text/html 200 x - 3 f.arc 15\n"),
            expected("http://a/")
        );
        for wrong in ["", "http://a/", "a b c d e", "http://a/ 1.2.3.4 20141031103200 text/html x"] {
            assert!(ArcHead::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_other_servers_send_is_the_document() {
        let content = |url: &str| {
            let line = format!("{url} 1.2.3.4 20141031103200 text/plain 15\n");
            ArcHead::read(line.as_bytes()).expect("a head").content
        };
        assert_eq!(content("HTTPS://a/"), RecordContent::Http);
        assert_eq!(
            (content("ftp://a/b"), content("gopher://a/b")),
            (RecordContent::Document, RecordContent::Document)
        );
        assert_eq!((content("dns:a"), content("filedesc://a")), (RecordContent::Other, RecordContent::Other));
    }

    #[test]
    fn files_without_a_description_are_known_by_a_whole_page() {
        let page = "http://a/b c 1.2.3.4 20141031103200 text/html 8\r\nHTTP/1.0";
        let version_2 = "http://a/ 1.2.3.4 20141031103200 text/html 200 x - 3 f.arc 8\nHTTP/1.0\n";
        let untyped = "ftp://a/b 1.2.3.4 201410311032 no-type 3\n<p>";
        for file in [page, version_2, untyped, &format!("{page}\n{version_2}")] {
            assert!(ArcHead::begins_page(file.as_bytes(), true), "{file}");
        }
        // Of what is no more than the beginning of a file the page may go on.
        let beginning = "http://a/b 1.2.3.4 20141031103200 text/html 15\nHTTP/1.0";
        assert!(ArcHead::begins_page(beginning.as_bytes(), false));
        for other in [
            beginning,
            "http://a/b 1.2.3.4 20141031103200 text/html 8",
            "http://a/b 1.2.3.4 20141031103200 text/html 8\nHTTP/1.0 and more",
            "http://a/b 1.2.3.4 20141031103200 text/html 3\n<p>",
            "http://a/b 1.2.3.4 20141031103200 text/html 0\nhttp://a/c 1.2.3.4 20141031103200 text/html 0\n",
            "http://a/b 1.2.3.4 20141031 text/html 8\nHTTP/1.0",
            "http://a/b 1.2.3.4 20141031103200 html 8\nHTTP/1.0",
            "see http://a/b 1.2.3.4 20141031103200 text/html 8\nHTTP/1.0",
            "http://a/b\n<p>",
        ] {
            assert!(!ArcHead::begins_page(other.as_bytes(), true), "{other}");
        }
    }
}
