//! Tokens to keys: the first half of every method (the second is the acceptance rule).

mod basis;
mod anchors;
mod chunks;
mod cosine;
mod features;
mod fingerprint;
mod imatch;
mod packed_vector;
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

pub use basis::Basis;
pub use anchors::anchors;
pub use chunks::{line_chunks, piece_hash, sentence_chunks};
pub use cosine::{cosine_at_least, cosine_prefix, cosine_vector, norm, shared_weight, weights_agree};
pub use features::Permutations;
pub use fingerprint::fingerprint;
pub use imatch::imatch;
pub use packed_vector::{PackedVector, Unpacked, pack, unpack, vectors_alike};
pub use rarity::Rarity;
pub use rule::rule;
pub use sampling::sample;
pub use shingles::{Spread, shingles};
pub use signature::{least_difference, sign, signature_words};
pub use sketcher::{Digest, Sketcher};
pub use salient::{Term, salient, terms_of};
pub use supershingles::supershingles;
pub use term_vector::{require_room, term_vector};
pub use winnow::winnow;
