//! What is said of a member before its header: its whole name, its size, and whether it has holes.

use super::block::{Extension, until_zero};
use crate::limits::MAX_FILE_BYTES;

/// Most bytes of what is said of a member before its header. Names are of some hundred; attributes may be longer.
pub(super) const MOST_SAID: u64 = 1 << 20;

/// What is said of a member before its header.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SaidBefore {
    /// Whether anything is.
    pub(super) any: bool,
    /// Its name.
    pub(super) path: Option<Vec<u8>>,
    /// The name of what it links to.
    pub(super) link: Option<Vec<u8>>,
    /// Bytes of its content.
    pub(super) size: Option<u64>,
    /// Whether it has holes that are not in the archive.
    pub(super) sparse: bool,
    /// Why it cannot be relied on.
    pub(super) fault: Option<&'static str>,
}

impl SaidBefore {
    /// Takes the content of one header more.
    pub(super) fn take(&mut self, extension: Extension, content: &[u8]) {
        self.any = true;
        match extension {
            // A name that keys and values have is that of a newer writer.
            Extension::LongName => {
                self.path.get_or_insert_with(|| until_zero(content).to_vec());
            }
            Extension::LongLink => {
                self.link.get_or_insert_with(|| until_zero(content).to_vec());
            }
            Extension::Pax => {
                if self.take_pax(content).is_none() {
                    self.fault = Some("an extended header that is none");
                }
            }
        }
    }

    /// Takes lines of a length, a key and a value each; `None` if they are none.
    fn take_pax(&mut self, mut content: &[u8]) -> Option<()> {
        while !content.is_empty() {
            let space = content.iter().take(20).position(|byte| *byte == b' ')?;
            let length = decimal(&content[..space]).and_then(|length| usize::try_from(length).ok())?;
            let line = content.get(space + 1..length)?.strip_suffix(b"\n")?;
            content = &content[length..];
            let equals = memchr::memchr(b'=', line)?;
            let (key, value) = (&line[..equals], &line[equals + 1..]);
            match key {
                b"path" => self.path = Some(value.to_vec()).filter(|value| !value.is_empty()),
                b"linkpath" => self.link = Some(value.to_vec()).filter(|value| !value.is_empty()),
                b"size" if value.is_empty() => self.size = None,
                b"size" => self.size = Some(decimal(value).filter(|size| *size <= MAX_FILE_BYTES)?),
                key if key.starts_with(b"GNU.sparse.") => self.sparse = true,
                _ => {}
            }
        }
        Some(())
    }

    /// Whether it says what can only be said of one member.
    pub(super) fn is_of_one(&self) -> bool {
        self.path.is_some() || self.link.is_some() || self.size.is_some() || self.sparse
    }
}

/// A number in decimal digits.
fn decimal(digits: &[u8]) -> Option<u64> {
    let digit = |number: u64, byte: &u8| {
        byte.is_ascii_digit().then(|| number.checked_mul(10)?.checked_add(u64::from(byte - b'0')))?
    };
    digits.iter().try_fold(0, digit).filter(|_| !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(content: &[u8]) -> SaidBefore {
        let mut said = SaidBefore::default();
        said.take(Extension::Pax, content);
        said
    }

    #[test]
    fn keys_and_values_have_lengths() {
        let found = said(b"14 path=a\nb=c\n13 size=1234\n22 GNU.sparse.major=1\n7 x=\xff\xfe\n");
        assert_eq!(
            (found.path.as_deref(), found.size, found.sparse),
            (Some(&b"a\nb=c"[..]), Some(1234), true)
        );
        assert_eq!(found.fault, None);
        assert_eq!(said(b"10 path=a\n8 path=\n").path, None);
        for wrong in [
            &b"8 path=a\n"[..],
            b"10 path=a",
            b"path=a\n",
            b"10 pathsa \n",
            b"99999999999999999999999 path=a\n",
            b"0 path=a\n",
            b"9 size=x\n",
            b"29 size=99999999999999999999\n",
            b"10 path=a\n\0",
        ] {
            assert!(said(wrong).fault.is_some(), "{wrong:?}");
        }
    }
}
