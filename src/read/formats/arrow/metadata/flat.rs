//! What the metadata of Arrow is written in: tables of FlatBuffers, whose fields are found through lists of offsets. Every
//! offset is held against the bytes that there are.

use std::io;

/// An error of what a file says.
pub(in crate::read::formats::arrow) fn damaged(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

fn outside() -> io::Error {
    damaged("metadata that points behind its end")
}

/// So many bytes at a place.
fn fixed<const N: usize>(bytes: &[u8], at: usize) -> io::Result<[u8; N]> {
    let end = at.checked_add(N).ok_or_else(outside)?;
    bytes.get(at..end).and_then(|bytes| bytes.try_into().ok()).ok_or_else(outside)
}

/// The place that the offset at another place leads to.
fn follow(bytes: &[u8], at: usize) -> io::Result<usize> {
    at.checked_add(u32::from_le_bytes(fixed(bytes, at)?) as usize).ok_or_else(outside)
}

/// A table.
#[derive(Clone, Copy)]
pub(in crate::read::formats::arrow) struct FlatTable<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the fields are, by number, from `at` on.
    slots: &'a [u8],
}

impl<'a> FlatTable<'a> {
    /// The table that some bytes are.
    pub(in crate::read::formats::arrow) fn root(bytes: &'a [u8]) -> io::Result<FlatTable<'a>> {
        FlatTable::new(bytes, follow(bytes, 0)?)
    }

    fn new(bytes: &'a [u8], at: usize) -> io::Result<FlatTable<'a>> {
        let back = i64::from(i32::from_le_bytes(fixed(bytes, at)?));
        let slots = usize::try_from(at as i64 - back).map_err(|_| outside())?;
        let length = usize::from(u16::from_le_bytes(fixed(bytes, slots)?));
        let end = slots.checked_add(length).ok_or_else(outside)?;
        let slots = bytes.get(slots..end).and_then(|slots| slots.get(4..)).ok_or_else(outside)?;
        Ok(FlatTable { bytes, at, slots })
    }

    /// Where a field is, if it is there.
    pub(in crate::read::formats::arrow) fn place(&self, field: usize) -> Option<usize> {
        let slot = self.slots.get(2 * field..2 * field + 2)?;
        let offset = u16::from_le_bytes([slot[0], slot[1]]);
        (offset > 0).then(|| self.at + usize::from(offset))
    }

    fn number<const N: usize>(&self, field: usize) -> io::Result<Option<[u8; N]>> {
        self.place(field).map(|at| fixed(self.bytes, at)).transpose()
    }

    /// A field of one byte, or what stands for it.
    pub(in crate::read::formats::arrow) fn byte(&self, field: usize, default: u8) -> io::Result<u8> {
        Ok(self.number::<1>(field)?.map_or(default, |[byte]| byte))
    }

    /// A field of two bytes.
    pub(in crate::read::formats::arrow) fn short(&self, field: usize, default: i16) -> io::Result<i16> {
        Ok(self.number(field)?.map_or(default, i16::from_le_bytes))
    }

    /// A field of four bytes.
    pub(in crate::read::formats::arrow) fn int(&self, field: usize, default: i32) -> io::Result<i32> {
        Ok(self.number(field)?.map_or(default, i32::from_le_bytes))
    }

    /// A field of eight bytes; 0 stands for it.
    pub(in crate::read::formats::arrow) fn long(&self, field: usize) -> io::Result<i64> {
        Ok(self.number(field)?.map_or(0, i64::from_le_bytes))
    }

    /// A field that is a table.
    pub(in crate::read::formats::arrow) fn table(&self, field: usize) -> io::Result<Option<FlatTable<'a>>> {
        self.place(field).map(|at| FlatTable::new(self.bytes, follow(self.bytes, at)?)).transpose()
    }

    /// A field that is a text.
    pub(in crate::read::formats::arrow) fn text(&self, field: usize) -> io::Result<Option<&'a str>> {
        let Some(bytes) = self.raw(field)? else { return Ok(None) };
        std::str::from_utf8(bytes).map(Some).map_err(|_| damaged("a name that is not UTF-8"))
    }

