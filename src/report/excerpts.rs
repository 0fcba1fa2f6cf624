//! Texts of the documents that a report shows, read again: how they begin, and how two of them differ.

use hashbrown::HashMap;
use serde::Serialize;

use crate::collection::{Whose, WordDiff, word_diff};
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{EachText, Outcome};

/// Characters of the beginning of a text.
const BEGINNING: usize = 200;
/// Bytes of a text that are compared with another one.
const COMPARED: usize = 128 << 10;
/// Places where two texts differ that are shown, and characters of a stretch of words.
const PLACES: usize = 6;
const STRETCH: usize = 400;

/// A document as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DocumentShown {
    /// Its id, or its file and line.
    pub name: String,
    /// Its file, as the user named it.
    pub file: String,
    /// Its line there, from 1.
    pub line: u64,
    /// How its text begins; none if it cannot be had.
    pub beginning: Option<String>,
}

/// Two documents side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairShown {
    /// What they have in common, in words: a share, or a number of features.
    pub score: String,
    /// The document that is kept, or the earlier one.
    pub first: DocumentShown,
    /// The other one.
    pub second: DocumentShown,
    /// Where they differ: a few places of it; none if a text cannot be had.
    pub diff: Option<WordDiff>,
}

/// The beginnings of texts.
#[derive(Default)]
pub(super) struct Excerpts {
    texts: HashMap<Doc, String>,
}

impl Excerpts {
    /// Reads the texts of some documents again, if they can be had; `docs` in any order.
    pub(super) fn read(
        outcome: &Outcome,
        docs: impl Iterator<Item = Doc>,
        texts: Option<&EachText<'_>>,
    ) -> Result<Excerpts> {
        Excerpts::read_and_look(outcome, docs, texts, &mut |_, _| ())
    }

    /// The same, where each whole text is handed to `look`.
    pub(super) fn read_and_look(
        outcome: &Outcome,
        docs: impl Iterator<Item = Doc>,
        texts: Option<&EachText<'_>>,
        look: &mut dyn FnMut(Doc, &str),
    ) -> Result<Excerpts> {
        let Some(texts) = texts else { return Ok(Excerpts::default()) };
        let catalogue = &outcome.run.documents.catalogue;
        let mut docs: Vec<Doc> = docs.collect();
        docs.sort_unstable_by_key(|doc| catalogue.position(*doc));
        docs.dedup();
        let mut read = HashMap::new();
        texts(&docs, &mut |doc, text| {
            look(doc, text);
            let end = (0..=COMPARED.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
            read.insert(doc, text[..end.unwrap_or(0)].to_owned());
            Ok(())
        })?;
        Ok(Excerpts { texts: read })
    }

    /// A document that was read.
    pub(super) fn document(&self, outcome: &Outcome, doc: Doc) -> Result<DocumentShown> {
        let documents = &outcome.run.documents;
        Ok(DocumentShown {
            name: documents.name(doc)?.into(),
            file: documents.file(doc),
            line: documents.line(doc)?,
            beginning: self.texts.get(&doc).map(|text| beginning_of(text)),
        })
    }

    /// Two documents that were read, and how they differ.
    pub(super) fn pair(
        &self,
        outcome: &Outcome,
        (first, second): (Doc, Doc),
        score: String,
    ) -> Result<PairShown> {
        let texts = self.texts.get(&first).zip(self.texts.get(&second));
        let diff = texts.map(|(first, second)| few(word_diff(first, second)));
        let (first, second) = (self.document(outcome, first)?, self.document(outcome, second)?);
        Ok(PairShown { score, first, second, diff })
    }
}

/// The first words of a text, with single blanks.
pub(super) fn beginning_of(text: &str) -> String {
    let mut beginning = String::new();
    for word in text.split_whitespace() {
        if !beginning.is_empty() {
            beginning.push(' ');
        }
        beginning.extend(word.chars().take(BEGINNING + 1));
        if let Some((end, _)) = beginning.char_indices().nth(BEGINNING) {
            beginning.truncate(end);
            beginning.push_str("...");
            break;
        }
    }
    beginning
}

/// A difference of which few places are shown, and of long stretches the beginning.
fn few(mut diff: WordDiff) -> WordDiff {
    for place in diff.places.drain(diff.places.len().min(PLACES)..) {
        let differing = place.iter().filter(|piece| piece.whose != Whose::Both);
        diff.not_shown += differing.map(|piece| piece.words.split(' ').count() as u64).sum::<u64>();
    }
    for piece in diff.places.iter_mut().flatten() {
        if let Some((end, _)) = piece.words.char_indices().nth(STRETCH) {
            piece.words.truncate(end);
            piece.words.push_str("...");
        }
    }
    diff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_short_whatever_words_are() {
        assert_eq!(beginning_of("  one\n two\tthree "), "one two three");
        let long = beginning_of(&"x".repeat(1_000_000));
        assert_eq!(long, "x".repeat(BEGINNING) + "...");
        assert!(beginning_of(&"\u{4e2d}\u{6587} ".repeat(1000)).chars().count() <= BEGINNING + 3);
        assert_eq!(beginning_of(""), "");
    }

    #[test]
    fn few_places_of_a_difference_are_shown() {
        let first: String = (0..400).map(|n| format!("w{n} ")).collect();
        let second: String =
            (0..400).map(|n| if n % 40 == 20 { "other ".into() } else { format!("w{n} ") }).collect();
        let all = word_diff(&first, &second);
        assert_eq!((all.places.len(), all.not_shown), (10, 0));
        let shown = few(all.clone());
        assert_eq!((shown.places.len(), shown.not_shown), (PLACES, 8));
        assert_eq!((shown.only_first, shown.only_second), (all.only_first, all.only_second));
        let word = few(word_diff("short", &"y".repeat(1_000_000)));
        assert!(word.places.iter().flatten().all(|piece| piece.words.chars().count() <= STRETCH + 3));
    }
}
