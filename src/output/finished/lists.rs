//! The lists of a run, read again: which documents a cluster has, where they stand, and why they went.

use std::collections::{BTreeMap, BTreeSet};
#[cfg(feature = "parquet")]
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::document::PlaceInFile;
use super::folder::FinishedRun;
use crate::document::DocumentName;
#[cfg(feature = "parquet")]
use crate::error::Error;
use crate::error::Result;
use crate::progress::Progress;
#[cfg(feature = "parquet")]
use crate::read::{Compression, Format, RecordRoom, Source, row_objects};
use crate::similarity::ReportedScores;

/// Rows read between two looks at whether to stop.
pub(super) const CHECKED: usize = 4096;

/// A document of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedMember {
    /// Its id, or its file and line.
    pub name: DocumentName<'static>,
    /// Where it stands; lists name no place of what is kept beside a representative.
    pub place: Option<PlaceInFile>,
    /// Whether it is kept.
    pub kept: bool,
    /// Why it was removed, if it was.
    pub reason: Option<String>,
    /// The protected set that it is of, if it is a representative of one.
    pub set: Option<String>,
    /// What the lists say of it and the representative.
    pub scores: Option<ReportedScores>,
    /// The name of the document before it on the way from the representative, if only others hold it there.
    pub parent: Option<DocumentName<'static>>,
}

/// A cluster of two documents or more.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedCluster {
    /// Its number.
    pub number: u64,
    /// Its documents.
    pub size: u64,
    /// The document that is kept.
    pub representative: FinishedMember,
    /// The others: those that are kept beside it first, then the removed ones in document order.
    pub others: Vec<FinishedMember>,
}

impl FinishedCluster {
    /// All its documents, the representative first.
    pub fn members(&self) -> impl Iterator<Item = &FinishedMember> {
        std::iter::once(&self.representative).chain(&self.others)
    }
}

/// A row of `duplicates`.
#[derive(Deserialize)]
pub(super) struct DuplicateRead {
    pub(super) id: DocumentName<'static>,
    pub(super) file: String,
    pub(super) line: u64,
    pub(super) cluster: u64,
    /// Nobody asks for it. But what no field claims is kept for the flattened ones, and a number among that has a greatest value.
    #[serde(rename = "representative")]
    _representative: DocumentName<'static>,
    pub(super) representative_file: String,
    pub(super) representative_line: u64,
    pub(super) reason: String,
    #[serde(default)]
    parent: Option<DocumentName<'static>>,
    #[serde(flatten)]
    pub(super) scores: ReportedScores,
    #[serde(default)]
    against: Option<AgainstRead>,
    /// The same as a column.
    #[serde(default)]
    against_set: Option<String>,
}

#[cfg(feature = "serve")]
impl DuplicateRead {
    /// Whether what stands for it is protected.
    pub(super) fn is_against(&self) -> bool {
        self.against.is_some() || self.against_set.is_some()
    }
}

#[derive(Deserialize)]
struct AgainstRead {
    set: String,
}

/// A row of `clusters`.
#[derive(Deserialize)]
pub(super) struct ClusterRead {
    pub(super) cluster: u64,
    pub(super) size: u64,
    pub(super) representative: DocumentName<'static>,
    pub(super) members: Vec<DocumentName<'static>>,
    #[serde(default)]
    pub(super) kept: Option<Vec<DocumentName<'static>>>,
}

impl FinishedRun {
    /// The clusters that documents of these names, or at these places, are in. Each list is read once, but for places: only
    /// `duplicates` has these, which is read once more then.
    ///
    /// # Errors
    /// Those of [`FinishedRun::clusters`].
    pub fn clusters_with(
        &self,
        names: &BTreeSet<String>,
        places: &BTreeSet<PlaceInFile>,
        progress: &Progress,
    ) -> Result<BTreeMap<u64, FinishedCluster>> {
        let is_there =
            |file: &str, line: u64| places.iter().any(|place| place.line == line && place.file == file);
        let mut numbers = BTreeSet::new();
        if !places.is_empty() {
            self.list("duplicates", &mut |row: DuplicateRead| {
                let found = is_there(&row.file, row.line)
                    || is_there(&row.representative_file, row.representative_line);
                numbers.extend(found.then_some(row.cluster));
                Ok(())
            })?;
        }
        if names.is_empty() && numbers.is_empty() {
            return Ok(BTreeMap::new());
        }
        let is_named = |name: &DocumentName<'_>| names.contains(name.as_str());
        let wanted = |row: &ClusterRead| numbers.contains(&row.cluster) || row.members.iter().any(is_named);
        self.clusters_where(&wanted, progress)
    }

