//! What is shown of a collection, as data: each page is read from one commit, and says which. What is shown of an output is in
//! `run`.
//!
//! A page is made on a thread that may wait for a disk. What makes it a text, JSON or another, is in
//! [`super::http`]: it gets a whole [`ServedPage`].

mod changes;
mod check;
mod clusters;
mod documents;
mod run;
mod summary;
mod titles;

use http::StatusCode;
use serde::Serialize;

pub use self::changes::{ChangesPage, LogLine};
pub use self::check::{CheckAsked, CheckPage, CheckedAnswer, check, check_together};
pub use self::clusters::{ClusterPage, ClustersPage};
pub use self::documents::{ComparePage, DocumentPage, DocumentsPage};
pub use self::run::{
    OutsidePage, RunClusterPage, RunClustersPage, RunDocumentPage, RunDocumentsPage, RunMember,
    RunSummaryPage,
};
pub use self::summary::SummaryPage;
pub use self::titles::{TitledDocument, TitlesPage};

use super::http::answer::HttpError;
use super::http::query::Query;
use super::state::commit::ServedCommit;
use super::state::run::ServedRun;
use super::state::served::ServedSubject;
use super::state::threads::Lane;
use super::state::verdicts::VerdictFile;
use crate::progress::Progress;
use crate::serve::options::ServeOptions;

/// A page.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum ServedPage {
    /// What there is.
    Summary(Box<SummaryPage>),
    /// A page of clusters.
    Clusters(ClustersPage),
    /// A cluster with a page of its members.
    Cluster(Box<ClusterPage>),
    /// A page of documents.
    Documents(DocumentsPage),
    /// A page of documents that words of their titles find.
    Titles(TitlesPage),
    /// A document.
    Document(Box<DocumentPage>),
    /// Two documents.
    Compare(Box<ComparePage>),
    /// A page of the change logs.
    Changes(ChangesPage),
    /// Texts held against the collection.
    Check(CheckPage),
    /// What the run of an output did.
    RunSummary(Box<RunSummaryPage>),
    /// A page of clusters of an output.
    RunClusters(RunClustersPage),
    /// A cluster of an output with a page of its members.
    RunCluster(Box<RunClusterPage>),
    /// A page of documents of an output.
    RunDocuments(RunDocumentsPage),
    /// A document of an output.
    RunDocument(Box<RunDocumentPage>),
}

impl ServedPage {
    /// Adds verdicts to what shows two documents or more.
    pub fn judge(&mut self, verdicts: &VerdictFile) {
        match self {
            ServedPage::Compare(page) => page.judge(verdicts),
            ServedPage::Cluster(page) => page.judge(verdicts),
            ServedPage::RunCluster(page) => page.judge(verdicts),
            _ => {}
        }
    }
}

/// Which page, of those that are asked for by an address.
#[derive(Clone, Debug)]
pub enum PageName {
    /// [`ServedPage::Summary`].
    Summary,
    /// [`ServedPage::Clusters`].
    Clusters,
    /// [`ServedPage::Cluster`], by its number.
    Cluster(String),
    /// [`ServedPage::Documents`].
    Documents,
    /// [`ServedPage::Document`], by its id, or by another one if there is none of that.
    Document(String, Option<String>),
    /// The same by the parameter `id`.
    DocumentById,
    /// [`ServedPage::Compare`].
    Compare,
    /// [`ServedPage::Changes`].
    Changes,
}

