//! In how many documents terms occur: what one worker counts. What outgrows its memory goes to disk in order.

use std::path::{Path, PathBuf};

use hashbrown::HashMap;

use super::sorted::{CountMerge, CountRun, Held, Sorted, Spill};
use super::survey::TextReader;
use super::terms::Terms;
use crate::error::Result;
use crate::read::{Record, Refusal};
use crate::text::Speller;

/// Bytes that a term takes at most beside its own: its place in a table that may just have doubled, and one in the list
/// that is put in order.
const TERM: usize = 160;
/// Runs on disk that are read at one time.
const RUNS: usize = 64;

/// How often a term was met.
struct TermCount {
    /// Documents that have it.
    documents: u64,
    /// The number of the last of them.
    last: u64,
}

/// What a worker has counted.
pub(super) struct Counter {
    terms: Terms,
    speller: Speller,
    counts: HashMap<Box<str>, TermCount>,
    /// Bytes that the counts take, and may take.
    bytes: usize,
    most: usize,
    folder: PathBuf,
    spill: Option<Spill>,
    runs: Vec<CountRun>,
    /// Texts read, those without a word included.
    texts: u64,
    /// Texts without a word.
    empty: u64,
}

impl Counter {
    /// A counter that has read nothing, holds about `most` bytes, and puts what is more into files in `folder`.
    pub(super) fn new(terms: Terms, most: usize, folder: &Path) -> Counter {
        Counter {
            terms,
            speller: Speller::new(terms.fold),
            counts: HashMap::new(),
            bytes: 0,
            most,
            folder: folder.to_path_buf(),
            spill: None,
            runs: Vec::new(),
            texts: 0,
            empty: 0,
        }
    }

    /// Texts read that have a word, and those that have none.
    pub(super) fn documents(&self) -> (u64, u64) {
        (self.texts - self.empty, self.empty)
    }

    /// Puts what is held on disk.
    fn spill(&mut self) -> Result<()> {
        let mut held = self.take_held();
        if self.runs.len() == RUNS {
            let merged = self.merge_runs()?;
            self.runs.push(merged);
        }
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::new(&self.folder)?),
        };
        self.runs.push(spill.write(&mut held)?);
        Ok(())
    }

    /// All runs as one, in a new file.
    fn merge_runs(&mut self) -> Result<CountRun> {
        let runs = std::mem::take(&mut self.runs);
        let mut spill = Spill::new(&self.folder)?;
        let run = spill.write(&mut CountMerge::new(runs.into_iter().map(boxed).collect())?)?;
        self.spill = Some(spill);
        Ok(run)
    }

    fn take_held(&mut self) -> Held {
        self.bytes = 0;
        let counts = std::mem::take(&mut self.counts);
        Held::new(counts.into_iter().map(|(term, count)| (term, count.documents)).collect())
    }

    /// All that was counted.
    pub(super) fn finish(mut self) -> Vec<Box<dyn Sorted + Send>> {
        let held = boxed(self.take_held());
        self.runs.into_iter().map(boxed).chain([held]).collect()
    }
}

fn boxed(counts: impl Sorted + Send + 'static) -> Box<dyn Sorted + Send> {
    Box::new(counts)
}

impl TextReader for Counter {
    fn read(&mut self, record: &Record<'_>) -> Result<Option<Refusal>> {
        self.texts += 1;
        let Counter { terms, speller, counts, bytes, texts, .. } = self;
        let mut empty = true;
        speller.each_word(record.text, |word| {
            empty = false;
            match counts.get_mut(word) {
                Some(count) if count.last == *texts => {}
                Some(count) => *count = TermCount { documents: count.documents + 1, last: *texts },
                None if terms.has(word) => {
                    *bytes += TERM + word.len();
                    counts.insert(word.into(), TermCount { documents: 1, last: *texts });
                }
                None => {}
            }
        });
        self.empty += u64::from(empty);
        if self.bytes > self.most {
            self.spill()?;
        }
        Ok(None)
    }
}
