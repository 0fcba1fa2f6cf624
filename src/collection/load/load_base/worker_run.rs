//! The run that a worker of a load writes: what it keeps of texts as they are read, the postings of its keys, and then what
//! becomes of the newcomers that it has read.

use std::sync::{Arc, Mutex, PoisonError};

use crate::collection::load::load_base::kept_sketches::KeptSketches;
use crate::collection::load::load_base::written::WorkersWritten;
use crate::collection::run::schema::{PARITIES, POSTINGS, SCOPES, SETS, SIGNATURES, TEXTS};
use crate::collection::run::writer::RunWriter;
use crate::collection::tables::postings::PostingRows;
use crate::collection::tables::records::RecordWriter;
use crate::collection::tables::rows::{StoredScope, StoredSignature, StoredText};
use crate::collection::tables::tokens::TokenWriter;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{KeptText, LoadKeeper, Posting};
use crate::similarity::AcceptanceRule;
use crate::sketch::sign;

/// The run of one worker: sets or tokens, then texts, their scopes where not all documents are compared, their signatures where these are kept, then postings. Beside it that of its records, if these are kept.
#[derive(Debug)]
pub(super) struct WorkerRun {
    worker: usize,
    written: Arc<Mutex<WorkersWritten>>,
    writer: RunWriter,
    records: Option<RecordWriter>,
    /// The tokens of texts, if these are kept in place of sets.
    tokens: Option<TokenWriter>,
    texts: Vec<StoredText>,
    /// The scopes of texts, where not all documents are compared.
    scopes: Vec<StoredScope>,
    signed: Option<AcceptanceRule>,
    signatures: StoredSignatures,
    rows: PostingRows,
    posting: bool,
}

/// The signatures of texts, in the order of these.
#[derive(Debug, Default)]
struct StoredSignatures {
    /// Their words, one after the other.
    words: Vec<u64>,
    /// Where each ends.
    ends: Vec<u64>,
}

impl WorkerRun {
    /// Begins the runs of a worker, of which the second is for records; they are left in `written`.
    pub fn begin(
        worker: usize,
        (mut writer, records): (RunWriter, Option<RunWriter>),
        sketches: KeptSketches,
        written: Arc<Mutex<WorkersWritten>>,
    ) -> Result<WorkerRun> {
        let tokens = match sketches.ngram {
            Some(ngram) => Some(TokenWriter::begin(ngram, &mut writer)?),
            None => writer.heap(SETS).map(|()| None)?,
        };
        let records = records.map(RecordWriter::new).transpose()?;
        let (texts, scopes, signatures) = (Vec::new(), Vec::new(), StoredSignatures::default());
        let rows = PostingRows::new(sketches.postings);
        let signed = sketches.signed;
        Ok(WorkerRun {
            worker,
            written,
            writer,
            records,
            tokens,
            texts,
            scopes,
            signed,
            signatures,
            rows,
            posting: false,
        })
    }

    /// Writes the texts with their signatures and begins the postings.
    fn all_read(&mut self) -> Result<()> {
        if self.posting {
            return Ok(());
        }
        self.posting = true;
        let mut texts = std::mem::take(&mut self.texts);
        if let Some(tokens) = &mut self.tokens {
            tokens.finish(&mut self.writer)?;
            let mut places = tokens.places();
            texts.iter_mut().for_each(|text| text.put(places.next().expect("each text has been written")));
        }
        self.writer.table(TEXTS, texts.iter().map(|text| text.to_row()))?;
        let scopes = std::mem::take(&mut self.scopes);
        if !scopes.is_empty() {
            self.writer.table(SCOPES, scopes.iter().map(|scope| scope.to_row()))?;
        }
        if self.signed.is_some() {
            let StoredSignatures { words, ends } = std::mem::take(&mut self.signatures);
            self.writer.heap(PARITIES)?;
            self.writer.push(&words)?;
            let mut start = 0;
            let signatures = texts.iter().zip(ends).map(|(text, end)| {
                let signature = StoredSignature { content: text.content, start, words: end - start };
                start = end;
                signature.to_row()
            });
            self.writer.table(SIGNATURES, signatures)?;
        }
        self.writer.rows(POSTINGS.kind, POSTINGS.shape)
    }
}

impl LoadKeeper for WorkerRun {
    fn record(&mut self, doc: Doc, raw: &[u8]) -> Result<()> {
        self.records.as_mut().map_or(Ok(()), |records| records.push(doc, raw))
    }

    fn text(&mut self, doc: Doc, text: &KeptText<'_>) -> Result<()> {
        let KeptText { digest, salt, set, tokens } = *text;
        let start = match &mut self.tokens {
            // Where tokens are is known once all are written.
            Some(writer) => writer.push(tokens, &mut self.writer).map(|()| 0)?,
            None => {
                let start = self.writer.position();
                self.writer.push(set)?;
                start
            }
        };
        if let Some(rule) = self.signed {
            sign(rule.own_words(set), &mut self.signatures.words);
            self.signatures.ends.push(self.signatures.words.len() as u64);
        }
        let (content, size) = (u64::from(doc), set.len() as u32);
        self.texts.push(StoredText { content, start, ordinal: 0, size, digest });
        self.scopes.extend(salt.map(|salt| StoredScope { content, salt }));
        Ok(())
    }

    fn postings(&mut self, bucket: &[Posting]) -> Result<()> {
        self.all_read()?;
        self.rows.push(bucket.iter().rev(), &mut |row| self.writer.push(row))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.all_read()?;
        self.rows.flush(&mut |row| self.writer.push(row))?;
        let records = self.records.map(RecordWriter::finish).transpose()?;
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.runs.push((self.worker, self.writer));
        written.records.extend(records.map(|summary| (self.worker, summary)));
        Ok(())
    }
}
