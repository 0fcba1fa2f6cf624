//! The lexicon of a one-shot run: the one that was named, or else that of the inputs.

use std::path::Path;
use std::sync::Arc;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::lexicon::{Lexicon, LexiconRequest, Terms, count};
use crate::progress::Progress;
use crate::read::Source;
use crate::resources::Resources;
use crate::scratch::private_folder;

/// The lexicon of a one-shot run, if its method needs one; the configuration then names it. It is the file `named`, or else
/// it is counted from the inputs, which are then read twice.
///
/// # Errors
/// [`Error::Config`] if the configuration names a lexicon of which no file is given, or the inputs have too few documents
/// for one; those of [`Lexicon::open`] and of reading the inputs.
pub fn run_lexicon(
    config: &mut Config,
    named: Option<&Path>,
    sources: &[Source],
    resources: &Resources,
    progress: &Arc<Progress>,
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
    let lexicon = match named {
        Some(path) => Lexicon::open(path)?,
        None => counted(config, sources, resources, progress)?,
    };
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

/// The lexicon of the inputs. Records that cannot be read are reported when they are read the second time.
fn counted(
    config: &Config,
    sources: &[Source],
    resources: &Resources,
    progress: &Arc<Progress>,
) -> Result<Lexicon> {
    let scratch = &resources.scratch;
    let folder = private_folder(scratch)?;
    let request = LexiconRequest {
        sources: sources.to_vec(),
        input: config.input.clone(),
        terms: Terms { fold: config.text.fold, ..Terms::default() },
        resources: Resources { scratch: folder.path().to_path_buf(), peers: None, ..resources.clone() },
    };
    let path = folder.path().join("lexicon");
    match count(&request, progress)?.freeze(&path, LEAST_DF, progress) {
        Ok(_) => Lexicon::open(&path),
        Err(Error::Limit(_)) => Err(Error::config(format!(
            "{} needs a lexicon, and no term is in {LEAST_DF} documents of this input; make one of more \
             documents of the same kind with `alike lexicon build`, and name it with --lexicon",
            config.lexicon_user()
        ))),
        Err(error) => Err(error),
    }
}
