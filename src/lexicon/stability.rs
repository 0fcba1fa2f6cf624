//! How many documents have the same signature of their rarest terms under two lexicons, by the length of the signature.

use std::collections::BinaryHeap;
use std::sync::Arc;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::frozen::Lexicon;
use super::survey::{Survey, TextReader};
use crate::error::{Error, Result};
use crate::limits::MAX_SIGNATURE;
use crate::progress::Progress;
use crate::read::{Record, RecordCost, RecordRoom, Refusal, Rejected};
use crate::simd::Simd;
use crate::text::Tokenizer;
use crate::text::Tokens;

/// What a record costs: its tokens, their numbers under two lexicons, and an eighth for growing.
const RECORD: RecordCost = RecordCost { token: 18, bytes_of_token: 6 };

/// Which documents are taken, and which signatures are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StabilityRequest {
    /// Documents drawn among those that have a term of either lexicon, at least 1.
    pub sample: usize,
    /// What the drawing begins with: the same seed draws the same texts.
    pub seed: u64,
    /// Terms of the longest signature, 1 to [`MAX_SIGNATURE`].
    pub longest: usize,
    /// Terms of a greater normalised idf are passed over, as the fingerprint of Conrad 2003 does above 0.8; 1 passes
    /// over none.
    pub max_idf: f64,
}

/// The share of signatures that are the same, by their length.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stability {
    /// Documents drawn.
    pub documents: u64,
    /// A point for each length, from 1.
    pub curve: Vec<Point>,
    /// Records refused, in document order.
    #[serde(skip)]
    pub refused: Vec<Rejected>,
    /// Documents read.
    pub read: u64,
}

/// Signatures of one length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Terms of the signature.
    pub terms: usize,
    /// Documents drawn that have so many terms of either lexicon.
    pub documents: u64,
    /// Those of them whose signatures under both have the same terms.
    pub unchanged: u64,
    /// Their share; `None` where there are none.
    pub share: Option<f64>,
}

/// Draws documents from the inputs and compares their signatures: the terms of highest idf, ties broken by term. A
/// document is drawn for a hash of its text, so the answer depends on neither order nor workers.
///
/// # Errors
/// [`Error::Config`] for a question that makes no sense, [`Error::Interrupted`].
pub fn stability(
    (a, b): (&Lexicon, &Lexicon),
    survey: &Survey<'_>,
    question: StabilityRequest,
    simd: Simd,
    progress: &Arc<Progress>,
) -> Result<Stability> {
    question.check()?;
    if a.header().terms.fold != b.header().terms.fold {
        return Err(Error::config(format!(
            "{} is of words with --fold {}, and {} with --fold {}: their signatures cannot be compared; build them alike",
            a.path().display(),
            a.header().terms.fold,
            b.path().display(),
            b.header().terms.fold
        )));
    }
    let room = survey.room(RECORD, progress)?;
    let drawing = || Drawing::new((a, b), question, (simd, room.clone()));
    let surveyed = survey.read(room.clone(), drawing, progress)?;
    let read = surveyed.readers.iter().map(|drawing| drawing.read).sum();
    let mut drawn: Vec<Drawn> = surveyed.readers.into_iter().flat_map(|drawing| drawing.drawn).collect();
    drawn.sort_unstable();
    drawn.truncate(question.sample);
    let curve = (1..=question.longest).map(|terms| point(terms, &drawn)).collect();
    Ok(Stability { documents: drawn.len() as u64, curve, refused: surveyed.refused, read })
}

impl StabilityRequest {
    fn check(&self) -> Result<()> {
        if self.sample == 0 {
            return Err(Error::config("--sample 0: draw at least 1 document; 1000 is usual"));
        }
        if !(1..=MAX_SIGNATURE).contains(&self.longest) {
            return Err(Error::config(format!(
                "--longest {}: a signature has 1 to {MAX_SIGNATURE} terms",
                self.longest
            )));
        }
        if !(self.max_idf > 0.0 && self.max_idf <= 1.0) {
            return Err(Error::config(format!(
                "--max-idf {}: normalised idf is above 0 and at most 1; 1 passes over no term",
                self.max_idf
            )));
        }
        Ok(())
    }
}

