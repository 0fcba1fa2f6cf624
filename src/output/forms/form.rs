//! What forms there are.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::output::figures::size;
use crate::read::Compression;

/// A form for the records of all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordForm {
    /// A JSON object a line, compressed or not.
    JsonLines(Compression),
    /// Rows of Parquet.
    #[cfg(feature = "parquet")]
    Parquet,
    /// Ids alone, one a line.
    Ids,
}

impl RecordForm {
    /// What forms are called, and what each is in a line.
    pub const ALL: &[(&str, RecordForm, &str)] = &[
        ("jsonl", RecordForm::JsonLines(Compression::None), "A JSON object a line"),
        ("jsonl.gz", RecordForm::JsonLines(Compression::Gzip), "The same in one gzip member"),
        ("jsonl.zst", RecordForm::JsonLines(Compression::Zstd), "The same in one Zstandard frame"),
        #[cfg(feature = "parquet")]
        (
            "parquet",
            RecordForm::Parquet,
            "Rows: id, text, file, line, and the record as JSON; of Arrow all columns",
        ),
        ("ids", RecordForm::Ids, "Ids alone, one a line"),
    ];

    /// How names of such files end.
    pub(super) fn extension(self) -> String {
        format!(".{self}")
    }
}

impl FromStr for RecordForm {
    type Err = String;

    fn from_str(text: &str) -> Result<RecordForm, String> {
        let known = RecordForm::ALL.iter().find(|(name, _, _)| *name == text);
        known.map(|(_, form, _)| *form).ok_or_else(|| format!("there is no form {text:?}"))
    }
}

impl fmt::Display for RecordForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = RecordForm::ALL.iter().find(|(_, form, _)| form == self);
        f.write_str(known.map_or("", |(name, _, _)| name))
    }
}

impl Serialize for RecordForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What becomes of stretches of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TextChange {
    /// There are none.
    #[default]
    None,
    /// They are cut out.
    Cut,
    /// They stay, and records have a member `alike` that says where they are.
    Mark,
}

impl TextChange {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
    fn is_none(&self) -> bool {
        *self == TextChange::None
    }
}

/// How records are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FormChoice {
    /// The form of all; `None` for that of each input.
    #[serde(rename = "to")]
    pub form: Option<RecordForm>,
    /// Whether each record has with it what is to be said of it.
    pub annotate: bool,
    /// What becomes of stretches of texts.
    #[serde(skip_serializing_if = "TextChange::is_none")]
    pub texts: TextChange,
    /// About how many bytes a file may have, if it is to be divided.
    pub shard_bytes: Option<u64>,
    /// Bytes of memory that the run may take, if they are bounded.
    #[serde(skip)]
    pub memory: Option<u64>,
}

impl fmt::Display for FormChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.form {
            Some(form) => write!(f, "{form}")?,
            None => f.write_str("as the inputs")?,
        }
        if self.annotate {
            f.write_str(", annotated")?;
        }
        self.shard_bytes.map_or(Ok(()), |bytes| write!(f, ", in parts of about {}", size(bytes)))
    }
}
