//! Where records end: before a `<DOC>` at the beginning of a line, or right behind the `</DOC>` of the record before.

use memchr::memchr_iter;

use crate::read::codec::Boundaries;

/// How records begin: as TREC writes it, as Gigaword does, and as tools that extract text from Wikipedia do.
const BEGINNINGS: [&[u8]; 3] = [b"<DOC>", b"<DOC ", b"<doc id="];
/// How records end.
pub(super) const CLOSINGS: [&[u8]; 2] = [b"</DOC>", b"</doc>"];
/// Bytes that tell whether what follows them may begin a record: a few blanks, and what stands before these.
const BEHIND: usize = 8 + CLOSINGS[0].len();

/// Whether bytes begin as a record does.
pub(super) fn begins_doc(bytes: &[u8]) -> bool {
    BEGINNINGS.iter().any(|beginning| bytes.starts_with(beginning))
}

/// Whether bytes are the beginning of the beginning of a record.
fn may_begin_doc(bytes: &[u8]) -> bool {
    BEGINNINGS.iter().any(|beginning| beginning.starts_with(bytes))
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
        let before = bytes[..at].iter().rev().chain(self.behind.iter().rev()).copied();
        let mut before =
            before.take(BEHIND).skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).peekable();
        if before.peek() == Some(&b'\n') {
            return true;
        }
        let mut end: Vec<u8> = before.take(CLOSINGS[0].len()).collect();
        end.reverse();
        CLOSINGS.contains(&&*end)
    }
}

impl Boundaries for DocEnds {
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.undecided = 0;
        for at in memchr_iter(b'<', bytes) {
            let rest = &bytes[at..];
            if begins_doc(rest) && self.may_begin_at(bytes, at) {
                self.behind.clear();
                return Some(at);
            }
            if may_begin_doc(rest) && self.may_begin_at(bytes, at) {
                self.undecided = rest.len();
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

    /// Declarations, comments and the tag of a root stand before all records.
    fn is_blank(&self, bytes: &[u8]) -> bool {
        let rest = bytes.trim_ascii_start();
        rest.is_empty() || rest.starts_with(b"<") && !begins_doc(rest) && !may_begin_doc(rest)
    }

    fn numbers_blank(&self) -> bool {
        false
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
        for blank in ["", " \n", "<?xml version='1.0'?>\n", "<!DOCTYPE x>", "<DOCS>\n"] {
            assert!(ends.is_blank(blank.as_bytes()), "{blank}");
        }
        for record in ["<DOC>", "\n<DOC a", "<doc id=", "<DO", "text"] {
            assert!(!ends.is_blank(record.as_bytes()), "{record}");
        }
    }
}
