//! How the rows of a page are packed: the first column as gaps, the others as what they have above the least of the page.

use crate::collection::run::page::PAYLOAD_WORDS;
use crate::limits::sized;

/// Most rows of a page: what unpacking one costs, and takes, has a bound.
pub(in crate::collection) const MOST_ROWS: usize = sized(1024, 24);

/// Columns whose widths stand in one word of the head.
const WIDTHS_IN_WORD: usize = 5;
/// Bits of the two widths of a column, that of the high half first.
const WIDTHS_BITS: usize = 12;

/// Words of the head of a page: the count and the width of gaps, the first word of the first row, the least halves of
/// each other column, and their widths.
pub(in crate::collection) const fn head_words(width: usize) -> usize {
    2 + (width - 1) + (width - 1).div_ceil(WIDTHS_IN_WORD)
}

/// Bits that hold every number up to `most`.
fn bits_of(most: u64) -> usize {
    (u64::BITS - most.leading_zeros()) as usize
}

/// The low `bits` bits, of 64 at most.
fn mask(bits: usize) -> u64 {
    1u64.checked_shl(bits as u32).map_or(u64::MAX, |bit| bit - 1)
}

/// The halves of a word.
fn halves(word: u64) -> [u32; 2] {
    [(word >> 32) as u32, word as u32]
}

/// The least and the greatest half of those of a column.
#[derive(Clone, Copy, Debug)]
struct HalfRange {
    least: u32,
    most: u32,
}

impl HalfRange {
    fn with(self, half: u32) -> HalfRange {
        HalfRange { least: self.least.min(half), most: self.most.max(half) }
    }

    fn holds(self, half: u32) -> bool {
        (self.least..=self.most).contains(&half)
    }

    fn bits(self) -> usize {
        bits_of(u64::from(self.most - self.least))
    }
}

/// A column but the first, by its halves.
#[derive(Clone, Copy, Debug)]
struct PackedColumn([HalfRange; 2]);

impl PackedColumn {
    /// A column of one word.
    fn of(word: u64) -> PackedColumn {
        PackedColumn(halves(word).map(|half| HalfRange { least: half, most: half }))
    }

    fn with(self, word: u64) -> PackedColumn {
        let [high, low] = halves(word);
        PackedColumn([self.0[0].with(high), self.0[1].with(low)])
    }

    /// Whether a word takes no more bits than those before it.
    fn holds(self, word: u64) -> bool {
        let [high, low] = halves(word);
        self.0[0].holds(high) && self.0[1].holds(low)
    }

    fn bits(self) -> usize {
        self.0[0].bits() + self.0[1].bits()
    }

    /// What is packed of a word.
    fn packed(self, word: u64) -> u64 {
        let [high, low] = halves(word);
        u64::from(high - self.0[0].least) << self.0[1].bits() | u64::from(low - self.0[1].least)
    }
}

/// The rows of the page that is being written.
#[derive(Debug, Default)]
pub(in crate::collection) struct RowPacker {
    width: usize,
    /// The rows, one after another.
    rows: Vec<u64>,
    /// The first word of the last row, and all gaps between first words, or-ed.
    last: u64,
    gaps: u64,
    columns: Vec<PackedColumn>,
    /// How many rows as wide as the widest there is room for.
    room: usize,
}

impl RowPacker {
    /// For rows of so many words.
    pub(in crate::collection) fn new(width: usize) -> RowPacker {
        RowPacker { width, ..RowPacker::default() }
    }

    /// The last row that was taken since the last page.
    #[inline]
    pub(in crate::collection) fn last_row(&self) -> Option<&[u64]> {
        self.rows.rchunks_exact(self.width.max(1)).next()
    }

    /// Takes a row, which does not come before the last one; false if the page has no room for it.
    #[inline]
    pub(in crate::collection) fn push(&mut self, row: &[u64]) -> bool {
        let [first, others @ ..] = row else { return true };
        let count = self.rows.len() / self.width;
        if count == 0 {
            (self.last, self.gaps, self.room) = (*first, 0, MOST_ROWS);
            self.columns.clear();
            self.columns.extend(others.iter().map(|word| PackedColumn::of(*word)));
            self.rows.extend_from_slice(row);
            return true;
        }
        let gaps = self.gaps | (first - self.last);
        let columns = self.columns.iter().zip(others);
        if gaps != self.gaps || !columns.clone().all(|(column, word)| column.holds(*word)) {
            let of_row: usize = columns.map(|(column, word)| column.with(*word).bits()).sum();
            let gap = bits_of(gaps);
            // The first row has no gap.
            let room = (PAYLOAD_WORDS - head_words(self.width)) * 64 + gap;
            let room = room.checked_div(gap + of_row).unwrap_or(MOST_ROWS).min(MOST_ROWS);
            if count >= room {
                return false;
            }
            (self.gaps, self.room) = (gaps, room);
            self.columns.iter_mut().zip(others).for_each(|(column, word)| *column = column.with(*word));
        } else if count == self.room {
            return false;
        }
        self.last = *first;
        self.rows.extend_from_slice(row);
        true
    }

