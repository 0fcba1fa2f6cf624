//! N-grams: which texts are looked for by them, where they stand in a document, and which stretches have enough of them.

pub(super) mod places;
pub(super) mod stretches;
pub(super) mod table;
