//! What there is.

use maud::{Markup, html};

use super::frame::{Framed, Tab};
use super::parts;
use crate::config::Clustering;
use crate::output::{count, percent, size};
use crate::printable::printable;
use crate::report::size_figure;
use crate::serve::pages::SummaryPage;

pub(super) fn page(page: &SummaryPage) -> Framed {
    Framed {
        title: "Summary".to_owned(),
        tab: Tab::Summary,
        commit: Some(page.commit),
        json: Some("/.json".to_owned()),
        main: main(page),
    }
}

fn main(page: &SummaryPage) -> Markup {
    let share = |n: u64| percent(n as f64, page.documents as f64);
    html! {
        h1 { "What the collection holds" }
        dl class="numbers" {
            div { dt { "Documents" } dd { (count(page.documents)) } }
            div { dt { "Clusters" } dd { a href="/clusters" { (count(page.clusters)) } } }
            div { dt { "Documents in clusters" } dd { (count(page.clustered)) " " small { (share(page.clustered)) } } }
            div { dt { "Removed if one of each stays" } dd { (count(page.removed)) " " small { (share(page.removed)) } } }
        }
        section aria-labelledby="find" {
            h2 id="find" { "Find a document" }
            (find("", "", ""))
        }
        @if page.clusters > 0 { section aria-labelledby="sizes" {
            h2 id="sizes" { "Sizes of clusters" }
            (size_figure(page.sizes.iter().map(|of| (of.from, of.to, of.clusters))))
        } }
        section aria-labelledby="collection" {
            h2 id="collection" { "The collection" }
            dl class="facts" {
                dt { "Id" } dd { code { (page.collection) } }
                dt { "Distinct texts" } dd { (count(page.contents)) }
                dt { "Loads and deletions" } dd { (count(page.loads)) }
                dt { "Size on disk" } dd { (size(page.bytes)) }
                dt { "Records" } dd {
                    @if page.store_text { "kept in the collection" } @else { "left in their files" }
                }
            }
        }
        section aria-labelledby="configuration" {
            h2 id="configuration" { "Configuration" }
            @let config = &page.configuration;
            dl class="facts" {
                dt { "Method" } dd { (config.method) }
                dt { "Threshold" } dd { (config.threshold) }
                dt { "Clusters are" } dd { (clustering(config.cluster.clustering)) }
                dt { "Kept of a cluster" } dd { (parts::short(&config.cluster.keep.to_string())) }
            }
            details {
                summary { "The full configuration" }
                @let configuration = toml::to_string(config).unwrap_or_default();
                pre tabindex="0" { code { @for line in configuration.lines() { (printable(line)) "\n" } } }
            }
        }
    }
}

/// What clusters are, in words.
fn clustering(clustering: Clustering) -> &'static str {
    match clustering {
        Clustering::Transitive => "documents that links connect",
        Clustering::Guarantee => "documents that are linked to their representative",
    }
}

/// The forms that find documents: by the beginning of their ids and by words in them, and by words of their titles.
pub(super) fn find(beginning: &str, words: &str, title: &str) -> Markup {
    html! {
        form method="get" action="/documents" role="search" aria-label="Find by titles" {
            div {
                label for="title" { "Words of its title" }
                input id="title" name="title" type="search" value=(parts::typed(title)) required autocomplete="off";
            }
            button { "Find by title" }
        }
        form method="get" action="/documents" role="search" aria-label="Find by ids" {
            div {
                label for="q" { "Beginning of its id" }
                input id="q" name="q" type="search" value=(parts::typed(beginning)) autocomplete="off" spellcheck="false";
            }
            div {
                label for="words" { "Words in it" }
                input id="words" name="words" type="search" value=(parts::typed(words)) autocomplete="off" spellcheck="false";
            }
            button { "Find" }
        }
    }
}
