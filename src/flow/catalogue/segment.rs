//! The rows of the documents that one worker has read.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use crate::config::Keep;
use crate::document::Position;
use crate::error::Result;
use crate::flow::catalogue::keep_key::{KeepKeys, as_stored, by_field, stored_value};
use crate::flow::catalogue::rows::SegmentRows;
use crate::flow::memory::budget::{Share, mapped};
use crate::flow::memory::spill::SpillFile;
use crate::flow::memory::store::RunMemory;
use crate::read::Record;
use crate::sketch::{sign, signature_words};

/// The rows of one worker, in the order it read them, which is document order.
#[derive(Debug)]
pub struct Segment {
    positions: Vec<Position>,
    lines: Vec<u32>,
    sizes: Vec<u32>,
    /// Ids behind one another: those that do not fit in memory in the spill, the others here.
    labels: Vec<u8>,
    spilled_labels: SpillFile,
    most_labels: usize,
    label_ends: Vec<u64>,
    signatures: Vec<u64>,
    /// Shorter than the rows are many once there is no room for more: the others are not signed.
    signature_starts: Vec<u64>,
    most_signatures: usize,
    /// Bytes of each text, the greatest number for more; if a keep policy or a collection asks for them.
    lengths: Option<Vec<u32>>,
    keys: KeepKeys,
}

/// Bytes of a row that stay in memory whatever the bound: position, line, size, ends of id and signature.
const ROW: u64 = 8 + 4 + 4 + 8 + 8;

impl Segment {
    /// An empty segment for a keep policy, of a load of a collection or not, one of so `many` that are held. Ids beyond
    /// their share of the memory go to disk.
    pub fn new(keep: &Keep, load: bool, many: usize, memory: &RunMemory) -> Segment {
        let most = |share: Share| usize::try_from(memory.budget.whole(share)).unwrap_or(usize::MAX) / many;
        let keys = KeepKeys::new(keep);
        let rows = most(Share::Rows) / ROW as usize;
        Segment {
            positions: mapped(rows),
            lines: mapped(rows),
            sizes: mapped(rows),
            labels: mapped(most(Share::Labels)),
            spilled_labels: SpillFile::new(&memory.scratch),
            most_labels: most(Share::Labels),
            label_ends: mapped(rows),
            signatures: mapped(most(Share::Signatures) / 8),
            signature_starts: mapped(rows),
            most_signatures: most(Share::Signatures) / 8,
            lengths: (load || keys.are_lengths()).then(Vec::new),
            keys,
        }
    }

    /// Bytes of memory that rows take, whatever the bound.
    pub fn bytes(&self) -> u64 {
        let length = self.lengths.as_ref().map_or(0, |_| 4);
        if self.positions.is_empty() {
            return self.len() as u64 * size_of::<u32>() as u64;
        }
        self.len() as u64 * (ROW + length + self.keys.bytes_each())
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
        self.push_place(record.position, record.line, record.id.as_deref())
    }

    /// Adds the row of a stored document, of which [`super::Catalogue::keep_key`] gives `keep_key` and `value`. Its line is not
    /// known here.
    pub fn push_stored(&mut self, position: Position, id: &str, keep_key: u64, value: &str) -> Result<()> {
        if let Some(lengths) = &mut self.lengths {
            lengths.push(keep_key.min(u64::from(u32::MAX)) as u32);
        }
        self.keys.push(|| stored_value(keep_key, value));
        self.push_place(position, 0, Some(id))
    }

    fn push_place(&mut self, position: Position, line: u32, id: Option<&str>) -> Result<()> {
        self.positions.push(position);
        self.lines.push(line);
        self.sizes.push(0);
        let label = id.unwrap_or("").as_bytes();
        if self.labels.len() + label.len() > self.most_labels && !self.labels.is_empty() {
            self.spilled_labels.append(&self.labels)?;
            self.labels.clear();
        }
        self.labels.extend_from_slice(label);
        let end = self.spilled_labels.bytes() + self.labels.len() as u64;
        self.label_ends.push(end << 1 | u64::from(id.is_some()));
        Ok(())
    }

    /// The size of the last row's set.
    pub fn set_last_size(&mut self, size: u32) {
        if let Some(last) = self.sizes.last_mut() {
            *last = size;
        }
    }

