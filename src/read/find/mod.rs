//! Finding the input: arguments to sources, each with a format and a name.

mod discover;
mod foreign;
mod gathering;
mod names;
mod objects;
mod pattern;
mod recognise;
mod spool;
mod unfold;

pub use discover::{discover, discover_as};
pub(super) use foreign::Foreign;
pub use gathering::{Discovery, NO_DOCUMENTS};
pub use names::names_apart;
pub(crate) use spool::STDIN;
