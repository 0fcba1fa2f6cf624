//! The corpus read once by all workers, each document held against the index.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::found::{DocumentFindings, TextPlaces};
use super::hits::ContaminatedDocument;
use super::index::BenchmarkIndex;
use super::scan::DocumentScan;
use crate::error::Result;
use crate::lexicon::{ONLY_SURVEY, Survey, TextReader};
use crate::output::{CutFile, CutWriter, FindingFiles, FindingWriter, LeftOut};
use crate::peers::Peers;
use crate::progress::Progress;
use crate::read::{Input, Record, RecordCost, RecordRoom, Refusal, Refused, Rejected, RunInputs, Source};
use crate::simd::Simd;
use crate::text::{Tokenizer, Tokens};

/// What a record takes: its line and its text, and for each token itself, its n-gram, the chain of that, and where n-grams of a
/// text stand, in lists that grow.
pub(super) const RECORD: RecordCost = RecordCost { token: 80, bytes_of_token: 6 };

/// What is searched, and by whom.
#[derive(Clone, Copy)]
pub struct CorpusSearch<'a> {
    /// The corpus, in document order.
    pub sources: &'a [Source],
    /// Where id and text stand in a record.
    pub input: &'a Input,
    /// Threads of this process.
    pub workers: usize,
    /// Vector instructions to use.
    pub simd: Simd,
    /// Bytes of memory that this process may use, the index among them.
    pub memory: Option<u64>,
    /// The other processes of the job, if there are any.
    pub peers: Option<&'a Peers>,
    /// Where what is found is kept, in a folder that all processes see; nothing but counts is kept without it.
    pub folder: Option<&'a Path>,
}

impl<'a> CorpusSearch<'a> {
    /// Bytes of the memory that the corpus is read beside: as many whenever it is, so that what has no room has none each time.
    pub(super) fn beside(&self, index: &BenchmarkIndex) -> u64 {
        // Each worker has its own bits of n-grams that stand in a document; process 0 has those of all, as they come and as they are.
        let processes = self.peers.map_or(0, |peers| peers.mesh().processes());
        let bits = present_words(index) * 8 * (self.workers + 1 + 2 * processes);
        index.bytes() + bits as u64 + index.bytes_to_count()
    }

    /// Who reads the corpus, once, beside so many bytes of the memory: every process asks as often.
    pub(super) fn survey(&self, beside: u64) -> Survey<'a> {
        Survey {
            sources: self.sources,
            input: self.input,
            workers: self.workers,
            memory: self.memory.map(|memory| memory.saturating_sub(beside)),
            mesh: self.peers.map(Peers::mesh),
            counter: self.peers.map_or(ONLY_SURVEY, Peers::next_list),
        }
    }
}

/// What was counted in a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorpusTally {
    /// Documents.
    pub documents: u64,
    /// Those without any word.
    pub empty: u64,
    /// Bytes of their texts.
    pub text_bytes: u64,
    /// Documents that a text of a benchmark stands in.
    pub contaminated: u64,
    /// Those of which nothing but blanks is left without what stands in them.
    pub emptied: u64,
    /// Stretches of documents that a text stands in, counted for each text.
    pub passages: u64,
    /// Texts that stand in documents, and are not listed as so many stand there.
    pub unlisted: u64,
    /// For each benchmark, documents with a text of it.
    pub documents_of: Vec<u64>,
    /// Texts that were found, a bit each.
    found: Vec<u64>,
    /// N-grams of texts that stand in a document, a bit each, where shares of items are told.
    present: Vec<u64>,
}

impl CorpusTally {
    fn new(index: &BenchmarkIndex) -> CorpusTally {
        CorpusTally {
            documents_of: vec![0; index.counts.len()],
            found: vec![0; index.texts.len().div_ceil(64)],
            present: vec![0; present_words(index)],
            ..CorpusTally::default()
        }
    }

    fn add(&mut self, other: &CorpusTally) {
        self.documents += other.documents;
        self.empty += other.empty;
        self.text_bytes += other.text_bytes;
        self.contaminated += other.contaminated;
        self.emptied += other.emptied;
        self.passages += other.passages;
        self.unlisted += other.unlisted;
        self.documents_of.iter_mut().zip(&other.documents_of).for_each(|(sum, more)| *sum += more);
        self.found.iter_mut().zip(&other.found).for_each(|(all, more)| *all |= more);
        self.present.iter_mut().zip(&other.present).for_each(|(all, more)| *all |= more);
    }

    /// N-grams of texts that stand in a document, a bit each; `None` where shares of items are not told.
    pub(super) fn present(&self, index: &BenchmarkIndex) -> Option<&[u64]> {
        index.rule.shares.then_some(&self.present)
    }

