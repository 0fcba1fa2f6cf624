//! All texts of all benchmarks, and their n-grams.

use std::collections::BTreeMap;
use std::ops::Range;

use hashbrown::HashMap;
use xxhash_rust::xxh3::Xxh3;

use super::grams::table::{GramTable, MOST_TEXTS, any_order};
use super::rule::{ContaminationRule, TextTest};
use super::score::answers::different;
use super::score::{ItemParts, ItemScores};
use crate::error::{Error, Result};
use crate::simd::Simd;
use crate::sketch::shingles;
use crate::text::{Tokenizer, Tokens};

/// Items of fewer different words have no score.
const DIFFERENT: usize = 4;

/// An item of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its id, or the file and the line that it stands in.
    pub id: String,
    /// The number of its benchmark.
    pub benchmark: u32,
    /// The number of its file among those of all benchmarks.
    pub file: u32,
    /// Its line, row or record in it, from 1.
    pub line: u64,
}

/// Whose a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextOwner {
    /// The number of the item.
    pub item: u32,
    /// The number of the field.
    pub field: u32,
}

/// A text that is looked for. Several items may have it.
#[derive(Clone, Debug)]
pub struct BenchmarkText {
    /// Words of its n-grams.
    pub ngram: usize,
    /// How many of its n-grams are enough.
    pub needed: usize,
    /// Within how many n-grams of a document.
    pub(super) window: usize,
    /// Its n-grams among those of all texts.
    grams: Range<usize>,
    /// The same in the order of its words, repeats included, where shares of items are told.
    places: Range<usize>,
    /// Whose it is, among all owners.
    owners: Range<usize>,
}

impl BenchmarkText {
    /// How many distinct n-grams it has.
    pub fn size(&self) -> usize {
        self.grams.len()
    }
}

/// What is said of a benchmark before the corpus is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct BenchmarkCounts {
    /// What it is called.
    pub benchmark: String,
    /// Its items.
    pub items: u64,
    /// Items of which no text is long enough to be looked for.
    pub too_short: u64,
}

/// The texts of all benchmarks, ready to be looked for.
pub struct BenchmarkIndex {
    /// When a text is found.
    pub(super) rule: ContaminationRule,
    /// The items, in the order of the benchmarks.
    pub items: Vec<Item>,
    /// What there is of each benchmark.
    pub counts: Vec<BenchmarkCounts>,
    /// Texts, each once.
    pub texts: Vec<BenchmarkText>,
    pub(super) grams: Vec<u64>,
    /// N-grams of texts in the order of their words, where shares of items are told.
    places: Vec<u64>,
    /// What makes the score of an item, where items have one.
    pub(super) scores: Option<ItemScores>,
    /// A bit for each n-gram that is not looked for, as many documents have it; empty where none is.
    pub(super) common: Vec<u64>,
    owners: Vec<TextOwner>,
    /// N-grams that texts are looked for by, for each length.
    pub(super) tables: Vec<(usize, GramTable)>,
}

impl BenchmarkIndex {
    /// The n-grams of a text, the rarest ones first.
    #[inline]
    pub(super) fn grams(&self, text: usize) -> &[u64] {
        &self.grams[self.texts[text].grams.clone()]
    }

    /// The number of the first n-gram of a text among those of all texts.
    #[inline]
    pub(super) fn first_gram(&self, text: usize) -> usize {
        self.texts[text].grams.start
    }

    /// The n-grams of a text in the order of its words; none where shares of items are not told.
    pub(super) fn places(&self, text: usize) -> &[u64] {
        &self.places[self.texts[text].places.clone()]
    }

    /// Whether an n-gram, by its number among those of all texts, is not looked for.
    #[inline]
    pub(super) fn is_common(&self, gram: usize) -> bool {
        self.common.get(gram / 64).is_some_and(|word| word >> (gram % 64) & 1 == 1)
    }

    /// Whose a text is, ascending.
    pub fn owners(&self, text: usize) -> &[TextOwner] {
        &self.owners[self.texts[text].owners.clone()]
    }

    /// Bytes that counting takes in how many documents n-grams are, but for those that are already part of what the index takes.
    pub(super) fn bytes_to_count(&self) -> u64 {
        let counted = self.rule.max_documents.map_or(0, |_| self.grams.len());
        let common = counted.div_ceil(64).saturating_sub(self.common.len()) * size_of::<u64>();
        (counted * size_of::<u32>() + common) as u64
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        let tables: usize = self.tables.iter().map(|(_, table)| table.bytes()).sum();
        let items: usize = self.items.iter().map(bytes_of).sum();
        let texts =
            self.texts.len() * size_of::<BenchmarkText>() + self.owners.len() * size_of::<TextOwner>();
        let scores = self.scores.as_ref().map_or(0, ItemScores::bytes);
        let grams = self.grams.len() + self.places.len() + self.common.len();
        (tables + grams * 8 + scores + texts + items) as u64
    }
}

