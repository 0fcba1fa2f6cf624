//! The values of options of several commands; part of the one definition in `cli.rs`.

use clap::ValueEnum;

/// `--method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    /// All pairs at or over the threshold and no others
    Join,
    /// Pairs that share enough min-wise features; MinHash bands are one case
    Features,
    /// Pairs by their count of shared, perhaps sampled, shingles
    Shingles,
    /// By shared runs of sorted, perhaps sampled, shingles
    Supershingles,
    /// By shared shingles that winnowing keeps
    Winnow,
    /// By shared windows of characters that their hash selects
    Anchors,
    /// By shared chunks of sentences
    Sentences,
    /// By shared chunks of lines
    Lines,
    /// By shared terms of the rarest
    Salient,
    /// I-Match: all terms of middling rarity are the same
    Imatch,
    /// A few rare terms and their places are the same
    Fingerprint,
    /// Enough of the rarest terms are shared, lengths and dates are close
    Vector,
    /// All pairs whose cosine over rare terms is at or over the threshold
    Cosine,
    /// Equal canonical text only
    Exact,
}

/// `--verify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyArg {
    /// Nothing
    None,
    /// Resemblance of all shingles
    Resemblance,
    /// Containment of the smaller text's shingles
    Containment,
    /// What is left of the longer text after the fewest edits of words
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
    /// No document goes unless a kept one resembles it: no chains
    Guarantee,
    /// Connected components: whatever hangs together
    Transitive,
}

/// `--simd`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SimdArg {
    /// The best this machine has
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
    /// Union-find, and searches in lock-step
    #[default]
    Forest,
    /// A differential-dataflow collection
    Differential,
}
