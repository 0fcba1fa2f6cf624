//! The rows of `duplicates.jsonl`, `clusters.jsonl`, `pairs.jsonl` and `rejected.jsonl`. A row borrows its texts.

#[cfg(feature = "parquet")]
mod cells;
mod found;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

#[cfg(feature = "parquet")]
use super::columns::{TableCell, TableColumn};
use crate::document::DocumentName;
use crate::error::{Error, Result};
use crate::flow::Reason;
use crate::limits::sized;
use crate::read::Rejected;
use crate::similarity::{Relation, ReportedScores};

pub(crate) use found::FindingWriter;
pub use found::{DocumentFinding, FindingFiles};

/// A removed document: a line of `duplicates.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DuplicateRow<'a> {
    /// Its id.
    pub id: &'a DocumentName<'a>,
    /// The file it is in, as named in the output.
    pub file: &'a str,
    /// Its line, from 1.
    pub line: u64,
    /// Its cluster.
    pub cluster: u64,
    /// Id of the document kept in its place.
    pub representative: &'a DocumentName<'a>,
    /// The file that one is in. Ids may repeat, files and lines do not.
    pub representative_file: &'a str,
    /// Its line, from 1.
    pub representative_line: u64,
    /// How much it has in common with the representative itself.
    #[serde(flatten)]
    pub shown: ReportedScores,
    /// Why it was removed.
    pub reason: Reason,
    /// The set of the representative, if it is protected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<AgainstRow<'a>>,
    /// Only with [`Reason::Linked`]: id of the document before it on the way from the representative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<&'a DocumentName<'a>>,
    /// How the texts relate word by word, if that was asked for.
    #[serde(flatten)]
    pub relation: Option<Relation>,
}

/// A record that a load leaves out because it resembles a protected document.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LeftOutRow<'a> {
    /// Its id.
    pub id: &'a DocumentName<'a>,
    /// The file it is in, as the user named it.
    pub file: &'a str,
    /// Its line, from 1.
    pub line: u64,
    /// Id of the protected document.
    pub representative: &'a DocumentName<'a>,
    /// The file that one is in.
    pub representative_file: &'a str,
    /// Its line, from 1.
    pub representative_line: u64,
    /// How much both have in common.
    #[serde(flatten)]
    pub shown: ReportedScores,
    /// Why it is left out.
    pub reason: Reason,
    /// The set of the protected document.
    pub against: AgainstRow<'a>,
}

/// A protected document that represents a removed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AgainstRow<'a> {
    /// The name of its set.
    pub set: &'a str,
    /// The file it is in.
    pub file: &'a str,
    /// Its line, from 1.
    pub line: u64,
}

/// A cluster of two documents or more: a line of `clusters.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClusterRow<'a> {
    /// Its number.
    pub cluster: u64,
    /// Documents in it.
    pub size: u64,
    /// Id of the document that is kept.
    pub representative: &'a DocumentName<'a>,
    /// Ids of all its documents, the representative among them; of protected documents there is no other.
    pub members: &'a [DocumentName<'a>],
    /// Ids of those that are kept in keep order, the representative first, if more than one may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<&'a [DocumentName<'a>]>,
}

/// A pair of duplicates: a line of `pairs.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairRow<'a> {
    /// Id of the one that is earlier in input order.
    pub a: &'a DocumentName<'a>,
    /// Id of the other.
    pub b: &'a DocumentName<'a>,
    /// How much they have in common.
    #[serde(flatten)]
    pub shown: ReportedScores,
    /// How the texts relate word by word, if that was asked for.
    #[serde(flatten)]
    pub relation: Option<Relation>,
}

/// A document: a line of `assignments.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AssignmentRow<'a> {
    /// Its id.
    pub id: &'a DocumentName<'a>,
    /// The file it is in.
    pub file: &'a str,
    /// Its line, from 1.
    pub line: u64,
    /// Its cluster, if it is in one.
    pub cluster: Option<u64>,
    /// Documents in that, or 1.
    pub size: u64,
    /// Whether it is kept.
    pub kept: bool,
    /// Why not.
    pub reason: Option<Reason>,
    /// Id of the document that represents its cluster.
    pub representative: Option<&'a DocumentName<'a>>,
    /// The file that one is in.
    pub representative_file: Option<&'a str>,
    /// Its line, from 1.
    pub representative_line: Option<u64>,
    /// How much it has in common with that one.
    #[serde(flatten)]
    pub shown: ReportedScores,
}

