//! Commands that change a collection, or look at it as a whole.

pub(super) mod compact;
pub(super) mod delete;
pub(super) mod fsck;
pub(super) mod info;
pub(super) mod load;
pub(super) mod stats;
