//! zip archives as the standard spells them out: members, a directory, and an end.

use std::io::Write;

/// How a member says how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// In its header.
    Before,
    /// Behind its content, as it is written to a pipe.
    Behind,
    /// As numbers of eight bytes.
    Large,
}

/// A member, and what is said of it.
#[derive(Clone, Debug)]
pub(crate) struct Zipped {
    pub(crate) name: Vec<u8>,
    /// What is packed.
    pub(crate) packed: Vec<u8>,
    pub(crate) method: u16,
    pub(crate) flags: u16,
    pub(crate) sum: u32,
    pub(crate) unpacked: u64,
    pub(crate) sizes: Sizes,
    /// The system that it is from, and its attributes there.
    pub(crate) attributes: (u8, u32),
    pub(crate) comment: Vec<u8>,
}

/// The bytes, deflated.
pub(crate) fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// The checksum of a content.
pub(crate) fn checksum(content: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(content);
    sum.sum()
}

impl Zipped {
    /// A deflated file.
    pub(crate) fn new(name: impl Into<Vec<u8>>, content: impl AsRef<[u8]>) -> Zipped {
        let content = content.as_ref();
        Zipped {
            name: name.into(),
            packed: deflated(content),
            method: 8,
            flags: 1 << 11,
            sum: checksum(content),
            unpacked: content.len() as u64,
            sizes: Sizes::Before,
            attributes: (3, 0o10_0644 << 16),
            comment: Vec::new(),
        }
    }

    /// The same as it is.
    pub(crate) fn stored(name: impl Into<Vec<u8>>, content: impl AsRef<[u8]>) -> Zipped {
        let packed = content.as_ref().to_vec();
        Zipped { packed, method: 0, ..Zipped::new(name, content) }
    }

    pub(crate) fn sized(self, sizes: Sizes) -> Zipped {
        let flags = self.flags | if sizes == Sizes::Behind { 8 } else { 0 };
        Zipped { sizes, flags, ..self }
    }

    /// What header and directory have in common.
    fn common(&self, (sum, packed, unpacked): (u32, u64, u64)) -> Vec<u8> {
        let number = |number: u64| match self.sizes {
            Sizes::Large => u32::MAX,
            _ => u32::try_from(number).unwrap(),
        };
        let mut common = vec![if self.sizes == Sizes::Large { 45 } else { 20 }, 0];
        common
            .extend([self.flags.to_le_bytes(), self.method.to_le_bytes(), [0, 0x60], [0x21, 0x50]].concat());
        common.extend([sum, number(packed), number(unpacked)].map(u32::to_le_bytes).concat());
        common.extend(u16::try_from(self.name.len()).unwrap().to_le_bytes());
        common
    }

    /// What else is said of it: what is large, behind something unknown.
    fn more(&self, numbers: &[u64]) -> Vec<u8> {
        let mut more = b"xx\x03\0abc".to_vec();
        if self.sizes == Sizes::Large {
            more.extend([1, 0, 8 * u8::try_from(numbers.len()).unwrap(), 0]);
            numbers.iter().for_each(|number| more.extend(number.to_le_bytes()));
        }
        more
    }

    /// All bytes of it but its entry.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let packed = self.packed.len() as u64;
        let numbers = (self.sum, packed, self.unpacked);
        let (said, behind) = match self.sizes {
            Sizes::Behind => {
                let numbers =
                    [self.sum, u32::try_from(packed).unwrap(), u32::try_from(self.unpacked).unwrap()];
                ((0, 0, 0), [b"PK\x07\x08".to_vec(), numbers.map(u32::to_le_bytes).concat()].concat())
            }
            _ => (numbers, Vec::new()),
        };
        let more = self.more(&[self.unpacked, packed]);
        let length = u16::try_from(more.len()).unwrap().to_le_bytes();
        [b"PK\x03\x04", &*self.common(said), &length, &self.name, &more, &self.packed, &behind].concat()
    }

    /// Its entry in a directory, if its bytes begin at `at`.
    pub(crate) fn entry(&self, at: u64) -> Vec<u8> {
        let packed = self.packed.len() as u64;
        let more = self.more(&[self.unpacked, packed, at]);
        let lengths =
            [more.len(), self.comment.len()].map(|length| u16::try_from(length).unwrap().to_le_bytes());
        let place = if self.sizes == Sizes::Large { u32::MAX } else { u32::try_from(at).unwrap() };
        let (system, attributes) = self.attributes;
        let tail = [&[0; 4][..], &attributes.to_le_bytes(), &place.to_le_bytes()].concat();
        let common = self.common((self.sum, packed, self.unpacked));
        let parts: [&[u8]; 7] = [
            b"PK\x01\x02",
            &[20, system],
            &common,
            &lengths.concat(),
            &tail,
            &self.name,
            &[&more[..], &self.comment].concat(),
        ];
        parts.concat()
    }
}

/// The end of an archive of so many members, whose directory has so many bytes and begins at `at`.
pub(crate) fn end(members: usize, length: usize, at: usize, comment: &[u8]) -> Vec<u8> {
    let members = u16::try_from(members).unwrap().to_le_bytes();
    let numbers = [length, at].map(|number| u32::try_from(number).unwrap().to_le_bytes()).concat();
    let comment_length = u16::try_from(comment.len()).unwrap().to_le_bytes();
    [b"PK\x05\x06\0\0\0\0", &members[..], &members, &numbers, &comment_length, comment].concat()
}

/// The same of a large archive.
pub(crate) fn large_end(members: u64, length: u64, at: u64, comment: &[u8]) -> Vec<u8> {
    let numbers = [members, members, length, at].map(u64::to_le_bytes).concat();
    let end = [b"PK\x06\x06", &44_u64.to_le_bytes()[..], &[45, 3, 45, 0], &[0; 8], &numbers].concat();
    let locator = [b"PK\x06\x07", &[0; 4][..], &(at + length).to_le_bytes(), &[1, 0, 0, 0]].concat();
    let members = u16::try_from(members).unwrap_or(u16::MAX).to_le_bytes();
    let numbers = [length, at].map(|number| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()).concat();
    let comment_length = u16::try_from(comment.len()).unwrap().to_le_bytes();
    let small = [b"PK\x05\x06\0\0\0\0", &members[..], &members, &numbers, &comment_length, comment].concat();
    [end, locator, small].concat()
}

/// An archive, and where its directory begins.
pub(crate) fn parts(members: &[Zipped]) -> (Vec<u8>, Vec<u8>) {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for member in members {
        directory.extend(member.entry(file.len() as u64));
        file.extend(member.bytes());
    }
    (file, directory)
}

/// An archive with a comment.
pub(crate) fn zipped(members: &[Zipped]) -> Vec<u8> {
    let (file, directory) = parts(members);
    let end = end(members.len(), directory.len(), file.len(), b"a comment");
    [file, directory, end].concat()
}
