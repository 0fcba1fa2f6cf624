//! Which lines of a file are left when some are kept: what a collection does not have any more, or never had.

use crate::error::{Error, Result};
use crate::read::{BOM, Boundaries};

/// Where lines start that are left out, ascending, and where the good ones end if the rest cannot be read.
pub(super) type DroppedLines = (Vec<u64>, Option<u64>);

/// Reads a file by `next`, which gives block after block and an empty one at the end, and finds where the lines start
/// that are neither at the ascending offsets `kept` nor blank. An error behind the last line that is kept ends the file
/// there. `None` if there are no lines at some of the offsets.
pub(super) fn dropped_lines(
    kept: &[u64],
    boundaries: Box<dyn Boundaries>,
    mut next: impl FnMut() -> Result<Vec<u8>>,
) -> Result<Option<DroppedLines>> {
    let header = boundaries.has_header();
    let mut lines = LinesSeen {
        kept,
        boundaries,
        header,
        start: 0,
        position: 0,
        blank: true,
        held: Vec::new(),
        dropped: Vec::new(),
    };
    let mut end = None;
    loop {
        match next() {
            Ok(block) if block.is_empty() => break,
            Ok(block) => lines.take(&block),
            Err(error @ Error::Io { .. }) => {
                // What cannot be read is behind a record that is complete.
                if lines.boundaries.is_complete() {
                    lines.end();
                }
                if !lines.kept.is_empty() {
                    return Err(error);
                }
                end = Some(lines.start);
                break;
            }
            Err(error) => return Err(error),
        }
    }
    lines.position += lines.held.len() as u64;
    if end.is_none() && lines.position > lines.start {
        lines.end();
    }
    Ok(lines.kept.is_empty().then_some((lines.dropped, end)))
}

/// The lines of a file as its bytes pass by.
struct LinesSeen<'a> {
    /// Offsets that are still to come.
    kept: &'a [u64],
    boundaries: Box<dyn Boundaries>,
    /// Whether the header is still to come.
    header: bool,
    /// The first byte of the present line.
    start: u64,
    /// The next byte.
    position: u64,
    /// Whether the present line has nothing but spaces so far.
    blank: bool,
    /// Bytes that may begin the next line, to be looked at again with what follows them.
    held: Vec<u8>,
    dropped: Vec<u64>,
}

impl LinesSeen<'_> {
    fn take(&mut self, block: &[u8]) {
        let joined;
        let mut bytes = block;
        if !self.held.is_empty() {
            joined = [&self.held, block].concat();
            bytes = &joined;
            self.held = Vec::new();
        }
        if self.position == 0 && self.boundaries.follows_mark() && bytes.starts_with(BOM) {
            (self.position, bytes) = (BOM.len() as u64, &bytes[BOM.len()..]);
        }
        while !bytes.is_empty() {
            let end = self.boundaries.end(bytes);
            let seen = end.unwrap_or_else(|| bytes.len() - self.boundaries.undecided());
            let (part, rest) = bytes.split_at(seen);
            self.blank = self.blank && self.boundaries.is_blank(part);
            self.position += part.len() as u64;
            if end.is_none() {
                self.held = rest.to_vec();
                return;
            }
            self.end();
            bytes = rest;
        }
    }

    /// The present line is over.
    fn end(&mut self) {
        match self.kept {
            [first, rest @ ..] if *first == self.start => self.kept = rest,
            _ if self.blank => {}
            _ if self.header => self.header = false,
            _ => self.dropped.push(self.start),
        }
        (self.start, self.blank) = (self.position, true);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::read::{Format, boundaries};

    /// The lines of `text`, read in blocks of `size`; an error follows if `broken`.
    fn left(text: &str, kept: &[u64], size: usize, broken: bool) -> Option<DroppedLines> {
        left_of(Format::JsonLines, text, kept, size, broken)
    }

    fn left_of(format: Format, text: &str, kept: &[u64], size: usize, broken: bool) -> Option<DroppedLines> {
        let mut blocks = text.as_bytes().chunks(size);
        let failed = || Error::io(Path::new("x"), "read", std::io::Error::other("x"));
        let next = || match blocks.next() {
            Some(block) => Ok(block.to_vec()),
            None if broken => Err(failed()),
            None => Ok(Vec::new()),
        };
        dropped_lines(kept, boundaries(format).expect("records"), next).unwrap_or(None)
    }

    #[test]
    fn lines_that_are_neither_kept_nor_blank_are_left_out() {
        let text = "one\n\n \t\r\ntwo\nthree\nfour";
        for size in 1..text.len() + 1 {
            assert_eq!(left(text, &[0, 13], size, false), Some((vec![9, 19], None)), "{size}");
            assert_eq!(left(text, &[], size, false), Some((vec![0, 9, 13, 19], None)));
            assert_eq!(left(text, &[0, 9, 13, 19], size, false), Some((Vec::new(), None)));
            assert_eq!(left(text, &[1], size, false), None, "no line starts there");
            assert_eq!(left(text, &[0, 99], size, false), None, "the file is shorter");
        }
    }

    /// A record whose bytes are all there is one, kept or not, whatever is behind it.
    #[test]
    fn what_cannot_be_read_may_be_behind_a_record_that_is_complete() {
        let warc = "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 3\r\n\r\na b\r\n\r\n";
        let trec = "<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>a b</TEXT>\n</DOC>\n";
        let wiki = "<page><title>t</title><revision><text>a b</text></revision></page>\n";
        for (format, record) in [(Format::Warc, warc), (Format::Trec, trec), (Format::MediaWiki, wiki)] {
            let (text, next) = (record.repeat(2), record.len() as u64);
            for size in 1..text.len() + 1 {
                let left = |kept: &[u64]| left_of(format, &text, kept, size, true);
                assert_eq!(left(&[0, next]), Some((Vec::new(), Some(2 * next))), "{record}");
                assert_eq!(left(&[next]), Some((vec![0], Some(2 * next))), "{record}");
                assert_eq!(left(&[0]), Some((vec![next], Some(2 * next))), "{record}");
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_cut_off_behind_what_is_kept() {
        let text = "one\ntwo\nthr";
        for size in 1..text.len() + 1 {
            assert_eq!(left(text, &[4], size, true), Some((vec![0], Some(8))), "{size}");
            assert_eq!(left(text, &[4, 8], size, true), None, "a line that is kept cannot be read");
        }
    }
}
