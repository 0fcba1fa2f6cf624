//! What sketches are made by beside the text: frozen tables, the same for all sketches that are ever compared.

use std::sync::Arc;

use crate::error::Result;
use crate::lexicon::Lexicon;
use crate::simd::Simd;
use crate::sketch::Rarity;
use crate::text::{Text, Tokenizer};

/// The frozen tables of a run or a collection.
#[derive(Clone, Debug, Default)]
pub struct FrozenTables {
    /// The order in which `join` takes its keys.
    pub rarity: Arc<Rarity>,
    /// The terms of methods that weigh them.
    pub lexicon: Option<Arc<Lexicon>>,
}

impl FrozenTables {
    /// The table of rarity as bytes, where a method needs it, and the file of the lexicon; empty where there is none.
    pub fn to_bytes(&self, rarity: bool) -> (Vec<u8>, Vec<u8>) {
        let rarity = if rarity { self.rarity.to_bytes() } else { Vec::new() };
        (rarity, self.lexicon.as_ref().map(|lexicon| lexicon.as_bytes().to_vec()).unwrap_or_default())
    }

    /// A table of rarity and a lexicon by the bytes of its file, if there are any.
    ///
    /// # Errors
    /// Those of [`Lexicon::of_bytes`].
    pub fn of_parts(rarity: Rarity, lexicon: Vec<u8>) -> Result<FrozenTables> {
        let lexicon = (!lexicon.is_empty()).then(|| Lexicon::of_bytes(lexicon).map(Arc::new)).transpose()?;
        Ok(FrozenTables { rarity: Arc::new(rarity), lexicon })
    }

    /// The tokenizer of texts that are filtered as a configuration says.
    ///
    /// # Panics
    /// If the filters were not found valid.
    pub fn tokenizer(&self, mut text: Text, simd: Simd) -> Tokenizer<Lexicon> {
        if self.lexicon.is_none() {
            // Only a collection that nothing was loaded into has no lexicon where one is needed, and nothing that a text
            // could be compared with.
            text.filter.min_idf = None;
        }
        Tokenizer::filtered(&text, simd, self.lexicon.clone()).expect("a configuration that was found valid")
    }
}
