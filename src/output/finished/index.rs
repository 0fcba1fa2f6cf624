//! The clusters of a finished run and the documents in them, in memory, for whoever looks at them by the page.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde::Serialize;

use super::folder::FinishedRun;
use super::lists::{CHECKED, ClusterRead, DuplicateRead};
use crate::document::DocumentName;
use crate::error::Result;
use crate::flow::Reason;
use crate::progress::Progress;
use crate::similarity::ReportedScores;
use crate::text::TypedWords;

/// A file of a document that the lists give no place of.
const NOWHERE: u32 = u32::MAX;

/// A cluster as the lists of a run have it, without its members.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedCluster {
    /// Its number.
    pub cluster: u64,
    /// Its documents, protected ones too.
    pub size: u64,
    /// Those of them that are removed.
    pub removed: u64,
    /// Those of these that are copies of what is kept.
    pub copies: u64,
    /// The name of what stands for it: its id, or its file and line.
    pub representative: DocumentName<'static>,
    /// The file of that; none where nothing of the cluster was removed.
    pub file: Option<String>,
    /// Its line there, from 1.
    pub line: Option<u64>,
    /// The least that a removed document has in common with the representative; none of copies alone, and where the method
    /// says nothing of it.
    pub least: Option<ReportedScores>,
}

/// A document of a cluster as the lists of a run have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedDocument {
    /// Its id, or its file and line.
    pub id: DocumentName<'static>,
    /// The number of its cluster.
    pub cluster: u64,
    /// Whether it is kept.
    pub kept: bool,
    /// Whether it is a protected one, which stays in any case.
    pub protected: bool,
    /// Its file; lists name no place of what is kept beside a representative.
    pub file: Option<String>,
    /// Its line there, from 1.
    pub line: Option<u64>,
}

/// In which order clusters are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedOrder {
    /// The largest first.
    Size,
    /// Those first that have a document with the least in common with the representative.
    Looseness,
}

/// A cluster with its file by number.
struct IndexedByFile {
    cluster: ListedCluster,
    file: u32,
}

/// A document by name.
struct IndexedDocument {
    id: Box<str>,
    is_number: bool,
    cluster: u64,
    line: u64,
    file: u32,
    kept: bool,
    protected: bool,
}

/// All clusters of a run, and all documents in them. A cluster takes about 120 bytes and the name of its representative; a
/// document 40 and its name.
pub struct ListIndex {
    /// By size.
    clusters: Vec<IndexedByFile>,
    /// Places in `clusters`, the loosest first.
    by_looseness: Vec<u32>,
    /// By name.
    documents: Vec<IndexedDocument>,
    files: FileNames,
}

/// Names of files, each once.
#[derive(Default)]
struct FileNames {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl FileNames {
    fn number(&mut self, name: String) -> u32 {
        if let Some(number) = self.numbers.get(&name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    fn name(&self, number: u32) -> Option<&str> {
        self.names.get(number as usize).map(String::as_str)
    }
}

/// Orders what two documents have in common with others, the less first; what says nothing comes last.
fn looser(one: Option<&ReportedScores>, other: Option<&ReportedScores>) -> Ordering {
    match (one.and_then(ReportedScores::in_common), other.and_then(ReportedScores::in_common)) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        (one, other) => other.is_some().cmp(&one.is_some()),
    }
}

impl ListIndex {
    /// Reads the lists of a run, each once.
    ///
    /// # Errors
    /// [`crate::error::Error::NotAnOutput`] and [`crate::error::Error::Io`] of lists; [`crate::error::Error::Interrupted`].
    pub fn new(run: &FinishedRun, progress: &Progress) -> Result<ListIndex> {
        let mut files = FileNames::default();
        let mut clusters: Vec<IndexedByFile> = Vec::new();
        // Places of a cluster and of the document that stands for it.
        let mut at: HashMap<u64, (usize, usize)> = HashMap::new();
        let mut documents: Vec<IndexedDocument> = Vec::new();
        run.list("clusters", &mut |row: ClusterRead| {
            if clusters.len().is_multiple_of(CHECKED) {
                progress.check()?;
            }
            // What stands for the cluster is named first.
            at.insert(row.cluster, (clusters.len(), documents.len()));
            let beside = row.kept.unwrap_or_default().into_iter().skip(1);
            let kept = std::iter::once(row.representative.clone()).chain(beside);
            documents.extend(kept.map(|id| IndexedDocument {
                is_number: id.is_number(),
                id: String::from(id).into(),
                cluster: row.cluster,
                line: 0,
                file: NOWHERE,
                kept: true,
                protected: false,
            }));
            let cluster = ListedCluster {
                cluster: row.cluster,
                size: row.size,
                removed: 0,
                copies: 0,
                representative: row.representative,
                file: None,
                line: None,
                least: None,
            };
            clusters.push(IndexedByFile { cluster, file: NOWHERE });
            Ok(())
        })?;
        run.list("duplicates", &mut |row: DuplicateRead| {
            if documents.len().is_multiple_of(CHECKED) {
                progress.check()?;
            }
            let Some((place, first)) = at.get(&row.cluster) else { return Ok(()) };
            let IndexedByFile { cluster, file } = &mut clusters[*place];
            let is_copy = row.reason == Reason::Exact.name();
            (cluster.removed, cluster.copies) = (cluster.removed + 1, cluster.copies + u64::from(is_copy));
            documents[*first].protected |= row.is_against();
            (cluster.line, *file) = (Some(row.representative_line), files.number(row.representative_file));
            (documents[*first].line, documents[*first].file) = (row.representative_line, *file);
            if !is_copy && looser(Some(&row.scores), cluster.least.as_ref()).is_lt() {
                cluster.least = Some(row.scores);
            }
            documents.push(IndexedDocument {
                is_number: row.id.is_number(),
                id: String::from(row.id).into(),
                cluster: row.cluster,
                line: row.line,
                file: files.number(row.file),
                kept: false,
                protected: false,
            });
            Ok(())
        })?;
        clusters.sort_by_key(|of| (std::cmp::Reverse(of.cluster.size), of.cluster.cluster));
        documents.sort_by(|a, b| (&a.id, a.file, a.line).cmp(&(&b.id, b.file, b.line)));
        let mut by_looseness: Vec<u32> = (0..clusters.len() as u32).collect();
        by_looseness.sort_by(|a, b| {
            let [a, b] = [a, b].map(|at| &clusters[*at as usize].cluster);
            looser(a.least.as_ref(), b.least.as_ref()).then(a.cluster.cmp(&b.cluster))
        });
        Ok(ListIndex { clusters, by_looseness, documents, files })
    }
    /// Clusters with `least` documents or more.
    pub fn count(&self, least: u64) -> usize {
        self.clusters.partition_point(|of| of.cluster.size >= least)
    }

