//! What people and programs see of a job, and Ctrl-C.

pub(crate) mod data;
pub(crate) mod display;
pub(crate) mod epochs;
pub(crate) mod escape;
pub(crate) mod glance;
pub(crate) mod interrupt;
pub(crate) mod launched;
pub(crate) mod new_file;
pub(crate) mod reporter;
pub(crate) mod side_by_side;
pub(crate) mod stderr;
pub(crate) mod stdout;
pub(crate) mod summary;
pub(crate) mod words;
