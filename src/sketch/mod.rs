//! What the sketches of methods are made of: shingles, min-wise values, terms; and how they are compared quickly.

mod frequencies;
mod minwise;
mod posting_key;
mod rarity;
mod sampling;
mod shingles;
mod signature;
mod terms;

pub use frequencies::Frequencies;
pub use minwise::Permutations;
pub use posting_key::{both_keys, indexes, indexing_key, spread};
pub use rarity::Rarity;
pub use sampling::{Sampling, Shingles, sample, size_group};
pub use shingles::{Spread, shingles, shingles_by};
pub(crate) use shingles::{finish, whole};
pub use signature::{may_differ_by, sign, signature_words};
pub use terms::{Term, TermFinder, length_of, terms_of};
