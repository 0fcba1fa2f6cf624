//! What all pages have around what they are about.

use maud::{DOCTYPE, Markup, html};

use super::assets::{ICON, KEYS, STYLE};
use crate::printable::printable;

/// The pages that every page leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tab {
    Summary,
    Clusters,
    Documents,
    Compare,
    Changes,
    Check,
    /// Something else.
    None,
}

/// Where each of them is. Those that an output has are the first.
const TABS: [(Tab, &str, &str); 6] = [
    (Tab::Summary, "/", "Summary"),
    (Tab::Clusters, "/clusters", "Clusters"),
    (Tab::Documents, "/documents", "Documents"),
    (Tab::Compare, "/compare", "Compare"),
    (Tab::Changes, "/changes", "Changes"),
    (Tab::Check, "/check", "Check a text"),
];

/// What is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::serve) enum ServedKind {
    /// A collection.
    Collection,
    /// An output, which has no commits, and takes no texts.
    Output,
}

impl ServedKind {
    /// How many of the pages it has.
    fn tabs(self) -> usize {
        match self {
            ServedKind::Collection => TABS.len(),
            ServedKind::Output => 4,
        }
    }
}

/// A page without its frame.
pub(super) struct Framed {
    /// What the window is named.
    pub(super) title: String,
    /// Which of the pages that all lead to it is, or belongs to.
    pub(super) tab: Tab,
    /// The commit that it is of, if it is of one.
    pub(super) commit: Option<u64>,
    /// Where the same is as JSON.
    pub(super) json: Option<String>,
    /// The page.
    pub(super) main: Markup,
}

impl Framed {
    /// The whole page.
    pub(super) fn whole(self, of: ServedKind) -> String {
        let Framed { title, tab, commit, json, main } = self;
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (printable(&title)) " - alike" }
                    link rel="icon" href=(ICON.address()) type="image/svg+xml";
                    link rel="stylesheet" href=(STYLE.address());
                    @if let Some(json) = &json { link rel="alternate" type="application/json" href=(json); }
                    script src=(KEYS.address()) defer {}
                }
                body {
                    a class="skip" href="#main" { "Skip to the page" }
                    header {
                        nav aria-label="Pages" { ul {
                            @for (to, path, name) in TABS.iter().take(of.tabs()) {
                                li { a href=(path) aria-current=[(*to == tab).then_some("page")] { (name) } }
                            }
                        } }
                    }
                    main id="main" tabindex="-1" { (main) }
                    footer { p {
                        @if let Some(commit) = commit { "Commit " (commit) ". " }
                        @if let Some(json) = &json { a href=(json) { "This page as JSON" } ". " }
                        "alike " (env!("CARGO_PKG_VERSION")) "."
                    } }
                }
            }
        };
        page.into_string()
    }
}
