//! Documents and pairs as they stand on the page.

use maud::{Markup, html};

use super::clusters::ClusterShown;
use super::excerpts::{DocumentShown, PairShown};
use super::words::{diff_side, diff_told};
use crate::collection::Whose;
use crate::output::count;
use crate::printable::printable;

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
                        @for place in pair.diff.iter().flat_map(|diff| &diff.places) { (diff_side(place, whose)) }
                    }
                }
            }
            @if let Some(diff) = &pair.diff { p class="soft" { (diff_told(diff)) } }
        }
    }
}
