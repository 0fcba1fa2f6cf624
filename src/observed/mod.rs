//! What a report says of the inputs beside their duplicates, noted as records are read for a run: values of fields, and the
//! lines that many documents have.
//!
//! A worker notes a number for each value of a document, and of a part of the documents the lines. What is noted decides
//! nothing, and what is found of it is the same for any workers and processes.
//!
//! | file | subject |
//! |---|---|
//! | `asked` | which fields are observed |
//! | `observer` | what a worker has noted |
//! | `values` | values of a field, a number for each document |
//! | `lines` | which lines of a text count, and what each is |
//! | `sample` | the lines of a part of the documents |

mod asked;
mod lines;
mod observer;
mod sample;
mod values;

pub use asked::Observation;
pub use lines::{each_shared_line, line_identity};
pub use observer::{Observed, ObservedRecord, Observer};
pub use sample::{LineSample, SampleShare, SharedLine};
pub use values::{FieldValue, MOST_VALUES, ValueColumn};
