//! What is served: a commit of a collection, kept up to date, or an output, with what answers need of it; changes; and the
//! threads that all this runs on.

pub(in crate::serve) mod commit;
pub(in crate::serve) mod remembered;
pub(in crate::serve) mod run;
pub(in crate::serve) mod served;
pub(in crate::serve) mod threads;
pub(in crate::serve) mod together;
pub(in crate::serve) mod verdicts;
pub(in crate::serve) mod write;
