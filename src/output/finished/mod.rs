//! Output folders of `dedup`, asked afterwards: what was read to write one, whether that is still there, the lists in it, and
//! single documents of the inputs.

mod document;
mod find;
mod folder;
#[cfg(feature = "serve")]
mod index;
mod known;
mod lists;
mod pass;
mod record;

pub use document::{Decided, FinishedDocument, KnownDocument, KnownDocuments, PlaceInFile, PlaceKind};
pub use find::{FinishedFind, MOST_OF_ID, fields_of, unit_bytes};
pub use folder::FinishedRun;
#[cfg(feature = "serve")]
pub use index::{ListIndex, ListedCluster, ListedDocument, ListedOrder};
pub use lists::{FinishedCluster, FinishedMember};
pub use pass::{PassSink, read_all};
pub use record::{InputRow, ProtectedInput, RunRecord, write_inputs};
