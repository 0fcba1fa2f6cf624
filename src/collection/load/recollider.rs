//! Colliding stored contents again: which other contents each is linked to, or how all of them hang together.

use std::sync::Arc;

use crate::collection::load::load_base::LoadBase;
use crate::collection::load::parts::{Others, Recollide};
use crate::collection::query::met::AskedSet;
use crate::collection::query::resembling::Resembling;
use crate::collection::recompute::replay::Replay;
use crate::collection::tables::Tables;
use crate::collection::tables::sets::{SetCursor, read_set, salts};
use crate::config::{Clustering, Criterion};
use crate::document::Doc;
use crate::error::{Error, Result};
use crate::flow::{Candidate, HotGroup, Loaded, Reason, Removed, ReplayedDocuments as _, Request, run};
use crate::limits::{BASE_MEMORY, WORKER_MEMORY};
use crate::progress::Progress;
use crate::resources::Resources;

/// Looks again at contents that seem to have come apart.
pub(in crate::collection) struct Recollider<'a> {
    tables: &'a Tables,
    loaded: &'a Loaded,
    resembling: Resembling,
    progress: &'a Progress,
    cursor: SetCursor,
    set: Vec<u64>,
}

impl<'a> Recollider<'a> {
    /// Looks among the contents of `base`, with what `loaded` was found with.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`].
    pub(in crate::collection) fn new(base: &'a LoadBase, loaded: &'a Loaded) -> Result<Recollider<'a>> {
        let (tables, run) = (base.tables(), &loaded.run);
        let dead = Arc::clone(base.dead()?);
        let resembling = Resembling::beside(tables, dead, &run.context.config, &run.context.frozen_tables);
        let progress = &run.context.status.progress;
        Ok(Recollider { tables, loaded, resembling, progress, cursor: SetCursor::default(), set: Vec::new() })
    }

    /// Bytes of memory that a run on so many contents may share out, `held` bytes being taken by what the load changes; nothing
    /// if there is no bound. The load holds its rows and links by then, and what it knows of ids and dead contents: see [`crate::flow::Budget`].
    fn room(&self, held: u64) -> Option<u64> {
        let context = &self.loaded.run.context;
        let bytes = context.memory.budget.bytes()?;
        let base = BASE_MEMORY + WORKER_MEMORY * context.topology.workers() as u64;
        let hot_members: usize = self.loaded.hot_groups.iter().map(HotGroup::len).sum();
        let links = self.loaded.links.len() * size_of::<Candidate>() + hot_members * size_of::<(Doc, u32)>();
        let taken = self.loaded.run.documents.catalogue.bytes() + links as u64 + held;
        Some((bytes.saturating_sub(base) / 100 * FREE).saturating_sub(taken))
    }

    /// What a run on stored contents is asked for: how they hang together, whatever has been made of clusters, by this process
    /// alone.
    fn request(&self, replay: &Arc<Replay>, memory: Option<u64>) -> Request {
        let context = &self.loaded.run.context;
        let mut config = context.config.clone();
        config.count.common_cap = 0;
        (config.cluster.clustering, config.cluster.keep) = (Clustering::Transitive, Criterion::First.into());
        let resources = Resources {
            workers: context.topology.workers(),
            memory,
            simd: context.simd,
            scratch: context.memory.scratch.clone(),
            peers: None,
        };
        Request {
            replays: vec![(0, Arc::clone(replay) as _)],
            frozen_tables: Some(Arc::clone(&context.frozen_tables)),
            ..Request::new(Vec::new(), config, resources)
        }
    }
}

/// Hundredths of the memory that are neither set aside for what a load knows beside its shares, nor for the sets that it still holds, nor
/// for what is not counted.
const FREE: u64 = 46;

impl Recollide for Recollider<'_> {
    fn linked(&mut self, content: Doc, others: Others<'_>) -> Result<Vec<(Doc, u32)>> {
        read_set(self.tables, &mut self.cursor, content, &mut self.set)?;
        let salt = salts(self.tables, &[u64::from(content)])?[0];
        let asked = AskedSet { words: &self.set, salt };
        let linked = match others {
            Others::Few(few) => self.resembling.among(asked, few, self.progress)?,
            Others::Many(are) => self.resembling.to(&[asked], are, self.progress)?.concat(),
        };
        Ok(linked.into_iter().map(|(other, measure)| (other, measure.shared)).collect())
    }

    fn met(&self) -> u64 {
        self.resembling.postings_read()
    }

    /// Takes the contents in again, and lets them collide as those of a run do: it has hot groups and the second collision for
    /// what very many share. The way from each content to the one that is kept is made of links.
    fn all(&mut self, contents: &[Doc], held: u64) -> Result<Option<Vec<(Doc, Doc)>>> {
        self.progress.check()?;
        let room = self.room(held);
        if room.is_some_and(|room| room < Replay::bytes_of(contents.len())) {
            return Ok(None);
        }
        let replay = Arc::new(Replay::of_contents(self.tables, contents)?);
        let context = &self.loaded.run.context;
        let base = BASE_MEMORY + WORKER_MEMORY * context.topology.workers() as u64;
        let memory = room.map(|room| base + room.saturating_sub(replay.held()));
        let outcome = match run(self.request(&replay, memory), Arc::new(self.progress.aside())) {
            Err(Error::Limit(_)) => return Ok(None),
            outcome => outcome?,
        };
        let content = |doc: Doc| {
            let at = outcome.run.documents.catalogue.position(doc).offset() as usize;
            replay.document(at).content
        };
        let link = |row: &Removed| {
            let next = if row.reason == Reason::Linked { row.parent } else { Some(row.representative) };
            next.map(|next| (content(row.doc), content(next)))
        };
        Ok(Some(outcome.findings.removed.iter().filter_map(link).collect()))
    }
}