    /// Writes the rows as the payload of a page; how many words of it are used. There is at least one row, and none is
    /// left.
    pub(in crate::collection) fn pack(&mut self, payload: &mut [u64]) -> usize {
        let (count, gap) = (self.rows.len() / self.width, bits_of(self.gaps));
        payload.fill(0);
        payload[0] = count as u64 | (gap as u64) << 32;
        payload[1] = self.rows[0];
        let head = head_words(self.width);
        let (bases, widths) = payload[2..head].split_at_mut(self.width - 1);
        for (at, (base, column)) in bases.iter_mut().zip(&self.columns).enumerate() {
            let [high, low] = column.0;
            *base = u64::from(high.least) << 32 | u64::from(low.least);
            let both = (high.bits() | low.bits() << (WIDTHS_BITS / 2)) as u64;
            widths[at / WIDTHS_IN_WORD] |= both << (at % WIDTHS_IN_WORD * WIDTHS_BITS);
        }
        let mut bits = BitWriter { words: &mut payload[head..], at: 0 };
        let mut last = self.rows[0];
        for first in self.rows.iter().step_by(self.width).skip(1) {
            bits.put(first - last, gap);
            last = *first;
        }
        for (at, column) in self.columns.iter().enumerate() {
            let width = column.bits();
            for word in self.rows.iter().skip(at + 1).step_by(self.width) {
                bits.put(column.packed(*word), width);
            }
        }
        self.rows.clear();
        head + bits.at.div_ceil(64)
    }
}

/// Numbers of any width, one after another.
struct BitWriter<'a> {
    /// All zeros from where the next number goes.
    words: &'a mut [u64],
    at: usize,
}

impl BitWriter<'_> {
    /// Adds a number of at most `width` bits.
    #[inline]
    fn put(&mut self, number: u64, width: usize) {
        if width == 0 {
            return;
        }
        let (word, shift) = (self.at / 64, self.at % 64);
        self.words[word] |= number << shift;
        if shift + width > 64 {
            self.words[word + 1] = number >> (64 - shift);
        }
        self.at += width;
    }
}

/// The number from bit `at` on, of as many bits as `mask` has, 1 to 64. They are all there.
#[inline]
fn bits_at(words: &[u64], at: usize, mask: u64) -> u64 {
    let (word, shift) = (at / 64, at % 64);
    // Whether a number goes on in the next word no processor can guess, so that is always looked at.
    let next = words.get(word + 1).copied().unwrap_or(0);
    (words[word] >> shift | (next << 1) << (63 - shift)) & mask
}

/// Rows that are passed over at once.
const STRIDE: usize = sized(8, 2);

/// The first words of the rows of a page, as far as somebody goes: whoever seeks a row needs half of them.
#[derive(Clone, Copy, Debug)]
pub(in crate::collection) struct FirstWords<'a> {
    body: &'a [u64],
    count: usize,
    gap: usize,
    /// The row that was reached, and its first word.
    row: usize,
    word: u64,
}

impl FirstWords<'_> {
    /// Goes to the first row from here on whose first word is not less than `word`: which it is, and its first word.
    #[inline]
    pub(in crate::collection) fn reach(&mut self, word: u64) -> Option<(usize, u64)> {
        let (mut row, mut first, mut at) = (self.row, self.word, self.row * self.gap);
        let mask = mask(self.gap);
        // Most rows are passed over: gaps that are added up at once need not wait for each other.
        while self.gap > 0 && first < word && row + STRIDE < self.count {
            let gaps = (0..STRIDE).map(|number| bits_at(self.body, at + number * self.gap, mask));
            let next = first.wrapping_add(gaps.fold(0, u64::wrapping_add));
            if next >= word || next < first {
                break;
            }
            (row, first, at) = (row + STRIDE, next, at + STRIDE * self.gap);
        }
        while first < word && row < self.count {
            row += 1;
            if self.gap > 0 && row < self.count {
                first = first.wrapping_add(bits_at(self.body, at, mask));
                at += self.gap;
            }
        }
        (self.row, self.word) = (row, first);
        (row < self.count).then_some((row, first))
    }

    /// Goes to the next row.
    pub(in crate::collection) fn pass(&mut self) {
        if self.row + 1 < self.count && self.gap > 0 {
            let gap = bits_at(self.body, self.row * self.gap, mask(self.gap));
            self.word = self.word.wrapping_add(gap);
        }
        self.row = (self.row + 1).min(self.count);
    }
}

