//! Parquet files without the removed rows. Row groups that lose nothing are copied as they are encoded; of the others all
//! columns are written anew, as the file has them, whatever they hold. A row group is written to a file of its own first, so
//! that workers share them, and so that copying is all it takes to put a file together.
//!
//! Also files with more columns, tables of what is known of records, and rows of another format with the columns that they have.

mod annotated;
mod batches;
mod borders;
mod dictionaries;
mod divided;
mod encode;
mod failure;
mod groups;
mod leaves;
mod parts;
mod properties;
mod table;

pub(super) use annotated::AddedColumns;
pub(super) use borders::group_bytes;
pub(super) use divided::{Targets, write_divided};
pub(super) use leaves::LeafFile;
pub(super) use parts::KeptColumns;
pub(super) use table::{CellKind, HeldCells, TableCell, TableColumn, TableFile};
