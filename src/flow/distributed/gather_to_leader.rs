//! What the other processes have gathered, sent to process 0, the leader, where links become clusters.

use std::sync::Arc;

use timely::worker::Worker;

use crate::document::Doc;
use crate::flow::distributed::exchange_all::exchange_all;
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::spill::SLICE;
use crate::flow::records::{Change, ExactDuplicate};
use crate::flow::results::common_keys::CommonKeys;
use crate::flow::results::gathered::{Collector, Gathered};
use crate::flow::results::hot_groups::HotGroup;
use crate::flow::results::tally::Tally;
use crate::flow::results::warnings::DocumentWarnings;
use crate::observed::Observed;
use crate::read::Refused;

/// A piece of what a process has gathered.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum GatheredPiece {
    Copies(Vec<ExactDuplicate>),
    Changes(Vec<Change>),
    SupersededDocs(Vec<Doc>),
    BroughtBack(Vec<Doc>),
    /// A hot group, and the sizes of its stored members.
    HotGroup(HotGroup, Vec<(Doc, u32)>),
    Refused(Vec<Refused>),
    /// Lines of units, by number.
    Lines(Vec<(u64, u64)>),
    Counts(Box<Tally>, u64),
    Common(CommonKeys),
    Warnings(DocumentWarnings),
    /// What a worker has noted, in pieces.
    Observed(Box<Observed>),
}

/// Sends what this process has gathered to process 0, once all of its workers have handed it in. Links are there already.
pub fn gather_to_leader(worker: &mut Worker, sets: &Arc<DocumentSets>, collector: &Arc<Collector>) {
    let topology = sets.context.topology;
    let sends = topology.process() != 0 && worker.index() == topology.local_workers().start;
    let pieces = sends.then(|| pieces(sets, collector.take_local())).into_iter().flatten();
    let (takes, taking) = (Arc::clone(collector), Arc::clone(sets));
    exchange_all(
        worker,
        &sets.context,
        pieces.map(|piece| Ok(vec![piece])),
        |_: &GatheredPiece| 0,
        move |pieces| {
            pieces.into_iter().for_each(|piece| take(&takes, &taking, piece));
            Ok(())
        },
    );
}

fn pieces(sets: &DocumentSets, gathered: Gathered) -> impl Iterator<Item = GatheredPiece> {
    let Gathered {
        copies, hot_groups, refused, changes, superseded, tally, common, warnings, observed, ..
    } = gathered;
    let (superseded_docs, brought_back) = (gathered.superseded_docs, gathered.brought_back);
    let lines: Vec<(u64, u64)> = sets.documents.inputs.units_read().collect();
    let stored = |hot_group: &HotGroup| {
        let stored = hot_group.docs().iter().filter(|doc| sets.is_stored(**doc));
        stored.map(|doc| (*doc, sets.size(*doc))).collect::<Vec<_>>()
    };
    slices(copies, GatheredPiece::Copies)
        .chain(slices(changes, GatheredPiece::Changes))
        .chain(slices(superseded_docs, GatheredPiece::SupersededDocs))
        .chain(slices(brought_back, GatheredPiece::BroughtBack))
        .chain(slices(refused, GatheredPiece::Refused))
        .chain(slices(lines, GatheredPiece::Lines))
        .chain(hot_groups.into_iter().map(move |hot_group| {
            let sizes = stored(&hot_group);
            GatheredPiece::HotGroup(hot_group, sizes)
        }))
        .chain([GatheredPiece::Counts(Box::new(tally), superseded as u64)])
        .chain((common.keys() > 0).then_some(GatheredPiece::Common(common)))
        .chain([GatheredPiece::Warnings(warnings)])
        .chain(
            observed
                .into_iter()
                .flat_map(Observed::pieces)
                .map(|piece| GatheredPiece::Observed(Box::new(piece))),
        )
}

fn slices<T>(
    mut all: Vec<T>,
    piece: impl Fn(Vec<T>) -> GatheredPiece,
) -> impl Iterator<Item = GatheredPiece> {
    std::iter::from_fn(move || {
        let slice = all.split_off(all.len().saturating_sub(SLICE));
        (!slice.is_empty()).then(|| piece(slice))
    })
}

/// Takes a piece of what another process has gathered.
fn take(collector: &Collector, sets: &DocumentSets, piece: GatheredPiece) {
    match piece {
        GatheredPiece::Copies(copies) => collector.add_copies(&copies),
        GatheredPiece::Changes(changes) => collector.add_changes(&changes, (0, Vec::new())),
        GatheredPiece::SupersededDocs(docs) => collector.add_changes(&[], (0, docs)),
        GatheredPiece::BroughtBack(docs) => collector.add_brought_back(&docs),
        GatheredPiece::HotGroup(hot_group, sizes) => {
            sets.record_stored_sizes(sizes.into_iter());
            collector.add_hot_groups(vec![hot_group]);
        }
        GatheredPiece::Refused(mut refused) => collector.add_refused(&mut refused),
        GatheredPiece::Lines(lines) => {
            let inputs = &sets.documents.inputs;
            lines.into_iter().for_each(|(unit, lines)| inputs.set_unit_lines(unit as usize, lines));
        }
        GatheredPiece::Common(common) => collector.add_common(&common),
        GatheredPiece::Warnings(warnings) => collector.add_warnings(&warnings),
        GatheredPiece::Observed(piece) => collector.add_observed(*piece),
        GatheredPiece::Counts(tally, superseded) => collector.add_counts(&tally, superseded as usize),
    }
}
