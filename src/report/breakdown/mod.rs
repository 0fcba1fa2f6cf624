//! What is lost of which part of the inputs, and what their documents have in common beside being alike.
//!
//! | file | subject |
//! |---|---|
//! | `sources` | files and folders |
//! | `fields` | values of fields, and months |
//! | `passages` | lines that many documents have |
//! | `shown` | all that on the page |

mod fields;
mod passages;
mod shown;
mod sources;

pub use fields::{FieldLoss, LossCount, ValueLoss};
pub use passages::{SharedPassage, SharedPassages};
pub use sources::{SourceLoss, SourceMatrix};

pub(super) use fields::field_losses;
pub(super) use passages::PassagesSought;
pub(super) use shown::{fields_part, passages_part, sources_part};
pub(super) use sources::sources;