    /// The clusters of these numbers, as far as there are such.
    ///
    /// # Errors
    /// [`crate::error::Error::NotAnOutput`] and [`crate::error::Error::Io`] of lists; [`crate::error::Error::Interrupted`].
    pub fn clusters(
        &self,
        numbers: &BTreeSet<u64>,
        progress: &Progress,
    ) -> Result<BTreeMap<u64, FinishedCluster>> {
        if numbers.is_empty() {
            return Ok(BTreeMap::new());
        }
        self.clusters_where(&|row: &ClusterRead| numbers.contains(&row.cluster), progress)
    }

    /// The clusters whose rows are `wanted`. Both lists are read once.
    fn clusters_where(
        &self,
        wanted: &dyn Fn(&ClusterRead) -> bool,
        progress: &Progress,
    ) -> Result<BTreeMap<u64, FinishedCluster>> {
        let mut found: BTreeMap<u64, FinishedCluster> = BTreeMap::new();
        let member = |name: DocumentName<'static>, place, kept| FinishedMember {
            name,
            place,
            kept,
            reason: None,
            set: None,
            scores: None,
            parent: None,
        };
        let mut rows = 0_usize;
        let mut look = || {
            rows += 1;
            if rows.is_multiple_of(CHECKED) { progress.check() } else { Ok(()) }
        };
        self.list("clusters", &mut |row: ClusterRead| {
            look()?;
            if wanted(&row) {
                let beside = row.kept.unwrap_or_default().into_iter().skip(1);
                let cluster = FinishedCluster {
                    number: row.cluster,
                    size: row.size,
                    representative: member(row.representative, None, true),
                    others: beside.map(|name| member(name, None, true)).collect(),
                };
                found.insert(row.cluster, cluster);
            }
            Ok(())
        })?;
        self.list("duplicates", &mut |row: DuplicateRead| {
            look()?;
            let Some(cluster) = found.get_mut(&row.cluster) else { return Ok(()) };
            let DuplicateRead { id, file, line, representative_file, representative_line, scores, .. } = row;
            let set = row.against.map(|against| against.set).or(row.against_set);
            cluster.representative.place =
                Some(self.listed_place(representative_file, representative_line, set.as_deref()));
            cluster.representative.set = set;
            cluster.others.push(FinishedMember {
                reason: Some(row.reason),
                parent: row.parent,
                scores: Some(scores),
                ..member(id, Some(self.listed_place(file, line, None)), false)
            });
            Ok(())
        })?;
        Ok(found)
    }

    /// Hands the rows of a list to `each`, in whichever form it is.
    pub(super) fn list<T: DeserializeOwned>(
        &self,
        name: &str,
        each: &mut dyn FnMut(T) -> Result<()>,
    ) -> Result<()> {
        #[cfg(feature = "parquet")]
        {
            let table = self.folder.join(format!("{name}.parquet"));
            if table.is_file() {
                return self.table(&table, each);
            }
        }
        self.rows(&format!("{name}.jsonl"), each)
    }

    /// Hands the rows of a table to `each`.
    #[cfg(feature = "parquet")]
    fn table<T: DeserializeOwned>(&self, path: &Path, each: &mut dyn FnMut(T) -> Result<()>) -> Result<()> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let bytes = path.metadata().map_err(|e| Error::io(path, "read", e))?.len();
        let source = Source::new(path.to_path_buf(), Format::Parquet, Compression::None, bytes);
        row_objects(&source, &RecordRoom::default(), &mut |row, object| {
            each(serde_json::from_slice(object).map_err(|_| self.damaged(&name, row + 1))?)
        })
    }
}
