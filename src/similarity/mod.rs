//! The rules of pairs: thresholds as exact decimals, resemblance and containment of sets, the filter curve.

mod threshold;

pub use threshold::Threshold;
