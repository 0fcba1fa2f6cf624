//! The methods: how near-duplicates are found. Each is one file: its parameters with their checks, its sketch, the keys under
//! which sketches meet, its acceptance rule, what it needs, and what people read of it.
//!
//! [`Method`] is the list of all; a configuration has their parameters and says which is meant. All else knows a method as a
//! [`Technique`].
//!
//! | file | subject |
//! |---|---|
//! | `technique` | the seam: what a method is |
//! | `tables` | the frozen tables that sketches are made by |
//! | `count` | when counted members are enough |
//! | `counted/` | the methods that count members of sets |
//! | all others | a method each |

mod cosine;
mod count;
mod counted;
mod exact;
mod fingerprint;
mod imatch;
mod join;
mod minhash;
mod simhash;
mod tables;
mod technique;
mod term_vector;

pub use cosine::Cosine;
pub use count::{Count, Rule};
pub use counted::{Anchors, Lines, Salient, Sentences, Supershingles, Winnow};
pub use exact::Exact;
pub use fingerprint::Fingerprint;
pub use imatch::Imatch;
pub use join::{Join, JoinMeasure};
pub use minhash::Minhash;
pub use simhash::Simhash;
pub use tables::FrozenTables;
pub use technique::{Description, MethodSketcher, Needs, Settings, Technique};
pub use term_vector::TermVector;

pub use crate::sketch::{Sampling, Shingles};

use serde::{Deserialize, Serialize};

/// The list of methods: for each its name in configurations, former names, the tables of a configuration that it looks at
/// besides those that all do, what it is in a line, and its documentation.
macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident = $name:literal $(| $alias:literal)*, $tables:expr, $about:literal;)*) => {
        /// How near-duplicates are found.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Method {
            $($(#[$doc])* #[serde(rename = $name $(, alias = $alias)*)] $variant,)*
        }

        impl Method {
            /// All methods.
            pub const ALL: &'static [Method] = &[$(Method::$variant),*];

            /// What a configuration calls it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Method::$variant => $name,)*
                }
            }

            /// Other names that a configuration may call it by.
            pub fn aliases(self) -> &'static [&'static str] {
                match self {
                    $(Method::$variant => &[$($alias),*],)*
                }
            }

            /// The tables of a configuration that it looks at, besides those that all methods do.
            pub fn tables(self) -> &'static [&'static str] {
                match self {
                    $(Method::$variant => $tables,)*
                }
            }

            /// What it is, in a line.
            pub fn about(self) -> &'static str {
                match self {
                    $(Method::$variant => $about,)*
                }
            }
        }
    };
}

methods! {
    /// All pairs with resemblance, or containment, at or over the threshold and no others.
    Join = "join", &["join"], "Exact set-similarity join (prefix filter): all pairs at or above the threshold and no others";
    /// At least r of k features agree (Broder 2000, section 3; banded MinHash is r = 1).
    Minhash = "minhash" | "features", &["minhash"],
        "MinHash LSH: pairs that share enough min-wise features, such as one of several bands";
    /// At most so many of 64 bits differ, each the sign of a sum over all shingles (Charikar 2002; Manku et al. 2007).
    Simhash = "simhash", &["simhash"], "SimHash: all pairs of 64-bit fingerprints within a Hamming distance";
    /// Counting shared, perhaps sampled, shingles (Broder 2000, section 2).
    Shingles = "shingles", &["shingles", "count"], "Number of shared shingles, which may be sampled (Broder 1997)";
    /// Counting shared shingles of the sorted, perhaps sampled, shingles (Broder et al. 1997).
    Supershingles = "supershingles", &["supershingles", "shingles", "count"],
        "Shared runs of sorted shingles (supershingles)";
    /// Counting shared shingles that winnowing keeps (Schleimer et al. 2003).
    Winnow = "winnow", &["winnow", "count"], "Shared fingerprints of winnowing (Schleimer, Wilkerson and Aiken 2003)";
    /// Counting shared windows of characters that their own hash selects (sif: Manber 1994).
    Anchors = "anchors", &["anchors", "count"], "Shared windows of characters, selected by their hash (Manber 1994)";
    /// Counting shared chunks of sentences (COPS: Brin et al. 1995).
    Sentences = "sentences", &["sentences", "count"], "Shared sentences";
    /// Counting shared chunks of lines (Shivakumar and Garcia-Molina 1998).
    Lines = "lines", &["lines", "count"], "Shared lines";
    /// Counting shared terms, of the rarest ones (Cooper et al. 2002).
    Salient = "salient", &["salient", "count"], "Shared terms among the rarest of each text";
    /// One digest of all terms of middling rarity agrees, or one of a random part of them (I-Match: Chowdhury et al. 2002,
    /// Kolcz et al. 2004).
    Imatch = "imatch", &["imatch"], "I-Match: the same set of terms of medium idf";
    /// A digest of a few rare terms and where they stand agrees (Conrad et al. 2003, section 6.1).
    Fingerprint = "fingerprint", &["fingerprint"], "The same few rare terms at the same places";
    /// Enough of the rarest terms are shared, of texts of about one length and day (Conrad et al. 2003, section 7).
    TermVector = "term-vector" | "vector", &["term-vector"],
        "Enough shared rare terms, similar lengths, close dates";
    /// All pairs of texts whose cosine over idf weights is at or over the threshold (Kolcz et al. 2003).
    Cosine = "cosine", &["cosine"], "Exact cosine join: all pairs whose cosine of tf-idf vectors is at or above the threshold";
    /// Equal canonical text only.
    Exact = "exact", &[], "Equal texts only (ignoring case and punctuation)";
}

