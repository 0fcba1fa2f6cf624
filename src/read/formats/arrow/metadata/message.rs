//! Messages: what stands before the bytes of a schema, a dictionary or a batch of rows.

use std::io;

use super::flat::{FlatTable, damaged};
use super::schema::ArrowSchema;
use crate::limits::{MAX_METADATA_BYTES, sized};
use crate::read::bytes::InputFile;

/// What begins a message.
pub(in crate::read::formats::arrow) const CONTINUATION: [u8; 4] = [0xff; 4];
/// What ends all messages.
pub(in crate::read::formats::arrow) const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
/// The oldest form of metadata that is read: V4, since Arrow 0.8.
const VERSION: i16 = 3;
/// The field of a batch that has the nodes.
const NODES: usize = 1;
/// Bytes read at first of a message.
const FIRST: usize = sized(4 << 10, 64);

/// Where a message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read::formats::arrow) struct MessagePlace {
    pub(in crate::read::formats::arrow) at: u64,
    /// Bytes of its metadata, with the length before it.
    pub(in crate::read::formats::arrow) metadata: u64,
    /// Bytes behind that.
    pub(in crate::read::formats::arrow) body: u64,
}

impl MessagePlace {
    /// Where it ends.
    pub(in crate::read::formats::arrow) fn end(&self) -> u64 {
        self.at.saturating_add(self.metadata).saturating_add(self.body)
    }

    /// Bytes of it.
    pub(in crate::read::formats::arrow) fn bytes(&self) -> u64 {
        self.metadata.saturating_add(self.body)
    }

    /// Where its body begins.
    pub(in crate::read::formats::arrow) fn body_at(&self) -> u64 {
        self.at + self.metadata
    }
}

/// A message without its body.
pub(in crate::read::formats::arrow) struct MessageHead {
    /// The length and the metadata, as they stand.
    pub(in crate::read::formats::arrow) bytes: Vec<u8>,
    /// Bytes of the length.
    pub(in crate::read::formats::arrow) prefix: usize,
}

/// What a message brings.
pub(in crate::read::formats::arrow) enum Brings {
    Schema(ArrowSchema),
    /// The dictionary of a number, or what is added to it.
    Dictionary {
        id: i64,
        delta: bool,
        batch: BatchHead,
    },
    Rows(BatchHead),
    Other,
}

/// What is said of the columns of a batch.
#[derive(Clone, Default)]
pub(in crate::read::formats::arrow) struct BatchHead {
    pub(in crate::read::formats::arrow) rows: u64,
    /// By field, parents first: rows, and how many of them are null.
    pub(in crate::read::formats::arrow) nodes: Vec<(u64, u64)>,
    /// By field and use: where it begins in the body, and how many bytes it has.
    pub(in crate::read::formats::arrow) buffers: Vec<(u64, u64)>,
    /// By field of views: how many buffers they lead to.
    pub(in crate::read::formats::arrow) variadic: Vec<u64>,
    pub(in crate::read::formats::arrow) codec: BodyCodec,
    /// Whether unions say which of their rows are null, as they did in V4.
    pub(in crate::read::formats::arrow) has_older_unions: bool,
    /// Where these are in the bytes of the message.
    pub(in crate::read::formats::arrow) places: HeadPlaces,
}

/// Where what changes with the rows is in the bytes of a message; 0 where it is not there.
#[derive(Clone, Copy, Default)]
pub(in crate::read::formats::arrow) struct HeadPlaces {
    pub(in crate::read::formats::arrow) body: usize,
    pub(in crate::read::formats::arrow) rows: usize,
    pub(in crate::read::formats::arrow) nodes: usize,
    pub(in crate::read::formats::arrow) buffers: usize,
}

/// How the buffers of a body are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::read::formats::arrow) enum BodyCodec {
    #[default]
    None,
    Lz4,
    Zstd,
}

