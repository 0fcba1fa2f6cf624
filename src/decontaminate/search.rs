//! The corpus read once by all workers, each document held against the index.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::hits::{ContaminatedDocument, HitWriter, Hits, ItemPassage};
use super::index::BenchmarkIndex;
use super::scan::DocumentScan;
use crate::error::Result;
use crate::lexicon::{Survey, TextReader};
use crate::output::{CutFile, CutWriter};
use crate::peers::Peers;
use crate::progress::Progress;
use crate::read::{Input, Record, Refusal, Refused, Rejected, RunInputs, Source};
use crate::simd::Simd;
use crate::text::{Fold, PlacedWords, Tokenizer, Tokens};

/// Most bytes of an excerpt.
const EXCERPT: usize = 400;

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
    /// The other processes of the job, if there are any.
    pub peers: Option<&'a Peers>,
    /// Where what is found is kept, in a folder that all processes see; nothing but counts is kept without it.
    pub folder: Option<&'a Path>,
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
    /// Stretches of documents that one stands in.
    pub passages: u64,
    /// For each benchmark, documents with a text of it.
    pub documents_of: Vec<u64>,
    /// Texts that were found, a bit each.
    found: Vec<u64>,
}

impl CorpusTally {
    fn new(index: &BenchmarkIndex) -> CorpusTally {
        CorpusTally {
            documents_of: vec![0; index.counts.len()],
            found: vec![0; index.texts.len().div_ceil(64)],
            ..CorpusTally::default()
        }
    }

    fn add(&mut self, other: &CorpusTally) {
        self.documents += other.documents;
        self.empty += other.empty;
        self.text_bytes += other.text_bytes;
        self.contaminated += other.contaminated;
        self.passages += other.passages;
        self.documents_of.iter_mut().zip(&other.documents_of).for_each(|(sum, more)| *sum += more);
        self.found.iter_mut().zip(&other.found).for_each(|(all, more)| *all |= more);
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

/// What came of a search.
pub struct CorpusFindings {
    /// What was counted.
    pub tally: CorpusTally,
    /// The documents that something was found in, if they are kept.
    pub hits: Option<Hits>,
    /// Records of the corpus that could not be used.
    pub refused: Vec<Rejected>,
    /// The same, as they were found.
    pub refusals: Vec<Refused>,
    /// The corpus, whose lines are known now.
    pub inputs: RunInputs,
}

impl CorpusFindings {
    /// The offsets of the documents that something was found in, for each source, ascending.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn contaminated(&self) -> Result<Vec<Vec<u64>>> {
        let mut offsets = vec![Vec::new(); self.inputs.sources.len()];
        let Some(hits) = &self.hits else { return Ok(offsets) };
        hits.each(&mut |document| {
            offsets[document.position.file() as usize].push(document.position.offset());
            Ok(())
        })?;
        Ok(offsets)
    }

    /// The passages of all documents, for whoever cuts them out or marks them: a file in `folder`.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn cuts(&self, folder: &Path) -> Result<CutFile> {
        let mut cuts = CutWriter::new(folder)?;
        if let Some(hits) = &self.hits {
            hits.each(&mut |document| cuts.push(document.position, &merged(&document.passages)))?;
        }
        cuts.finish(self.inputs.sources.len())
    }

    /// Adds to such offsets those of what is no document, which is not kept either; rows that cannot be read are only left
    /// out where `rows_too` says so. Beside it, for a source that could only be read to some offset, that offset.
    pub fn without_refused(
        &self,
        mut offsets: Vec<Vec<u64>>,
        rows_too: bool,
    ) -> (Vec<Vec<u64>>, Vec<Option<u64>>) {
        let mut ends = vec![None; offsets.len()];
        for Refused { position, refusal, .. } in &self.refusals {
            let file = position.file() as usize;
            match refusal {
                // What holds no text is no mistake: it stays.
                Refusal::NoTextIn(_) => {}
                Refusal::Rows { rows, .. } if rows_too => {
                    offsets[file].extend(position.offset()..position.offset() + rows);
                }
                Refusal::Rows { .. } => {}
                refusal if refusal.ends_file() => ends[file] = Some(position.offset()),
                _ => offsets[file].push(position.offset()),
            }
        }
        offsets.iter_mut().for_each(|offsets| offsets.sort_unstable());
        (offsets, ends)
    }
}

