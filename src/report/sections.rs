//! The parts of the page, each of which is left out where there is nothing to say.

use maud::{Markup, html};

use super::breakdown::{fields_part, passages_part, sources_part};
use super::chart::{Bar, BarChart};
use super::documents::{clusters, pair};
use super::facts::RunReport;
use super::parts::{figure, heads, number, share, size_figure, table};
use super::scores::{Histogram, SCORE_BINS};
use super::thresholds::OtherThresholds;
use crate::flow::Reason;
use crate::output::{KindTable, count, percent, size};
use crate::printable::printable;

/// The parts in order: the name within the page, the heading, and what stands there.
pub(super) fn all(report: &RunReport) -> Vec<(&'static str, &'static str, Option<Markup>)> {
    vec![
        ("result", "Result", Some(result(report))),
        ("why", "Why documents go", (report.removed > 0).then(|| why(report))),
        ("scores", "How alike they are", report.scores.as_ref().map(|scores| scored(report, scores))),
        ("thresholds", "Other thresholds", other(report)),
        ("sizes", "Sizes of clusters", (report.clusters > 0).then(|| sizes(report))),
        (
            "sources",
            "Sources",
            (report.removed > 0).then(|| sources_part(&report.sources, report.matrix.as_ref())),
        ),
        ("fields", "Fields", (!report.fields.is_empty()).then(|| fields_part(&report.fields))),
        ("protected", "Protected sets", (!report.against.is_empty()).then(|| against(report))),
        ("passages", "Shared passages", report.passages.as_ref().map(passages_part)),
        (
            "largest",
            "Largest clusters",
            (report.clusters > 0).then(|| clusters(&report.largest, "The clusters with most documents")),
        ),
        (
            "loosest",
            "Loosest clusters",
            (!report.loosest.is_empty()).then(|| {
                clusters(
                    &report.loosest,
                    "The clusters in which a document has least in common with what is kept in its place",
                )
            }),
        ),
        ("nearest", "Nearest to the threshold", (!report.nearest.is_empty()).then(|| nearest(report))),
        (
            "refused",
            "Refused",
            (!report.refused.is_empty() || !report.skipped.is_empty()).then(|| refused(report)),
        ),
        ("again", "Configuration", Some(configuration(report))),
    ]
}

fn result(report: &RunReport) -> Markup {
    let share_of = |n: u64| percent(n as f64, report.documents as f64);
    html! {
        dl class="numbers" {
            div { dt { "Documents" } dd { (count(report.documents)) } }
            div { dt { "Removed" } dd { (count(report.removed)) " " small { (share_of(report.removed)) } } }
            div { dt { "Kept" } dd { (count(report.kept)) " " small { (share_of(report.kept)) } } }
            div { dt { "Clusters" } dd { (count(report.clusters)) } }
        }
        p {
            (count(report.files)) @if report.files == 1 { " file" } @else { " files" } ", " (size(report.bytes)) ". "
            (count(report.contents)) " distinct texts."
            @if report.empty > 0 { " " (count(report.empty)) " without any word stay and match nothing." }
        }
    }
}

fn why(report: &RunReport) -> Markup {
    let meaning = |reason: Reason| match reason {
        Reason::Exact => "has the text of its representative",
        Reason::Near => "resembles its representative",
        Reason::Linked => "is connected to its representative through others",
    };
    let reasons = html! { @for (reason, n) in report.reasons.iter().filter(|(_, n)| *n > 0) { tr {
        th scope="row" { (reason.name()) } (number(*n)) (share(*n, report.removed)) td { (meaning(*reason)) }
    } } };
    let kinds = |table: &KindTable| {
        html! { @for row in table.kinds.iter().filter(|row| row.removed > 0) { tr {
            th scope="row" { (row.kind) } (number(row.removed)) (share(row.removed, report.removed))
            td class="n" { (percent(row.mean_edit_share, 1.0)) }
        } } }
    };
    let head = html! { (heads("Reason", &["Documents", "Share"])) th {} th scope="col" { "A document" } };
    let head_of_kinds =
        html! { (heads("Kind", &["Documents", "Share"])) th {} th scope="col" class="n" { "Words edited" } };
    html! {
        (table("Removed documents by reason", &head, &reasons))
        @if let Some(found) = &report.kinds {
            (table("Removed documents by how they differ from their representative", &head_of_kinds, &kinds(found)))
        }
    }
}

