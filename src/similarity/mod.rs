//! The rules of pairs: resemblance and containment of sets, the filter curve and
//! choosing one; word edit distance, and kinds of duplicates.

mod acceptance_rule;
mod align;
mod cosine;
mod curve;
mod design;
mod edits;
mod kind;
mod lengths;
mod measure;
mod member_filter;
mod overlap;
mod packed_vector;
mod pair_test;
mod relation;

pub use acceptance_rule::{AcceptanceRule, Evidence};
pub use align::{Aligner, Block};
pub use cosine::{COSINE_PARTS, cosine_at_least, cosine_parts, norm, shared_weight, weight, weights_agree};
pub use curve::acceptance;
pub use design::{Design, Wish, design};
pub use edits::{Edits, edit_distance, edit_distance_at_most};
pub use kind::{Kind, Kinds, kind};
pub use lengths::lengths_agree;
pub use measure::{Measure, ReportedScores};
pub use member_filter::MemberFilter;
pub use overlap::{overlap, overlap_at_least};
pub use packed_vector::{MAX_ENTRY, PackedVector, Unpacked, VectorAgreement, pack, unpack, vectors_alike};
pub use pair_test::PairTest;
pub use relation::{Relation, Relations};
