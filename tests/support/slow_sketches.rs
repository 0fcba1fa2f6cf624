//! What each method looks at of a text, and when it accepts two: the slow, obvious program that every method is held
//! against. A sketch is a set of members, each with a weight; a member is a list of numbers that says all it stands for, so
//! only hashes that decide an order or a choice are computed. The hash of a token is the library's own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use alike::config::{Config, JoinMeasure, Method, Rule, Sampling, Tokens, Verify};
use alike::text::token_hash;

use crate::support::canonical::canonical_tokens;
use crate::support::oracle::fraction;
use crate::support::slow_pieces::{chunks, lines, sentences};
use crate::support::slow_terms::{SlowLexicon, SlowTerm};

/// The constant of shingles and of random lexicons: 2^64 over the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A text, as far as a method looks at it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sketch {
    /// Members by number, with their weights.
    pub(crate) members: BTreeMap<u32, u64>,
    /// The sum of these weights.
    size: u64,
    /// Words of the text.
    pub(crate) length: u64,
    /// Its day, where days count.
    pub(crate) day: Option<i64>,
    /// Its distinct shingles, by number, where pairs are verified on them; ascending.
    shingles: Vec<u32>,
    /// Its words, by number.
    words: Vec<u32>,
}

/// Makes the sketches of a configuration.
pub(crate) struct Sketches<'a> {
    config: &'a Config,
    lexicon: &'a SlowLexicon,
    /// The number of each member.
    numbers: HashMap<Vec<u64>, u32>,
    /// The number of each word.
    words: HashMap<String, u32>,
}

/// The finaliser of MurmurHash3.
fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// Every run of `size` items, or all of them as one where they are fewer.
fn runs<T>(items: &[T], size: usize) -> Vec<&[T]> {
    if items.is_empty() { Vec::new() } else { items.windows(size.min(items.len())).collect() }
}

/// The hash of each run of tokens: a polynomial of their hashes. A text shorter than a run has one that its length goes into.
fn identities(tokens: &[String], size: usize) -> Vec<u64> {
    let hashes: Vec<u64> = tokens.iter().map(|token| token_hash(token.as_bytes())).collect();
    let identity = |run: &[u64]| {
        let value = run.iter().fold(0u64, |sum, hash| sum.wrapping_mul(GOLDEN).wrapping_add(*hash));
        let short = if run.len() < size { run.len() as u64 } else { 0 };
        mix(value ^ short.wrapping_mul(0xd6e8_feb8_6659_fd93))
    };
    runs(&hashes, size).into_iter().map(identity).collect()
}

