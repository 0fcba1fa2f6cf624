//! Clusters by the page, and one of them.

use maud::{Markup, html};

use super::asked::PageAsked;
use super::frame::{Framed, Tab};
use super::verdicts::{self, Judged};
use super::{compare, links, parts};
use crate::collection::{DividedCluster, Explanation, Measures, MemberView, Step};
use crate::output::count;
use crate::printable::{counted, plural};
use crate::report::{number, table};
use crate::serve::pages::{ClusterPage, ClustersPage};
use crate::threshold::Threshold;

/// Documents that are named of a part.
const PART: usize = 20;

pub(super) fn list(page: &ClustersPage, asked: &PageAsked<'_>) -> Framed {
    let query = asked.query;
    let next = page.next.as_deref().map(|next| links::changed("/clusters", query, &[("after", Some(next))]));
    let first = query.get("after").map(|_| links::changed("/clusters", query, &[("after", None)]));
    let (newest, loose) = (query.get("sort") == Some("newest"), query.get("sort") == Some("looseness"));
    let least = query.get("min-size").unwrap_or_default();
    let total = page.total as u64;
    let head = html! {
        th scope="col" { "Cluster" } th scope="col" class="n" { "Documents" }
        th scope="col" class="id" { "Representative" }
        @if loose { th scope="col" { "Least in common" } }
        th scope="col" { "Its place" }
    };
    let caption = match (newest, loose) {
        (true, _) => "Clusters, the newest first",
        (_, true) => "Clusters, the loosest first",
        _ => "Clusters, the largest first",
    };
    let main = html! {
        h1 { "Clusters" }
        form method="get" action="/clusters" {
            div {
                label for="sort" { "Order" }
                select id="sort" name="sort" {
                    option value="size" selected[!newest && !loose] { "the largest first" }
                    option value="newest" selected[newest] { "the newest first" }
                    option value="looseness" selected[loose] { "the loosest first" }
                }
            }
            div {
                label for="min-size" { "Documents, at least" }
                input id="min-size" name="min-size" type="number" min="0" step="1" value=(least);
            }
            (parts::kept([("limit", query.get("limit"))]))
            button { "Show" }
        }
        p { (count(total)) " " (plural(total, "cluster")) @if !least.is_empty() { " of such a size" } "." }
        @if !page.clusters.is_empty() {
            (table(caption, &head, &html! { @for cluster in &page.clusters { tr {
                th scope="row" { (parts::cluster(cluster.cluster)) }
                (number(cluster.size))
                td class="id" { (parts::document(&cluster.representative)) }
                @if loose { td { @match &cluster.least { Some(least) => { (least) } None => { "same text" } } } }
                td class="place" { (parts::place(&cluster.file, cluster.line)) }
            } } }))
        }
        (parts::paging(first.as_deref(), next.as_deref(), "clusters", true))
    };
    Framed {
        title: "Clusters".to_owned(),
        tab: Tab::Clusters,
        commit: Some(page.commit),
        json: Some(links::changed("/clusters.json", query, &[])),
        main,
    }
}

/// The members before and behind one of them, on a page; that of the representative is passed over.
fn neighbours<'a>(page: &'a ClusterPage, id: &str) -> (Option<&'a str>, Option<&'a str>) {
    let others = page.members.iter().filter(|member| !member.representative);
    let ids: Vec<&str> = others.map(|member| member.document.id.as_str()).collect();
    // One that is not on the page stands before or behind all of it.
    let at = ids.partition_point(|other| *other < id);
    let behind = if ids.get(at) == Some(&id) { at + 1 } else { at };
    (at.checked_sub(1).map(|before| ids[before]), ids.get(behind).copied())
}

/// The members before and behind the chosen one in the order of a page; behind none is the first.
pub(super) fn neighbour_of<'a>(
    others: &'a [String],
    chosen: Option<&str>,
) -> (Option<&'a str>, Option<&'a str>) {
    let at = |at: usize| others.get(at).map(String::as_str);
    match chosen.map(|chosen| others.iter().position(|other| other == chosen)) {
        None => (None, at(0)),
        Some(Some(place)) => (place.checked_sub(1).and_then(at), at(place + 1)),
        // It is on another page.
        Some(None) => (None, None),
    }
}

pub(super) fn one(page: &ClusterPage, asked: &PageAsked<'_>) -> Framed {
    let path = links::of_cluster(page.cluster.cluster);
    let query = asked.query;
    let to_page = |after: Option<&str>| links::changed(&path, query, &[("after", after), ("member", None)]);
    let to_member = |id: &str| format!("{}#member", links::changed(&path, query, &[("member", Some(id))]));
    let chosen = query.get("member");
    let first_member = page.members.iter().find(|member| !member.representative);
    let before = chosen.and_then(|id| neighbours(page, id).0);
    let behind = match chosen {
        Some(id) => neighbours(page, id).1,
        None => first_member.map(|member| member.document.id.as_str()),
    };
    let next = page.next.as_deref().map(|next| to_page(Some(next)));
    let representative = &page.cluster.representative;
    let main = html! {
        h1 { "Cluster " (page.cluster.cluster) }
        p {
            (counted_documents(page.cluster.size)) "; " (parts::document(representative)) " stands for it."
        }
        nav class="steps" aria-label="Members" { ul {
            @if let Some(id) = before { li { a href=(to_member(id)) rel="prev" data-keys="k p" { "Previous member" } " " kbd { "k" } } }
            @if let Some(id) = behind {
                li {
                    a href=(to_member(id)) rel="next" data-keys="j n" {
                        @if chosen.is_some() { "Next member" } @else { "First member against the representative" }
                    }
                    " " kbd { "j" }
                }
            } @else if let Some(next) = &next {
                li { a href=(next) rel="next" data-keys="j n" { "Next page of members" } " " kbd { "j" } }
            }
            @if chosen.is_some() { li { a href=(links::changed(&path, query, &[("member", None)])) { "All members" } } }
        } }
        @if let (Some(id), Some(explanation)) = (chosen, &page.compared) {
            section id="member" aria-labelledby="member-name" {
                h2 id="member-name" { (parts::named_short(id)) " against the representative" }
                (compared(explanation))
                p { a href=(links::of_pair(representative, id)) { "The two, and what links them" } }
                (verdicts::on_two(asked, [Judged::of_id(representative), Judged::of_id(id)], &to_member(id)))
            }
        }
        (apart(&path, asked, page.threshold, page.divided.as_ref()))
        section aria-labelledby="members" {
            h2 id="members" { "Members" }
            (members(page, asked, chosen, &to_member))
            (parts::paging(
                query.get("after").map(|_| to_page(None)).as_deref(),
                next.as_deref(),
                "members",
                false,
            ))
        }
    };
    Framed {
        title: format!("Cluster {}", page.cluster.cluster),
        tab: Tab::Clusters,
        commit: Some(page.commit),
        json: Some(links::changed(&format!("{path}.json"), query, &[])),
        main,
    }
}

