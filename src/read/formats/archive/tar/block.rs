//! The block of 512 bytes with which a member begins: its name, its kind and its size.

use crate::limits::MAX_FILE_BYTES;

/// Bytes of a block: everything in an archive takes whole ones.
pub(super) const BLOCK_BYTES: usize = 512;

/// What a block is that may begin a member.
pub(super) enum TarBlock<'a> {
    /// Nothing but zeros, as at the end.
    Zeros,
    /// The header of a member.
    Header(TarHeader<'a>),
    /// Neither.
    Unknown,
}

impl<'a> TarBlock<'a> {
    /// What a block is. Its checksum has to be right, and its size a number.
    pub(super) fn of(block: &'a [u8; BLOCK_BYTES]) -> TarBlock<'a> {
        let Some(sum) = octal(&block[CHECKSUM]) else {
            let zeros = block.iter().all(|byte| *byte == 0);
            return if zeros { TarBlock::Zeros } else { TarBlock::Unknown };
        };
        let size = number(&block[124..136]).filter(|size| *size <= MAX_FILE_BYTES);
        match size.filter(|_| is_sum(block, sum)) {
            Some(size) => TarBlock::Header(TarHeader { block, size }),
            None => TarBlock::Unknown,
        }
    }
}

/// Where the checksum stands.
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// Whether the bytes of a block, its checksum taken as spaces, come to a sum. Some old writers added signed bytes.
fn is_sum(block: &[u8; BLOCK_BYTES], sum: u64) -> bool {
    let spaces = 32 * CHECKSUM.len() as i64;
    let all: i64 = block.iter().map(|byte| i64::from(*byte)).sum();
    let own: i64 = block[CHECKSUM].iter().map(|byte| i64::from(*byte)).sum();
    let unsigned = all - own + spaces;
    let signed = || unsigned - 256 * block.iter().filter(|byte| **byte > 127).count() as i64;
    i64::try_from(sum).is_ok_and(|sum| sum == unsigned || sum == signed())
}

/// Makes the header of a member say another length.
pub(super) fn resize(block: &mut [u8; BLOCK_BYTES], size: u64) {
    let octal = format!("{size:011o}\0");
    match octal.len() {
        12 => block[124..136].copy_from_slice(octal.as_bytes()),
        _ => {
            block[124..128].copy_from_slice(&[0x80, 0, 0, 0]);
            block[128..136].copy_from_slice(&size.to_be_bytes());
        }
    }
    block[CHECKSUM].fill(b' ');
    let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
    block[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// A number of a header in octal digits, between spaces or before a zero; `None` if there is none.
fn octal(field: &[u8]) -> Option<u64> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    let digits = field[..end].trim_ascii();
    let digit = |number: u64, byte: &u8| {
        matches!(byte, b'0'..=b'7').then(|| number.checked_mul(8)?.checked_add(u64::from(byte - b'0')))?
    };
    digits.iter().try_fold(0, digit).filter(|_| !digits.is_empty())
}

/// A number of a header: in octal digits, none at all for 0, or in binary, as large ones are.
fn number(field: &[u8]) -> Option<u64> {
    match field {
        [0x80, rest @ ..] => {
            rest.iter().try_fold(0_u64, |number, byte| number.checked_mul(256)?.checked_add(u64::from(*byte)))
        }
        field if field.iter().all(|byte| matches!(byte, 0 | b' ')) => Some(0),
        field => octal(field),
    }
}

/// What the header of a member is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TarKind {
    /// A file.
    File,
    /// A file with holes that are not in the archive, and whether more of where they are follows.
    Sparse(bool),
    /// The rest of a file that begins in another archive.
    Rest,
    /// What is to be known of the next member.
    Extended(Extension),
    /// What is to be known of all members that follow.
    Global,
    /// A link to another member.
    Link,
    /// A folder, a symbolic link or a device: a name without content.
    Name,
    /// Something else, with content.
    Other,
}

/// How more is said of a member than its header has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extension {
    /// Keys and values (POSIX pax).
    Pax,
    /// Its name (GNU).
    LongName,
    /// The name of what it links to (GNU).
    LongLink,
}

/// The header of a member.
pub(super) struct TarHeader<'a> {
    block: &'a [u8; BLOCK_BYTES],
    size: u64,
}

