//! What `pairs` and `cluster` have in common: the documents of a collection taken in again.

use std::path::Path;
use std::sync::Arc;

use alike::collection::{Again, Choice, Snapshot};
use alike::error::{Error, Result};
use alike::flow::{Outcome, Peers};
use alike::output::Scratch;
use alike::progress::Progress;

use crate::cli::{MachineArgs, TalkArgs};
use crate::cli_again::ChoiceArgs;
use crate::load::watched;
use crate::options::{Machine, clustering};
use crate::shown::{folder, open};
use crate::team::Team;

/// Takes the documents of a collection in again, while progress is shown and Ctrl-C stops it.
pub(crate) fn again(
    collection: &Path,
    choice: &Choice,
    pairs: bool,
    talk: &TalkArgs,
    machine: &MachineArgs,
    team: Option<&Team>,
) -> Result<Option<Outcome>> {
    let Machine { workers, memory, simd } = Machine::new(machine)?;
    let scratch = Scratch::beside(collection)?;
    let scratch = scratch.path().to_path_buf();
    let asked = |peers| {
        let (choice, scratch) = (choice.clone(), scratch.clone());
        Again { choice, pairs, workers, memory, simd, scratch, peers }
    };
    let lead = |peers, progress: &Arc<Progress>| open(collection)?.again(asked(peers), Arc::clone(progress));
    let Some(team) = team else { return watched(talk, |progress| lead(None, progress)).map(Some) };
    let assist = |peers: &Arc<Peers>, progress: &Arc<Progress>| {
        let own = asked(Some(Arc::clone(peers)));
        Snapshot::assist_again(&folder(collection)?, own, peers, Arc::clone(progress))
    };
    watched(talk, |progress| {
        team.work(workers, progress, |peers| lead(peers, progress), |peers| assist(peers, progress))
    })
}

/// What was typed as a choice.
pub(crate) fn choice(args: &ChoiceArgs) -> Result<Choice> {
    Ok(Choice {
        threshold: args.threshold.as_deref().map(str::parse).transpose().map_err(Error::Config)?,
        keep: args.keep.as_deref().map(str::parse).transpose().map_err(Error::Config)?,
        clustering: args.clustering.map(clustering),
    })
}
