//! Where records end: before a `<DOC>` at the beginning of a line, or right behind the `</DOC>` of the record before.

use memchr::{memchr, memchr_iter};

use crate::read::codec::Boundaries;

/// How the tag that opens a record begins: as TREC and Gigaword write it, and as other tools do.
const OPENINGS: [&[u8]; 2] = [b"<DOC", b"<doc"];
/// Attributes that a record in lower case has. In running text such a tag stands, too.
const ATTRIBUTES: [&[u8]; 3] = [b"id=", b"docno=", b"docid="];
/// What begins a record in lower case that has no attribute.
const NUMBERS: [&[u8]; 2] = [b"<docno>", b"<docid>"];
/// How records end.
pub(super) const CLOSINGS: [&[u8]; 2] = [b"</DOC>", b"</doc>"];
/// How roots around records end, whatever the case. Others may stand in the text of a record that has a `</DOC>` in it.
const ROOTS: [&[u8]; 8] = [
    b"</collection>",
    b"</corpus>",
    b"</dataset>",
    b"</doclist>",
    b"</docs>",
    b"</documents>",
    b"</root>",
    b"</trec>",
];
/// Most blanks that are looked over between tags.
const BLANKS: usize = 8;
/// Bytes that tell whether what follows them may begin a record: a few blanks, and what stands before these.
const BEHIND: usize = BLANKS + CLOSINGS[0].len();

/// Whether bytes begin with one of some others, whatever the case; `None` if there are too few to tell.
fn begins_with(bytes: &[u8], others: &[&[u8]]) -> Option<bool> {
    let common = |other: &[u8]| {
        let length = bytes.len().min(other.len());
        bytes[..length].eq_ignore_ascii_case(&other[..length])
    };
    if others.iter().any(|other| bytes.len() >= other.len() && common(other)) {
        return Some(true);
    }
    if others.iter().any(|other| common(other)) { None } else { Some(false) }
}

/// Whether bytes begin as a record does; `None` if there are too few to tell.
fn doc_begins(bytes: &[u8]) -> Option<bool> {
    let Some((opening, rest)) = bytes.split_at_checked(OPENINGS[0].len()) else {
        return if OPENINGS.iter().any(|opening| opening.starts_with(bytes)) { None } else { Some(false) };
    };
    let upper = opening == OPENINGS[0];
    match rest {
        _ if !OPENINGS.contains(&opening) => Some(false),
        [] => None,
        [b' ' | b'>', ..] if upper => Some(true),
        [b' ', rest @ ..] => begins_with(rest, &ATTRIBUTES),
        [b'>', rest @ ..] => {
            let inner = rest.trim_ascii_start();
            if rest.len() - inner.len() > BLANKS { Some(false) } else { begins_with(inner, &NUMBERS) }
        }
        _ => Some(false),
    }
}

/// Whether bytes begin as a record does.
pub(super) fn begins_doc(bytes: &[u8]) -> bool {
    doc_begins(bytes) == Some(true)
}

/// Whether bytes are nothing but the ends of roots.
pub(super) fn ends_roots(bytes: &[u8]) -> bool {
    let mut rest = bytes.trim_ascii();
    while begins_with(rest, &ROOTS) == Some(true) {
        let length = memchr(b'>', rest).map_or(rest.len(), |end| end + 1);
        rest = rest[length..].trim_ascii_start();
    }
    rest.is_empty()
}

/// Finds where records end.
#[derive(Default)]
pub(super) struct DocEnds {
    /// The last bytes of the record that have passed by.
    behind: Vec<u8>,
    undecided: usize,
}

impl DocEnds {
    /// Whether a record may begin at `at`: not at the beginning of the present one.
    fn may_begin_at(&self, bytes: &[u8], at: usize) -> bool {
        let mut before = self.before(bytes, at).skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        before.next() == Some(b'\n') || self.follows_doc(bytes, at)
    }

    /// Whether only blanks stand between the end of a record and `at`.
    fn follows_doc(&self, bytes: &[u8], at: usize) -> bool {
        let before = self.before(bytes, at).skip_while(u8::is_ascii_whitespace);
        let mut end: Vec<u8> = before.take(CLOSINGS[0].len()).collect();
        end.reverse();
        CLOSINGS.contains(&&*end)
    }

    /// The last bytes before `at`, backwards.
    fn before<'a>(&'a self, bytes: &'a [u8], at: usize) -> impl Iterator<Item = u8> + 'a {
        bytes[..at].iter().rev().chain(self.behind.iter().rev()).copied().take(BEHIND)
    }

    /// Whether the present record ends at `at`; `None` if there are too few bytes to tell.
    fn ends_at(&self, bytes: &[u8], at: usize) -> Option<bool> {
        let rest = &bytes[at..];
        // What stands before is looked at last, as that is slower.
        let closes = matches!(rest, [_] | [_, b'/', ..]);
        let root = if closes { begins_with(rest, &ROOTS) } else { Some(false) };
        let doc = doc_begins(rest);
        let doc = if doc != Some(false) && self.may_begin_at(bytes, at) { doc } else { Some(false) };
        let root = if root != Some(false) && self.follows_doc(bytes, at) { root } else { Some(false) };
        match (doc, root) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        }
    }
}

