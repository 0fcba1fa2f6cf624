//! The rules of pairs: thresholds as exact decimals, resemblance and containment of sets, the filter curve and
//! choosing one.

mod curve;
mod design;
mod edits;
mod lengths;
mod overlap;
mod rule;
mod test;
mod threshold;

pub use curve::acceptance;
pub use design::{Design, Wish, design};
pub use edits::{edit_distance, edit_distance_at_most};
pub use lengths::lengths_agree;
pub use overlap::{overlap, overlap_at_least};
pub use rule::Accept;
pub use test::{Measure, Shown, Test};
pub use threshold::Threshold;
