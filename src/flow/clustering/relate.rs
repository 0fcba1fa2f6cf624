//! How removed documents relate to their representatives, and pairs to each other, word by word: the texts are read
//! again, each once, and each two of them compared once.

use crate::config::Tokens;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::sets::{Sets, not_recalled};
use crate::flow::records::Pair;
use crate::flow::results::findings::{Findings, Reason, Removed};
use crate::progress::Stage;
use crate::similarity::{Measure, Relation, Relations};
use crate::text::Tokenizer;

/// Hands the texts of documents to a function: of those of a slice, in any order, each once.
pub type EachText<'a> = dyn Fn(&[Doc], &mut dyn FnMut(Doc, &str) -> Result<()>) -> Result<()> + Sync + 'a;

/// The relations of all texts that were asked for.
#[derive(Debug, Default)]
pub struct Related {
    /// First documents of two texts, ascending, none twice.
    pairs: Vec<(Pair, Relation)>,
}

/// Pairs that a thread compares between two looks at whether to stop.
const STRETCH: usize = 64;

impl Related {
    /// Relates the texts of removed documents to those of their representatives, and of accepted pairs to each other. What a text is made of is words, whatever the shingles of the run are made of.
    ///
    /// # Errors
    /// [`crate::error::Error::Changed`] if a file is not what it was, and what `texts` gives; [`crate::error::Error::Io`] of a spill file;
    /// [`crate::error::Error::Interrupted`].
    pub fn new(
        sets: &DocumentSets,
        removed: &[Removed],
        pairs: &[(Doc, Doc, Measure, Reason)],
        texts: &EachText<'_>,
    ) -> Result<Related> {
        let removed = removed.iter().filter(|row| row.reason != Reason::Exact).map(|row| row.texts);
        let pairs = pairs.iter().filter(|(.., reason)| *reason != Reason::Exact);
        let pairs = pairs.map(|(a, b, ..)| (*a, *b));
        let mut pairs: Vec<Pair> = removed.chain(pairs).map(|(a, b)| Pair::new(a, b)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut docs: Vec<Doc> = pairs.iter().flat_map(|pair| <[Doc; 2]>::from(pair.docs())).collect();
        docs.sort_unstable();
        docs.dedup();
        sets.context.status.progress.enter(Stage::Cluster, (docs.len() + pairs.len()) as u64);
        let stores = sets.side_by_side(&docs, sets.of_candidates(), &|docs, words| {
            let mut tokenizer =
                Tokenizer::new(Tokens::Words, sets.context.config.text.fold, sets.context.simd);
            texts(docs, &mut |doc, text| words.insert(doc, tokenizer.tokens(text)))
        })?;
        let relations = relate_all(sets, &pairs, &stores)?;
        Ok(Related { pairs: pairs.into_iter().zip(relations).collect() })
    }

    /// [`Related::new`] of all findings, with the texts as they stand in the inputs of the run.
    ///
    /// # Errors
    /// Those of [`Related::new`].
    pub fn of_inputs(sets: &DocumentSets, findings: &Findings) -> Result<Related> {
        let pairs = findings.pairs.as_deref().unwrap_or_default();
        Related::new(sets, &findings.removed, pairs, &|docs, each| {
            sets.documents.each_text(docs, &sets.context.status.progress, &mut |doc, text, _| each(doc, text))
        })
    }

    /// How the text of a removed document relates to that of its representative.
    pub fn removed(&self, removed: &Removed) -> Relation {
        self.pair(removed.texts.0, removed.texts.1, removed.reason)
    }

    /// How the texts of an accepted pair relate.
    pub fn pair(&self, a: Doc, b: Doc, reason: Reason) -> Relation {
        if reason == Reason::Exact {
            return Relation::SAME;
        }
        let at = self.pairs.binary_search_by_key(&Pair::new(a, b), |(pair, _)| *pair);
        self.pairs[at.expect("who asks for a pair had it related")].1
    }
}

/// Relates pairs on all cores, in their order.
fn relate_all(sets: &DocumentSets, pairs: &[Pair], stores: &[Sets]) -> Result<Vec<Relation>> {
    sets.on_all_cores(pairs, &|pairs| relate_some(sets, pairs, stores))
}

fn relate_some(sets: &DocumentSets, pairs: &[Pair], stores: &[Sets]) -> Result<Vec<Relation>> {
    let mut related = Vec::with_capacity(pairs.len());
    let (mut relations, mut x, mut y) = (Relations::default(), Vec::new(), Vec::new());
    for some in pairs.chunks(STRETCH) {
        sets.context.status.progress.check()?;
        for pair in some {
            let (a, b) = pair.docs();
            related.push(relations.relate(words(stores, a, &mut x)?, words(stores, b, &mut y)?));
        }
        sets.context.status.progress.advance(some.len() as u64);
    }
    Ok(related)
}

/// The words of a document.
fn words<'a>(stores: &'a [Sets], doc: Doc, scratch: &'a mut Vec<u64>) -> Result<&'a [u64]> {
    let store = stores.iter().find(|store| store.contains(doc)).ok_or_else(|| not_recalled(doc))?;
    store.get(doc, scratch)
}
