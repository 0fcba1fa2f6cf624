//! How each kind of record is packed: columns of what differs little, and words of what may be anything.

use crate::document::Doc;
use crate::flow::packed::columns::{push_column, push_words, take_column, take_narrow_column, take_words};
use crate::flow::packed::container::{MOST_PACKED, Packable};
use crate::flow::records::{Arrival, Change, ChangeKind, FirstHalf, Posting, Sent};
use crate::sketcher::Digest;

/// Postings of one document follow each other, so that its number and size are said once.
impl Packable for Posting {
    fn pack(records: &[Posting], bytes: &mut Vec<u8>) {
        let of_doc = records.chunk_by(|a, b| (a.doc, a.size) == (b.doc, b.size));
        let runs: Vec<(Doc, u32, usize)> = of_doc.map(|run| (run[0].doc, run[0].size, run.len())).collect();
        push_column(runs.iter().map(|(doc, ..)| u64::from(*doc)), bytes);
        push_column(runs.iter().map(|(_, size, _)| u64::from(*size)), bytes);
        push_column(runs.iter().map(|(.., keys)| *keys as u64), bytes);
        let keys = records.iter().map(|posting| posting.key);
        let short = keys.clone().all(is_short);
        bytes.push(u8::from(short));
        match short {
            true => keys.for_each(|key| bytes.extend_from_slice(&((key >> 32) as u32).to_le_bytes())),
            false => push_words(keys, bytes),
        }
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Vec<Posting>> {
        let docs = take_narrow_column(bytes, MOST_PACKED)?;
        let sizes = take_narrow_column(bytes, MOST_PACKED)?;
        let counts = take_column(bytes, MOST_PACKED)?;
        let whole = docs.len() == sizes.len() && docs.len() == counts.len();
        let count = counts.iter().try_fold(0, |sum: u64, count| sum.checked_add(*count))?;
        let count = usize::try_from(count).ok().filter(|_| whole)?;
        let keys: Vec<u64> = match bytes.split_off_first()? {
            0 => take_words(bytes, count)?.collect(),
            1 => take_short(bytes, count)?.collect(),
            _ => return None,
        };
        let mut keys = keys.into_iter();
        let mut postings = Vec::with_capacity(count);
        for ((doc, size), count) in docs.into_iter().zip(sizes).zip(counts) {
            postings.extend(keys.by_ref().take(count as usize).map(|key| Posting { key, size, doc }));
        }
        Some(postings)
    }
}

/// Whether a key takes half a word: those that are cut do.
pub fn is_short(key: u64) -> bool {
    key as u32 == 0
}

/// Takes so many short keys off; none if there are fewer.
fn take_short<'a>(bytes: &mut &'a [u8], count: usize) -> Option<impl Iterator<Item = u64> + use<'a>> {
    let halves = bytes.split_off(..count.checked_mul(size_of::<u32>())?)?;
    Some(halves.as_chunks().0.iter().map(|half| u64::from(u32::from_le_bytes(*half)) << 32))
}

