//! The parts of a document in the order in which they are compared: what stands above its pages, its body, its notes, and
//! what stands below its pages.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::xxh3_128;

/// A part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextPart {
    Header,
    Body,
    Footnote,
    Endnote,
    Footer,
}

/// The text of a document, part by part.
#[derive(Default)]
pub(super) struct TextParts {
    parts: [String; 5],
    /// Digests of headers and footers: of two that are the same there is one.
    asides: BTreeSet<(usize, u128)>,
}

impl TextParts {
    /// Where a part is written.
    pub(super) fn of(&mut self, part: TextPart) -> &mut String {
        &mut self.parts[part as usize]
    }

    /// Begins a line, unless one begins anyway.
    pub(super) fn begin_line(&mut self, part: TextPart) {
        begin_line(self.of(part));
    }

    /// Ends a header or a footer that began at the byte `start` of its part. One that was there before goes.
    pub(super) fn end_aside(&mut self, part: TextPart, start: usize) {
        let text = &mut self.parts[part as usize];
        let digest = xxh3_128(text[start..].trim().as_bytes());
        if !self.asides.insert((part as usize, digest)) {
            text.truncate(start);
        }
    }

    /// The whole text, into `text`.
    pub(super) fn join(&self, text: &mut String) {
        text.clear();
        for part in self.parts.iter().filter(|part| !part.is_empty()) {
            begin_line(text);
            text.push_str(part);
        }
    }
}

fn begin_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_in_order_and_asides_there_once() {
        let mut parts = TextParts::default();
        parts.of(TextPart::Body).push_str("body");
        parts.of(TextPart::Endnote).push_str("end\n");
        parts.of(TextPart::Footnote).push_str("foot");
        for (part, text) in [(TextPart::Header, "h"), (TextPart::Footer, "h"), (TextPart::Header, "h\n")] {
            let start = parts.of(part).len();
            parts.begin_line(part);
            parts.of(part).push_str(text);
            parts.end_aside(part, start);
        }
        let mut text = "before".to_owned();
        parts.join(&mut text);
        assert_eq!(text, "h\nbody\nfoot\nend\nh");
    }
}
