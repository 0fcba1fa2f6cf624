//! The rows of tables as what they mean.

use crate::collection::HeapCursor;
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::LABELS;
use crate::document::{Doc, NO_DOC};
use crate::error::{Error, Result};

/// A document as its collection knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Digest of its id.
    pub id: u128,
    /// Its content; [`NO_DOC`] for a text without a token.
    pub content: Doc,
    /// Whether it is there; else the row says that it is gone.
    pub live: bool,
    /// The load that first brought the id, and the one that brought the document as it is.
    pub loads: (u32, u32),
    /// Where it was read, as bits of a position; the file is one of the collection.
    pub position: u64,
    /// Digest of all that is stored of the record.
    pub fingerprint: u128,
    /// Where its id starts among the labels of its run.
    pub label: u64,
    /// Bytes of its id, and of the value it is compared by.
    pub lengths: (u32, u32),
    /// What the keep policy compares: bytes of text, or the number that orders values.
    pub worth: u64,
    /// The number of the record that brought it as it is; no other record of the collection ever has it.
    pub version: u32,
    /// The line of its record in the file, from 1; the greatest number for more.
    pub line: u32,
    /// Bytes of its text; 2^32 - 1 for more.
    pub text_bytes: u64,
}

impl Document {
    /// The column of [`Document::label`].
    pub const LABEL: usize = 7;

    /// The row that says that the document of an id is not there.
    pub fn gone(id: u128) -> Document {
        let (content, live, loads, position, fingerprint) = (NO_DOC, false, (0, 0), 0, 0);
        let (label, lengths, worth, version, line, text_bytes) = (0, (0, 0), 0, NO_DOC, 0, 0);
        Document {
            id,
            content,
            live,
            loads,
            position,
            fingerprint,
            label,
            lengths,
            worth,
            version,
            line,
            text_bytes,
        }
    }

    /// The row.
    pub fn to_row(&self) -> [u64; 12] {
        [
            (self.id >> 64) as u64,
            self.id as u64,
            pack(self.content, u32::from(self.live)),
            pack(self.loads.0, self.loads.1),
            self.position,
            (self.fingerprint >> 64) as u64,
            self.fingerprint as u64,
            self.label,
            pack(self.lengths.0, self.lengths.1),
            self.worth,
            pack(self.version, self.line),
            self.text_bytes,
        ]
    }

    /// What a row says.
    pub fn of_row(row: &[u64]) -> Document {
        let [
            id,
            id_low,
            content,
            loads,
            position,
            print,
            print_low,
            label,
            lengths,
            worth,
            version,
            text_bytes,
        ] = *row.first_chunk().expect("a row has the width of its table");
        let ((content, live), (version, line)) = (unpack(content), unpack(version));
        Document {
            id: wide(id, id_low),
            content,
            live: live == 1,
            loads: unpack(loads),
            position,
            fingerprint: wide(print, print_low),
            label,
            lengths: unpack(lengths),
            worth,
            version,
            line,
            text_bytes,
        }
    }

    /// Its id, and the value it is compared by, which stand in the run of the row.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn names(&self, run: &RunReader, cursor: &mut HeapCursor) -> Result<(String, String)> {
        let bytes = self.lengths.0 as usize + self.lengths.1 as usize;
        let mut words = Vec::new();
        match run.heap(LABELS) {
            Some(heap) => cursor.read(heap, self.label, bytes.div_ceil(8), &mut words)?,
            None => return Err(Error::damaged(run.path(), 0, "a document without a label")),
        }
        let mut text: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        text.truncate(bytes);
        let value = text.split_off(self.lengths.0 as usize);
        let name = |bytes| {
            String::from_utf8(bytes).map_err(|_| Error::damaged(run.path(), 0, "an id that is not UTF-8"))
        };
        Ok((name(text)?, name(value)?))
    }

    /// Whether it has a text with tokens.
    pub fn has_content(&self) -> bool {
        self.live && self.content != NO_DOC
    }
}

/// Bytes as words of a heap, the last one filled up with zeros.
pub fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    })
}

/// The first `count` bytes of words of a heap, in their place.
pub fn bytes_of(words: &mut [u64], count: usize) -> &[u8] {
    words.iter_mut().for_each(|word| *word = word.to_le());
    &bytemuck::cast_slice(words)[..count]
}

/// Two numbers in a word, the first one above.
pub fn pack(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The two numbers of a word.
pub fn unpack(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

/// Two words as one number, the first one above.
pub fn wide(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}
