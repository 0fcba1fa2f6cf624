//! What is known of an object: its size and version, and what a reader of it may take.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::spool::{ObjectSpool, SpooledBlocks};
use super::url::ObjectUrl;

/// An object as it was found.
#[derive(Clone, Debug)]
pub struct ListedObject {
    /// Its URL.
    pub url: ObjectUrl,
    /// What is known of it.
    pub state: ObjectState,
}

/// What is known of an object since it was looked at first, and what whoever reads it may take.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ObjectState {
    /// Its size.
    pub bytes: u64,
    /// What changes when it does, if the store tells.
    pub version: Option<String>,
    /// Bytes that a reader may have under way and in hand; 0 as long as it is only looked at.
    pub ahead: u64,
    /// What was fetched of it.
    #[serde(skip)]
    pub(super) blocks: SpooledBlocks,
    /// Who may stop its reader.
    #[serde(skip)]
    pub stop: StopFlag,
}

impl ObjectState {
    /// Has what is fetched kept in a spool, unless it is already.
    pub fn spooled_in(&mut self, spool: &Arc<ObjectSpool>) {
        if !self.blocks.is_some() {
            self.blocks = SpooledBlocks::new(spool);
        }
    }

    /// Whether what is fetched is kept in a spool.
    pub fn is_spooled(&self) -> bool {
        self.blocks.is_some()
    }

    /// The same for a reader that may have so many bytes under way and in hand.
    pub fn with_room(self, ahead: u64) -> ObjectState {
        ObjectState { ahead, ..self }
    }
}

/// A file that becomes an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputObject {
    /// The file.
    pub path: PathBuf,
    /// The key of the object below that of the output: names joined by `/`.
    pub name: String,
    /// Bytes of the file.
    pub bytes: u64,
}

/// How much a process has fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fetched {
    /// Requests for bytes.
    pub requests: u64,
    /// The bytes.
    pub bytes: u64,
}

/// What a run is stopped by. It says nothing of an object, so any two are equal.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Option<Arc<AtomicBool>>);

impl StopFlag {
    /// What is set when everything is to stop.
    pub fn new(flag: Arc<AtomicBool>) -> StopFlag {
        StopFlag(Some(flag))
    }

    /// Whether it is set.
    #[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "nobody waits"))]
    pub(super) fn is_set(&self) -> bool {
        self.0.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl PartialEq for StopFlag {
    fn eq(&self, _: &StopFlag) -> bool {
        true
    }
}

impl Eq for StopFlag {}
