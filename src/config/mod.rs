//! The typed configuration of a run: what a preset or a configuration file may say. Unknown keys are refused.
//! This part knows no command line; a job lays flags over a [`Config`] and then calls [`Config::validate`].
//!
//! | file | what it owns |
//! |---|---|
//! | `mod.rs` | the types and their defaults |
//! | `keep.rs` | how a keep policy is written and read |
//! | `load.rs` | from TOML to a [`Config`], with located messages |
//! | `methods.rs` | parameters of the methods of terms, chunks and chosen shingles |
//! | `presets.rs` | the table of presets and the search for a name |
//! | `size.rs` | byte sizes as people write them: `2G`, `512MiB` |
//! | `validate.rs` | which values make no sense alone or together |

mod keep;
mod load;
mod methods;
mod presets;
mod size;
mod validate;

pub use methods::{
    Anchors, Cosine, Fingerprint, Imatch, Lines, Salient, Sentences, Supershingles, Vector, Winnow,
};
pub use presets::{PRESETS, Preset};
pub use size::parse_size;

pub use crate::read::Input;
pub use crate::text::{Filter, Text, Tokens};

use serde::{Deserialize, Serialize};

use crate::threshold::Threshold;

/// Everything that decides the answer, and nothing that only decides how fast it comes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How near-duplicates are found.
    pub method: Method,
    /// Smallest resemblance (or whatever else is measured) of near-duplicates, an exact decimal in (0, 1].
    pub threshold: Threshold,
    /// What accepted pairs must also pass, at the same threshold.
    pub verify: Verify,
    /// The name of the lexicon that sketches are made by: the digest of its content, in 32 hexadecimal digits. Empty:
    /// that of the input itself, where the method needs one.
    pub lexicon: String,
    /// Where id and text stand in a record.
    pub input: Input,
    /// How text becomes tokens and tokens become shingles.
    pub text: Text,
    /// Parameters of `method = "features"`.
    pub features: Features,
    /// Parameters of `method = "shingles"`.
    pub shingles: Shingles,
    /// Parameters of `method = "supershingles"`.
    pub supershingles: Supershingles,
    /// Parameters of `method = "winnow"`.
    pub winnow: Winnow,
    /// Parameters of `method = "anchors"`.
    pub anchors: Anchors,
    /// Parameters of `method = "sentences"`.
    pub sentences: Sentences,
    /// Parameters of `method = "lines"`.
    pub lines: Lines,
    /// Parameters of `method = "salient"`.
    pub salient: Salient,
    /// Parameters of `method = "imatch"`.
    pub imatch: Imatch,
    /// Parameters of `method = "fingerprint"`.
    pub fingerprint: Fingerprint,
    /// Parameters of `method = "vector"`.
    pub vector: Vector,
    /// Parameters of `method = "cosine"`.
    pub cosine: Cosine,
    /// What is made of counted keys, by the methods whose keys are members of sets.
    pub count: Count,
    /// How links become clusters, and who represents one.
    pub cluster: Cluster,
}

/// How near-duplicates are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Equal canonical text only.
    Exact,
    /// All pairs with resemblance at or over the threshold and no others.
    Join,
    /// At least r of k features agree (Broder 2000, section 3; banded MinHash is r = 1).
    Features,
    /// Counting shared, perhaps sampled, shingles (Broder 2000, section 2).
    Shingles,
    /// Counting shared shingles of the sorted, perhaps sampled, shingles (Broder et al. 1997).
    Supershingles,
    /// Counting shared shingles that winnowing keeps (Schleimer et al. 2003).
    Winnow,
    /// Counting shared windows of characters that their own hash selects (sif: Manber 1994).
    Anchors,
    /// Counting shared chunks of sentences (COPS: Brin et al. 1995).
    Sentences,
    /// Counting shared chunks of lines (Shivakumar and Garcia-Molina 1998).
    Lines,
    /// Counting shared terms, of the rarest ones (Cooper et al. 2002).
    Salient,
    /// One digest of all terms of middling rarity agrees, or one of a random part of them (I-Match: Chowdhury et al. 2002,
    /// Kolcz et al. 2004).
    Imatch,
    /// A digest of a few rare terms and where they stand agrees (Conrad et al. 2003, section 6.1).
    Fingerprint,
    /// Enough of the rarest terms are shared, of texts of about one length and day (Conrad et al. 2003, section 7).
    Vector,
    /// All pairs of texts whose cosine over idf weights is at or over the threshold (Kolcz et al. 2003).
    Cosine,
}

impl std::fmt::Display for Method {
    /// As a configuration writes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Method {
    /// What a configuration calls it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Exact => "exact",
            Method::Join => "join",
            Method::Features => "features",
            Method::Shingles => "shingles",
            Method::Supershingles => "supershingles",
            Method::Winnow => "winnow",
            Method::Anchors => "anchors",
            Method::Sentences => "sentences",
            Method::Lines => "lines",
            Method::Salient => "salient",
            Method::Imatch => "imatch",
            Method::Fingerprint => "fingerprint",
            Method::Vector => "vector",
            Method::Cosine => "cosine",
        }
    }

    /// The tables of a configuration that the method looks at, besides those that all do.
    pub fn tables(self) -> &'static [&'static str] {
        match self {
            Method::Exact | Method::Join => &[],
            Method::Features => &["features"],
            Method::Shingles => &["shingles", "count"],
            Method::Supershingles => &["supershingles", "shingles", "count"],
            Method::Winnow => &["winnow", "count"],
            Method::Anchors => &["anchors", "count"],
            Method::Sentences => &["sentences", "count"],
            Method::Lines => &["lines", "count"],
            Method::Salient => &["salient", "count"],
            Method::Imatch => &["imatch"],
            Method::Fingerprint => &["fingerprint"],
            Method::Vector => &["vector"],
            Method::Cosine => &["cosine"],
        }
    }

    /// Whether the keys are members of sets that are counted, as `[count]` says.
    pub fn is_counted(self) -> bool {
        self.tables().contains(&"count")
    }
}

