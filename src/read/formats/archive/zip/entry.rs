//! A member as the directory has it.

use std::borrow::Cow;

use super::names::shown_name;
use super::numbers::{long, short, word};

/// How a member in the directory begins.
pub(super) const ENTRY: &[u8] = b"PK\x01\x02";
/// Bytes of it without its name, and what else is said of it.
pub(super) const ENTRY_BYTES: usize = 46;
/// What more than four bytes take has its place among what else is said.
const LARGE: u16 = 1;
/// Systems on which members have the kinds of files that Unix knows.
const UNIX: [u8; 2] = [3, 19];
/// Where in attributes that kind is, and that of a file.
const KIND: u32 = 0o17_0000;
const FILE: u32 = 0o10_0000;

/// A member in the directory, with all that is said of it.
#[derive(Clone, Copy)]
pub(super) struct RawEntry<'a>(pub(super) &'a [u8]);

/// What the directory says of a member.
#[derive(Clone, Debug)]
pub(super) struct MemberEntry {
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) sum: u32,
    /// Bytes of its content in the archive, and unpacked.
    pub(super) packed: u64,
    pub(super) unpacked: u64,
    /// What it is called, as it stands.
    pub(super) name: Vec<u8>,
    /// Where its header stands; `None` if that is behind all files.
    pub(super) start: Option<u64>,
    /// Whether it is a link, a folder or a device, and no file.
    is_special: bool,
}

/// Bytes that an entry takes whose first [`ENTRY_BYTES`] these are; `None` if it is none.
pub(super) fn entry_length(bytes: &[u8]) -> Option<usize> {
    let of = |at: usize| usize::from(short(bytes, at));
    (bytes.len() >= ENTRY_BYTES && bytes.starts_with(ENTRY)).then(|| ENTRY_BYTES + of(28) + of(30) + of(32))
}

impl<'a> RawEntry<'a> {
    /// Its name, and what else is said of it.
    fn parts(&self) -> (&'a [u8], &'a [u8]) {
        let name_end = ENTRY_BYTES + usize::from(short(self.0, 28));
        let name = self.0.get(ENTRY_BYTES..name_end).unwrap_or_default();
        (name, self.0.get(name_end..name_end + usize::from(short(self.0, 30))).unwrap_or_default())
    }

    /// What it says; offsets are counted from `base`.
    pub(super) fn read(&self, base: u64) -> MemberEntry {
        let (name, more) = self.parts();
        let [packed, unpacked, offset] = [20, 24, 42].map(|at| word(self.0, at));
        let [unpacked, packed, offset] =
            large_numbers(more, [unpacked, packed, offset]).map(|(number, _)| number);
        let kind = word(self.0, 38) >> 16 & KIND;
        MemberEntry {
            flags: short(self.0, 8),
            method: short(self.0, 10),
            sum: word(self.0, 16),
            packed,
            unpacked,
            name: name.to_vec(),
            start: base.checked_add(offset),
            is_special: UNIX.contains(&self.0[5]) && kind != 0 && kind != FILE,
        }
    }

    /// When the file was written to.
    pub(super) fn time(&self) -> [u8; 4] {
        [12, 13, 14, 15].map(|at| self.0[at])
    }

    /// The same bytes for a member whose header stands at `offset`; `None` if there is no room to say so.
    pub(super) fn moved(&self, offset: u64) -> Option<Vec<u8>> {
        let mut moved = self.0.to_vec();
        let [.., (offset_was, place)] = self.numbers();
        let fits = place.is_some() || offset < u64::from(u32::MAX) || offset <= offset_was;
        self.put(&mut moved, (42, place), offset);
        fits.then_some(moved)
    }

    /// The same bytes for a member with another content, unpacked and packed of these lengths. They are short.
    pub(super) fn resized(&self, flags: u16, sum: u32, lengths: [u64; 2]) -> Vec<u8> {
        let mut resized = self.0.to_vec();
        resized[8..10].copy_from_slice(&flags.to_le_bytes());
        resized[16..20].copy_from_slice(&sum.to_le_bytes());
        let [(_, unpacked), (_, packed), _] = self.numbers();
        for (place, length) in [(24, unpacked), (20, packed)].into_iter().zip(lengths) {
            self.put(&mut resized, place, length);
        }
        resized
    }

    /// Both lengths, unpacked first, and the offset, with where those stand that four bytes do not hold.
    fn numbers(&self) -> [(u64, Option<usize>); 3] {
        large_numbers(self.parts().1, [24, 20, 42].map(|at| word(self.0, at)))
    }

    /// Writes a number where it stands.
    fn put(&self, bytes: &mut [u8], (short, large): (usize, Option<usize>), number: u64) {
        match large {
            Some(at) => {
                let at = ENTRY_BYTES + self.parts().0.len() + at;
                bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
            None => bytes[short..short + 4]
                .copy_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()),
        }
    }
}

