//! What may repeat: lines, paragraphs, sentences, or runs of words.

use std::fmt;
use std::str::FromStr;

/// What a text is cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum PieceKind {
    /// Lines.
    Line,
    /// What stands between empty lines.
    Paragraph,
    /// Sentences.
    Sentence,
    /// Words, as the tokenizer of the project finds them.
    Token,
}

/// Kinds by name, and how many of them a passage has unless another number is asked for: three sentences as C4 has, fifty
/// tokens as Lee et al. (2022).
const KINDS: [(&str, PieceKind, usize); 4] = [
    ("line", PieceKind::Line, 1),
    ("paragraph", PieceKind::Paragraph, 1),
    ("sentence", PieceKind::Sentence, 3),
    ("token", PieceKind::Token, 50),
];

/// Most pieces that a passage may be of.
const MOST: usize = 100_000;

/// What counts as a passage: so many pieces of a kind, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PassageUnit {
    pub(super) kind: PieceKind,
    pub(super) length: usize,
}

impl Default for PassageUnit {
    fn default() -> PassageUnit {
        PassageUnit { kind: PieceKind::Line, length: 1 }
    }
}

impl FromStr for PassageUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<PassageUnit, String> {
        let (name, length) = text.split_once(':').map_or((text, None), |(name, length)| (name, Some(length)));
        let singular = name.strip_suffix('s').unwrap_or(name);
        let known = KINDS.iter().find(|(known, ..)| *known == singular);
        if ["word", "ngram", "gram"].contains(&singular) {
            return Err(format!(
                "expected line, paragraph, sentence or token; words are called tokens here: tokens:{}",
                length.unwrap_or("50")
            ));
        }
        let Some((_, kind, usual)) = known else {
            return Err(
                "expected line, paragraph, sentence or token, and with a colon how many: tokens:50".into()
            );
        };
        let length = match length.map(str::parse::<usize>) {
            None => *usual,
            Some(Ok(length)) if (1..=MOST).contains(&length) => length,
            Some(_) => {
                return Err(format!("expected a number from 1 to {MOST} behind the colon: {name}:{usual}"));
            }
        };
        Ok(PassageUnit { kind: *kind, length })
    }
}

impl fmt::Display for PassageUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = KINDS.iter().find(|(_, kind, _)| *kind == self.kind).map_or("", |(name, ..)| name);
        match self.length {
            1 => f.write_str(name),
            length => write!(f, "{name}s:{length}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_they_are_written() {
        for (typed, shown) in [
            ("line", "line"),
            ("lines:3", "lines:3"),
            ("paragraph", "paragraph"),
            ("sentence", "sentences:3"),
            ("sentences:1", "sentence"),
            ("token", "tokens:50"),
            ("tokens:13", "tokens:13"),
        ] {
            let unit: PassageUnit = typed.parse().expect("a unit");
            assert_eq!(unit.to_string(), shown);
            assert_eq!(
                shown.strip_suffix("sentence").map_or(shown.to_owned(), |_| "sentence:1".into()).parse(),
                Ok(unit)
            );
        }
        for wrong in ["", "word", "tokens:", "tokens:0", "tokens:x", "line:1000000", ":5"] {
            assert!(wrong.parse::<PassageUnit>().is_err(), "{wrong}");
        }
        assert!("words:13".parse::<PassageUnit>().is_err_and(|why| why.ends_with("tokens:13")));
    }
}
