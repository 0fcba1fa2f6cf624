//! Data on standard output: rows and objects, in the form that was asked for.

pub(crate) mod object;
pub(crate) mod rows;
pub(crate) mod table;
