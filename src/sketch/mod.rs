//! Tokens to keys: the first half of every method (the second is the acceptance rule).

mod basis;
mod features;
mod rarity;
mod rule;
mod sampling;
mod shingles;
mod signature;
mod sketcher;

pub use basis::Basis;
pub use features::Permutations;
pub use rarity::Rarity;
pub use rule::rule;
pub use sampling::sample;
pub use shingles::{Spread, shingles};
pub use signature::{least_difference, sign, signature_words};
pub use sketcher::{Digest, Sketcher};
