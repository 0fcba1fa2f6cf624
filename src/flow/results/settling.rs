//! What a process knows of settling a load, once all is found: which documents process 0 settles, and what that knows of them.

use std::sync::{Mutex, OnceLock};

use hashbrown::HashMap;

use crate::document::Doc;
use crate::flow::catalogue::rows::FarRow;
use crate::flow::results::settled_by_leader::{SettledByLeader, SettledPiece};
use crate::flow::status::lock;

/// What is known of settling in a process.
#[derive(Debug, Default)]
pub struct SettlingRows {
    settled: OnceLock<SettledByLeader>,
    told: Mutex<Told>,
    far: Mutex<HashMap<Doc, FarRow>>,
}

/// What process 0 has told so far.
#[derive(Debug, Default)]
struct Told {
    settled: SettledByLeader,
    named: Vec<Doc>,
}

impl SettlingRows {
    /// Which documents process 0 settles: known once the dataflows of a load have ended.
    pub fn settled(&self) -> &SettledByLeader {
        self.settled.get_or_init(|| std::mem::take(&mut lock(&self.told).settled))
    }

    /// Makes known, in process 0, which these are.
    pub fn publish(&self, settled: SettledByLeader) {
        let first = self.settled.set(settled).is_ok();
        debug_assert!(first, "it is found once");
    }

    /// Takes a piece of what process 0 tells, of documents from `base` on.
    pub fn take(&self, base: Doc, piece: SettledPiece) {
        lock(&self.told).settled.take(base, piece);
    }

    /// Takes documents that process 0 wants to know more of beside.
    pub fn add_named(&self, mut docs: Vec<Doc>) {
        lock(&self.told).named.append(&mut docs);
    }

    /// Documents that process 0 wants to know more of beside those that it settles.
    pub fn named(&self) -> Vec<Doc> {
        lock(&self.told).named.clone()
    }

    /// Takes what other processes know of documents, in process 0.
    pub fn add_far(&self, rows: Vec<FarRow>) {
        lock(&self.far).extend(rows.into_iter().map(|row| (row.doc, row)));
    }

    /// The documents of other processes, of which these have told.
    pub fn take_far(&self) -> HashMap<Doc, FarRow> {
        std::mem::take(&mut *lock(&self.far))
    }
}