    /// For each benchmark, how many of its items stand in a document.
    pub fn items_found(&self, index: &BenchmarkIndex) -> Vec<u64> {
        let mut is_found = vec![false; index.items.len()];
        for text in 0..index.texts.len() {
            if self.found[text / 64] >> (text % 64) & 1 == 1 {
                index.owners(text).iter().for_each(|owner| is_found[owner.item as usize] = true);
            }
        }
        let mut counts = vec![0; index.counts.len()];
        let found = index.items.iter().zip(is_found).filter(|(_, found)| *found);
        found.for_each(|(item, _)| counts[item.benchmark as usize] += 1);
        counts
    }
}

/// Words with a bit for each n-gram of all texts, where shares of items are told.
fn present_words(index: &BenchmarkIndex) -> usize {
    if index.rule.shares { index.grams.len().div_ceil(64) } else { 0 }
}

/// What came of a search.
pub struct CorpusFindings {
    /// What was counted.
    pub tally: CorpusTally,
    /// The documents that something was found in, if they are kept.
    pub hits: Option<FindingFiles<ContaminatedDocument>>,
    /// Records of the corpus that could not be used.
    pub refused: Vec<Rejected>,
    /// The same, as they were found.
    pub refusals: Vec<Refused>,
    /// The corpus, whose lines are known now.
    pub inputs: RunInputs,
}

impl CorpusFindings {
    /// What is not kept: the documents that something was found in.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn contaminated(&self) -> Result<LeftOut> {
        let sources = self.inputs.sources.len();
        let none = || Ok(LeftOut::nothing(sources));
        self.hits.as_ref().map_or_else(none, |hits| hits.offsets(sources).map(LeftOut::new))
    }

    /// The passages of all documents, for whoever cuts them out or marks them: a file in `folder`.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn cuts(&self, folder: &Path) -> Result<CutFile> {
        let mut cuts = CutWriter::new(folder)?;
        if let Some(hits) = &self.hits {
            hits.each(&mut |document| {
                let bytes = |[start, end]: &[u64; 2]| *start as usize..*end as usize;
                cuts.push(document.position, &document.stretches.iter().map(bytes).collect::<Vec<_>>())
            })?;
        }
        cuts.finish(self.inputs.sources.len())
    }
}

/// Searches a corpus: where this process is alone, or process 0; the others [`assist_search`].
///
/// # Errors
/// [`Interrupted`](crate::error::Error::Interrupted), [`Io`](crate::error::Error::Io) of a file of what was found,
/// [`Config`](crate::error::Error::Config) of a field that is none, and what is wrong with other processes.
pub fn search(
    index: &BenchmarkIndex,
    corpus: &CorpusSearch<'_>,
    progress: &Arc<Progress>,
) -> Result<CorpusFindings> {
    let process = corpus.peers.map_or(0, |peers| peers.mesh().process());
    let next = AtomicUsize::new(0);
    let survey = corpus.survey(corpus.beside(index));
    let room = survey.room(RECORD, progress)?;
    let reader = || {
        let who = (process, next.fetch_add(1, Ordering::Relaxed));
        CorpusReader::new(index, corpus, who, (&room, progress))
    };
    let surveyed = survey.read(room.clone(), reader, progress)?;
    let mut tally = CorpusTally::new(index);
    for reader in surveyed.readers {
        tally.add(&reader.finish()?);
    }
    if let Some(peers) = corpus.peers {
        let all = peers.gather(&tally)?;
        if process == 0 {
            tally = CorpusTally::new(index);
            all.iter().for_each(|of_process| tally.add(of_process));
        }
    }
    let is_there = corpus.folder.filter(|_| process == 0);
    let hits = is_there.map(FindingFiles::of).transpose()?;
    let (refused, refusals, inputs) = (surveyed.refused, surveyed.refusals, surveyed.inputs);
    Ok(CorpusFindings { tally, hits, refused, refusals, inputs })
}

/// Takes part in what process 0 [`search`]es.
///
/// # Errors
/// Those of [`search`].
pub fn assist_search(
    index: &BenchmarkIndex,
    corpus: &CorpusSearch<'_>,
    progress: &Arc<Progress>,
) -> Result<RunInputs> {
    search(index, corpus, progress).map(|found| found.inputs)
}

/// A worker that holds documents against the index.
struct CorpusReader<'a> {
    index: &'a BenchmarkIndex,
    simd: Simd,
    tokenizer: Tokenizer,
    scan: DocumentScan<'a>,
    /// What was found in the present document.
    found: DocumentFindings,
    places: TextPlaces,
    tally: CorpusTally,
    /// The folder, and who this is; a file is created for the first document that it is needed for.
    place: Option<(&'a Path, (usize, usize))>,
    file: Option<FindingWriter>,
    /// Of each benchmark, the last document with a text of it.
    last: Vec<u64>,
    room: &'a RecordRoom,
    progress: &'a Progress,
}

