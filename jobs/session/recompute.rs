//! What `pairs` and `recluster` have in common: the documents of a collection taken in again.

use std::sync::Arc;

use alike::collection::{Manifest, QueryOverrides, RecomputeRequest, Snapshot};
use alike::error::{Error, Result};
use alike::flow::{Outcome, Related};
use alike::peers::Peers;
use alike::progress::Progress;
use alike::scratch::Scratch;

use crate::cli::common::ChoiceArgs;
use crate::cli::common::CommitArgs;
use crate::cli::common::{MachineArgs, TalkArgs};
use crate::cluster::job::DistributedJob;
use crate::session::collection::{folder, open, open_with};
use crate::session::options::{Machine, clustering};
use crate::session::watched::watched;
use crate::terminal::reporter::Reporter;

/// Takes the documents of a collection in again, while progress is shown and Ctrl-C stops it.
pub(crate) fn again(
    at: &CommitArgs,
    choice: &QueryOverrides,
    pairs: bool,
    talk: &TalkArgs,
    machine: &MachineArgs,
    job: Option<&DistributedJob>,
) -> Result<Option<Outcome>> {
    let machine = Machine::new(machine)?;
    // Who leads works beside the collection; the others leave that folder alone.
    let leads = job.is_none_or(DistributedJob::leads);
    let scratch = if leads {
        Scratch::beside(&at.place.collection, &std::env::temp_dir())?
    } else {
        Scratch::apart(&std::env::temp_dir())?
    };
    let asked = |peers| RecomputeRequest {
        overrides: choice.clone(),
        pairs,
        resources: machine.resources(scratch.path(), peers),
    };
    let lead = |peers: Option<Arc<Peers>>, progress: &Arc<Progress>| {
        let snapshot = open_with(at, peers.as_deref())?;
        snapshot.recompute(asked(peers), Arc::clone(progress))
    };
    let Some(job) = job else { return watched(talk, |progress| lead(None, progress)).map(Some) };
    let assist = |peers: &Arc<Peers>, progress: &Arc<Progress>| {
        let own = asked(Some(Arc::clone(peers)));
        Snapshot::follow_recompute(&|| folder(&at.place.collection), own, peers, Arc::clone(progress))
    };
    let done = watched(talk, |progress| {
        job.work(machine.workers, progress, |peers| lead(peers, progress), |peers| assist(peers, progress))
    });
    job.print_profile(done)
}

/// Says what a cap on common keys does to the documents of a collection that are taken in again, of which keys were
/// ignored `now`. Nobody listening is no failure.
pub(crate) fn warn_of_cap(manifest: &Manifest, now: u64, talk: &TalkArgs) {
    let ever = manifest.counts.ignored_keys;
    if now + ever > 0 {
        Reporter::of_people(talk).warning(&format!(
            "keys in more texts than the cap allows were ignored, {now} now and {ever} by loads; these need not be the pairs \
             and clusters that the collection has"
        ));
    }
}

/// The same for one process, with how all pairs relate word by word.
pub(crate) fn again_related(
    at: &CommitArgs,
    choice: &QueryOverrides,
    talk: &TalkArgs,
    machine: &MachineArgs,
) -> Result<(Outcome, Related)> {
    let machine = Machine::new(machine)?;
    let scratch = Scratch::beside(&at.place.collection, &std::env::temp_dir())?;
    watched(talk, |progress| {
        let snapshot = open(at)?;
        let asked = RecomputeRequest {
            overrides: choice.clone(),
            pairs: true,
            resources: machine.resources(scratch.path(), None),
        };
        let (outcome, replay) = snapshot.recompute_with_origins(asked, Arc::clone(progress))?;
        let related = snapshot.related(&outcome, &replay)?;
        Ok((outcome, related))
    })
}

/// What was typed as a choice.
pub(crate) fn choice(args: &ChoiceArgs) -> Result<QueryOverrides> {
    Ok(QueryOverrides {
        threshold: args.threshold.as_deref().map(str::parse).transpose().map_err(Error::Config)?,
        keep: args.keep.as_deref().map(str::parse).transpose().map_err(Error::Config)?,
        clustering: args.clustering.map(clustering),
    })
}