/// The next number of SplitMix.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(GOLDEN);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl<'a> Sketches<'a> {
    pub(crate) fn new(config: &'a Config, lexicon: &'a SlowLexicon) -> Sketches<'a> {
        Sketches { config, lexicon, numbers: HashMap::new(), words: HashMap::new() }
    }

    /// The sketch of a text of these words; without members where the method has too few terms to go by.
    pub(crate) fn sketch(&mut self, text: &str, words: &[String], day: Option<i64>) -> Sketch {
        let members = self.members(text, words);
        let numbers: Vec<u32> = words.iter().map(|word| self.word(word)).collect();
        let shingles = if matches!(self.config.verify, Verify::Resemblance | Verify::Containment) {
            let runs = runs(&numbers, self.config.text.ngram).into_iter();
            let shingles = runs.map(|run| run.iter().map(|n| u64::from(*n)).collect());
            shingles.map(|shingle| self.number(shingle)).collect()
        } else {
            BTreeSet::new()
        };
        Sketch {
            size: members.values().sum(),
            members: members.into_iter().map(|(member, weight)| (self.number(member), weight)).collect(),
            length: words.len() as u64,
            day,
            shingles: shingles.into_iter().collect(),
            words: numbers,
        }
    }

    fn word(&mut self, word: &str) -> u32 {
        let next = u32::try_from(self.words.len()).unwrap();
        *self.words.entry(word.to_owned()).or_insert(next)
    }

    fn number(&mut self, member: Vec<u64>) -> u32 {
        let next = u32::try_from(self.numbers.len()).unwrap();
        *self.numbers.entry(member).or_insert(next)
    }

    /// What the method looks at, each with its weight.
    fn members(&mut self, text: &str, words: &[String]) -> BTreeMap<Vec<u64>, u64> {
        let config = self.config;
        let once = |members: Vec<Vec<u64>>| members.into_iter().map(|member| (member, 1)).collect();
        match config.method {
            Method::Exact => BTreeMap::new(),
            Method::Join => once(self.runs_of_words(words)),
            Method::Minhash => once(self.features(words)),
            Method::Simhash => once(self.bits(words)),
            Method::Shingles => once(self.sampled(words).into_iter().map(|hash| vec![hash]).collect()),
            Method::Supershingles => {
                let sampled = self.sampled(words);
                once(runs(&sampled, config.supershingles.group).into_iter().map(<[u64]>::to_vec).collect())
            }
            Method::Winnow => once(self.winnowed(words)),
            Method::Anchors => once(self.anchors(text)),
            Method::Sentences => {
                let (size, every) = (config.sentences.per_chunk, config.sentences.every);
                once(self.chunks(&sentences(text), size, every))
            }
            Method::Lines => once(self.chunks(&lines(text), config.lines.per_chunk, config.lines.every)),
            Method::Salient => {
                let terms = self.lexicon.terms(words, |_| true);
                once(terms.iter().take(config.salient.terms).map(|term| vec![term.rank]).collect())
            }
            Method::Imatch => once(self.signatures(words)),
            Method::Fingerprint => once(self.places(words).into_iter().collect()),
            Method::TermVector => once(self.entries(words).into_iter().map(|entry| vec![entry]).collect()),
            Method::Cosine => self.weights(words),
        }
    }

    fn runs_of_words(&mut self, words: &[String]) -> Vec<Vec<u64>> {
        let numbers: Vec<u64> = words.iter().map(|word| u64::from(self.word(word))).collect();
        runs(&numbers, self.config.text.ngram).into_iter().map(<[u64]>::to_vec).collect()
    }

    /// k groups of s least images of shingles, under permutations x -> ax + b.
    fn features(&self, words: &[String]) -> Vec<Vec<u64>> {
        let shingles = identities(words, self.config.text.ngram);
        let mut state = 0x616c_696b_6531;
        let mut least = || {
            let (a, b) = (split_mix(&mut state) | 1, split_mix(&mut state));
            shingles.iter().map(|x| x.wrapping_mul(a).wrapping_add(b)).min().unwrap()
        };
        let minhash = &self.config.minhash;
        (0..minhash.k as u64)
            .map(|number| std::iter::once(number).chain((0..minhash.s).map(|_| least())).collect())
            .collect()
    }

    /// Each of the 64 bits with its value: set where more than half of the distinct shingles have it set.
    fn bits(&self, words: &[String]) -> Vec<Vec<u64>> {
        let shingles: BTreeSet<u64> = identities(words, self.config.text.ngram).into_iter().collect();
        let set =
            |bit: u64| 2 * shingles.iter().filter(|hash| *hash >> bit & 1 == 1).count() > shingles.len();
        (0..64).map(|bit| vec![bit, u64::from(set(bit))]).collect()
    }

    /// The shingles that are kept, ascending.
    fn sampled(&self, words: &[String]) -> Vec<u64> {
        let all: BTreeSet<u64> = identities(words, self.config.text.ngram).into_iter().collect();
        let sampling = &self.config.shingles;
        let limits = [500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000];
        let group = limits.iter().filter(|limit| words.len() >= **limit).count();
        let kept = all.into_iter().filter(|hash| match sampling.sampling {
            Sampling::None | Sampling::Smallest => true,
            Sampling::Mod => hash % sampling.modulus == sampling.residue,
            Sampling::Adaptive => hash % sampling.ratios[group] == 0,
        });
        kept.take(if sampling.per_document == 0 { usize::MAX } else { sampling.per_document }).collect()
    }

    /// Of each window of shingles the least: the one that is kept already, or else the last of equals.
    fn winnowed(&self, words: &[String]) -> Vec<Vec<u64>> {
        let hashes = identities(words, self.config.text.ngram);
        let mut kept: Vec<usize> = Vec::new();
        for (first, window) in runs(&hashes, self.config.winnow.window).into_iter().enumerate() {
            let least = window.iter().min().unwrap();
            let again = kept.last().is_some_and(|at| *at >= first && hashes[*at] == *least);
            if !again {
                kept.push(first + window.iter().rposition(|hash| hash == least).unwrap());
            }
        }
        kept.into_iter().map(|at| vec![hashes[at]]).collect()
    }

    /// Windows of characters whose hash is a multiple, none of which overlaps the one before; or else the least of all.
    fn anchors(&self, text: &str) -> Vec<Vec<u64>> {
        let anchors = &self.config.anchors;
        let hashes = identities(&canonical_tokens(text, Tokens::Chars), anchors.characters);
        let mut kept: Vec<usize> = Vec::new();
        for (at, hash) in hashes.iter().enumerate() {
            if hash % anchors.one_in == 0 && kept.last().is_none_or(|last| last + anchors.characters <= at) {
                kept.push(at);
            }
        }
        let least = || hashes.iter().min().into_iter().map(|hash| vec![*hash]).collect();
        if kept.is_empty() { least() } else { kept.into_iter().map(|at| vec![hashes[at]]).collect() }
    }

    /// Chunks of pieces that have a word; between two pieces stands a number that no word has.
    fn chunks(&mut self, pieces: &[String], size: usize, every: usize) -> Vec<Vec<u64>> {
        let words = pieces
            .iter()
            .map(|piece| canonical_tokens(piece, Tokens::Words))
            .filter(|words| !words.is_empty());
        let words: Vec<Vec<String>> = words.collect();
        let mut numbers: Vec<Vec<u64>> = Vec::new();
        for words in &words {
            numbers.push(words.iter().map(|word| u64::from(self.word(word))).collect());
        }
        chunks(&numbers, size, every).into_iter().map(|chunk| chunk.join(&u64::MAX)).collect()
    }

    /// All terms of middling idf, and those of them that are in each random lexicon.
    fn signatures(&self, words: &[String]) -> Vec<Vec<u64>> {
        let imatch = &self.config.imatch;
        let (low, high) = (imatch.low.to_f64(), imatch.high.to_f64());
        let terms = self
            .lexicon
            .terms(words, |documents| (low..=high).contains(&self.lexicon.normalised_idf(documents)));
        let is_in = |term: &&SlowTerm, lexicon: u64| {
            let hash = mix(token_hash(term.word.as_bytes()) ^ lexicon.wrapping_mul(GOLDEN));
            lexicon == 0 || hash < imatch.share * (u64::MAX / 100)
        };
        let signature = |lexicon: u64| {
            let ranks = terms.iter().filter(|term| is_in(term, lexicon)).map(|term| term.rank);
            std::iter::once(lexicon).chain(ranks).collect::<Vec<u64>>()
        };
        let signatures = (0..=imatch.lexicons as u64).map(signature);
        signatures.filter(|signature| signature.len() > imatch.min_terms).collect()
    }

    /// The rarest terms, none too rare, each with how far behind the first of them it stands, in whole bins.
    fn places(&self, words: &[String]) -> Option<Vec<u64>> {
        let fingerprint = &self.config.fingerprint;
        let most = fingerprint.max_idf.to_f64();
        let terms = self.lexicon.terms(words, |documents| self.lexicon.normalised_idf(documents) <= most);
        let terms = terms.get(..fingerprint.terms)?;
        let first = terms.iter().map(|term| term.position).min()?;
        let bins = |term: &SlowTerm| (term.position - first).div_ceil(fingerprint.bin);
        Some(terms.iter().flat_map(|term| [term.rank, bins(term)]).collect())
    }

    /// The ranks of the rarest terms; where they are few, numbers above all ranks for words that are no terms, and then for
    /// each term again and again. These numbers have 23 bits.
    fn entries(&self, words: &[String]) -> Vec<u64> {
        let vector = &self.config.term_vector;
        let ranks: Vec<u64> = self.lexicon.terms(words, |_| true).iter().map(|term| term.rank).collect();
        if ranks.len() < vector.min_terms {
            return Vec::new();
        }
        let pad = |hash: u64| self.lexicon.len() + mix(hash) % ((1 << 23) - self.lexicon.len());
        let unknown = words.iter().filter(|word| !self.lexicon.has(word));
        let unknown: BTreeSet<u64> = unknown.map(|word| pad(token_hash(word.as_bytes()))).collect();
        let again = (1u64..).flat_map(|time| ranks.iter().map(move |rank| rank | time << 32)).map(pad);
        let mut entries: Vec<u64> = Vec::new();
        for entry in ranks.iter().copied().chain(unknown).chain(again) {
            if entries.len() == vector.terms {
                break;
            }
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        entries
    }

    /// Terms that are not common, weighed by the square of their idf in parts of 2^-16.
    fn weights(&self, words: &[String]) -> BTreeMap<Vec<u64>, u64> {
        let uncommon =
            |documents| documents * 100 <= self.lexicon.documents() * self.config.cosine.common_percent;
        let terms = self.lexicon.terms(words, uncommon);
        let idf = |term: &SlowTerm| (self.lexicon.normalised_idf(term.documents) * 65536.0).floor() as u64;
        let weights = terms.iter().map(|term| (vec![term.rank], idf(term) * idf(term)));
        weights.filter(|(_, weight)| *weight > 0).collect()
    }
}

