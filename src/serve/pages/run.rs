//! What is shown of an output of `dedup`: what it did, its clusters, and why documents are where they are.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::collection::{Alone, DividedCluster, Explanation};
use crate::config::Clustering;
use crate::document::DocumentName;
use crate::error::Error;
use crate::output::{FinishedMember, ListedCluster, ListedDocument, ListedOrder};
use crate::progress::Progress;
use crate::report::{FinishedQuestions, MemberAsked, MemberPage, NearestOutside, lowest_threshold};
use crate::serve::http::answer::HttpError;
use crate::serve::http::query::Query;
use crate::serve::index::making::MakingState;
use crate::serve::state::run::ServedRun;
use crate::serve::state::verdicts::{PairVerdict, VerdictFile};
use crate::similarity::ReportedScores;
use crate::text::TypedWords;
use crate::threshold::Threshold;

/// What a run did.
#[derive(Debug, Serialize)]
pub struct RunSummaryPage {
    /// The version of the program.
    pub version: &'static str,
    /// The command that wrote the output, as it was typed.
    pub command: Option<String>,
    /// Clusters by size: least and greatest size, clusters; sizes without a cluster are left out.
    pub sizes: Vec<(u64, u64, u64)>,
    /// How far it is that all inputs are read, for single documents and for words of titles.
    pub inputs: MakingState,
    /// Its `summary.json`.
    pub summary: serde_json::Value,
}

impl RunSummaryPage {
    /// Of an output.
    pub fn read(run: &ServedRun) -> RunSummaryPage {
        RunSummaryPage {
            version: env!("CARGO_PKG_VERSION"),
            command: run.run().record.command.clone(),
            sizes: run.index().sizes(),
            inputs: run.noted().state(),
            summary: run.figures().clone(),
        }
    }

    /// A count of the summary.
    pub fn count(&self, name: &str) -> u64 {
        self.summary[name].as_u64().unwrap_or_default()
    }
}

/// A page of clusters.
#[derive(Debug, Serialize)]
pub struct RunClustersPage {
    /// Clusters of the size that was asked for, on all pages.
    pub total: usize,
    /// Those of this page.
    pub clusters: Vec<ListedCluster>,
    /// What the next page is asked for with, as `after`, if there is one.
    pub next: Option<String>,
}

impl RunClustersPage {
    /// The page that was asked for.
    ///
    /// # Errors
    /// 400.
    pub fn read(run: &ServedRun, query: &Query) -> Result<RunClustersPage, HttpError> {
        let order = match query.get("sort") {
            None | Some("size") => ListedOrder::Size,
            Some("looseness") => ListedOrder::Looseness,
            Some(other) => {
                let what = format!("parameter \"sort\" is size or looseness, and not {other:?}");
                return Err(HttpError::bad(what));
            }
        };
        let (least, after) = (query.parsed("min-size")?.unwrap_or(0), query.parsed("after")?.unwrap_or(0));
        let (clusters, next) = run.index().clusters(order, least, after, query.limit()?);
        let next = next.map(|next| next.to_string());
        Ok(RunClustersPage { total: run.index().count(least), clusters, next })
    }
}

/// A member of a cluster, as the lists have it.
#[derive(Debug, Serialize)]
pub struct RunMember {
    /// Its id, or its file and line.
    pub id: DocumentName<'static>,
    /// Its file; lists name no place of what is kept beside a representative.
    pub file: Option<String>,
    /// Its line there, from 1.
    pub line: Option<u64>,
    /// Whether it stands for the cluster.
    pub representative: bool,
    /// Whether it is kept.
    pub kept: bool,
    /// Why it was removed, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it has in common with the representative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<ReportedScores>,
    /// The document before it on the way from the representative, if only others hold it there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<DocumentName<'static>>,
    /// The protected set that it is of, if it is of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Whether other documents are known to have its id: then it takes no verdict.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
}

impl RunMember {
    fn of((at, member): (usize, &FinishedMember)) -> RunMember {
        let place = member.place.as_ref();
        RunMember {
            id: member.name.clone(),
            file: place.map(|place| place.file.clone()),
            line: place.map(|place| place.line),
            // What stands for the cluster comes first.
            representative: at == 0,
            kept: member.kept,
            reason: member.reason.clone(),
            scores: member.scores,
            parent: member.parent.clone(),
            against: member.set.clone(),
            repeats: false,
        }
    }

