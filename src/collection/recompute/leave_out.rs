//! Which records of a load resemble protected documents: found before it by the dataflow of `dedup`, which then compares
//! nothing else.

use std::sync::Arc;

use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::commit::writer::Writer;
use crate::collection::distributed::protocol::{LeaderCommand, LeaveOutCommand};
use crate::collection::distributed::scattered::follower_storage;
use crate::collection::recompute::protected::{StoredDocuments, StoredSource};
use crate::config::{Cluster, Clustering, Config, JoinMeasure};
use crate::error::{Error, Result};
use crate::flow::{self, LeaveOut, Outcome, ProtectedSet, Request, run};
use crate::lexicon::Lexicon;
use crate::peers::Peers;
use crate::progress::Progress;
use crate::read::{Refusal, Refused, Source};
use crate::resources::Resources;
use crate::storage::{Local, Storage};

/// What the records of a load are held against before it.
pub struct LeaveOutRequest {
    /// Protected inputs, set after set, then the inputs of the load, in document order.
    pub sources: Vec<Source>,
    /// The sets.
    pub protected: Vec<ProtectedSet>,
    /// The collections among the protected inputs.
    pub stored: Vec<StoredSource>,
    /// What is held against the threshold, if that is not what the collection measures: of the method `join`.
    pub measure: Option<JoinMeasure>,
    /// The lexicon that the collection is made with, if its method needs one.
    pub lexicon: Option<Arc<Lexicon>>,
    /// What this process may use, and the processes that take part with [`crate::collection::follow`], if there are any.
    pub resources: Resources,
}

/// Holds the records of a load against protected documents, as the collection compares documents: those that protected
/// documents represent in the outcome are the ones to leave out ([`Outcome::left_out`]). Nothing is written.
///
/// # Errors
/// Those of [`run`], and of the stored documents; [`Error::Input`] of a record that the memory has no room for.
pub fn find_left_out(writer: &Writer, request: LeaveOutRequest, progress: &Arc<Progress>) -> Result<Outcome> {
    let LeaveOutRequest { sources, protected, stored, measure, lexicon, resources } = request;
    let target = writer.snapshot();
    if let Some(peers) = &resources.peers {
        let stored = stored.iter().map(|(file, snapshot)| (*file, snapshot.manifest().clone())).collect();
        let (sources, protected) = (Source::all_from_anywhere(&sources)?, protected.clone());
        let target = target.manifest().clone();
        let command = LeaveOutCommand { sources, protected, stored, target, measure };
        peers.broadcast(&LeaderCommand::LeaveOut(Box::new(command)))?;
    }
    let request = asked((sources, protected), (target, &stored), measure, resources, progress)?;
    let outcome = run(Request { lexicon, ..request }, Arc::clone(progress))?;
    // The load has more memory: what has no room here would be loaded, whatever it resembles.
    match outcome.refused.iter().find(|refused| matches!(refused.refusal, Refusal::NoRoom(_))) {
        None => Ok(outcome),
        Some(Refused { position, refusal, .. }) => {
            let source = &outcome.run.documents.inputs.sources[position.file() as usize];
            let what = format!("a record that is held against others {refusal}");
            Err(Error::input(&source.path, what))
        }
    }
}

/// Takes part in it.
pub(in crate::collection) fn follow_left_out(
    command: LeaveOutCommand,
    storage: &dyn Fn() -> Result<Arc<dyn Storage>>,
    resources: &Resources,
    peers: &Arc<Peers>,
    progress: &Arc<Progress>,
) -> Result<()> {
    let LeaveOutCommand { sources, protected, stored, target, measure } = command;
    // Process 0 may only just have made the folder.
    let target = Snapshot::ahead_of(&follower_storage(target.collection, peers, storage)?, target)?;
    let open = |(file, manifest): (u32, Manifest)| -> Result<StoredSource> {
        let folder: Arc<dyn Storage> = Arc::new(Local::open(&sources[file as usize].path)?);
        Ok((file, Snapshot::ahead_of(&folder, manifest)?))
    };
    let stored = stored.into_iter().map(open).collect::<Result<Vec<_>>>()?;
    let resources = Resources { peers: Some(Arc::clone(peers)), ..resources.clone() };
    let request = asked((sources, protected), (&target, &stored), measure, resources, progress)?;
    flow::assist(request, Arc::clone(progress)).map(drop)
}

/// What the dataflow is asked for.
fn asked(
    (sources, protected): (Vec<Source>, Vec<ProtectedSet>),
    (target, stored): (&Snapshot, &[StoredSource]),
    measure: Option<JoinMeasure>,
    mut resources: Resources,
    progress: &Progress,
) -> Result<Request> {
    let StoredDocuments { replays, tables } = StoredDocuments::read(stored, &mut resources, progress)?;
    // With a guarantee a protected document, which comes first, represents each record that it is linked to, and no other.
    let cluster = Cluster { clustering: Clustering::Guarantee, ..Cluster::default() };
    let mut config = Config { cluster, ..target.manifest().config.clone() };
    config.join.measure = measure.unwrap_or(config.join.measure);
    Ok(Request {
        protected,
        replays,
        leave_out: LeaveOut::Find,
        frozen_tables: target.frozen_tables()?.or(tables),
        ..Request::new(sources, config, resources)
    })
}