/// Numbers of which those that four bytes do not hold stand, in their order, in what else is said of a member; and where in it.
pub(super) fn large_numbers<const N: usize>(more: &[u8], numbers: [u32; N]) -> [(u64, Option<usize>); N] {
    let mut rest = 0..0;
    let mut at = 0;
    while at + 4 <= more.len() {
        let end = at + 4 + usize::from(short(more, at + 2));
        if short(more, at) == LARGE {
            rest = at + 4..end.min(more.len());
            break;
        }
        at = end;
    }
    numbers.map(|number| match long(&more[..rest.end], rest.start).filter(|_| number == u32::MAX) {
        Some(large) => {
            let place = rest.start;
            rest.start += 8;
            (large, Some(place))
        }
        None => (u64::from(number), None),
    })
}

impl MemberEntry {
    /// What it is called, as people read it.
    pub(super) fn path(&self) -> Cow<'_, str> {
        shown_name(&self.name, self.is_said_utf8())
    }

    /// Whether its name is said to be UTF-8.
    pub(super) fn is_said_utf8(&self) -> bool {
        self.flags & 1 << 11 != 0
    }

    /// Whether it is encrypted, or what is said of it is.
    pub(super) fn is_encrypted(&self) -> bool {
        self.flags & (1 | 1 << 13) != 0
    }

    /// Whether it is no file with content: a folder, a link, or a file of nothing.
    pub(super) fn is_blank(&self) -> bool {
        self.is_special || self.unpacked == 0 || self.name.ends_with(b"/")
    }

    /// About how many bytes it takes to read it, whatever it says.
    pub(super) fn weight(&self) -> u64 {
        self.packed.saturating_add(self.unpacked.min(self.most_unpacked()))
    }

    /// The most bytes that what is packed may be: no method that is read makes more of it.
    pub(super) fn most_unpacked(&self) -> u64 {
        self.packed.saturating_mul(MOST_OF_BYTE)
    }
}

/// The most bytes that a deflated byte may be: four repeated stretches of the greatest length.
const MOST_OF_BYTE: u64 = 4 * 258;

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = u32::MAX;

    /// An entry of the name `n` with some sizes and an offset, and more that is said of it.
    fn entry(numbers: [u32; 3], more: &[u8]) -> Vec<u8> {
        let mut entry = vec![0; ENTRY_BYTES];
        entry[..4].copy_from_slice(ENTRY);
        entry[28] = 1;
        entry[30] = u8::try_from(more.len()).expect("short");
        for (at, number) in [20, 24, 42].into_iter().zip(numbers) {
            entry[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        [&entry, &b"n"[..], more].concat()
    }

    #[test]
    fn what_is_large_stands_in_its_order_behind_the_name() {
        let large = |numbers: &[u64]| {
            let length = 8 * u8::try_from(numbers.len()).expect("few");
            let numbers: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            [&b"xx\x01\0a\x01\0"[..], &[length, 0], &numbers].concat()
        };
        let read = |numbers, more: &[u8]| {
            let bytes = entry(numbers, more);
            assert_eq!(entry_length(&bytes), Some(bytes.len()));
            let entry = RawEntry(&bytes).read(10);
            (entry.packed, entry.unpacked, entry.start)
        };
        assert_eq!(read([1, 2, 3], &large(&[7, 8, 9])), (1, 2, Some(13)));
        assert_eq!(read([MOST, MOST, MOST], &large(&[7, 8, 9])), (8, 7, Some(19)));
        assert_eq!(read([1, 2, MOST], &large(&[7])), (1, 2, Some(17)));
        assert_eq!(read([MOST, 2, MOST], &large(&[7, 8])), (7, 2, Some(18)));
        // What is not there is what four bytes say.
        assert_eq!(read([MOST, MOST, 3], &large(&[7])), (u64::from(MOST), 7, Some(13)));
        assert_eq!(read([MOST, 2, 3], b""), (u64::from(MOST), 2, Some(13)));
        assert_eq!(read([1, 2, MOST], &large(&[u64::MAX])), (1, 2, None));
    }

    #[test]
    fn entries_move_where_their_offset_stands() {
        let large = [&[1, 0, 8, 0][..], &7_u64.to_le_bytes()].concat();
        for (numbers, more) in [([1, 2, 30], &b""[..]), ([1, 2, 30], &large), ([1, 2, u32::MAX], &large)] {
            let bytes = entry(numbers, more);
            let moved = RawEntry(&bytes).moved(5).expect("room");
            assert_eq!((RawEntry(&moved).read(0).start, moved.len()), (Some(5), bytes.len()));
            let differs = bytes.iter().zip(&moved).filter(|(old, new)| old != new).count();
            assert_eq!(differs, 1);
        }
    }
}
