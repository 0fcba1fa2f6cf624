//! Where the batches of a file are: as its footer has it, or as they follow each other in a stream. Both are held against the
//! size of the file and the limits.

use std::any::Any;
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::flat::{FlatTable, damaged};
use super::message::{BodyCodec, Brings, CONTINUATION, MessageHead, MessagePlace, read_exact};
use super::schema::ArrowSchema;
use crate::limits::{FREE_ROWS, MAX_BATCHES, MAX_FILE_BYTES, MAX_METADATA_BYTES, MAX_ROWS_OF_BYTE};
use crate::read::bytes::InputFile;
use crate::read::source::Source;

/// What begins and ends a file.
pub(in crate::read::formats::arrow) const MAGIC: &[u8; 6] = b"ARROW1";
/// What begins a file, with what aligns the first message.
pub(in crate::read::formats::arrow) const BEGIN: &[u8; 8] = b"ARROW1\0\0";
/// Bytes of a block in a footer.
pub(in crate::read::formats::arrow) const BLOCK: usize = 24;

/// Batches from which on it is costly to find them again.
const MANY: usize = 256;

/// A file whose layout is known.
pub(in crate::read::formats::arrow) struct ArrowFile {
    pub(in crate::read::formats::arrow) file: Arc<InputFile>,
    pub(in crate::read::formats::arrow) layout: Arc<ArrowLayout>,
}

/// Where the parts of a file stand.
pub(in crate::read::formats::arrow) struct ArrowLayout {
    pub(in crate::read::formats::arrow) schema: ArrowSchema,
    pub(in crate::read::formats::arrow) dictionaries: Vec<DictionaryPlace>,
    pub(in crate::read::formats::arrow) batches: Vec<BatchPlace>,
    /// Where the messages end.
    pub(in crate::read::formats::arrow) end: u64,
    /// Where the footer is, if there is one.
    pub(in crate::read::formats::arrow) footer: Option<Range<u64>>,
    /// What is wrong behind the last batch of a stream.
    pub(in crate::read::formats::arrow) fault: Option<String>,
}

/// A message with a dictionary, or what is added to one.
#[derive(Clone, Copy)]
pub(in crate::read::formats::arrow) struct DictionaryPlace {
    pub(in crate::read::formats::arrow) id: i64,
    pub(in crate::read::formats::arrow) delta: bool,
    pub(in crate::read::formats::arrow) block: MessagePlace,
}

/// Rows that stand together.
#[derive(Clone, Copy)]
pub(in crate::read::formats::arrow) struct BatchPlace {
    /// Rows of the file before it.
    pub(in crate::read::formats::arrow) first: u64,
    pub(in crate::read::formats::arrow) rows: u64,
    pub(in crate::read::formats::arrow) block: MessagePlace,
    pub(in crate::read::formats::arrow) is_packed: bool,
    /// How many of the dictionaries come before it.
    pub(in crate::read::formats::arrow) dictionaries: u32,
}

impl BatchPlace {
    /// Its rows.
    pub(in crate::read::formats::arrow) fn rows(&self) -> Range<u64> {
        self.first..self.first + self.rows
    }
}

impl ArrowFile {
    /// Opens a source.
    pub(in crate::read::formats::arrow) fn open(source: &Source) -> io::Result<ArrowFile> {
        let file = Arc::new(source.open()?);
        let kept = source.cuts.kept.get().and_then(|kept| kept.downcast::<ArrowLayout>().ok());
        let layout = kept.map_or_else(|| ArrowLayout::read(&file, source.bytes).map(Arc::new), Ok)?;
        Ok(ArrowFile { file, layout })
    }

    /// The same; the layout stays with the source until somebody forgets it.
    pub(in crate::read::formats::arrow) fn open_and_keep(source: &Source) -> io::Result<ArrowFile> {
        let file = ArrowFile::open(source)?;
        file.keep(source);
        Ok(file)
    }

    /// Keeps the layout with the source.
    pub(in crate::read::formats::arrow) fn keep(&self, source: &Source) {
        source.cuts.kept.set(Arc::clone(&self.layout) as Arc<dyn Any + Send + Sync>);
    }
}

impl ArrowLayout {
    /// The layout of a file of so many bytes.
    pub(in crate::read::formats::arrow) fn read(file: &InputFile, bytes: u64) -> io::Result<ArrowLayout> {
        let mut begin = [0; 8];
        let length = usize::try_from(bytes).unwrap_or(usize::MAX).min(begin.len());
        read_exact(file, &mut begin[..length], 0)?;
        match begin.starts_with(MAGIC) {
            true => of_footer(file, bytes),
            false if begin.starts_with(&CONTINUATION) => of_stream(file, bytes),
            false => Err(damaged("it begins neither as a file nor as a stream of Arrow does")),
        }
    }