impl PageName {
    /// The parameters that the page takes.
    pub fn parameters(&self) -> &'static [&'static str] {
        match self {
            PageName::Summary => &[],
            PageName::Clusters => &["sort", "min-size", "after", "limit"],
            PageName::Cluster(_) => &["after", "limit", "member", "threshold"],
            PageName::Documents => &["q", "words", "title", "after", "limit"],
            PageName::Document(..) => &["text", "outside"],
            PageName::DocumentById => &["id", "text", "outside"],
            PageName::Compare => &["a", "b"],
            PageName::Changes => &["since", "after", "limit"],
        }
    }

    /// How long it may take to read.
    pub fn lane(&self, query: &Query) -> Lane {
        match self {
            // Whoever asks a collection for it first has all clusters measured.
            PageName::Clusters if query.get("sort") == Some("looseness") => Lane::Slow,
            PageName::Summary | PageName::Clusters => Lane::Quick,
            _ => Lane::Slow,
        }
    }

    /// Reads the page. `texts` says whether texts of documents are wanted if nobody says.
    ///
    /// # Errors
    /// 400, 404, and those of the collection or output.
    pub fn read(
        &self,
        (subject, options): (&ServedSubject, &ServeOptions),
        query: &Query,
        texts: bool,
        progress: &Progress,
    ) -> Result<ServedPage, HttpError> {
        match subject {
            ServedSubject::Commit(commit) => self.of_commit((commit, options), query, texts, progress),
            ServedSubject::Run(run) => self.of_run(run, query, texts, progress),
        }
    }

    fn of_commit(
        &self,
        (commit, options): (&ServedCommit, &ServeOptions),
        query: &Query,
        texts: bool,
        progress: &Progress,
    ) -> Result<ServedPage, HttpError> {
        let document = |id: &str, other: Option<&str>| {
            let page = DocumentPage::read(commit, (id, other), query, texts, progress)?;
            Ok::<_, HttpError>(ServedPage::Document(Box::new(page)))
        };
        Ok(match self {
            PageName::Summary => ServedPage::Summary(Box::new(SummaryPage::read(commit))),
            PageName::Clusters => ServedPage::Clusters(ClustersPage::read(commit, query)?),
            PageName::Cluster(number) => {
                ServedPage::Cluster(Box::new(ClusterPage::read(commit, number, query, progress)?))
            }
            PageName::Documents if titles::asked(query)?.is_some() => {
                ServedPage::Titles(TitlesPage::of_commit((commit, options), query, progress)?)
            }
            PageName::Documents => ServedPage::Documents(DocumentsPage::read(commit, query, progress)?),
            PageName::Document(id, other) => document(id, other.as_deref())?,
            PageName::DocumentById => document(query.needed("id")?, None)?,
            PageName::Compare => ServedPage::Compare(Box::new(ComparePage::read(commit, query, progress)?)),
            PageName::Changes => ServedPage::Changes(ChangesPage::read(commit, query, progress)?),
        })
    }
    fn of_run(
        &self,
        run: &ServedRun,
        query: &Query,
        texts: bool,
        progress: &Progress,
    ) -> Result<ServedPage, HttpError> {
        let document = |id: &str| {
            let page = RunDocumentPage::read(run, id, query, texts, progress)?;
            Ok::<_, HttpError>(ServedPage::RunDocument(Box::new(page)))
        };
        Ok(match self {
            PageName::Summary => ServedPage::RunSummary(Box::new(RunSummaryPage::read(run))),
            PageName::Clusters => ServedPage::RunClusters(RunClustersPage::read(run, query)?),
            PageName::Cluster(number) => {
                ServedPage::RunCluster(Box::new(RunClusterPage::read(run, number, query, progress)?))
            }
            PageName::Documents if titles::asked(query)?.is_some() => {
                ServedPage::Titles(TitlesPage::of_run(run, query, progress)?)
            }
            PageName::Documents => ServedPage::RunDocuments(RunDocumentsPage::read(run, query, progress)?),
            // An id that ends like an address of data is tried as it is first.
            PageName::Document(id, other) => match (document(id), other) {
                (Err(error), Some(other)) if error.status == StatusCode::NOT_FOUND => document(other)?,
                (found, _) => found?,
            },
            PageName::DocumentById => document(query.needed("id")?)?,
            PageName::Compare => {
                let explanation = run::compare(run, query, progress)?;
                let mut page = ComparePage { commit: None, verdict: None, repeats: false, explanation };
                page.repeats = match page.pair() {
                    Some([a, b]) => run.repeats(&a.id)? || run.repeats(&b.id)?,
                    None => false,
                };
                ServedPage::Compare(Box::new(page))
            }
            PageName::Changes => return Err(HttpError::missing("an output has no commits, and no changes")),
        })
    }
}
