//! Of each item of the benchmarks, the share of its words that stand in n-grams of the corpus, wherever these are: what Llama calls
//! contaminated tokens.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::fields::ItemFields;
use super::index::{BenchmarkIndex, TextOwner};
use crate::error::Result;
use crate::output::Rows;
use crate::read::Source;

/// A text of an item: a line of `items.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ItemShareRow<'a> {
    /// The benchmark.
    pub benchmark: &'a str,
    /// Id of the item, or its file and line.
    pub item: &'a str,
    /// The file of the benchmark that it is in.
    pub item_file: &'a str,
    /// Its line, from 1.
    pub item_line: u64,
    /// The field; all of them if they are joined.
    pub field: &'a str,
    /// Words of the text.
    pub words: u64,
    /// Those that are in an n-gram that stands in a document.
    pub covered: u64,
    /// `covered` of `words`.
    pub share: f64,
    /// Distinct n-grams of the text.
    pub ngrams: u64,
    /// Those that stand in a document.
    pub found: u64,
}

/// Items of a benchmark by the share of their words in n-grams of the corpus (Touvron et al. 2023, appendix A.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareClasses {
    /// Those with 20 % or more, which Llama 2 calls not clean.
    pub not_clean: u64,
    /// Those with 80 % or more, which it calls dirty.
    pub dirty: u64,
}

/// How much of a text stands in the corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TextShare {
    words: u64,
    covered: u64,
    found: u64,
}

impl BenchmarkIndex {
    /// How much of a text stands in a corpus that has the n-grams with a bit.
    fn share(&self, text: usize, present: &[u64]) -> TextShare {
        let ngram = self.texts[text].ngram;
        let is_present = |gram: usize| present[gram / 64] >> (gram % 64) & 1 == 1;
        let own = (self.first_gram(text)..).zip(self.grams(text));
        let mut here: Vec<u64> = own.filter(|(at, _)| is_present(*at)).map(|(_, gram)| *gram).collect();
        here.sort_unstable();
        let places = self.places(text);
        // The word behind the last n-gram that stands in the corpus.
        let (mut covered, mut end) = (0, 0);
        for (at, _) in places.iter().enumerate().filter(|(_, gram)| here.binary_search(gram).is_ok()) {
            covered += at + ngram - end.max(at);
            end = at + ngram;
        }
        let words = (places.len() + ngram - 1) as u64;
        TextShare { words, covered: covered as u64, found: here.len() as u64 }
    }

    /// How much of each text stands in such a corpus.
    fn all_shares(&self, present: &[u64]) -> Vec<TextShare> {
        (0..self.texts.len()).map(|text| self.share(text, present)).collect()
    }

    /// All texts, by their items and fields.
    fn all_owners(&self) -> Vec<(TextOwner, usize)> {
        let owned = |text: usize| self.owners(text).iter().map(move |owner| (*owner, text));
        let mut all: Vec<(TextOwner, usize)> = (0..self.texts.len()).flat_map(owned).collect();
        all.sort_unstable();
        all
    }

    /// Of each benchmark how many items have which share of their words in the corpus, all texts of an item taken together.
    pub(super) fn share_classes(&self, present: &[u64]) -> Vec<ShareClasses> {
        let all = self.all_shares(present);
        let mut classes = vec![ShareClasses::default(); self.counts.len()];
        for same in self.all_owners().chunk_by(|a, b| a.0.item == b.0.item) {
            let shares = same.iter().map(|(_, text)| all[*text]);
            let (words, covered) =
                shares.fold((0, 0), |(words, covered), share| (words + share.words, covered + share.covered));
            let class = &mut classes[self.items[same[0].0.item as usize].benchmark as usize];
            class.not_clean += u64::from(covered * 5 >= words);
            class.dirty += u64::from(covered * 5 >= words * 4);
        }
        classes
    }

    /// Writes `items.jsonl`: a row for each text that was looked for, by items and fields.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub(super) fn write_shares(
        &self,
        (fields, sources): (&ItemFields, &[Source]),
        present: &[u64],
        folder: &Path,
    ) -> Result<()> {
        let all = self.all_shares(present);
        let mut rows = Rows::create(folder, "items.jsonl")?;
        for (owner, text) in self.all_owners() {
            let item = &self.items[owner.item as usize];
            let TextShare { words, covered, found } = all[text];
            rows.write(&ItemShareRow {
                benchmark: &self.counts[item.benchmark as usize].benchmark,
                item: &item.id,
                item_file: &sources[item.file as usize].shown,
                item_line: item.line,
                field: &fields.name(owner.field as usize),
                words,
                covered,
                share: covered as f64 / words as f64,
                ngrams: self.texts[text].size() as u64,
                found,
            })?;
        }
        rows.finish().map(drop)
    }
}
