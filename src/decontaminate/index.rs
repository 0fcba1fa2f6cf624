//! All texts of all benchmarks, and their n-grams.

use std::ops::Range;

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::rule::{ContaminationRule, TextTest};
use super::table::GramTable;
use crate::error::{Error, Result};
use crate::limits::MAX_NGRAM;
use crate::simd::Simd;
use crate::text::{Fold, Tokenizer, Tokens};

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
    /// The items, in the order of the benchmarks.
    pub items: Vec<Item>,
    /// What there is of each benchmark.
    pub counts: Vec<BenchmarkCounts>,
    /// Texts, each once.
    pub texts: Vec<BenchmarkText>,
    grams: Vec<u64>,
    owners: Vec<TextOwner>,
    /// N-grams that texts are looked for by, for each length.
    pub(super) tables: Vec<(usize, GramTable)>,
}

impl BenchmarkIndex {
    /// The n-grams of a text, ascending.
    pub(super) fn grams(&self, text: usize) -> &[u64] {
        &self.grams[self.texts[text].grams.clone()]
    }

    /// Whose a text is, ascending.
    pub fn owners(&self, text: usize) -> &[TextOwner] {
        &self.owners[self.texts[text].owners.clone()]
    }

    /// Bytes that it takes, but for what items are called.
    pub fn bytes(&self) -> u64 {
        let tables: usize = self.tables.iter().map(|(_, table)| table.bytes()).sum();
        (tables + self.grams.len() * 8 + self.texts.len() * size_of::<BenchmarkText>()) as u64
            + (self.owners.len() * size_of::<TextOwner>() + self.items.len() * size_of::<Item>()) as u64
    }
}

/// An index that grows.
pub(super) struct IndexBuilder {
    rule: ContaminationRule,
    /// Most bytes of the index.
    most: u64,
    tokenizer: Tokenizer,
    items: Vec<Item>,
    counts: Vec<BenchmarkCounts>,
    /// The number of each text, by a digest of its tokens.
    known: HashMap<u128, u32>,
    tests: Vec<TextTest>,
    owners: Vec<(u32, TextOwner)>,
    /// Whether the present item has a text that is looked for.
    is_tested: bool,
    bytes: u64,
}

impl IndexBuilder {
    /// An empty index of at most so many bytes.
    pub(super) fn new(rule: ContaminationRule, most: u64) -> IndexBuilder {
        IndexBuilder {
            rule,
            most,
            tokenizer: Tokenizer::new(Tokens::Words, Fold::default(), Simd::detect()),
            items: Vec::new(),
            counts: Vec::new(),
            known: HashMap::new(),
            tests: Vec::new(),
            owners: Vec::new(),
            is_tested: true,
            bytes: 0,
        }
    }

    /// The next items are of another benchmark.
    pub(super) fn begin(&mut self, name: &str) {
        self.end_item();
        self.counts.push(BenchmarkCounts { benchmark: name.to_owned(), ..BenchmarkCounts::default() });
    }

    /// Takes an item in, whose texts follow; its number.
    pub(super) fn item(&mut self, item: Item) -> u32 {
        self.end_item();
        self.is_tested = false;
        self.counts.iter_mut().last().into_iter().for_each(|counts| counts.items += 1);
        self.items.push(item);
        self.items.len() as u32 - 1
    }

    fn end_item(&mut self) {
        let too_short = u64::from(!self.is_tested);
        self.counts.iter_mut().last().into_iter().for_each(|counts| counts.too_short += too_short);
        self.is_tested = true;
    }

    /// Takes a text of the present item in.
    pub(super) fn text(&mut self, text: &str, owner: TextOwner) -> Result<()> {
        let tokens = self.tokenizer.tokens(text);
        let Some(test) = self.rule.test(tokens) else { return Ok(()) };
        self.is_tested = true;
        let bytes: Vec<u8> = tokens.iter().flat_map(|token| token.to_le_bytes()).collect();
        let next = self.tests.len() as u32;
        let number = *self.known.entry(xxh3_128(&bytes)).or_insert(next);
        self.owners.push((number, owner));
        if number == next {
            // N-grams, and what few of them take in a table.
            self.bytes += 8 * test.grams.len() as u64 + 200;
            self.tests.push(test);
        }
        if self.bytes > self.most {
            return Err(Error::Limit(format!(
                "the n-grams of the benchmarks take more than the {} MB of memory that there are for them; give more with \
                 --memory, or look for some of the benchmarks at a time",
                self.most / 1_000_000
            )));
        }
        Ok(())
    }

    /// The index.
    pub(super) fn finish(mut self) -> Result<BenchmarkIndex> {
        self.end_item();
        if self.tests.is_empty() {
            return Err(Error::config(format!(
                "--benchmarks: no item has a text of {} words or more, so nothing could be found; name other fields with \
                 --benchmark-fields, join them with --join-fields, or lower --min-words",
                self.rule.min_words
            )));
        }
        self.owners.sort_unstable();
        let tables = tables(&self.tests);
        let (mut grams, mut texts, mut owner) = (Vec::new(), Vec::with_capacity(self.tests.len()), 0);
        for (number, test) in self.tests.iter().enumerate() {
            let (begin, first) = (grams.len(), owner);
            grams.extend_from_slice(&test.grams);
            while self.owners.get(owner).is_some_and(|(text, _)| *text as usize == number) {
                owner += 1;
            }
            let TextTest { ngram, needed, window, .. } = *test;
            texts.push(BenchmarkText {
                ngram,
                needed,
                window,
                grams: begin..grams.len(),
                owners: first..owner,
            });
        }
        let owners = self.owners.into_iter().map(|(_, owner)| owner).collect();
        let (items, counts) = (self.items, self.counts);
        Ok(BenchmarkIndex { items, counts, texts, grams, owners, tables })
    }
}

/// A table for each length of n-grams. Of a text the rarest ones are in it, and so many that a stretch without any of them
/// cannot have enough.
fn tables(tests: &[TextTest]) -> Vec<(usize, GramTable)> {
    let mut tables = Vec::new();
    for ngram in 1..=MAX_NGRAM {
        let of_length = || (0u32..).zip(tests).filter(|(_, test)| test.ngram == ngram);
        let mut counts: HashMap<u64, u32> = HashMap::new();
        of_length().flat_map(|(_, test)| &test.grams).for_each(|gram| *counts.entry(*gram).or_default() += 1);
        if counts.is_empty() {
            continue;
        }
        let mut keys = Vec::new();
        for (number, test) in of_length() {
            let mut ranked: Vec<(u32, u64)> = test.grams.iter().map(|gram| (counts[gram], *gram)).collect();
            ranked.sort_unstable();
            ranked.truncate(test.grams.len() - test.needed + 1);
            keys.extend(ranked.into_iter().map(|(_, gram)| (gram, number)));
        }
        tables.push((ngram, GramTable::new(keys)));
    }
    tables
}
