//! Keys made anew, where a merge of all runs finds that another rarity table is better.
//!
//! The keys of a text are its rarest shingles by the table that the first load has made. A site that came later has a template whose
//! shingles that table takes for rare: all its pages stand under them, and a load that meets one of these keys reads the sets of all
//! pages, however small it is. A merge of all runs makes a table of a sample of what is stored. If at most half as many of the sample's
//! postings stand under common keys by that one, it derives the keys of all texts by it, and writes both. Any one order of the shingles is right for the
//! prefix filter, so what is found stays the same.

use std::path::Path;
use std::sync::Arc;

use crate::collection::maintain::merged_rows::{MergedRow, MergedRows, Range, ReadValue, Stays};
use crate::collection::run::rows::RowsReader;
use crate::collection::run::schema::{POSTINGS, TEXTS};
use crate::collection::run::writer::RunWriter;
use crate::collection::tables::frozen::frozen;
use crate::collection::tables::postings::PostingForm;
use crate::collection::tables::rows::{StoredText, columns};
use crate::collection::tables::sets::{SetCursor, salts};
use crate::config::Config;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{Pile, Posting};
use crate::limits::{MAX_EXPANDED_GROUP, sized};
use crate::method::FrozenTables;
use crate::simd::Simd;
use crate::similarity::AcceptanceRule;
use crate::sketch::{Rarity, spread};
use crate::sketcher::Sketcher;

/// More contents than this under one key are too many.
const COMMON: u64 = sized(MAX_EXPANDED_GROUP as u64, 4);
/// Of so many texts one is sampled; the least and the most of them.
const SAMPLE: (u64, u64, u64) = sized((64, 1 << 12, 1 << 17), (2, 1 << 3, 1 << 7));
/// Words of their sets, about.
const MOST_WORDS: u64 = sized(4 << 20, 1 << 12);
/// Words of a set that is not sampled: what it would add takes much memory, and most of its shingles are met once.
const LONG: u32 = sized(64 << 10, 1 << 8);
/// Texts that are sampled together: they lie in the same blocks.
const NEIGHBOURS: u64 = 32;
/// Fewer sampled texts under one key are no sign that many of all are.
const LEAST: u64 = sized(4, 2);
/// Of so many postings one stands under a common key where a better table is looked for.
const FEW: usize = 64;
/// Bytes of postings that are sorted at once, about, and most buckets of these.
const SORTED: (u64, u64) = sized((32 << 20, 1 << 6), (1 << 8, 4));
/// A bucket of more times as many is divided once more.
const LARGER: u64 = 4;
/// Rows that are looked at for each place where it is divided.
const LOOKED_AT: usize = 16;
/// Bytes of them that are held in memory before they are sorted.
const HELD: u64 = sized(64 << 20, 64 << 10);
/// Texts whose scopes are looked up at once.
const LOOKED_UP: usize = sized(4 << 10, 3);

/// Derives postings by a table of the collection as it is.
pub(super) struct NewKeys<'a> {
    rows: MergedRows<'a>,
    texts: Stays,
    form: PostingForm,
    config: &'a Config,
    frozen_tables: FrozenTables,
}

