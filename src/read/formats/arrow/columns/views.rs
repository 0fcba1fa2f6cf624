//! Texts that are named by their beginnings: short ones stand where they are named, long ones in a buffer of their own.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::super::metadata::flat::damaged;
use super::super::metadata::message::{BodyCodec, read_exact};
use super::buffers::{BufferBytes, no_room};
use crate::limits::sized;
use crate::read::bytes::InputFile;
use crate::read::formats::parquet::Cell;

/// Bytes of a view, and of a text that stands in it.
pub(in crate::read::formats::arrow) const VIEW: usize = 16;
pub(in crate::read::formats::arrow) const SHORT: usize = 12;
/// Bytes between texts that are read rather than passed over.
const GAP: u64 = sized(64 << 10, 16);

/// How much less a buffer costs than a record of as many bytes, of which texts and tokens are made.
const PART: u64 = 2;

/// A view.
#[derive(Clone, Copy)]
pub(in crate::read::formats::arrow) struct View {
    pub(in crate::read::formats::arrow) length: u64,
    /// Where a long one is: in which buffer, and where in it.
    pub(in crate::read::formats::arrow) place: Option<(usize, u64)>,
}

impl View {
    pub(in crate::read::formats::arrow) fn of(bytes: &[u8]) -> io::Result<View> {
        let number = |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let whole =
            |at: usize| u32::try_from(number(at)).map_err(|_| damaged("a text of less than no bytes"));
        let length = u64::from(whole(0)?);
        let place = match length > SHORT as u64 {
            true => Some((whole(8)? as usize, u64::from(whole(12)?))),
            false => None,
        };
        Ok(View { length, place })
    }
}

/// Buffers that are in memory as a whole at a time, of those that views lead to: one may begin where another one ends.
const HELD: usize = 2;

/// The views of a column, and what they lead to.
pub(in crate::read::formats::arrow) struct ViewBytes {
    pub(in crate::read::formats::arrow) views: BufferBytes,
    pub(in crate::read::formats::arrow) buffers: Vec<ViewBuffer>,
    /// Those that are in memory as a whole.
    held: VecDeque<usize>,
}

/// A buffer that views lead to. One that is compressed is decompressed as a whole, once it is needed: views may lead anywhere in
/// it.
pub(in crate::read::formats::arrow) struct ViewBuffer {
    file: Arc<InputFile>,
    /// Where it begins in the file, and how many bytes it has there.
    place: (u64, u64),
    codec: BodyCodec,
    most: u64,
    held: Option<Bytes>,
    /// Bytes that it takes in memory.
    unpacked: u64,
}

impl ViewBuffer {
    /// The buffer in so many bytes of a file from `start` on, which are all there.
    pub(in crate::read::formats::arrow) fn open(
        file: &Arc<InputFile>,
        place: (u64, u64),
        codec: BodyCodec,
        most: u64,
    ) -> io::Result<ViewBuffer> {
        let unpacked = match codec {
            BodyCodec::None => 0,
            codec => BufferBytes::open(file, place, codec, most)?.length(),
        };
        if unpacked / PART > most {
            return Err(no_room(unpacked));
        }
        Ok(ViewBuffer { file: Arc::clone(file), place, codec, most, held: None, unpacked })
    }

    /// Whether it is not in memory, and has to be.
    fn is_wanted(&self) -> bool {
        self.codec != BodyCodec::None && self.held.is_none()
    }

    /// Brings it into memory.
    fn hold(&mut self) -> io::Result<()> {
        let mut packed = BufferBytes::open(&self.file, self.place, self.codec, self.most)?;
        let length = usize::try_from(packed.length()).unwrap_or(usize::MAX);
        self.held = Some(packed.take(0, length)?.into());
        Ok(())
    }

    /// So many bytes of it.
    fn range(&self, range: Range<u64>) -> io::Result<Bytes> {
        let behind = || damaged("a text that ends behind its buffer");
        if let Some(held) = &self.held {
            return match range.end <= held.len() as u64 {
                true => Ok(held.slice(range.start as usize..range.end as usize)),
                false => Err(behind()),
            };
        }
        if range.end > self.place.1 {
            return Err(behind());
        }
        let mut read = vec![0; (range.end - range.start) as usize];
        read_exact(&self.file, &mut read, self.place.0 + range.start)?;
        Ok(read.into())
    }
}

