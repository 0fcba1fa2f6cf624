//! The rules of pairs: thresholds as exact decimals, resemblance and containment of sets, the filter curve and
//! choosing one.

mod curve;
mod design;
mod lengths;
mod overlap;
mod rule;
mod threshold;

pub use curve::acceptance;
pub use design::{Design, Wish, design};
pub use lengths::lengths_agree;
pub use overlap::{overlap, overlap_at_least};
pub use rule::{Accept, Measure};
pub use threshold::Threshold;
