//! Chunks of sentences (COPS: Brin, Davis and Garcia-Molina 1995) and of lines (Shivakumar and Garcia-Molina 1998) as
//! 64-bit identities.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::lexicon::Lexicon;
use crate::limits::MAX_PIECES;
use crate::method::tables::FrozenTables;
use crate::method::technique::{Description, MethodSketcher, Needs, Settings, Technique, within};
use crate::simd::Simd;
use crate::similarity::AcceptanceRule;
use crate::sketch::{Spread, shingles, whole};
use crate::text::{Tokenizer, each_line, each_sentence};

/// Chunks of sentences (COPS: Brin, Davis and Garcia-Molina 1995). About 8 bytes a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sentences {
    /// Sentences of a chunk, 1 to [`MAX_PIECES`]: 1.
    pub per_chunk: usize,
    /// A chunk begins at every so many sentences, 1 to `per_chunk`: 1 makes chunks overlap, `per_chunk` makes them
    /// follow each other.
    pub every: usize,
}

impl Default for Sentences {
    fn default() -> Sentences {
        Sentences { per_chunk: 1, every: 1 }
    }
}

/// Chunks of lines (Shivakumar and Garcia-Molina 1998). About `8 / every` bytes a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lines {
    /// Lines of a chunk, 1 to [`MAX_PIECES`]. Ours: 4.
    pub per_chunk: usize,
    /// A chunk begins at every so many lines, 1 to `per_chunk`. Ours: 4, so that chunks follow each other.
    pub every: usize,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines { per_chunk: 4, every: 4 }
    }
}

impl Technique for Sentences {
    fn check(&self) -> Result<()> {
        let chunk = self.per_chunk as u64;
        within("sentences.per_chunk", chunk, 1..=MAX_PIECES as u64, "1 is published")?;
        within("sentences.every", self.every as u64, 1..=chunk, "otherwise sentences between chunks are lost")
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn rule(&self, settings: &Settings<'_>) -> Option<AcceptanceRule> {
        Some(settings.counted())
    }

    fn description(&self, settings: &Settings<'_>) -> Description {
        Description::counted(settings, "sentences".to_owned(), &format!(" of chunks of {}", self.per_chunk))
    }

    fn sketcher(
        &self,
        settings: &Settings<'_>,
        tables: &FrozenTables,
        simd: Simd,
    ) -> Box<dyn MethodSketcher> {
        let cut = TextCut {
            each: |text, each| each_sentence(text, each),
            per_chunk: self.per_chunk,
            every: self.every,
        };
        Box::new(ChunkSketcher::new(cut, tables.tokenizer(settings.text.clone(), simd)))
    }
}

impl Technique for Lines {
    fn check(&self) -> Result<()> {
        let chunk = self.per_chunk as u64;
        within("lines.per_chunk", chunk, 1..=MAX_PIECES as u64, "4 or 2 are usual")?;
        within("lines.every", self.every as u64, 1..=chunk, "otherwise lines between chunks are lost")
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn rule(&self, settings: &Settings<'_>) -> Option<AcceptanceRule> {
        Some(settings.counted())
    }

    fn description(&self, settings: &Settings<'_>) -> Description {
        Description::counted(
            settings,
            format!("{} lines", self.per_chunk),
            &format!(" of chunks of {}", self.per_chunk),
        )
    }

    fn sketcher(
        &self,
        settings: &Settings<'_>,
        tables: &FrozenTables,
        simd: Simd,
    ) -> Box<dyn MethodSketcher> {
        let cut = TextCut {
            each: |text, each| each_line(text, each),
            per_chunk: self.per_chunk,
            every: self.every,
        };
        Box::new(ChunkSketcher::new(cut, tables.tokenizer(settings.text.clone(), simd)))
    }
}

/// Hands on the pieces of a text, in order.
type EachPiece = fn(&str, &mut dyn FnMut(&str));

/// How a text is cut.
#[derive(Clone, Copy)]
struct TextCut {
    /// Into which pieces.
    each: EachPiece,
    /// Pieces of a chunk.
    per_chunk: usize,
    /// A chunk begins at every so many pieces.
    every: usize,
}

/// The sketcher of [`Sentences`] and [`Lines`].
struct ChunkSketcher {
    cut: TextCut,
    tokenizer: Tokenizer<Lexicon>,
    pieces: Vec<u64>,
    spread: Spread,
}

impl ChunkSketcher {
    fn new(cut: TextCut, tokenizer: Tokenizer<Lexicon>) -> ChunkSketcher {
        ChunkSketcher { cut, tokenizer, pieces: Vec::new(), spread: Spread::default() }
    }
}

impl MethodSketcher for ChunkSketcher {
    fn cut(&mut self, text: &str, words: &mut Vec<u64>) -> bool {
        let ChunkSketcher { cut, tokenizer, pieces, spread } = self;
        cut.chunks(text, |piece| piece_hash(tokenizer.tokens(piece)), pieces, words);
        spread.sort_distinct(words);
        true
    }