/// The payload of a page of rows, whose head makes sense: whatever stands in it, there are so many rows.
#[derive(Clone, Copy, Debug)]
pub(in crate::collection) struct PackedRows<'a> {
    width: usize,
    count: usize,
    /// Bits of a gap, and of what is packed of the other columns of a row.
    gap: usize,
    first: u64,
    bases: &'a [u64],
    widths: &'a [u64],
    body: &'a [u64],
}

impl<'a> PackedRows<'a> {
    /// The rows of a payload, of so many words each. Nothing of it is trusted.
    ///
    /// # Errors
    /// What the page has that no packed rows have.
    pub(in crate::collection) fn of(
        payload: &'a [u64],
        width: usize,
    ) -> Result<PackedRows<'a>, &'static str> {
        let (head, body) = payload
            .split_at_checked(head_words(width))
            .ok_or("the page is shorter than the head of packed rows")?;
        let (count, gap) = (head[0] as u32 as usize, (head[0] >> 32) as usize);
        let (bases, widths) = head[2..].split_at(width - 1);
        let rows = PackedRows { width, count, gap, first: head[1], bases, widths, body };
        let halves = (0..width - 1).flat_map(|at| rows.column(at));
        if !(1..=MOST_ROWS).contains(&count) || gap > 64 || halves.clone().any(|half| half > 32) {
            return Err("the page has more rows, or wider ones, than packed rows can be");
        }
        if ((count - 1) * gap + count * halves.sum::<usize>()).div_ceil(64) != body.len() {
            return Err("the page has more or fewer words than its rows take");
        }
        Ok(rows)
    }

    /// The widths of the halves of a column, of which the second word of a row is number 0.
    fn column(&self, at: usize) -> [usize; 2] {
        let both = (self.widths[at / WIDTHS_IN_WORD] >> (at % WIDTHS_IN_WORD * WIDTHS_BITS)) as usize;
        [both & 63, both >> (WIDTHS_BITS / 2) & 63]
    }

    /// The word of a column that `packed` stands for.
    fn word(&self, at: usize, [_, low]: [usize; 2], packed: u64) -> u64 {
        let [base_high, base_low] = halves(self.bases[at]);
        let high = base_high.wrapping_add((packed >> low) as u32);
        u64::from(high) << 32 | u64::from(base_low.wrapping_add((packed & mask(low)) as u32))
    }

    /// Hands on the first word of each row.
    #[inline]
    fn each_first(&self, mut each: impl FnMut(u64)) {
        let (mut first, mut at, mask) = (self.first, 0, mask(self.gap));
        each(first);
        for _ in 1..self.count {
            if self.gap > 0 {
                first = first.wrapping_add(bits_at(self.body, at, mask));
                at += self.gap;
            }
            each(first);
        }
    }

