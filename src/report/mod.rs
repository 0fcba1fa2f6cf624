//! A report on a run: one page of HTML for people who want to look before they delete.
//!
//! The page needs no network and no script, and is the same for the same documents and configuration: neither times nor
//! memory, workers nor processes are on it. Every chart is an SVG picture with its numbers as a table beneath.
//!
//! | file | subject |
//! |---|---|
//! | `facts` | all that the page says, as values |
//! | `clusters` | which clusters are shown, and sizes of all |
//! | `breakdown` | what sources and values of fields lose, and which passages are shared |
//! | `scores` | how alike removed documents and pairs are |
//! | `thresholds` | what other thresholds come to |
//! | `glance` | what the terminal shows when a run ends |
//! | `excerpts` | texts of what is shown, read again |
//! | `chart` | pictures |
//! | `finished` | questions about runs that have ended |
//! | `page`, `sections`, `documents`, `parts`, `words` | the page |

mod breakdown;
mod chart;
mod clusters;
mod documents;
mod excerpts;
mod facts;
mod finished;
mod glance;
mod page;
mod parts;
mod scores;
mod sections;
mod thresholds;
mod words;

pub use breakdown::{
    FieldLoss, LossCount, SharedPassage, SharedPassages, SourceLoss, SourceMatrix, ValueLoss,
};
pub use clusters::{ClusterShown, SizeBucket};
pub use excerpts::{DocumentShown, PairShown};
pub use facts::{ReportRequest, RunReport};
pub use finished::{ClusterMembers, FinishedQuestions, MemberAsked, MemberPage};
#[cfg(feature = "serve")]
pub use finished::{NearestOutside, lowest_threshold};
pub use glance::Glance;
pub use page::ReportFile;
pub use scores::{Histogram, SCORE_BINS};
pub use thresholds::OtherThresholds;

#[cfg(feature = "serve")]
pub(crate) use self::{
    parts::{number, size_figure, table},
    words::{diff_side, diff_told},
};
