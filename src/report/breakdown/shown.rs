//! Sources, fields and passages on the page.

use maud::{Markup, html};

use super::fields::{FieldLoss, LossCount};
use super::passages::SharedPassages;
use super::sources::{SourceLoss, SourceMatrix};
use crate::observed::MOST_VALUES;
use crate::output::{count, percent, size};
use crate::printable::printable;
use crate::report::chart::{Bar, BarChart};
use crate::report::parts::{heads, number, share, table};

/// Months that the axis of a chart names, at most.
const NAMED_MONTHS: usize = 8;

/// Heads of a table of losses.
fn loss_heads(name: &str) -> Markup {
    html! { (heads(name, &["Documents", "Removed", "Share"])) th {} }
}

/// Cells of a loss.
fn loss_cells(documents: u64, removed: u64) -> Markup {
    html! { (number(documents)) (number(removed)) (share(removed, documents)) }
}

/// What sources lose, and how they stand to each other.
pub(crate) fn sources_part(sources: &[SourceLoss], matrix: Option<&SourceMatrix>) -> Markup {
    html! {
        (table("What each source loses", &loss_heads("Source"), &html! {
            @for loss in sources { tr {
                th scope="row" { bdi { (printable(&loss.name)) } } (loss_cells(loss.documents, loss.removed))
            } }
        }))
        @if let Some(matrix) = matrix { (held_against(matrix)) }
    }
}

fn held_against(matrix: &SourceMatrix) -> Markup {
    let columns: Vec<String> = (1..=matrix.names.len()).map(|at| at.to_string()).collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    table(
        "Removed documents by their source (rows) and that of their representative (columns)",
        &heads("Source", &columns),
        &html! {
            @for ((at, name), row) in (1..).zip(&matrix.names).zip(&matrix.removed) { tr {
                th scope="row" { (at) ". " bdi { (printable(name)) } }
                @for n in row { td class="n" { @if *n > 0 { (count(*n)) } @else { "-" } } }
            } }
        },
    )
}

/// What values of fields lose.
pub(crate) fn fields_part(fields: &[FieldLoss]) -> Markup {
    html! { @for field in fields { (field_part(field)) } }
}

fn field_part(field: &FieldLoss) -> Markup {
    let name = printable(&field.field);
    if !field.has_values() {
        return html! { p { "No document has a value in the field " bdi { (name) } "." } };
    }
    if field.has_too_many() {
        return html! {
            p { "The field " bdi { (name) } " has more than " (count(MOST_VALUES as u64)) " different values, too many to be told apart." }
        };
    }
    let (each, head) = if field.by_month { ("month", "Month") } else { ("value", "Value") };
    let rest = [
        (field.others, if field.by_month { "all other months" } else { "all other values" }),
        (field.no_date, "no date"),
        (field.missing, "no value"),
    ];
    html! {
        @if field.by_month { (months(field)) }
        (table(&format!("What each {each} of the field {name} loses"), &loss_heads(head), &html! {
            @for of in &field.values { tr {
                th scope="row" { bdi { (printable(&of.value)) } } (loss_cells(of.loss.documents, of.loss.removed))
            } }
            @for (loss, name) in rest {
                @if let Some(LossCount { documents, removed }) = loss { tr {
                    th scope="row" { i { (name) } } (loss_cells(documents, removed))
                } }
            }
        }))
    }
}

/// A chart of what months lose, whose numbers are in the table beneath.
fn months(field: &FieldLoss) -> Markup {
    let bar = |removed: u64, month: &str| Bar {
        value: removed,
        says: format!("{month}: {} removed", count(removed)),
        goes: true,
    };
    let step = field.values.len().div_ceil(NAMED_MONTHS).max(1);
    let named = field.values.iter().enumerate().step_by(step);
    let chart = BarChart {
        title: "Removed documents by month, as the table beneath has them",
        across: "month",
        up: "removed",
        bars: field.values.iter().map(|of| bar(of.loss.removed, &of.value)).collect(),
        ticks: named.map(|(at, of)| (at as f64 + 0.5, of.value.clone())).collect(),
        line: None,
        log: false,
    };
    html! {
        figure {
            div class="wide" tabindex="0" role="region" aria-label=(format!("Picture: {}", chart.title)) { (chart.svg()) }
            figcaption { (chart.title) }
        }
    }
}

/// The passages that are shared most.
pub(crate) fn passages_part(found: &SharedPassages) -> Markup {
    let head = html! {
        th scope="col" { "Passage" }
        (heads("Documents", &["Share"])) th {} th scope="col" class="n" { "Kept" } th scope="col" class="n" { "Of all text" }
    };
    html! {
        p {
            "Lines that most documents have, before anything is removed. Of a very long line its sentences are counted. "
            @if found.documents == found.of {
                "All documents were looked at."
            } @else {
                (count(found.documents)) " of " (count(found.of)) " documents were looked at, with " (size(found.text_bytes))
                " of text. Their texts choose them, so that they are the same each time."
            }
        }
        (table("The passages that most documents share", &head, &html! {
            @for passage in &found.passages { tr {
                td class="words" { bdi { (printable(&passage.text)) } }
                (number(passage.documents)) (share(passage.documents, found.documents)) (number(passage.kept))
                td class="n" { (percent(passage.bytes as f64, found.text_bytes as f64)) }
            } }
        }))
    }
}
