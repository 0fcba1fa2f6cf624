//! What must hold, whatever has happened: that of `model/README.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::collection::commit::names::Name;
use crate::collection::commit::snapshot::{newest, read_if_there};
use crate::collection::run::schema::DOCUMENTS;
use crate::collection::tables::document::Document;
use crate::collection::*;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::storage::{FileWriter, Lock, Reader, Simulated, Storage};

/// Both machines as somebody sees them who sees all. It is only read.
#[derive(Debug)]
struct Pool([Simulated; 2]);

impl Storage for Pool {
    fn names(&self) -> io::Result<Vec<String>> {
        self.0[0].names()
    }

    fn create(&self, _: &str) -> io::Result<Box<dyn FileWriter>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        self.0[0].open(name).or_else(|_| self.0[1].open(name))
    }

    fn link(&self, _: &str, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove(&self, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync_names(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        Ok(None)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0[0].path(name)
    }
}

/// What a collection holds, whoever has loaded it in which order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Held {
    documents: BTreeMap<u128, u128>,
    clusters: BTreeSet<Vec<String>>,
}

/// What a commit holds.
pub(super) fn held(snapshot: &Snapshot) -> Result<Held> {
    let (mut documents, mut clusters) = (BTreeMap::new(), BTreeSet::new());
    let tables = snapshot.tables();
    let mut rows = tables.scan(DOCUMENTS);
    while let Some(row) = rows.next_row()? {
        let document = Document::of_row(row);
        if document.live {
            documents.insert(document.id, document.fingerprint);
        }
    }
    snapshot.clusters(&mut |cluster| {
        clusters.insert(cluster.members);
        Ok(())
    })?;
    Ok(Held { documents, clusters })
}

/// The commits of a folder that must be whole, and what is left of a load that can be resumed.
fn kept(storage: &dyn Storage) -> Result<Vec<(&'static str, Manifest)>> {
    let last = Manifest::read(storage, newest(storage)?)?;
    let mut kept = Vec::new();
    for commit in last.first_kept()..last.commit {
        kept.extend(read_if_there(storage, commit)?.map(|before| ("a commit before", before)));
    }
    let pending = Checkpoint::newest(storage, &last)?.map(|pending| ("what is left of a load", pending.next));
    kept.extend(pending);
    kept.push(("the last commit", last));
    Ok(kept)
}

/// A run that is named by what must be whole, and is not there.
pub(super) fn named_and_gone(leaders: &Simulated, followers: &Simulated) -> Option<String> {
    let all = match kept(leaders) {
        Ok(all) => all,
        Err(error) => return Some(error.to_string()),
    };
    let names = [leaders, followers].map(|folder| folder.names().expect("names"));
    let is_gone = |run: &&RunEntry| {
        let name = run.name().to_string();
        !names[usize::from(run.keeper.is_some())].contains(&name)
    };
    all.into_iter().find_map(|(what, manifest)| {
        let gone = manifest.runs.iter().find(is_gone)?;
        Some(format!("{what} ({}) has lost {}", manifest.commit, gone.name()))
    })
}

/// What is found on both machines.
pub(super) struct Found {
    pub(super) commit: u64,
    pub(super) held: Held,
}

/// Reads all of what must be whole. What was acknowledged must be there.
///
/// # Errors
/// What is wrong.
pub(super) fn find(
    folders: &[Simulated; 2],
    acknowledged: &[(u64, Vec<u8>)],
) -> std::result::Result<Found, String> {
    let pool: Arc<dyn Storage> = Arc::new(Pool(folders.clone()));
    let told = |what: &'static str| move |error: Error| format!("{what}: {error}");
    for (what, manifest) in kept(&*pool).map_err(told("what is kept"))? {
        let snapshot = Snapshot::ahead_of(&pool, manifest).map_err(told(what))?;
        snapshot.runs().iter().try_for_each(|run| run.verify()).map_err(told(what))?;
    }
    let snapshot = Snapshot::open(&pool).map_err(told("opening"))?;
    let mut findings = Vec::new();
    fsck(&snapshot, &Progress::default(), &mut |finding| findings.push(format!("{finding:?}")))
        .map_err(told("fsck"))?;
    if !findings.is_empty() {
        return Err(format!("fsck finds {findings:?}"));
    }
    let commit = snapshot.manifest().commit;
    check_acknowledged(&folders[0], commit, acknowledged)?;
    Ok(Found { commit, held: held(&snapshot).map_err(told("reading"))? })
}

/// Whether what was acknowledged is there, or was followed by a later commit; and whether each commit was one.
fn check_acknowledged(
    folder: &Simulated,
    newest: u64,
    acknowledged: &[(u64, Vec<u8>)],
) -> std::result::Result<(), String> {
    for (commit, bytes) in acknowledged {
        let twice = acknowledged.iter().any(|(other, others)| other == commit && others != bytes);
        let gone = match folder.contents(&Name::Manifest(*commit).to_string()) {
            Ok(found) => found != *bytes,
            Err(_) => *commit >= newest,
        };
        if twice || gone {
            return Err(format!("commit {commit} was acknowledged, and another one is there or none"));
        }
    }
    Ok(())
}

/// A local run that is named by neither the last commit nor one before it that stays, and is there all the same.
pub(super) fn unnamed(folders: &[Simulated; 2]) -> Option<String> {
    let all = kept(&folders[0]).expect("manifests");
    let names = folders[1].names().expect("names");
    names.into_iter().find(|name| match Name::parse(name) {
        Some(name @ Name::Kept(..)) => !all.iter().any(|(_, manifest)| manifest.names(name)),
        _ => false,
    })
}