/// What an item takes with its id, which is a block of its own.
fn bytes_of(item: &Item) -> usize {
    size_of::<Item>() + item.id.len() + 16
}

/// N-grams of one length.
#[derive(Clone, Copy, Default)]
struct LengthCounts {
    /// Of all texts.
    grams: usize,
    /// Those that texts are looked for by.
    keys: usize,
}

/// An index that grows.
pub(super) struct IndexBuilder {
    rule: ContaminationRule,
    /// Most bytes of the index.
    most: u64,
    tokenizer: Tokenizer,
    items: Vec<Item>,
    counts: Vec<BenchmarkCounts>,
    /// Bytes of the items.
    item_bytes: usize,
    /// The number of each text, by a digest of its tokens.
    known: HashMap<u128, u32>,
    texts: Vec<BenchmarkText>,
    grams: Vec<u64>,
    places: Vec<u64>,
    /// N-grams of the present text in the order of its words.
    cut: Vec<u64>,
    /// The parts of the items, where these have a score, and their words.
    parts: Vec<ItemParts>,
    part_words: usize,
    /// For each length of n-grams, how many there are.
    lengths: BTreeMap<usize, LengthCounts>,
    /// Bytes that their tables take at most, and what making one takes beside them.
    table_bytes: u64,
    owners: Vec<(u32, TextOwner)>,
    /// Whether the present item has a text that is looked for.
    is_tested: bool,
}

impl IndexBuilder {
    /// An empty index of at most so many bytes.
    pub(super) fn new(rule: ContaminationRule, most: u64) -> IndexBuilder {
        IndexBuilder {
            rule,
            most,
            tokenizer: Tokenizer::new(Tokens::Words, rule.fold, Simd::detect()),
            items: Vec::new(),
            counts: Vec::new(),
            item_bytes: 0,
            known: HashMap::new(),
            texts: Vec::new(),
            grams: Vec::new(),
            places: Vec::new(),
            cut: Vec::new(),
            parts: Vec::new(),
            part_words: 0,
            lengths: BTreeMap::new(),
            table_bytes: 0,
            owners: Vec::new(),
            is_tested: true,
        }
    }

    /// Whether items have a score, and are taken in as [`IndexBuilder::parts`].
    pub(super) fn is_scored(&self) -> bool {
        self.rule.scored
    }

    /// The next items are of another benchmark.
    pub(super) fn begin(&mut self, name: &str) {
        self.end_item();
        self.counts.push(BenchmarkCounts { benchmark: name.to_owned(), ..BenchmarkCounts::default() });
    }

    /// Takes an item in, whose texts follow; its number.
    pub(super) fn item(&mut self, item: Item) -> Result<u32> {
        self.end_item();
        self.is_tested = false;
        self.counts.iter_mut().last().into_iter().for_each(|counts| counts.items += 1);
        self.item_bytes += bytes_of(&item);
        self.items.push(item);
        self.has_room(0)?;
        Ok(self.items.len() as u32 - 1)
    }

    fn end_item(&mut self) {
        let too_short = u64::from(!self.is_tested);
        self.counts.iter_mut().last().into_iter().for_each(|counts| counts.too_short += too_short);
        self.is_tested = true;
    }

    /// Takes a text of the present item in.
    pub(super) fn text(&mut self, text: &str, owner: TextOwner) -> Result<()> {
        let most = self.most.saturating_sub(self.bytes());
        let words = words(&mut self.tokenizer, text, most).ok_or_else(|| too_large(self.most))?;
        let Some(test) = self.rule.test(words) else { return Ok(()) };
        if self.rule.shares {
            shingles(words, test.ngram, &mut self.cut);
        }
        let digest = digest_of(&[words]);
        self.take(digest, &test, None, owner)
    }

    /// Takes the present item in: its question, its answer and its passage, of which it need not have all.
    pub(super) fn parts(&mut self, texts: [&str; 3], owner: TextOwner) -> Result<()> {
        let mut most = self.most.saturating_sub(self.bytes());
        let mut parts = [const { Vec::new() }; 3];
        for (part, text) in parts.iter_mut().zip(texts) {
            let words = words(&mut self.tokenizer, text, most).ok_or_else(|| too_large(self.most))?;
            *part = words.to_vec();
            // The words of a text stay while the next ones are cut.
            most = most.saturating_sub(ItemParts::bytes(1, part.len(), 0) as u64);
        }
        let digest = digest_of(&[&parts[0], &parts[1], &parts[2]]);
        let words = parts.iter().map(Vec::len).sum();
        let is_long =
            words >= self.rule.min_words && different(parts.iter().flatten(), DIFFERENT) >= DIFFERENT;
        let [question, answer, passage] = parts;
        match self.rule.test(&question).filter(|_| is_long) {
            Some(test) => self.take(digest, &test, Some(ItemParts { words, answer, passage }), owner),
            None => Ok(()),
        }
    }

