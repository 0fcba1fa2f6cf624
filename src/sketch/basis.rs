//! What sketches are made by beside the text: frozen tables, the same for all sketches that are ever compared.

use std::sync::Arc;

use super::{Rarity, require_room};
use crate::config::{Config, Method};
use crate::error::{Error, Result};
use crate::lexicon::{Band, Lexicon};

/// The frozen tables of a run or a collection.
#[derive(Debug, Default)]
pub struct Basis {
    /// The order in which `join` takes its keys.
    pub rarity: Rarity,
    /// The terms of methods that weigh them.
    pub lexicon: Option<Arc<Lexicon>>,
}

impl Basis {
    /// Refuses a lexicon that is not the one that a configuration names, and none where it needs one.
    ///
    /// # Errors
    /// [`Error::LexiconUnfit`] and [`Error::Config`].
    pub fn check(&self, config: &Config) -> Result<()> {
        match &self.lexicon {
            _ if !config.needs_lexicon() => Ok(()),
            Some(lexicon) => fits(lexicon, config),
            None => Err(Error::config(format!(
                "{} needs a lexicon, and there is none; make one with `alike lexicon build`, and name it with --lexicon",
                config.lexicon_user()
            ))),
        }
    }

    /// The table whose order `join` takes keys by, as bytes, and the file of the lexicon; empty where there is none.
    pub fn to_bytes(&self, method: Method) -> (Vec<u8>, Vec<u8>) {
        let rarity = if method == Method::Join { self.rarity.as_bytes().to_vec() } else { Vec::new() };
        (rarity, self.lexicon.as_ref().map(|lexicon| lexicon.as_bytes().to_vec()).unwrap_or_default())
    }

    /// What [`Basis::to_bytes`] gave the bytes of.
    ///
    /// # Errors
    /// Those of [`Lexicon::of_bytes`].
    pub fn of_bytes(rarity: &[u8], lexicon: Vec<u8>) -> Result<Basis> {
        let lexicon = (!lexicon.is_empty()).then(|| Lexicon::of_bytes(lexicon).map(Arc::new)).transpose()?;
        Ok(Basis { rarity: Rarity::of_bytes(rarity), lexicon })
    }
}

/// Refuses a lexicon for a configuration that somebody names it for: what is no hindrance where it is that of the documents
/// themselves, few as they are, is a mistake then.
///
/// # Errors
/// [`Error::LexiconUnfit`].
pub fn require_fit(lexicon: &Lexicon, config: &Config) -> Result<()> {
    fits(lexicon, config)?;
    match config.method {
        Method::Salient => lexicon
            .require(config.salient.terms, &format!("a choice of {} salient terms", config.salient.terms)),
        Method::Cosine => require_uncommon(lexicon, config.cosine.common_percent),
        _ => Ok(()),
    }
}

/// Refuses a lexicon of which all terms are left out.
fn require_uncommon(lexicon: &Lexicon, percent: u64) -> Result<()> {
    if !Band::uncommon(lexicon, percent).is_empty() {
        return Ok(());
    }
    let documents = lexicon.header().documents;
    Err(lexicon.unfit(&format!(
        "has no term in {percent} % of its {documents} documents or in fewer, and all others are left out; build one \
         from more documents"
    )))
}

/// Refuses a lexicon that is another one, or too small or too large for the method.
fn fits(lexicon: &Lexicon, config: &Config) -> Result<()> {
    lexicon.require_name(&config.lexicon)?;
    match config.method {
        Method::Vector => {
            require_room(lexicon)?;
            lexicon.require(config.vector.terms, &format!("a vector of {} terms", config.vector.terms))
        }
        Method::Fingerprint => lexicon.require(
            config.fingerprint.terms,
            &format!("a fingerprint of {} terms", config.fingerprint.terms),
        ),
        Method::Imatch => lexicon
            .require(config.imatch.min_terms, &format!("a signature of {} terms", config.imatch.min_terms)),
        _ => Ok(()),
    }
}