    /// A field that is bytes, or a text that may not be one.
    pub(in crate::read::formats::arrow) fn raw(&self, field: usize) -> io::Result<Option<&'a [u8]>> {
        let Some(found) = self.vector(field, 1)? else { return Ok(None) };
        found.bytes.get(found.at..found.at + found.count).map(Some).ok_or_else(outside)
    }

    /// A field that is a list of things of so many bytes each.
    pub(in crate::read::formats::arrow) fn vector(
        &self,
        field: usize,
        size: usize,
    ) -> io::Result<Option<FlatVector<'a>>> {
        let Some(place) = self.place(field) else { return Ok(None) };
        let at = follow(self.bytes, place)?;
        let count = u32::from_le_bytes(fixed(self.bytes, at)?) as usize;
        let end = count.checked_mul(size).and_then(|bytes| bytes.checked_add(at + 4)).ok_or_else(outside)?;
        if end > self.bytes.len() {
            return Err(outside());
        }
        Ok(Some(FlatVector { bytes: self.bytes, at: at + 4, count, size }))
    }

    /// A field that is a list of tables.
    pub(in crate::read::formats::arrow) fn tables(
        &self,
        field: usize,
    ) -> io::Result<impl Iterator<Item = io::Result<FlatTable<'a>>> + use<'a>> {
        let (bytes, found) = (self.bytes, self.vector(field, 4)?);
        let places = found.into_iter().flat_map(|found| (0..found.count).map(move |at| found.at + 4 * at));
        Ok(places.map(move |at| FlatTable::new(bytes, follow(bytes, at)?)))
    }
}

/// A list of things of one size.
#[derive(Clone, Copy)]
pub(in crate::read::formats::arrow) struct FlatVector<'a> {
    bytes: &'a [u8],
    /// Where the first of them is. The four bytes before it are their number.
    pub(in crate::read::formats::arrow) at: usize,
    pub(in crate::read::formats::arrow) count: usize,
    size: usize,
}

impl FlatVector<'_> {
    /// Eight bytes of each, at a place within it, as a number.
    pub(in crate::read::formats::arrow) fn longs(&self, within: usize) -> io::Result<Vec<i64>> {
        let places = (0..self.count).map(|at| self.at + at * self.size + within);
        places.map(|at| fixed(self.bytes, at).map(i64::from_le_bytes)).collect()
    }

    /// Four bytes of each.
    pub(in crate::read::formats::arrow) fn ints(&self, within: usize) -> io::Result<Vec<i32>> {
        let places = (0..self.count).map(|at| self.at + at * self.size + within);
        places.map(|at| fixed(self.bytes, at).map(i32::from_le_bytes)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with a byte, a list of two numbers, and a text.
    const TABLE: &[u8] = &[
        16, 0, 0, 0, 0, 0, // The root, and room to align.
        10, 0, 16, 0, 4, 0, 8, 0, 12, 0, // Slots: length, length of the table, three fields.
        10, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 24, 0, 0, 0, // The table.
        2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, // The list.
        2, 0, 0, 0, b'h', b'i', // The text.
    ];

    #[test]
    fn fields_are_found_and_none_is_behind_the_end() {
        let table = FlatTable::root(TABLE).expect("a table");
        assert_eq!((table.byte(0, 1).expect("a byte"), table.byte(3, 1).expect("none")), (7, 1));
        let longs = table.vector(1, 8).expect("a list").expect("there").longs(0).expect("numbers");
        assert_eq!((longs, table.text(2).expect("a text")), (vec![1, 2], Some("hi")));
        for length in 0..TABLE.len() {
            let read = || -> io::Result<()> {
                let table = FlatTable::root(&TABLE[..length])?;
                table.byte(0, 1)?;
                table.vector(1, 8)?;
                table.text(2).map(drop)
            };
            assert!(read().is_err(), "{length} bytes");
        }
        for at in 0..TABLE.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut other = TABLE.to_vec();
                other[at] = value;
                let Ok(table) = FlatTable::root(&other) else { continue };
                let tables = table.tables(1).map(Iterator::count);
                let _ = (table.long(0), table.text(2), tables, table.table(2));
            }
        }
    }
}