/// A refused record: a line of `rejected.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RejectedRow<'a> {
    /// The file it is in.
    pub file: &'a str,
    /// Its line, from 1.
    pub line: u64,
    /// Its first byte in the decompressed file.
    pub offset: u64,
    /// What is wrong with it.
    pub reason: &'a str,
    /// How many records the row is about, the first of them at `line`, if more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
}

impl RejectedRow<'_> {
    /// The row of a refused record or file.
    pub fn of(rejected: &Rejected) -> RejectedRow<'_> {
        let Rejected { file, line, offset, reason, records, .. } = rejected;
        let records = Some(*records).filter(|records| *records > 1);
        RejectedRow { file, line: *line, offset: *offset, reason, records }
    }
}

/// A row of a list.
pub(super) trait ListRow: Serialize {
    /// The columns that it is in tables.
    #[cfg(feature = "parquet")]
    const COLUMNS: &'static [TableColumn];

    /// Hands its cells, in the order of the columns, to `take`.
    ///
    /// # Errors
    /// What `take` gives.
    #[cfg(feature = "parquet")]
    fn cells(&self, take: &mut dyn FnMut(&[TableCell<'_>]) -> Result<()>) -> Result<()>;
}

#[cfg(not(feature = "parquet"))]
mod lines_alone {
    use super::{AssignmentRow, ClusterRow, DuplicateRow, ListRow, PairRow, RejectedRow};

    impl ListRow for DuplicateRow<'_> {}
    impl ListRow for ClusterRow<'_> {}
    impl ListRow for PairRow<'_> {}
    impl ListRow for AssignmentRow<'_> {}
    impl ListRow for RejectedRow<'_> {}
}

/// Rows are gathered up to this before they are written.
const BUFFER: usize = sized(256 << 10, 64);

/// A file of rows, one JSON object a line.
#[derive(Debug)]
pub struct Rows {
    path: PathBuf,
    file: File,
    /// Serialised rows: appending to memory is faster than many small writes through a buffered writer.
    buffer: Vec<u8>,
    rows: u64,
}

impl Rows {
    /// Creates the file `name` in the folder `staging`.
    ///
    /// # Errors
    /// [`Error::Io`], also if there is a file of that name.
    pub fn create(staging: &Path, name: &str) -> Result<Rows> {
        let path = staging.join(name);
        let file = File::create_new(&path).map_err(|e| Error::io(&path, "create", e))?;
        Ok(Rows { path, file, buffer: Vec::with_capacity(BUFFER + (BUFFER >> 2)), rows: 0 })
    }

    /// Appends a row.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write<R: Serialize>(&mut self, row: &R) -> Result<()> {
        serde_json::to_writer(&mut self.buffer, row).map_err(|e| Error::io(&self.path, "write", e.into()))?;
        self.buffer.push(b'\n');
        self.rows += 1;
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Writes what is left and returns the number of rows.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self) -> Result<u64> {
        self.flush()?;
        Ok(self.rows)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_all(&self.buffer).map_err(|e| Error::io(&self.path, "write", e))?;
        self.buffer.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<R: Serialize>(rows: &[R]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let mut file = Rows::create(folder.path(), "rows.jsonl").expect("created");
        for row in rows {
            file.write(row).expect("written");
        }
        assert_eq!(file.finish().expect("finished"), rows.len() as u64);
        std::fs::read_to_string(folder.path().join("rows.jsonl")).expect("the file")
    }

    #[test]
    fn duplicates() {
        let [id, kept, before] = ["b\"1", "a", "c"].map(DocumentName::from);
        let exact = DuplicateRow {
            id: &id,
            file: "x/a.jsonl",
            line: 7,
            cluster: 3,
            representative: &kept,
            representative_file: "y/b.jsonl",
            representative_line: 2,
            shown: ReportedScores { resemblance: Some(1.0), ..ReportedScores::default() },
            reason: Reason::Exact,
            against: None,
            parent: None,
            relation: None,
        };
        let related = DuplicateRow { relation: Some(Relation::SAME), ..exact };
        let near = |shown| DuplicateRow { shown, reason: Reason::Near, ..exact };
        let shown = ReportedScores { resemblance: Some(0.25), ..ReportedScores::default() };
        let linked = DuplicateRow { reason: Reason::Linked, parent: Some(&before), ..near(shown) };
        let features = near(ReportedScores { shared_features: Some(4), ..ReportedScores::default() });
        let contained = near(ReportedScores {
            resemblance: Some(1.0),
            containment: Some(0.875),
            ..ReportedScores::default()
        });
        let edited = near(ReportedScores { edit_similarity: Some(0.5), ..ReportedScores::default() });
        let head = concat!(
            r#"{"id":"b\"1","file":"x/a.jsonl","line":7,"cluster":3,"representative":"a","#,
            r#""representative_file":"y/b.jsonl","representative_line":2,"resemblance""#
        );
        let expected = format!(
            "{head}:1.0,\"reason\":\"exact\"}}\n\
             {head}:0.25,\"reason\":\"linked\",\"parent\":\"c\"}}\n\
             {head}:null,\"shared_features\":4,\"reason\":\"near\"}}\n\
             {head}:1.0,\"containment\":0.875,\"reason\":\"near\"}}\n\
             {head}:null,\"edit_similarity\":0.5,\"reason\":\"near\"}}\n\
             {head}:1.0,\"reason\":\"exact\",\"kind\":\"exact\",\"edits\":0}}\n"
        );
        assert_eq!(written(&[exact, linked, features, contained, edited, related]), expected);
    }

    #[test]
    fn clusters() {
        let members = ["a".into(), "\u{e9}\n".into(), "7".into(), DocumentName::number("7")];
        let row =
            ClusterRow { cluster: 0, size: 4, representative: &members[0], members: &members, kept: None };
        let expected = "{\"cluster\":0,\"size\":4,\"representative\":\"a\",\
            \"members\":[\"a\",\"\u{e9}\\n\",\"7\",7]}\n";
        assert_eq!(written(&[row]), expected);
    }

    #[test]
    fn pairs() {
        let (a, b) = ("x".into(), "y".into());
        let row = |shown| PairRow { a: &a, b: &b, shown, relation: None };
        let resembling = ReportedScores { resemblance: Some(0.8), ..ReportedScores::default() };
        let features = row(ReportedScores { shared_features: Some(2), ..ReportedScores::default() });
        let contained = row(ReportedScores { containment: Some(0.9), ..resembling });
        let expected = "{\"a\":\"x\",\"b\":\"y\",\"resemblance\":0.8}\n\
            {\"a\":\"x\",\"b\":\"y\",\"resemblance\":null,\"shared_features\":2}\n\
            {\"a\":\"x\",\"b\":\"y\",\"resemblance\":0.8,\"containment\":0.9}\n";
        assert_eq!(written(&[row(resembling), features, contained]), expected);
    }

    #[test]
    fn rejected() {
        let row = RejectedRow { file: "a.jsonl", line: 2, offset: 17, reason: "not JSON", records: None };
        assert_eq!(
            written(&[row]),
            "{\"file\":\"a.jsonl\",\"line\":2,\"offset\":17,\"reason\":\"not JSON\"}\n"
        );
    }

    #[test]
    fn rows_beyond_the_buffer_are_all_there() {
        let long = "x".repeat(1000);
        let row = RejectedRow { file: &long, line: 1, offset: 0, reason: "", records: None };
        let text = written(&vec![row; 1000]);
        assert_eq!(text.lines().count(), 1000);
        assert!(text.len() > 3 * BUFFER && text.lines().all(|l| l == text.lines().next().unwrap_or("")));
        assert_eq!(written::<RejectedRow<'_>>(&[]), "");
    }

    #[test]
    fn failures_name_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let Err(error) = Rows::create(&folder.path().join("missing"), "pairs.jsonl") else {
            panic!("created a file in a missing folder");
        };
        assert!(error.to_string().contains("pairs.jsonl: cannot create"), "{error}");
    }
}
