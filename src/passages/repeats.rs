//! Repeated pieces in the order of the input: which passages they make, and what of each text is there a second time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use serde::Serialize;

use crate::document::Position;
use crate::error::Result;
use crate::output::CutWriter;

/// What of the texts is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RepeatTally {
    /// Passages: repeated pieces that overlap where they stand first, and occur equally often, are one.
    pub passages: u64,
    /// Documents that have a repeated piece.
    pub documents: u64,
    /// Bytes of texts that repeated pieces cover, the first of each included.
    pub repeated_bytes: u64,
    /// Documents that have a piece that stands before.
    pub later_documents: u64,
    /// Bytes of texts that stand before, and are no first of another piece: what is cut.
    pub later_bytes: u64,
}

/// A passage, where it stands first. What is greater is repeated more, is longer, or stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RankedPassage {
    pub(super) count: u64,
    pub(super) bytes: usize,
    pub(super) document: Reverse<Position>,
    pub(super) start: Reverse<usize>,
    pub(super) documents: u64,
}

/// Takes in repeated pieces in the order of the input.
pub(super) struct Repeats {
    top: usize,
    best: BinaryHeap<Reverse<RankedPassage>>,
    open: Option<RankedPassage>,
    /// Passages of the present document that may be among the best.
    candidates: Vec<RankedPassage>,
    document: Option<Position>,
    /// What stands first, and what does not, of the present document.
    firsts: Vec<Range<usize>>,
    others: Vec<Range<usize>>,
    cuts: Option<CutWriter>,
    tally: RepeatTally,
}

impl Repeats {
    pub(super) fn new(top: usize, cuts: Option<CutWriter>) -> Repeats {
        Repeats {
            top,
            best: BinaryHeap::new(),
            open: None,
            candidates: Vec::new(),
            document: None,
            firsts: Vec::new(),
            others: Vec::new(),
            cuts,
            tally: RepeatTally::default(),
        }
    }

    /// Takes a piece: its document, its place, and of the first of its kind how often it occurs and in how many documents.
    pub(super) fn push(&mut self, [document, place, count, documents]: [u64; 4]) -> Result<()> {
        let document = Position::from_bits(document);
        if self.document != Some(document) {
            self.end_document()?;
            self.document = Some(document);
        }
        let start = (place >> 32) as usize;
        let end = start + (place & u64::from(u32::MAX)) as usize;
        if count == 0 {
            add(&mut self.others, start..end);
            return Ok(());
        }
        add(&mut self.firsts, start..end);
        match &mut self.open {
            Some(open)
                if start < open.start.0 + open.bytes
                    && (count, documents) == (open.count, open.documents) =>
            {
                open.bytes = open.bytes.max(end - open.start.0);
            }
            _ => {
                self.end_passage();
                let (document, start) = (Reverse(document), Reverse(start));
                self.open = Some(RankedPassage { count, bytes: end - start.0, document, start, documents });
            }
        }
        Ok(())
    }

    fn end_passage(&mut self) {
        let Some(passage) = self.open.take() else { return };
        self.tally.passages += 1;
        let has_room = self.best.len() < self.top;
        if has_room || self.best.peek().is_some_and(|Reverse(least)| passage > *least) {
            self.candidates.push(passage);
        }
    }

    /// Lists the best passages of the document. One of which half stands in better ones says nothing new: where the words
    /// around a passage are often, but not always the same, there are many such.
    fn list_passages(&mut self) {
        self.candidates.sort_unstable_by_key(|passage| Reverse(*passage));
        let mut listed = Covered::default();
        for passage in self.candidates.drain(..) {
            let place = passage.start.0..passage.start.0 + passage.bytes;
            if listed.bytes_in(&place) * 2 >= passage.bytes {
                continue;
            }
            listed.add(place);
            self.best.push(Reverse(passage));
            if self.best.len() > self.top {
                self.best.pop();
            }
        }
    }

    fn end_document(&mut self) -> Result<()> {
        self.end_passage();
        self.list_passages();
        let Some(document) = self.document.take() else { return Ok(()) };
        self.tally.documents += 1;
        let later = without(&self.others, &self.firsts);
        let bytes = |all: &[Range<usize>]| all.iter().map(|part| part.len() as u64).sum::<u64>();
        self.tally.repeated_bytes += bytes(&self.firsts) + bytes(&later);
        if !later.is_empty() {
            self.tally.later_documents += 1;
            self.tally.later_bytes += bytes(&later);
            if let Some(cuts) = &mut self.cuts {
                cuts.push(document, &later)?;
            }
        }
        self.firsts.clear();
        self.others.clear();
        Ok(())
    }

