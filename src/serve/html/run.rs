//! Pages of an output of `dedup`.

use maud::{Markup, html};

use super::asked::PageAsked;
use super::clusters::{apart, neighbour_of};
use super::frame::{Framed, Tab};
use super::verdicts::{self, Judged};
use super::{compare, documents, links, parts, summary};
use crate::collection::{ClusterNumber, Comparison, Measures, Whose, WordDiff};
use crate::output::{ListedCluster, count, percent};
use crate::printable::{counted, plural, printable};
use crate::report::{MemberPage, diff_side, diff_told, number, size_figure, table};
use crate::serve::index::making::MakingState;
use crate::serve::pages::{
    OutsidePage, RunClusterPage, RunClustersPage, RunDocumentPage, RunDocumentsPage, RunMember,
    RunSummaryPage,
};

pub(super) fn summary(page: &RunSummaryPage) -> Framed {
    let documents = page.count("documents");
    let share = |n: u64| percent(n as f64, documents as f64);
    let numbers = [("Documents", "documents"), ("Kept", "kept"), ("Removed", "removed")];
    let reasons = [
        ("Copies of a kept document", "exact_duplicates"),
        ("Linked to a kept document", "near_duplicates"),
        ("Connected through others", "linked"),
    ];
    let main = html! {
        h1 { "What the run did" }
        dl class="numbers" {
            @for (name, of) in numbers {
                div { dt { (name) } dd { (count(page.count(of))) @if of != "documents" { " " small { (share(page.count(of))) } } } }
            }
            div { dt { "Clusters" } dd { a href="/clusters" { (count(page.count("clusters"))) } } }
        }
        section aria-labelledby="find" {
            h2 id="find" { "Find a document" }
            (summary::find("", "", ""))
            (reading(page.inputs))
        }
        @if !page.sizes.is_empty() { section aria-labelledby="sizes" {
            h2 id="sizes" { "Sizes of clusters" }
            (size_figure(page.sizes.iter().copied()))
        } }
        section aria-labelledby="reasons" {
            h2 id="reasons" { "Why documents were removed" }
            dl class="facts" { @for (name, of) in reasons { dt { (name) } dd { (count(page.count(of))) } } }
        }
        section aria-labelledby="configuration" {
            h2 id="configuration" { "How it was asked" }
            @if let Some(command) = &page.command { pre tabindex="0" { code { (printable(command)) } } }
            details {
                summary { "The full configuration" }
                @let configuration = toml::to_string(&page.summary["configuration"]).unwrap_or_default();
                pre tabindex="0" { code { @for line in configuration.lines() { (printable(line)) "\n" } } }
            }
        }
    };
    Framed {
        title: "Summary".to_owned(),
        tab: Tab::Summary,
        commit: None,
        json: Some("/.json".to_owned()),
        main,
    }
}

pub(super) fn clusters(page: &RunClustersPage, asked: &PageAsked<'_>) -> Framed {
    let query = asked.query;
    let next = page.next.as_deref().map(|next| links::changed("/clusters", query, &[("after", Some(next))]));
    let first = query.get("after").map(|_| links::changed("/clusters", query, &[("after", None)]));
    let loose = query.get("sort") == Some("looseness");
    let least = query.get("min-size").unwrap_or_default();
    let total = page.total as u64;
    let head = html! {
        th scope="col" { "Cluster" } th scope="col" class="n" { "Documents" } th scope="col" class="n" { "Removed" }
        th scope="col" { "Least in common" } th scope="col" class="id" { "Representative" } th scope="col" { "Its place" }
    };
    let caption = if loose { "Clusters, the loosest first" } else { "Clusters, the largest first" };
    let main = html! {
        h1 { "Clusters" }
        form method="get" action="/clusters" {
            div {
                label for="sort" { "Order" }
                select id="sort" name="sort" {
                    option value="size" selected[!loose] { "the largest first" }
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
                th scope="row" { a href=(of_cluster(cluster.cluster)) { (cluster.cluster) } }
                (number(cluster.size))
                (number(cluster.removed))
                td { @match &cluster.least {
                    Some(least) => { (least) }
                    None if cluster.removed > 0 && cluster.copies == cluster.removed => { "copies" }
                    None => { "-" }
                } }
                td class="id" { (document_at(&cluster.representative, cluster.file.as_deref(), cluster.line)) }
                td class="place" { (place(cluster.file.as_deref(), cluster.line)) }
            } } }))
        }
        (parts::paging(first.as_deref(), next.as_deref(), "clusters", true))
    };
    Framed {
        title: "Clusters".to_owned(),
        tab: Tab::Clusters,
        commit: None,
        json: Some(links::changed("/clusters.json", query, &[])),
        main,
    }
}