impl<'a> NewKeys<'a> {
    /// Those of a collection for which another table is better, given all its rows and which texts stay; none where its own will do.
    /// Every process of a job decides the same.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Interrupted`].
    pub(super) fn if_better(
        rows: MergedRows<'a>,
        config: &'a Config,
        texts: Stays,
    ) -> Result<Option<NewKeys<'a>>> {
        let rows = MergedRows { range: Range::ALL, ..rows };
        // By containment all shingles are keys, whatever their order.
        if !config.needs().rarity || !config.rule().is_some_and(AcceptanceRule::has_prefixes) {
            return Ok(None);
        }
        let Some(known) = frozen(rows.tables)? else { return Ok(None) };
        let sample = SampledSets::of(rows, texts)?;
        let (common, all) = sample.common_postings(config, &known);
        if common <= all / FEW {
            return Ok(None);
        }
        let frozen_tables = FrozenTables { rarity: Arc::new(sample.rarity(config)), ..(*known).clone() };
        if sample.common_postings(config, &frozen_tables).0 > common / 2 {
            return Ok(None);
        }
        Ok(Some(NewKeys { rows, texts, form: PostingForm::of(config), config, frozen_tables }))
    }

    /// The table that they are made by.
    pub(super) fn rarity(&self) -> &Rarity {
        &self.frozen_tables.rarity
    }

    /// Writes the postings of a range of keys into the section that is open. What has no room in memory goes to a file without a name in
    /// `folder`.
    ///
    /// # Errors
    /// Those of [`NewKeys::if_better`].
    pub(super) fn write(&self, run: &mut RunWriter, range: Range, folder: &Path) -> Result<()> {
        let now = self.rows.tables.having(POSTINGS).filter_map(|run| run.rows(POSTINGS.kind));
        let now = now.map(RowsReader::len).sum();
        let (from, to) = range.of_postings();
        let mut buckets = PostingBuckets::new(self.form.keys(), (from, to), now, folder);
        self.each_posting(&mut |row| {
            let [key, _] = columns(&row);
            let is_of_range = from <= key && to.is_none_or(|to| key < to);
            if is_of_range { buckets.push(row) } else { Ok(()) }
        })?;
        let progress = self.rows.progress;
        buckets.each_sorted(&mut |rows| {
            progress.check()?;
            rows.iter().try_for_each(|row| run.push(row))
        })
    }

    /// Hands on the rows of all texts, in no order, some of them twice.
    fn each_posting(&self, each: &mut dyn FnMut([u64; 2]) -> Result<()>) -> Result<()> {
        let mut sketcher = Sketcher::new(self.config, &self.frozen_tables, Simd::detect());
        let mut some = SomeKeys::default();
        each_set(self.rows, self.texts, &mut |content, set| {
            let (keys, size) = sketcher.keys_of(set);
            some.keys.extend_from_slice(keys);
            some.texts.push((content, size, some.keys.len()));
            if some.texts.len() == LOOKED_UP { some.hand_on(self, each) } else { Ok(()) }
        })?;
        some.hand_on(self, each)
    }
}

/// Keys of some texts, whose scopes are looked up together.
#[derive(Default)]
struct SomeKeys {
    /// Contents, the sizes that their keys are posted with, and where these end.
    texts: Vec<(u64, u32, usize)>,
    keys: Vec<u64>,
}

impl SomeKeys {
    /// Hands on their rows, and forgets them.
    fn hand_on(&mut self, new: &NewKeys<'_>, each: &mut dyn FnMut([u64; 2]) -> Result<()>) -> Result<()> {
        let contents: Vec<u64> = self.texts.iter().map(|(content, ..)| *content).collect();
        let mut start = 0;
        for ((content, size, end), salt) in self.texts.drain(..).zip(salts(new.rows.tables, &contents)?) {
            for key in &self.keys[start..end] {
                let posting = Posting { key: spread(*key) ^ salt, size, doc: content as Doc };
                each(new.form.to_row(&posting))?;
            }
            start = end;
        }
        self.keys.clear();
        Ok(())
    }
}

/// Sets of a sample of the texts. Which texts these are depends on their contents alone.
struct SampledSets {
    words: Vec<u64>,
    /// Where each set ends.
    ends: Vec<usize>,
    /// What the keys of each are salted with.
    salts: Vec<u64>,
    /// So many sampled texts under one key stand for too many of all.
    common: usize,
}

