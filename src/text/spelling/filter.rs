//! Which words of a text become tokens, and as which stems: `text.filter` of a configuration at work.

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::text::segment::Words;
use crate::text::spelling::spelt::{Speller, Spelt, Word, is_letters, is_long, is_number};
use crate::text::spelling::stems::Stems;
use crate::text::spelling::stop_words::StopWords;
use crate::text::{Filter, Text};

/// How rare terms are: what a filter by idf asks.
pub trait TermFrequencies {
    /// The normalised idf of the term of this [`token_hash`](crate::text::token_hash); `None` of a word that is no term.
    fn idf(&self, hash: u64) -> Option<f64>;
}

/// Frequencies of no terms, where nothing is filtered by them.
#[derive(Clone, Copy, Debug)]
pub enum NoFrequencies {}

impl TermFrequencies for NoFrequencies {
    fn idf(&self, _: u64) -> Option<f64> {
        match *self {}
    }
}

/// The filters of a configuration, with the buffers they reuse from text to text.
pub(in crate::text) struct Filtering<F> {
    filter: Filter,
    stop_words: StopWords,
    stems: Option<Stems>,
    /// Terms of a lower normalised idf go.
    frequencies: Option<(Arc<F>, f64)>,
    speller: Speller,
    spelt: Spelt,
}

impl<F: TermFrequencies> Filtering<F> {
    /// What the filter of `text` says, with the frequencies that its `min_idf` is of; `None` if it leaves every word as it is.
    ///
    /// # Errors
    /// [`Error::Config`] where [`Filter::check`] has one, and if there is a least idf but no frequencies.
    pub(in crate::text) fn new(text: &Text, frequencies: Option<Arc<F>>) -> Result<Option<Filtering<F>>> {
        let Text { filter, fold, .. } = text;
        filter.check()?;
        if filter.is_idle() {
            return Ok(None);
        }
        let frequencies = filter.min_idf.map(|least| match frequencies {
            Some(frequencies) => Ok((frequencies, least.to_f64())),
            None => Err(Error::config(format!(
                "text.filter.min_idf = {least} needs a lexicon that says which terms are common; name one, or set it to 0"
            ))),
        });
        Ok(Some(Filtering {
            frequencies: frequencies.transpose()?,
            stop_words: StopWords::of(&filter.stop_words, *fold).expect("languages that were checked"),
            stems: Stems::of(&filter.stem),
            filter: filter.clone(),
            speller: Speller::new(*fold),
            spelt: Spelt::default(),
        }))
    }

    /// Hands what is left of `text` to `out`: nothing, if no word is.
    pub(in crate::text) fn write(&mut self, text: &str, out: &mut impl Words) {
        self.spelt.clear();
        self.speller.feed(text, &mut self.spelt);
        let words = self.spelt.words();
        // Where the stop word ends that was found last.
        let mut stopped = 0;
        for (place, (word, letters)) in self.spelt.spelt().enumerate() {
            if place >= stopped {
                stopped = place + self.stop_words.at_start(&words[place..]);
            }
            if word.parted {
                out.part();
            }
            if place >= stopped && stays(&self.filter, self.frequencies.as_ref(), word, letters) {
                out.word(&self.stems.as_ref().map_or(Cow::Borrowed(letters), |stems| stems.stem(letters)));
            }
        }
    }
}

/// Whether a word stays that is no stop word.
fn stays<F: TermFrequencies>(
    filter: &Filter,
    known: Option<&(Arc<F>, f64)>,
    word: &Word,
    letters: &str,
) -> bool {
    let short = !is_long(letters, filter.min_length);
    let numeric = filter.alphabetic && !is_letters(letters);
    let number = filter.numbers && is_number(letters);
    let idf = known.and_then(|(frequencies, least)| frequencies.idf(word.hash).zip(Some(*least)));
    let common = idf.is_some_and(|(idf, least)| idf < least);
    !(short || numeric || number || common)
}
