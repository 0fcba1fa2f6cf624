//! A file that is written again without some of its rows: all columns, and all that it says of itself.

mod body;
mod select;

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use self::body::BodyWriter;
use self::select::{BatchSelection, copy, count, head_with};
use super::columns::batch::BatchWalk;
use super::metadata::flat::{FlatTable, damaged};
use super::metadata::layout::{ArrowFile, BLOCK, BatchPlace, MAGIC};
use super::metadata::message::{BatchHead, Brings, END, MessageHead, MessagePlace, read_exact};
use super::rows::{no_damage, said};
use crate::error::Error;
use crate::progress::Progress;
use crate::read::bytes::RecordRoom;
use crate::read::source::Source;

/// What every message begins at a multiple of.
const ALIGNED: u64 = 8;

/// A file, opened to be written again.
pub struct ArrowSource {
    file: ArrowFile,
}

/// What becomes of a batch of rows.
pub enum BatchFate<'a> {
    /// It is copied as it is encoded.
    Stays,
    /// All that is left of it stands in a file of its own, of so many bytes.
    Written(&'a mut dyn io::Read, u64),
    /// Nothing is left of it.
    Goes,
}

/// Takes what becomes of a batch.
pub type PutBatch<'a> = &'a mut dyn FnMut(BatchFate<'_>) -> io::Result<()>;

/// A file on its way.
struct Assembly<'a> {
    from: &'a ArrowFile,
    out: &'a mut dyn Write,
    at: u64,
    check: &'a dyn Fn() -> io::Result<()>,
}

/// What ends work that is to stop.
fn check(progress: &Progress) -> io::Result<()> {
    progress.check().map_err(io::Error::other)
}

impl ArrowSource {
    /// Opens a source.
    ///
    /// # Errors
    /// [`Error::Input`] if it is not what it was when it was found.
    pub fn open(source: &Source) -> Result<ArrowSource, Error> {
        let file = ArrowFile::open(source).map_err(|error| ArrowSource::failed(source, error))?;
        Ok(ArrowSource { file })
    }

    /// The same for one batch of several: where they are stays with the source, if it is costly to find them again, until
    /// somebody forgets it.
    ///
    /// # Errors
    /// Those of [`ArrowSource::open`].
    pub fn open_and_keep(source: &Source) -> Result<ArrowSource, Error> {
        let opened = ArrowSource::open(source)?;
        if opened.file.layout.has_many_batches() || source.is_remote() {
            opened.file.keep(source);
        }
        Ok(opened)
    }

    /// What is wrong with a source, for people.
    pub fn failed(source: &Source, error: io::Error) -> Error {
        match no_damage(source, error) {
            Ok(error) => {
                let why = said(&error);
                // A copy of a file in an archive is gone when this is read.
                Error::undecodable(
                    &source.shown,
                    format!("cannot be written without some of its rows: {why}"),
                )
            }
            Err(error) => error,
        }
    }

    /// Its batches: the rows of each.
    pub fn batches(&self) -> impl Iterator<Item = Range<u64>> {
        self.file.layout.batches.iter().map(BatchPlace::rows)
    }

    /// Bytes on disk of a batch.
    pub fn bytes(&self, batch: usize) -> u64 {
        self.file.layout.batches[batch].block.bytes()
    }