/// How far it is that titles are read.
fn reading(state: MakingState) -> Markup {
    html! {
        @match state {
            MakingState::Making { share } => {
                p class="soft" { "Titles are not there yet: all inputs are being read, " (count((share * 100.0) as u64)) " % so far." }
            }
            MakingState::Failed => { p class="soft" { "Titles cannot be searched: the inputs could not be noted. The operator is told why." } }
            MakingState::Ready => {}
        }
    }
}

fn of_cluster(number: u64) -> String {
    format!("/clusters/{number}")
}

pub(super) fn cluster(page: &RunClusterPage, asked: &PageAsked<'_>) -> Framed {
    let path = of_cluster(page.cluster.cluster);
    let query = asked.query;
    let to_page = |after: Option<&str>| links::changed(&path, query, &[("after", after), ("member", None)]);
    let to_member = |key: &str| format!("{}#member", links::changed(&path, query, &[("member", Some(key))]));
    let asked_for = |member: &&RunMember| {
        query.get("member").is_some_and(|asked| member.key() == asked || *member.id == *asked)
    };
    let chosen = page.members.iter().find(asked_for).map(RunMember::key);
    let chosen = chosen.as_deref().or(query.get("member"));
    let others: Vec<String> =
        page.members.iter().filter(|member| !member.representative).map(RunMember::key).collect();
    let (before, behind) = neighbour_of(&others, chosen);
    let next = page.next.as_deref().map(|next| to_page(Some(next)));
    let representative = &page.cluster.representative;
    let main = html! {
        h1 { "Cluster " (page.cluster.cluster) }
        p {
            (counted(page.cluster.size, "document")) ", of which " (count(page.cluster.removed)) " were removed; "
            (document_at(representative, page.cluster.file.as_deref(), page.cluster.line)) " stands for it."
        }
        nav class="steps" aria-label="Members" { ul {
            @if let Some(key) = before { li { a href=(to_member(key)) rel="prev" data-keys="k p" { "Previous member" } " " kbd { "k" } } }
            @if let Some(key) = behind {
                li {
                    a href=(to_member(key)) rel="next" data-keys="j n" {
                        @if chosen.is_some() { "Next member" } @else { "First member against the representative" }
                    }
                    " " kbd { "j" }
                }
            } @else if let Some(next) = &next {
                li { a href=(next) rel="next" data-keys="j n" { "Next page of members" } " " kbd { "j" } }
            }
            @if chosen.is_some() { li { a href=(links::changed(&path, query, &[("member", None)])) { "All members" } } }
        } }
        @if let Some(member) = &page.compared {
            section id="member" aria-labelledby="member-name" {
                h2 id="member-name" { (parts::named_short(&member.id)) " against the representative" }
                (against(&page.cluster, member))
                @let pair = [Judged::listed(representative, page.cluster.file.as_deref(), page.cluster.line),
                    Judged::listed(&member.id, member.file.as_deref(), member.line)].map(|of| of.repeating(page.pair_repeats));
                (verdicts::on_two(asked, pair, &to_member(chosen.unwrap_or_default())))
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
        commit: None,
        json: Some(links::changed(&format!("{path}.json"), query, &[])),
        main,
    }
}

/// What tells a document from all others: its place, or its name where lists name no place.
fn key(name: &str, file: Option<&str>, line: Option<u64>) -> String {
    file.zip(line).map_or_else(|| name.to_owned(), |(file, line)| format!("{file}:{line}"))
}

/// A document by its name, which leads to its page: ids may repeat, and places do not.
fn document_at(name: &str, file: Option<&str>, line: Option<u64>) -> Markup {
    parts::document_at(name, &key(name, file, line))
}

/// A place that lists may not name.
fn place(file: Option<&str>, line: Option<u64>) -> Markup {
    match file.zip(line) {
        Some((file, line)) => parts::place(file, line),
        None => html! { "-" },
    }
}

/// A member side by side with the representative.
fn against(cluster: &ListedCluster, member: &MemberPage) -> Markup {
    let first = (cluster.representative.as_str(), cluster.file.as_deref(), cluster.line);
    let second = (member.id.as_str(), member.file.as_deref(), member.line);
    let diff: Option<&WordDiff> = match &member.texts {
        Some(Comparison::Words(diff)) => Some(diff),
        _ => None,
    };
    let sides = [(first, Whose::First), (second, Whose::Second)];
    let [one, other] = [first, second].map(|(name, file, line)| key(name, file, line));
    html! {
        div class="pair" {
            p {
                @match (&member.measures, member.listed) {
                    (None, Some(listed)) if !member.same_text => { (listed) }
                    (measures, _) => { (Measures::figure(measures.as_ref(), member.same_text)) }
                }
                @if let Some(reason) = &member.reason { "; removed as " (printable(reason)) } @else { "; kept" } "."
            }
            div class="sides" { @for ((name, file, line), _) in sides { div { p { (document_at(name, file, line)) } } } }
            @for place in diff.iter().flat_map(|diff| &diff.places) {
                div class="sides" { @for (_, whose) in sides { div { (diff_side(place, whose)) } } }
            }
            @match &member.texts {
                Some(Comparison::Words(diff)) => { p class="soft" { (diff_told(diff)) } }
                Some(Comparison::Missing { why }) => { p class="soft" { "No words to show: " bdi { (printable(why)) } } }
                None => {}
            }
            p { a href=(links::of_pair(&one, &other)) { "The two, and what links them" } }
        }
    }
}

fn members(
    page: &RunClusterPage,
    asked: &PageAsked<'_>,
    chosen: Option<&str>,
    to_member: &dyn Fn(&str) -> String,
) -> Markup {
    let head = html! {
        th scope="col" class="id" { "Document" } th scope="col" { "With the representative" }
        (verdicts::head(asked)) th scope="col" { "What became of it" } th scope="col" { "Its place" }
    };
    let became = |member: &RunMember| match (&member.reason, &member.against) {
        (_, Some(set)) => format!("protected ({set})"),
        (Some(reason), None) => format!("removed, {reason}"),
        (None, None) => "kept".to_owned(),
    };
    table(
        "Members: the representative, others that are kept, those that are removed",
        &head,
        &html! { @for member in &page.members {
            @let key = member.key();
            @let here = chosen == Some(&*key);
            tr class=[here.then_some("here")] {
                th scope="row" class="id" { (document_at(&member.id, member.file.as_deref(), member.line)) }
                td {
                    @if member.representative { "the representative" }
                    @else { a href=(to_member(&key)) aria-current=[here.then_some("true")] {
                        @match &member.scores { Some(scores) => { (scores) } None => { "compare" } }
                    } }
                }
                (verdicts::cell(asked, page.verdicts.get(&*member.id)))
                td { (parts::short(&became(member))) }
                td class="place" { (place(member.file.as_deref(), member.line)) }
            }
        } },
    )
}

pub(super) fn list(page: &RunDocumentsPage, asked: &PageAsked<'_>) -> Framed {
    let query = asked.query;
    let next = page.next.as_deref().map(|next| links::changed("/documents", query, &[("after", Some(next))]));
    let first = query.get("after").map(|_| links::changed("/documents", query, &[("after", None)]));
    let head = html! {
        th scope="col" class="id" { "Document" } th scope="col" { "Cluster" } th scope="col" { "What became of it" }
        th scope="col" { "Its place" }
    };
    let main = html! {
        h1 { "Documents of clusters" }
        p { "What is in no cluster is not listed here; words of its title find it, and its own page is there by its whole id." }
        (summary::find(query.get("q").unwrap_or_default(), query.get("words").unwrap_or_default(), ""))
        @if page.documents.is_empty() { p { "There is none." } } @else {
            (table("Documents in the order of their ids", &head, &html! { @for document in &page.documents { tr {
                th scope="row" class="id" { (document_at(&document.id, document.file.as_deref(), document.line)) }
                td { a href=(of_cluster(document.cluster)) { (document.cluster) } }
                td { @if document.protected { "protected" } @else if document.kept { "kept" } @else { "removed" } }
                td class="place" { (place(document.file.as_deref(), document.line)) }
            } } }))
        }
        (parts::paging(first.as_deref(), next.as_deref(), "documents", true))
    };
    Framed {
        title: "Documents".to_owned(),
        tab: Tab::Documents,
        commit: None,
        json: Some(links::changed("/documents.json", query, &[])),
        main,
    }
}

pub(super) fn document(page: &RunDocumentPage, asked: &PageAsked<'_>) -> Framed {
    let place = &page.explanation.document;
    let id = place.id.as_str();
    let found_by = found_by(page, asked);
    let main = html! {
        h1 { "Document " (parts::named_short(id)) }
        dl class="facts" {
            @if parts::is_cut(id) { dt { "Id" } dd { (parts::whole(id)) } }
            dt { "Cluster" } dd {
                @match place.cluster {
                    Some(cluster) => { (parts::cluster(cluster)) }
                    None if place.has_tokens => { "none: it is like no other" }
                    None => { "none: its text has no token" }
                }
            }
            dt { "Place" } dd { (parts::whole(&format!("{}:{}", place.file, place.line))) }
            @if let Some(bytes) = place.text_bytes { dt { "Text" } dd { (counted(bytes, "byte")) } }
            @if let Some(set) = &place.against { dt { "Protected" } dd { (parts::whole(set)) } }
        }
        @if place.cluster.is_some() {
            section aria-labelledby="why" { h2 id="why" { "Why it is in this cluster" } (documents::why(&page.explanation)) }
        }
        @if page.has_outside {
            section aria-labelledby="outside" { h2 id="outside" { "The nearest outside its cluster" } (outside(page, asked)) }
        }
        (documents::text(&found_by, (page.text.as_deref(), page.no_text.as_deref()), asked))
        section aria-labelledby="other" { h2 id="other" { "Compare it with another" } (compare::form(&found_by, "")) }
    };
    Framed {
        title: format!("Document {}", parts::beginning(id, 60).0),
        tab: Tab::Documents,
        commit: None,
        json: Some(links::address("/document.json", [("id", &*found_by), ("text", "yes")])),
        main,
    }
}

/// What the document is found by: what it was asked for by, or else its place, since ids may repeat.
fn found_by(page: &RunDocumentPage, asked: &PageAsked<'_>) -> String {
    let own = &page.explanation.document;
    let place = || key(&own.id, Some(&own.file), Some(own.line));
    asked.query.get("id").map_or_else(place, str::to_owned)
}

/// The closest document outside the cluster, or where it is looked for.
fn outside(page: &RunDocumentPage, asked: &PageAsked<'_>) -> Markup {
    let own = &page.explanation.document;
    let place = key(&own.id, Some(&own.file), Some(own.line));
    let again = links::address("/document", [("id", &*found_by(page, asked)), ("outside", "yes")]);
    html! {
        @match &page.nearest_outside {
            None => {
                p { "Lists do not say it. " a href=(again) rel="nofollow" { "Hold it against all documents" } ": that reads all inputs once." }
            }
            Some(OutsidePage { state: MakingState::Making { share }, .. }) => {
                p { "It is being held against all documents, " (count((share * 100.0) as u64)) " % so far. " a href=(again) { "Look again" } "." }
            }
            Some(OutsidePage { state: MakingState::Failed, .. }) => { p { "The inputs could not be read. The operator is told why." } }
            Some(OutsidePage { nearest: None, .. }) => { p { "There is none: it is linked to no document that is not in its cluster." } }
            Some(OutsidePage { nearest: Some(found), .. }) => {
                p {
                    (document_at(&found.id, Some(&found.file), Some(found.line))) ", " (Measures::figure(Some(&found.measures), false)) ", "
                    @match found.cluster { Some(cluster) => { "in cluster " (parts::cluster(ClusterNumber::Listed(cluster))) } None => { "in no cluster" } }
                    ". " a href=(links::of_pair(&place, &format!("{}:{}", found.file, found.line))) { "The two side by side" } "."
                }
            }
        }
    }
}
