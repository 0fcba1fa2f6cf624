//! Documents that words of their titles find, by the page.

use serde::Serialize;

use crate::collection::ClusterNumber;
use crate::document::DocumentName;
use crate::progress::Progress;
use crate::serve::http::answer::HttpError;
use crate::serve::http::query::Query;
use crate::serve::index::TitlesAsked;
use crate::serve::options::ServeOptions;
use crate::serve::state::commit::ServedCommit;
use crate::serve::state::run::ServedRun;

/// What is being read where titles are not there yet.
const TITLES: &str = "the titles of all documents";

/// A document with its title.
#[derive(Debug, Serialize)]
pub struct TitledDocument {
    /// Its id, or its file and line.
    pub id: DocumentName<'static>,
    /// Its title, or how that begins.
    pub title: String,
    /// Its cluster, if it is in one.
    pub cluster: Option<ClusterNumber>,
    /// Its file, as it was named.
    pub file: String,
    /// Its line there, from 1.
    pub line: u64,
    /// Of an output, whether it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<bool>,
}

/// A page of documents that words of their titles find.
#[derive(Debug, Serialize)]
pub struct TitlesPage {
    /// Number of the commit, of a collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<u64>,
    /// All documents that have a title.
    pub titles: u64,
    /// Files of a collection that cannot be read any more: titles in them are not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<u64>,
    /// Those of this page, in the order in which they were read.
    pub documents: Vec<TitledDocument>,
    /// What the next page is asked for with, as `after`, if there is one.
    pub next: Option<String>,
}

/// The words that are asked for, if titles are.
///
/// # Errors
/// 400 if ids are asked for too.
pub(super) fn asked(query: &Query) -> Result<Option<&str>, HttpError> {
    let asked = |name: &str| query.get(name).filter(|text| !text.is_empty());
    match (asked("title"), asked("q").or(asked("words"))) {
        (Some(_), Some(_)) => {
            Err(HttpError::bad("documents are found by words of titles or by their ids, and not by both"))
        }
        (title, _) => Ok(title),
    }
}

/// The page that is asked for.
fn page_asked(query: &Query) -> Result<TitlesAsked<'_>, HttpError> {
    Ok(TitlesAsked { words: query.needed("title")?, after: query.parsed("after")?, limit: query.limit()? })
}

impl TitlesPage {
    /// The page that was asked for, of a collection.
    ///
    /// # Errors
    /// 400, 503 while titles are being read, and those of the collection.
    pub(super) fn of_commit(
        (commit, options): (&ServedCommit, &ServeOptions),
        query: &Query,
        progress: &Progress,
    ) -> Result<TitlesPage, HttpError> {
        let asked = page_asked(query)?;
        let titles = commit.titles(options).needed(TITLES)?;
        let (found, next) = titles.ids_with_titles(asked, progress)?;
        let ids: Vec<String> = found.iter().map(|found| found.document.clone()).collect();
        let documents = commit.snapshot().documents_of(&ids)?.into_iter().zip(found);
        let documents = documents.filter_map(|(document, found)| {
            let document = document?;
            Some(TitledDocument {
                id: document.id.into(),
                title: found.title,
                cluster: document.cluster.map(ClusterNumber::from),
                file: document.file,
                line: u64::from(document.line),
                kept: None,
            })
        });
        Ok(TitlesPage {
            commit: Some(commit.number()),
            titles: titles.titles(),
            unread: Some(titles.unread()).filter(|unread| *unread > 0),
            documents: documents.collect(),
            next: next.map(|next| next.to_string()),
        })
    }

    /// The same of an output.
    ///
    /// # Errors
    /// 400, 503 while the inputs are being read, and those of the output.
    pub(super) fn of_run(
        run: &ServedRun,
        query: &Query,
        progress: &Progress,
    ) -> Result<TitlesPage, HttpError> {
        let asked = page_asked(query)?;
        let noted = run.noted().needed(TITLES)?;
        run.check_inputs()?;
        let (found, next) = noted.with_titles(asked, progress)?;
        let documents = found.into_iter().map(|found| {
            let (file, line) = (noted.file(&found.document).to_owned(), found.document.line);
            let id = found.document.id.unwrap_or_else(|| format!("{file}:{line}").into());
            let listed = run.index().named(&id, &file, line);
            TitledDocument {
                title: found.title,
                cluster: listed.as_ref().map(|listed| ClusterNumber::Listed(listed.cluster)),
                kept: Some(listed.is_none_or(|listed| listed.kept)),
                id,
                file,
                line,
            }
        });
        Ok(TitlesPage {
            commit: None,
            titles: noted.titles(),
            unread: None,
            documents: documents.collect(),
            next: next.map(|next| next.to_string()),
        })
    }
}