/// What accepted pairs must also pass (Wang and Gemmell 2005, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// Nothing: the method alone decides.
    None,
    /// Resemblance of all shingles.
    Resemblance,
    /// Containment of all shingles of the text that has fewer.
    Containment,
    /// The share of the longer text that is left after the fewest insertions, deletions and replacements of tokens.
    Edits,
}

/// Parameters of `method = "features"`: k features of s min-wise values each, r of which must agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Features {
    /// Features a document.
    pub k: usize,
    /// Min-wise values a feature.
    pub s: usize,
    /// Features two documents must share.
    pub r: usize,
}

/// Parameters of `method = "shingles"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shingles {
    /// Which shingles of a document are kept.
    pub sampling: Sampling,
    /// With `sampling = "adaptive"`: of the shingles of a text one in so many, each a power of two: a number for texts of up
    /// to 500 words, then 1,000, 2,000 and so on to 9,000, and one for longer ones (Ye et al. 2008, section 5).
    pub ratios: [u64; 11],
    /// With `sampling = "mod"`: keep the hashes that leave `residue` modulo this.
    pub modulus: u64,
    /// With `sampling = "mod"`: the residue kept, below `modulus`.
    pub residue: u64,
    /// Most shingles kept a document, the smallest hashes first; 0 is no bound. With `sampling = "smallest"` it is N.
    pub per_document: usize,
}

/// What is made of counted keys, by the methods whose keys are members of sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Count {
    /// What is held against the threshold, or against `shared`.
    pub rule: Rule,
    /// With `rule = "shared"`: members two documents must share, at least 1.
    pub shared: usize,
    /// A member in more contents than this is ignored when shared members are counted; 0 is no cap.
    pub common_cap: usize,
}

/// Which shingles of a document are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// All of them.
    None,
    /// Those whose hash leaves a given residue (Broder 1997: modulo 25).
    Mod,
    /// The N smallest hashes (Heintze 1996).
    Smallest,
    /// One in so many, which depends on how long the text is (Ye et al. 2008, section 5).
    Adaptive,
}

/// What decides about counted members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// Shared members over all members of both, held against the threshold.
    Resemblance,
    /// Shared members over those of the smaller set, held against the threshold.
    Containment,
    /// How many are shared (Shivakumar and Garcia-Molina: 15 or 25 lines).
    Shared,
}

/// How links become clusters, and who represents one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cluster {
    /// Guarantee or transitive.
    pub clustering: Clustering,
    /// Which member of a cluster is kept.
    pub keep: Keep,
}

/// How links become clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clustering {
    /// Conservative: in keep order, a document joins the first representative it is linked to, or becomes one.
    Guarantee,
    /// Connected components.
    Transitive,
}

/// Which member of a cluster is kept; ties go to the earlier position.
/// Written `first`, `last`, `longest`, `shortest`, `field:NAME:max` or `field:NAME:min`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Keep {
    /// The first in document order.
    First,
    /// The last in document order.
    Last,
    /// The one whose text has the most bytes.
    Longest,
    /// The one whose text has the fewest bytes.
    Shortest,
    /// The one with the greatest (or least) value of a field; documents without the field come last.
    /// Numbers compare as numbers, strings as strings, numbers before strings.
    Field {
        /// Path of the field.
        name: String,
        /// Greatest rather than least.
        max: bool,
    },
}

impl Default for Config {
    fn default() -> Config {
        Config {
            method: Method::Join,
            threshold: "0.8".parse().expect("a valid threshold"),
            verify: Verify::None,
            lexicon: String::new(),
            input: Input::default(),
            text: Text::default(),
            features: Features::default(),
            shingles: Shingles::default(),
            supershingles: Supershingles::default(),
            winnow: Winnow::default(),
            anchors: Anchors::default(),
            sentences: Sentences::default(),
            lines: Lines::default(),
            salient: Salient::default(),
            imatch: Imatch::default(),
            fingerprint: Fingerprint::default(),
            vector: Vector::default(),
            cosine: Cosine::default(),
            count: Count::default(),
            cluster: Cluster::default(),
        }
    }
}

impl Default for Features {
    fn default() -> Features {
        Features { k: 6, s: 14, r: 2 }
    }
}

impl Default for Shingles {
    fn default() -> Shingles {
        Shingles {
            sampling: Sampling::None,
            ratios: [1, 1, 2, 4, 8, 8, 16, 16, 16, 16, 32],
            modulus: 25,
            residue: 0,
            per_document: 0,
        }
    }
}

impl Default for Count {
    fn default() -> Count {
        Count { rule: Rule::Resemblance, shared: 15, common_cap: 1000 }
    }
}

impl Default for Cluster {
    fn default() -> Cluster {
        Cluster { clustering: Clustering::Guarantee, keep: Keep::First }
    }
}