/// A chart of a histogram, from the first bin that has anything on.
fn histogram(found: &Histogram, title: &str, up: &str, threshold: Option<f64>) -> Markup {
    let bins = SCORE_BINS as f64;
    let line = threshold.map(|threshold| threshold * bins);
    let lowest = found.bins.iter().position(|n| *n > 0).unwrap_or(SCORE_BINS - 1);
    let first = lowest.min(line.map_or(SCORE_BINS, |line| line as usize)).min(SCORE_BINS - 1) / 5 * 5;
    let border = |bin: usize| format!("{:.2}", bin as f64 / bins);
    let rows: Vec<(String, u64)> = (first..SCORE_BINS)
        .map(|bin| (format!("{} to {}", border(bin), border(bin + 1)), found.bins[bin]))
        .collect();
    let bar = |(bin, (name, n)): (usize, &(String, u64))| Bar {
        value: *n,
        says: format!("{name}: {}", count(*n)),
        goes: line.is_none_or(|line| (bin + 1) as f64 > line),
    };
    let chart = BarChart {
        title,
        across: found.score,
        up,
        bars: (first..).zip(&rows).map(bar).collect(),
        ticks: (first..=SCORE_BINS)
            .step_by(5)
            .map(|bin| ((bin - first) as f64, format!("{:.1}", bin as f64 / bins)))
            .collect(),
        line: line
            .zip(threshold)
            .map(|(line, threshold)| (line - first as f64, format!("threshold {threshold}"))),
        log: false,
    };
    figure(&chart, [found.score, up], &rows)
}

fn scored(report: &RunReport, found: &Histogram) -> Markup {
    html! {
        p {
            "Removed documents by what they have in common with the document that is kept in their place. "
            (count(found.equal)) " more have its very text."
        }
        (histogram(found, "Removed documents by what they share with their representative", "documents", report.threshold))
    }
}

fn other(report: &RunReport) -> Option<Markup> {
    let Some(other) = &report.other else {
        return report.scores.as_ref().map(|_| html! {
            p { "Not asked for. " code { "--report-from 0.6" } " says what would go at each threshold from 0.6 on, and shows pairs \
                just below the threshold. It takes another run." }
        });
    };
    let OtherThresholds { rows, pairs, over, under, transitive, .. } = other;
    let columns = ["Pairs of texts", "Exact copies", "Others", "Removed", "Largest cluster"];
    let here = |at: f64| report.threshold.is_some_and(|threshold| threshold == at);
    Some(html! {
        p { "What would go at each threshold, with one document kept of each cluster. All figures are exact." }
        (table("Threshold by threshold", &heads("Threshold", &columns), &html! {
            @for (at, counts) in rows { tr class=[here(at.to_f64()).then_some("here")] {
                th scope="row" { (at) @if here(at.to_f64()) { " (this run)" } }
                (number(counts.pairs)) (number(counts.copies)) (number(counts.near)) (number(counts.copies + counts.near))
                (number(counts.largest))
            } }
        }))
        p {
            "Connected components of all pairs (" code { "--clustering transitive" } ") would remove "
            (count(transitive.copies + transitive.near)) " documents at the threshold of this run, and the largest would have "
            (count(transitive.largest)) "."
        }
        (histogram(pairs, "Pairs of distinct texts by resemblance", "pairs", report.threshold))
        @for (name, pairs) in [("Just at or over the threshold", over), ("Just under it", under)] {
            h3 { (name) }
            @if pairs.is_empty() { p { "There is no such pair." } }
            @for found in pairs { (pair(found)) }
        }
    })
}

fn sizes(report: &RunReport) -> Markup {
    size_figure(report.sizes.iter().map(|of| (of.from, of.to, of.clusters)))
}

fn against(report: &RunReport) -> Markup {
    let body = html! { @for set in &report.against { tr {
        th scope="row" { bdi { (printable(&set.set)) } } (number(set.documents)) (number(set.removed))
    } } };
    table(
        "Protected sets, and what they removed of the inputs",
        &heads("Set", &["Documents", "Removed by them"]),
        &body,
    )
}

fn nearest(report: &RunReport) -> Markup {
    html! {
        p { "Removed documents that have least in common with what is kept in their place: one of a cluster, the least first. \
            The kept one is on the left." }
        @for found in &report.nearest { (pair(found)) }
    }
}

fn refused(report: &RunReport) -> Markup {
    let head = html! { (heads("Reason", &["Records"])) th scope="col" { "The first" } };
    let files = html! { th scope="col" { "File" } th scope="col" { "Reason" } };
    let caption = format!("Files that were passed over: {}", count(report.skipped.len() as u64));
    html! {
        @if !report.refused.is_empty() {
            (table("Records that could not be read", &head, &html! {
                @for (reason, n, first) in &report.refused { tr {
                    td class="words" { bdi { (printable(reason)) } } (number(*n)) td class="words" { bdi { (printable(first)) } }
                } }
            }))
        }
        @if !report.skipped.is_empty() {
            (table(&caption, &files, &html! {
                @for file in report.skipped.iter().take(SKIPPED) { tr {
                    td class="words" { bdi { (printable(&file.file)) } } td class="words" { (printable(&file.reason)) }
                } }
            }))
        }
    }
}

/// Files passed over that are named.
const SKIPPED: usize = 20;

fn configuration(report: &RunReport) -> Markup {
    html! {
        @if let Some(command) = &report.command {
            p { "The command:" }
            pre tabindex="0" { code { (printable(command)) } }
        }
        details {
            summary { "The full configuration" }
            pre tabindex="0" { code { @for line in report.configuration.lines() { (printable(line)) "\n" } } }
        }
    }
}