impl SampledSets {
    fn of(rows: MergedRows<'_>, stays: Stays) -> Result<SampledSets> {
        let (mut all, mut size) = (0, 0);
        rows.each_row((TEXTS, stays), &mut |row| {
            all += 1;
            size += u64::from(StoredText::of_row(row).size);
            Ok(())
        })?;
        let wanted = (all / SAMPLE.0).clamp(SAMPLE.1, SAMPLE.2);
        let fit = u128::from(MOST_WORDS) * u128::from(all) / u128::from(size.max(1));
        let part = u128::from(u64::MAX) * fit.min(wanted.into()).min(all.into()) / u128::from(all.max(1));
        let only = |_: usize, row: &[u64]| {
            let text = StoredText::of_row(row);
            text.size < LONG && u128::from(spread(text.content / NEIGHBOURS + 1)) <= part
        };
        let (mut words, mut ends, mut contents) = (Vec::new(), Vec::new(), Vec::new());
        each_set(MergedRows { only: Some(&only), ..rows }, stays, &mut |content, set| {
            words.extend_from_slice(set);
            ends.push(words.len());
            contents.push(content);
            Ok(())
        })?;
        let common = (COMMON * contents.len() as u64).div_ceil(all.max(1)).max(LEAST) as usize;
        Ok(SampledSets { words, ends, salts: salts(rows.tables, &contents)?, common })
    }

    fn sets(&self) -> impl Iterator<Item = &[u64]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.words[start..*end])
    }

    /// The rarity table of them.
    fn rarity(&self, config: &Config) -> Rarity {
        let rule = config.rule();
        let sets: Vec<&[u64]> = self.sets().map(|set| rule.map_or(set, |rule| rule.own_words(set))).collect();
        Rarity::of_sample(&sets)
    }

    /// How many of their postings stand under common keys by some table, and how many there are.
    fn common_postings(&self, config: &Config, tables: &FrozenTables) -> (usize, usize) {
        let mut sketcher = Sketcher::new(config, tables, Simd::detect());
        let mut keys = Vec::new();
        for (set, salt) in self.sets().zip(&self.salts) {
            keys.extend(sketcher.keys_of(set).0.iter().map(|key| spread(*key) ^ salt));
        }
        keys.sort_unstable();
        let groups = keys.chunk_by(|a, b| a == b).map(<[u64]>::len);
        (groups.filter(|many| *many > self.common).sum(), keys.len())
    }
}

/// Hands on the content and the set of each text, most of them derived by another thread.
fn each_set(
    rows: MergedRows<'_>,
    stays: Stays,
    each: &mut dyn FnMut(u64, &[u64]) -> Result<()>,
) -> Result<()> {
    let reader = || -> ReadValue {
        let (mut cursor, mut set) = (SetCursor::default(), Vec::new());
        Box::new(move |row, from, most, words| {
            let text = StoredText::of_row(row);
            if text.size as usize >= most {
                return Ok(false);
            }
            cursor.read(from, &text, &mut set)?;
            words.push(text.content);
            words.extend_from_slice(&set);
            Ok(true)
        })
    };
    let (mut cursor, mut set) = (SetCursor::default(), Vec::new());
    rows.each_read((TEXTS, stays), &reader, &mut |row| match row {
        MergedRow::Read([content, set @ ..]) => each(*content, set),
        MergedRow::Read([]) => Ok(()),
        MergedRow::Found(row, from) => {
            let text = StoredText::of_row(row);
            cursor.read(from, &text, &mut set)?;
            each(text.content, &set)?;
            cursor.rest();
            Ok(())
        }
    })
}

/// Rows of postings by ranges of their keys, so that each range can be sorted in memory.
struct PostingBuckets<'a> {
    piles: Vec<Pile<[u64; 2]>>,
    folder: &'a Path,
    /// The least key, and how many there may be from it on.
    from: u64,
    keys: u128,
}