/// Every pair that the configuration accepts, the earlier sketch first.
pub(crate) fn links(config: &Config, sketches: &[Sketch]) -> BTreeSet<(usize, usize)> {
    let mut holders: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut links = BTreeSet::new();
    for (b, sketch) in sketches.iter().enumerate() {
        let mut shared = vec![0; b];
        for (member, weight) in &sketch.members {
            let before = holders.entry(*member).or_default();
            before.iter().for_each(|a| shared[*a] += weight);
            before.push(b);
        }
        let accepted = |(a, shared): &(usize, u64)| {
            *shared > 0
                && accepts(config, &sketches[*a], sketch, *shared)
                && verified(config, &sketches[*a], sketch)
        };
        links.extend(shared.into_iter().enumerate().filter(accepted).map(|(a, _)| (a, b)));
    }
    links
}

/// Whether a part of a whole is at or over the threshold.
fn reaches(config: &Config, part: u64, whole: u64) -> bool {
    let (num, den) = fraction(&config.threshold.to_string());
    part * den >= whole * num
}

/// Whether neither length is over the other by more than so many percent of it.
fn lengths_agree(a: u64, b: u64, percent: u32) -> bool {
    a.abs_diff(b) * 100 <= a.min(b) * u64::from(percent)
}

/// Whether two sketches that share so much pass the test of the method.
fn accepts(config: &Config, a: &Sketch, b: &Sketch, shared: u64) -> bool {
    let union = || a.size + b.size - shared;
    match config.method {
        Method::Exact => false,
        Method::Join => match config.join.measure {
            JoinMeasure::Resemblance => reaches(config, shared, union()),
            JoinMeasure::Containment | JoinMeasure::ContainmentOfProtected => {
                reaches(config, shared, a.size.min(b.size))
            }
        },
        Method::Minhash => shared >= config.minhash.r as u64,
        Method::Simhash => shared + u64::from(config.simhash.distance) >= 64,
        Method::Imatch => shared >= 1,
        Method::Fingerprint => lengths_agree(a.length, b.length, config.fingerprint.length_percent),
        Method::TermVector => {
            let vector = &config.term_vector;
            let near = match (a.day, b.day) {
                (Some(a), Some(b)) => a.abs_diff(b) <= u64::from(vector.days),
                (a, b) => a == b,
            };
            near && lengths_agree(a.length, b.length, vector.length_percent) && shared >= vector.shared as u64
        }
        Method::Cosine => {
            let (num, den) = fraction(&config.threshold.to_string());
            let square = |n: u64| u128::from(n) * u128::from(n);
            square(shared) * square(den) >= square(num) * u128::from(a.size) * u128::from(b.size)
        }
        Method::Shingles
        | Method::Supershingles
        | Method::Winnow
        | Method::Anchors
        | Method::Sentences
        | Method::Lines
        | Method::Salient => match config.count.rule {
            Rule::Resemblance => reaches(config, shared, union()),
            Rule::Containment => reaches(config, shared, a.size.min(b.size)),
            Rule::Shared => shared >= config.count.shared as u64,
        },
    }
}

