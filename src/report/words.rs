//! How two texts differ, on a page.

use maud::{Markup, html};

use crate::collection::{Piece, Whose, WordDiff};
use crate::output::count;
use crate::printable::{plural, printable};

/// Characters of words that stand together: there are words of a megabyte.
const STRETCH: usize = 2000;

/// The words of one of two texts, at a place where they differ.
pub(crate) fn diff_side(place: &[Piece], whose: Whose) -> Markup {
    let own = |piece: &&Piece| piece.whose == Whose::Both || piece.whose == whose;
    html! {
        p dir="auto" {
            "... "
            @for piece in place.iter().filter(own) {
                @let end = piece.words.char_indices().nth(STRETCH).map(|(end, _)| end);
                @let words = printable(&piece.words[..end.unwrap_or(piece.words.len())]);
                @let more = if end.is_some() { "..." } else { "" };
                @match piece.whose {
                    Whose::Both => { (words) (more) " " }
                    Whose::First => { del { (words) (more) } " " }
                    Whose::Second => { ins { (words) (more) } " " }
                }
            }
            "..."
        }
    }
}

/// How much two texts differ, in words.
pub(crate) fn diff_told(diff: &WordDiff) -> String {
    let words = |n: u64| format!("{} {}", count(n), plural(n, "word"));
    if diff.only_first + diff.only_second == 0 {
        return "The words are the same.".to_owned();
    }
    let mut told = format!(
        "{} only in the first, {} only in the second.",
        words(diff.only_first),
        words(diff.only_second)
    );
    if diff.not_shown > 0 {
        told.push_str(&format!(" {} of these are not shown.", words(diff.not_shown)));
    }
    if diff.not_compared > 0 {
        told.push_str(&format!(" {} at the ends were not compared.", words(diff.not_compared)));
    }
    told
}
