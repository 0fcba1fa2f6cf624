//! What a run leaves behind: a folder that appears whole or not at all ([`Staging`]), in it the inputs without
//! the removed records, or these alone ([`write_kept`], of a collection [`crate::collection::Export`]), what was found as rows of JSON ([`Rows`]) and what the run did
//! ([`Summary`], which [`render`] makes readable). A [`Chart`] shows
//! curves.

mod chosen;
#[cfg(feature = "parquet")]
mod columns;
mod figures;
mod finished;
mod forms;
mod hands;
mod kept;
mod kinds;
mod list_file;
mod lists;
mod members;
mod render;
mod rows;
mod staging;
mod summary;
mod svg;
mod undecodable;

pub use chosen::{Chosen, LeftOut, Side};
pub use figures::count;
pub(crate) use figures::{percent, size};
pub use finished::{
    Decided, FinishedCluster, FinishedDocument, FinishedFind, FinishedMember, FinishedRun, InputRow,
    KnownDocument, KnownDocuments, MOST_OF_ID, PassSink, PlaceInFile, PlaceKind, ProtectedInput, RunRecord,
    fields_of, read_all, unit_bytes, write_inputs,
};
#[cfg(feature = "serve")]
pub use finished::{ListIndex, ListedCluster, ListedDocument, ListedOrder};
pub use forms::{
    CutFile, CutWriter, FormChoice, FormPlan, NoteFile, RecordForm, RecordObjects, RecordSet, TextChange,
    assist_records, write_cut_records, write_records,
};
pub use hands::Hands;
pub use kept::{KeptTally, Packer, assist_kept, write_kept};
pub use kinds::{KindRow, KindTable};
pub use list_file::ListForm;
pub use lists::{ListChoice, Lists, against_figures, left_out, summarise};
pub use members::{measured_scores, shown_scores};
pub use render::{examples, render, skipped_files, warnings};
pub(crate) use rows::FindingWriter;
pub use rows::{
    AgainstRow, AssignmentRow, ClusterRow, DocumentFinding, DuplicateRow, FindingFiles, LeftOutRow, PairRow,
    RejectedRow, Rows,
};
pub use staging::Staging;
pub use summary::{AgainstFigures, CommonShingles, InputFigures, Skipped, StageSeconds, Summary};
pub use svg::Chart;
pub use undecodable::refuse_undecodable;
