//! All tests of the program as a whole.

/// The map, the README and the sources against each other.
mod house;
