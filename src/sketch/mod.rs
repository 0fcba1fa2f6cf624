//! Tokens to keys: the first half of every method (the second is the acceptance rule).

mod features;
mod rarity;
mod sampling;
mod shingles;
mod signature;
mod sketcher;

pub use features::Permutations;
pub use rarity::Rarity;
pub use sampling::sample;
pub use shingles::{Spread, shingles};
pub use signature::{least_difference, sign, signature_words};
pub use sketcher::{Digest, Sketcher, rule};