impl<'a> TarHeader<'a> {
    /// What the member is.
    pub(super) fn kind(&self) -> TarKind {
        match self.block[156] {
            0 | b'0' | b'7' => TarKind::File,
            b'1' => TarKind::Link,
            b'2'..=b'6' => TarKind::Name,
            b'S' => TarKind::Sparse(self.block[482] != 0),
            b'M' => TarKind::Rest,
            b'x' | b'X' => TarKind::Extended(Extension::Pax),
            b'L' => TarKind::Extended(Extension::LongName),
            b'K' => TarKind::Extended(Extension::LongLink),
            b'g' => TarKind::Global,
            _ => TarKind::Other,
        }
    }

    /// Bytes of the content, as the header has it.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The name, without the folders before it that may stand apart.
    fn name(&self) -> &'a [u8] {
        until_zero(&self.block[..100])
    }

    /// The name of what the member links to.
    pub(super) fn link(&self) -> &'a [u8] {
        until_zero(&self.block[157..257])
    }

    /// The whole name. Where it may be in two parts, as in POSIX headers, a slash is between them.
    pub(super) fn path(&self) -> Vec<u8> {
        let is_posix = self.block[257..263] == *b"ustar\0";
        match until_zero(&self.block[345..500]) {
            prefix if is_posix && !prefix.is_empty() => [prefix, b"/", self.name()].concat(),
            _ => self.name().to_vec(),
        }
    }
}

/// A field up to the first zero.
pub(super) fn until_zero(field: &[u8]) -> &[u8] {
    &field[..memchr::memchr(0, field).unwrap_or(field.len())]
}

/// Whether more blocks say where the holes of a sparse file are.
pub(super) fn goes_on(block: &[u8; BLOCK_BYTES]) -> bool {
    block[504] != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_octal_or_binary() {
        assert_eq!(number(b"00000000017\0"), Some(15));
        assert_eq!(number(b"         17 "), Some(15));
        assert_eq!(number(b"\0\0\0\0\0\0\0\0\0\0\0\0"), Some(0));
        assert_eq!(number(b"            "), Some(0));
        assert_eq!(number(b"777777777777"), Some((1 << 36) - 1));
        assert_eq!(number(b"\x80\0\0\0\0\0\0\x02\0\0\0\x01"), Some((2 << 32) + 1));
        for wrong in
            [&b"00000000018\0"[..], b"-1", b"1x", b"\xff\xff\xff", b"1 1", b"\x80\x01\0\0\0\0\0\0\0\0"]
        {
            assert_eq!(number(wrong), None, "{wrong:?}");
        }
        assert_eq!(octal(b"        "), None);
        assert_eq!(octal(b"\x001234"), None);
    }

    #[test]
    fn headers_say_another_length() {
        for size in [0, 1, (1 << 33) - 1, 1 << 33, MAX_FILE_BYTES] {
            let mut block = [0; BLOCK_BYTES];
            block[..4].copy_from_slice(b"a\xff\xfe\xfd");
            resize(&mut block, size);
            assert!(
                matches!(TarBlock::of(&block), TarBlock::Header(header) if header.size() == size),
                "{size}"
            );
        }
    }

    #[test]
    fn sums_are_of_signed_or_unsigned_bytes() {
        for signed in [false, true] {
            let mut block = [0; BLOCK_BYTES];
            block[..4].copy_from_slice(b"a\xff\xfe\xfd");
            let sum = 97 + 255 + 254 + 253 + 256 - if signed { 768 } else { 0 };
            block[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
            assert!(
                matches!(TarBlock::of(&block), TarBlock::Header(header) if header.path() == b"a\xff\xfe\xfd")
            );
            for at in 0..BLOCK_BYTES {
                let mut changed = block;
                changed[at] ^= 1;
                // The last two bytes of the checksum are no digits.
                let harmless = (154..156).contains(&at);
                assert!(harmless || matches!(TarBlock::of(&changed), TarBlock::Unknown), "{at}");
            }
        }
        assert!(matches!(TarBlock::of(&[0; BLOCK_BYTES]), TarBlock::Zeros));
        assert!(matches!(TarBlock::of(&[b' '; BLOCK_BYTES]), TarBlock::Unknown));
    }
}
