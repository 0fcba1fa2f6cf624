//! The processes that `alike launch` starts: their command lines, their output, and how they end.

pub(crate) mod child;
pub(crate) mod command;
pub(crate) mod ends;
mod errors;
mod merged;
pub(crate) mod output;
pub(crate) mod watch;