    /// The first words of the rows, from the first row on.
    pub(in crate::collection) fn first_words(&self) -> FirstWords<'a> {
        let PackedRows { body, count, gap, first: word, .. } = *self;
        FirstWords { body, count, gap, row: 0, word }
    }

    /// Replaces what is in `row` by the first row.
    pub(in crate::collection) fn first_row(&self, row: &mut Vec<u64>) {
        self.row(0, self.first, row);
    }

    /// Replaces what is in `row` by row number `at`, whose first word is known.
    pub(in crate::collection) fn row(&self, at: usize, first: u64, row: &mut Vec<u64>) {
        row.clear();
        row.push(first);
        let mut start = (self.count - 1) * self.gap;
        for number in 0..self.width - 1 {
            let column = self.column(number);
            let both = column[0] + column[1];
            let packed = if both == 0 { 0 } else { bits_at(self.body, start + at * both, mask(both)) };
            row.push(self.word(number, column, packed));
            start += self.count * both;
        }
    }

    /// Replaces what is in `rows` by all rows, one after another.
    pub(in crate::collection) fn unpack(&self, rows: &mut Vec<u64>) {
        rows.clear();
        rows.resize(self.count * self.width, 0);
        let mut places = rows.iter_mut().step_by(self.width);
        self.each_first(|first| places.by_ref().take(1).for_each(|place| *place = first));
        let mut at = (self.count - 1) * self.gap;
        for number in 0..self.width - 1 {
            let column = self.column(number);
            let both = column[0] + column[1];
            let mask = mask(both);
            for place in rows.iter_mut().skip(number + 1).step_by(self.width) {
                let packed = if both == 0 { 0 } else { bits_at(self.body, at, mask) };
                *place = self.word(number, column, packed);
                at += both;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Rows whose words have few or many bits, by column.
    fn case() -> impl Strategy<Value = (usize, Vec<Vec<u64>>)> {
        (1..7usize).prop_flat_map(|width| {
            let shifts = prop::collection::vec(0..64u32, width);
            let words = prop::collection::vec(prop::collection::vec(any::<u64>(), width), 1..300);
            (Just(width), shifts, words).prop_map(|(width, shifts, words)| {
                let row =
                    |row: Vec<u64>| row.iter().zip(&shifts).map(|(word, shift)| word >> shift).collect();
                let rows: BTreeSet<Vec<u64>> = words.into_iter().map(row).collect();
                (width, rows.into_iter().collect())
            })
        })
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back((width, rows) in case()) {
            let (mut packer, mut found, mut unpacked) = (RowPacker::new(width), Vec::new(), Vec::new());
            let mut page = [7; PAYLOAD_WORDS];
            let mut turn = |packer: &mut RowPacker| {
                let used = packer.pack(&mut page);
                let packed = PackedRows::of(&page[..used], width).expect("what was packed");
                packed.unpack(&mut unpacked);
                found.extend_from_slice(&unpacked);
                // One by one they are the same.
                let (mut firsts, mut row) = (packed.first_words(), Vec::new());
                for (at, expected) in unpacked.chunks(width).enumerate() {
                    assert_eq!(firsts.reach(0), Some((at, expected[0])));
                    packed.row(at, expected[0], &mut row);
                    assert_eq!(row, expected);
                    firsts.pass();
                }
                assert_eq!(firsts.reach(0), None);
                let words: Vec<u64> = unpacked.iter().step_by(width).copied().collect();
                for word in words.iter().flat_map(|word| [word.wrapping_sub(1), *word, word.wrapping_add(1)]) {
                    let at = words.partition_point(|other| *other < word);
                    let expected = words.get(at).map(|found| (at, *found));
                    assert_eq!(packed.first_words().reach(word), expected);
                }
                // A word more or less is noticed.
                assert!(PackedRows::of(&page[..used - 1], width).is_err());
                if used < page.len() {
                    assert!(PackedRows::of(&page[..=used], width).is_err());
                }
            };
            for row in &rows {
                if !packer.push(row) {
                    turn(&mut packer);
                    prop_assert!(packer.push(row), "a page has room for one row");
                }
            }
            turn(&mut packer);
            prop_assert_eq!(found, rows.concat());
        }

        #[test]
        fn nothing_is_trusted(width in 1..20usize, count in 1..=MOST_ROWS, gap in 0..=64usize,
                              halves in prop::collection::vec(0..=32u64, 38), words in prop::collection::vec(any::<u64>(), PAYLOAD_WORDS),
                              more in 0..3usize) {
            let (columns, head) = (width - 1, head_words(width));
            let of_row: usize = halves[..2 * columns].iter().map(|bits| *bits as usize).sum();
            let body = ((count - 1) * gap + count * of_row).div_ceil(64);
            prop_assume!(head <= PAYLOAD_WORDS);
            // A head that is right for the length of the page, or nearly so, before words that mean nothing.
            let mut page: Vec<u64> = words.into_iter().cycle().take(head + body + more).collect();
            page[0] = count as u64 | (gap as u64) << 32;
            page[2 + columns..head].fill(0);
            for at in 0..columns {
                let both = halves[2 * at] | halves[2 * at + 1] << (WIDTHS_BITS / 2);
                page[2 + columns + at / WIDTHS_IN_WORD] |= both << (at % WIDTHS_IN_WORD * WIDTHS_BITS);
            }
            let packed = PackedRows::of(&page, width);
            prop_assert_eq!(packed.is_ok(), more == 0);
            let (mut rows, mut row) = (Vec::new(), Vec::new());
            if let Ok(packed) = packed {
                packed.unpack(&mut rows);
                prop_assert_eq!(rows.len(), count * width);
                let mut firsts = packed.first_words();
                (1..count).for_each(|_| firsts.pass());
                prop_assert_eq!(firsts.reach(0), Some((count - 1, rows[(count - 1) * width])));
                packed.row(count - 1, rows[(count - 1) * width], &mut row);
                prop_assert_eq!(&row[..], &rows[(count - 1) * width..]);
                prop_assert!(packed.first_words().reach(u64::MAX).is_none_or(|(at, _)| at < count));
            }
        }
    }

    #[test]
    fn equal_words_take_no_room() {
        let (mut packer, mut page) = (RowPacker::new(3), [0; PAYLOAD_WORDS]);
        (0..MOST_ROWS as u64).for_each(|at| assert!(packer.push(&[5, at, u64::MAX])));
        assert!(!packer.push(&[6, 0, 0]));
        let bits = bits_of(MOST_ROWS as u64 - 1);
        assert_eq!(packer.pack(&mut page), head_words(3) + (MOST_ROWS * bits).div_ceil(64));
    }
}
