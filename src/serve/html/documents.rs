//! Documents by the page, and one of them.

use maud::{Markup, html};

use super::asked::PageAsked;
use super::frame::{Framed, Tab};
use super::{compare, links, parts, summary};
use crate::collection::{Alone, Measures, Resembled};
use crate::output::count;
use crate::printable::counted;
use crate::printable::printable;
use crate::report::{number, table};
use crate::serve::pages::{DocumentPage, DocumentsPage};

/// Characters of a text that are shown, unless all of it is asked for.
const TEXT: usize = 20_000;
/// Links and ids that are shown of a longer list.
const SHOWN: usize = 100;

pub(super) fn list(page: &DocumentsPage, asked: &PageAsked<'_>) -> Framed {
    let query = asked.query;
    let next = page.next.as_deref().map(|next| links::changed("/documents", query, &[("after", Some(next))]));
    let first = query.get("after").map(|_| links::changed("/documents", query, &[("after", None)]));
    let head = html! {
        th scope="col" class="id" { "Document" } th scope="col" { "Cluster" } th scope="col" class="n" { "Load" }
        th scope="col" { "Its place" }
    };
    let main = html! {
        h1 { "Documents" }
        (summary::find(query.get("q").unwrap_or_default(), query.get("words").unwrap_or_default(), ""))
        @if page.documents.is_empty() { p { "There is none." } } @else {
            (table("Documents in the order of their ids", &head, &html! { @for document in &page.documents { tr {
                th scope="row" class="id" { (parts::document(&document.id)) }
                td { (parts::cluster_or_none(document.cluster)) }
                (number(u64::from(document.load)))
                td class="place" { (parts::place(&document.file, document.line)) }
            } } }))
        }
        (parts::paging(first.as_deref(), next.as_deref(), "documents", true))
    };
    Framed {
        title: "Documents".to_owned(),
        tab: Tab::Documents,
        commit: Some(page.commit),
        json: Some(links::changed("/documents.json", query, &[])),
        main,
    }
}

pub(super) fn one(page: &DocumentPage, asked: &PageAsked<'_>) -> Framed {
    let document = &page.document;
    let id = document.id.as_str();
    let main = html! {
        h1 { "Document " (parts::named_short(id)) }
        dl class="facts" {
            @if parts::is_cut(id) { dt { "Id" } dd { (parts::whole(id)) } }
            dt { "Cluster" } dd {
                @match document.cluster {
                    Some(cluster) => { (parts::cluster(cluster)) }
                    None if page.explanation.document.has_tokens => { "none: it is like no other" }
                    None => { "none: its text has no token" }
                }
            }
            dt { "Place" } dd { (parts::whole(&format!("{}:{}", document.file, document.line))) }
            @if let Some(bytes) = page.explanation.document.text_bytes {
                dt { "Text" } dd { (counted(bytes, "byte")) }
            }
            dt { "Loaded" } dd {
                "by load " (document.load)
                @if document.first_load != document.load { ", first by load " (document.first_load) }
            }
        }
        @if document.cluster.is_some() {
            section aria-labelledby="why" { h2 id="why" { "Why it is in this cluster" } (why(&page.explanation)) }
        }
        @if let Some(nearest) = &page.nearest_outside {
            section aria-labelledby="outside" { h2 id="outside" { "The nearest outside its cluster" } (outside(id, nearest.as_ref())) }
        }
        (text(id, (page.text.as_deref(), page.no_text.as_deref()), asked))
        section aria-labelledby="other" { h2 id="other" { "Compare it with another" } (compare::form(id, "")) }
    };
    Framed {
        title: format!("Document {}", parts::beginning(id, 60).0),
        tab: Tab::Documents,
        commit: Some(page.commit),
        json: Some(links::address("/document.json", [("id", id), ("text", "yes")])),
        main,
    }
}

/// The closest document that is linked to one and not in its cluster.
fn outside(id: &str, nearest: Option<&Resembled>) -> Markup {
    html! {
        @match nearest {
            Some(found) => {
                p {
                    (parts::document(&found.id)) ", " (Measures::figure(Some(&found.measures), found.same_text)) ", "
                    @match found.cluster { Some(cluster) => { "in cluster " (parts::cluster(cluster)) } None => { "in no cluster" } }
                    ". " a href=(links::of_pair(id, &found.id)) { "The two side by side" } "."
                }
            }
            None => { p { "There is none: it is linked to no document that is not in its cluster." } }
        }
    }
}

/// Why a document is in its cluster.
pub(super) fn why(alone: &Alone) -> Markup {
    html! {
        @match &alone.representative {
            Some(_) if alone.chain.is_empty() => { p { "It stands for the cluster." } }
            Some(leader) => {
                p {
                    (parts::document(leader)) " stands for the cluster. "
                    @if alone.chain.len() == 1 { "What links the two:" } @else { "The links that lead there:" }
                }
                (compare::chain(&alone.chain))
            }
            None => {}
        }
        @if let Some(stays) = &alone.stays { (compare::preference(stays)) }
        @if !alone.same_text.is_empty() {
            h3 { "Documents of the same text" }
            ul { @for id in alone.same_text.iter().take(SHOWN) { li { (parts::document(id)) } } }
            (more(alone.same_text.len()))
        }
        @if !alone.links.is_empty() {
            h3 { "Its stored links" }
            p class="soft" { "They hold the cluster together, and need not be all there are." }
            @let head = html! { th scope="col" class="id" { "Document" } th scope="col" { "What they share" } th scope="col" { "Words" } };
            (table("Documents that it is linked to, the closest first", &head, &html! {
                @for link in alone.links.iter().take(SHOWN) { tr {
                    th scope="row" class="id" { (parts::document(&link.second)) }
                    td class="how" { (link.how()) }
                    td { a href=(links::of_pair(&link.first, &link.second)) { "Compare" } }
                } }
            }))
            (more(alone.links.len()))
        }
    }
}

/// How many of a list are not shown.
fn more(of: usize) -> Markup {
    html! { @if of > SHOWN { p class="soft" { (count((of - SHOWN) as u64)) " more are in the page as JSON." } } }
}

/// The text of a document, or why there is none.
pub(super) fn text(id: &str, (text, no_text): (Option<&str>, Option<&str>), asked: &PageAsked<'_>) -> Markup {
    let all = asked.query.get("text") == Some("yes");
    let to_all = links::address("/document", [("id", id), ("text", "yes")]);
    html! {
        section aria-labelledby="text" {
            h2 id="text" { "Text" }
            @match (text, no_text) {
                (Some(text), _) => {
                    @let (shown, more) = if all { (text, false) } else { parts::beginning(text, TEXT) };
                    pre class="text" dir="auto" tabindex="0" role="region" aria-label="Text of the document" { (parts::text(shown)) }
                    @if more { p { "These are the first " (count(TEXT as u64)) " characters. " a href=(to_all) { "The whole text" } "." } }
                }
                (None, Some(why)) => { p { "It cannot be had: " bdi { (printable(why)) } } }
                (None, None) => { p { a href=(to_all) { "Show it" } "." } }
            }
        }
    }
}
