//! A look at a run on the terminal when it ends: a histogram, and a few pairs word by word.

use std::io::{self, IsTerminal, Write};

use alike::collection::{Piece, WordDiff};
use alike::output::count;
use alike::report::{Glance, Histogram, PairShown};

use crate::terminal::escape::sanitize;
use crate::terminal::stdout::{Style, coloured, colours};
use crate::terminal::words::piece;

/// Columns of the longest bar.
const BAR: u64 = 40;
/// Places where two texts differ that are shown.
const PLACES: usize = 2;
/// Characters of a stretch of words.
const STRETCH: usize = 60;

/// Whether anybody looks: standard error is a terminal, and nothing else was asked of it.
pub(crate) fn is_looked_at(quiet: bool, json: bool) -> bool {
    !quiet && !json && io::stderr().is_terminal()
}

/// Shows a look at a run on standard error. Nobody listening is no failure.
pub(crate) fn show_glance(glance: &Glance) {
    let mut stderr = io::stderr().lock();
    for line in lines(glance, colours(true)) {
        let _ = writeln!(stderr, "{line}");
    }
}

fn lines(glance: &Glance, colours: bool) -> Vec<String> {
    let mut lines = glance.scores.as_ref().map(histogram).unwrap_or_default();
    if !glance.examples.is_empty() {
        lines.push(String::new());
        lines.push("Removed documents that are least like the kept one:".to_owned());
        lines.extend(glance.examples.iter().flat_map(|pair| example(pair, colours)));
    }
    lines
}

/// A bar a row. Whatever occurs has a bar.
fn histogram(scores: &Histogram) -> Vec<String> {
    let equal = ("same".to_owned(), scores.equal);
    let rows = scores.rows().into_iter().map(|(from, count)| (format!("{from:.2}"), count));
    let rows: Vec<(String, u64)> = rows.chain([equal].into_iter().filter(|(_, n)| *n > 0)).collect();
    let most = rows.iter().map(|(_, n)| *n).max().unwrap_or(0);
    let width = count(most).len();
    let row = |(from, n): &(String, u64)| {
        let bar = "#".repeat((u128::from(*n) * u128::from(BAR)).div_ceil(u128::from(most.max(1))) as usize);
        format!("  {from}  {:>width$}  {bar}", count(*n)).trim_end().to_owned()
    };
    let heading =
        format!("\nRemoved documents by {} with the kept one, from this to the next:", scores.score);
    std::iter::once(heading).chain(rows.iter().map(row)).collect()
}

fn example(pair: &PairShown, colours: bool) -> Vec<String> {
    let PairShown { score, first, second, diff } = pair;
    let heading = format!("  {score}: {} is removed, {} stays", second.name, first.name);
    let mut lines = vec![sanitize(&heading).into_owned()];
    for place in diff.iter().flat_map(|WordDiff { places, .. }| places.iter().take(PLACES)) {
        let pieces: Vec<(Style, String)> = place.iter().map(|found| piece(&short(found))).collect();
        lines.push(format!("    {}", coloured(&pieces, colours)));
    }
    lines
}

/// A stretch of words of which the beginning is shown.
fn short(found: &Piece) -> Piece {
    let end = found.words.char_indices().nth(STRETCH).map(|(end, _)| end);
    let words = end.map_or_else(|| found.words.clone(), |end| format!("{}...", &found.words[..end]));
    Piece { whose: found.whose, words }
}
