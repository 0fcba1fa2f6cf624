//! What the other processes have gathered, handed over to process 0, where links become clusters.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use timely::worker::Worker;

use super::Shared;
use super::catalogue::Doc;
use super::common::Common;
use super::dedup_exact::Copy;
use super::gathered::{Gathered, Tally};
use super::net::Change;
use super::noted::Remarks;
use super::shared::lock;
use super::trade::trade;
use super::work::SLICE;
use crate::read::Refused;

/// A piece of what a process has gathered.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum Piece {
    Copies(Vec<Copy>),
    Changes(Vec<Change>),
    /// A crowd, and the sizes of its stored members.
    Crowd(Vec<Doc>, Vec<(Doc, u32)>),
    Refused(Vec<Refused>),
    /// Lines of units, by number.
    Lines(Vec<(u64, u64)>),
    Counts(Box<Tally>, u64),
    Common(Common),
    Remarks(Remarks),
}

/// Hands over what this process has gathered, once all of its workers have. Links are in process 0 already.
pub fn hand_over(worker: &mut Worker, shared: &Arc<Shared>) {
    let gathered = match worker.index() == shared.crew.own().start && shared.crew.process() != 0 {
        true => std::mem::take(&mut *lock(&shared.gathered)),
        false => Gathered::default(),
    };
    let read = worker.index() == shared.crew.own().start && shared.crew.process() != 0;
    let pieces = pieces(shared, gathered, read).map(|piece| Ok(vec![piece]));
    let taking = Arc::clone(shared);
    trade(
        worker,
        shared,
        pieces,
        |_: &Piece| 0,
        move |pieces| {
            pieces.into_iter().for_each(|piece| taking.take_over(piece));
            Ok(())
        },
    );
}

fn pieces(shared: &Shared, gathered: Gathered, read: bool) -> impl Iterator<Item = Piece> {
    let Gathered { copies, crowds, refused, changes, superseded, tally, common, remarks, .. } = gathered;
    let lines = (0..).zip(&shared.unit_lines).map(|(unit, lines)| (unit, lines.load(Ordering::Relaxed)));
    let lines: Vec<(u64, u64)> = lines.filter(|(_, lines)| read && *lines > 0).collect();
    let stored = |crowd: &[Doc]| {
        let stored = crowd.iter().filter(|doc| shared.is_stored(**doc));
        stored.map(|doc| (*doc, shared.size(*doc))).collect::<Vec<_>>()
    };
    let counts = read.then(|| Piece::Counts(Box::new(tally), superseded as u64));
    slices(copies, Piece::Copies)
        .chain(slices(changes, Piece::Changes))
        .chain(slices(refused, Piece::Refused))
        .chain(slices(lines, Piece::Lines))
        .chain(crowds.into_iter().map(move |crowd| {
            let sizes = stored(&crowd);
            Piece::Crowd(crowd, sizes)
        }))
        .chain(counts)
        .chain((common.keys() > 0).then_some(Piece::Common(common)))
        .chain(read.then_some(Piece::Remarks(remarks)))
}

fn slices<T>(mut all: Vec<T>, piece: impl Fn(Vec<T>) -> Piece) -> impl Iterator<Item = Piece> {
    std::iter::from_fn(move || {
        let slice = all.split_off(all.len().saturating_sub(SLICE));
        (!slice.is_empty()).then(|| piece(slice))
    })
}

impl Shared {
    /// Takes a piece of what another process has gathered.
    fn take_over(&self, piece: Piece) {
        match piece {
            Piece::Copies(copies) => self.gather_copies(&copies),
            Piece::Changes(changes) => self.gather_changes(&changes, 0),
            Piece::Crowd(crowd, sizes) => {
                self.met_stored(sizes.into_iter());
                self.gather_crowds(vec![crowd]);
            }
            Piece::Refused(mut refused) => lock(&self.gathered).refused.append(&mut refused),
            Piece::Lines(lines) => {
                for (unit, lines) in lines {
                    self.unit_lines[unit as usize].store(lines, Ordering::Relaxed);
                }
            }
            Piece::Common(common) => lock(&self.gathered).common.add(&common),
            Piece::Remarks(remarks) => lock(&self.gathered).remarks.add(&remarks),
            Piece::Counts(tally, superseded) => {
                let mut gathered = lock(&self.gathered);
                gathered.tally.add(&tally);
                gathered.superseded += superseded as usize;
            }
        }
    }
}