/// Reads all of a range.
pub(in crate::read::formats::arrow) fn read_exact(
    file: &InputFile,
    mut into: &mut [u8],
    mut at: u64,
) -> io::Result<()> {
    while !into.is_empty() {
        match file.read_at(into, at) {
            Ok(0) => return Err(damaged("it ends too early; it was cut off, or not written to its end")),
            Ok(read) => (into, at) = (&mut into[read..], at + read as u64),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl MessageHead {
    /// Reads the message at a place; `None` if there is the end of all messages, before `end`.
    pub(in crate::read::formats::arrow) fn read(
        file: &InputFile,
        at: u64,
        end: u64,
    ) -> io::Result<Option<MessageHead>> {
        let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; left.min(FIRST)];
        read_exact(file, &mut bytes, at)?;
        let word = |at: usize| bytes.get(at..at + 4).map(|word| [word[0], word[1], word[2], word[3]]);
        let cut = || damaged("the length of a message is cut off");
        let (prefix, length) = match word(0).ok_or_else(cut)? {
            CONTINUATION => (8, word(4).ok_or_else(cut)?),
            length => (4, length),
        };
        let length = u64::from(u32::from_le_bytes(length));
        if length == 0 {
            return Ok(None);
        }
        let all = length + prefix as u64;
        if length > MAX_METADATA_BYTES {
            return Err(damaged(format!("metadata of {length} bytes; {MAX_METADATA_BYTES} are allowed")));
        }
        if all > left as u64 {
            return Err(damaged(
                "metadata that ends behind its file; it was cut off, or not written to its end",
            ));
        }
        let read = bytes.len();
        bytes.resize(all as usize, 0);
        if read < bytes.len() {
            read_exact(file, &mut bytes[read..], at + read as u64)?;
        }
        Ok(Some(MessageHead { bytes, prefix }))
    }

    /// What it brings, and how many bytes its body has.
    pub(in crate::read::formats::arrow) fn brings(&self) -> io::Result<(Brings, u64)> {
        let metadata = &self.bytes[self.prefix..];
        let table = FlatTable::root(metadata)?;
        let version = table.short(0, 0)?;
        if version < VERSION {
            return Err(damaged("it was written before Arrow 0.8, which alike does not read"));
        }
        let body = u64::try_from(table.long(3)?).map_err(|_| damaged("a body of less than no bytes"))?;
        let header = table.table(2)?;
        let batch = |batch: FlatTable<'_>| {
            let mut head = BatchHead::of(batch, self.prefix)?;
            head.places.body = table.place(3).map_or(0, |at| at + self.prefix);
            head.has_older_unions = version == VERSION;
            Ok::<BatchHead, io::Error>(head)
        };
        let brings = match (table.byte(1, 0)?, header) {
            (1, Some(header)) => Brings::Schema(ArrowSchema::of(header, metadata.len())?),
            (2, Some(header)) => {
                let of = header.table(1)?.ok_or_else(|| damaged("a dictionary without values"))?;
                Brings::Dictionary { id: header.long(0)?, delta: header.byte(2, 0)? != 0, batch: batch(of)? }
            }
            (3, Some(header)) => Brings::Rows(batch(header)?),
            _ => Brings::Other,
        };
        Ok((brings, body))
    }
}

impl BatchHead {
    fn of(table: FlatTable<'_>, prefix: usize) -> io::Result<BatchHead> {
        let whole = |number: i64| u64::try_from(number).map_err(|_| damaged("a number of less than nothing"));
        let pairs = |field: usize| -> io::Result<(Vec<(u64, u64)>, usize)> {
            let Some(found) = table.vector(field, 16)? else { return Ok((Vec::new(), 0)) };
            let pairs = found.longs(0)?.into_iter().zip(found.longs(8)?);
            let pairs = pairs.map(|(one, two)| match (field, two) {
                // How many nulls there are is not known: there may be some.
                (NODES, -1) => Ok((whole(one)?, whole(one)?)),
                _ => Ok((whole(one)?, whole(two)?)),
            });
            Ok((pairs.collect::<io::Result<_>>()?, found.at + prefix))
        };
        let (nodes, nodes_at) = pairs(NODES)?;
        let (buffers, buffers_at) = pairs(2)?;
        let codec = match table.table(3)?.map(|said| said.byte(0, 0)).transpose()? {
            None => BodyCodec::None,
            Some(0) => BodyCodec::Lz4,
            Some(1) => BodyCodec::Zstd,
            Some(other) => return Err(damaged(format!("a compression {other} that alike does not know"))),
        };
        let variadic = match table.vector(4, 8)? {
            Some(counts) => counts.longs(0)?.into_iter().map(whole).collect::<io::Result<_>>()?,
            None => Vec::new(),
        };
        let places = HeadPlaces {
            body: 0,
            rows: table.place(0).map_or(0, |at| at + prefix),
            nodes: nodes_at,
            buffers: buffers_at,
        };
        let rows = whole(table.long(0)?)?;
        Ok(BatchHead { rows, nodes, buffers, variadic, codec, has_older_unions: false, places })
    }
}
