//! Which documents have a word in their titles: rows of word and document, in order on disk.
//!
//! A word is what the configuration takes for one, in every spelling that it folds. It is known by the 64-bit identity that words have
//! everywhere here. Whoever asks for several goes through the documents of the rarest one.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::{FoundTitle, TitlesAsked, TitlesFound};
use crate::error::{Error, Result};
use crate::passages::{RowReader, RowSorter, SortedRun, one_run};
use crate::progress::Progress;
use crate::simd::Simd;
use crate::text::{Fold, Tokenizer, Tokens};

/// Rows of a common word that are read one after the other rather than searched, for each row of the rarest one.
const SEARCHED: u64 = 64;
/// Bytes of rows that are read at once.
const BLOCK: usize = 1 << 16;
/// Rows that are read between two looks at whether to stop.
const CHECKED: usize = 4096;

/// How titles are cut into words.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordRule {
    pub(super) fold: Fold,
    pub(super) simd: Simd,
}

impl WordRule {
    fn tokenizer(self) -> Tokenizer {
        Tokenizer::new(Tokens::Words, self.fold, self.simd)
    }
}

/// Takes titles, on one thread.
pub(super) struct TitleWords {
    tokenizer: Tokenizer,
    rows: RowSorter<2>,
    words: Vec<u64>,
    titles: u64,
}

impl TitleWords {
    /// None yet. About `bytes` are held; what is more goes to files in `folder`.
    pub(super) fn new(rule: WordRule, bytes: usize, folder: &Path, progress: &Arc<Progress>) -> TitleWords {
        let rows = RowSorter::new(bytes, folder, progress);
        TitleWords { tokenizer: rule.tokenizer(), rows, words: Vec::new(), titles: 0 }
    }

    /// Adds the title of a document.
    pub(super) fn add(&mut self, title: &str, document: u64) -> Result<()> {
        self.titles += 1;
        self.words.clear();
        self.words.extend_from_slice(self.tokenizer.tokens(title));
        self.words.sort_unstable();
        self.words.dedup();
        self.words.iter().try_for_each(|word| self.rows.push([*word, document]))
    }

    /// How many titles there are, and their words.
    pub(super) fn finish(self) -> Result<(u64, Vec<SortedRun<2>>)> {
        Ok((self.titles, self.rows.finish()?))
    }
}

/// The words of all titles.
pub(super) struct WordIndex {
    rule: WordRule,
    rows: SortedRun<2>,
    titles: u64,
}

impl WordIndex {
    /// The words that all threads have taken.
    pub(super) fn new(
        rule: WordRule,
        taken: Vec<TitleWords>,
        (bytes, folder): (usize, &Path),
        progress: &Progress,
    ) -> Result<WordIndex> {
        let (mut titles, mut runs) = (0, Vec::new());
        for taken in taken {
            let (more, rows) = taken.finish()?;
            titles += more;
            runs.extend(rows);
        }
        Ok(WordIndex { rule, rows: one_run(&runs, bytes, folder, progress)?, titles })
    }

    /// How many documents have a title.
    pub(super) fn titles(&self) -> u64 {
        self.titles
    }

    /// The page of documents that is asked for, in the order of their places; `known` says what is known of the document at one.
    ///
    /// # Errors
    /// Those of [`WordIndex::find`] and of `known`.
    pub(super) fn page<T>(
        &self,
        TitlesAsked { words, after, limit }: TitlesAsked<'_>,
        progress: &Progress,
        known: impl Fn(u64) -> Result<FoundTitle<T>>,
    ) -> Result<TitlesFound<T>> {
        let (found, more) = self.find(words, after, limit, progress)?;
        let next = found.last().copied().filter(|_| more);
        Ok((found.into_iter().map(known).collect::<Result<_>>()?, next))
    }

    /// At most `limit` documents whose titles have all words of a text, ascending, of those behind `after`, and whether there are
    /// others behind them.
    ///
    /// # Errors
    /// [`Error::Config`] for a text without a word, [`Error::Interrupted`], [`Error::Io`].
    pub(super) fn find(
        &self,
        text: &str,
        after: Option<u64>,
        limit: usize,
        progress: &Progress,
    ) -> Result<(Vec<u64>, bool)> {
        let mut words = self.rule.tokenizer().tokens(text).to_vec();
        words.sort_unstable();
        words.dedup();
        if words.is_empty() {
            return Err(Error::config(format!("{text:?} has no word; name words of a title")));
        }
        let mut lists = words
            .iter()
            .map(|word| Ok((*word, self.documents_of(*word, after)?)))
            .collect::<Result<Vec<_>>>()?;
        lists.sort_unstable_by_key(|(_, places)| places.end - places.start);
        let (rarest, others) = lists.split_first().expect("there is a word");
        let count = rarest.1.end - rarest.1.start;
        let mut others: Vec<WordDocuments<'_>> = others
            .iter()
            .map(|(word, places)| WordDocuments::new(&self.rows, *word, places, count))
            .collect();
        let (mut found, mut rows) = (Vec::new(), self.rows.read_places(rarest.1.clone(), BLOCK));
        let mut read = 0_usize;
        while let Some([_, document]) = rows.next()? {
            if read.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            read += 1;
            let mut has_all = true;
            for other in &mut others {
                has_all = has_all && other.has(document, progress)?;
            }
            if has_all && found.len() == limit {
                return Ok((found, true));
            }
            found.extend(has_all.then_some(document));
        }
        Ok((found, false))
    }