    /// Takes a text in that is looked for.
    fn take(
        &mut self,
        digest: u128,
        test: &TextTest,
        parts: Option<ItemParts>,
        owner: TextOwner,
    ) -> Result<()> {
        self.is_tested = true;
        let next = self.texts.len() as u32;
        let number = *self.known.entry(digest).or_insert(next);
        self.owners.push((number, owner));
        if number == next {
            self.part_words += parts.as_ref().map_or(0, |parts| parts.words);
            self.parts.extend(parts);
            self.push(test);
        }
        if self.lengths.values().any(|counts| counts.keys > MOST_TEXTS) {
            return Err(too_many());
        }
        self.has_room(0)
    }

    fn push(&mut self, test: &TextTest) {
        let begin = self.grams.len();
        extend_by_eighths(&mut self.grams, &test.grams);
        let TextTest { ngram, needed, window, .. } = *test;
        let counts = self.lengths.entry(ngram).or_default();
        counts.grams += test.grams.len();
        counts.keys += key_count(test.grams.len(), needed);
        let grams = begin..self.grams.len();
        let from = self.places.len();
        extend_by_eighths(&mut self.places, &self.cut);
        self.cut.clear();
        let places = from..self.places.len();
        self.texts.push(BenchmarkText { ngram, needed, window, grams, places, owners: 0..0 });
        let (mut tables, mut beside) = (0, 0);
        for counts in self.lengths.values() {
            let (table, pairs) = GramTable::most_bytes(counts.keys);
            tables += table;
            beside = beside.max(pairs + GramCounts::bytes(counts.grams));
        }
        self.table_bytes = tables + beside;
    }

    /// Bytes that it takes at most, now or while it is finished.
    fn bytes(&self) -> u64 {
        let known = (self.known.capacity() * 8 / 7) * (size_of::<(u128, u32)>() + 1);
        let texts = self.texts.capacity() * size_of::<BenchmarkText>();
        let owners = self.owners.capacity() * size_of::<(u32, TextOwner)>();
        // A count and a bit for each n-gram, while the corpus is read for the first time.
        let counted = self.rule.max_documents.map_or(0, |_| self.grams.len() * 9 / 2);
        // Weights of n-grams, and what they are made of.
        let scored = ItemParts::bytes(self.parts.capacity(), self.part_words, self.grams.len());
        let scored = if self.rule.scored { scored } else { 0 };
        let grams = (self.grams.capacity() + self.places.capacity()) * 8;
        let plain = (grams + counted + scored + texts + owners + self.item_bytes) as u64;
        plain + (known as u64).max(self.table_bytes)
    }

    /// Refuses what has no room in the memory, with so many bytes more for a while.
    ///
    /// # Errors
    /// [`Error::Limit`].
    pub(super) fn has_room(&self, more: u64) -> Result<()> {
        let fits = self.bytes().saturating_add(more) <= self.most;
        if fits { Ok(()) } else { Err(too_large(self.most)) }
    }

    /// The index.
    pub(super) fn finish(mut self) -> Result<BenchmarkIndex> {
        self.end_item();
        if self.texts.is_empty() {
            let (least, remedy) = (self.rule.least(), self.rule.remedy());
            return Err(Error::config(format!(
                "--benchmarks: no item has {least}, so nothing could be found; name other fields with --benchmark-fields, {remedy}"
            )));
        }
        drop(std::mem::take(&mut self.known));
        let IndexBuilder {
            rule,
            items,
            counts,
            mut texts,
            mut grams,
            mut places,
            parts,
            lengths,
            mut owners,
            ..
        } = self;
        grams.shrink_to_fit();
        places.shrink_to_fit();
        owners.sort_unstable();
        let mut owner = 0;
        for (number, text) in texts.iter_mut().enumerate() {
            let first = owner;
            while owners.get(owner).is_some_and(|(text, _)| *text as usize == number) {
                owner += 1;
            }
            text.owners = first..owner;
        }
        let owners = owners.into_iter().map(|(_, owner)| owner).collect();
        let (scores, tables) = if rule.scored {
            let ranges: Vec<Range<usize>> = texts.iter().map(|text| text.grams.clone()).collect();
            let (scores, wanted) = ItemScores::new(rule, &ranges, &mut grams, parts);
            let keys = (0u32..).zip(&ranges).zip(wanted).flat_map(|((text, range), wanted)| {
                grams[range.clone()][..wanted].iter().map(move |gram| (*gram, text))
            });
            let table = GramTable::new(keys.collect());
            (Some(scores), vec![(rule.ngram, table)])
        } else {
            let table =
                |(ngram, counts): (usize, LengthCounts)| (ngram, table(&mut grams, &texts, ngram, counts));
            (None, lengths.into_iter().map(table).collect())
        };
        let common = Vec::new();
        Ok(BenchmarkIndex { rule, items, counts, texts, grams, places, scores, common, owners, tables })
    }
}