/// Searches a corpus: where this process is alone, or process 0; the others [`assist_search`].
///
/// # Errors
/// [`crate::error::Error::Interrupted`], [`crate::error::Error::Io`] of a file of what was found, [`crate::error::Error::Config`] of a field that is none, and what is
/// wrong with other processes.
pub fn search(
    index: &BenchmarkIndex,
    corpus: &CorpusSearch<'_>,
    progress: &Progress,
) -> Result<CorpusFindings> {
    let process = corpus.peers.map_or(0, |peers| peers.mesh().process());
    let survey = Survey {
        sources: corpus.sources,
        input: corpus.input,
        workers: corpus.workers,
        mesh: corpus.peers.map(Peers::mesh),
    };
    let next = AtomicUsize::new(0);
    let reader = || CorpusReader::new(index, corpus, (process, next.fetch_add(1, Ordering::Relaxed)));
    let surveyed = survey.read(reader, progress)?;
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
    let hits = is_there.map(Hits::of).transpose()?;
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
    progress: &Progress,
) -> Result<RunInputs> {
    search(index, corpus, progress).map(|found| found.inputs)
}

/// A worker that holds documents against the index.
struct CorpusReader<'a> {
    index: &'a BenchmarkIndex,
    tokenizer: Tokenizer,
    /// Finds where the tokens of a document stand in which something was found, and what it found.
    placing: PlacedWords,
    places: Vec<Range<usize>>,
    scan: DocumentScan<'a>,
    tally: CorpusTally,
    /// The folder, and who this is; a file is created for the first document that it is needed for.
    place: Option<(&'a Path, (usize, usize))>,
    file: Option<HitWriter>,
    passages: Vec<ItemPassage>,
    /// Of each benchmark, the last document with a text of it.
    last: Vec<u64>,
}

impl<'a> CorpusReader<'a> {
    fn new(index: &'a BenchmarkIndex, corpus: &CorpusSearch<'a>, who: (usize, usize)) -> CorpusReader<'a> {
        CorpusReader {
            index,
            tokenizer: Tokenizer::new(Tokens::Words, Fold::default(), corpus.simd),
            placing: PlacedWords::new(Fold::default()),
            places: Vec::new(),
            scan: DocumentScan::new(index),
            tally: CorpusTally::new(index),
            place: corpus.folder.map(|folder| (folder, who)),
            file: None,
            passages: Vec::new(),
            last: vec![0; index.counts.len()],
        }
    }

    fn finish(self) -> Result<CorpusTally> {
        self.file.map_or(Ok(()), HitWriter::finish)?;
        Ok(self.tally)
    }

    /// Counts a document in which something was found, and keeps it.
    fn keep(&mut self, record: &Record<'_>) -> Result<()> {
        self.tally.contaminated += 1;
        self.tally.passages += self.passages.len() as u64;
        for passage in &self.passages {
            let text = passage.text as usize;
            self.tally.found[text / 64] |= 1 << (text % 64);
            for owner in self.index.owners(text) {
                let benchmark = self.index.items[owner.item as usize].benchmark as usize;
                if self.last[benchmark] < self.tally.documents {
                    self.last[benchmark] = self.tally.documents;
                    self.tally.documents_of[benchmark] += 1;
                }
            }
        }
        let Some((folder, (process, worker))) = self.place else { return Ok(()) };
        let passages = std::mem::take(&mut self.passages);
        let id = record.id.as_ref().map(ToString::to_string);
        let document = ContaminatedDocument { position: record.position, line: record.line, id, passages };
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(HitWriter::create(folder, process, worker)?),
        };
        file.write(&document)
    }
}

impl TextReader for CorpusReader<'_> {
    fn read(&mut self, record: &Record<'_>) -> Result<()> {
        self.tally.documents += 1;
        self.tally.text_bytes += record.text.len() as u64;
        let tokens = self.tokenizer.tokens(record.text);
        self.tally.empty += u64::from(tokens.is_empty());
        let CorpusReader { index, passages, placing, places, .. } = self;
        passages.clear();
        places.clear();
        self.scan.scan(tokens, |text, stretches| {
            if places.is_empty() {
                placing.each(record.text, |_, place| places.push(place));
            }
            let behind = index.texts[text as usize].ngram - 1;
            passages.extend(stretches.iter().map(|stretch| {
                let bytes = places[stretch.first as usize].start..places[stretch.last as usize + behind].end;
                let (start, end) = (bytes.start as u64, bytes.end as u64);
                let excerpt = excerpt(&record.text[bytes]).to_owned();
                ItemPassage { text, found: stretch.found, start, end, excerpt }
            }));
        });
        if self.passages.is_empty() { Ok(()) } else { self.keep(record) }
    }
}

/// The bytes of passages, ascending; those that have bytes in common are one.
fn merged(passages: &[ItemPassage]) -> Vec<Range<usize>> {
    let bytes = |passage: &ItemPassage| passage.start as usize..passage.end as usize;
    let mut all: Vec<Range<usize>> = passages.iter().map(bytes).collect();
    all.sort_unstable_by_key(|bytes| (bytes.start, bytes.end));
    all.dedup_by(|next, last| {
        let meet = next.start <= last.end;
        if meet {
            last.end = last.end.max(next.end);
        }
        meet
    });
    all
}

/// How a passage begins.
fn excerpt(passage: &str) -> &str {
    let end = passage.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= EXCERPT);
    &passage[..end.last().unwrap_or(0)]
}
