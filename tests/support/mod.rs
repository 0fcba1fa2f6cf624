//! What the tests share: no test is in here.

/// Source files as the compiler sees them: modules, what they declare, and what they name.
pub(crate) mod sources;