    /// The passages that are repeated most, what there is in all, and the file of what is there a second time.
    pub(super) fn finish(mut self) -> Result<(Vec<RankedPassage>, RepeatTally, Option<CutWriter>)> {
        self.end_document()?;
        let best = self.best.into_sorted_vec();
        Ok((best.into_iter().map(|Reverse(passage)| passage).collect(), self.tally, self.cuts))
    }
}

/// Parts of a text, taken in any order: where each begins, and where it ends. None touches another.
#[derive(Default)]
struct Covered(BTreeMap<usize, usize>);

impl Covered {
    /// The parts that overlap a place, or touch it, the last one first.
    fn parts(&self, place: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let start = place.start;
        let parts = self.0.range(..=place.end).rev().map(|(start, end)| *start..*end);
        parts.take_while(move |part| part.end >= start)
    }

    /// How many bytes of a place are covered.
    fn bytes_in(&self, place: &Range<usize>) -> usize {
        self.parts(place).map(|part| part.end.min(place.end) - part.start.max(place.start)).sum()
    }

    fn add(&mut self, place: Range<usize>) {
        let parts: Vec<_> = self.parts(&place).collect();
        let whole =
            parts.iter().fold(place, |whole, part| whole.start.min(part.start)..whole.end.max(part.end));
        for part in parts {
            self.0.remove(&part.start);
        }
        self.0.insert(whole.start, whole.end);
    }
}

/// Adds a part that begins behind where those before it begin.
fn add(parts: &mut Vec<Range<usize>>, part: Range<usize>) {
    match parts.last_mut() {
        Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
        _ => parts.push(part),
    }
}

/// What is in some parts, and in none of others; all are in order.
fn without(parts: &[Range<usize>], others: &[Range<usize>]) -> Vec<Range<usize>> {
    let (mut left, mut at) = (Vec::new(), 0);
    for part in parts {
        while others.get(at).is_some_and(|other| other.end <= part.start) {
            at += 1;
        }
        let mut start = part.start;
        for other in others[at..].iter().take_while(|other| other.start < part.end) {
            if start < other.start {
                left.push(start..other.start);
            }
            start = start.max(other.end);
        }
        if start < part.end {
            left.push(start..part.end);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ranges() -> impl Strategy<Value = Vec<Range<usize>>> {
        prop::collection::vec((0usize..60, 1usize..9), 0..12).prop_map(|mut all| {
            all.sort_unstable();
            let mut parts = Vec::new();
            all.into_iter().for_each(|(start, length)| add(&mut parts, start..start + length));
            parts
        })
    }

    proptest! {
        #[test]
        fn what_is_left_is_what_no_other_has(parts in ranges(), others in ranges()) {
            let has = |all: &[Range<usize>], at: usize| all.iter().any(|part| part.contains(&at));
            let left = without(&parts, &others);
            for at in 0..80 {
                prop_assert_eq!(has(&left, at), has(&parts, at) && !has(&others, at));
            }
            prop_assert!(left.is_sorted_by(|a, b| a.end <= b.start) && left.iter().all(|part| !part.is_empty()));
        }
    }

    #[test]
    fn what_overlaps_and_occurs_equally_often_is_one_passage() {
        let mut repeats = Repeats::new(2, None);
        let at = |start: u64, length: u64| start << 32 | length;
        for row in [
            [1, at(0, 10), 3, 2],
            [1, at(5, 10), 3, 2],
            [1, at(9, 20), 4, 2],
            [1, at(40, 5), 3, 2],
            [2, at(0, 10), 0, 0],
            [2, at(5, 10), 0, 0],
            [2, at(12, 5), 2, 1],
        ] {
            repeats.push(row).expect("taken");
        }
        let (best, tally, _) = repeats.finish().expect("found");
        let best: Vec<_> = best.iter().map(|best| (best.count, best.start.0, best.bytes)).collect();
        assert_eq!(best, [(4, 9, 20), (3, 0, 15)]);
        let expected = RepeatTally {
            passages: 4,
            documents: 2,
            repeated_bytes: 29 + 5 + 17,
            later_documents: 1,
            later_bytes: 12,
        };
        assert_eq!(tally, expected);
    }
}
