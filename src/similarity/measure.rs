//! What was measured of a pair, and what is reported of it.

use super::overlap;

use crate::printable::counted;

/// What was measured of a pair: what it shares and the sizes of both, in the units of its [`super::PairTest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// What both have.
    pub shared: u32,
    /// Size of one.
    pub left: u32,
    /// Size of the other.
    pub right: u32,
}

impl Measure {
    /// Measures two strictly ascending sets.
    pub fn of(a: &[u64], b: &[u64]) -> Measure {
        Measure { shared: overlap(a, b) as u32, left: a.len() as u32, right: b.len() as u32 }
    }

    /// The measure of two equal sketches of a size; of equal texts even where no sketch was made of them.
    pub fn equal(size: u32) -> Measure {
        let size = size.max(1);
        Measure { shared: size, left: size, right: size }
    }

    /// Shared members over members of either, in [0, 1]; 0 for two empty sets.
    pub fn resemblance(self) -> f64 {
        let either = self.either();
        if either == 0 { 0.0 } else { f64::from(self.shared) / either as f64 }
    }

    /// Members of either of two sets.
    pub fn either(self) -> u64 {
        u64::from(self.left) + u64::from(self.right) - u64::from(self.shared)
    }

    /// Shared members over those of the smaller set, in [0, 1].
    pub fn containment(self) -> f64 {
        self.part_of(self.left.min(self.right))
    }

    /// Shared members over those of one of the two sets, which has so many, in [0, 1].
    pub fn part_of(self, size: u32) -> f64 {
        f64::from(self.shared) / f64::from(size.max(1))
    }

    /// Shared weight over the geometric mean of both weights, in [0, 1]: of what [`super::PairTest::Cosine`] measured.
    pub fn cosine(self) -> f64 {
        let norms = f64::from(self.left.max(1)) * f64::from(self.right.max(1));
        (f64::from(self.shared) / norms.sqrt()).min(1.0)
    }

    /// What is left where it stands over the longer text, in [0, 1]: of what [`super::PairTest::Edits`] measured.
    pub fn unedited(self) -> f64 {
        f64::from(self.shared) / f64::from(self.left.max(self.right).max(1))
    }
}

/// What is reported of a measure; what its [`super::PairTest`] says nothing about is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct ReportedScores {
    /// Shared members over members of either, in [0, 1].
    pub resemblance: Option<f64>,
    /// Shared features (or signatures), where they say nothing about resemblance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_features: Option<u64>,
    /// Shared members over those of the smaller set, in [0, 1], where that is the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containment: Option<f64>,
    /// The share of the longer text that is left where it stands, in [0, 1], where that is the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit_similarity: Option<f64>,
    /// Shared terms of two vectors, where these are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_terms: Option<u64>,
    /// The cosine of two vectors of weighted terms, in [0, 1], where these are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f64>,
    /// Bits in which two fingerprints differ, where these are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hamming_distance: Option<u64>,
}

impl ReportedScores {
    /// The one figure that decides.
    pub fn figure(&self) -> Option<f64> {
        let counts = [self.shared_features, self.shared_terms, self.hamming_distance];
        let count = counts.into_iter().flatten().next().map(|count| count as f64);
        count.or(self.edit_similarity).or(self.cosine).or(self.containment).or(self.resemblance)
    }

    /// That figure, less for pairs that have less in common: of bits in which fingerprints differ, more are less in common.
    pub fn in_common(&self) -> Option<f64> {
        self.hamming_distance.map_or_else(|| self.figure(), |bits| Some(-(bits as f64)))
    }
}

impl std::fmt::Display for ReportedScores {
    /// The one figure that decides, in a few letters.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            ReportedScores { shared_features: Some(features), .. } => {
                f.write_str(&counted(features, "feature"))
            }
            ReportedScores { edit_similarity: Some(share), .. } => write!(f, "{share:.4} unedited"),
            ReportedScores { shared_terms: Some(terms), .. } => f.write_str(&counted(terms, "term")),
            ReportedScores { hamming_distance: Some(bits), .. } => {
                write!(f, "{} apart", counted(bits, "bit"))
            }
            ReportedScores { cosine: Some(cosine), .. } => write!(f, "{cosine:.4} cosine"),
            ReportedScores { containment: Some(share), .. } => write!(f, "{share:.4} contained"),
            ReportedScores { resemblance: Some(share), .. } => write!(f, "{share:.4}"),
            _ => f.write_str("-"),
        }
    }
}

impl ReportedScores {
    /// What is reported of equal texts: they resemble each other whatever the method.
    pub fn equal(mut self) -> ReportedScores {
        (self.shared_features, self.shared_terms, self.hamming_distance) = (None, None, None);
        ReportedScores { resemblance: Some(1.0), ..self }
    }
}