    /// Writes the message of a batch with the rows that stand in some stretches. What is held of it has to fit in some room.
    ///
    /// # Errors
    /// What is wrong with the batch, or what the system says of the file.
    pub fn write_batch<W: Write + Seek>(
        &self,
        batch: usize,
        stretches: &[Range<u64>],
        mut out: W,
        (room, progress): (&RecordRoom, &Progress),
    ) -> io::Result<()> {
        let BatchPlace { block, rows: there, .. } = self.file.layout.batches[batch];
        let message = MessageHead::read(&self.file.file, block.at, block.end())?;
        let message = message.ok_or_else(|| damaged("no batch in its place"))?;
        let (Brings::Rows(head), _) = message.brings()? else { return Err(damaged("no batch in its place")) };
        // What was found before may be something else by now.
        let padding = block.metadata.checked_sub(message.bytes.len() as u64).filter(|_| head.rows == there);
        let padding = padding.ok_or_else(|| damaged("no batch in its place"))?;
        // The place of the head, which is not known yet.
        out.write_all(&message.bytes)?;
        io::copy(&mut io::repeat(0).take(padding), &mut out)?;
        let check = || check(progress);
        let mut selection = BatchSelection {
            walk: BatchWalk::new(&self.file.file, block, &head, room.rewritten()),
            body: BodyWriter::new(&mut out, &head),
            room,
            check: &check,
        };
        for field in &self.file.layout.schema.fields {
            selection.field(field, stretches)?;
        }
        let (rows, bytes) = (count(stretches), selection.body.bytes());
        let BodyWriter { nodes, buffers, .. } = selection.body;
        let written = BatchHead { rows, nodes, buffers, ..BatchHead::default() };
        if written.nodes.len() != head.nodes.len() || written.buffers.len() != head.buffers.len() {
            return Err(damaged("a batch with more columns than its schema"));
        }
        let changed = head_with(message.bytes, &head, &written, bytes)?;
        let changed = MessageHead { bytes: changed, prefix: message.prefix };
        match changed.brings()? {
            (Brings::Rows(now), body)
                if (body, now.rows) == (bytes, rows)
                    && now.nodes == written.nodes
                    && now.buffers == written.buffers => {}
            _ => return Err(damaged("a head whose parts overlap")),
        }
        out.seek(SeekFrom::Start(0))?;
        out.write_all(&changed.bytes)?;
        out.flush()
    }

