//! What several pages have: names, and texts of which the beginning is shown.

use std::borrow::Cow;

use maud::{Markup, html};

use super::links;
use crate::collection::ClusterNumber;
use crate::printable::printable;

/// Characters of a name in a list.
const NAME: usize = 100;

/// The beginning of a text, and whether that is not all of it.
pub(super) fn beginning(text: &str, characters: usize) -> (&str, bool) {
    match text.char_indices().nth(characters) {
        Some((end, _)) => (&text[..end], true),
        None => (text, false),
    }
}

/// The user's words on a line, of which the beginning is shown.
pub(super) fn short(text: &str) -> Markup {
    let (shown, more) = beginning(text, NAME);
    html! { bdi { (printable(shown)) @if more { "..." } } }
}

/// Whether a name is longer than what is shown of it in a list.
pub(super) fn is_cut(name: &str) -> bool {
    beginning(name, NAME).1
}

/// The user's words on a line, all of them.
pub(super) fn whole(text: &str) -> Markup {
    html! { bdi { (printable(text)) } }
}

/// The name of a document; one has to be there to be followed.
fn name(id: &str) -> Cow<'_, str> {
    if id.trim().is_empty() { Cow::Owned(format!("{id:?}")) } else { Cow::Borrowed(id) }
}

/// A document, and where it is.
pub(super) fn document(id: &str) -> Markup {
    html! { a href=(links::of_document(id)) { (short(&name(id))) } }
}

/// A document by its name, and where what is asked for in another way is.
pub(super) fn document_at(name_of: &str, asked: &str) -> Markup {
    html! { a href=(links::of_document(asked)) { (short(&name(name_of))) } }
}

/// A document by the beginning of its name.
pub(super) fn named_short(id: &str) -> Markup {
    short(&name(id))
}

/// A cluster, and where it is.
pub(super) fn cluster(cluster: impl Into<ClusterNumber>) -> Markup {
    let cluster = cluster.into();
    html! { a href=(links::of_cluster(cluster)) { (cluster) } }
}

/// A cluster, if there is one.
pub(super) fn cluster_or_none(found: Option<impl Into<ClusterNumber>>) -> Markup {
    match found {
        Some(found) => cluster(found),
        None => html! { "-" },
    }
}

/// A file and a line of it.
pub(super) fn place(file: &str, line: impl Into<u64>) -> Markup {
    short(&format!("{file}:{}", line.into()))
}

/// A text with its lines. What acts on who reads it is shown as what it is.
pub(super) fn text(text: &str) -> Markup {
    html! {
        @for (at, line) in text.split('\n').enumerate() {
            @if at > 0 { "\n" }
            @for (at, part) in line.trim_end_matches('\r').split('\t').enumerate() {
                @if at > 0 { "\t" }
                (printable(part))
            }
        }
    }
}

/// The links behind a list: back to its beginning, and to what follows, by a key too where that means nothing else.
pub(super) fn paging(first: Option<&str>, next: Option<&str>, what: &str, keys: bool) -> Markup {
    html! {
        @if first.is_some() || next.is_some() {
            nav class="paging" aria-label=(format!("Pages of {what}")) { ul {
                @if let Some(first) = first { li { a href=(first) { "First page" } } }
                @if let Some(next) = next { li { a href=(next) rel=[keys.then_some("next")] data-keys=[keys.then_some("j n")] { "Next page" } } }
            } }
        }
    }
}

/// A value that a field is filled with: none that nobody could type, or see.
pub(super) fn typed(value: &str) -> &str {
    if matches!(printable(value), Cow::Borrowed(_)) { value } else { "" }
}

/// Parameters that a form keeps, but for what no field can hold.
pub(super) fn kept<'a>(parameters: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Markup {
    html! {
        @for (name, value) in parameters {
            @if let Some(value) = value.filter(|value| typed(value) == *value) { input type="hidden" name=(name) value=(value); }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_name_is_it_is_shown_as_text() {
        let shown = document("<script>\u{202e}\u{1b}[2J&\"").into_string();
        assert_eq!(
            shown,
            "<a href=\"/documents/%3Cscript%3E%E2%80%AE%1B%5B2J%26%22\">\
             <bdi>&lt;script&gt;\\u{202e}\\u{1b}[2J&amp;&quot;</bdi></a>"
        );
        assert_eq!(
            short(&"x".repeat(1_000_000)).into_string(),
            format!("<bdi>{}...</bdi>", "x".repeat(NAME))
        );
        assert!(document(" ").into_string().contains("&quot; &quot;"));
        assert_eq!(text("a\r\n\tb\u{7}\n").into_string(), "a\n\tb\\u{7}\n");
    }
}
