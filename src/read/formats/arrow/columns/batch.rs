//! The columns of a batch: what its head says of them, held against its bytes and its rows.

use std::io;
use std::sync::Arc;

use super::super::metadata::flat::damaged;
use super::super::metadata::message::{BatchHead, BodyCodec, MessagePlace};
use super::super::metadata::schema::{ArrowField, ArrowKind};
use super::buffers::BufferBytes;
use super::column::{ArrowColumn, ColumnOffsets, ColumnValues};
use super::views::{ViewBuffer, ViewBytes};
use crate::limits::{FREE_ROWS, MAX_ROWS_OF_BYTE};
use crate::read::bytes::InputFile;
use crate::read::formats::parquet::Cell;

/// Whether the values of a dictionary of a field are read: not those that are made of others.
pub(in crate::read::formats::arrow) fn has_plain_values(field: &ArrowField) -> bool {
    matches!(
        field.kind,
        ArrowKind::Fixed(..) | ArrowKind::Truth | ArrowKind::Strings { .. } | ArrowKind::Views
    )
}

/// The values of dictionaries, for whoever opens columns that name them.
pub(in crate::read::formats::arrow) trait DictionaryValues {
    /// The values of a dictionary of a field.
    fn values(&mut self, id: i64, field: &ArrowField) -> io::Result<Arc<Vec<Cell>>>;
}

/// A batch whose columns are opened, in the order in which its head names them.
pub(in crate::read::formats::arrow) struct BatchWalk<'a> {
    pub(in crate::read::formats::arrow) file: &'a Arc<InputFile>,
    pub(in crate::read::formats::arrow) block: MessagePlace,
    pub(in crate::read::formats::arrow) head: &'a BatchHead,
    /// Bytes of a buffer that may be in memory as a whole.
    pub(in crate::read::formats::arrow) most: u64,
    nodes: usize,
    buffers: usize,
    variadic: usize,
}

/// What is opened of a field.
#[derive(Clone, Copy)]
pub(in crate::read::formats::arrow) enum WantedField<'a> {
    Nothing,
    /// What is at the end of a way.
    Way(&'a [usize]),
    All,
}

impl<'a> WantedField<'a> {
    /// What is opened of a child.
    fn of(self, child: usize) -> WantedField<'a> {
        match self {
            WantedField::Way([first, rest @ ..]) if *first == child => WantedField::Way(rest),
            WantedField::All => WantedField::All,
            _ => WantedField::Nothing,
        }
    }
}

