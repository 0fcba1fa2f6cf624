//! The words that a method itself looks at of a text, and their posting keys: one place that knows all methods.

use super::shingles::finish;
use super::{
    Basis, Permutations, Spread, Term, anchors, cosine_prefix, cosine_vector, fingerprint, imatch,
    line_chunks, piece_hash, salient, sample, sentence_chunks, shingles, supershingles, term_vector,
    terms_of, winnow,
};
use crate::config::{Config, Method, Text, Tokens};
use crate::lexicon::{Band, Lexicon};
use crate::simd::Simd;
use crate::similarity::{PackedVector, pack, unpack};
use crate::text::Tokenizer;

/// Makes the words of texts, one after the other.
pub(super) struct Own {
    config: Config,
    permutations: Permutations,
    /// Of methods that cut texts their own way.
    aside: Option<Tokenizer<Lexicon>>,
    /// The terms that count, of methods that look terms up.
    band: Option<Band>,
    spread: Spread,
    /// Whether `words` are those of the text last read.
    made: bool,
    words: Vec<u64>,
    buffer: Vec<u64>,
    terms: Vec<Term>,
}

/// The tokenizer of texts that are filtered as a configuration says.
pub(super) fn tokenizer(mut text: Text, basis: &Basis, simd: Simd) -> Tokenizer<Lexicon> {
    if basis.lexicon.is_none() {
        // Only a collection that nothing was loaded into has no lexicon where one is needed, and nothing that a text could
        // be compared with.
        text.filter.min_idf = None;
    }
    Tokenizer::filtered(&text, simd, basis.lexicon.clone()).expect("a configuration that was found valid")
}

impl Own {
    pub(super) fn new(config: &Config, basis: &Basis, simd: Simd) -> Own {
        let values =
            if config.method == Method::Features { config.features.k * config.features.s } else { 0 };
        let aside = match config.method {
            Method::Anchors => Some(Tokens::Chars),
            Method::Sentences | Method::Lines => Some(config.text.tokens),
            _ => None,
        };
        let aside = aside.map(|tokens| {
            let text = Text { tokens, ..config.text.clone() };
            tokenizer(text, basis, simd)
        });
        Own {
            permutations: Permutations::new(values, simd),
            aside,
            band: basis.lexicon.as_ref().and_then(|lexicon| {
                let imatch = &config.imatch;
                Some(match config.method {
                    Method::Imatch => Band::new(lexicon, Some(imatch.low), Some(imatch.high)),
                    Method::Fingerprint => Band::new(lexicon, None, Some(config.fingerprint.max_idf)),
                    Method::Vector | Method::Salient => Band::new(lexicon, None, None),
                    Method::Cosine => Band::uncommon(lexicon, config.cosine.common_percent),
                    _ => return None,
                })
            }),
            config: config.clone(),
            spread: Spread::default(),
            made: false,
            words: Vec::new(),
            buffer: Vec::new(),
            terms: Vec::new(),
        }
    }

    /// Takes a new text. Methods that cut it their own way do so now.
    pub(super) fn read(&mut self, text: &str) {
        self.made = false;
        let Own { config, aside: Some(aside), words, buffer, .. } = self else { return };
        let mut hash = |piece: &str| piece_hash(aside.tokens(piece));
        match config.method {
            Method::Sentences => sentence_chunks(text, &config.sentences, hash, buffer, words),
            Method::Lines => line_chunks(text, &config.lines, &mut hash, buffer, words),
            _ => anchors(aside.tokens(text), &config.anchors, buffer, words),
        }
        self.spread.sort_distinct(&mut self.words);
        self.made = true;
    }

    /// The words of the text last read, which has these tokens and this day.
    pub(super) fn words(&mut self, tokens: &[u64], day: Option<i32>, basis: &Basis) -> &[u64] {
        if !std::mem::replace(&mut self.made, true) {
            self.words.clear();
            match &basis.lexicon {
                Some(lexicon) if self.band.is_some() => self.of_terms(tokens, day, lexicon),
                _ => self.of_shingles(tokens),
            }
        }
        &self.words
    }

