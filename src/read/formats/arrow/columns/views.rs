//! Texts that are named by their beginnings: short ones stand where they are named, long ones in a buffer of their own.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::super::metadata::flat::damaged;
use super::super::metadata::message::{BodyCodec, read_exact};
use super::buffers::{AT_ONCE, BufferBytes, no_room};
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

/// The views of a column, and what they lead to.
pub(in crate::read::formats::arrow) struct ViewBytes {
    pub(in crate::read::formats::arrow) views: BufferBytes,
    pub(in crate::read::formats::arrow) buffers: Vec<ViewBuffer>,
    /// Those that are in memory as a whole, and bytes that they may take.
    held: VecDeque<usize>,
    most: u64,
    /// Whether views led back to one that was no longer there.
    lead_back: bool,
    /// Bytes of texts that are read at once.
    step: u64,
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
    was_held: bool,
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
        Ok(ViewBuffer { file: Arc::clone(file), place, codec, most, held: None, was_held: false, unpacked })
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
        self.was_held = true;
        Ok(())
    }

    /// So many bytes of it, which keep nothing else of it in memory.
    fn range(&self, range: Range<u64>) -> io::Result<Bytes> {
        let behind = || damaged("a text that ends behind its buffer");
        if let Some(held) = &self.held {
            return match range.end <= held.len() as u64 {
                true => Ok(Bytes::copy_from_slice(&held[range.start as usize..range.end as usize])),
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
        // What leads to several at once is read one buffer at a time, and the last one stays.
        let most = buffers.iter().map(|buffer| buffer.unpacked).max().unwrap_or(0);
        ViewBytes { views, buffers, held: VecDeque::new(), most, lead_back: false, step: AT_ONCE }
    }

    /// Most bytes that are in memory as a whole at a time.
    pub(in crate::read::formats::arrow) fn most_held(&self) -> u64 {
        self.most
    }

    /// Lets buffers take so many bytes, if views lead back and forth: each would be decompressed for every few rows. Where that is too
    /// little for all of them, more texts are read at once.
    pub(in crate::read::formats::arrow) fn hold_within(&mut self, bytes: u64) {
        if self.lead_back {
            let all = self.buffers.iter().map(|buffer| buffer.unpacked).fold(0, u64::saturating_add);
            self.most = self.most.max(bytes.min(all));
            // They are in memory twice: as they are read, and as cells.
            self.step = if self.most < all { (bytes / 2).max(AT_ONCE) } else { AT_ONCE };
        }
    }

    /// Bytes of texts that are read at once.
    pub(in crate::read::formats::arrow) fn step(&self) -> u64 {
        self.step
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
        let mut long = self.long(&views, longest)?;
        for (row, (view, raw)) in views.iter().zip(bytes.chunks_exact(VIEW)).enumerate() {
            cells.push(match view {
                None => Cell::Null,
                Some(view) if view.length > longest => Cell::Long(view.length),
                Some(View { length, place: None }) => {
                    Cell::Text(Bytes::copy_from_slice(&raw[4..4 + *length as usize]).into())
                }
                Some(_) => Cell::Text(mem::take(&mut long[row]).into()),
            });
        }
        Ok(())
    }

    /// What the long texts of some views are; nothing where one is short, or too long. A buffer at a time, so that each is decompressed
    /// once at most, and texts that stand close to each other are read at once.
    fn long(&mut self, views: &[Option<View>], longest: u64) -> io::Result<Vec<Bytes>> {
        let mut by_buffer: BTreeMap<usize, Vec<(usize, Range<u64>)>> = BTreeMap::new();
        for (row, view) in views.iter().enumerate() {
            let Some(View { length, place: Some((buffer, start)) }) = view else { continue };
            if *length <= longest {
                by_buffer.entry(*buffer).or_default().push((row, *start..start.saturating_add(*length)));
            }
        }
        let mut long = vec![Bytes::new(); views.len()];
        for (buffer, ranges) in by_buffer {
            let buffer = self.buffer(buffer)?;
            let bounds = |range: Range<u64>, (_, next): &(usize, Range<u64>)| {
                range.start.min(next.start)..range.end.max(next.end)
            };
            let span = ranges[1..].iter().fold(ranges[0].1.clone(), bounds);
            let sum: u64 = ranges.iter().map(|(_, range)| range.end - range.start).sum();
            if span.end - span.start > 2 * sum + GAP {
                for (row, range) in ranges {
                    long[row] = buffer.range(range)?;
                }
                continue;
            }
            let near = buffer.range(span.clone())?;
            for (row, range) in ranges {
                long[row] =
                    near.slice((range.start - span.start) as usize..(range.end - span.start) as usize);
            }
        }
        Ok(long)
    }

    fn buffer(&mut self, number: usize) -> io::Result<&ViewBuffer> {
        let none = || damaged("a text in a buffer that is not there");
        let wanted = self.buffers.get(number).ok_or_else(none)?;
        if wanted.is_wanted() {
            self.lead_back |= wanted.was_held;
            let room = self.most.saturating_sub(wanted.unpacked);
            while self.held.iter().map(|held| self.buffers[*held].unpacked).sum::<u64>() > room
                && let Some(oldest) = self.held.pop_front()
            {
                self.buffers[oldest].held = None;
            }
            self.buffers[number].hold()?;
            self.held.push_back(number);
        }
        Ok(&self.buffers[number])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bytes as they stand in a file: if they are packed, their length and a frame of LZ4.
    fn laid(bytes: &[u8], codec: BodyCodec) -> Vec<u8> {
        if codec == BodyCodec::None {
            return bytes.to_vec();
        }
        let mut encoder = lz4_flex::frame::FrameEncoder::new((bytes.len() as u64).to_le_bytes().to_vec());
        io::Write::write_all(&mut encoder, bytes).expect("packed");
        encoder.finish().expect("packed")
    }

    /// Texts of some buffers, as they follow each other in each.
    fn texts(buffers: usize, each: usize) -> Vec<Vec<String>> {
        let text = |buffer: usize, at: usize| {
            format!("text {at:05} of buffer {buffer:03}").repeat(1 + (at * 7 + buffer) % 5)
        };
        (0..buffers).map(|buffer| (0..each).map(|at| text(buffer, at)).collect()).collect()
    }

    /// A column whose rows are these texts: the how many-th of which buffer.
    fn column(texts: &[Vec<String>], rows: &[(usize, usize)], codec: BodyCodec) -> ViewBytes {
        let number = |number: usize| (number as u32).to_le_bytes();
        let view = |(buffer, at): &(usize, usize)| {
            let text = texts[*buffer][*at].as_bytes();
            let start = texts[*buffer][..*at].iter().map(String::len).sum();
            [&number(text.len())[..], &text[..4], &number(*buffer), &number(start)].concat()
        };
        let mut file: Vec<u8> = Vec::new();
        let mut put = |bytes: &[u8]| {
            let (start, bytes) = (file.len() as u64, laid(bytes, codec));
            file.extend(&bytes);
            (start, bytes.len() as u64)
        };
        let views = put(&rows.iter().flat_map(view).collect::<Vec<u8>>());
        let buffers: Vec<(u64, u64)> = texts.iter().map(|texts| put(texts.concat().as_bytes())).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, &file).expect("written");
        // It is read on once its name is gone.
        let file = Arc::new(InputFile::open(&path, None).expect("opened"));
        let open = |place| ViewBuffer::open(&file, place, codec, u64::MAX).expect("opened");
        let views = BufferBytes::open(&file, views, codec, u64::MAX).expect("opened");
        ViewBytes::new(views, buffers.into_iter().map(open).collect())
    }

    /// The next rows of a column.
    fn read(column: &mut ViewBytes, at: usize, rows: usize) -> Vec<String> {
        let mut cells = Vec::new();
        column.cells(at as u64, rows, &|_| true, u64::MAX, &mut cells).expect("read");
        let text = |cell: Cell| match cell {
            Cell::Text(text) => String::from_utf8(text.data().to_vec()).expect("a text"),
            _ => panic!("no text"),
        };
        cells.into_iter().map(text).collect()
    }

    proptest! {
        #[test]
        fn texts_are_the_same_in_any_order_and_room(
            rows in prop::collection::vec((0usize..6, 0usize..40), 1..120),
            step in 1usize..50,
            codec in prop::sample::select(vec![BodyCodec::None, BodyCodec::Lz4]),
            room in prop::sample::select(vec![0u64, 9000, u64::MAX]),
        ) {
            let texts = texts(6, 40);
            let mut column = column(&texts, &rows, codec);
            for (at, some) in rows.chunks(step).enumerate() {
                column.hold_within(room);
                let truth: Vec<String> = some.iter().map(|(buffer, at)| texts[*buffer][*at].clone()).collect();
                prop_assert_eq!(read(&mut column, at * step, some.len()), truth);
                let held: usize = column.buffers.iter().flat_map(|buffer| &buffer.held).map(Bytes::len).sum();
                prop_assert!(held as u64 <= column.most_held());
            }
        }
    }

    #[test]
    fn more_is_held_only_where_views_lead_back() {
        let mut column = column(&texts(4, 3), &[0, 1, 2, 3, 0, 1].map(|buffer| (buffer, 0)), BodyCodec::Lz4);
        let in_order = column.most_held();
        let mut grew = Vec::new();
        for row in 0..6 {
            column.hold_within(u64::MAX);
            grew.push(column.most_held() > in_order);
            read(&mut column, row, 1);
        }
        assert_eq!(grew, [false, false, false, false, false, true]);
        assert_eq!(column.held, [0, 1], "the one before them had gone");
    }
}
