//! How texts differ, word by word.

use alike::collection::{Piece, Whose};
use alike::similarity::Relation;

use crate::terminal::stdout::Style;

/// A piece of a difference: marked, and coloured where colours are.
pub(crate) fn piece(piece: &Piece) -> (Style, String) {
    match piece.whose {
        Whose::Both => (Style::Plain, piece.words.clone()),
        Whose::First => (Style::Gone, format!("[-{}-]", piece.words)),
        Whose::Second => (Style::New, format!("{{+{}+}}", piece.words)),
    }
}

/// A word edit distance; behind a sign where it was not measured to the end.
pub(crate) fn edits(relation: &Relation) -> String {
    match (relation.edits, relation.edits_above) {
        (Some(edits), _) => edits.to_string(),
        (None, above) => format!(">{}", above.unwrap_or_default()),
    }
}
