//! What is made of counted keys, by the methods whose keys are members of sets.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::similarity::PairTest;
use crate::threshold::Threshold;

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

impl Default for Count {
    fn default() -> Count {
        Count { rule: Rule::Resemblance, shared: 15, common_cap: 1000 }
    }
}

impl Count {
    /// Refuses values that make no sense together.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        if self.rule == Rule::Shared && self.shared == 0 {
            return Err(Error::config(
                "count.shared = 0: documents share 1 member or more; 15 lines are usual",
            ));
        }
        if self.rule == Rule::Shared && u32::try_from(self.shared).is_err() {
            let what =
                format!("count.shared = {}: no document has more than {} members", self.shared, u32::MAX);
            return Err(Error::config(what));
        }
        Ok(())
    }

    /// When a pair is accepted, in a few letters and as a clause.
    pub fn described(&self, threshold: Threshold) -> (String, String) {
        match self.rule {
            Rule::Resemblance => {
                (format!("at least {threshold}"), format!("resemblance at least {threshold}"))
            }
            Rule::Containment => {
                (format!("{threshold} contained"), format!("containment at least {threshold}"))
            }
            Rule::Shared => (format!("{} shared", self.shared), format!("{} shared", self.shared)),
        }
    }

    /// The test that decides about counted members.
    pub fn test(&self, threshold: Threshold) -> PairTest {
        match self.rule {
            Rule::Resemblance => PairTest::Resemblance(threshold),
            Rule::Containment => PairTest::Containment(threshold),
            Rule::Shared => PairTest::Shared(self.shared as u32),
        }
    }
}
