//! The command line of reading records, where nothing else is configured; part of the one definition in `cli.rs`.

use clap::Args;

/// Where documents stand in records, and what becomes of records that are none.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Where the id of a record stands; dots between nested names [default: id]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) id_field: Option<String>,
    /// Where the text of a record stands [default: text]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) text_field: Option<String>,
    /// End with code 3 if a single record is refused, not only above 10 %
    #[arg(long, help_heading = "Records")]
    pub(crate) strict: bool,
}
