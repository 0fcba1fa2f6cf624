//! Stored postings under keys.
//!
//! Where keys are the first members of sets in one order (`join` by resemblance), they only say who may be alike, and sets are measured.
//! Then a collection keeps the high bits of keys alone: two keys that agree in these make texts meet that share nothing there, and
//! measuring tells. No pair is lost, and no count of shared keys comes out too low, since whatever shares a key shares its high bits.

use std::ops::Range;

use crate::collection::run::schema::POSTINGS;
use crate::collection::tables::Tables;
use crate::collection::tables::dead::Dead;
use crate::collection::tables::document::{pack, unpack};
use crate::collection::tables::rows::columns;
use crate::config::Config;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::Posting;
use crate::limits::sized;
use crate::similarity::AcceptanceRule;

/// High bits of a key that are kept, where that will do. Of 2^28 postings one in 4,096 that is met has another key.
const KEY_BITS: u32 = sized(40, 24);

/// How keys stand in rows.
#[derive(Clone, Copy, Debug)]
pub struct PostingForm {
    /// Low bits that are left out.
    cut: u32,
}

impl PostingForm {
    /// That of a collection of this configuration.
    pub fn of(config: &Config) -> PostingForm {
        let proposes = config.rule().is_some_and(AcceptanceRule::has_prefixes);
        // Whole keys tell documents apart that are not to be compared: among a million salts two may well agree in so many bits.
        let all_meet = config.input.within_field.is_empty();
        PostingForm { cut: if proposes && all_meet { u64::BITS - KEY_BITS } else { 0 } }
    }

    /// How many keys there may be: those of rows are below.
    pub fn keys(self) -> u128 {
        1 << (u64::BITS - self.cut)
    }

    /// What stands for a key. Inverted, so that greater keys come first.
    pub fn key_of(self, key: u64) -> u64 {
        !key >> self.cut
    }

    /// Ascending, distinct keys by what stands for them, which ascends: mostly one key each.
    fn by_rows(self, keys: &[u64]) -> (Vec<Range<usize>>, Vec<u64>) {
        let mut start = 0;
        let same = keys.chunk_by(|a, b| self.key_of(*a) == self.key_of(*b));
        let ranges = same.map(|same| {
            start += same.len();
            start - same.len()..start
        });
        let mut wanted: Vec<Range<usize>> = ranges.collect();
        wanted.reverse();
        let rows_keys = wanted.iter().map(|same| self.key_of(keys[same.start])).collect();
        (wanted, rows_keys)
    }

    /// The row of a posting.
    pub fn to_row(self, posting: &Posting) -> [u64; 2] {
        [self.key_of(posting.key), !pack(posting.size, posting.doc)]
    }
}

/// Rows of postings on their way into a run, ascending, each once. Postings come in descending order of their whole keys, bucket by bucket:
/// those that agree in the high bits may come in two buckets, and are in the order of their rows only once all are there.
#[derive(Debug)]
pub struct PostingRows {
    form: PostingForm,
    /// The rows of the key that came last.
    same: Vec<[u64; 2]>,
}

impl PostingRows {
    /// None so far, of a collection of this form.
    pub fn new(form: PostingForm) -> PostingRows {
        PostingRows { form, same: Vec::new() }
    }

    /// Takes postings, and hands on the rows of all keys but the last.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn push<'a>(
        &mut self,
        postings: impl Iterator<Item = &'a Posting>,
        each: &mut dyn FnMut(&[u64; 2]) -> Result<()>,
    ) -> Result<()> {
        let key = |[key, _]: &[u64; 2]| *key;
        let form = self.form;
        for row in postings.map(|posting| form.to_row(posting)) {
            if self.same.last().is_some_and(|last| key(last) != key(&row)) {
                self.flush(each)?;
            }
            self.same.push(row);
        }
        Ok(())
    }

    /// Hands on the rows of the last key: no other has it.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn flush(&mut self, each: &mut dyn FnMut(&[u64; 2]) -> Result<()>) -> Result<()> {
        if self.same.len() > 1 {
            self.same.sort_unstable();
            self.same.dedup();
        }
        self.same.drain(..).try_for_each(|row| each(&row))
    }
}

