//! Documents that words of their titles find.

use maud::{Markup, html};

use super::asked::PageAsked;
use super::frame::{Framed, Tab};
use super::{links, parts, summary};
use crate::output::count;
use crate::printable::{counted, plural};
use crate::report::table;
use crate::serve::pages::{TitledDocument, TitlesPage};

pub(super) fn page(page: &TitlesPage, asked: &PageAsked<'_>) -> Framed {
    let query = asked.query;
    let next = page.next.as_deref().map(|next| links::changed("/documents", query, &[("after", Some(next))]));
    let first = query.get("after").map(|_| links::changed("/documents", query, &[("after", None)]));
    let of_output = page.commit.is_none();
    let head = html! {
        th scope="col" { "Title" } th scope="col" class="id" { "Document" } th scope="col" { "Cluster" }
        @if of_output { th scope="col" { "What became of it" } }
        th scope="col" { "Its place" }
    };
    let main = html! {
        h1 { "Documents by their titles" }
        (summary::find("", "", query.get("title").unwrap_or_default()))
        p {
            "All words must stand in the title, each as a whole word. "
            (count(page.titles)) " " (plural(page.titles, "document")) @if page.titles == 1 { " has a title." } @else { " have a title." }
            @if let Some(unread) = page.unread {
                " Titles in " (counted(unread, "file")) " are not found: what was loaded is not there any more."
            }
        }
        @if page.documents.is_empty() { p { "There is none with these words." } } @else {
            (table("Documents in the order in which they were read", &head, &html! { @for document in &page.documents { tr {
                td { (parts::short(&document.title)) }
                th scope="row" class="id" { (named(document, of_output)) }
                td { (parts::cluster_or_none(document.cluster)) }
                @if let Some(kept) = document.kept { td { @if kept { "kept" } @else { "removed" } } }
                td class="place" { (parts::place(&document.file, document.line)) }
            } } }))
        }
        (parts::paging(first.as_deref(), next.as_deref(), "documents", true))
    };
    Framed {
        title: "Documents by their titles".to_owned(),
        tab: Tab::Documents,
        commit: page.commit,
        json: Some(links::changed("/documents.json", query, &[])),
        main,
    }
}

/// A document that leads to its page: in an output by its place, as ids may repeat there.
fn named(document: &TitledDocument, of_output: bool) -> Markup {
    match of_output {
        true => parts::document_at(&document.id, &format!("{}:{}", document.file, document.line)),
        false => parts::document(&document.id),
    }
}
