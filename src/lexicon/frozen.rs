//! A lexicon as it is used: terms by their hash, by their rank, and by their letters.

use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry as Place;

use super::file::{self, LexiconParts};
use super::logarithm::log2;
use super::sorted::Sorted;
use super::terms::Header;
use crate::error::{Error, Result};
use crate::hex;
use crate::text::{Fold, TermFrequencies, token_hash};

/// A frozen table of terms and the number of documents that have each. About 40 bytes a term and the file are held.
pub struct Lexicon {
    path: PathBuf,
    parts: LexiconParts,
    /// Places in the order of rarity, by number.
    ranks: Vec<u32>,
    /// Normalised idf, by number.
    idf: Vec<f64>,
    /// Numbers by the hash of the term.
    numbers: HashMap<u64, u32>,
}

/// A term of a lexicon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LexiconEntry<'a> {
    /// Its number: its place in the order of terms, from 0.
    pub number: u32,
    /// Its place in the order of rarity, from 0: terms of fewer documents first, among equals in the order of terms.
    pub rank: u32,
    /// The term.
    pub term: &'a str,
    /// In how many documents it is.
    pub documents: u64,
    /// Its normalised idf, between 0 and 1.
    pub idf: f64,
}

impl TermFrequencies for Lexicon {
    #[inline]
    fn idf(&self, hash: u64) -> Option<f64> {
        self.number(hash).map(|number| self.idf[number as usize])
    }
}

impl Lexicon {
    /// Reads a lexicon, and proves that it is what was written.
    ///
    /// # Errors
    /// [`Error::LexiconUnfit`] if there is none, it is none, or two of its terms have one hash;
    /// [`Error::LexiconDamaged`]; [`Error::NewerFormat`]; [`Error::Io`].
    pub fn open(path: &Path) -> Result<Lexicon> {
        Lexicon::open_by(path, token_hash)
    }

    /// The lexicon whose file has these bytes, as [`Lexicon::as_bytes`] gave them.
    ///
    /// # Errors
    /// Those of [`Lexicon::open`], of no file.
    pub fn of_bytes(bytes: Vec<u8>) -> Result<Lexicon> {
        let path = Path::new("the lexicon");
        Lexicon::of_parts(path, file::parse(path, bytes)?, token_hash)
    }

    /// The bytes of its file.
    pub fn as_bytes(&self) -> &[u8] {
        self.parts.text.as_bytes()
    }

    /// The same with another hash.
    pub(super) fn open_by(path: &Path, hash: impl Fn(&[u8]) -> u64) -> Result<Lexicon> {
        Lexicon::of_parts(path, file::read(path)?, hash)
    }

    fn of_parts(path: &Path, parts: LexiconParts, hash: impl Fn(&[u8]) -> u64) -> Result<Lexicon> {
        let ranks = ranks(&parts.documents);
        let idf = parts.documents.iter().map(|df| parts.header.normalised_idf(*df)).collect();
        let numbers = HashMap::with_capacity(ranks.len());
        let mut lexicon = Lexicon { path: path.to_path_buf(), parts, ranks, idf, numbers };
        lexicon.number_terms(hash)?;
        Ok(lexicon)
    }

    /// Finds the number of each hash.
    fn number_terms(&mut self, hash: impl Fn(&[u8]) -> u64) -> Result<()> {
        for number in 0..self.ranks.len() as u32 {
            let hash = hash(self.term(number).as_bytes());
            match self.numbers.entry(hash) {
                Place::Vacant(place) => drop(place.insert(number)),
                Place::Occupied(other) => {
                    let other = *other.get();
                    return Err(self.unfit(&format!(
                        "the terms {:?} and {:?} have one hash; build it without one of them, with another --min-df \
                         or from other documents",
                        self.term(other),
                        self.term(number)
                    )));
                }
            }
        }
        Ok(())
    }

    /// The file it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says of its making.
    pub fn header(&self) -> &Header {
        &self.parts.header
    }

    /// The digest of its content.
    pub fn digest(&self) -> u128 {
        self.parts.digest
    }

    /// The name by which a configuration knows it: the digest, in 32 hexadecimal digits.
    pub fn name(&self) -> String {
        hex::text(&self.parts.digest)
    }

    /// How many terms it has, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "there is no empty lexicon")]
    pub fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Refuses a lexicon that takes other spellings for one than the texts do: their words would not be found in it.
    ///
    /// # Errors
    /// [`Error::LexiconUnfit`].
    pub fn require_fold(&self, fold: Fold) -> Result<()> {
        let own = self.header().terms.fold;
        if own == fold {
            return Ok(());
        }
        Err(self.unfit(&format!(
            "is of words with --fold {own}, and texts are compared with --fold {fold}; build it again with --fold {fold}, or \
             compare with --fold {own}"
        )))
    }

