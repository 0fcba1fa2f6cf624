//! Verdicts on two documents: a form of three buttons, and what was said before.

use maud::{Markup, html};

use super::asked::PageAsked;
use super::links;
use crate::collection::Place;
use crate::limits::MAX_HEAD_BYTES;
use crate::serve::state::verdicts::PairVerdict;

/// Bytes of an address that the server reads with certainty, and the rest of a head beside it.
const MOST_ADDRESS: usize = MAX_HEAD_BYTES / 2;

/// A document that may be judged, if labels can name it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged<'a> {
    name: &'a str,
    /// Whether the name is its file and line, which stand for an id that it has not.
    is_place: bool,
    /// Whether other documents have the name.
    repeats: bool,
}

impl<'a> Judged<'a> {
    /// One of a collection, where all have ids.
    pub(super) fn of_id(id: &'a str) -> Judged<'a> {
        Judged { name: id, is_place: false, repeats: false }
    }

    /// One of an output, as its lists name it.
    pub(super) fn listed(name: &'a str, file: Option<&str>, line: Option<u64>) -> Judged<'a> {
        let is_place = file.zip(line).is_some_and(|(file, line)| name == format!("{file}:{line}"));
        Judged { name, is_place, repeats: false }
    }

    /// One that was explained.
    pub(super) fn of_place(place: &'a Place) -> Judged<'a> {
        Judged::listed(&place.id, Some(&place.file), Some(place.line))
    }

    /// The same, where other documents may have its name, or that of the other one.
    pub(super) fn repeating(self, repeats: bool) -> Judged<'a> {
        Judged { repeats, ..self }
    }

    fn can_be_named(self) -> bool {
        !self.is_place && !self.name.is_empty()
    }
}

/// What a verdict is called on a page.
fn named(verdict: PairVerdict) -> &'static str {
    match verdict {
        PairVerdict::Same => "the same",
        PairVerdict::Different => "not the same",
        PairVerdict::Unsure => "unsure",
    }
}

/// Buttons for two documents, where verdicts are taken. Whoever presses one is led `back`.
pub(super) fn on_two(asked: &PageAsked<'_>, [a, b]: [Judged<'_>; 2], back: &str) -> Markup {
    let Some(verdicts) = asked.verdicts else { return html! {} };
    let last = verdicts.file.last(a.name, b.name);
    // Fields of forms change newlines and lose other characters: ids stand in the address, which has a limit of its own.
    let action = links::address("/verdicts", [("a", a.name), ("b", b.name), ("back", back)]);
    html! {
        section aria-labelledby="verdict" {
            h2 id="verdict" { "Are they the same?" }
            @if !a.can_be_named() || !b.can_be_named() {
                p { "Verdicts name documents by their ids, and one of these has none: --id-field says where ids are." }
            } @else if a.repeats || b.repeats {
                p { "Verdicts name documents by their ids, and other documents have the id of one of these." }
            } @else if action.len() > MOST_ADDRESS {
                p { "Their ids are too long to be named in an address, so this pair takes no verdict." }
            } @else {
                p { @match last { Some(last) => { "The last verdict: " strong { (named(last)) } "." } None => { "No verdict yet." } } }
                form method="post" action=(action) {
                    @if verdicts.token { div {
                        label for="token" { "Token" }
                        input id="token" name="token" type="password" required autocomplete="current-password";
                    } }
                    @for verdict in PairVerdict::ALL {
                        button name="verdict" value=(verdict.name()) { (named(verdict)) }
                    }
                }
            }
        }
    }
}

/// The head of a column of verdicts, where they are taken.
pub(super) fn head(asked: &PageAsked<'_>) -> Markup {
    html! { @if asked.verdicts.is_some() { th scope="col" { "Verdict" } } }
}

/// The last verdict on a member and the representative, where verdicts are taken.
pub(super) fn cell(asked: &PageAsked<'_>, last: Option<&PairVerdict>) -> Markup {
    html! { @if asked.verdicts.is_some() { td { (last.map_or("-", |last| named(*last))) } } }
}