    /// What tells it from all others: its file and line, or its name where it has none.
    pub fn key(&self) -> String {
        match self.file.as_ref().zip(self.line) {
            Some((file, line)) => format!("{file}:{line}"),
            None => self.id.to_string(),
        }
    }
}

/// A cluster with a page of its members.
#[derive(Debug, Serialize)]
pub struct RunClusterPage {
    /// The cluster, without its members.
    #[serde(flatten)]
    pub cluster: ListedCluster,
    /// Members of this page: the representative, others that are kept, those that are removed.
    pub members: Vec<RunMember>,
    /// The last verdicts on members and the representative, by the names of members, if verdicts are taken.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub verdicts: BTreeMap<String, PairVerdict>,
    /// How the member that was asked for differs from the representative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<MemberPage>,
    /// The threshold of the run, if the cluster can be taken apart at higher ones.
    pub threshold: Option<Threshold>,
    /// What it falls into at the threshold that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divided: Option<DividedCluster>,
    /// What the next page is asked for with, as `after`, if there is one.
    pub next: Option<String>,
    /// Whether other documents are known to have the id of the representative, or of the member that was asked for.
    #[serde(skip)]
    pub pair_repeats: bool,
}

impl RunClusterPage {
    /// The page of the cluster of a number.
    ///
    /// # Errors
    /// 400, 404, and those of the output and its inputs.
    pub fn read(
        run: &ServedRun,
        number: &str,
        query: &Query,
        progress: &Progress,
    ) -> Result<RunClusterPage, HttpError> {
        let wrong = || HttpError::bad(format!("{number:?} is no number of a cluster"));
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let missing = || HttpError::missing("there is no such cluster");
        let cluster = run.index().cluster(number).ok_or_else(missing)?;
        let numbers = BTreeSet::from([number]);
        let mut clusters = run.of_lists(|run| run.clusters(&numbers, progress))?;
        let listed = clusters.remove(&number).ok_or_else(missing)?;
        let (after, limit) = (query.parsed("after")?.unwrap_or(0_usize), query.limit()?);
        let mut rest = listed.members().enumerate().skip(after);
        let mut members: Vec<RunMember> = rest.by_ref().take(limit).map(RunMember::of).collect();
        let next = rest.next().is_some().then(|| after.saturating_add(limit).to_string());
        for member in &mut members {
            member.repeats = run.repeats(&member.id)?;
        }
        let compared = match query.get("member") {
            Some(member) => {
                let is = |known: &FinishedMember| {
                    *known.name == *member
                        || known.place.as_ref().is_some_and(|place| place.to_string() == member)
                };
                if !listed.members().any(is) {
                    return Err(HttpError::missing(format!("there is no member {member:?} in this cluster")));
                }
                let asked = MemberAsked { limit: 1, member: Some(member) };
                // Nothing is to be said of the representative itself.
                let others = listed.others.iter().any(is);
                let found = others.then(|| run.ask(progress, |questions| questions.cluster(number, asked)));
                found.transpose()?.and_then(|found| found.members.into_iter().next())
            }
            None => None,
        };
        let threshold = lowest_threshold(&run.run().config, &listed);
        let asked: Option<Threshold> = query.parsed("threshold")?;
        let divided =
            asked.map(|asked| run.ask(progress, |questions| questions.divided(number, asked))).transpose()?;
        let pair_repeats = run.repeats(&cluster.representative)?
            || compared.as_ref().map_or(Ok(false), |member| run.repeats(&member.id))?;
        let verdicts = BTreeMap::new();
        Ok(RunClusterPage { cluster, members, verdicts, compared, threshold, divided, next, pair_repeats })
    }

    /// Adds what was said of its members last.
    pub fn judge(&mut self, verdicts: &VerdictFile) {
        let names = self.members.iter().map(|member| member.id.as_str());
        self.verdicts = verdicts.last_of(&self.cluster.representative, names);
    }
}

/// A page of documents of clusters.
#[derive(Debug, Serialize)]
pub struct RunDocumentsPage {
    /// Those of this page, ascending by id.
    pub documents: Vec<ListedDocument>,
    /// What the next page is asked for with, as `after`, if there is one.
    pub next: Option<String>,
}

impl RunDocumentsPage {
    /// The page that was asked for.
    ///
    /// # Errors
    /// 400, and 503 if it takes too long.
    pub fn read(run: &ServedRun, query: &Query, progress: &Progress) -> Result<RunDocumentsPage, HttpError> {
        let prefix = query.get("q").unwrap_or_default();
        let words = TypedWords::of(query.get("words").unwrap_or_default());
        let (after, limit) = (query.parsed("after")?.unwrap_or(0), query.limit()?);
        let (documents, next) = run.index().documents((prefix, &words), after, limit, progress)?;
        Ok(RunDocumentsPage { documents, next: next.map(|next| next.to_string()) })
    }
}

