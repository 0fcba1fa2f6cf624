//! The lexicon of a run of its own: the one that was named, or else that of the inputs.

use std::path::Path;
use std::sync::Arc;

use alike::config::Config;
use alike::error::{Error, Result};
use alike::lexicon::{Lexicon, Request, Terms, count};
use alike::progress::Progress;
use alike::read::Source;
use alike::resources::Resources;
use alike::simd::Simd;

/// What a lexicon is made of, and with what.
pub(crate) struct Making<'a> {
    /// The inputs.
    pub(crate) sources: &'a [Source],
    /// Worker threads.
    pub(crate) workers: usize,
    /// Bytes the process may use.
    pub(crate) memory: Option<u64>,
    /// An existing folder for what is not kept.
    pub(crate) scratch: &'a Path,
    pub(crate) progress: &'a Progress,
}

/// The lexicon that a run is made with, if it needs one, which the configuration then names: the file that was asked for,
/// or else that of the inputs, which are then read twice.
pub(crate) fn own_lexicon(
    config: &mut Config,
    named: Option<&Path>,
    making: &Making<'_>,
) -> Result<Option<Arc<Lexicon>>> {
    if !config.needs_lexicon() {
        return Ok(None);
    }
    if named.is_none() && !config.lexicon.is_empty() {
        return Err(Error::config(format!(
            "the configuration names the lexicon {}, and no file; name its file with --lexicon, or leave the \
             name out",
            config.lexicon
        )));
    }
    let lexicon = named.map_or_else(|| counted(config, making), Lexicon::open)?;
    if config.lexicon.is_empty() {
        config.lexicon = lexicon.name();
    }
    if named.is_some() {
        config.require_fit(&lexicon)?;
    }
    Ok(Some(Arc::new(lexicon)))
}

/// Documents that a term of a lexicon is in at least (Conrad, Guo and Schriber 2003, section 5).
const LEAST_DF: u64 = 5;

/// The lexicon of the inputs. What cannot be read of them is told when they are read the second time.
fn counted(config: &Config, making: &Making<'_>) -> Result<Lexicon> {
    let scratch = making.scratch;
    let folder = tempfile::tempdir_in(scratch).map_err(|e| Error::io(scratch, "create a folder in", e))?;
    let request = Request {
        sources: making.sources.to_vec(),
        input: config.input.clone(),
        terms: Terms::default(),
        resources: Resources {
            workers: making.workers,
            memory: making.memory,
            simd: Simd::Scalar,
            scratch: folder.path().to_path_buf(),
            peers: None,
        },
    };
    let path = folder.path().join("lexicon");
    match count(&request, making.progress)?.freeze(&path, LEAST_DF, making.progress) {
        Ok(_) => Lexicon::open(&path),
        Err(Error::Limit(_)) => Err(Error::config(format!(
            "{} needs a lexicon, and no term is in {LEAST_DF} documents of this input; make one of more \
             documents of the same kind with `alike lexicon build`, and name it with --lexicon",
            config.lexicon_user()
        ))),
        Err(error) => Err(error),
    }
}
