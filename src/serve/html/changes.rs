//! What happened to clusters and documents, commit by commit.

use maud::{Markup, html};
use serde::Deserialize;

use super::asked::PageAsked;
use super::frame::{Framed, Tab};
use super::{links, parts};
use crate::collection::{ChangeLine, CommitCommand, CommitRow};
use crate::output::count;
use crate::serve::pages::{ChangesPage, LogLine};

/// A line of a log with the commit that made the change.
#[derive(Deserialize)]
struct DatedChange {
    commit: u64,
    #[serde(flatten)]
    change: serde_json::Map<String, serde_json::Value>,
}

impl DatedChange {
    /// The line, if it is one that this program knows.
    fn read(line: &LogLine) -> Option<(u64, ChangeLine)> {
        let dated: DatedChange = serde_json::from_str(line.json()).ok()?;
        let change = serde_json::from_value(serde_json::Value::Object(dated.change)).ok()?;
        Some((dated.commit, change))
    }
}

pub(super) fn page(page: &ChangesPage, asked: &PageAsked<'_>) -> Framed {
    let query = asked.query;
    let next = page.next.as_deref().map(|next| links::changed("/changes", query, &[("after", Some(next))]));
    let first = query.get("after").map(|_| links::changed("/changes", query, &[("after", None)]));
    let lines: Vec<(u64, ChangeLine)> = page.changes.iter().filter_map(DatedChange::read).collect();
    let main = html! {
        h1 { "Changes" }
        form method="get" action="/changes" {
            div {
                label for="since" { "After commit" }
                input id="since" name="since" type="number" min="0" max=(page.commit) value=(query.get("since").unwrap_or("0"));
            }
            (parts::kept([("limit", query.get("limit"))]))
            button { "Show" }
        }
        @if lines.is_empty() { p { "Nothing has changed since." } }
        @for commit in lines.chunk_by(|one, other| one.0 == other.0) {
            @let number = commit[0].0;
            @let name = format!("commit-{number}");
            section aria-labelledby=(name) {
                h2 id=(name) { "Commit " (number) }
                @if let Some(row) = page.commits.iter().find(|row| row.commit == number) { (told(row)) }
                ol class="timeline" { @for (_, change) in commit { li { (line(change)) } } }
            }
        }
        (parts::paging(first.as_deref(), next.as_deref(), "changes", true))
    };
    Framed {
        title: "Changes".to_owned(),
        tab: Tab::Changes,
        commit: Some(page.commit),
        json: Some(links::changed("/changes.json", query, &[])),
        main,
    }
}

/// When a commit was made, and of what.
fn told(row: &CommitRow) -> Markup {
    let command = row.command.map(|command| match command {
        CommitCommand::Load => "a load",
        CommitCommand::Delete => "a deletion",
        CommitCommand::Rollback => "a rollback",
    });
    let figures = [("added", row.added), ("replaced", row.replaced), ("removed", row.removed)];
    html! {
        @if let (Some(time), Some(command)) = (&row.time, command) {
            p class="soft" {
                time datetime=(time) { (time.replace('T', " ").replace('Z', " UTC")) } ", " (command) ": "
                @for (at, (name, n)) in figures.iter().enumerate() {
                    @if at > 0 { ", " } (count(n.unwrap_or(0))) " " (name)
                }
                @if let Some(documents) = row.documents { "; " (count(documents)) " documents since" }
                @if !row.sources.is_empty() { "; " (parts::short(&row.sources.join(", "))) }
                "."
            }
        }
    }
}

fn line(change: &ChangeLine) -> Markup {
    let tag = |name: &str| html! { span class="tag" { (name) } " " };
    html! {
        @match change {
            ChangeLine::Created { cluster, representative } => {
                (tag("created")) "cluster " (parts::cluster(*cluster)) ", for which " (parts::document(representative)) " stands"
            }
            ChangeLine::Joined { id, cluster } => {
                (tag("joined")) (parts::document(id)) " is in cluster " (parts::cluster(*cluster))
            }
            ChangeLine::Moved { id, from, to } => {
                (tag("moved")) (parts::document(id)) " went from cluster " (parts::cluster(*from)) " to " (parts::cluster(*to))
            }
            ChangeLine::Left { id, cluster } => {
                (tag("left")) (parts::document(id)) " is no longer in cluster " (parts::cluster(*cluster))
            }
            ChangeLine::Deleted { id } => { (tag("deleted")) (parts::named_short(id)) ", which was in no cluster" }
            ChangeLine::Merged { from, into } => {
                (tag("merged")) "cluster " (from) " went into " (parts::cluster(*into))
            }
            ChangeLine::Split { from, into } => {
                (tag("split")) "documents of cluster " (parts::cluster(*from)) " are in " (parts::cluster(*into)) " now"
            }
            ChangeLine::Dissolved { cluster } => { (tag("dissolved")) "cluster " (cluster) }
            ChangeLine::Representative { cluster, from, to } => {
                (tag("representative")) "of cluster " (parts::cluster(*cluster)) " is " (parts::document(to)) ", and no longer "
                (parts::named_short(from))
            }
        }
    }
}
