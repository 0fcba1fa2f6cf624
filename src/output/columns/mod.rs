//! Parquet files without the removed rows. Row groups that lose nothing are copied as they are encoded; of the others all
//! columns are written anew, as the file has them, whatever they hold. A row group is written to a file of its own first, so
//! that workers share them, and so that copying is all it takes to put a file together.

mod encode;
mod failure;
mod groups;
mod parts;
mod properties;

pub(super) use parts::KeptColumns;