/// The size and the content of a posting's row.
pub fn size_and_content(row: &[u64]) -> (u32, Doc) {
    let [_, of] = columns(row);
    unpack(!of)
}

/// Appends the postings of live contents under ascending, distinct keys to `found`, which is empty: ascending.
///
/// # Errors
/// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`].
pub fn live_postings(
    tables: &Tables,
    form: PostingForm,
    keys: &[u64],
    dead: &Dead,
    found: &mut Vec<Posting>,
) -> Result<()> {
    let (wanted, rows_keys) = form.by_rows(keys);
    for run in &tables.runs {
        let Some(rows) = run.rows(POSTINGS.kind) else { continue };
        let before = found.len();
        rows.probe(1, &rows_keys, &mut |at, row| {
            let (size, doc) = size_and_content(row);
            found.extend(keys[wanted[at].clone()].iter().rev().map(|key| Posting { key: *key, size, doc }));
            Ok(())
        })?;
        // Inverted, they come in descending order.
        found[before..].reverse();
    }
    dead.drop_from(tables, found, |posting| posting.doc)?;
    // Made for lists that are sorted in parts: each run has left one.
    found.sort();
    // Of two keys that one row stands for, a load may have left it in the runs of two workers.
    found.dedup();
    Ok(())
}

/// Hands on the postings under ascending, distinct keys as they are read, in no order, with the number of the key: those of dead contents,
/// too, and some twice that a load has left in the runs of two workers. Nothing of them is held.
///
/// # Errors
/// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`].
pub fn each_posting(
    tables: &Tables,
    form: PostingForm,
    keys: &[u64],
    each: &mut dyn FnMut(usize, &Posting),
) -> Result<()> {
    let (wanted, rows_keys) = form.by_rows(keys);
    for run in &tables.runs {
        let Some(rows) = run.rows(POSTINGS.kind) else { continue };
        rows.probe(1, &rows_keys, &mut |at, row| {
            let (size, doc) = size_and_content(row);
            wanted[at].clone().for_each(|number| each(number, &Posting { key: keys[number], size, doc }));
            Ok(())
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_that_tell_scopes_apart_stay_whole() {
        let mut config = Config::default();
        assert_eq!(PostingForm::of(&config).keys(), 1 << KEY_BITS);
        config.input.within_field = "site".into();
        assert_eq!(PostingForm::of(&config).keys(), 1 << u64::BITS);
    }

    proptest! {
        #[test]
        fn rows_ascend_and_none_is_missing(
            keys in prop::collection::vec((0..6u64, 0..4u64, 0..3u32, 0..3u32), 0..60), cut in any::<bool>(),
            buckets in prop::collection::vec(1..9usize, 0..30),
        ) {
            let form = PostingForm { cut: if cut { u64::BITS - KEY_BITS } else { 0 } };
            // Keys that agree in their high bits, and others; buckets end anywhere.
            let posting = |(high, low, size, doc)| Posting { key: high << 62 | low, size, doc };
            let postings: BTreeSet<Posting> = keys.into_iter().map(posting).collect();
            let descending: Vec<Posting> = postings.iter().rev().copied().collect();
            let (mut rows, mut of_run, mut rest) = (PostingRows::new(form), Vec::new(), &descending[..]);
            let mut each = |row: &[u64; 2]| {
                of_run.push(*row);
                Ok(())
            };
            for bucket in buckets.into_iter().chain([descending.len()]) {
                let (some, others) = rest.split_at(bucket.min(rest.len()));
                rows.push(some.iter(), &mut each).expect("nothing fails");
                rest = others;
            }
            rows.flush(&mut each).expect("nothing fails");
            prop_assert!(of_run.is_sorted_by(|a, b| a < b));
            let expected: BTreeSet<[u64; 2]> = postings.iter().map(|posting| form.to_row(posting)).collect();
            prop_assert!(of_run.into_iter().eq(expected));
        }
    }
}