/// Appends numbers to many. Doubling these would leave half of the room free.
fn extend_by_eighths(all: &mut Vec<u64>, more: &[u64]) {
    if all.len() + more.len() > all.capacity() {
        all.reserve_exact(more.len().max(all.len() / 8));
    }
    all.extend_from_slice(more);
}

/// The words of a text, if they, its n-grams, and those with how often they occur have room in so many bytes.
fn words<'a>(tokenizer: &'a mut Tokenizer, text: &str, most: u64) -> Option<&'a [u64]> {
    Some(tokenizer.tokens(text)).filter(|words| words.len() as u64 * 4 * 8 <= most)
}

/// A digest of texts, one behind the other.
fn digest_of(texts: &[&[u64]]) -> u128 {
    let mut digest = Xxh3::new();
    for (at, words) in texts.iter().enumerate() {
        if at > 0 {
            digest.update(&(words.len() as u64).to_le_bytes());
        }
        words.iter().for_each(|word| digest.update(&word.to_le_bytes()));
    }
    digest.digest128()
}

fn too_large(most: u64) -> Error {
    Error::Limit(format!(
        "the benchmarks take more than the {} MB of memory that there are for them; give more with --memory, or look for some \
         of the benchmarks at a time",
        most / 1_000_000
    ))
}

fn too_many() -> Error {
    Error::Limit(format!(
        "the benchmarks have more than {MOST_TEXTS} n-grams; look for some of the benchmarks at a time"
    ))
}

/// How many of its n-grams a text is looked for by: so many that a stretch with fewer than two of them has not enough, or
/// with none where one is enough.
fn key_count(grams: usize, needed: usize) -> usize {
    (grams - needed + 2).min(grams)
}

/// The table of n-grams of a length. Of a text the rarest ones are in it, and these are put first.
fn table(grams: &mut [u64], texts: &[BenchmarkText], ngram: usize, counts: LengthCounts) -> GramTable {
    let of_length = || (0u32..).zip(texts).filter(|(_, text)| text.ngram == ngram);
    let mut frequent = GramCounts::new(counts.grams);
    of_length().flat_map(|(_, text)| &grams[text.grams.clone()]).for_each(|gram| frequent.add(*gram));
    let mut keys = Vec::with_capacity(counts.keys);
    let mut ranked: Vec<(u16, u64, u64)> = Vec::new();
    for (number, text) in of_length() {
        let own = &mut grams[text.grams.clone()];
        let wanted = key_count(own.len(), text.needed);
        ranked.clear();
        ranked.extend(own.iter().map(|gram| (frequent.of(*gram), any_order(*gram), *gram)));
        ranked.sort_unstable();
        own.iter_mut().zip(&ranked).for_each(|(own, (.., gram))| *own = *gram);
        keys.extend(own[..wanted].iter().map(|gram| (*gram, number)));
    }
    drop(frequent);
    GramTable::new(keys)
}

/// About how often n-grams occur. Several may share a number: which ones are taken for rare decides how long a search takes,
/// and not what is found.
struct GramCounts {
    counts: Vec<u16>,
    shift: u32,
}

impl GramCounts {
    fn len(grams: usize) -> usize {
        grams.next_power_of_two().max(2)
    }

    /// Bytes that the counts of so many n-grams take.
    fn bytes(grams: usize) -> u64 {
        (GramCounts::len(grams) * size_of::<u16>()) as u64
    }

    fn new(grams: usize) -> GramCounts {
        let len = GramCounts::len(grams);
        GramCounts { counts: vec![0; len], shift: 64 - len.trailing_zeros() }
    }

    fn add(&mut self, gram: u64) {
        let count = &mut self.counts[(gram >> self.shift) as usize];
        *count = count.saturating_add(1);
    }

    fn of(&self, gram: u64) -> u16 {
        self.counts[(gram >> self.shift) as usize]
    }
}