impl Packable for FirstHalf {
    fn pack(records: &[FirstHalf], bytes: &mut Vec<u8>) {
        push_column(records.iter().map(|half| u64::from(half.doc)), bytes);
        push_words(records.iter().map(FirstHalf::half), bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Vec<FirstHalf>> {
        let docs = take_narrow_column(bytes, MOST_PACKED)?;
        let halves = take_words(bytes, docs.len())?;
        Some(halves.zip(docs).map(|(half, doc)| FirstHalf::new(half, doc)).collect())
    }
}

impl Packable for Doc {
    fn pack(records: &[Doc], bytes: &mut Vec<u8>) {
        push_column(records.iter().copied().map(u64::from), bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Vec<Doc>> {
        take_narrow_column(bytes, MOST_PACKED)
    }
}

/// What is sent of many documents are words in a row.
impl Packable for Sent {
    fn pack(records: &[Sent], bytes: &mut Vec<u8>) {
        push_column(records.iter().map(|(to, ..)| u64::from(*to)), bytes);
        push_column(records.iter().map(|(_, doc, _)| u64::from(*doc)), bytes);
        push_column(records.iter().map(|(.., words)| words.len() as u64), bytes);
        bytes.reserve(records.iter().map(|(.., words)| size_of_val(&words[..])).sum());
        records.iter().for_each(|(.., words)| push_words(words.iter(), bytes));
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Vec<Sent>> {
        let workers = take_narrow_column(bytes, MOST_PACKED)?;
        let docs = take_narrow_column(bytes, MOST_PACKED)?;
        let lengths = take_column(bytes, MOST_PACKED)?;
        if workers.len() != docs.len() || docs.len() != lengths.len() {
            return None;
        }
        let sent = |((to, doc), length): ((u32, Doc), u64)| {
            let words = take_words(bytes, usize::try_from(length).ok()?)?;
            Some((to, doc, words.collect()))
        };
        workers.into_iter().zip(docs).zip(lengths).map(sent).collect()
    }
}

impl Packable for Arrival {
    fn pack(records: &[Arrival], bytes: &mut Vec<u8>) {
        push_column(records.iter().map(|arrival| arrival.doc), bytes);
        push_column(records.iter().map(|arrival| arrival.position), bytes);
        push_words(records.iter().flat_map(|arrival| [arrival.digest, arrival.rest]), bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Vec<Arrival>> {
        let docs = take_column(bytes, MOST_PACKED)?;
        let positions = take_column(bytes, MOST_PACKED).filter(|positions| positions.len() == docs.len())?;
        let mut words = take_words(bytes, 2 * docs.len())?;
        let arrival = |(doc, position)| {
            let (digest, rest) = (words.next()?, words.next()?);
            Some(Arrival { digest, rest, position, doc })
        };
        docs.into_iter().zip(positions).map(arrival).collect()
    }
}

/// Numbers of documents go up by one, so that 0 is none. The digest of a text comes last.
impl Packable for Change {
    fn pack(records: &[Change], bytes: &mut Vec<u8>) {
        push_column(records.iter().map(|change| change.doc.map_or(0, |doc| u64::from(doc) + 1)), bytes);
        push_column(records.iter().map(|change| change.position), bytes);
        push_column(records.iter().map(|change| number_of(change.kind)), bytes);
        push_words(records.iter().flat_map(|change| halves(change.id)), bytes);
        let digests = records.iter().filter_map(|change| match change.kind {
            ChangeKind::Text(digest) => Some(halves(digest)),
            ChangeKind::Empty | ChangeKind::Unchanged | ChangeKind::Delete => None,
        });
        push_words(digests.flatten(), bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Vec<Change>> {
        let docs = take_column(bytes, MOST_PACKED)?;
        let positions = take_column(bytes, MOST_PACKED)?;
        let kinds = take_column(bytes, MOST_PACKED)?;
        let whole = docs.len() == positions.len() && docs.len() == kinds.len();
        let mut ids = take_words(bytes, whole.then_some(2 * docs.len())?)?;
        let texts = kinds.iter().filter(|kind| **kind == 0).count();
        let mut digests = take_words(bytes, 2 * texts)?;
        let change = |((doc, position), kind): ((u64, u64), u64)| {
            let kind = match kind {
                0 => ChangeKind::Text(whole_of(digests.next()?, digests.next()?)),
                1 => ChangeKind::Empty,
                2 => ChangeKind::Unchanged,
                3 => ChangeKind::Delete,
                _ => return None,
            };
            let doc = doc.checked_sub(1).map(Doc::try_from).transpose().ok()?;
            Some(Change { id: whole_of(ids.next()?, ids.next()?), position, doc, kind })
        };
        docs.into_iter().zip(positions).zip(kinds).map(change).collect()
    }
}

fn number_of(kind: ChangeKind) -> u64 {
    match kind {
        ChangeKind::Text(_) => 0,
        ChangeKind::Empty => 1,
        ChangeKind::Unchanged => 2,
        ChangeKind::Delete => 3,
    }
}

fn halves(digest: Digest) -> [u64; 2] {
    [(digest >> 64) as u64, digest as u64]
}

fn whole_of(high: u64, low: u64) -> Digest {
    u128::from(high) << 64 | u128::from(low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::NO_DOC;
    use crate::flow::records::CutPosting;

    /// Documents as workers number them, and any.
    fn doc() -> impl Strategy<Value = Doc> {
        prop_oneof![(0..40u32).prop_map(|row| row * 4 + 3), any::<Doc>(), Just(NO_DOC)]
    }

    fn kind() -> impl Strategy<Value = ChangeKind> {
        prop_oneof![
            any::<Digest>().prop_map(ChangeKind::Text),
            Just(ChangeKind::Empty),
            Just(ChangeKind::Unchanged),
            Just(ChangeKind::Delete),
        ]
    }

    /// Packs records, and looks whether the same come back, and what is cut off does not.
    fn comes_back<T: Packable + std::fmt::Debug + PartialEq>(
        records: &[T],
        cut: usize,
    ) -> Result<(), TestCaseError> {
        for records in records.chunks(MOST_PACKED) {
            let mut bytes = Vec::new();
            T::pack(records, &mut bytes);
            let mut left = &bytes[..];
            let back = T::unpack(&mut left);
            prop_assert_eq!(back.as_deref(), Some(records));
            prop_assert!(left.is_empty());
            prop_assert!(T::unpack(&mut &bytes[..cut % bytes.len()]).is_none());
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn records_come_back(
            postings in prop::collection::vec((any::<u64>(), 0..6u32, doc()), 0..40),
            halves in prop::collection::vec((any::<u64>(), doc()), 0..40),
            arrivals in prop::collection::vec((any::<Digest>(), doc(), any::<u64>(), any::<bool>()), 0..40),
            sent in prop::collection::vec((any::<u32>(), doc(), prop::collection::vec(any::<u64>(), 0..9)), 0..40),
            changes in prop::collection::vec((any::<u128>(), 0..1000u64, prop::option::of(doc()), kind()), 0..40),
            cut in any::<usize>(),
        ) {
            let postings: Vec<_> = postings.into_iter().map(|(key, size, doc)| Posting { key, size, doc }).collect();
            comes_back(&postings, cut)?;
            let short: Vec<_> = postings.iter().map(|posting| Posting { key: posting.key & CutPosting::BITS, ..*posting }).collect();
            comes_back(&short, cut)?;
            comes_back(&sent, cut)?;
            let halves: Vec<_> = halves.into_iter().map(|(half, doc)| FirstHalf::new(half, doc)).collect();
            comes_back(&halves, cut)?;
            comes_back(&halves.iter().map(|half| half.doc).collect::<Vec<Doc>>(), cut)?;
            let arrival = |(digest, doc, position, superseded)| match superseded {
                true => Arrival::superseded(digest, doc, position),
                false => Arrival::new(digest, doc, position),
            };
            comes_back(&arrivals.into_iter().map(arrival).collect::<Vec<_>>(), cut)?;
            let change = |(id, position, doc, kind)| Change { id, position, doc, kind };
            comes_back(&changes.into_iter().map(change).collect::<Vec<_>>(), cut)?;
        }

        #[test]
        fn any_bytes_are_unpacked_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let most = |records: Option<usize>| records.is_none_or(|records| records <= MOST_PACKED.max(bytes.len()));
            prop_assert!(most(Posting::unpack(&mut &bytes[..]).map(|records| records.len())));
            prop_assert!(most(FirstHalf::unpack(&mut &bytes[..]).map(|records| records.len())));
            prop_assert!(most(Doc::unpack(&mut &bytes[..]).map(|records| records.len())));
            prop_assert!(most(Arrival::unpack(&mut &bytes[..]).map(|records| records.len())));
            prop_assert!(most(Sent::unpack(&mut &bytes[..]).map(|records| records.len())));
            prop_assert!(most(Change::unpack(&mut &bytes[..]).map(|records| records.len())));
        }
    }
}