impl<'a> PostingBuckets<'a> {
    /// None yet, of the keys from one on, up to another or to the last of `all`; of all keys there will be about so many `postings`.
    fn new(all: u128, (from, to): (u64, Option<u64>), postings: u64, folder: &'a Path) -> PostingBuckets<'a> {
        let keys = to.map_or(all, u128::from) - u128::from(from);
        let bytes = u128::from(postings) * size_of::<[u64; 2]>() as u128 * keys / all;
        let many = bytes.div_ceil(SORTED.0.into()).clamp(1, SORTED.1.into());
        PostingBuckets { piles: piles(many as usize, folder), folder, from, keys }
    }

    fn push(&mut self, row: [u64; 2]) -> Result<()> {
        let [key, _] = columns(&row);
        let bucket = u128::from(key - self.from) * self.piles.len() as u128 / self.keys;
        self.piles[bucket as usize].extend(&[row])
    }

    /// Hands on all rows in ascending order, each once.
    fn each_sorted(self, each: &mut dyn FnMut(&[[u64; 2]]) -> Result<()>) -> Result<()> {
        self.piles.into_iter().try_for_each(|pile| each_sorted(pile, self.folder, each))
    }
}

fn piles(many: usize, folder: &Path) -> Vec<Pile<[u64; 2]>> {
    std::iter::repeat_with(|| Pile::new(HELD / many as u64, folder)).take(many).collect()
}

/// Hands on the rows of a pile in ascending order, each once. A key that very many texts have in common is a bucket of any size: one that
/// is too large is divided where a sample of its own rows says.
fn each_sorted(
    pile: Pile<[u64; 2]>,
    folder: &Path,
    each: &mut dyn FnMut(&[[u64; 2]]) -> Result<()>,
) -> Result<()> {
    let most = SORTED.0 as usize / size_of::<[u64; 2]>();
    if pile.len() <= LARGER as usize * most {
        let mut rows = pile.all()?.into_owned();
        rows.sort_unstable();
        rows.dedup();
        return each(&rows);
    }
    let bounds = bounds(&pile, pile.len().div_ceil(most).min(SORTED.1 as usize))?;
    let mut parts = piles(bounds.len() + 1, folder);
    pile.each_slice(|rows| {
        rows.iter().try_for_each(|row| parts[bounds.partition_point(|bound| bound <= row)].extend(&[*row]))
    })?;
    drop(pile);
    parts.into_iter().try_for_each(|part| each_sorted(part, folder, each))
}

/// Rows, ascending and distinct, that divide those of a pile into about so many equal parts. No row is there more than twice, so that
/// each part is smaller than the pile.
fn bounds(pile: &Pile<[u64; 2]>, parts: usize) -> Result<Vec<[u64; 2]>> {
    let looked_at = (LOOKED_AT * parts).min(pile.len());
    let mut buffer = Vec::new();
    let row = |at: usize| Ok(pile.some(at * pile.len() / looked_at, 1, &mut buffer)?[0]);
    let mut sample: Vec<[u64; 2]> = (0..looked_at).map(row).collect::<Result<_>>()?;
    sample.sort_unstable();
    sample.dedup();
    let mut bounds: Vec<_> = (1..parts).map(|part| sample[part * sample.len() / parts]).collect();
    bounds.retain(|bound| *bound != sample[0]);
    bounds.dedup();
    if bounds.is_empty() {
        bounds.extend(sample.last());
    }
    Ok(bounds)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn buckets_sort_what_one_sorted_set_would(
            keys in prop::collection::vec((any::<u64>(), 0..4u64), 0..300), many in 0..1u64 << 26,
            part in 0..4u64, is_last in any::<bool>(), common in (any::<u64>(), 0..500u64),
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let form = PostingForm::of(&Config::default());
            let of_one_key = (0..common.1).map(|doc| (common.0, doc.wrapping_mul(spread(common.0)) >> 40));
            let keys = keys.into_iter().chain(of_one_key);
            let rows: Vec<[u64; 2]> = keys.map(|(key, doc)| [form.key_of(key), doc]).collect();
            let quarter = (form.keys() / 4) as u64;
            let (from, to) = (part * quarter, (!is_last && part < 3).then(|| (part + 1) * quarter));
            let rows: Vec<[u64; 2]> =
                rows.into_iter().filter(|row| from <= row[0] && to.is_none_or(|to| row[0] < to)).collect();
            let mut buckets = PostingBuckets::new(form.keys(), (from, to), many, folder.path());
            rows.iter().chain(&rows).try_for_each(|row| buckets.push(*row)).expect("pushed");
            let mut sorted = Vec::new();
            buckets.each_sorted(&mut |rows| {
                sorted.extend_from_slice(rows);
                Ok(())
            }).expect("sorted");
            prop_assert_eq!(sorted, rows.into_iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
        }
    }
}