    /// At most `limit` clusters with `least` documents or more, after the first `after` of the order, and where the next page
    /// begins, if there are more.
    pub fn clusters(
        &self,
        order: ListedOrder,
        least: u64,
        after: usize,
        limit: usize,
    ) -> (Vec<ListedCluster>, Option<usize>) {
        let large = |at: &usize| self.clusters[*at].cluster.size >= least;
        let (places, next): (Vec<usize>, _) = match order {
            ListedOrder::Size => {
                let end = self.count(least);
                let next = after.saturating_add(limit);
                ((after.min(end)..next.min(end)).collect(), (next < end).then_some(next))
            }
            ListedOrder::Looseness => {
                let ordered = self.by_looseness.iter().map(|at| *at as usize);
                let mut rest = ordered.enumerate().skip(after).filter(|(_, at)| large(at));
                let page: Vec<(usize, usize)> = rest.by_ref().take(limit).collect();
                let next = page.last().map(|(place, _)| place + 1).filter(|_| rest.next().is_some());
                (page.into_iter().map(|(_, at)| at).collect(), next)
            }
        };
        (places.into_iter().map(|at| self.whole(&self.clusters[at])).collect(), next)
    }

    /// The cluster of a number.
    pub fn cluster(&self, number: u64) -> Option<ListedCluster> {
        self.clusters.iter().find(|of| of.cluster.cluster == number).map(|of| self.whole(of))
    }

    fn whole(&self, of: &IndexedByFile) -> ListedCluster {
        ListedCluster { file: self.files.name(of.file).map(str::to_owned), ..of.cluster.clone() }
    }

    /// How many clusters there are of the size 2, of 3 to 4, 5 to 8 and so on, the smallest first: least and greatest size,
    /// clusters. Sizes without one are left out.
    pub fn sizes(&self) -> Vec<(u64, u64, u64)> {
        let mut found: Vec<(u64, u64, u64)> = Vec::new();
        for IndexedByFile { cluster, .. } in self.clusters.iter().rev() {
            let to = cluster.size.next_power_of_two();
            match found.last_mut() {
                Some((_, last, count)) if *last == to => *count += 1,
                _ => found.push((to / 2 + 1, to, 1)),
            }
        }
        found
    }

    /// At most `limit` documents of clusters whose names begin with `prefix` and have all `words`, behind the first `after` that
    /// begin so in the order of names, and where the next page begins, if there are more. For words the names of the prefix
    /// are gone through, one after the other.
    ///
    /// # Errors
    /// [`crate::error::Error::Interrupted`].
    pub fn documents(
        &self,
        (prefix, words): (&str, &TypedWords),
        after: usize,
        limit: usize,
        progress: &Progress,
    ) -> Result<(Vec<ListedDocument>, Option<usize>)> {
        // Names that begin so stand together: those before the page are not gone through.
        let first = self.documents.partition_point(|document| &*document.id < prefix).saturating_add(after);
        let rest = self.documents.get(first..).unwrap_or_default();
        let like = rest.iter().take_while(|document| document.id.starts_with(prefix));
        let mut page = Vec::new();
        for (at, document) in (after..).zip(like) {
            if at.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            if !words.are_in(&document.id) {
                continue;
            }
            if page.len() == limit {
                return Ok((page, Some(at)));
            }
            page.push(self.listed(document));
        }
        Ok((page, None))
    }

    /// The document of a name at a place, if it is in a cluster; by its name alone if lists name no place of it.
    pub fn named(&self, id: &str, file: &str, line: u64) -> Option<ListedDocument> {
        let at = |file: u32, line: u64| {
            let sought = (id, file, line);
            let found = self
                .documents
                .binary_search_by(|document| (&*document.id, document.file, document.line).cmp(&sought));
            found.ok().map(|at| self.listed(&self.documents[at]))
        };
        self.files.numbers.get(file).and_then(|file| at(*file, line)).or_else(|| at(NOWHERE, 0))
    }

    /// Whether two documents of clusters have a name.
    pub fn repeats(&self, id: &str) -> bool {
        let first = self.documents.partition_point(|document| &*document.id < id);
        self.documents[first..].iter().take(2).filter(|document| &*document.id == id).count() > 1
    }

    fn listed(&self, document: &IndexedDocument) -> ListedDocument {
        let file = self.files.name(document.file).map(str::to_owned);
        ListedDocument {
            id: DocumentName::of_kind(document.id.to_string(), document.is_number),
            cluster: document.cluster,
            kept: document.kept,
            protected: document.protected,
            line: file.is_some().then_some(document.line),
            file,
        }
    }
}