fn point(terms: usize, drawn: &[Drawn]) -> Point {
    let bit = 1u64 << (terms - 1);
    let count = |of: fn(&Drawn) -> u64| drawn.iter().filter(|drawn| of(drawn) & bit != 0).count() as u64;
    let (documents, unchanged) = (count(|drawn| drawn.has), count(|drawn| drawn.same));
    let share = (documents > 0).then(|| unchanged as f64 / documents as f64);
    Point { terms, documents, unchanged, share }
}

/// A document that was drawn. Bit m - 1 is about signatures of m terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Drawn {
    /// Hash of the text: those of the least are drawn.
    hash: u64,
    /// Whether it has so many terms.
    has: u64,
    /// Whether both signatures have the same.
    same: u64,
}

/// What one worker draws.
struct Drawing<'a> {
    lexicons: (&'a Lexicon, &'a Lexicon),
    question: StabilityRequest,
    tokenizer: Tokenizer,
    simd: Simd,
    room: RecordRoom,
    drawn: BinaryHeap<Drawn>,
    read: u64,
    signatures: (Vec<u32>, Vec<u32>),
}

impl<'a> Drawing<'a> {
    fn new(
        lexicons: (&'a Lexicon, &'a Lexicon),
        question: StabilityRequest,
        (simd, room): (Simd, RecordRoom),
    ) -> Drawing<'a> {
        Drawing {
            simd,
            room,
            lexicons,
            question,
            tokenizer: Tokenizer::new(Tokens::Words, lexicons.0.header().terms.fold, simd),
            drawn: BinaryHeap::new(),
            read: 0,
            signatures: Default::default(),
        }
    }
}

impl Drawing<'_> {
    /// Why there is no room for a record, if there is none: drawn or not, so that the refused ones do not depend on the order.
    fn no_room(&mut self, record: &Record<'_>) -> Option<String> {
        let (raw, text) = (record.raw.len(), record.text.len());
        if !self.room.is_long(raw.max(text)) {
            return None;
        }
        let why = self.room.refuses(raw, text, self.tokenizer.tokens(record.text).len())?;
        self.tokenizer = Tokenizer::new(Tokens::Words, self.lexicons.0.header().terms.fold, self.simd);
        Some(why)
    }
}

impl TextReader for Drawing<'_> {
    fn read(&mut self, record: &Record<'_>) -> Result<Option<Refusal>> {
        let text = record.text;
        if let Some(why) = self.no_room(record) {
            return Ok(Some(Refusal::NoRoom(why)));
        }
        self.read += 1;
        let hash = xxh3_64_with_seed(text.as_bytes(), self.question.seed);
        let full = self.drawn.len() == self.question.sample;
        if full && self.drawn.peek().is_some_and(|last| last.hash < hash) {
            return Ok(None);
        }
        let Drawing { lexicons: (a, b), question, tokenizer, signatures, .. } = self;
        let hashes = tokenizer.tokens(text);
        signature(a, hashes, question, &mut signatures.0);
        signature(b, hashes, question, &mut signatures.1);
        let (has, same) = compared((a, b), signatures);
        if has != 0 {
            self.drawn.push(Drawn { hash, has, same });
        }
        if self.drawn.len() > self.question.sample {
            self.drawn.pop();
        }
        Ok(None)
    }
}

/// The numbers of the terms of the longest signature, the rarest first.
fn signature(lexicon: &Lexicon, hashes: &[u64], question: &StabilityRequest, numbers: &mut Vec<u32>) {
    numbers.clear();
    numbers.extend(hashes.iter().filter_map(|hash| lexicon.number(*hash)));
    numbers.sort_unstable();
    numbers.dedup();
    numbers.retain(|number| lexicon.entry(*number).idf <= question.max_idf);
    numbers.sort_unstable_by_key(|number| lexicon.entry(*number).rank);
    numbers.truncate(question.longest);
}

/// For each length whether either signature has so many terms, and whether both have the same.
fn compared((a, b): (&Lexicon, &Lexicon), (of_a, of_b): &(Vec<u32>, Vec<u32>)) -> (u64, u64) {
    let bits = |count: usize| if count == 0 { 0 } else { u64::MAX >> (u64::BITS as usize - count) };
    let (mut same, mut reach) = (0, 0);
    for (at, number) in of_a.iter().enumerate() {
        let term = a.entry(*number).term;
        let Some(other) = of_b.iter().position(|other| b.entry(*other).term == term) else { break };
        // So many terms of the second it takes to have all of the first up to here.
        reach = reach.max(other);
        if reach == at {
            same |= 1 << at;
        }
    }
    (bits(of_a.len().max(of_b.len())), same)
}