    /// Of methods that look at shingles.
    fn of_shingles(&mut self, tokens: &[u64]) {
        let Own { config, words, buffer, spread, .. } = self;
        let ngram = config.text.ngram;
        match config.method {
            Method::Features => {
                let (k, s) = (config.features.k, config.features.s);
                shingles(tokens, ngram, buffer);
                self.permutations.features(buffer, k, s, words);
                words.sort_unstable();
            }
            Method::Join => {
                shingles(tokens, ngram, words);
                spread.sort_distinct(words);
            }
            Method::Shingles => {
                shingles(tokens, ngram, words);
                spread.sort_distinct(words);
                sample(&config.shingles, tokens.len(), words);
            }
            Method::Supershingles => {
                shingles(tokens, ngram, buffer);
                spread.sort_distinct(buffer);
                sample(&config.shingles, tokens.len(), buffer);
                supershingles(buffer, &config.supershingles, words);
                spread.sort_distinct(words);
            }
            Method::Winnow => {
                shingles(tokens, ngram, buffer);
                winnow(buffer, config.winnow.window, words);
                spread.sort_distinct(words);
            }
            _ => {}
        }
    }

    /// Of methods that look terms up; none where there are too few.
    fn of_terms(&mut self, tokens: &[u64], day: Option<i32>, lexicon: &Lexicon) {
        let Own { config, words, buffer, terms, band: Some(band), .. } = self else { return };
        terms_of(tokens, lexicon, band, terms);
        let length = tokens.len().min(u32::MAX as usize) as u32;
        match config.method {
            Method::Imatch => {
                imatch(terms, &config.imatch, buffer, words);
                words.sort_unstable();
                words.dedup();
            }
            Method::Fingerprint => {
                let key = fingerprint(terms, &config.fingerprint, buffer);
                words.extend(key.into_iter().flat_map(|key| [u64::from(length), key]));
            }
            Method::Vector => {
                let mut entries = Vec::with_capacity(config.vector.terms);
                if term_vector(terms, tokens, lexicon, &config.vector, buffer, &mut entries) {
                    words.extend(pack(&entries, length, day));
                }
            }
            Method::Salient => salient(terms, &config.salient, words),
            _ => cosine_vector(terms, lexicon, words),
        }
    }
}

/// The posting keys of a method's own words: these themselves, or some made of them, in `keys`.
pub(super) fn keys_of<'a>(
    config: &Config,
    basis: &Basis,
    own: &'a [u64],
    keys: &'a mut Vec<u64>,
    commoner: &mut Vec<(u8, u64)>,
) -> &'a [u64] {
    match config.method {
        Method::Join => {
            basis.rarity.rarest(own, config.threshold.prefix(own.len()), keys, commoner);
            keys
        }
        Method::Vector => {
            vector_keys(config, own, keys);
            keys
        }
        Method::Cosine => &own[..cosine_prefix(own, config.threshold)],
        // Before the key stands the length.
        Method::Fingerprint => own.get(1..).unwrap_or_default(),
        _ => own,
    }
}

/// The keys of a packed vector: its rarest entries, as many as are enough for no pair to be lost. Of a text with a date
/// each of them twice, for the stretch of days that it is in and for the next: two days no further apart than a stretch is
/// long have one of these in common, and days further apart than two have none, so that their texts never meet. What two
/// vectors share is so counted once or twice, and never too low.
fn vector_keys(config: &Config, own: &[u64], keys: &mut Vec<u64>) {
    keys.clear();
    let Ok(vector) = <&PackedVector>::try_from(own) else { return };
    let vector = unpack(vector);
    let stretch = vector.day.map(|day| day.div_euclid(config.vector.days.max(1) as i32));
    for entry in &vector.entries[..config.vector.prefix().min(vector.entries.len())] {
        match stretch {
            None => keys.push(finish(*entry)),
            Some(at) => keys
                .extend([at, at + 1].map(|at| finish(entry | u64::from(at.cast_unsigned()) << 32 | 1 << 31))),
        }
    }
}