impl Boundaries for DocEnds {
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.undecided = 0;
        for at in memchr_iter(b'<', bytes) {
            match self.ends_at(bytes, at) {
                Some(true) => {
                    self.behind.clear();
                    return Some(at);
                }
                Some(false) => {}
                // Another tag may be a part of what is not all there yet.
                None => {
                    self.undecided = bytes.len() - at;
                    break;
                }
            }
        }
        self.behind.extend(
            &bytes[bytes.len().saturating_sub(self.undecided + BEHIND)..bytes.len() - self.undecided],
        );
        self.behind.drain(..self.behind.len().saturating_sub(BEHIND));
        None
    }

    fn undecided(&self) -> usize {
        self.undecided
    }

    /// Declarations, comments and the tag of a root stand before all records, and the end of a root behind them.
    fn is_blank(&self, bytes: &[u8]) -> bool {
        let rest = bytes.trim_ascii_start();
        rest.is_empty() || rest.starts_with(b"<") && doc_begins(rest) == Some(false)
    }

    fn numbers_blank(&self) -> bool {
        false
    }

    fn is_complete(&self) -> bool {
        self.undecided == 0 && CLOSINGS.iter().any(|closing| self.behind.trim_ascii_end().ends_with(closing))
    }

    fn has_header(&self) -> bool {
        false
    }

    fn line_end(&self) -> &'static [u8] {
        b"\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The records of a file that comes so many bytes at a time.
    fn records(file: &[u8], step: usize) -> Vec<String> {
        let (mut ends, mut all, mut start, mut searched) = (DocEnds::default(), Vec::new(), 0, 0);
        for read in (0..file.len()).step_by(step).map(|at| file.len().min(at + step)) {
            while let Some(end) = ends.end(&file[searched..read]) {
                searched += end;
                all.push(String::from_utf8_lossy(&file[start..searched]).into_owned());
                start = searched;
            }
            searched = read - ends.undecided();
        }
        all.push(String::from_utf8_lossy(&file[start..]).into_owned());
        all
    }

    #[test]
    fn records_begin_lines_or_follow_each_other() {
        for (file, expected) in [
            ("<DOC>a</DOC>\n<DOC>b</DOC>\n", &["<DOC>a</DOC>\n", "<DOC>b</DOC>\n"][..]),
            ("<DOC>a</DOC><DOC>b</DOC> \t<DOC>c", &["<DOC>a</DOC>", "<DOC>b</DOC> \t", "<DOC>c"]),
            ("<DOC>a <DOC> b</DOC>\r\n  <DOC x>", &["<DOC>a <DOC> b</DOC>\r\n  ", "<DOC x>"]),
            ("<DOC>\na\n<DOC>\nb</DOC>\n", &["<DOC>\na\n", "<DOC>\nb</DOC>\n"]),
            ("<doc id=1>a</doc>\n<doc>\n<doc id=2>", &["<doc id=1>a</doc>\n<doc>\n", "<doc id=2>"]),
            ("<DOC>a\n<DOCNO>1</DOCNO>\n<DOCHDR>", &["<DOC>a\n<DOCNO>1</DOCNO>\n<DOCHDR>"]),
            ("<?xml?>\n<DOC>a", &["<?xml?>\n", "<DOC>a"]),
            ("<docs>\n<doc>\n<docno>1", &["<docs>\n", "<doc>\n<docno>1"]),
            ("<doc><DOCID>1</doc>\n<doc> <docno>2", &["<doc><DOCID>1</doc>\n", "<doc> <docno>2"]),
            ("<doc id=1>a\n<doc>\n<doc>\n<d>", &["<doc id=1>a\n<doc>\n<doc>\n<d>"]),
            ("<DOC>a</DOC>\n</docs>\n", &["<DOC>a</DOC>\n", "</docs>\n"]),
            ("<DOC>a</DOC></ROOT>\n<DOC>b", &["<DOC>a</DOC>", "</ROOT>\n", "<DOC>b"]),
            ("<DOC>a</DOC>\n</html></DOC>\n</docs", &["<DOC>a</DOC>\n</html></DOC>\n</docs"]),
            ("<DOC>a\n</docs>\n</DOC>", &["<DOC>a\n</docs>\n</DOC>"]),
            ("<DOC>a\n              <DOC>", &["<DOC>a\n              <DOC>"]),
        ] {
            for step in 1..=file.len() {
                assert_eq!(records(file.as_bytes(), step), expected, "in steps of {step}");
            }
        }
    }

    #[test]
    fn what_stands_before_all_records_says_nothing() {
        let ends = DocEnds::default();
        for blank in ["", " \n", "<?xml version='1.0'?>\n", "<!DOCTYPE x>", "<DOCS>\n", "</docs>\n"] {
            assert!(ends.is_blank(blank.as_bytes()), "{blank}");
        }
        for record in ["<DOC>", "\n<DOC a", "<doc id=", "<DO", "text"] {
            assert!(!ends.is_blank(record.as_bytes()), "{record}");
        }
    }
}
