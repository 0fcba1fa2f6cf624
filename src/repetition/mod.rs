//! Documents that repeat themselves: the repetition measures of Gopher (Rae et al. 2021, section A.1.1 and table A1).
//!
//! Each measure is a share of one document: of its lines and paragraphs that stand in it before, of its most frequent n-gram,
//! and of its n-grams that occur more than once. A document goes if one of them is over its limit. Nothing is compared
//! between documents, so that what is found of a document depends on its text only.
//!
//! | file | subject |
//! |---|---|
//! | `measures` | the measures, and their limits |
//! | `meter` | the measures of a text |
//! | `grams` | which n-grams of a text occur more than once |
//! | `find` | the inputs read once by all workers |
//! | `report` | what was found, as rows and figures |

mod find;
mod grams;
mod measures;
mod meter;
mod report;

pub use find::{
    FoundRepetition, RepeatingDocument, RepetitionRequest, RepetitionTally, assist_repetition,
    find_repetition,
};
pub use measures::{RepetitionLimits, RepetitionMeasure};
pub use meter::{RepetitionMeter, RepetitionShares};
pub use report::{LimitRow, RepetitionReport, write_rows};
