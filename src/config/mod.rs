//! The typed configuration of a run: what a preset or a configuration file may say. Unknown keys are refused.
//! This part knows no command line; a job lays flags over a [`Config`] and then calls [`Config::validate`].
//!
//! | file | what it owns |
//! |---|---|
//! | `mod.rs` | the types and their defaults |
//! | `keep.rs` | which document of a cluster is kept: lists of criteria, written and read |
//! | `load.rs` | from TOML to a [`Config`], with located messages |
//! | `presets.rs` | the table of presets and the search for a name |
//! | `rule.rs` | the method of a configuration, and what follows from its parameters |
//! | `size.rs` | byte sizes as people write them: `2G`, `512MiB` |
//! | `validate.rs` | which values make no sense alone or together |

mod keep;
mod load;
mod presets;
mod rule;
mod size;
mod validate;

pub use keep::{Criterion, Keep};
pub use presets::{PRESETS, Preset};
pub use size::parse_size;

pub use crate::method::{
    Anchors, Cosine, Count, Exact, Fingerprint, Imatch, Join, JoinMeasure, Lines, Method, Minhash, Rule,
    Salient, Sampling, Sentences, Shingles, Simhash, Supershingles, TermVector, Winnow,
};
pub use crate::read::Input;
pub use crate::text::{Filter, Fold, Text, Tokens};

use serde::{Deserialize, Serialize};

use crate::method::Technique;
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
    /// Parameters of `method = "join"`.
    pub join: Join,
    /// Parameters of `method = "minhash"`.
    #[serde(alias = "features")]
    pub minhash: Minhash,
    /// Parameters of `method = "simhash"`.
    pub simhash: Simhash,
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
    /// Parameters of `method = "term-vector"`.
    #[serde(rename = "term-vector", alias = "vector")]
    pub term_vector: TermVector,
    /// Parameters of `method = "cosine"`.
    pub cosine: Cosine,
    /// What is made of counted keys, by the methods whose keys are members of sets.
    pub count: Count,
    /// How links become clusters, and who represents one.
    pub cluster: Cluster,
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

impl Default for Config {
    fn default() -> Config {
        Config {
            method: Method::Join,
            threshold: "0.8".parse().expect("a valid threshold"),
            verify: Verify::None,
            lexicon: String::new(),
            input: Input::default(),
            text: Text::default(),
            join: Join::default(),
            minhash: Minhash::default(),
            simhash: Simhash::default(),
            shingles: Shingles::default(),
            supershingles: Supershingles::default(),
            winnow: Winnow::default(),
            anchors: Anchors::default(),
            sentences: Sentences::default(),
            lines: Lines::default(),
            salient: Salient::default(),
            imatch: Imatch::default(),
            fingerprint: Fingerprint::default(),
            term_vector: TermVector::default(),
            cosine: Cosine::default(),
            count: Count::default(),
            cluster: Cluster::default(),
        }
    }
}

impl Config {
    /// A method with the parameters that this configuration has for it.
    pub fn technique_of(&self, method: Method) -> &dyn Technique {
        match method {
            Method::Exact => &Exact,
            Method::Join => &self.join,
            Method::Minhash => &self.minhash,
            Method::Simhash => &self.simhash,
            Method::Shingles => &self.shingles,
            Method::Supershingles => &self.supershingles,
            Method::Winnow => &self.winnow,
            Method::Anchors => &self.anchors,
            Method::Sentences => &self.sentences,
            Method::Lines => &self.lines,
            Method::Salient => &self.salient,
            Method::Imatch => &self.imatch,
            Method::Fingerprint => &self.fingerprint,
            Method::TermVector => &self.term_vector,
            Method::Cosine => &self.cosine,
        }
    }
}

impl Default for Cluster {
    fn default() -> Cluster {
        Cluster { clustering: Clustering::Guarantee, keep: Keep::default() }
    }
}
