//! The values of options of several commands.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use alike::config::{Fold, Method, PRESETS, parse_size};
use alike::output::{ListForm, RecordForm};
use alike::read::{FormatName, format_names};
use alike::remote::ObjectUrl;
use clap::builder::{
    PathBufValueParser, PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser,
};
use clap::{ColorChoice, ValueEnum};

/// The longest record, in bytes.
pub(crate) fn record_bytes(text: &str) -> Result<usize, String> {
    let bytes = parse_size(text).map_err(|error| error.to_string())?;
    match usize::try_from(bytes) {
        Ok(0) => Err("would refuse every record; leave it out for 16M".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err("is more than this machine can address".to_owned()),
    }
}

/// Any text, which completions begin with the names of presets.
pub(crate) fn presets() -> impl TypedValueParser<Value = String> {
    Hinted(PRESETS.iter().map(|preset| PossibleValue::new(preset.name).help(preset.about)).collect())
}

/// Any text, which completions begin with the policies that need no field.
pub(crate) fn policies() -> impl TypedValueParser<Value = String> {
    Hinted(["first", "last", "longest", "shortest", "field:"].map(PossibleValue::new).to_vec())
}

/// Any text; completions offer some values.
#[derive(Clone)]
struct Hinted(Vec<PossibleValue>);

impl TypedValueParser for Hinted {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().cloned()))
    }
}

/// What reads `--method`: the list of methods, each with what it is.
pub(crate) fn method_parser() -> impl TypedValueParser<Value = Method> {
    let values = Method::ALL.iter().map(|method| {
        PossibleValue::new(method.name()).aliases(method.aliases().iter().copied()).help(method.about())
    });
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Method>())
}

/// What a build may be without. Whoever asks for it is told how to get it.
const ABSENT: &str = "parquet";

/// Some values, and what this build is without, which no list shows.
fn with_absent(values: impl Iterator<Item = PossibleValue>) -> Vec<PossibleValue> {
    let mut values: Vec<PossibleValue> = values.collect();
    if !values.iter().any(|value| value.matches(ABSENT, false)) {
        values.push(PossibleValue::new(ABSENT).hide(true));
    }
    values
}

/// The value of a name that [`with_absent`] has.
fn known<T: FromStr>(name: &str) -> Result<T, String> {
    name.parse().map_err(|_| format!("this build has no {name}: build alike with --features full"))
}

/// What reads a number of which there is at least one.
pub(crate) fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number from 1 on".to_owned())
}

/// What reads `--input-format`: the list of formats, each with what it is.
pub(crate) fn format_parser() -> impl TypedValueParser<Value = FormatName> {
    let values = format_names().map(|(name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(with_absent(values)).try_map(|name| known::<FormatName>(&name))
}

/// What reads `--fold`: the words of the list, each with what it is.
pub(crate) fn fold_parser() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(Fold::WORDS.map(|(word, about)| PossibleValue::new(word).help(about)))
}

/// What reads `--to`: the list of forms, each with what it is.
pub(crate) fn form_parser() -> impl TypedValueParser<Value = RecordForm> {
    let values = RecordForm::ALL.iter().map(|(name, _, about)| PossibleValue::new(*name).help(*about));
    PossibleValuesParser::new(with_absent(values)).try_map(|name| known::<RecordForm>(&name))
}

/// What reads `--lists`: the list of forms, each with what it is.
pub(crate) fn list_parser() -> impl TypedValueParser<Value = ListForm> {
    let values = ListForm::ALL.iter().map(|(name, _, about)| PossibleValue::new(*name).help(*about));
    PossibleValuesParser::new(with_absent(values)).try_map(|name| known::<ListForm>(&name))
}

/// What reads the name of a folder of this machine.
pub(crate) fn folder_parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match ObjectUrl::of(&path) {
        Some(_) => Err("a collection is a folder of a file system; only inputs may be URLs"),
        None => Ok(path),
    })
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataForm {
    /// Aligned columns, or text for people
    Table,
    /// One JSON value: an array where there are rows
    Json,
    /// A JSON object a line
    Jsonl,
    /// Tab-separated columns below a heading; \t, \n, \r and \\ stand for tabs, line breaks and backslashes
    Tsv,
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorArg {
    /// What `words` say before they are parsed: help and errors are coloured, too.
    pub(crate) fn in_words(words: &[OsString]) -> ColorArg {
        let mut words = words.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--");
        let mut said = ColorArg::Auto;
        while let Some(word) = words.next() {
            let value = match word.strip_prefix("--color") {
                Some("") => words.next(),
                Some(value) => value.strip_prefix('='),
                None => None,
            };
            said = value.and_then(|value| ColorArg::from_str(value, false).ok()).unwrap_or(said);
        }
        said
    }
}

impl From<ColorArg> for ColorChoice {
    fn from(color: ColorArg) -> ColorChoice {
        match color {
            ColorArg::Auto => ColorChoice::Auto,
            ColorArg::Always => ColorChoice::Always,
            ColorArg::Never => ColorChoice::Never,
        }
    }
}

/// `--verify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyArg {
    /// No check
    None,
    /// Jaccard similarity of all shingles
    Resemblance,
    /// Share of the smaller text's shingles that the other text contains
    Containment,
    /// Edit similarity of words, or of characters with --tokens chars
    Edits,
}

