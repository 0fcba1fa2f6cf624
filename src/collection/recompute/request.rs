//! What is asked of the dataflow where stored documents are taken in again, alone or to be met by others.

use std::sync::Arc;

use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::distributed::scattered::follower_storage;
use crate::collection::recompute::overrides::{QueryOverrides, overridden};
use crate::collection::recompute::replay::{Replay, left};
use crate::collection::tables::frozen::frozen;
use crate::error::Result;
use crate::flow::{self, Outcome, Request, run};
use crate::method::FrozenTables;
use crate::peers::Peers;
use crate::progress::Progress;
use crate::resources::Resources;
use crate::sketcher::Digest;
use crate::storage::Storage;

/// What is held of stored documents, as people are told.
const DOCUMENTS_HELD: &str = "the documents";

/// Looking again at the documents of a collection: what is asked, and with what.
#[derive(Clone)]
pub struct RecomputeRequest {
    /// What differs from the collection's configuration.
    pub overrides: QueryOverrides,
    /// Whether every accepted pair is wanted.
    pub pairs: bool,
    /// What may be used, what is held of the documents included, and the processes that look again at the same commit.
    pub resources: Resources,
}

impl Snapshot {
    /// The live documents, to hold others against in a run with these resources, of whose memory they take a part.
    ///
    /// # Errors
    /// [`crate::error::Error::Unreachable`] if processes keep parts of the collection to themselves; [`crate::error::Error::Limit`] if the documents do not fit in
    /// memory; [`crate::error::Error::Interrupted`]; [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn protected(
        &self,
        resources: &mut Resources,
        progress: &Progress,
    ) -> Result<Arc<dyn flow::ReplayedDocuments>> {
        self.check_within_reach()?;
        let each = Replay::EACH_DOCUMENT + Replay::EACH_TEXT + size_of::<Digest>() as u64;
        left(
            resources.memory,
            self.manifest().counts.documents.saturating_mul(each),
            resources.workers,
            DOCUMENTS_HELD,
        )?;
        let mut replay = Replay::of(self, progress)?.with_digests()?;
        resources.memory = left(resources.memory, replay.held(), resources.workers, DOCUMENTS_HELD)?;
        resources.memory = replay.keep_blocks_within(resources.memory, resources.workers);
        Ok(Arc::new(replay))
    }

    /// The tables that the collection was created with, or that a full compaction has made since; `None` if nothing was ever loaded into it.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn frozen_tables(&self) -> Result<Option<Arc<FrozenTables>>> {
        frozen(&self.tables())
    }

    /// Finds the near-duplicates among the live documents anew, by their stored sets: what [`run`] finds on files that
    /// have the same documents in document order. Nothing is stored.
    ///
    /// # Errors
    /// [`crate::error::Error::Config`] if the choice cannot be made ([`crate::collection::overridden`]); [`crate::error::Error::Limit`] if the documents do not fit in
    /// memory; [`crate::error::Error::Interrupted`]; [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn recompute(&self, asked: RecomputeRequest, progress: Arc<Progress>) -> Result<Outcome> {
        self.recompute_with_origins(asked, progress).map(|(outcome, _)| outcome)
    }

    /// The same, and the documents: the offset of a document's position in the outcome is its number among them.
    ///
    /// # Errors
    /// Those of [`Snapshot::recompute`].
    pub fn recompute_with_origins(
        &self,
        asked: RecomputeRequest,
        progress: Arc<Progress>,
    ) -> Result<(Outcome, Arc<Replay>)> {
        if let Some(peers) = &asked.resources.peers {
            peers.broadcast(self.manifest())?;
        }
        let (request, replay) = self.request(asked, &progress)?;
        Ok((run(request, progress)?, replay))
    }

    /// Takes part where process 0 looks [`Snapshot::recompute`] at the collection in `storage`, asking the same.
    ///
    /// # Errors
    /// Those of [`Snapshot::recompute`]; [`crate::error::Error::Lost`] and [`crate::error::Error::GaveUp`] if another process has ended.
    pub fn follow_recompute(
        storage: &dyn Fn() -> Result<Arc<dyn Storage>>,
        asked: RecomputeRequest,
        peers: &Arc<Peers>,
        progress: Arc<Progress>,
    ) -> Result<()> {
        let manifest: Manifest = peers.receive()?;
        let snapshot = Snapshot::ahead_of(&follower_storage(manifest.collection, peers, storage)?, manifest)?;
        let (request, _) = snapshot.request(asked, &progress)?;
        flow::assist(request, progress).map(drop)
    }

    /// What is asked of the dataflow, and the documents.
    fn request(&self, asked: RecomputeRequest, progress: &Arc<Progress>) -> Result<(Request, Arc<Replay>)> {
        let config = overridden(&self.manifest().config, &asked.overrides)?;
        let rows = self.manifest().counts.documents.saturating_mul(Replay::EACH_DOCUMENT);
        left(asked.resources.memory, rows, asked.resources.workers, DOCUMENTS_HELD)?;
        let mut replay = Replay::of(self, progress)?;
        let memory = left(asked.resources.memory, replay.held(), asked.resources.workers, DOCUMENTS_HELD)?;
        let memory = replay.keep_blocks_within(memory, asked.resources.workers);
        let replay = Arc::new(replay);
        let request = Request {
            pairs: asked.pairs,
            frozen_tables: frozen(&self.tables())?,
            replays: vec![(0, Arc::clone(&replay) as Arc<dyn flow::ReplayedDocuments>)],
            ..Request::new(Vec::new(), config, Resources { memory, ..asked.resources })
        };
        Ok((request, replay))
    }
}
