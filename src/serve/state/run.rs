//! The output of a run that is served: its lists in memory, its inputs at hand.

use std::time::SystemTime;

use crate::error::{Error, Result};
use crate::method::FrozenTables;
use crate::output::{FinishedFind, FinishedRun, ListIndex};
use crate::progress::Progress;
use crate::read::Source;
use crate::report::FinishedQuestions;
use crate::scratch::Scratch;
use crate::simd::Simd;

/// An output of `dedup` that is to be served, with all that its questions take.
pub struct ServedInputs {
    /// The run.
    pub run: FinishedRun,
    /// Its inputs, as they were found again, protected ones first.
    pub sources: Vec<Source>,
    /// What texts are sketched by.
    pub tables: FrozenTables,
    /// Where inputs lie that could not be read where they are. It goes with the server.
    pub spool: Scratch,
    /// Threads of a question.
    pub workers: usize,
    /// Vector instructions.
    pub simd: Simd,
}

/// An output that requests are answered from.
pub struct ServedRun {
    inputs: ServedInputs,
    figures: serde_json::Value,
    index: ListIndex,
    /// What tells the figures from those of another run.
    written: (u64, Option<SystemTime>, u64),
}

impl ServedRun {
    /// Reads figures and lists.
    ///
    /// # Errors
    /// [`Error::NotAnOutput`] and [`Error::Io`] of lists; [`Error::Interrupted`].
    pub fn new(inputs: ServedInputs, progress: &Progress) -> Result<ServedRun> {
        let written = inputs.run.written()?;
        let (figures, index) = (inputs.run.figures()?, ListIndex::new(&inputs.run, progress)?);
        Ok(ServedRun { inputs, figures, index, written })
    }

    /// The run.
    pub fn run(&self) -> &FinishedRun {
        &self.inputs.run
    }

    /// What `summary.json` says.
    pub fn figures(&self) -> &serde_json::Value {
        &self.figures
    }

    /// A count among the figures.
    pub fn count(&self, name: &str) -> u64 {
        self.figures[name].as_u64().unwrap_or_default()
    }

    /// Its clusters and the documents in them.
    pub fn index(&self) -> &ListIndex {
        &self.index
    }

    /// Whether the folder is the one that was opened.
    ///
    /// # Errors
    /// [`Error::NotAnOutput`] if it is another one; [`Error::Io`].
    pub fn check(&self) -> Result<()> {
        if self.inputs.run.written()? == self.written {
            return Ok(());
        }
        let why = "it was written anew since it was opened".to_owned();
        Err(Error::NotAnOutput(self.inputs.run.path.clone(), why))
    }

    /// Refuses inputs that are gone or were written to.
    ///
    /// # Errors
    /// [`Error::InputGone`].
    pub fn check_inputs(&self) -> Result<()> {
        self.inputs.run.check_at_hand(&self.inputs.sources)
    }

    /// Has something read of the lists, which are those that were opened before and behind that.
    ///
    /// # Errors
    /// Those of [`ServedRun::check`], and what `read` gives.
    pub fn of_lists<T>(&self, read: impl FnOnce(&FinishedRun) -> Result<T>) -> Result<T> {
        self.check()?;
        let found = read(&self.inputs.run)?;
        self.check().map(|()| found)
    }

    /// Has questions answered, if lists and inputs are as they were.
    ///
    /// # Errors
    /// [`Error::InputGone`], those of [`ServedRun::check`], and what `ask` gives.
    pub fn ask<T>(
        &self,
        progress: &Progress,
        ask: impl FnOnce(&FinishedQuestions<'_>) -> Result<T>,
    ) -> Result<T> {
        let ServedInputs { run, sources, tables, workers, simd, .. } = &self.inputs;
        self.check_inputs()?;
        let find = FinishedFind { run, sources, tables, workers: *workers, simd: *simd };
        self.of_lists(|_| ask(&FinishedQuestions { find, progress }))
    }
}
