//! The output of a run that is served: its lists in memory, its inputs at hand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::error::{Error, Result};
use crate::method::FrozenTables;
use crate::output::{FinishedFind, FinishedRun, KnownDocuments, ListIndex};
use crate::progress::Progress;
use crate::read::Source;
use crate::report::{FinishedQuestions, NearestOutside};
use crate::scratch::Scratch;
use crate::serve::http::answer::HttpError;
use crate::serve::index::inputs::{IndexPlace, InputIndex};
use crate::serve::index::making::{Making, MakingState, OperatorLog};
use crate::serve::options::ServeOptions;
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

/// Documents of which it is remembered what is closest to them outside their clusters.
const SOUGHT: usize = 64;

/// What is closest to a document outside its cluster, when it was looked for.
pub(in crate::serve) type SoughtOutside = Arc<Making<Option<NearestOutside>>>;

impl ServedInputs {
    /// Who finds documents, all of which somebody may have seen.
    fn find<'a>(&'a self, known: Option<&'a dyn KnownDocuments>) -> FinishedFind<'a> {
        let ServedInputs { run, sources, tables, workers, simd, .. } = self;
        FinishedFind { run, sources, tables, workers: *workers, simd: *simd, known }
    }
}

/// An output that requests are answered from.
pub struct ServedRun {
    inputs: Arc<ServedInputs>,
    /// All documents of the inputs, which are read in the background.
    noted: Making<InputIndex>,
    /// Documents that all inputs were read for, by how they were asked for: the last ones.
    sought: Mutex<VecDeque<(String, SoughtOutside)>>,
    log: OperatorLog,
    figures: serde_json::Value,
    index: ListIndex,
    /// What tells the figures from those of another run.
    written: (u64, Option<SystemTime>, u64),
}

impl ServedRun {
    /// Reads figures and lists, and begins to read the inputs.
    ///
    /// # Errors
    /// [`Error::NotAnOutput`] and [`Error::Io`] of lists; [`Error::Interrupted`].
    pub fn new(inputs: ServedInputs, options: &ServeOptions, progress: &Progress) -> Result<ServedRun> {
        let written = inputs.run.written()?;
        let (figures, index) = (inputs.run.figures()?, ListIndex::new(&inputs.run, progress)?);
        let inputs = Arc::new(inputs);
        let (read, title) = (Arc::clone(&inputs), options.title_field.clone());
        let what = "the inputs of the output are not noted, and are read for each question";
        let noted = Making::start(what, Arc::clone(&options.log), move |progress| {
            let ServedInputs { run, sources, spool, workers, simd, .. } = &*read;
            let place = IndexPlace { folder: spool.path(), workers: *workers, simd: *simd };
            InputIndex::new(run, sources, &title, &place, progress)
        });
        let (sought, log) = (Mutex::default(), Arc::clone(&options.log));
        Ok(ServedRun { inputs, noted, sought, log, figures, index, written })
    }

    /// The closest document outside the cluster of one that is asked for like this, which is being looked for from now on. `start` says
    /// whether that begins if nobody has asked before.
    ///
    /// # Errors
    /// 503 while the inputs are not noted yet, or are being read for others.
    pub(in crate::serve) fn outside(
        &self,
        asked: &str,
        start: bool,
    ) -> std::result::Result<Option<SoughtOutside>, HttpError> {
        let mut sought = self.sought.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = sought.iter().find(|(name, _)| name == asked) {
            return Ok(Some(Arc::clone(known)));
        }
        if !start {
            return Ok(None);
        }
        let noted = self.noted.needed("the inputs")?;
        if sought.iter().any(|(_, sought)| matches!(sought.state(), MakingState::Making { .. })) {
            return Err(HttpError::busy(5, "another document is being held against all inputs; ask again"));
        }
        let (read, name) = (Arc::clone(&self.inputs), asked.to_owned());
        let what = "a document is not held against all inputs";
        let begun = Arc::new(Making::start(what, Arc::clone(&self.log), move |progress| {
            read.run.check_at_hand(&read.sources)?;
            let questions = FinishedQuestions { find: read.find(Some(&*noted)), progress };
            questions.nearest_outside(&name, &*noted)
        }));
        if sought.len() >= SOUGHT {
            sought.pop_front();
        }
        sought.push_back((asked.to_owned(), Arc::clone(&begun)));
        Ok(Some(begun))
    }

    /// All documents of the inputs.
    pub(in crate::serve) fn noted(&self) -> &Making<InputIndex> {
        &self.noted
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

    /// Whether several documents are known to have an id: two of clusters, or of all inputs once these are noted.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn repeats(&self, id: &str) -> Result<bool> {
        Ok(self.index.repeats(id) || self.noted.ready().map_or(Ok(false), |noted| noted.has_repeats(id))?)
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
        self.check_inputs()?;
        let noted = self.noted.ready();
        let find = self.inputs.find(noted.as_deref().map(|noted| noted as &dyn KnownDocuments));
        self.of_lists(|_| ask(&FinishedQuestions { find, progress }))
    }
}
