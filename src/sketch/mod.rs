//! Tokens to keys: the first half of every method (the second is the acceptance rule).

mod anchors;
mod basis;
mod chunks;
mod cosine;
mod features;
mod fingerprint;
mod imatch;
mod own;
mod rarity;
mod rule;
mod salient;
mod sampling;
mod shingles;
mod signature;
mod sketcher;
mod supershingles;
mod term_vector;
mod winnow;

pub use anchors::anchors;
pub use basis::{Basis, require_fit};
pub use chunks::{line_chunks, piece_hash, sentence_chunks};
pub use cosine::{cosine_prefix, cosine_vector};
pub use features::Permutations;
pub use fingerprint::fingerprint;
pub use imatch::imatch;
pub use rarity::Rarity;
pub use rule::rule;
pub use salient::{Term, salient, terms_of};
pub use sampling::{sample, size_group};
pub use shingles::{Spread, shingles};
pub use signature::{least_difference, sign, signature_words};
pub use sketcher::{Digest, Sketcher};
pub use supershingles::supershingles;
pub use term_vector::{require_room, term_vector};
pub use winnow::winnow;
