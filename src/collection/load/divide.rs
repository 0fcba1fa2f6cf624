//! Components divided with a guarantee: what `dedup` makes of their documents, each component for itself.
//!
//! A part of a collection gives the answer of the whole as long as it is made of whole components. Whether two contents
//! are linked depends on these two alone: a cap on common keys says which contents meet in a load, and not what is linked
//! within a component. A content joins the first content before it, in keep order, that it is linked to and that
//! represents others or itself, so it looks at contents of its own component only; and a part keeps their order. A
//! content stands in that order where its best document does. So that one is enough: documents of one text are always
//! together, and never decide anything else.
//!
//! Without the cap contents of two components may be linked, too: such components are divided each for itself.
//!
//! Documents are in the order of the loads that first brought them, then of ids: the order in which a one-shot run has to
//! read them for the same clusters.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::collection::load::clusters::diff_clusters::Divide;
use crate::collection::load::prepare::Batch;
use crate::collection::recompute::replay::Replay;
use crate::collection::tables::Tables;
use crate::collection::tables::components::Members;
use crate::collection::tables::lookup::members;
use crate::collection::tables::member::{Member, keep_order};
use crate::collection::tables::sets::missing;
use crate::config::Config;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{Outcome, ReplayedDocuments as _, Request, run};
use crate::limits::sized;
use crate::method::FrozenTables;
use crate::progress::{Progress, Stage};
use crate::resources::Resources;

/// Contents that are taken in at once, unless one component alone has more.
const BATCH: usize = sized(1 << 16, 5);

/// Divides components by taking in their documents again, by their stored sets.
pub(in crate::collection) struct Guarantee {
    config: Config,
    /// Whether loads ignore common keys.
    capped: bool,
    /// Without other processes: what a load divides is little, and is at hand where clusters are formed.
    resources: Resources,
    frozen_tables: Option<Arc<FrozenTables>>,
    progress: Arc<Progress>,
    /// Contents of a run: [`BATCH`], but for tests.
    most: usize,
}

impl Guarantee {
    /// What divides the components of a collection with this configuration and frozen order of shingles, with what a load
    /// may use.
    pub(in crate::collection) fn new(
        config: &Config,
        frozen_tables: Option<&Arc<FrozenTables>>,
        batch: &Batch,
        progress: &Arc<Progress>,
    ) -> Guarantee {
        let capped = config.cap() > 0;
        let mut config = config.clone();
        config.count.common_cap = 0;
        Guarantee {
            config,
            capped,
            resources: Resources { peers: None, ..batch.resources.clone() },
            frozen_tables: frozen_tables.cloned(),
            progress: Arc::clone(progress),
            most: BATCH,
        }
    }

    /// The clusters of whole components: for each content of one the least content of it. A content that stands alone is
    /// not among them.
    fn least(&self, tables: &Tables, contents: &[Doc], least: &mut HashMap<Doc, Doc>) -> Result<()> {
        let best = self.best(tables, contents)?;
        let replay = Arc::new(Replay::new(tables, &best)?);
        let outcome = self.run(Arc::clone(&replay))?;
        let content = |doc: &Doc| {
            let at = outcome.run.documents.catalogue.position(*doc).offset() as usize;
            replay.document(at).content
        };
        for cluster in &outcome.findings.clusters {
            let contents: Vec<Doc> = cluster.members.iter().map(content).collect();
            let first = contents.iter().copied().min();
            least.extend(contents.iter().copied().zip(first.into_iter().cycle()));
        }
        Ok(())
    }

    /// Divides each component for itself that has a cluster in common with another one.
    fn part(&self, tables: &Tables, components: &[&Vec<Doc>], least: &mut HashMap<Doc, Doc>) -> Result<()> {
        let each =
            (0..).zip(components).flat_map(|(at, component)| component.iter().map(move |doc| (*doc, at)));
        let component: HashMap<Doc, usize> = each.collect();
        let mut mixed: Vec<usize> = Vec::new();
        for (content, first) in least.iter() {
            let ends = [component[content], component[first]];
            if ends[0] != ends[1] {
                mixed.extend(ends);
            }
        }
        mixed.sort_unstable();
        mixed.dedup();
        for at in mixed {
            least.retain(|content, _| component[content] != at);
            self.least(tables, components[at], least)?;
        }
        Ok(())
    }

    /// Of each content the document that is kept before its others.
    fn best(&self, tables: &Tables, contents: &[Doc]) -> Result<Vec<Member>> {
        let keep = &self.config.cluster.keep;
        let mut documents = members(tables, contents.iter().copied())?;
        let best = |content: &Doc| {
            let of_content = documents.remove(content).unwrap_or_default();
            let best = of_content.into_iter().min_by(|a, b| keep_order(keep, a, b));
            best.ok_or_else(|| missing(tables, *content))
        };
        contents.iter().map(best).collect()
    }

    fn run(&self, replay: Arc<Replay>) -> Result<Outcome> {
        let request = Request {
            replays: vec![(0, replay as _)],
            frozen_tables: self.frozen_tables.clone(),
            ..Request::new(Vec::new(), self.config.clone(), self.resources.clone())
        };
        run(request, Arc::new(self.progress.aside()))
    }
}

impl Divide for Guarantee {
    /// The cluster with the least content of its component is at place 0, where rows put a content before anything else is
    /// known of it: most components are one content, and need no further row. Every other cluster is at the place of its
    /// least content. So a cluster that a load leaves alone mostly stays where it was, and its rows are not written again.
    fn divide(&mut self, after: &Tables, components: &Members) -> Result<HashMap<Doc, u32>> {
        let several: Vec<&Vec<Doc>> = components.values().filter(|contents| contents.len() > 1).collect();
        self.progress.enter(Stage::Cluster, several.iter().map(|contents| contents.len() as u64).sum());
        let (mut places, mut from) = (HashMap::new(), 0);
        while from < several.len() {
            self.progress.check()?;
            let (mut to, mut contents) = (from, Vec::new());
            while to < several.len() && (to == from || contents.len() + several[to].len() <= self.most) {
                contents.extend_from_slice(several[to]);
                to += 1;
            }
            let mut least = HashMap::new();
            self.least(after, &contents, &mut least)?;
            if self.capped {
                self.part(after, &several[from..to], &mut least)?;
            }
            for component in &several[from..to] {
                let first = component.iter().min();
                let place = component.iter().map(|doc| (*doc, *least.get(doc).unwrap_or(doc)));
                places.extend(place.filter(|(_, place)| Some(place) != first));
            }
            self.progress.advance(contents.len() as u64);
            from = to;
        }
        Ok(places)
    }
}

#[cfg(test)]
#[path = "divide_tests.rs"]
mod tests;
