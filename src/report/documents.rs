//! Documents and pairs as they stand on the page.

use maud::{Markup, html};

use super::clusters::ClusterShown;
use super::excerpts::{DocumentShown, PairShown};
use crate::collection::{Piece, Whose, WordDiff};
use crate::output::count;
use crate::printable::{plural, printable};

/// A document by name and place.
pub(super) fn named(document: &DocumentShown) -> Markup {
    let place = format!("{}:{}", document.file, document.line);
    html! {
        bdi { (printable(&document.name)) }
        @if document.name != place { br; span class="soft" { bdi { (printable(&place)) } } }
    }
}

/// A table of clusters, each with the beginning of what is kept and of what has least in common with it.
pub(super) fn clusters(clusters: &[ClusterShown], caption: &str) -> Markup {
    html! {
        div class="wide" tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr {
                    th scope="col" class="n" { "Cluster" } th scope="col" class="n" { "Documents" }
                    th scope="col" class="n" { "Least in common" } th scope="col" { "Kept" } th scope="col" { "Farthest from it" }
                } }
                tbody { @for cluster in clusters { tr {
                    td class="n" { (cluster.number) }
                    td class="n" { (count(cluster.size)) }
                    td class="n" { @if let Some(least) = cluster.least { (format!("{least:.4}")) } @else { "-" } }
                    @for document in [&cluster.representative, &cluster.farthest] {
                        td class="words" {
                            (named(document))
                            @if let Some(beginning) = &document.beginning {
                                p dir="auto" { (printable(beginning)) }
                            }
                        }
                    }
                } } }
            }
        }
    }
}

/// Two documents side by side.
pub(super) fn pair(pair: &PairShown) -> Markup {
    html! {
        div class="pair" {
            h3 { (pair.score) }
            div class="sides" {
                @for (document, whose) in [(&pair.first, Whose::First), (&pair.second, Whose::Second)] {
                    div {
                        p { (named(document)) }
                        @if let Some(diff) = &pair.diff { (side(diff, whose)) }
                    }
                }
            }
            @if let Some(diff) = &pair.diff { p class="soft" { (told(diff)) } }
        }
    }
}

/// The words of one of two texts, at the places where they differ.
fn side(diff: &WordDiff, whose: Whose) -> Markup {
    let own = |piece: &&Piece| piece.whose == Whose::Both || piece.whose == whose;
    html! {
        @for place in &diff.places {
            p dir="auto" {
                "... "
                @for piece in place.iter().filter(own) {
                    @let words = printable(&piece.words);
                    @match piece.whose {
                        Whose::Both => { (words) " " }
                        Whose::First => { del { (words) } " " }
                        Whose::Second => { ins { (words) } " " }
                    }
                }
                "..."
            }
        }
    }
}

/// How much two texts differ, in words.
fn told(diff: &WordDiff) -> String {
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
