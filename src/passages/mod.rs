//! Passages that are repeated within and between documents: lines, paragraphs, runs of sentences, runs of words.
//!
//! A *piece* is a line, a paragraph, a sentence or a word; a run of so many pieces that occurs twice or more is repeated. Two
//! runs are the same if their words are, by a 64-bit hash of their tokens. The first in the order of the input counts as the
//! original. Each run found is a row (identity, document, place). Rows are sorted by identity, in runs on disk where they do
//! not fit in memory; each range of identities is merged by one worker, over all processes. What occurs more than once is
//! sorted again, by place, and read in that order: so no table is held, and texts are read once.
//!
//! | file | subject |
//! |---|---|
//! | `unit` | what counts as a passage |
//! | `pieces` | texts cut into pieces, and runs of them |
//! | `sorter`, `runs`, `merge` | rows put in order: held, on disk, merged |
//! | `remote_rows`, `exchange` | rows of other processes, and for them |
//! | `find` | the way of a run |
//! | `repeats` | what repeats in the order of the input |
//! | `excerpts` | what passages say |

mod excerpts;
mod exchange;
mod find;
mod merge;
mod pieces;
mod remote_rows;
mod repeats;
mod runs;
mod sorter;
mod unit;

pub use excerpts::Passage;
pub use find::{FoundPassages, PassageRequest, PassageTally, assist_passages, find_passages};
pub(crate) use pieces::{WordSum, each_start};
pub use repeats::RepeatTally;
#[cfg(feature = "serve")]
pub(crate) use runs::{RowReader, SortedRun};
#[cfg(feature = "serve")]
pub(crate) use sorter::{RowSorter, one_run};
pub use unit::PassageUnit;
pub(crate) use unit::PieceKind;