impl ViewBytes {
    pub(in crate::read::formats::arrow) fn new(views: BufferBytes, buffers: Vec<ViewBuffer>) -> ViewBytes {
        ViewBytes { views, buffers, held: VecDeque::new() }
    }

    /// Most bytes that are in memory as a whole at a time.
    pub(in crate::read::formats::arrow) fn most_held(&self) -> u64 {
        let most = self.buffers.iter().map(|buffer| buffer.unpacked).max().unwrap_or(0);
        most.saturating_mul(HELD as u64)
    }

    /// The views of some rows.
    fn of(&mut self, at: u64, rows: usize) -> io::Result<&[u8]> {
        self.views.range(at * VIEW as u64, rows * VIEW)
    }

    /// Bytes of the first of some rows, of the first two, and so on.
    pub(in crate::read::formats::arrow) fn ends(&mut self, at: u64, rows: usize) -> io::Result<Vec<u64>> {
        let mut sum = 0;
        let add = |view: &[u8]| {
            // What is wrong with a row that is null is no matter.
            sum += View::of(view).map_or(0, |view| view.length);
            sum
        };
        Ok(self.of(at, rows)?.chunks_exact(VIEW).map(add).collect())
    }

    /// Appends the cells of some rows.
    pub(in crate::read::formats::arrow) fn cells(
        &mut self,
        at: u64,
        rows: usize,
        is_there: &dyn Fn(usize) -> bool,
        longest: u64,
        cells: &mut Vec<Cell>,
    ) -> io::Result<()> {
        let bytes = self.of(at, rows)?.to_vec();
        let views = bytes.chunks_exact(VIEW).enumerate();
        let views = views.map(|(row, view)| is_there(row).then(|| View::of(view)).transpose());
        let views: Vec<Option<View>> = views.collect::<io::Result<_>>()?;
        let mut near = self.near(&views, longest)?;
        for (view, raw) in views.iter().zip(bytes.chunks_exact(VIEW)) {
            cells.push(match view {
                None => Cell::Null,
                Some(view) if view.length > longest => Cell::Long(view.length),
                Some(View { length, place: None }) => {
                    Cell::Text(Bytes::copy_from_slice(&raw[4..4 + *length as usize]).into())
                }
                Some(View { length, place: Some((buffer, start)) }) => {
                    let range = *start..start.saturating_add(*length);
                    Cell::Text(self.long(*buffer, range, &mut near)?.into())
                }
            });
        }
        Ok(())
    }

    /// What the long texts of some views stand in, where they stand close to each other: by buffer the first byte, and
    /// what is from there on.
    fn near(&mut self, views: &[Option<View>], longest: u64) -> io::Result<BTreeMap<usize, (u64, Bytes)>> {
        let mut spans: BTreeMap<usize, (Range<u64>, u64)> = BTreeMap::new();
        for View { length, place } in views.iter().flatten().filter(|view| view.length <= longest) {
            if let Some((buffer, start)) = place {
                let end = start.saturating_add(*length);
                let (span, sum) = spans.entry(*buffer).or_insert((*start..end, 0));
                *span = span.start.min(*start)..span.end.max(end);
                *sum += length;
            }
        }
        let mut near = BTreeMap::new();
        for (buffer, (span, sum)) in spans {
            if span.end - span.start <= 2 * sum + GAP {
                let start = span.start;
                near.insert(buffer, (start, self.buffer(buffer)?.range(span)?));
            }
        }
        Ok(near)
    }

    fn buffer(&mut self, number: usize) -> io::Result<&ViewBuffer> {
        let none = || damaged("a text in a buffer that is not there");
        if self.buffers.get(number).ok_or_else(none)?.is_wanted() {
            if self.held.len() == HELD
                && let Some(oldest) = self.held.pop_front()
            {
                self.buffers[oldest].held = None;
            }
            self.buffers[number].hold()?;
            self.held.push_back(number);
        }
        Ok(&self.buffers[number])
    }

    fn long(
        &mut self,
        buffer: usize,
        range: Range<u64>,
        near: &mut BTreeMap<usize, (u64, Bytes)>,
    ) -> io::Result<Bytes> {
        match near.get(&buffer) {
            Some((start, bytes)) => {
                Ok(bytes.slice((range.start - start) as usize..(range.end - start) as usize))
            }
            None => self.buffer(buffer)?.range(range),
        }
    }
}
