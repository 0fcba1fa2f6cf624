//! How good a method is: its clusters and pairs held against labels, or against the exact join.
//!
//! Documents are numbered in document order. What a method has found, and what is true, are each a [`Grouping`]: which
//! documents go together as a whole, and which of these groups are linked beside that. Clusters are groups without links;
//! accepted pairs are links between groups of equal texts. All pairs are counted by formulas over groups, never one by one.
//!
//! | file | subject |
//! |---|---|
//! | `documents` | the documents of the inputs, their ids and lengths |
//! | `outcome` | what a run has found, as groupings |
//! | `sizes` | groups of lengths, and pairs within and between sets of documents by the length of the shorter one |
//! | `grouping` | groups, links, and the pairs that two groupings share |
//! | `rand_index` | the adjusted Rand index |
//! | `labels`, `table` | a file of labels, and lines of fields |
//! | `truth` | what labels say about the documents of the inputs |
//! | `tally` | what is counted of a method and the truth, in blocks that have no pair in common |
//! | `intervals` | intervals of confidence from such blocks |
//! | `score` | the measures |

mod documents;
mod grouping;
mod intervals;
mod labels;
mod outcome;
mod rand_index;
mod score;
mod sizes;
mod table;
mod tally;
#[cfg(test)]
mod tests;
mod truth;

pub use documents::Documents;
pub use grouping::Grouping;
pub(crate) use grouping::LinkedGroups;
pub use intervals::{CONFIDENCE, Interval, REPLICATES};
pub use labels::{Form, JUDGED_AT, LabelOptions, LabelRows, Labels, UNSURE};
pub use outcome::{Found, found};
pub use rand_index::rand_index;
pub use score::{Estimate, ScoreMeasures, Scores, Shares, SizeScores, score};
pub use sizes::{BOUNDS, SIZES, Sizes, group_of, size_name};

pub use truth::{Named, Resolved, Truth, Unlisted, resolve};