    /// Bytes of what a file says of itself at its end, or a stream before its first batch.
    pub(in crate::read::formats::arrow) fn said(file: &InputFile, bytes: u64) -> io::Result<u64> {
        let mut begin = [0; 8];
        let length = usize::try_from(bytes).unwrap_or(usize::MAX).min(begin.len());
        read_exact(file, &mut begin[..length], 0)?;
        match begin.starts_with(MAGIC) {
            true => footer_place(file, bytes).map(|place| place.end - place.start),
            false => Ok(begin.last_chunk().map_or(0, |length| u32::from_le_bytes(*length).into())),
        }
    }

    /// Whether no dictionary is replaced or added to.
    pub(in crate::read::formats::arrow) fn has_one_dictionary_each(&self) -> bool {
        let ids: BTreeSet<i64> = self.dictionaries.iter().map(|dictionary| dictionary.id).collect();
        ids.len() == self.dictionaries.len()
    }

    /// Whether it is costly to find the batches again.
    pub(in crate::read::formats::arrow) fn has_many_batches(&self) -> bool {
        self.batches.len() >= MANY
    }

    /// Rows of the file.
    pub(in crate::read::formats::arrow) fn rows(&self) -> u64 {
        self.batches.last().map_or(0, |batch| batch.rows().end)
    }

    /// The batch that a row is in.
    pub(in crate::read::formats::arrow) fn batch_of(&self, row: u64) -> Option<usize> {
        let after = self.batches.partition_point(|batch| batch.first <= row);
        // Of batches that begin at the same row the last one has it: the others are empty.
        after.checked_sub(1).filter(|at| row < self.batches[*at].rows().end)
    }

    /// Takes a batch of rows.
    fn push(&mut self, block: MessagePlace, rows: u64, is_packed: bool, bytes: u64) -> io::Result<()> {
        let first = self.rows();
        // What takes no bytes takes room all the same, where it is refused.
        let most = bytes.saturating_mul(MAX_ROWS_OF_BYTE).clamp(FREE_ROWS, MAX_FILE_BYTES - 1);
        if first.saturating_add(rows) > most {
            return Err(damaged(format!("{rows} rows or more in {bytes} bytes; {most} are allowed")));
        }
        let dictionaries = u32::try_from(self.dictionaries.len()).unwrap_or(u32::MAX);
        self.batches.push(BatchPlace { first, rows, block, is_packed, dictionaries });
        self.has_room()
    }

    fn has_room(&self) -> io::Result<()> {
        match self.batches.len().max(self.dictionaries.len()) {
            count if count > MAX_BATCHES => {
                Err(damaged(format!("more than the {MAX_BATCHES} batches that are allowed")))
            }
            _ => Ok(()),
        }
    }
}

/// The layout of a file that says it at its end.
fn of_footer(file: &InputFile, bytes: u64) -> io::Result<ArrowLayout> {
    let place = footer_place(file, bytes)?;
    let mut footer = vec![0; (place.end - place.start) as usize];
    read_exact(file, &mut footer, place.start)?;
    let table = FlatTable::root(&footer)?;
    let schema = table.table(1)?.ok_or_else(|| damaged("a footer without a schema"))?;
    let schema = ArrowSchema::of(schema, footer.len())?;
    let (batches, dictionaries) = (Vec::new(), Vec::new());
    let mut layout =
        ArrowLayout { schema, dictionaries, batches, end: place.start, footer: Some(place), fault: None };
    let mut left = bytes;
    for block in blocks(table, 2, layout.end, &mut left)? {
        match head(file, block, layout.end)? {
            Brings::Dictionary { id, delta, .. } => {
                layout.dictionaries.push(DictionaryPlace { id, delta, block });
                layout.has_room()?;
            }
            _ => return Err(damaged("something else where the footer has a dictionary")),
        }
    }
    for block in blocks(table, 3, layout.end, &mut left)? {
        match head(file, block, layout.end)? {
            Brings::Rows(head) => layout.push(block, head.rows, head.codec != BodyCodec::None, bytes)?,
            _ => return Err(damaged("something else where the footer has a batch")),
        }
    }
    Ok(layout)
}