/// A document of the inputs.
#[derive(Debug, Serialize)]
pub struct RunDocumentPage {
    /// Why it is in its cluster, or in none.
    #[serde(flatten)]
    pub explanation: Alone,
    /// The closest document that it is linked to and that is not in its cluster, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_outside: Option<OutsidePage>,
    /// Whether it can be asked for: not where clusters have all that is linked.
    #[serde(skip)]
    pub has_outside: bool,
    /// Its text, if that was asked for and can be had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why there is no text, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_text: Option<String>,
}

impl RunDocumentPage {
    /// The document of a name. `texts` says whether its text is wanted if nobody says.
    ///
    /// # Errors
    /// 400, 404, and those of the output and its inputs.
    pub fn read(
        run: &ServedRun,
        id: &str,
        query: &Query,
        texts: bool,
        progress: &Progress,
    ) -> Result<RunDocumentPage, HttpError> {
        let wanted = match query.get("text") {
            None => texts,
            Some("yes") => true,
            Some("no") => false,
            Some(other) => {
                return Err(HttpError::bad(format!("parameter \"text\" is yes or no, and not {other:?}")));
            }
        };
        let has_outside =
            run.run().config.cluster.clustering == Clustering::Guarantee && run.run().config.rule().is_some();
        let nearest_outside = OutsidePage::asked(run, id, query, has_outside)?;
        let (explanation, text) = run.ask(progress, |questions| {
            let Explanation::Document(alone) = questions.explain(id, None)? else {
                return Err(Error::config(format!("{id:?} is no document")));
            };
            let text = wanted.then(|| text_of(questions, &alone, progress)).transpose()?;
            Ok((*alone, text))
        })?;
        let (text, no_text) = match text {
            Some(Ok(text)) => (Some(text), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        Ok(RunDocumentPage { explanation, nearest_outside, has_outside, text, no_text })
    }
}

/// The closest document outside a cluster, or how far it is that all inputs are read for it.
#[derive(Debug, Serialize)]
pub struct OutsidePage {
    /// How far it is.
    #[serde(flatten)]
    pub state: MakingState,
    /// The document; none if there is none, or if it is not known yet.
    pub nearest: Option<NearestOutside>,
}

impl OutsidePage {
    /// What is known of it, if it is asked for or was.
    fn asked(
        run: &ServedRun,
        id: &str,
        query: &Query,
        has_outside: bool,
    ) -> Result<Option<OutsidePage>, HttpError> {
        let start = match query.get("outside") {
            None | Some("no") => false,
            Some("yes") if has_outside => true,
            Some("yes") => {
                return Err(HttpError::bad(
                    "clusters of this output have all that is linked to their documents",
                ));
            }
            Some(other) => {
                return Err(HttpError::bad(format!("parameter \"outside\" is yes or no, and not {other:?}")));
            }
        };
        let sought = run.outside(id, start)?;
        Ok(sought.map(|sought| OutsidePage {
            state: sought.state(),
            nearest: sought.ready().and_then(|found| (*found).clone()),
        }))
    }
}

/// The text of a document that was found, or why there is none.
fn text_of(
    questions: &FinishedQuestions<'_>,
    alone: &Alone,
    progress: &Progress,
) -> Result<Result<String, String>, Error> {
    let place = &alone.document;
    let gone = || Err("it is not in the inputs any more".to_owned());
    let Some(at) = questions.find.run.place(&format!("{}:{}", place.file, place.line)) else {
        return Ok(gone());
    };
    if let Some(why) = at.at.gone() {
        return Ok(Err(why.to_owned()));
    }
    let found = questions.find.find(&BTreeSet::new(), &BTreeMap::from([(at.clone(), true)]), progress)?;
    let document = found.into_iter().find(|document| document.place == at);
    Ok(document.and_then(|document| document.text).map_or_else(gone, Ok))
}

/// What links two documents, or what they lack.
///
/// # Errors
/// 400, 404, and those of the output and its inputs.
pub fn compare(run: &ServedRun, query: &Query, progress: &Progress) -> Result<Explanation, HttpError> {
    let (a, b) = (query.needed("a")?, query.needed("b")?);
    Ok(run.ask(progress, |questions| questions.explain(a, Some(b)))?)
}
