//! Parameters chosen by what they do to the user's own documents.
//!
//! | file | subject |
//! |---|---|
//! | `plan` | precision and recall of sampled shingles, and the ratios that keep a floor (Ye, Wen and Ma 2008, sections 4-6) |
//! | `sampling` | the runs that such a plan is made of |
//! | `part` | some of the documents, as a file |
//! | `thresholds` | what would go at several thresholds |
//! | `examples` | pairs whose resemblance is near a threshold |
//! | `labelled` | the resemblance of labelled pairs |
//! | `sweep` | the threshold that tells labelled pairs apart best |
//! | `gap` | the gap in the distribution of resemblances |

mod examples;
mod gap;
mod labelled;
mod part;
mod plan;
mod sampling;
mod sweep;
mod thresholds;

pub use examples::{Example, nearest_pairs};
pub use gap::{Nearest, ResemblanceGap};
pub use labelled::{join, sweep_joined, sweep_judged};
pub use part::{some_of, write_part};
pub use plan::{Accuracy, AtRatio, Floors, MOST_RESIDUES, RATIOS, Trial, choose};
pub use sampling::{Adaptive, LengthGroup, Plan, SamplingGoal, plan};
pub use sweep::{BestThreshold, GradedPairs, Inseparable, LEAST_F1, LabelScore, Sweep};
pub use thresholds::{AtThreshold, Measured, thresholds};

use crate::config::Config;
use crate::error::Result;
use crate::flow::Outcome;

/// Runs a configuration on the documents that are measured; with all accepted pairs, if they are wanted.
pub type Run<'a> = dyn Fn(Config, bool) -> Result<Outcome> + 'a;