impl<'a> CorpusReader<'a> {
    fn new(
        index: &'a BenchmarkIndex,
        corpus: &CorpusSearch<'a>,
        who: (usize, usize),
        (room, progress): (&'a RecordRoom, &'a Progress),
    ) -> CorpusReader<'a> {
        CorpusReader {
            index,
            simd: corpus.simd,
            tokenizer: Tokenizer::new(Tokens::Words, index.rule.fold, corpus.simd),
            scan: DocumentScan::new(index),
            found: DocumentFindings::default(),
            places: TextPlaces::new(index.rule.fold),
            tally: CorpusTally::new(index),
            place: corpus.folder.map(|folder| (folder, who)),
            file: None,
            last: vec![0; index.counts.len()],
            room,
            progress,
        }
    }

    fn finish(self) -> Result<CorpusTally> {
        self.file.map_or(Ok(()), FindingWriter::finish)?;
        Ok(self.tally)
    }

    /// Gives back what a long record took: another worker may read one now.
    fn forget(&mut self) {
        let index = self.index;
        self.tokenizer = Tokenizer::new(Tokens::Words, index.rule.fold, self.simd);
        self.scan = DocumentScan::new(index);
        self.found = DocumentFindings::default();
        self.places = TextPlaces::new(index.rule.fold);
    }

    /// Counts a document in which something was found, and keeps it.
    fn keep(&mut self, record: &Record<'_>) -> Result<()> {
        let stretches = self.found.stretches();
        let listed = self.found.listed(self.index);
        let tokens = listed.iter().map(|item| (item.first, item.end)).chain(stretches.iter().copied());
        self.places.find(record.text, tokens);
        let stretches = self.places.merged(&stretches);
        let stretches = match self.index.rule.cut {
            Some(cut) => cut.cut(record.text, &stretches),
            None => stretches,
        };
        let (end, mut from) = (record.text.len() as u64, 0);
        let is_empty = stretches.iter().chain(&[[end, end]]).all(|[start, end]| {
            let between = &record.text[from as usize..*start as usize];
            from = *end;
            between.trim().is_empty()
        });
        let unlisted = self.found.texts() - listed.len() as u64;
        let tally = &mut self.tally;
        tally.contaminated += 1;
        tally.emptied += u64::from(is_empty);
        tally.passages += self.found.passages();
        tally.unlisted += unlisted;
        let Some((folder, (process, worker))) = self.place else { return Ok(()) };
        let items = listed.iter().map(|item| self.places.passage(record.text, item)).collect();
        let id = record.id.as_ref().map(ToString::to_string);
        let (position, line) = (record.position, record.line);
        let document = ContaminatedDocument { position, line, id, items, unlisted, stretches };
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(FindingWriter::create(folder, process, worker)?),
        };
        file.write(&document)
    }
}

impl TextReader for CorpusReader<'_> {
    fn read(&mut self, record: &Record<'_>) -> Result<Option<Refusal>> {
        let tokens = self.tokenizer.tokens(record.text);
        let (raw, text) = (record.raw.len(), record.text.len());
        if let Some(why) = self.room.refuses(raw, text, tokens.len()) {
            self.forget();
            return Ok(Some(Refusal::NoRoom(why)));
        }
        self.tally.documents += 1;
        self.tally.text_bytes += text as u64;
        self.tally.empty += u64::from(tokens.is_empty());
        let CorpusReader { index, found, tally, last, .. } = self;
        found.clear();
        // Benchmarks of which no text was found yet.
        let mut others = last.len();
        self.scan.scan(tokens, self.progress, |text, stretches, standing| {
            let ngram = index.texts[text as usize].ngram as u32;
            if index.rule.shares {
                let first = index.first_gram(text as usize);
                for gram in standing.iter().map(|gram| first + gram.gram as usize) {
                    tally.present[gram / 64] |= 1 << (gram % 64);
                }
            }
            found.add(text, stretches, ngram, tokens.len(), index);
            tally.found[text as usize / 64] |= 1 << (text % 64);
            let owners = if others > 0 { index.owners(text as usize) } else { &[] };
            for owner in owners {
                let benchmark = index.items[owner.item as usize].benchmark as usize;
                if last[benchmark] < tally.documents {
                    last[benchmark] = tally.documents;
                    tally.documents_of[benchmark] += 1;
                    others -= 1;
                }
            }
        })?;
        let kept = if self.found.texts() == 0 { Ok(()) } else { self.keep(record) };
        if self.room.is_long(raw.max(text)) {
            self.forget();
        }
        kept.map(|()| None)
    }
}