    /// Signs the last row's set, if it and those before it have room.
    pub fn sign_last(&mut self, set: &[u64]) {
        if self.signatures.len() + signature_words(set.len()) > self.most_signatures {
            self.most_signatures = 0;
            return;
        }
        self.signature_starts.resize(self.positions.len() - 1, self.signatures.len() as u64);
        self.signature_starts.push(self.signatures.len() as u64);
        sign(set, &mut self.signatures);
    }

    /// Where the document of a row stands.
    pub fn position(&self, row: usize) -> Position {
        self.positions[row]
    }

    /// The line of the document of a row, counted from 1 within its unit of reading.
    pub fn line(&self, row: usize) -> u32 {
        self.lines[row]
    }

    /// The size of the set of a row.
    pub fn size(&self, row: usize) -> u32 {
        self.sizes[row]
    }

    /// The signature of the set of a row, if it was signed.
    pub fn signature(&self, row: usize) -> &[u64] {
        let Some(start) = self.signature_starts.get(row) else { return &[] };
        let start = *start as usize;
        &self.signatures[start..start + signature_words(self.sizes[row] as usize)]
    }

    /// Bytes of the text of a row, the greatest number for more; 0 where nobody asks.
    pub fn length(&self, row: usize) -> u32 {
        self.lengths.as_ref().map_or(0, |lengths| lengths[row])
    }

    /// What the keep policy compares of a row: see [`super::Catalogue::keep_key`].
    pub fn keep_key(&self, row: usize) -> (u64, &str) {
        match &self.keys {
            KeepKeys::Position => (0, ""),
            KeepKeys::Length => (u64::from(self.length(row)), ""),
            KeepKeys::Field(values) => as_stored(&values[row]),
        }
    }

    /// Orders two rows by what the keep policy compares beside positions.
    pub fn compare_keys(&self, keep: &Keep, row: usize, other: &Segment, at: usize) -> Ordering {
        match (keep, &self.keys, &other.keys) {
            (Keep::Longest, ..) => other.length(at).cmp(&self.length(row)),
            (Keep::Shortest, ..) => self.length(row).cmp(&other.length(at)),
            (Keep::Field { max, .. }, KeepKeys::Field(x), KeepKeys::Field(y)) => {
                by_field(&x[row], &y[at], *max)
            }
            _ => Ordering::Equal,
        }
    }

    /// The id of the document of a row, if its record has one.
    pub fn label(&self, row: usize) -> Result<Option<Cow<'_, str>>> {
        let start = if row == 0 { 0 } else { self.label_ends[row - 1] >> 1 };
        let end = self.label_ends[row] >> 1;
        if self.label_ends[row] & 1 == 0 {
            return Ok(None);
        }
        let Some(start_held) = start.checked_sub(self.spilled_labels.bytes()) else {
            let mut bytes = vec![0; (end - start) as usize];
            self.spilled_labels.read(start, &mut bytes)?;
            return Ok(Some(Cow::Owned(String::from_utf8(bytes).unwrap_or_default())));
        };
        let held = &self.labels[start_held as usize..][..(end - start) as usize];
        Ok(Some(Cow::Borrowed(std::str::from_utf8(held).unwrap_or_default())))
    }
}

impl Segment {
    /// Some of the rows, for another process: all that is known of them but their signatures, or their sizes alone.
    pub fn rows(&self, range: Range<usize>, whole: bool) -> Result<SegmentRows> {
        let mut rows = SegmentRows { sizes: self.sizes[range.clone()].to_vec(), ..SegmentRows::default() };
        if !whole {
            return Ok(rows);
        }
        rows.positions = self.positions[range.clone()].iter().map(|position| position.to_bits()).collect();
        rows.lines = self.lines[range.clone()].to_vec();
        rows.lengths = self.lengths.as_ref().map_or_else(Vec::new, |lengths| lengths[range.clone()].to_vec());
        if let KeepKeys::Field(values) = &self.keys {
            rows.values = values[range.clone()].to_vec();
        }
        for row in range {
            let label = self.label(row)?;
            rows.labels.push(label.map(Cow::into_owned));
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
        if let KeepKeys::Field(values) = &mut self.keys {
            values.extend(rows.values);
        }
        let places = rows.positions.iter().zip(&rows.lines).zip(&rows.labels);
        for (((position, line), label), size) in places.zip(rows.sizes) {
            self.push_place(Position::from_bits(*position), *line, label.as_deref())?;
            self.set_last_size(size);
        }
        Ok(())
    }
}
