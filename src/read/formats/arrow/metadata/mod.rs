//! What a file says of its columns and batches: held against its size and the limits before anything is made of it.

pub(in crate::read::formats::arrow) mod carried;
pub(in crate::read::formats::arrow) mod flat;
pub(in crate::read::formats::arrow) mod layout;
pub(in crate::read::formats::arrow) mod letters;
pub(in crate::read::formats::arrow) mod message;
pub(in crate::read::formats::arrow) mod schema;