/// Where the footer of a file is.
fn footer_place(file: &InputFile, bytes: u64) -> io::Result<Range<u64>> {
    const TAIL: u64 = 10;
    let cut = || damaged("the end is not that of an Arrow file; it was cut off, or not written to its end");
    let end = bytes.checked_sub(TAIL).filter(|end| *end >= BEGIN.len() as u64).ok_or_else(cut)?;
    let mut tail = [0; TAIL as usize];
    read_exact(file, &mut tail, end)?;
    let [a, b, c, d, magic @ ..] = tail;
    if &magic != MAGIC {
        return Err(cut());
    }
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    if length > MAX_METADATA_BYTES {
        return Err(damaged(format!("a footer of {length} bytes; {MAX_METADATA_BYTES} are allowed")));
    }
    let start = end.checked_sub(length).filter(|start| *start >= BEGIN.len() as u64);
    start.map(|start| start..end).ok_or_else(|| damaged("a footer that is larger than its file"))
}

/// The blocks that a field of a footer names: all of them before `end`, and together no more than the bytes that are left.
fn blocks(footer: FlatTable<'_>, field: usize, end: u64, left: &mut u64) -> io::Result<Vec<MessagePlace>> {
    let Some(found) = footer.vector(field, BLOCK)? else { return Ok(Vec::new()) };
    let wrong = || damaged("a batch that is not where the footer says");
    let whole = |number: i64| u64::try_from(number).map_err(|_| wrong());
    let places = found.longs(0)?.into_iter().zip(found.ints(8)?).zip(found.longs(16)?);
    let mut block = |at: i64, metadata: i32, body: i64| {
        let block = MessagePlace { at: whole(at)?, metadata: whole(metadata.into())?, body: whole(body)? };
        let is_inside = block.at >= BEGIN.len() as u64 && block.metadata > 0 && block.end() <= end;
        *left = left.checked_sub(block.bytes()).filter(|_| is_inside).ok_or_else(wrong)?;
        Ok(block)
    };
    places.map(|((at, metadata), body)| block(at, metadata, body)).collect()
}

/// What the message of a block brings.
fn head(file: &InputFile, block: MessagePlace, end: u64) -> io::Result<Brings> {
    let head = MessageHead::read(file, block.at, end)?.ok_or_else(|| damaged("no batch in its place"))?;
    let (brings, body) = head.brings()?;
    // Some writers count what aligns the body to it, and some do not.
    match head.bytes.len() as u64 <= block.metadata && body <= block.body {
        true => Ok(brings),
        false => Err(damaged("a batch of another size than the footer says")),
    }
}

/// The layout of a stream: its messages, one behind the other. What cannot be understood ends it.
fn of_stream(file: &InputFile, bytes: u64) -> io::Result<ArrowLayout> {
    let first = MessageHead::read(file, 0, bytes)?.ok_or_else(|| damaged("a stream without a schema"))?;
    let (Brings::Schema(schema), body) = first.brings()? else {
        return Err(damaged("a stream that does not begin with a schema"));
    };
    let end = (first.bytes.len() as u64).saturating_add(body);
    let (batches, dictionaries) = (Vec::new(), Vec::new());
    let mut layout = ArrowLayout { schema, dictionaries, batches, end, footer: None, fault: None };
    if let Err(error) = layout.follow(file, bytes) {
        // What is between is no fault of the stream.
        if error.kind() != io::ErrorKind::InvalidData || layout.rows() == 0 {
            return Err(error);
        }
        layout.fault = Some(error.to_string());
    }
    Ok(layout)
}

impl ArrowLayout {
    /// Takes the messages of a stream from its present end on.
    fn follow(&mut self, file: &InputFile, bytes: u64) -> io::Result<()> {
        while self.end < bytes {
            let Some(head) = MessageHead::read(file, self.end, bytes)? else {
                let behind = bytes - self.end;
                return match behind {
                    0..=8 => Ok(()),
                    _ => Err(damaged(format!("{} bytes behind the end of the stream", behind - 8))),
                };
            };
            if !head.bytes.starts_with(&CONTINUATION) {
                return Err(damaged("a message that does not begin as those of a stream do"));
            }
            let (brings, body) = head.brings()?;
            let block = MessagePlace { at: self.end, metadata: head.bytes.len() as u64, body };
            // The rows of a batch that is cut off are known, and refused by their number.
            let is_cut = block.end() > bytes;
            match brings {
                Brings::Rows(head) => self.push(block, head.rows, head.codec != BodyCodec::None, bytes)?,
                Brings::Dictionary { id, delta, .. } if !is_cut => {
                    self.dictionaries.push(DictionaryPlace { id, delta, block });
                    self.has_room()?;
                }
                Brings::Dictionary { .. } => return Err(damaged("a dictionary that is cut off")),
                Brings::Schema(_) | Brings::Other => {
                    return Err(damaged("a message that is neither a dictionary nor a batch"));
                }
            }
            self.end = block.end().min(bytes);
        }
        Ok(())
    }
}