    /// Puts the file together again, as `fate` says of each batch.
    ///
    /// # Errors
    /// What is wrong with the file, or what the system says of the one that is written.
    pub fn assemble(
        &self,
        fate: &mut dyn FnMut(usize, PutBatch<'_>) -> io::Result<()>,
        out: &mut dyn Write,
        progress: &Progress,
    ) -> io::Result<()> {
        let (layout, check) = (&self.file.layout, || check(progress));
        let mut assembly = Assembly { from: &self.file, out, at: 0, check: &check };
        let blocks = layout.dictionaries.iter().map(|place| place.block);
        let mut blocks: Vec<(MessagePlace, Option<usize>)> = blocks.map(|block| (block, None)).collect();
        blocks.extend(layout.batches.iter().map(|batch| batch.block).zip((0..).map(Some)));
        blocks.sort_by_key(|(block, _)| block.at);
        let has_end = self.has_end()?;
        let begin = blocks.first().map_or(layout.end - self.end_bytes(has_end), |(block, _)| block.at);
        assembly.copy(0..begin)?;
        let mut moved: Vec<(MessagePlace, Option<usize>)> = Vec::with_capacity(blocks.len());
        for (block, batch) in blocks {
            assembly.align()?;
            let at = assembly.at;
            match batch {
                None => assembly.copy(block.at..block.end())?,
                Some(number) => fate(number, &mut |fate| assembly.batch(block, fate))?,
            }
            if assembly.at > at {
                let body = assembly.at - at - block.metadata;
                moved.push((MessagePlace { at, metadata: block.metadata, body }, batch));
            }
        }
        if has_end {
            assembly.align()?;
            assembly.write(&END)?;
        }
        match &layout.footer {
            Some(footer) => assembly.footer(footer.clone(), moved),
            None => Ok(()),
        }
    }

    /// Whether the messages of the file end with what says so.
    fn has_end(&self) -> io::Result<bool> {
        let layout = &self.file.layout;
        let (mut end, bytes) = ([0; 8], END.len() as u64);
        let at = match layout.footer {
            Some(_) => layout.end.saturating_sub(bytes),
            None => layout.end,
        };
        match read_exact(&self.file.file, &mut end, at) {
            Ok(()) => Ok(end == END),
            // There is nothing behind the last batch of a stream.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Bytes before the end of a file without batches that say that it ends.
    fn end_bytes(&self, has_end: bool) -> u64 {
        if has_end && self.file.layout.footer.is_some() { END.len() as u64 } else { 0 }
    }
}

impl Assembly<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn copy(&mut self, range: Range<u64>) -> io::Result<()> {
        self.at += range.end - range.start;
        copy(&self.from.file, range, self.out, self.check)
    }

    fn align(&mut self) -> io::Result<()> {
        let rest = self.at.next_multiple_of(ALIGNED) - self.at;
        self.write(&[0; ALIGNED as usize][..rest as usize])
    }

    /// Writes what is left of a batch.
    fn batch(&mut self, block: MessagePlace, fate: BatchFate<'_>) -> io::Result<()> {
        match fate {
            BatchFate::Goes => Ok(()),
            BatchFate::Stays => self.copy(block.at..block.end()),
            BatchFate::Written(from, bytes) => {
                if io::copy(from, self.out)? != bytes {
                    return Err(damaged("a batch of another length than was written"));
                }
                self.at += bytes;
                Ok(())
            }
        }
    }

    /// Writes the footer with other blocks, and all behind it.
    fn footer(&mut self, place: Range<u64>, moved: Vec<(MessagePlace, Option<usize>)>) -> io::Result<()> {
        self.align()?;
        let mut footer = vec![0; (place.end - place.start) as usize];
        read_exact(&self.from.file, &mut footer, place.start)?;
        let old = &self.from.layout.dictionaries;
        // Dictionaries stand in the footer in the order in which they are read.
        let mut dictionaries: Vec<(u64, MessagePlace)> = Vec::with_capacity(old.len());
        let mut batches = Vec::new();
        let mut places: Vec<u64> = old.iter().map(|place| place.block.at).collect();
        places.sort_unstable();
        let mut places = places.into_iter();
        for (block, batch) in moved {
            match batch {
                None => dictionaries.extend(places.next().map(|place| (place, block))),
                Some(number) => batches.push((number, block)),
            }
        }
        let of = |place: u64| dictionaries[dictionaries.partition_point(|(at, _)| *at < place)].1;
        let dictionaries: Vec<MessagePlace> = old.iter().map(|place| of(place.block.at)).collect();
        batches.sort_unstable_by_key(|(number, _)| *number);
        let batches: Vec<MessagePlace> = batches.into_iter().map(|(_, block)| block).collect();
        put_blocks(&mut footer, 2, &dictionaries)?;
        put_blocks(&mut footer, 3, &batches)?;
        if !has_blocks(&footer, 2, &dictionaries)? || !has_blocks(&footer, 3, &batches)? {
            return Err(damaged("a footer whose parts overlap"));
        }
        self.write(&footer)?;
        let length = u32::try_from(footer.len()).map_err(|_| damaged("a footer that is too long"))?;
        self.write(&length.to_le_bytes())?;
        self.write(MAGIC)
    }
}

/// Puts other blocks in the place of those that a field of a footer has, which are as many, or more.
fn put_blocks(footer: &mut [u8], field: usize, blocks: &[MessagePlace]) -> io::Result<()> {
    let Some(found) = FlatTable::root(footer)?.vector(field, BLOCK)? else {
        return if blocks.is_empty() { Ok(()) } else { Err(damaged("a footer without its batches")) };
    };
    let (at, before) = (found.at, found.count);
    if blocks.len() > before {
        return Err(damaged("a footer without some of its batches"));
    }
    footer[at..at + before * BLOCK].fill(0);
    footer[at - 4..at].copy_from_slice(&(blocks.len() as u32).to_le_bytes());
    for (block, place) in blocks.iter().zip(footer[at..].chunks_exact_mut(BLOCK)) {
        place[..8].copy_from_slice(&block.at.to_le_bytes());
        place[8..16].copy_from_slice(&block.metadata.to_le_bytes());
        place[16..].copy_from_slice(&block.body.to_le_bytes());
    }
    Ok(())
}

/// Whether a field of a footer has just these blocks.
fn has_blocks(footer: &[u8], field: usize, blocks: &[MessagePlace]) -> io::Result<bool> {
    let Some(found) = FlatTable::root(footer)?.vector(field, BLOCK)? else { return Ok(blocks.is_empty()) };
    let same = |within: usize, of: &dyn Fn(&MessagePlace) -> u64| -> io::Result<bool> {
        Ok(found.longs(within)?.into_iter().eq(blocks.iter().map(|block| of(block) as i64)))
    };
    Ok(same(0, &|block| block.at)? && same(8, &|block| block.metadata)? && same(16, &|block| block.body)?)
}
