//! What is served: a commit with what answers need of it, kept up to date; changes; and the threads that all this runs on.

pub(in crate::serve) mod commit;
pub(in crate::serve) mod remembered;
pub(in crate::serve) mod served;
pub(in crate::serve) mod threads;
pub(in crate::serve) mod write;
