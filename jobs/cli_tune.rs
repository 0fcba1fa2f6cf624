//! The command line of choosing parameters; part of the one definition in `cli.rs`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const FILTER_EXAMPLES: &str = "\
Examples:
  alike tune filter --threshold 0.9
      Which k, s and r suit 0.9, for 48 bytes a document, and the curve.
  alike tune filter --threshold 0.8 --missed 5 --bytes 160 --svg curve.svg
      A missed pair is five times as bad as one that is accepted and is below 0.8.
  alike tune filter --threshold 0.9 --compare 6,14,2
      The filter of Broder 2000 beside it.
  alike tune filter --threshold 0.9 --toml > filter.toml && alike dedup crawl/ --config filter.toml --out out";

#[derive(Debug, Subcommand)]
pub(crate) enum TuneCommand {
    /// Choose k features of s min-wise values, r of which must agree, for a threshold
    ///
    /// A filter accepts pairs of a resemblance with the probability P(k,s,r) of it. If resemblances were spread evenly, it
    /// would err in proportion to the area under that curve below the threshold and over it above (Broder 2000, section 4);
    /// the filter whose error costs least is shown for every number of features up to the bytes a document may take.
    #[command(after_long_help = FILTER_EXAMPLES)]
    Filter(FilterArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Resemblance from which on pairs are near-duplicates, above 0 and below 1
    #[arg(long, value_name = "T")]
    pub(crate) threshold: f64,
    /// What it costs to miss a pair at or over the threshold
    #[arg(long, value_name = "COST", default_value_t = 1.0, help_heading = "Costs")]
    pub(crate) missed: f64,
    /// What it costs to accept a pair below it
    #[arg(long, value_name = "COST", default_value_t = 1.0, help_heading = "Costs")]
    pub(crate) wrong: f64,
    /// Most bytes of features a document, eight each
    #[arg(long, value_name = "N", default_value_t = 48, help_heading = "Costs")]
    pub(crate) bytes: usize,
    /// Most min-wise values a document (k times s): time grows with them
    #[arg(long, value_name = "N", default_value_t = 256, help_heading = "Costs")]
    pub(crate) values: usize,

    /// A filter to show beside it, as in 6,14,2
    #[arg(long, value_name = "K,S,R", value_delimiter = ',', num_args = 1, help_heading = "Output")]
    pub(crate) compare: Vec<usize>,
    /// Draw the curves into a new file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
    /// Print a JSON object, on a terminal too
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print a configuration file with the filter
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub(crate) toml: bool,
}
