//! The arguments that say what labels mean.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Labels of documents or of pairs of them.
#[derive(Debug, Args)]
pub(crate) struct LabelArgs {
    /// File of labels: tab-separated with a heading, or JSON Lines
    ///
    /// Pairs (id_a, id_b, grade: 1 or more for duplicates, 0 for others), clusters (id, cluster), or marks (id, mark:
    /// 1 or more for a duplicate to remove, 0 for a document to keep).
    #[arg(long, value_name = "FILE", help_heading = "Truth")]
    pub(crate) labels: Option<PathBuf>,
    /// What a line of the labels is [default: by the heading]
    #[arg(long, hide_short_help = true, value_enum, requires = "labels", help_heading = "Truth")]
    pub(crate) labels_form: Option<FormArg>,
    /// Column of the grade, label or mark [default: by its name]
    #[arg(long, hide_short_help = true, value_name = "NAME", requires = "labels", help_heading = "Truth")]
    pub(crate) labels_column: Option<String>,
    /// Word that means a duplicate, if grades are words; can be repeated
    #[arg(long, hide_short_help = true, value_name = "WORD", requires = "labels", help_heading = "Truth")]
    pub(crate) duplicate: Vec<String>,
    /// What pairs count as that the labels do not list
    #[arg(long, hide_short_help = true, value_enum, default_value_t = UnlistedArg::Ignored, requires = "labels", help_heading = "Truth")]
    pub(crate) unlisted: UnlistedArg,
}

/// `--labels-form`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormArg {
    /// Two ids, with or without a grade
    Pairs,
    /// An id and the name of its cluster
    Clusters,
    /// An id and whether to remove it
    Marks,
}

/// `--unlisted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnlistedArg {
    /// Nothing: only listed pairs count
    Ignored,
    /// Distinct: the list is complete
    Distinct,
}
