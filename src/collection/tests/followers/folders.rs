//! A folder in memory as a process sees it: what it does there has its turn.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::stage::Stage;
use crate::storage::places::Place;
use crate::storage::{FileWriter, Lock, Reader, Simulated, Storage};

/// The folder of a machine, in the hands of a process that runs on it.
pub(super) struct Folder {
    pub(super) stage: Arc<Stage>,
    pub(super) party: usize,
    pub(super) folder: Simulated,
}

impl Folder {
    fn pass(&self, what: &str, name: &str) -> io::Result<()> {
        self.stage.pass(self.party, &format!("{what} {name}"))
    }
}

impl std::fmt::Debug for Folder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Folder").field("party", &self.party).finish_non_exhaustive()
    }
}

/// As a path leads there. Making what is there changes nothing, and has no turn.
pub(super) struct Way(pub(super) Arc<Folder>);

impl Place for Way {
    fn is_there(&self) -> bool {
        self.0.stage.is_made(self.0.party)
    }

    fn make(&self) -> io::Result<()> {
        if self.is_there() {
            return Ok(());
        }
        self.0.pass("make", "the folder")?;
        self.0.stage.make(self.0.party);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        if self.0.stage.is_durable(self.0.party) {
            return Ok(());
        }
        self.0.pass("sync", "the name of the folder")?;
        self.0.stage.make_durable(self.0.party);
        Ok(())
    }

    fn folder(&self) -> Arc<dyn Storage> {
        Arc::clone(&self.0) as Arc<dyn Storage>
    }
}

impl Storage for Folder {
    fn names(&self) -> io::Result<Vec<String>> {
        self.pass("list", "")?;
        self.folder.names()
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn FileWriter>> {
        self.pass("create", name)?;
        let writer = self.folder.create(name)?;
        self.stage.created(self.party, name);
        let (stage, party, name) = (Arc::clone(&self.stage), self.party, name.to_owned());
        Ok(Box::new(Writing { stage, party, name, writer }))
    }

    /// Reading has no turns: what is open stays what it is.
    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        self.stage.pass_opening(self.party, name)?;
        self.folder.open(name)
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.pass("link", to)?;
        self.folder.link(from, to)?;
        self.stage.linked(self.party, to);
        self.stage.check_names(self.party, to);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.pass("remove", name)?;
        self.folder.remove(name)?;
        self.stage.check_names(self.party, &format!("remove {name}"));
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        self.pass("sync names", "")?;
        self.folder.sync_names()?;
        self.stage.synced(self.party);
        Ok(())
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        self.pass("lock", "")?;
        let (stage, party) = (Arc::clone(&self.stage), self.party);
        Ok(stage.lock(party).then(|| Box::new(Locked { stage, party }) as Box<dyn Lock>))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }
}

/// A file that is written. Its bytes may arrive at any time before they are synced.
#[derive(Debug)]
struct Writing {
    stage: Arc<Stage>,
    party: usize,
    name: String,
    writer: Box<dyn FileWriter>,
}

impl FileWriter for Writing {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.stage.pass(self.party, &format!("sync {}", self.name))?;
        self.writer.sync()
    }
}

#[derive(Debug)]
struct Locked {
    stage: Arc<Stage>,
    party: usize,
}

impl Lock for Locked {}

impl Drop for Locked {
    fn drop(&mut self) {
        self.stage.unlock(self.party);
    }
}