    /// Refuses a lexicon of fewer terms than somebody needs; `whom` says who that is.
    ///
    /// # Errors
    /// [`Error::LexiconUnfit`].
    pub fn require(&self, terms: usize, whom: &str) -> Result<()> {
        if self.len() < terms {
            return Err(self.unfit(&format!(
                "has {} terms, and {whom} needs {terms} or more; build one from more documents, or with a lower --min-df",
                self.len()
            )));
        }
        Ok(())
    }

    /// Refuses a lexicon that is not the one of this name.
    ///
    /// # Errors
    /// [`Error::LexiconUnfit`].
    pub fn require_name(&self, name: &str) -> Result<()> {
        if self.name() != name {
            return Err(
                self.unfit(&format!("is the lexicon {}, and {name} is expected; name that one", self.name()))
            );
        }
        Ok(())
    }

    /// That it cannot be used, and why.
    pub(crate) fn unfit(&self, why: &str) -> Error {
        Error::lexicon_unfit(&self.path, why)
    }

    /// The number of the term of this [`token_hash`].
    #[inline]
    pub fn number(&self, hash: u64) -> Option<u32> {
        self.numbers.get(&hash).copied()
    }

    /// The rank of the term of this [`token_hash`]: 0 is that of the rarest.
    #[inline]
    pub fn rank(&self, hash: u64) -> Option<u32> {
        self.number(hash).map(|number| self.ranks[number as usize])
    }

    /// The normalised idf of the term of this [`token_hash`] in parts of 2^-16, rounded down, below 2^16: by integers
    /// only, so that it is the same on every machine.
    pub fn fixed_idf(&self, hash: u64) -> Option<u64> {
        let number = self.number(hash)?;
        let (idf, whole) = fraction(&self.parts.header, self.parts.documents[number as usize]);
        Some(((u128::from(idf) << 16) / u128::from(whole)).min(u128::from(u16::MAX)) as u64)
    }

    /// The term of this [`token_hash`].
    pub fn get(&self, hash: u64) -> Option<LexiconEntry<'_>> {
        self.number(hash).map(|number| self.entry(number))
    }

    /// The term with these letters, in canonical form.
    pub fn find(&self, term: &str) -> Option<LexiconEntry<'_>> {
        self.get(token_hash(term.as_bytes())).filter(|entry| entry.term == term)
    }

    /// The term of this number.
    ///
    /// # Panics
    /// If there is none.
    pub fn entry(&self, number: u32) -> LexiconEntry<'_> {
        let at = number as usize;
        LexiconEntry {
            number,
            rank: self.ranks[at],
            term: self.term(number),
            documents: self.parts.documents[at],
            idf: self.idf[at],
        }
    }

    /// All terms, in their order.
    pub fn entries(&self) -> impl Iterator<Item = LexiconEntry<'_>> {
        (0..self.len() as u32).map(|number| self.entry(number))
    }

    /// The numbers of all terms, the rarest first.
    pub fn by_rank(&self) -> Vec<u32> {
        let mut numbers = vec![0; self.len()];
        (0..).zip(&self.ranks).for_each(|(number, rank)| numbers[*rank as usize] = number);
        numbers
    }

    fn term(&self, number: u32) -> &str {
        let rest = &self.parts.text[self.parts.starts[number as usize] as usize..];
        rest.split_once('\t').map_or(rest, |(term, _)| term)
    }

    /// Its counts in the order of terms.
    pub(super) fn counts(&self) -> DocumentCounts<'_> {
        DocumentCounts { lexicon: self, next: 0 }
    }
}

impl std::fmt::Debug for Lexicon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lexicon")
            .field("path", &self.path)
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

/// The place of each term in the order of rarity. What is counted decides, never a logarithm: those differ between
/// machines in their last digit.
fn ranks(documents: &[u64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..documents.len() as u32).collect();
    order.sort_by_key(|number| documents[*number as usize]);
    let mut ranks = vec![0; order.len()];
    (0..).zip(order).for_each(|(rank, number)| ranks[number as usize] = rank);
    ranks
}

/// The counts of a lexicon, one after the other.
pub(super) struct DocumentCounts<'a> {
    lexicon: &'a Lexicon,
    next: u32,
}

impl Sorted for DocumentCounts<'_> {
    fn next(&mut self, term: &mut String) -> Result<Option<u64>> {
        if self.next as usize == self.lexicon.len() {
            return Ok(None);
        }
        let entry = self.lexicon.entry(self.next);
        self.next += 1;
        term.clear();
        term.push_str(entry.term);
        Ok(Some(entry.documents))
    }
}

/// The normalised idf of a term in `df` documents as numerator and denominator: ln((N + 0.5) / n) over ln(N + 1), the
/// first doubled within its logarithm to be of integers.
pub(super) fn fraction(header: &Header, df: u64) -> (u64, u64) {
    (log2(2 * header.documents + 1).saturating_sub(log2(2 * df)), log2(header.documents + 1))
}
