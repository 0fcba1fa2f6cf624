//! What `pairs` and `cluster` have in common: the documents of a collection taken in again.

use std::path::Path;

use alike::collection::{Again, Choice};
use alike::error::{Error, Result};
use alike::flow::Outcome;
use alike::output::Scratch;

use crate::cli::{MachineArgs, TalkArgs};
use crate::cli_again::ChoiceArgs;
use crate::load::watched;
use crate::options::{Machine, clustering};
use crate::shown::open;

/// Takes the documents of a collection in again, while progress is shown and Ctrl-C stops it.
pub(crate) fn again(
    collection: &Path,
    choice: Choice,
    pairs: bool,
    talk: &TalkArgs,
    machine: &MachineArgs,
) -> Result<Outcome> {
    let Machine { workers, memory, simd } = Machine::new(machine)?;
    let snapshot = open(collection)?;
    let scratch = Scratch::beside(collection)?;
    let asked = Again { choice, pairs, workers, memory, simd, scratch: scratch.path().to_path_buf() };
    watched(talk, |progress| snapshot.again(asked, progress.clone()))
}

/// What was typed as a choice.
pub(crate) fn choice(args: &ChoiceArgs) -> Result<Choice> {
    Ok(Choice {
        threshold: args.threshold.as_deref().map(str::parse).transpose().map_err(Error::Config)?,
        keep: args.keep.as_deref().map(str::parse).transpose().map_err(Error::Config)?,
        clustering: args.clustering.map(clustering),
    })
}
