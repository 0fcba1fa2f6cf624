//! Documents by the page, one of them, and two of them.

use serde::Serialize;

use crate::collection::{Alone, DocumentView, Explanation, Place, Resembled};
use crate::config::Clustering;
use crate::progress::Progress;
use crate::serve::http::answer::HttpError;
use crate::serve::http::query::Query;
use crate::serve::state::commit::ServedCommit;
use crate::serve::state::verdicts::{PairVerdict, VerdictFile};
use crate::text::TypedWords;

/// Bytes of a file up to which a text of it is read without being asked for.
const UNASKED: u64 = 256 << 20;

/// A page of documents.
#[derive(Debug, Serialize)]
pub struct DocumentsPage {
    /// Number of the commit.
    pub commit: u64,
    /// Those of this page, ascending by id.
    pub documents: Vec<DocumentView>,
    /// What the next page is asked for with, as `after`, if there is one.
    pub next: Option<String>,
}

impl DocumentsPage {
    /// The page that was asked for.
    ///
    /// # Errors
    /// 400, and those of the collection.
    pub fn read(
        commit: &ServedCommit,
        query: &Query,
        progress: &Progress,
    ) -> Result<DocumentsPage, HttpError> {
        let prefix = query.get("q").unwrap_or_default();
        let words = TypedWords::of(query.get("words").unwrap_or_default());
        let (after, limit) = (query.get("after"), query.limit()?);
        let (ids, more) = commit.ids()?.page((prefix, &words), after, limit, progress)?;
        let documents = commit.snapshot().documents_of(&ids)?.into_iter().flatten().collect();
        let next = ids.into_iter().next_back().filter(|_| more);
        Ok(DocumentsPage { commit: commit.number(), documents, next })
    }
}

/// A document.
#[derive(Debug, Serialize)]
pub struct DocumentPage {
    /// Number of the commit.
    pub commit: u64,
    /// The document.
    #[serde(flatten)]
    pub document: DocumentView,
    /// Why it is in its cluster, or in none.
    pub explanation: Alone,
    /// The closest document that it is linked to and that is not in its cluster; nothing is said where clusters have all that is
    /// linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_outside: Option<Option<Resembled>>,
    /// Its text, if that was asked for and can be had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why there is no text, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_text: Option<String>,
}

impl DocumentPage {
    /// The document of an id, or of another id if there is none of that. `texts` says whether its text is wanted if nobody
    /// says, and it can be had soon.
    ///
    /// # Errors
    /// 400, 404, and those of the collection.
    pub fn read(
        commit: &ServedCommit,
        (id, other): (&str, Option<&str>),
        query: &Query,
        texts: bool,
        progress: &Progress,
    ) -> Result<DocumentPage, HttpError> {
        let snapshot = commit.snapshot();
        let ids: Vec<String> = [Some(id), other].into_iter().flatten().map(str::to_owned).collect();
        let found = snapshot.documents_of(&ids)?.into_iter().flatten().next();
        let Some(document) = found else { return Err(HttpError::missing("there is no document of this id")) };
        let Explanation::Document(explanation) = snapshot.explain(&document.id, None, progress)? else {
            return Err(HttpError::missing("there is no document of this id"));
        };
        if query.get("outside").is_some() {
            return Err(HttpError::bad(
                "parameter \"outside\" is for outputs; of a collection the nearest outside is always there",
            ));
        }
        let apart = snapshot.manifest().config.cluster.clustering == Clustering::Guarantee;
        let nearest = || commit.with_checker(|checker| checker.nearest_outside(&document.id, progress));
        let nearest_outside = apart.then(nearest).transpose()?;
        let text = match query.get("text") {
            None if !texts || snapshot.text_costs(&document.id)? > UNASKED => None,
            Some("no") => None,
            None | Some("yes") => snapshot.text_of(&document.id, progress)?,
            Some(other) => {
                return Err(HttpError::bad(format!("parameter \"text\" is yes or no, and not {other:?}")));
            }
        };
        let (text, no_text) = match text {
            Some(Ok(text)) => (Some(text), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        let (commit, explanation) = (commit.number(), *explanation);
        Ok(DocumentPage { commit, document, explanation, nearest_outside, text, no_text })
    }
}

/// Two documents compared.
#[derive(Debug, Serialize)]
pub struct ComparePage {
    /// Number of the commit, of a collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<u64>,
    /// The last verdict on the two, if verdicts are taken and there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<PairVerdict>,
    /// Whether other documents are known to have the id of one of them: then the two take no verdict.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
    /// Why they are together, or are not.
    #[serde(flatten)]
    pub explanation: Explanation,
}

impl ComparePage {
    /// The two documents that were asked for.
    ///
    /// # Errors
    /// 400, 404, and those of the collection.
    pub fn read(commit: &ServedCommit, query: &Query, progress: &Progress) -> Result<ComparePage, HttpError> {
        let ids = [query.needed("a")?.to_owned(), query.needed("b")?.to_owned()];
        let snapshot = commit.snapshot();
        for (found, id) in snapshot.documents_of(&ids)?.iter().zip(&ids) {
            if found.is_none() {
                return Err(HttpError::missing(format!("there is no document {id:?}")));
            }
        }
        let explanation = snapshot.explain(&ids[0], Some(&ids[1]), progress)?;
        Ok(ComparePage { commit: Some(commit.number()), verdict: None, repeats: false, explanation })
    }

    /// The two documents.
    pub fn pair(&self) -> Option<[&Place; 2]> {
        match &self.explanation {
            Explanation::Together(found) => Some([&found.first, &found.second]),
            Explanation::Apart(found) => Some([&found.first, &found.second]),
            Explanation::Document(_) => None,
        }
    }

    /// Adds what was said of the two last.
    pub fn judge(&mut self, verdicts: &VerdictFile) {
        self.verdict = self.pair().and_then(|[a, b]| verdicts.last(&a.id, &b.id));
    }
}
