//! N-grams that many documents of a corpus have: sayings, laws, boilerplate. They say nothing of a benchmark.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::index::BenchmarkIndex;
use super::scan::DocumentScan;
use super::search::{CorpusSearch, RECORD};
use crate::error::Result;
use crate::lexicon::TextReader;
use crate::peers::Peers;
use crate::progress::Progress;
use crate::read::{Record, RecordRoom, Refusal};
use crate::simd::Simd;
use crate::text::{Tokenizer, Tokens};

impl BenchmarkIndex {
    /// Reads the corpus, and leaves out n-grams that stand in more documents of it than the rule allows, if it says so. All
    /// processes of a job do that before they search.
    ///
    /// # Errors
    /// Those of [`super::search()`].
    pub fn leave_out_common(&mut self, corpus: &CorpusSearch<'_>, progress: &Arc<Progress>) -> Result<()> {
        let Some(most) = self.rule.max_documents else { return Ok(()) };
        let counts: Vec<AtomicU32> = self.grams.iter().map(|_| AtomicU32::new(0)).collect();
        let survey = corpus.survey(corpus.beside(self));
        let room = survey.room(RECORD, progress)?;
        let index = &*self;
        let reader = || CountReader {
            counts: &counts,
            most,
            tokenizer: Tokenizer::new(Tokens::Words, index.rule.fold, corpus.simd),
            scan: DocumentScan::new(index),
            index,
            simd: corpus.simd,
            room: &room,
            progress,
        };
        survey.read(room.clone(), reader, progress)?;
        let counts: Vec<u32> = counts.into_iter().map(AtomicU32::into_inner).collect();
        self.common = of_all(counts, most, corpus.peers)?;
        Ok(())
    }

    /// Different n-grams that were left out as common ones.
    pub fn common_ngrams(&self) -> u64 {
        let common = (0..self.grams.len()).filter(|at| self.is_common(*at));
        common.map(|at| self.grams[at]).collect::<BTreeSet<_>>().len() as u64
    }
}

/// A bit for each n-gram that is in more than `most` documents of all processes.
fn of_all(mut counts: Vec<u32>, most: u32, peers: Option<&Peers>) -> Result<Vec<u64>> {
    let Some(peers) = peers else { return Ok(bits(&counts, most)) };
    let all: Vec<Vec<u32>> = peers.gather(&counts)?;
    if peers.mesh().process() > 0 {
        return peers.receive();
    }
    counts.fill(0);
    for of_process in all {
        counts.iter_mut().zip(of_process).for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
    let common = bits(&counts, most);
    peers.broadcast(&common)?;
    Ok(common)
}

fn bits(counts: &[u32], most: u32) -> Vec<u64> {
    let word = |counts: &[u32]| {
        (0..).zip(counts).fold(0, |word, (bit, count)| word | u64::from(*count > most) << bit)
    };
    counts.chunks(64).map(word).collect()
}

/// A worker that counts in how many documents n-grams are.
struct CountReader<'a> {
    counts: &'a [AtomicU32],
    /// More than this are many.
    most: u32,
    tokenizer: Tokenizer,
    scan: DocumentScan<'a>,
    index: &'a BenchmarkIndex,
    simd: Simd,
    room: &'a RecordRoom,
    progress: &'a Progress,
}

impl TextReader for CountReader<'_> {
    fn read(&mut self, record: &Record<'_>) -> Result<Option<Refusal>> {
        let tokens = self.tokenizer.tokens(record.text);
        let (raw, text) = (record.raw.len(), record.text.len());
        if let Some(why) = self.room.refuses(raw, text, tokens.len()) {
            self.forget();
            return Ok(Some(Refusal::NoRoom(why)));
        }
        let count = |gram: usize| {
            // How many more do not matter, and looking at a count does not take it from other workers.
            if self.counts[gram].load(Ordering::Relaxed) <= self.most {
                self.counts[gram].fetch_add(1, Ordering::Relaxed);
            }
        };
        self.scan.present(tokens, self.progress, count)?;
        if self.room.is_long(raw.max(text)) {
            self.forget();
        }
        Ok(None)
    }
}

impl CountReader<'_> {
    /// Gives back what a long record took: another worker may read one now.
    fn forget(&mut self) {
        self.tokenizer = Tokenizer::new(Tokens::Words, self.index.rule.fold, self.simd);
        self.scan = DocumentScan::new(self.index);
    }
}