impl<'a> BatchWalk<'a> {
    pub(in crate::read::formats::arrow) fn new(
        file: &'a Arc<InputFile>,
        block: MessagePlace,
        head: &'a BatchHead,
        most: u64,
    ) -> BatchWalk<'a> {
        BatchWalk { file, block, head, most, nodes: 0, buffers: 0, variadic: 0 }
    }

    /// Rows of the next field, and how many of them are null.
    pub(in crate::read::formats::arrow) fn node(&mut self) -> io::Result<(u64, u64)> {
        self.nodes += 1;
        let node = self.head.nodes.get(self.nodes - 1);
        node.copied().ok_or_else(|| damaged("a batch that says nothing of some of its columns"))
    }

    /// Where the next buffer begins in the file, and how many bytes it has there.
    pub(in crate::read::formats::arrow) fn place(&mut self) -> io::Result<(u64, u64)> {
        self.buffers += 1;
        let (start, bytes) = *self
            .head
            .buffers
            .get(self.buffers - 1)
            .ok_or_else(|| damaged("a batch without some of its buffers"))?;
        match start.checked_add(bytes) {
            Some(end) if end <= self.block.body => Ok((self.block.body_at() + start, bytes)),
            _ => Err(damaged("a buffer that ends behind its batch")),
        }
    }

    /// The next buffer.
    pub(in crate::read::formats::arrow) fn buffer(&mut self) -> io::Result<BufferBytes> {
        let place = self.place()?;
        BufferBytes::open(self.file, place, self.head.codec, self.most)
    }

    /// How many buffers the views of the next field lead to.
    pub(in crate::read::formats::arrow) fn views(&mut self) -> io::Result<u64> {
        self.variadic += 1;
        let count = self.head.variadic.get(self.variadic - 1);
        count.copied().ok_or_else(|| damaged("a batch that does not say how many buffers its views have"))
    }

    /// Which rows of a field are not null, if some are.
    fn validity(&mut self, nulls: u64) -> io::Result<Option<BufferBytes>> {
        let place = self.place()?;
        match nulls > 0 && place.1 > 0 {
            true => BufferBytes::open(self.file, place, self.head.codec, self.most).map(Some),
            false => Ok(None),
        }
    }

    /// How many buffers a field has beside those of the fields within it.
    pub(in crate::read::formats::arrow) fn own_buffers(&mut self, field: &ArrowField) -> io::Result<u64> {
        Ok(match (field.dictionary, field.kind) {
            (Some(_), _) => 2,
            (None, ArrowKind::Null | ArrowKind::Runs) => 0,
            (None, ArrowKind::Struct | ArrowKind::Tuple(_)) => 1,
            (None, ArrowKind::Fixed(..) | ArrowKind::Truth | ArrowKind::List { .. } | ArrowKind::Map) => 2,
            (None, ArrowKind::Strings { .. } | ArrowKind::ListView { .. }) => 3,
            (None, ArrowKind::Views) => self.views()?.saturating_add(2),
            (None, ArrowKind::Union { dense }) => {
                1 + u64::from(dense) + u64::from(self.head.has_older_unions)
            }
        })
    }

    /// Passes over a field.
    pub(in crate::read::formats::arrow) fn pass(&mut self, field: &ArrowField) -> io::Result<()> {
        self.node()?;
        let own = self.own_buffers(field)?;
        self.buffers = self.buffers.saturating_add(usize::try_from(own).unwrap_or(usize::MAX));
        if field.dictionary.is_some() {
            return Ok(());
        }
        field.children.iter().try_for_each(|child| self.pass(child))
    }

    /// Opens what is wanted of a field of so many rows, or at least so many.
    pub(in crate::read::formats::arrow) fn column(
        &mut self,
        field: &ArrowField,
        wanted: WantedField<'_>,
        rows: Option<u64>,
        dictionaries: &mut dyn DictionaryValues,
    ) -> io::Result<Option<ArrowColumn>> {
        if matches!(wanted, WantedField::Nothing) {
            return self.pass(field).map(|()| None);
        }
        let (length, nulls) = self.node()?;
        if rows.is_some_and(|rows| length != rows) {
            return Err(damaged("a column of another length than its batch"));
        }
        let bare = matches!(field.kind, ArrowKind::Null | ArrowKind::Runs | ArrowKind::Union { .. });
        let validity = match bare && field.dictionary.is_none() {
            true => None,
            false => self.validity(nulls)?,
        };
        let values = match field.dictionary {
            Some(_) if !has_plain_values(field) => {
                self.place()?;
                ColumnValues::Other("a value of a dictionary of lists")
            }
            Some(keys) => {
                let values = dictionaries.values(keys.id, field)?;
                ColumnValues::Keyed { keys: self.buffer()?, width: keys.width, signed: keys.signed, values }
            }
            None => self.values(field, wanted, dictionaries)?,
        };
        // What takes no bytes takes time all the same.
        let most = self.block.body.saturating_mul(MAX_ROWS_OF_BYTE).max(FREE_ROWS);
        if matches!(values, ColumnValues::Nothing | ColumnValues::Other(_)) && length > most {
            return Err(damaged(format!("{length} rows of nothing; {most} are allowed")));
        }
        Ok(Some(ArrowColumn { validity, at: 0, rows: length, values }))
    }

    /// Opens the values of a field.
    fn values(
        &mut self,
        field: &ArrowField,
        wanted: WantedField<'_>,
        dictionaries: &mut dyn DictionaryValues,
    ) -> io::Result<ColumnValues> {
        Ok(match field.kind {
            ArrowKind::Null => ColumnValues::Nothing,
            ArrowKind::Truth => ColumnValues::Truths(self.buffer()?),
            ArrowKind::Fixed(width, meaning) => ColumnValues::Fixed { bytes: self.buffer()?, width, meaning },
            ArrowKind::Strings { wide } => {
                let offsets = ColumnOffsets { bytes: self.buffer()?, wide };
                ColumnValues::Strings { offsets, bytes: self.buffer()? }
            }
            ArrowKind::Views => ColumnValues::Views(self.view_bytes()?),
            ArrowKind::List { .. } | ArrowKind::Map => {
                let wide = field.kind == ArrowKind::List { wide: true };
                let offsets = ColumnOffsets { bytes: self.buffer()?, wide };
                let of = self.child(field, 0, wanted, dictionaries)?;
                ColumnValues::List { offsets, of, is_map: field.kind == ArrowKind::Map }
            }
            ArrowKind::Tuple(size) => {
                ColumnValues::Tuple { size, of: self.child(field, 0, wanted, dictionaries)? }
            }
            ArrowKind::Struct => {
                let mut fields = Vec::new();
                for (at, child) in field.children.iter().enumerate() {
                    if let Some(column) = self.column(child, wanted.of(at), None, dictionaries)? {
                        fields.push((child.name.clone(), column));
                    }
                }
                ColumnValues::Struct(fields)
            }
            ArrowKind::Runs => {
                let (runs, _) = self.node()?;
                self.place()?;
                let ArrowKind::Fixed(width, _) = field.children[0].kind else {
                    return Err(damaged("runs without ends"));
                };
                let ends = self.buffer()?;
                let of = self.child(field, 1, wanted, dictionaries)?;
                if of.rows < runs {
                    return Err(damaged("runs without values"));
                }
                ColumnValues::Runs { ends, width, of, run: None }
            }
            ArrowKind::ListView { .. } => {
                self.passed(field, 2)?;
                ColumnValues::Other("a list of views")
            }
            ArrowKind::Union { .. } => {
                let own = self.own_buffers(field)?;
                self.passed(field, own as usize)?;
                ColumnValues::Other("a union")
            }
        })
    }

    /// Passes over so many buffers, and what is within a field.
    fn passed(&mut self, field: &ArrowField, buffers: usize) -> io::Result<()> {
        self.buffers += buffers;
        field.children.iter().try_for_each(|child| self.pass(child))
    }

    fn child(
        &mut self,
        field: &ArrowField,
        child: usize,
        wanted: WantedField<'_>,
        dictionaries: &mut dyn DictionaryValues,
    ) -> io::Result<Box<ArrowColumn>> {
        let column = self.column(&field.children[child], wanted.of(child), None, dictionaries)?;
        column.map(Box::new).ok_or_else(|| damaged("a way that ends in a list"))
    }

    /// The views of a field, and what they lead to.
    fn view_bytes(&mut self) -> io::Result<ViewBytes> {
        let views = self.buffer()?;
        let mut buffers = Vec::new();
        for _ in 0..self.views()? {
            let place = self.place()?;
            buffers.push(ViewBuffer::open(self.file, place, self.codec_of(place.1), self.most)?);
        }
        Ok(ViewBytes::new(views, buffers))
    }

    fn codec_of(&self, bytes: u64) -> BodyCodec {
        if bytes == 0 { BodyCodec::None } else { self.head.codec }
    }
}
