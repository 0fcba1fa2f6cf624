//! What may be typed about the words of texts; a part of `cli.rs`.

use clap::Args;

/// What is left out of texts, and what words become.
#[derive(Debug, Default, Args)]
pub(crate) struct FilterArgs {
    /// Leave out numbers: words of digits alone
    #[arg(long, help_heading = "Text", hide_short_help = true)]
    pub(crate) drop_numbers: bool,
    /// Leave out words that have a digit in them
    #[arg(long, help_heading = "Text", hide_short_help = true)]
    pub(crate) alphabetic: bool,
    /// Leave out the stop words of these languages, given by their codes: en,fr,zh
    #[arg(long, value_name = "LANG", value_delimiter = ',', help_heading = "Text", hide_short_help = true)]
    pub(crate) stop_words: Vec<String>,
    /// Leave out words of fewer characters; one of a script without spaces is enough
    #[arg(long, value_name = "N", help_heading = "Text", hide_short_help = true)]
    pub(crate) min_token_length: Option<usize>,
    /// Take stems for words, by Snowball; LANG is a code or a name: en, english, porter
    ///
    /// Stems are taken of what the filters leave. A text of which they leave nothing is taken whole, without them.
    #[arg(long, value_name = "LANG", help_heading = "Text", hide_short_help = true)]
    pub(crate) stem: Option<String>,
}
