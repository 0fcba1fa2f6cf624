//! What pages are put together of: tables, and pictures with their numbers.

use maud::{Markup, html};

use super::chart::{Bar, BarChart};
use crate::output::{count, percent};

/// A cell of a number.
pub(crate) fn number(n: u64) -> Markup {
    html! { td class="n" { (count(n)) } }
}

/// Cells of a share: a bar, and the share in words beside it.
pub(super) fn share(part: u64, whole: u64) -> Markup {
    let thousandths = part as f64 / whole.max(1) as f64 * 100.0;
    html! {
        td class="n" { (percent(part as f64, whole as f64)) }
        td aria-hidden="true" { div class="bar" { div style=(format!("width:{thousandths:.1}%")) {} } }
    }
}

/// A table that scrolls by itself where it is wider than the page.
pub(crate) fn table(caption: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        div class="wide" tabindex="0" role="region" aria-label=(caption) {
            table { caption { (caption) } thead { tr { (head) } } tbody { (body) } }
        }
    }
}

/// Heads of columns: one of names, and others of numbers.
pub(crate) fn heads(name: &str, numbers: &[&str]) -> Markup {
    html! { th scope="col" { (name) } @for name in numbers { th scope="col" class="n" { (name) } } }
}

/// A picture, and its numbers as a table.
pub(super) fn figure(chart: &BarChart<'_>, names: [&str; 2], rows: &[(String, u64)]) -> Markup {
    html! {
        figure {
            div class="wide" tabindex="0" role="region" aria-label=(format!("Picture: {}", chart.title)) { (chart.svg()) }
            figcaption { (chart.title) }
            details {
                summary { "The numbers" }
                (table(chart.title, &heads(names[0], &names[1..]), &html! {
                    @for (name, n) in rows { tr { th scope="row" { (name) } (number(*n)) } }
                }))
            }
        }
    }
}

/// Clusters by size: of each stretch of sizes the least, the greatest, and the clusters of such sizes.
pub(crate) fn size_figure(sizes: impl Iterator<Item = (u64, u64, u64)>) -> Markup {
    let name = |from: u64, to: u64| {
        if from == to { count(from) } else { format!("{} to {}", count(from), count(to)) }
    };
    let (mut rows, mut ticks) = (Vec::new(), Vec::new());
    for (at, (from, to, clusters)) in sizes.enumerate() {
        rows.push((name(from, to), clusters));
        ticks.push((at as f64 + 0.5, count(to)));
    }
    let bar = |(name, n): &(String, u64)| Bar {
        value: *n,
        says: format!("{name} documents: {}", count(*n)),
        goes: false,
    };
    let chart = BarChart {
        title: "Clusters by size: each bar has twice the size of the one before, and each line ten times the clusters",
        across: "documents, at most",
        up: "clusters",
        bars: rows.iter().map(bar).collect(),
        ticks,
        line: None,
        log: true,
    };
    figure(&chart, ["Documents", "Clusters"], &rows)
}
