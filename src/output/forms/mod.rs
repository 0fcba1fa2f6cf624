//! The forms that records are written in: that of their inputs, or one for all of them. What is to be said of each record may
//! be said with it, and stretches of its text may be cut out. An encoder writes records in one form; everything else is the same for all forms.

mod cuts;
mod encoders;
mod form;
#[cfg(feature = "parquet")]
mod leaves;
mod lines;
mod names;
mod notes;
mod objects;
mod plan;
mod selection;
mod shards;
#[cfg(feature = "parquet")]
mod tables;
mod taker;
mod write;

#[cfg(test)]
mod cut_tests;

pub use cuts::{CutFile, CutWriter};
pub use form::{FormChoice, RecordForm, TextChange};
pub use notes::NoteFile;
pub use objects::RecordObjects;
pub use plan::FormPlan;
pub use write::{RecordSet, assist_records, write_cut_records, write_records};
