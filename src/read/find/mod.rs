//! Finding the input: arguments to sources, each with a format and a name.

mod discover;
mod foreign;
mod names;
mod objects;
mod recognise;
mod spool;

pub use discover::{Discovery, discover, discover_as};
pub use names::names_apart;
