//! The documents of the inputs: where they stand, their ids, and how many words they have.

use std::sync::Arc;

use crate::config::{Input, Tokens};
use crate::document::Position;
use crate::error::{Error, Result};
use crate::flow::Outcome;
use crate::lexicon::{Survey, TextReader};
use crate::progress::Progress;
use crate::read::{Fields, Record, RecordCost, RecordRoom, Refusal, Refused, Rejected, Source, reread};
use crate::simd::Simd;
use crate::text::{Fold, Tokenizer};

/// What a record costs here: its tokens, and an eighth for growing. Whatever a method makes of it costs more.
const RECORD: RecordCost = RecordCost { token: 9, bytes_of_token: 6 };

/// The documents of the inputs, numbered in document order from 0.
#[derive(Debug)]
pub struct Documents {
    /// Sorted by position.
    rows: Vec<DocumentIds>,
    /// The files, as the user named them.
    files: Vec<String>,
    /// Records that are not documents, in document order.
    pub refused: Vec<Rejected>,
    /// Bytes of the texts.
    pub text_bytes: u64,
}

#[derive(Debug)]
struct DocumentIds {
    position: Position,
    id: Option<Box<str>>,
    words: u32,
}

impl Documents {
    /// Reads all records. Words are those of the tokenizer, whatever the tokens of a method are.
    ///
    /// # Errors
    /// [`Error::Limit`] for more than 4,294,967,295 documents; what reading ends with.
    pub fn read(survey: &Survey<'_>, simd: Simd, progress: &Arc<Progress>) -> Result<Documents> {
        let room = survey.room(RECORD, progress)?;
        let reader = || Lengths {
            tokenizer: Tokenizer::new(Tokens::Words, Fold::default(), simd),
            simd,
            room: room.clone(),
            rows: Vec::new(),
            bytes: 0,
        };
        let read = survey.read(room.clone(), reader, progress)?;
        let text_bytes = read.readers.iter().map(|lengths| lengths.bytes).sum();
        let mut rows: Vec<DocumentIds> = read.readers.into_iter().flat_map(|lengths| lengths.rows).collect();
        if u32::try_from(rows.len()).is_err() {
            return Err(Error::Limit("more than 4,294,967,295 documents; evaluate a part of them".into()));
        }
        rows.sort_unstable_by_key(|row| row.position);
        let files = survey.sources.iter().map(|source| source.shown.clone()).collect();
        Ok(Documents { rows, files, refused: read.refused, text_bytes })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Refuses a run that had no room for one of them: what it has found says nothing of that one.
    ///
    /// # Errors
    /// [`Error::Limit`], which names the first.
    pub fn refuse_gaps(&self, outcome: &Outcome) -> Result<()> {
        let is_one = |refused: &&Refused| self.find(refused.position).is_some();
        let Some(refused) = outcome.refused.iter().find(is_one) else { return Ok(()) };
        let inputs = &outcome.run.documents.inputs;
        let first = inputs.rejected(std::slice::from_ref(refused));
        Err(Error::Limit(first.iter().map(Rejected::to_string).collect()))
    }

    fn find(&self, position: Position) -> Option<u32> {
        self.rows.binary_search_by_key(&position, |row| row.position).ok().map(|number| number as u32)
    }

    /// The number of the document at a position of the inputs.
    ///
    /// # Errors
    /// [`Error::Changed`] if there was none when the inputs were read: the file is another one by now.
    pub(crate) fn at(&self, position: Position, sources: &[Source]) -> Result<u32> {
        let changed = || Error::Changed(sources[position.file() as usize].path.clone());
        self.find(position).ok_or_else(changed)
    }

    /// Where a document stands.
    pub(crate) fn position(&self, document: u32) -> Position {
        self.rows[document as usize].position
    }

    /// Reads the texts of some documents again and hands on each with its place among `chosen`, which ascend.
    pub(crate) fn texts(
        &self,
        chosen: &[u32],
        (sources, input): (&[Source], &Input),
        each: &mut dyn FnMut(usize, &str) -> Result<()>,
    ) -> Result<()> {
        let fields = Fields::of(input)?;
        let file = |document: &u32| self.position(*document).file();
        let mut before = 0;
        for of_file in chosen.chunk_by(|a, b| file(a) == file(b)) {
            let offsets: Vec<u64> =
                of_file.iter().map(|document| self.position(*document).offset()).collect();
            let number = file(&of_file[0]);
            reread(&sources[number as usize], number, &offsets, &fields, &mut |index, text, _| {
                each(before + index, text)
            })?;
            before += of_file.len();
        }
        Ok(())
    }

    /// The ids and the numbers of the documents that have one.
    pub fn ids(&self) -> impl Iterator<Item = (&str, u32)> {
        (0..).zip(&self.rows).filter_map(|(number, row)| Some((row.id.as_deref()?, number)))
    }

    /// The words of each.
    pub fn words(&self) -> impl Iterator<Item = u32> {
        self.rows.iter().map(|row| row.words)
    }

    /// How many there are, and how many of them have a word.
    pub fn counts(&self) -> (u64, u64) {
        (self.len() as u64, self.words().filter(|words| *words > 0).count() as u64)
    }

    /// What a document is called: its id, or its file and offset there.
    pub fn name(&self, document: u32) -> String {
        let DocumentIds { position, id, .. } = &self.rows[document as usize];
        let place = || format!("{} at byte {}", self.files[position.file() as usize], position.offset());
        id.as_deref().map_or_else(place, str::to_owned)
    }
}

/// What one worker has read.
struct Lengths {
    tokenizer: Tokenizer,
    simd: Simd,
    room: RecordRoom,
    rows: Vec<DocumentIds>,
    bytes: u64,
}

impl TextReader for Lengths {
    fn read(&mut self, record: &Record<'_>) -> Result<Option<Refusal>> {
        let words = self.tokenizer.tokens(record.text).len();
        if let Some(why) = self.room.refuses(record.raw.len(), record.text.len(), words) {
            self.tokenizer = Tokenizer::new(Tokens::Words, Fold::default(), self.simd);
            return Ok(Some(Refusal::NoRoom(why)));
        }
        let words = u32::try_from(words).unwrap_or(u32::MAX);
        let id = record.id.as_deref().map(Box::from);
        self.rows.push(DocumentIds { position: record.position, id, words });
        self.bytes += record.text.len() as u64;
        Ok(None)
    }
}
