//! Which documents a text resembles.

use maud::{Markup, html};

use super::asked::PageAsked;
use super::frame::{Framed, Tab};
use super::parts;
use crate::collection::Measures;
use crate::output::count;
use crate::report::table;
use crate::serve::pages::{CheckPage, CheckedAnswer};

/// Characters of a text that the form is filled with again.
const AGAIN: usize = 200_000;

/// The form alone; `within` is the field that documents must share, or empty.
pub(super) fn form_page(within: &str) -> Framed {
    let within = (!within.is_empty()).then_some((within, ""));
    framed(None, html! { h1 { "Check a text" } (form("", within)) })
}

pub(super) fn page(page: &CheckPage, asked: &PageAsked<'_>) -> Framed {
    let text = asked.text.unwrap_or_default();
    let (again, cut) = parts::beginning(text, AGAIN);
    framed(
        Some(page.commit),
        html! {
            h1 { "Check a text" }
            section aria-labelledby="found" {
                h2 id="found" { "What it resembles" }
                @if let Some(answer) = &page.one { (found(answer)) }
            }
            section aria-labelledby="again" {
                h2 id="again" { "The text" }
                @if cut { p { "All of it was checked. Here are its first " (count(AGAIN as u64)) " characters." } }
                (form(
                    &again.replace(|c: char| c.is_control() && c != '\n' && c != '\t', "\u{fffd}"),
                    page.within.as_ref().map(|(field, value)| (&**field, &**value)),
                ))
            }
        },
    )
}

fn framed(commit: Option<u64>, main: Markup) -> Framed {
    Framed { title: "Check a text".to_owned(), tab: Tab::Check, commit, json: None, main }
}

/// The form with a text, and with the field that documents must share and the value of the text.
fn form(text: &str, within: Option<(&str, &str)>) -> Markup {
    html! {
        form method="post" action="/check" {
            div class="grows" {
                label for="checked" { "The text. It is held against the collection, and nothing of it is stored." }
                // A line break at the beginning is not part of a field.
                textarea id="checked" name="text" required dir="auto" { "\n" (text) }
            }
            @if let Some((field, value)) = within {
                div {
                    label for="within" { "Its " (parts::short(field)) ". Without one it is held against documents that have none." }
                    input id="within" name="within" value=(value);
                }
            }
            button { "Check" }
        }
    }
}

fn found(answer: &CheckedAnswer) -> Markup {
    let head = html! {
        th scope="col" class="id" { "Document" } th scope="col" { "Cluster" } th scope="col" { "What they share" }
    };
    html! {
        @if answer.resembles.is_empty() { p { "No document of the collection." } } @else {
            (table("Documents that the text resembles: the same text first, then the closest", &head, &html! {
                @for found in &answer.resembles { tr {
                    th scope="row" class="id" { (parts::document(&found.id)) }
                    td { (parts::cluster_or_none(found.cluster)) }
                    td class="how" { (Measures::told(Some(&found.measures), found.same_text)) }
                } }
            }))
        }
        @if answer.not_listed > 0 { p { (count(answer.not_listed as u64)) " more are not listed." } }
    }
}