/// What a cluster falls into at higher thresholds, if it can be taken apart.
pub(super) fn apart(
    path: &str,
    asked: &PageAsked<'_>,
    lowest: Option<Threshold>,
    divided: Option<&DividedCluster>,
) -> Markup {
    html! {
        @if let Some(lowest) = lowest {
            section id="parts" aria-labelledby="parts-name" {
                h2 id="parts-name" { "At higher thresholds" }
                (slider(path, asked, lowest, divided))
                @if let Some(divided) = divided { (parts_of(divided)) }
            }
        }
    }
}

/// Asks for another threshold: at once where there is a script, by a button where not.
fn slider(path: &str, asked: &PageAsked<'_>, lowest: Threshold, divided: Option<&DividedCluster>) -> Markup {
    let at = divided.map_or(lowest, |divided| divided.threshold);
    html! {
        form method="get" action=(format!("{path}#parts")) data-sends {
            div class="slides" {
                label for="threshold" { "Threshold: " output for="threshold" { (at) } }
                input id="threshold" name="threshold" type="range" min=(lowest) max="1" step="0.01" value=(at);
            }
            (parts::kept(["after", "limit", "member"].map(|name| (name, asked.query.get(name)))))
            button { "Take apart" }
        }
    }
}

/// What a cluster falls into.
fn parts_of(divided: &DividedCluster) -> Markup {
    let DividedCluster { threshold, parts, alone: by_themselves } = divided;
    let alone = parts.iter().filter(|part| part.size == 1).count();
    let head = html! {
        th scope="col" class="n" { "Documents" } th scope="col" class="id" { "Would stand for them" }
        th scope="col" class="how" { "Documents by their ids" }
    };
    html! {
        p {
            "At " (threshold) " all of it hangs together"
            @if parts.len() > 1 {
                " no longer: it falls into " (parts.len()) " parts" @if alone > 0 { ", " (alone) " of one document" }
            } "."
            @if *by_themselves { " These are its documents by themselves: representatives of other clusters might take some of them." }
        }
        (table(&format!("Parts at {threshold}, the largest first"), &head, &html! { @for part in parts { tr {
            (number(part.size))
            td class="id" { (parts::document(&part.representative)) }
            td class="how" {
                @for (at, id) in part.members.iter().take(PART).enumerate() { @if at > 0 { ", " } (parts::named_short(id)) }
                @if part.members.len() > PART { ", and " (part.members.len() - PART) " more" }
            }
        } } }))
    }
}

fn counted_documents(n: u64) -> String {
    format!("{} {}", count(n), plural(n, "document"))
}

/// The step from one end to the other.
fn compared(explanation: &Explanation) -> Markup {
    let step: Option<&Step> = match explanation {
        Explanation::Together(together) => together.ends.as_ref().or(together.chain.first()),
        Explanation::Apart(apart) => apart.ends.as_ref(),
        Explanation::Document(_) => None,
    };
    let steps = match explanation {
        Explanation::Together(together) => together.chain.len(),
        _ => 1,
    };
    html! {
        @if steps > 1 { p { "The two are not linked themselves: " (counted(steps as u64, "link")) " lead from one to the other." } }
        @if let Some(step) = step { (compare::step(step)) }
    }
}

fn members(
    page: &ClusterPage,
    asked: &PageAsked<'_>,
    chosen: Option<&str>,
    to_member: &dyn Fn(&str) -> String,
) -> Markup {
    let head = html! {
        th scope="col" class="id" { "Document" } th scope="col" { "With the representative" }
        (verdicts::head(asked)) (heads_of_numbers()) th scope="col" { "Its place" }
    };
    let caption = "Members in the order of their ids";
    let figure = |member: &MemberView| Measures::figure(member.measures.as_ref(), member.same_text);
    table(
        caption,
        &head,
        &html! { @for member in &page.members {
            @let id = member.document.id.as_str();
            @let here = chosen == Some(id);
            tr class=[here.then_some("here")] {
                th scope="row" class="id" { (parts::document(id)) }
                td {
                    @if member.representative { "the representative" }
                    @else { a href=(to_member(id)) aria-current=[here.then_some("true")] { (figure(member)) } }
                }
                (verdicts::cell(asked, page.verdicts.get(id)))
                (number(member.text_bytes)) (number(u64::from(member.document.load)))
                td class="place" { (parts::place(&member.document.file, member.document.line)) }
            }
        } },
    )
}

fn heads_of_numbers() -> Markup {
    html! { th scope="col" class="n" { "Bytes" } th scope="col" class="n" { "Load" } }
}
