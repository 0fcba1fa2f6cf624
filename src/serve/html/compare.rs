//! Two documents, and what links them.

use maud::{Markup, html};

use super::asked::PageAsked;
use super::frame::{Framed, Tab};
use super::verdicts::{self, Judged};
use super::{links, parts};
use crate::collection::{Apart, Comparison, Explanation, Place, Preference, Step, Together, Whose, WordDiff};
use crate::output::count;
use crate::printable::{counted, plural, printable};
use crate::report::{diff_side, diff_told};
use crate::serve::pages::ComparePage;

/// The form alone.
pub(super) fn form_page() -> Framed {
    Framed {
        title: "Compare".to_owned(),
        tab: Tab::Compare,
        commit: None,
        json: None,
        main: html! { h1 { "Compare two documents" } (form("", "")) },
    }
}

pub(super) fn page(page: &ComparePage, asked: &PageAsked<'_>) -> Framed {
    let [a, b] = ["a", "b"].map(|name| asked.query.get(name).unwrap_or_default());
    let main = html! {
        h1 { (parts::named_short(a)) " and " (parts::named_short(b)) }
        @match &page.explanation {
            Explanation::Together(found) => { (together(found)) }
            Explanation::Apart(found) => { (apart(found)) }
            Explanation::Document(_) => {}
        }
        @if let Some([a, b]) = page.pair() {
            (verdicts::on_two(asked, [a, b].map(|place| Judged::of_place(place).repeating(page.repeats)), &links::changed("/compare", asked.query, &[])))
        }
        section aria-labelledby="others" { h2 id="others" { "Compare others" } (form(a, b)) }
    };
    Framed {
        title: "Compare".to_owned(),
        tab: Tab::Compare,
        commit: page.commit,
        json: Some(links::changed("/compare.json", asked.query, &[])),
        main,
    }
}

/// The form that asks for two documents.
pub(super) fn form(a: &str, b: &str) -> Markup {
    html! {
        form method="get" action="/compare" {
            @for (name, label, value) in [("a", "Id of a document", a), ("b", "Id of another", b)] {
                div {
                    label for=(name) { (label) }
                    input id=(name) name=(name) value=(parts::typed(value)) required autocomplete="off" spellcheck="false";
                }
            }
            button { "Compare" }
        }
    }
}

fn together(found: &Together) -> Markup {
    html! {
        p { "They are together in cluster " (parts::cluster_or_none(found.first.cluster)) "." }
        (places([&found.first, &found.second]))
        @if let Some(stays) = &found.stays { (preference(stays)) }
        @if let Some(ends) = &found.ends {
            section aria-labelledby="ends" { h2 id="ends" { "Both with each other" } (step(ends)) }
        }
        section aria-labelledby="chain" {
            h2 id="chain" { @if found.chain.len() > 1 { "The links between them" } @else { "What links them" } }
            (chain(&found.chain))
        }
    }
}

fn apart(found: &Apart) -> Markup {
    html! {
        p { "They are not together." }
        (places([&found.first, &found.second]))
        section aria-labelledby="ends" {
            h2 id="ends" { "Both with each other" }
            @match &found.ends {
                Some(ends) => { (step(ends)) }
                None => { p { "A text without a token is like no other." } }
            }
        }
        @if found.ends.is_some() { section aria-labelledby="closest" {
            @if found.representatives.is_empty() {
                h2 id="closest" { "The closest pair of their clusters" }
                (closest(found))
            } @else {
                h2 id="closest" { "With what stands for their clusters" }
                p { "Each is with the first that it is linked to." }
                (chain(&found.representatives))
            }
        } }
        @if found.capped {
            p { "Some of that is enough, but the two never met: loads ignored keys of theirs as common." }
        }
    }
}

/// The pair that comes closest to a link between two clusters.
fn closest(found: &Apart) -> Markup {
    let pairs = match found.all_pairs {
        true => format!("all pairs of texts between the two ({})", count(found.compared)),
        false => format!(
            "{} {}, of each text with the cluster of the other",
            count(found.compared),
            plural(found.compared, "pair")
        ),
    };
    let measured = found.ends.as_ref().is_some_and(|ends| ends.measures.is_some());
    if found.ends.as_ref().is_some_and(|ends| ends.kept_apart.is_some()) {
        return html! { p { "No pair of the two clusters is compared." } };
    }
    html! {
        @match &found.best {
            None if !measured => { p { "The collection's method links equal texts only." } }
            None if found.compared == 0 => {
                p { "Each is kept itself: neither is linked to a document that is kept before it." }
            }
            None => { p { "Of " (pairs) " none shares anything." } }
            best if *best == found.ends => { p { "Of " (pairs) " this is the closest." } }
            Some(best) => { p { "Of " (pairs) " the closest is:" } (step(best)) }
        }
    }
}

/// Where documents are.
fn places(places: [&Place; 2]) -> Markup {
    html! {
        ul class="plain" { @for place in places { li {
            (parts::document(&place.id)) ": "
            @match place.cluster {
                Some(cluster) => { "cluster " (parts::cluster(cluster)) }
                None if place.has_tokens => { "in no cluster" }
                None => { "in no cluster, as its text has no token" }
            }
            "; " span class="soft" { (parts::place(&place.file, place.line)) @if let Some(bytes) = place.text_bytes { ", " (counted(bytes, "byte")) " of text" } }
        } } }
    }
}

/// Which of two documents is kept before the other, and why.
pub(super) fn preference(stays: &Preference) -> Markup {
    html! {
        p {
            (parts::document(&stays.kept)) " is kept before " (parts::document(&stays.before)) ": "
            (parts::short(&stays.because())) "."
        }
    }
}

/// Links, one after the other.
pub(super) fn chain(steps: &[Step]) -> Markup {
    html! { ol class="chain" { @for link in steps { li { (step(link)) } } } }
}

/// Two documents that were compared, side by side where their texts are known.
pub(super) fn step(step: &Step) -> Markup {
    let sides = [(&step.first, Whose::First), (&step.second, Whose::Second)];
    let diff: Option<&WordDiff> = match &step.texts {
        Some(Comparison::Words(diff)) => Some(diff),
        _ => None,
    };
    html! {
        div class="pair" {
            p { (step.how()) @if let Some(relation) = &step.relation {
                "; kind " (relation.kind) ", " (relation.edits_told()) " of "
                (count(u64::from(relation.words))) " " (plural(u64::from(relation.words), "word")) " edited"
            } "." }
            div class="sides" { @for (id, _) in sides { div { p { (parts::document(id)) } } } }
            @for place in diff.iter().flat_map(|diff| &diff.places) {
                div class="sides" { @for (_, whose) in sides { div { (diff_side(place, whose)) } } }
            }
            @match &step.texts {
                Some(Comparison::Words(diff)) => { p class="soft" { (diff_told(diff)) } }
                Some(Comparison::Missing { why }) => { p class="soft" { "No words to show: " bdi { (printable(why)) } } }
                None => {}
            }
        }
    }
}
