//! Where records end that say how long they are. Where one lies about it, the next head is looked for.

use super::head::{CrawlHead, MOST_HEAD, RecordContent, RecordHead};
use crate::read::codec::Boundaries;

/// Where the bytes of a record stand.
#[derive(Debug, PartialEq, Eq)]
enum StretchPlace {
    /// In its head, or in the line ends before it.
    Head,
    /// In its content, of which so many bytes are to come.
    Content(u64),
    /// In the line ends behind its content.
    Behind,
    /// In what is no record, until a line begins as one.
    Lost,
}

/// Finds where records end.
pub(super) struct StretchEnds<H> {
    place: StretchPlace,
    /// As much of the head as has passed by.
    head: Vec<u8>,
    /// Whether the record, as far as is known, holds a document.
    document: bool,
    /// Whether what was looked at last ends with a line, where nothing is a record.
    at_line: bool,
    undecided: usize,
    heads: std::marker::PhantomData<H>,
}

impl<H> Default for StretchEnds<H> {
    fn default() -> StretchEnds<H> {
        let (place, head, heads) = (StretchPlace::Head, Vec::new(), std::marker::PhantomData);
        StretchEnds { place, head, document: false, at_line: false, undecided: 0, heads }
    }
}

impl<H: RecordHead> StretchEnds<H> {
    /// Takes bytes of a head, and of line ends before it; how many, once all of it is there or it is none.
    fn take_head(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut held = std::mem::take(&mut self.head);
        let before = held.len();
        let blank = if before == 0 { line_ends(bytes) } else { 0 };
        let fresh = &bytes[blank..bytes.len().min(blank + MOST_HEAD + 1)];
        let head = if before == 0 {
            fresh
        } else {
            held.extend_from_slice(fresh);
            &held
        };
        if !head.is_empty() && !H::may_begin(head) {
            return Some(self.lose(blank + 1_usize.saturating_sub(before), false));
        }
        match H::end(head).map(|end| (blank + end - before, H::read(&head[..end]))) {
            Some((taken, Ok(CrawlHead { content, bytes, .. }))) => {
                self.document = content != RecordContent::Other;
                self.place = StretchPlace::Content(bytes);
                Some(taken)
            }
            Some((taken, Err(_))) => Some(self.lose(taken, true)),
            None if head.len() > MOST_HEAD => Some(self.lose(blank + 1_usize.saturating_sub(before), false)),
            None => {
                self.head = if before == 0 { head.to_vec() } else { held };
                None
            }
        }
    }

    /// What was `taken` is no head; whether a line begins behind it.
    fn lose(&mut self, taken: usize, at_line: bool) -> usize {
        self.place = StretchPlace::Lost;
        self.document = true;
        self.at_line = at_line;
        taken
    }

    /// Looks for a line that begins as a record does.
    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut line = if self.at_line { 0 } else { next_line(bytes, 0) };
        while line < bytes.len() {
            let rest = &bytes[line..];
            if H::may_begin(rest) {
                if rest.len() >= H::SURE {
                    return Some(line);
                }
                (self.undecided, self.at_line) = (rest.len(), true);
                return None;
            }
            line = next_line(bytes, line);
        }
        self.at_line = bytes.ends_with(b"\n") || bytes.is_empty() && self.at_line;
        None
    }
}

/// Where the line behind the one at `at` begins; the end of the bytes if it does not.
fn next_line(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end + 1)
}

/// How many line ends bytes begin with.
fn line_ends(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
}

impl<H: RecordHead> Boundaries for StretchEnds<H> {
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        self.undecided = 0;
        // Until its head is known, a record says nothing.
        self.document &= self.place != StretchPlace::Head;
        let end = loop {
            match self.place {
                StretchPlace::Head => match self.take_head(&bytes[at..]) {
                    Some(taken) => at += taken,
                    None => return None,
                },
                StretchPlace::Content(left) => {
                    let taken = left.min((bytes.len() - at) as u64);
                    at += usize::try_from(taken).unwrap_or_default();
                    if taken < left {
                        self.place = StretchPlace::Content(left - taken);
                        return None;
                    }
                    self.place = StretchPlace::Behind;
                }
                StretchPlace::Behind => {
                    at += line_ends(&bytes[at..]);
                    if at == bytes.len() {
                        return None;
                    }
                    break at;
                }
                StretchPlace::Lost => break at + self.find(&bytes[at..])?,
            }
        };
        self.place = StretchPlace::Head;
        Some(end)
    }

    fn undecided(&self) -> usize {
        self.undecided
    }

    fn is_blank(&self, _: &[u8]) -> bool {
        !self.document
    }

    fn begins_anew(&mut self) -> bool {
        *self = StretchEnds::default();
        true
    }

    fn is_complete(&self) -> bool {
        self.place == StretchPlace::Behind
    }

    fn has_header(&self) -> bool {
        false
    }

    fn line_end(&self) -> &'static [u8] {
        b""
    }
}