/// Whether two sketches pass what pairs are verified by.
fn verified(config: &Config, a: &Sketch, b: &Sketch) -> bool {
    let shared = || in_both(&a.shingles, &b.shingles);
    let (left, right) = (a.shingles.len() as u64, b.shingles.len() as u64);
    match config.verify {
        Verify::None => true,
        Verify::Resemblance => {
            let shared = shared();
            reaches(config, shared, left + right - shared)
        }
        Verify::Containment => reaches(config, shared(), left.min(right)),
        Verify::Edits => {
            let longer = a.length.max(b.length);
            reaches(config, longer - edits(&a.words, &b.words), longer)
        }
    }
}

/// How many numbers two ascending lists share.
fn in_both(a: &[u32], b: &[u32]) -> u64 {
    let (mut rest, mut shared) = (b, 0);
    for number in a {
        let less = rest.iter().take_while(|other| *other < number).count();
        rest = &rest[less..];
        shared += u64::from(rest.first() == Some(number));
    }
    shared
}

/// The fewest insertions, deletions and replacements, from the whole table of what is left without the words that both
/// begin with and end with.
fn edits(mut a: &[u32], mut b: &[u32]) -> u64 {
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b)
        && x == y
    {
        (a, b) = (a_rest, b_rest);
    }
    while let ([a_rest @ .., x], [b_rest @ .., y]) = (a, b)
        && x == y
    {
        (a, b) = (a_rest, b_rest);
    }
    let mut row: Vec<u64> = (0..=b.len() as u64).collect();
    for (line, x) in (1..).zip(a) {
        let mut next = vec![line];
        for (at, y) in b.iter().enumerate() {
            next.push((row[at] + u64::from(x != y)).min(row[at + 1] + 1).min(next[at] + 1));
        }
        row = next;
    }
    row[b.len()]
}
