//! What commands have in common: options made sense of, inputs, the collection, and the work itself.

pub(crate) mod against;
pub(crate) mod collection;
pub(crate) mod commit;
pub(crate) mod decontamination;
pub(crate) mod finished;
pub(crate) mod inputs;
pub(crate) mod labels;
pub(crate) mod load_report;
pub(crate) mod missing_fields;
pub(crate) mod options;
pub(crate) mod page;
pub(crate) mod recompute;
pub(crate) mod run_folder;
pub(crate) mod target;
pub(crate) mod watched;