impl std::fmt::Display for Method {
    /// As a configuration writes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Method, String> {
        let called = |method: &Method| method.name() == text || method.aliases().contains(&text);
        Method::ALL.iter().copied().find(called).ok_or_else(|| {
            let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
            format!("method {text:?}: expected one of {}", names.join(", "))
        })
    }
}

impl Method {
    /// Whether the keys are members of sets that are counted, as `[count]` says.
    pub fn is_counted(self) -> bool {
        self.tables().contains(&"count")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_values_make_sense() {
        Exact.check().expect("equal texts");
        Join::default().check().expect("join");
        Minhash::default().check().expect("min-wise features");
        Simhash::default().check().expect("fingerprints");
        Shingles::default().check().expect("shingles");
        Imatch::default().check().expect("I-Match");
        Imatch { lexicons: 10, ..Imatch::default() }.check().expect("random lexicons");
        Fingerprint::default().check().expect("fingerprint");
        TermVector::default().check().expect("vector");
        assert_eq!((TermVector::default().prefix(), TermVector::default().meeting()), (16, 6));
        let narrow = TermVector { terms: 30, shared: 2, ..TermVector::default() };
        assert_eq!((narrow.prefix(), narrow.meeting()), (30, 2));
        Cosine::default().check().expect("cosine");
        Salient::default().check().expect("salient");
        Winnow::default().check().expect("winnow");
        Anchors::default().check().expect("anchors");
        Sentences::default().check().expect("sentences");
        Lines::default().check().expect("lines");
        Supershingles::default().check().expect("super shingles");
    }

    #[test]
    fn names_the_key_and_the_cure() {
        for (refused, words) in [
            (
                Imatch { low: "0.9".parse().expect("a decimal"), ..Imatch::default() }.check(),
                "imatch.low = 0.9, imatch.high = 0.8",
            ),
            (Imatch { share: 100, ..Imatch::default() }.check(), "imatch.share = 100: it must be 1 to 99"),
            (Imatch { min_terms: 0, ..Imatch::default() }.check(), "must be at least 1; 5 is usual"),
            (Imatch { lexicons: 1 << 20, ..Imatch::default() }.check(), "imatch.lexicons"),
            (Fingerprint { terms: 0, ..Fingerprint::default() }.check(), "fingerprint.terms = 0"),
            (Fingerprint { bin: 0, ..Fingerprint::default() }.check(), "fingerprint.bin = 0"),
            (Fingerprint { length_percent: 101, ..Fingerprint::default() }.check(), "length_percent = 101"),
            (
                TermVector { terms: 61, ..TermVector::default() }.check(),
                "term-vector.terms = 61: it must be 1 to 60",
            ),
            (TermVector { shared: 61, ..TermVector::default() }.check(), "term-vector.shared = 61"),
            (TermVector { min_terms: 10, ..TermVector::default() }.check(), "must be 11 to 60"),
            (Cosine { common_percent: 0 }.check(), "cosine.common_percent = 0"),
            (Salient { terms: 0 }.check(), "salient.terms = 0"),
            (Winnow { window: 0 }.check(), "winnow.window = 0"),
            (Anchors { one_in: 0, ..Anchors::default() }.check(), "anchors.one_in = 0"),
            (Sentences { per_chunk: 2, every: 3 }.check(), "sentences.every = 3: it must be 1 to 2"),
            (Lines { per_chunk: 0, every: 1 }.check(), "lines.per_chunk = 0"),
            (Supershingles { group: 0 }.check(), "supershingles.group = 0"),
        ] {
            let message = refused.expect_err("no sense").to_string();
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn every_method_is_read_as_it_is_written() {
        for method in Method::ALL {
            for name in [method.name()].iter().chain(method.aliases()) {
                assert_eq!(name.parse(), Ok(*method), "{name}");
                let read = serde_json::from_value::<Method>((*name).into()).expect(name);
                assert_eq!(read, *method);
            }
            assert_eq!(serde_json::to_value(method).expect("as JSON"), method.name());
        }
        let message = "minhash-lsh".parse::<Method>().expect_err("no method");
        assert!(message.contains("join, minhash, simhash,"), "{message}");
    }
}