    /// Where the rows of a word stand that are of documents behind `after`.
    fn documents_of(&self, word: u64, after: Option<u64>) -> Result<Range<u64>> {
        let behind = after.map_or(Some(0), |after| after.checked_add(1));
        let end = word.checked_add(1).map_or(Ok(self.rows.len()), |next| self.rows.first([next, 0]))?;
        Ok(behind.map_or(Ok(end), |behind| self.rows.first([word, behind]))?..end)
    }
}

/// The documents of a word, which are asked for in order.
struct WordDocuments<'a> {
    rows: &'a SortedRun<2>,
    word: u64,
    places: Range<u64>,
    /// None where each is searched.
    reader: Option<RowReader<2>>,
    head: Option<u64>,
    read: usize,
}

impl<'a> WordDocuments<'a> {
    /// Those at some places, of which about `count` are asked for.
    fn new(rows: &'a SortedRun<2>, word: u64, places: &Range<u64>, count: u64) -> WordDocuments<'a> {
        let reads = (places.end - places.start) / SEARCHED <= count;
        let reader = reads.then(|| rows.read_places(places.clone(), BLOCK));
        WordDocuments { rows, word, places: places.clone(), reader, head: None, read: 0 }
    }

    /// Whether a document has the word.
    fn has(&mut self, document: u64, progress: &Progress) -> Result<bool> {
        let Some(reader) = &mut self.reader else {
            let at = self.rows.first([self.word, document])?;
            return Ok(at < self.places.end && self.rows.row(at)? == [self.word, document]);
        };
        while self.head.is_none_or(|head| head < document) {
            if self.read.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            self.read += 1;
            match reader.next()? {
                Some([_, next]) => self.head = Some(next),
                None => return Ok(false),
            }
        }
        Ok(self.head == Some(document))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::TypedWords;

    fn index(titles: &[String], threads: usize) -> WordIndex {
        let folder = tempfile::tempdir().expect("a folder");
        let (rule, progress) = (WordRule { fold: Fold::default(), simd: Simd::detect() }, Arc::default());
        let mut taken: Vec<TitleWords> =
            (0..threads).map(|_| TitleWords::new(rule, 0, folder.path(), &progress)).collect();
        for (at, title) in titles.iter().enumerate() {
            taken[at % threads].add(title, at as u64 * 3).expect("added");
        }
        WordIndex::new(rule, taken, (1 << 12, folder.path()), &progress).expect("an index")
    }

    /// All that `find` gives, by pages of so many.
    fn paged(index: &WordIndex, words: &str, limit: usize) -> Vec<u64> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let (page, more) = index.find(words, after, limit, &Progress::default()).expect("found");
            assert!(page.len() == limit || !more, "a page before the last is full");
            all.extend_from_slice(&page);
            after = page.last().copied();
            if !more {
                return all;
            }
        }
    }

    proptest! {
        #[test]
        fn documents_have_all_words_and_no_others_do(
            titles in prop::collection::vec("([a-d]{1,2} ){0,6}", 0..300),
            words in "[a-dA-D]{1,2}( [a-d]{1,2}){0,2}", threads in 1usize..4, limit in 1usize..9,
        ) {
            let index = index(&titles, threads);
            let has = |title: &String| {
                let words = words.to_lowercase();
                words.split(' ').all(|word| title.split(' ').any(|other| other == word))
            };
            let expected: Vec<u64> =
                (0..).zip(&titles).filter(|(_, title)| has(title)).map(|(at, _)| at * 3).collect();
            prop_assert_eq!(paged(&index, &words, limit), expected);
        }
    }

    #[test]
    fn a_rare_word_is_looked_for_in_a_common_one() {
        let title = |at: usize| if at % 5000 == 4999 { "the rare one".to_owned() } else { "the".to_owned() };
        let titles: Vec<String> = (0..20_000).map(title).collect();
        let index = index(&titles, 2);
        assert_eq!(paged(&index, "RARE the", 3), [14_997, 29_997, 44_997, 59_997]);
        assert_eq!(
            index.find("rare nothing", None, 9, &Progress::default()).expect("found"),
            (Vec::new(), false)
        );
        assert_eq!(index.titles(), 20_000);
    }

    #[test]
    fn words_are_folded_as_the_configuration_says() {
        let index = index(&["Caf\u{e9} 12".to_owned(), "CAFE\u{301}".to_owned(), "cafes".to_owned()], 1);
        assert_eq!(paged(&index, "caf\u{e9}", 9), [0, 3]);
        // Elsewhere a part of a word is enough; here a word is a word.
        assert!(TypedWords::of("cafe").are_in("cafes") && paged(&index, "cafe", 9).is_empty());
        for none in ["", " ,;", "..."] {
            assert!(
                matches!(index.find(none, None, 9, &Progress::default()), Err(Error::Config(_))),
                "{none}"
            );
        }
    }
}
