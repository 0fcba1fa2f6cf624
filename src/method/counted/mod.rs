//! Methods whose keys are members of sets: shared members are counted, and `[count]` says how many are enough.

mod anchors;
mod chunks;
mod salient;
mod shingles;
mod supershingles;
mod winnow;

pub use anchors::Anchors;
pub use chunks::{Lines, Sentences};
pub use salient::Salient;
pub use supershingles::Supershingles;
pub use winnow::Winnow;
