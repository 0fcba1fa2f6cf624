//! Words in canonical form: what is left out, stems, and texts cut into sentences and lines.

pub(in crate::text) mod filter;
pub(in crate::text) mod options;
pub(in crate::text) mod pieces;
pub(in crate::text) mod spelt;
pub(in crate::text) mod stems;
pub(in crate::text) mod stop_words;
pub(in crate::text) mod words;
