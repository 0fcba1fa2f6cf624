//! What the processes of a load tell each other once all is found: process 0 which documents it settles, and the others what
//! they know of these.

use std::sync::Arc;

use timely::worker::Worker;

use crate::document::Doc;
use crate::error::Result;
use crate::flow::catalogue::rows::FarRow;
use crate::flow::distributed::exchange_all::exchange_all;
use crate::flow::memory::spill::SLICE;
use crate::flow::results::settled_by_leader::{SettledByLeader, SettledPiece};
use crate::flow::run::RunParts;

/// What process 0 tells another one.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum ToldPiece {
    Settled(SettledPiece),
    /// Documents that a user is told of by name.
    Named(Vec<Doc>),
    /// Lines of units, by number.
    Lines(Vec<(u64, u64)>),
}

/// Tells all processes what process 0 settles, and process 0 what the others know of that. Every worker of every process calls it
/// once process 0 has all that was gathered.
pub fn share_settling(worker: &mut Worker, run: &Arc<RunParts>) {
    let (context, topology) = (&run.context, run.context.topology);
    let catalogue = &run.documents.catalogue;
    let leads = worker.index() == 0;
    let pieces = if leads { pieces(run) } else { Vec::new() };
    let told = topology.others().filter(|_| leads).flat_map(|process| {
        let to = topology.first_of(process) as u32;
        pieces.iter().map(move |piece| Ok(vec![(to, piece.clone())]))
    });
    let taking = Arc::clone(run);
    exchange_all(
        worker,
        context,
        told,
        |(to, _): &(u32, ToldPiece)| u64::from(*to),
        move |pieces| {
            pieces.into_iter().for_each(|(_, piece)| take(&taking, piece));
            Ok(())
        },
    );
    if context.status.failed() {
        return;
    }
    let named = run.settling.named();
    let settled = run.settling.settled();
    let sends = topology.process() != 0;
    let own = worker.index();
    let docs = catalogue
        .docs_of(own)
        .filter(|_| sends)
        .filter(|doc| settled.has_document(*doc) || named.contains(doc));
    let rows = slices(docs.map(|doc| catalogue.far_row(doc)));
    let taking = Arc::clone(run);
    exchange_all(
        worker,
        context,
        rows,
        |_: &FarRow| 0,
        move |rows| {
            taking.settling.add_far(rows);
            Ok(())
        },
    );
}

/// What process 0 tells, which it finds.
fn pieces(run: &RunParts) -> Vec<ToldPiece> {
    let catalogue = &run.documents.catalogue;
    let (base, limit) = (catalogue.base(), catalogue.doc_limit());
    let (settled, named) = run
        .collector
        .look(|gathered| (SettledByLeader::of(gathered, base, limit), gathered.warnings.docs().collect()));
    let mut pieces: Vec<ToldPiece> = settled.pieces().into_iter().map(ToldPiece::Settled).collect();
    run.settling.publish(settled);
    let lines: Vec<(u64, u64)> = run.documents.inputs.units_read().collect();
    pieces.push(ToldPiece::Named(named));
    pieces.extend(lines.chunks(SLICE).map(|some| ToldPiece::Lines(some.to_vec())));
    pieces
}

/// Takes what process 0 tells.
fn take(run: &RunParts, piece: ToldPiece) {
    match piece {
        ToldPiece::Settled(piece) => {
            let base = run.documents.catalogue.base();
            run.settling.take(base, piece);
        }
        ToldPiece::Named(docs) => run.settling.add_named(docs),
        ToldPiece::Lines(lines) => {
            let inputs = &run.documents.inputs;
            lines.into_iter().for_each(|(unit, lines)| inputs.set_unit_lines(unit as usize, lines));
        }
    }
}

/// Values in slices, an error as the last one.
fn slices<T>(mut values: impl Iterator<Item = Result<T>>) -> impl Iterator<Item = Result<Vec<T>>> {
    std::iter::from_fn(move || {
        let slice: Result<Vec<T>> = values.by_ref().take(SLICE).collect();
        match slice {
            Ok(slice) if slice.is_empty() => None,
            slice => Some(slice),
        }
    })
}
