//! Text from the user's files made harmless for a terminal, as the library does it.

pub(crate) use alike::printable::{json_escaped, printable as sanitize};
