//! Where messages of an mbox end: before a line that begins with `From ` behind a blank one. In the text of a message such
//! lines are quoted, but in the dialect mboxcl2.

use memchr::memmem;

use crate::read::codec::Boundaries;

/// How the first line of a message begins.
const FROM: &[u8] = b"From ";

/// Finds where messages end.
#[derive(Default)]
pub(super) struct MessageEnds {
    /// The last bytes of the message that have passed by, at most as many as a blank line behind a line has.
    behind: Vec<u8>,
    undecided: usize,
}

impl MessageEnds {
    /// Whether a line at `at` follows a blank one.
    fn follows_blank(&self, bytes: &[u8], at: usize) -> bool {
        let mut last = bytes[..at].iter().rev().chain(self.behind.iter().rev()).copied();
        match (last.next(), last.next()) {
            (Some(b'\n'), Some(b'\n')) => true,
            (Some(b'\n'), Some(b'\r')) => last.next() == Some(b'\n'),
            _ => false,
        }
    }
}

impl Boundaries for MessageEnds {
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let found = memmem::find_iter(bytes, FROM).find(|&at| self.follows_blank(bytes, at));
        if let Some(at) = found {
            self.behind.clear();
            self.undecided = 0;
            return Some(at);
        }
        let may_begin = |length: &usize| {
            bytes.ends_with(&FROM[..*length]) && self.follows_blank(bytes, bytes.len() - length)
        };
        self.undecided = (1..FROM.len()).rev().find(may_begin).unwrap_or_default();
        self.behind.extend(&bytes[..bytes.len() - self.undecided]);
        self.behind.drain(..self.behind.len().saturating_sub(3));
        None
    }

    fn undecided(&self) -> usize {
        self.undecided
    }

    fn is_blank(&self, bytes: &[u8]) -> bool {
        bytes.trim_ascii().is_empty()
    }

    fn has_header(&self) -> bool {
        false
    }

    fn line_end(&self) -> &'static [u8] {
        b"\n"
    }
}
