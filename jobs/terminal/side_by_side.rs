//! Two texts beside each other on the terminal, as wide as that is: the places where they differ, each in rows of two columns.

use alike::collection::{Piece, Whose, WordDiff};
use alike::printable::counted;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::terminal::escape::sanitize;
use crate::terminal::stdout::{Style, coloured};
use crate::terminal::words::piece;

/// Columns of a line where nobody says how many there are, and the fewest and most that are used.
const USUAL: usize = 100;
const BOUNDS: (usize, usize) = (40, 200);
/// What stands between the two.
const BETWEEN: &str = " | ";

/// Columns of the terminal.
pub(crate) fn columns() -> usize {
    let found = terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| usize::from(width));
    found.unwrap_or(USUAL).clamp(BOUNDS.0, BOUNDS.1)
}

/// The lines of a difference, the first text at the left.
pub(crate) fn side_by_side(diff: &WordDiff, columns: usize, colours: bool) -> Vec<String> {
    let width = (columns - BETWEEN.len()) / 2;
    let mut lines = Vec::new();
    for (number, place) in diff.places.iter().enumerate() {
        if number > 0 {
            lines.push(format!("{:<width$}{BETWEEN}...", "..."));
        }
        let [left, right] = [Whose::First, Whose::Second].map(|whose| column(place, whose, width));
        for row in 0..left.len().max(right.len()) {
            let (first, filled) = shown(left.get(row), colours);
            let (second, _) = shown(right.get(row), colours);
            let line = format!("{first}{}{BETWEEN}{second}", " ".repeat(width.saturating_sub(filled)));
            lines.push(line.trim_end().to_owned());
        }
    }
    let WordDiff { not_shown, not_compared, .. } = diff;
    if not_shown + not_compared > 0 {
        let words = |count: u64| counted(count, "word");
        lines.push(format!(
            "left out: {} not shown, {} not compared",
            words(*not_shown),
            words(*not_compared)
        ));
    }
    lines
}

/// A line of a column: pieces, and how many columns they fill.
#[derive(Default)]
struct Row {
    pieces: Vec<(Style, String)>,
    filled: usize,
}

/// A line as it is printed, and how many columns it fills.
fn shown(row: Option<&Row>, colours: bool) -> (String, usize) {
    row.map_or((String::new(), 0), |row| (coloured(&row.pieces, colours), row.filled))
}

/// What one of two texts has at a place, in lines of so many columns.
fn column(place: &[Piece], whose: Whose, width: usize) -> Vec<Row> {
    let mut rows = vec![Row::default()];
    for found in place.iter().filter(|piece| piece.whose == Whose::Both || piece.whose == whose) {
        let (style, text) = piece(found);
        for word in sanitize(&text).split(' ').flat_map(|word| parts(word, width)) {
            let wide = word.width();
            let fits = |row: &Row| row.filled == 0 || row.filled + 1 + wide <= width;
            if !rows.last().is_some_and(fits) {
                rows.push(Row::default());
            }
            let row = rows.last_mut().expect("there is a row");
            row.filled += wide + usize::from(row.filled > 0);
            match row.pieces.last_mut() {
                Some((last, text)) if *last == style => {
                    text.push(' ');
                    text.push_str(&word);
                }
                _ => row.pieces.push((style, word)),
            }
        }
    }
    rows
}

/// A word, in parts that fit in so many columns.
fn parts(word: &str, width: usize) -> Vec<String> {
    let (mut parts, mut filled) = (vec![String::new()], 0);
    for character in word.chars() {
        let wide = character.width().unwrap_or(0);
        if filled + wide > width {
            parts.push(String::new());
            filled = 0;
        }
        filled += wide;
        parts.last_mut().expect("there is one").push(character);
    }
    parts
}

#[cfg(test)]
mod tests {
    use alike::collection::word_diff;

    use super::*;

    #[test]
    fn lines_are_no_wider_than_the_terminal() {
        let long = "x".repeat(300);
        let wide = "\u{4e2d}\u{6587}".repeat(60);
        for (first, second) in [
            ("one two three four", "one two 3 four"),
            (&*format!("a {long} b"), "a c b"),
            (&*format!("a {wide} b"), "a c b"),
            ("a \u{1b}[2J\u{202e}b", "a b"),
            ("", "only the second"),
        ] {
            let diff = word_diff(first, second);
            for columns in [40, 41, 100] {
                for line in side_by_side(&diff, columns, false) {
                    assert!(line.width() <= columns, "{columns}: {line:?}");
                    assert!(!line.chars().any(char::is_control), "{line:?}");
                }
            }
        }
    }

    #[test]
    fn each_side_has_its_own_words_and_colours() {
        let diff = word_diff("one two three four", "one two 3 four");
        let plain = side_by_side(&diff, 60, false);
        assert_eq!(plain, ["one two [-three-] four       | one two {+3+} four"]);
        let coloured = side_by_side(&diff, 60, true);
        assert!(
            coloured[0].contains("\x1b[31m[-three-]\x1b[0m") && coloured[0].contains("\x1b[32m{+3+}\x1b[0m")
        );
        assert!(side_by_side(&word_diff("same", "same"), 60, false).is_empty());
    }
}
