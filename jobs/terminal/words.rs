//! How texts differ, word by word.

use alike::collection::{Piece, Whose};

use crate::terminal::stdout::Style;

/// A piece of a difference: marked, and coloured where colours are.
pub(crate) fn piece(piece: &Piece) -> (Style, String) {
    match piece.whose {
        Whose::Both => (Style::Plain, piece.words.clone()),
        Whose::First => (Style::Gone, format!("[-{}-]", piece.words)),
        Whose::Second => (Style::New, format!("{{+{}+}}", piece.words)),
    }
}
