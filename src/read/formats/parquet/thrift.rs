//! As much of Thrift's compact protocol as it takes to look at what a Parquet file says before anything is made of it.

use parquet::errors::{ParquetError, Result};

/// Deepest nesting of what is passed over.
const DEEPEST: usize = 64;

/// The kinds of fields that are read; all others are passed over.
pub(super) const TRUE: u8 = 1;
pub(super) const FALSE: u8 = 2;
const BYTE: u8 = 3;
pub(super) const I16: u8 = 4;
pub(super) const I32: u8 = 5;
pub(super) const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
pub(super) const STRUCT: u8 = 12;

/// Reads values one after the other.
pub(super) struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Compact<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Compact<'a> {
        Compact { bytes, at: 0 }
    }

    /// Bytes read so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = self.bytes.get(self.at).copied().ok_or_else(too_short)?;
        self.at += 1;
        Ok(byte)
    }

    /// A number without a sign.
    pub(super) fn unsigned(&mut self) -> Result<u64> {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
            shift += 7;
            if shift > 63 {
                return Err(damaged("a number that is too long"));
            }
        }
    }

    /// A number with a sign.
    pub(super) fn signed(&mut self) -> Result<i64> {
        self.unsigned().map(|value| (value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A number from 0 on that fits in 31 bits, as all sizes of Parquet do.
    pub(super) fn size(&mut self) -> Result<usize> {
        let value = self.signed()?;
        i32::try_from(value)
            .ok()
            .and_then(|value| usize::try_from(value).ok())
            .ok_or_else(|| damaged("a size below 0 or too large"))
    }

    /// The number and the kind of the next field of a struct, behind field `last`; `None` at its end.
    pub(super) fn field(&mut self, last: &mut i16) -> Result<Option<(i16, u8)>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        let number = match head >> 4 {
            0 => i16::try_from(self.signed()?).map_err(|_| damaged("a field with an impossible number"))?,
            step => last.saturating_add(i16::from(step)),
        };
        *last = number;
        Ok(Some((number, head & 15)))
    }

    /// The length and the kind of the elements of a list.
    pub(super) fn list(&mut self) -> Result<(usize, u8)> {
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => usize::try_from(self.unsigned()?).map_err(|_| too_short())?,
            length => usize::from(length),
        };
        // Every element takes a byte at least.
        if length > self.bytes.len() - self.at { Err(too_short()) } else { Ok((length, head & 15)) }
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self, kind: u8) -> Result<()> {
        self.skip_within(kind, DEEPEST)
    }

    fn skip_within(&mut self, kind: u8, depth: usize) -> Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(|| damaged("values nested too deeply"))?;
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.byte().map(drop),
            I16 | I32 | I64 => self.unsigned().map(drop),
            DOUBLE => self.pass(8),
            BINARY => {
                let length = self.unsigned()?;
                self.pass(usize::try_from(length).map_err(|_| too_short())?)
            }
            LIST | SET => {
                let (length, kind) = self.list()?;
                (0..length).try_for_each(|_| self.skip_element(kind, depth))
            }
            MAP => match self.unsigned()? {
                0 => Ok(()),
                length => {
                    let kinds = self.byte()?;
                    (0..length).try_for_each(|_| {
                        self.skip_element(kinds >> 4, depth)?;
                        self.skip_element(kinds & 15, depth)
                    })
                }
            },
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip_within(kind, depth)?;
                }
                Ok(())
            }
            _ => Err(damaged("a value of a kind that there is not")),
        }
    }

    /// Passes over an element: truth has a byte of its own there.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Result<()> {
        match kind {
            TRUE | FALSE => self.byte().map(drop),
            kind => self.skip_within(kind, depth),
        }
    }

    fn pass(&mut self, bytes: usize) -> Result<()> {
        if bytes > self.bytes.len() - self.at {
            return Err(too_short());
        }
        self.at += bytes;
        Ok(())
    }
}

/// The error of what is not what it should be.
pub(super) fn damaged(what: impl Into<String>) -> ParquetError {
    ParquetError::General(what.into())
}

/// The error of what ends in the middle.
pub(super) fn too_short() -> ParquetError {
    ParquetError::EOF("the file ends within a value".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_protocol() {
        let mut compact = Compact::new(&[0xac, 0x02, 0x03, 0x04]);
        assert_eq!(
            (compact.unsigned().ok(), compact.signed().ok(), compact.size().ok()),
            (Some(300), Some(-2), Some(2))
        );
        assert!(compact.unsigned().is_err() && Compact::new(&[0xff; 11]).unsigned().is_err());
        assert!(Compact::new(&[0x03]).size().is_err());
    }

    #[test]
    fn what_is_passed_over_costs_no_stack_and_no_memory() {
        assert!(Compact::new(&vec![0x1c; 100_000]).skip(STRUCT).is_err());
        assert!(Compact::new(&[0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f]).skip(LIST).is_err());
        assert!(Compact::new(&[0xff, 0xff, 0xff, 0xff, 0x0f, 1]).skip(BINARY).is_err());
        let mut compact = Compact::new(&[0x18, 2, b'a', b'b', 0x19, 0x25, 2, 4, 0, 9]);
        assert!(compact.skip(STRUCT).is_ok());
        assert_eq!(compact.position(), 9);
    }
}
