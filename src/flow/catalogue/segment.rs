//! The rows of the documents that one worker has read.

use std::cmp::Ordering;
use std::ops::Range;

use crate::config::Keep;
use crate::document::{DocumentName, Position};
use crate::error::{Error, Result};
use crate::flow::catalogue::keep_key::{KeepKeys, as_stored, by_field, stored_value};
use crate::flow::catalogue::names::{Name, Names};
use crate::flow::catalogue::positions::Positions;
use crate::flow::catalogue::rows::SegmentRows;
use crate::flow::catalogue::signatures::RowSignatures;
use crate::flow::memory::budget::{Share, mapped};
use crate::flow::memory::store::RunMemory;
use crate::flow::records::Brought;
use crate::flow::stored::Replayed;
use crate::read::Record;

/// The rows of one worker, in the order it read them, which is document order.
#[derive(Debug)]
pub struct Segment {
    positions: Positions,
    names: Names,
    sizes: Vec<u32>,
    signatures: RowSignatures,
    /// Bytes of each text, the greatest number for more; if a keep policy or a collection asks for them.
    lengths: Option<Vec<u32>>,
    /// What each record brings, of a load.
    brought: Option<Vec<Brought>>,
    keys: KeepKeys,
    /// What makes the keys of documents differ that are not to be compared, if there are any.
    salts: Option<Vec<u64>>,
    /// Sources below this number are protected, and so many rows are of them: the first ones.
    protected_files: u32,
    protected: u32,
}

/// Bytes of a row that stay in memory whatever the bound: half a position, the size, and its part of where its block of
/// names and of signatures begins.
const ROW: usize = 4 + 4 + 1;

impl Segment {
    /// An empty segment for a keep policy, of a load of a collection or not, one of so `many` that are held. Ids beyond
    /// their share of the memory go to disk.
    pub fn new(keep: &Keep, load: bool, many: usize, memory: &RunMemory) -> Segment {
        let most = |share: Share| usize::try_from(memory.budget.whole(share)).unwrap_or(usize::MAX) / many;
        let keys = KeepKeys::new(keep);
        let rows = most(Share::Rows) / ROW;
        Segment {
            positions: Positions::new(rows),
            names: Names::new(most(Share::Labels), memory),
            sizes: mapped(rows),
            signatures: RowSignatures::new(most(Share::Signatures) / 8),
            lengths: (load || keep.compares_lengths()).then(Vec::new),
            brought: load.then(Vec::new),
            keys,
            salts: None,
            protected_files: 0,
            protected: 0,
        }
    }

    /// The same, where so many sources, the first ones, are protected.
    pub fn with_protected(self, files: u32) -> Segment {
        Segment { protected_files: files, ..self }
    }

    /// Sets what makes the last row's keys differ from those of documents that it is not to be compared with.
    pub fn salt_last(&mut self, salt: u64) {
        self.salts.get_or_insert_default().push(salt);
    }

    /// What makes the keys of a row differ; 0 where all documents are compared.
    pub fn salt(&self, row: usize) -> u64 {
        self.salts.as_ref().map_or(0, |salts| salts[row])
    }

    /// How many rows are those of protected documents: they are the first ones.
    pub fn protected(&self) -> u32 {
        self.protected
    }

    /// Bytes of memory that rows take, whatever the bound.
    pub fn bytes(&self) -> u64 {
        let salt = self.salts.as_ref().map_or(0, |_| size_of::<u64>() as u64);
        let length = self.lengths.as_ref().map_or(0, |_| size_of::<u32>() as u64);
        let brought = self.brought.as_ref().map_or(0, |_| size_of::<Brought>() as u64);
        let each = salt + length + brought + self.keys.bytes_each();
        let sizes = (self.sizes.len() * size_of::<u32>()) as u64;
        let rows = self.positions.len() as u64;
        sizes + rows * each + self.positions.bytes() + self.names.bytes() + self.signatures.bytes()
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there is no row yet.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Adds a row; the size of its set is filled in by [`Segment::set_last_size`].
    pub fn push(&mut self, record: &Record<'_>) -> Result<()> {
        if let Some(lengths) = &mut self.lengths {
            lengths.push(record.text.len().min(u32::MAX as usize) as u32);
        }
        self.keys.push(|| record.value.clone());
        self.push_place(record.position, record.line, record.id.as_ref())
    }

    /// Notes what the record of the last row brings, if this is a load.
    pub fn bring_last(&mut self, of_last: Brought) {
        if let Some(brought) = &mut self.brought {
            brought.push(of_last);
        }
    }

    /// What the record of a row brings, of a load.
    pub fn brought(&self, row: usize) -> Brought {
        self.brought.as_ref().map_or_else(Brought::default, |brought| brought[row])
    }

    /// Adds the row of a stored document. Its line is not known here.
    pub fn push_stored(&mut self, position: Position, document: &Replayed<'_>) -> Result<()> {
        if let Some(lengths) = &mut self.lengths {
            lengths.push(document.text_bytes);
        }
        self.keys.push(|| stored_value(document.keep_key, document.value));
        self.push_place(position, 0, Some(&document.id.into()))
    }

    fn push_place(&mut self, position: Position, line: u32, id: Option<&DocumentName<'_>>) -> Result<()> {
        if position.file() < self.protected_files {
            if self.protected as usize != self.len() {
                return Err(Error::Worker("a protected document was read after one that is not".into()));
            }
            self.protected += 1;
        }
        self.positions.push(position);
        self.sizes.push(0);
        self.names.push(line, id)
    }

    /// The size of the last row's set.
    pub fn set_last_size(&mut self, size: u32) {
        if let Some(last) = self.sizes.last_mut() {
            *last = size;
        }
    }

    /// Signs the last row's set, if it and those before it have room.
    pub fn sign_last(&mut self, set: &[u64]) {
        self.signatures.push(self.len() - 1, set);
    }

    /// Where the document of a row stands.
    pub fn position(&self, row: usize) -> Position {
        self.positions.get(row)
    }

    /// The line of the document of a row, counted from 1 within its unit of reading, and its id if its record has one.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] if the ids are on disk and cannot be read.
    pub fn name(&self, row: usize) -> Result<Name<'_>> {
        self.names.get(row)
    }

