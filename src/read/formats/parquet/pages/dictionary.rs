//! The dictionary of a column of a row group, where all its values are in it.

use std::iter;

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::errors::Result;

use super::super::thrift::{damaged, too_short};
use super::ColumnPages;
use super::header::Contents;

/// A dictionary of texts or bytes, as it is stored.
pub struct StoredDictionary {
    page: Bytes,
    count: u32,
}

impl StoredDictionary {
    /// The dictionary that a page holds: so many values, each behind its length.
    ///
    /// # Errors
    /// If there are others.
    pub fn new(page: Bytes, count: u32) -> Result<StoredDictionary> {
        let dictionary = StoredDictionary { page, count };
        let mut rest: &[u8] = &dictionary.page;
        for _ in 0..count {
            first(&mut rest).ok_or_else(too_short)?;
        }
        if rest.is_empty() { Ok(dictionary) } else { Err(damaged("a dictionary of more bytes than values")) }
    }

    /// The page.
    pub fn page(&self) -> &Bytes {
        &self.page
    }

    /// How many values it has.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Its values in their order.
    pub fn values(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest: &[u8] = &self.page;
        iter::from_fn(move || first(&mut rest))
    }
}

/// Takes the first value of some.
fn first<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, behind) = rest.split_first_chunk::<4>()?;
    let (value, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *rest = behind;
    Some(value)
}

impl ColumnPages {
    /// The dictionary, if every page of data names its values by it.
    pub(in crate::read::formats::parquet) fn dictionary(mut self) -> Result<Option<StoredDictionary>> {
        if !matches!(self.look()?.map(|header| header.contents), Some(Contents::Dictionary { .. })) {
            return Ok(None);
        }
        let Some(Page::DictionaryPage { buf, num_values, .. }) = self.page()? else { return Ok(None) };
        while let Some(header) = self.look()? {
            match header.contents {
                Contents::Data { encoding, .. } | Contents::DataV2 { encoding, .. }
                    if matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY) => {}
                _ => return Ok(None),
            }
            let packed = header.packed;
            self.next = None;
            self.pass(packed);
        }
        StoredDictionary::new(buf, num_values).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dictionary_has_as_many_values_as_it_says() {
        let page = Bytes::from_static(&[1, 0, 0, 0, b'z', 0, 0, 0, 0, 2, 0, 0, 0, b'a', b'b']);
        let whole = StoredDictionary::new(page.clone(), 3).expect("three values");
        assert_eq!(whole.values().collect::<Vec<_>>(), [b"z".as_slice(), b"", b"ab"]);
        assert_eq!((whole.count(), whole.page()), (3, &page));
        for wrong in [0, 2, 4, u32::MAX] {
            assert!(StoredDictionary::new(page.clone(), wrong).is_err(), "{wrong}");
        }
        assert!((1..page.len()).all(|end| StoredDictionary::new(page.slice(..end), 3).is_err()));
        assert!(StoredDictionary::new(Bytes::new(), 0).is_ok_and(|none| none.values().next().is_none()));
    }
}
