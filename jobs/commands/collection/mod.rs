//! Commands that change a collection, or look at it as a whole.

pub(super) mod compact;
pub(super) mod copy;
pub(super) mod delete;
pub(super) mod fsck;
pub(super) mod info;
mod left_out;
pub(super) mod load;
mod load_lists;
pub(super) mod rollback;
pub(super) mod serve;
pub(super) mod stats;
mod waiting;
