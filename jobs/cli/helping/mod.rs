//! What helps who types: the layout of help, and what was probably meant.

pub(super) mod help;
pub(super) mod suggestions;