    fn cuts_tokens_apart(&self) -> bool {
        true
    }
}

/// The identity of a piece of text with these tokens; `None` if it has none.
fn piece_hash(tokens: &[u64]) -> Option<u64> {
    (!tokens.is_empty()).then(|| whole(tokens))
}

impl TextCut {
    /// Writes to `chunks` (cleared first) the chunks of a text, in order, repeats included: 8 bytes each. `hash` gives the
    /// identity of a piece of text, `None` for one that has no token: such a piece is passed over. [`piece_hash`] of its
    /// tokens is one. `pieces` is working memory.
    ///
    /// Pieces after the last whole chunk, or of a text with fewer, are a chunk of their own kind, so that no piece goes
    /// unseen; the papers are silent here. What a sentence is says [`each_sentence`], and what a line is [`each_line`]: ours too.
    fn chunks(
        self,
        text: &str,
        mut hash: impl FnMut(&str) -> Option<u64>,
        pieces: &mut Vec<u64>,
        chunks: &mut Vec<u64>,
    ) {
        pieces.clear();
        (self.each)(text, &mut |piece| pieces.extend(hash(piece)));
        join(pieces, self.per_chunk, self.every, chunks);
    }
}

/// Writes to `chunks` the runs of `size` pieces that begin at every `every`-th, and what is left after the last.
fn join(pieces: &[u64], size: usize, every: usize, chunks: &mut Vec<u64>) {
    shingles(pieces, size, chunks);
    if pieces.len() <= size {
        return;
    }
    let mut at = 0..;
    chunks.retain(|_| at.next().is_some_and(|at: usize| at.is_multiple_of(every)));
    let next = chunks.len() * every;
    let covered = next - every + size;
    if covered < pieces.len() {
        chunks.push(whole(&pieces[next..]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::made::hashes;
    use proptest::prelude::*;

    fn joined(pieces: &[u64], size: usize, every: usize) -> Vec<u64> {
        let mut chunks = vec![3];
        join(pieces, size, every, &mut chunks);
        chunks
    }

    /// The identity of one chunk of `size` pieces, or fewer.
    fn one(pieces: &[u64], size: usize) -> u64 {
        let mut chunks = vec![];
        shingles(pieces, size, &mut chunks);
        chunks[0]
    }

    #[test]
    fn chunks_follow_each_other_or_overlap() {
        let pieces = [1, 2, 3, 4, 5];
        assert_eq!(joined(&pieces, 2, 2), [one(&[1, 2], 2), one(&[3, 4], 2), one(&[5], 2)]);
        assert_eq!(joined(&pieces, 2, 1), [[1, 2], [2, 3], [3, 4], [4, 5]].map(|two| one(&two, 2)));
        assert_eq!(joined(&pieces[..1], 2, 2), [one(&[1], 2)]);
        assert_eq!(joined(&pieces, 1, 1).len(), 5);
        assert!(joined(&[], 2, 1).is_empty());
    }

    #[test]
    fn sentences_are_known_again_whatever_their_punctuation() {
        let canonical = |piece: &str| {
            let words: String = piece.chars().filter(|c| c.is_alphabetic() || *c == ' ').collect();
            piece_hash(&hashes(&words))
        };
        let of = |text: &str, per_chunk, every| {
            let (mut pieces, mut chunks) = (vec![1], vec![2]);
            let cut = TextCut { each: |text, each| each_sentence(text, each), per_chunk, every };
            cut.chunks(text, canonical, &mut pieces, &mut chunks);
            chunks
        };
        let a = of("It rains. -- ... It pours! And then?", 1, 1);
        let b = of("It  pours; It rains. It pours. No more", 1, 1);
        assert_eq!((a.len(), b.len()), (3, 3));
        assert_eq!(a.iter().filter(|chunk| b.contains(chunk)).count(), 1);
        assert_eq!(a[1], of("It pours.", 1, 1)[0]);
        assert_eq!(of("One. Two. Three.", 2, 1).len(), 2);
        assert!(of("...", 1, 1).is_empty());
    }

    #[test]
    fn lines_without_a_token_are_passed_over() {
        let of = |text: &str| {
            let (mut pieces, mut chunks) = (vec![], vec![]);
            let cut = TextCut { each: |text, each| each_line(text, each), per_chunk: 2, every: 2 };
            cut.chunks(text, |line| piece_hash(&hashes(line)), &mut pieces, &mut chunks);
            chunks
        };
        assert_eq!(of("a b\n\nc\r\n \r\nd e\nf"), of("a b\nc\nd e\nf"));
        assert_eq!(of("a\nb\nc").len(), 2);
        assert_ne!(of("a b\nc"), of("a\nb c"));
    }

    proptest! {
        #[test]
        fn the_slow_way_joins_the_same(pieces in prop::collection::vec(any::<u64>(), 0..30), size in 1usize..7,
                                       every in 1usize..7) {
            let every = every.min(size);
            let mut slow = vec![];
            let mut start = 0;
            while start < pieces.len() {
                let end = (start + size).min(pieces.len());
                slow.push(one(&pieces[start..end], size));
                if end == pieces.len() {
                    break;
                }
                start += every;
            }
            prop_assert_eq!(joined(&pieces, size, every), slow);
        }
    }
}
