//! Pages for people: HTML that is finished when it is sent. It can be read without a script, and its address says all of it.
//!
//! What stands on a page is escaped by the type that it has: only [`maud::Markup`] is put in as it is, and that is made of
//! literals and of escaped text. Characters that act on who reads them are shown by their numbers.

mod asked;
pub(in crate::serve) mod assets;
mod changes;
mod check;
mod clusters;
mod compare;
mod documents;
mod frame;
mod links;
mod parts;
mod run;
mod summary;
mod titles;
mod verdicts;

use maud::html;

pub(in crate::serve) use self::asked::{PageAsked, PageVerdicts};
pub(in crate::serve) use self::frame::ServedKind;
use self::frame::{Framed, Tab};
use super::http::answer::HttpError;
use super::pages::ServedPage;
use crate::printable::printable;

/// A page that asks, and knows nothing yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::serve) enum FormPage<'a> {
    /// For a text; `within` is the field that documents must share to be compared, or empty.
    Check { within: &'a str },
    /// For two ids.
    Compare,
}

/// A page as HTML.
pub(in crate::serve) fn page(page: &ServedPage, asked: &PageAsked<'_>) -> String {
    let framed = match page {
        ServedPage::Summary(page) => summary::page(page),
        ServedPage::Clusters(page) => clusters::list(page, asked),
        ServedPage::Cluster(page) => clusters::one(page, asked),
        ServedPage::Documents(page) => documents::list(page, asked),
        ServedPage::Titles(page) => titles::page(page, asked),
        ServedPage::Document(page) => documents::one(page, asked),
        ServedPage::Compare(page) => compare::page(page, asked),
        ServedPage::Changes(page) => changes::page(page, asked),
        ServedPage::Check(page) => check::page(page, asked),
        ServedPage::RunSummary(page) => run::summary(page),
        ServedPage::RunClusters(page) => run::clusters(page, asked),
        ServedPage::RunCluster(page) => run::cluster(page, asked),
        ServedPage::RunDocuments(page) => run::list(page, asked),
        ServedPage::RunDocument(page) => run::document(page, asked),
    };
    framed.whole(asked.of)
}

/// A form.
pub(in crate::serve) fn form(form: FormPage<'_>, of: ServedKind) -> String {
    match form {
        FormPage::Check { within } => check::form_page(within).whole(of),
        FormPage::Compare => compare::form_page().whole(of),
    }
}

/// Where two documents are compared.
pub(in crate::serve) fn address_of_pair(a: &str, b: &str) -> String {
    links::of_pair(a, b)
}

/// What is not answered, and why.
pub(in crate::serve) fn error(error: &HttpError, of: ServedKind) -> String {
    let reason = error.status.canonical_reason().unwrap_or("It failed");
    let main = html! {
        h1 { (reason) }
        p class="wrong" { bdi { (printable(&error.message)) } }
        p { "Status " (error.status.as_u16()) "." }
    };
    Framed { title: reason.to_owned(), tab: Tab::None, commit: None, json: None, main }.whole(of)
}
