//! The rules of pairs: thresholds as exact decimals, resemblance and containment of sets, the filter curve.

mod curve;
mod overlap;
mod rule;
mod threshold;

pub use curve::acceptance;
pub use overlap::{overlap, overlap_at_least};
pub use rule::{Accept, Measure};
pub use threshold::Threshold;
