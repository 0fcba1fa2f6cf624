//! The values of options of several commands.

use std::ffi::OsStr;

use alike::config::PRESETS;
use clap::ValueEnum;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

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

/// `--method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    /// Exact set-similarity join (prefix filter): all pairs at or above the threshold and no others
    Join,
    /// MinHash LSH: pairs that share enough min-wise features, such as one of several bands
    Features,
    /// Number of shared shingles, which may be sampled (Broder 1997)
    Shingles,
    /// Shared runs of sorted shingles (supershingles)
    Supershingles,
    /// Shared fingerprints of winnowing (Schleimer, Wilkerson and Aiken 2003)
    Winnow,
    /// Shared windows of characters, selected by their hash (Manber 1994)
    Anchors,
    /// Shared sentences
    Sentences,
    /// Shared lines
    Lines,
    /// Shared terms among the rarest of each text
    Salient,
    /// I-Match: the same set of terms of medium idf
    Imatch,
    /// The same few rare terms at the same places
    Fingerprint,
    /// Enough shared rare terms, similar lengths, close dates
    Vector,
    /// Exact cosine join: all pairs whose cosine of tf-idf vectors is at or above the threshold
    Cosine,
    /// Equal texts only (ignoring case and punctuation)
    Exact,
}

/// `--verify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyArg {
    /// Nothing
    None,
    /// Jaccard similarity of all shingles
    Resemblance,
    /// Share of the smaller text's shingles that the other text contains
    Containment,
    /// Edit similarity of words
    Edits,
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

/// `--components`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComponentsArg {
    /// Union-find in process 0: fastest while the part of a load fits there
    #[default]
    Forest,
    /// Differential dataflow, on all workers of all processes
    Differential,
}