    /// The line and the id of each row, in their order.
    ///
    /// # Errors
    /// Those of [`Segment::name`].
    pub fn each_name(&self, take: impl FnMut(Name<'_>) -> Result<()>) -> Result<()> {
        self.names.each(take)
    }

    /// The size of the set of a row.
    pub fn size(&self, row: usize) -> u32 {
        self.sizes[row]
    }

    /// The signature of the set of a row, if it was signed.
    pub fn signature(&self, row: usize) -> &[u64] {
        self.signatures.get(row, &self.sizes)
    }

    /// Bytes of the text of a row, the greatest number for more; 0 where nobody asks.
    pub fn length(&self, row: usize) -> u32 {
        self.lengths.as_ref().map_or(0, |lengths| lengths[row])
    }

    /// What the keep policy compares of a row, as a collection stores it: see [`super::Catalogue::keep_key`].
    pub fn keep_key(&self, keep: &Keep, row: usize) -> (u64, &str) {
        match &self.keys {
            KeepKeys(Some(values)) => as_stored(&values[row]),
            KeepKeys(None) if keep.compares_lengths() => (u64::from(self.length(row)), ""),
            KeepKeys(None) => (0, ""),
        }
    }

    /// Orders two rows by the keep policy, the one to keep first.
    pub fn keep_order(&self, keep: &Keep, row: usize, other: &Segment, at: usize) -> Ordering {
        let lengths = || self.length(row).cmp(&other.length(at));
        let values = |max| match (&self.keys.0, &other.keys.0) {
            (Some(x), Some(y)) => by_field(&x[row], &y[at], max),
            _ => Ordering::Equal,
        };
        keep.order(self.position(row).cmp(&other.position(at)), lengths, values)
    }
}

impl Segment {
    /// Some of the rows, for another process: all that is known of them but their signatures, or their sizes alone.
    pub fn rows(&self, range: Range<usize>, whole: bool) -> Result<SegmentRows> {
        let mut rows = SegmentRows { sizes: self.sizes[range.clone()].to_vec(), ..SegmentRows::default() };
        if !whole {
            return Ok(rows);
        }
        rows.positions = range.clone().map(|row| self.position(row).to_bits()).collect();
        rows.lengths = self.lengths.as_ref().map_or_else(Vec::new, |lengths| lengths[range.clone()].to_vec());
        if let Some(values) = &self.keys.0 {
            rows.values = values[range.clone()].to_vec();
        }
        for row in range {
            let (line, label) = self.name(row)?;
            rows.lines.push(line);
            rows.labels.push(label.map(|name| (name.is_number(), name.into())));
        }
        Ok(rows)
    }

    /// Adds rows that another process has sent.
    pub fn take_in(&mut self, rows: SegmentRows) -> Result<()> {
        if rows.positions.is_empty() {
            self.sizes.extend_from_slice(&rows.sizes);
            return Ok(());
        }
        if let Some(lengths) = &mut self.lengths {
            lengths.extend_from_slice(&rows.lengths);
        }
        if let Some(values) = &mut self.keys.0 {
            values.extend(rows.values);
        }
        let places = rows.positions.iter().zip(&rows.lines).zip(&rows.labels);
        for (((position, line), label), size) in places.zip(rows.sizes) {
            let name =
                label.as_ref().map(|(is_number, text)| DocumentName::of_kind(text.as_str(), *is_number));
            self.push_place(Position::from_bits(*position), *line, name.as_ref())?;
            self.set_last_size(size);
        }
        Ok(())
    }
}
