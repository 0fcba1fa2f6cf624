//! Texts that are named by their beginnings: short ones stand where they are named, long ones in a buffer of their own.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::buffers::BufferBytes;
use super::flat::damaged;
use super::message::{BodyCodec, read_exact};
use crate::limits::sized;
use crate::read::bytes::InputFile;
use crate::read::formats::parquet::Cell;

/// Bytes of a view, and of a text that stands in it.
pub(super) const VIEW: usize = 16;
pub(super) const SHORT: usize = 12;
/// Bytes between texts that are read rather than passed over.
const GAP: u64 = sized(64 << 10, 16);

/// A view.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub(super) length: u64,
    /// Where a long one is: in which buffer, and where in it.
    pub(super) place: Option<(usize, u64)>,
}

impl View {
    pub(super) fn of(bytes: &[u8]) -> io::Result<View> {
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

/// The views of a column, and what they lead to.
pub(super) struct ViewBytes {
    pub(super) views: BufferBytes,
    pub(super) buffers: Vec<ViewBuffer>,
}

/// A buffer that views lead to.
pub(super) enum ViewBuffer {
    /// As it stands in the file.
    Plain {
        file: Arc<InputFile>,
        start: u64,
        bytes: u64,
    },
    /// Decompressed as a whole, once it is needed: views may lead anywhere in it.
    Packed(Option<BufferBytes>),
    Held(Bytes),
}

impl ViewBuffer {
    /// The buffer in so many bytes of a file from `start` on, which are all there.
    pub(super) fn open(
        file: &Arc<InputFile>,
        start: u64,
        bytes: u64,
        codec: BodyCodec,
        most: u64,
    ) -> io::Result<ViewBuffer> {
        if codec == BodyCodec::None {
            return Ok(ViewBuffer::Plain { file: Arc::clone(file), start, bytes });
        }
        let packed = BufferBytes::open(file, start, bytes, codec)?;
        match packed.length() {
            length if length > most => Err(no_room(length)),
            _ => Ok(ViewBuffer::Packed(Some(packed))),
        }
    }

    /// So many bytes of it.
    fn range(&mut self, range: Range<u64>) -> io::Result<Bytes> {
        let behind = || damaged("a text that ends behind its buffer");
        if let ViewBuffer::Packed(packed) = self {
            let mut packed = packed.take().ok_or_else(|| damaged("a buffer that could not be read"))?;
            let length = packed.length() as usize;
            *self = ViewBuffer::Held(packed.take(0, length)?.into());
        }
        match self {
            ViewBuffer::Plain { file, start, bytes } => {
                if range.end > *bytes {
                    return Err(behind());
                }
                let mut read = vec![0; (range.end - range.start) as usize];
                read_exact(file, &mut read, *start + range.start)?;
                Ok(read.into())
            }
            ViewBuffer::Held(bytes) if range.end <= bytes.len() as u64 => {
                Ok(bytes.slice(range.start as usize..range.end as usize))
            }
            _ => Err(behind()),
        }
    }
}

/// What does not fit in the memory.
pub(super) fn no_room(bytes: u64) -> io::Error {
    let what = format!(
        "a buffer of a batch has {bytes} bytes that have to be in memory at once, which do not fit in what is allowed: allow \
         more with --memory, or write the file with smaller batches"
    );
    io::Error::new(io::ErrorKind::OutOfMemory, what)
}

impl ViewBytes {
    /// The views of some rows.
    fn of(&mut self, at: u64, rows: usize) -> io::Result<&[u8]> {
        self.views.range(at * VIEW as u64, rows * VIEW)
    }

    /// Bytes of the first of some rows, of the first two, and so on.
    pub(super) fn ends(&mut self, at: u64, rows: usize) -> io::Result<Vec<u64>> {
        let mut sum = 0;
        let add = |view: &[u8]| {
            // What is wrong with a row that is null is no matter.
            sum += View::of(view).map_or(0, |view| view.length);
            sum
        };
        Ok(self.of(at, rows)?.chunks_exact(VIEW).map(add).collect())
    }

    /// Appends the cells of some rows.
    pub(super) fn cells(
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

    fn buffer(&mut self, buffer: usize) -> io::Result<&mut ViewBuffer> {
        self.buffers.get_mut(buffer).ok_or_else(|| damaged("a text in a buffer that is not there"))
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