/// `--measure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeasureArg {
    /// Jaccard similarity: shared shingles over those of either text
    Resemblance,
    /// Shared shingles over those of the smaller text: finds excerpts
    Containment,
    /// Shared shingles over those of the protected text (--against): finds texts that quote it whole. Of two new texts, over
    /// those of the smaller one
    ContainmentOfProtected,
}

/// `--tokens`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokensArg {
    /// Words; in scripts without spaces each character is one
    Words,
    /// Characters, single spaces between words among them
    Chars,
}

/// `--clustering`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClusteringArg {
    /// Remove a document only if it is similar to the kept one: no chains
    Guarantee,
    /// Connected components, with chains of similar documents
    Transitive,
}

/// `--missing-text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MissingTextArg {
    /// They are refused, and left out
    Reject,
    /// They are documents without a word: kept, and compared with nothing
    Keep,
}

/// `--simd`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SimdArg {
    /// The best of this machine
    #[default]
    Auto,
    /// AVX2
    Avx2,
    /// None
    Scalar,
}

/// `--encryption`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EncryptionArg {
    /// If a process is on another machine, and there is a secret
    #[default]
    Auto,
    /// Always
    On,
    /// Never
    Off,
}

/// `--components`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComponentsArg {
    /// Union-find in process 0: fastest while the part of a load fits there
    #[default]
    Forest,
    /// Differential dataflow, on all workers of all processes
    Differential,
}

/// A whole number of percent, at most 100; written `50%` or `50`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Percent(pub(crate) u8);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Percent, String> {
        let number = text.strip_suffix('%').unwrap_or(text).trim_end().parse().ok();
        let percent = number.filter(|percent| *percent <= 100).map(Percent);
        percent.ok_or_else(|| format!("{text:?}: expected a whole number of percent up to 100, like 50%"))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_found_before_the_line_is_parsed() {
        let of = |line: &str| ColorArg::in_words(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("alike dedup a --color never"), ColorArg::Never);
        assert_eq!(of("alike --color=always dedup a"), ColorArg::Always);
        for line in [
            "alike dedup --colors never",
            "alike launch -- dedup --color never",
            "alike --color",
            "alike --color x",
        ] {
            assert_eq!(of(line), ColorArg::Auto, "{line}");
        }
    }

    #[test]
    fn whole_numbers_up_to_a_hundred() {
        for (text, percent) in [("0%", 0), ("50%", 50), ("50", 50), ("7 %", 7), ("100%", 100)] {
            assert_eq!(text.parse(), Ok(Percent(percent)), "{text}");
        }
        for text in ["", "%", "101%", "-1%", "0.5%", "half"] {
            assert!(text.parse::<Percent>().is_err(), "{text}");
        }
        assert_eq!(Percent(50).to_string(), "50%");
    }
}
