//! A folder that stays as it is, whatever is written to it: what is new goes to another one.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{FileWriter, Local, Lock, Reader, Storage, check};
use crate::error::{Error, Result};

/// What would become of a folder, for trying out what is not to be done. It is a reader of the folder beneath: it takes
/// no lock there. Of what others put into that afterwards it sees nothing.
#[derive(Debug)]
pub struct Overlay {
    /// The folder that stays as it is; none if there is none yet.
    beneath: Option<Arc<dyn Storage>>,
    /// The files that it had.
    names: Vec<String>,
    /// Where that is, or would be.
    path: PathBuf,
    /// What is new.
    above: Local,
    differs: Mutex<Differs>,
}

/// How the folder that is seen differs from that beneath.
#[derive(Debug, Default)]
struct Differs {
    /// Files that are above.
    made: BTreeSet<String>,
    /// Files beneath that are gone.
    removed: BTreeSet<String>,
}

impl Overlay {
    /// Lays the folder `above`, which is made, over `beneath`, or over nothing. `path` is where it seems to be.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn new(beneath: Option<Arc<dyn Storage>>, path: &Path, above: &Path) -> Result<Overlay> {
        let names = beneath.as_ref().map_or_else(|| Ok(Vec::new()), |beneath| beneath.names());
        let names = names.map_err(|e| Error::io(path, "list", e))?;
        let (path, above) = (path.to_path_buf(), Local::create(above)?);
        Ok(Overlay { beneath, names, path, above, differs: Mutex::default() })
    }

    /// Every use is one look or one change.
    fn differs(&self) -> MutexGuard<'_, Differs> {
        self.differs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a file was put into the folder beneath afterwards. What lies elsewhere is in no list, and is found all the same.
    fn is_later(&self, beneath: &dyn Storage, name: &str) -> io::Result<bool> {
        Ok(!self.names.iter().any(|known| known == name)
            && beneath.names()?.iter().any(|other| other == name))
    }

    /// The names of the folder beneath that are not gone.
    fn left_beneath(&self, differs: &Differs) -> impl Iterator<Item = &String> {
        self.names.iter().filter(|name| !differs.removed.contains(*name))
    }

    fn is_taken(&self, name: &str, differs: &Differs) -> bool {
        differs.made.contains(name) || self.left_beneath(differs).any(|other| other == name)
    }
}

impl Storage for Overlay {
    fn names(&self) -> io::Result<Vec<String>> {
        let differs = self.differs();
        let mut names: Vec<String> = self.left_beneath(&differs).chain(&differs.made).cloned().collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    fn strays(&self) -> io::Result<Vec<String>> {
        self.beneath.as_ref().map_or_else(|| Ok(Vec::new()), |beneath| beneath.strays())
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn FileWriter>> {
        check(name)?;
        let mut differs = self.differs();
        if self.is_taken(name, &differs) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let writer = self.above.create(name)?;
        differs.made.insert(name.to_owned());
        Ok(writer)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        check(name)?;
        let differs = self.differs();
        match &self.beneath {
            _ if differs.made.contains(name) => self.above.open(name),
            Some(beneath) if !differs.removed.contains(name) && !self.is_later(&**beneath, name)? => {
                beneath.open(name)
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// A second name for a file beneath is that of a copy.
    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        check(from).and_then(|()| check(to))?;
        let mut differs = self.differs();
        if self.is_taken(to, &differs) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        match &self.beneath {
            Some(beneath) if !differs.made.contains(from) && self.is_taken(from, &differs) => {
                copy(&*beneath.open(from)?, &mut *self.above.create(to)?)?;
            }
            _ => self.above.link(from, to)?,
        }
        differs.made.insert(to.to_owned());
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        check(name)?;
        let mut differs = self.differs();
        if differs.made.contains(name) {
            self.above.remove(name)?;
            differs.made.remove(name);
            return Ok(());
        }
        if !self.is_taken(name, &differs) {
            return Err(io::ErrorKind::NotFound.into());
        }
        differs.removed.insert(name.to_owned());
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        self.above.sync_names()
    }

    /// Nobody else sees what is written here.
    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        Ok(Some(Box::new(OverlayLock)))
    }

    fn is_scattered(&self) -> bool {
        self.beneath.as_ref().is_some_and(|beneath| beneath.is_scattered())
    }

    fn path(&self, name: &str) -> PathBuf {
        if self.differs().made.contains(name) { self.above.path(name) } else { self.path.join(name) }
    }
}

/// Bytes copied at once.
const BLOCK: usize = 1 << 20;

fn copy(from: &dyn Reader, to: &mut dyn FileWriter) -> io::Result<()> {
    let (bytes, mut at, mut block) = (from.len()?, 0, Vec::new());
    while at < bytes {
        block.resize((bytes - at).min(BLOCK as u64) as usize, 0);
        from.read_exact_at(&mut block, at)?;
        to.append(&block)?;
        at += block.len() as u64;
    }
    Ok(())
}

/// The lock of a folder that nobody else has.
#[derive(Debug)]
struct OverlayLock;

impl Lock for OverlayLock {}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(storage: &dyn Storage, name: &str, bytes: &[u8]) {
        storage.create(name).and_then(|mut writer| writer.append(bytes)).expect("written");
    }

    fn get(storage: &dyn Storage, name: &str) -> Option<Vec<u8>> {
        let reader = storage.open(name).ok()?;
        let mut bytes = vec![0; reader.len().expect("a length") as usize];
        reader.read_exact_at(&mut bytes, 0).expect("read");
        Some(bytes)
    }

    #[test]
    fn what_is_beneath_stays_as_it_is() {
        let root = tempfile::tempdir().expect("a folder");
        let beneath = Local::create(&root.path().join("c")).expect("created");
        put(&beneath, "a", b"old");
        put(&beneath, "b", b"stays");
        let beneath: Arc<dyn Storage> = Arc::new(beneath);
        let path = root.path().join("c");
        let overlay =
            Overlay::new(Some(Arc::clone(&beneath)), &path, &root.path().join("above")).expect("laid");
        assert_eq!(overlay.names().expect("names"), ["a", "b"]);
        assert_eq!(overlay.create("a").expect_err("taken").kind(), io::ErrorKind::AlreadyExists);
        overlay.remove("a").expect("removed");
        assert_eq!(overlay.remove("a").expect_err("gone").kind(), io::ErrorKind::NotFound);
        assert_eq!(get(&overlay, "a"), None);
        put(&overlay, "a", b"new");
        put(&overlay, "c", b"new too");
        overlay.link("c", "d").expect("linked");
        assert_eq!(overlay.link("c", "b").expect_err("taken").kind(), io::ErrorKind::AlreadyExists);
        overlay.link("b", "e").expect("copied");
        assert_eq!((get(&overlay, "e"), get(&*beneath, "e")), (Some(b"stays".to_vec()), None));
        overlay.remove("e").expect("removed");
        assert_eq!(overlay.link("x", "e").expect_err("missing").kind(), io::ErrorKind::NotFound);
        assert_eq!(overlay.names().expect("names"), ["a", "b", "c", "d"]);
        overlay.remove("c").expect("removed");
        assert_eq!(overlay.names().expect("names"), ["a", "b", "d"]);
        let seen = ["a", "b", "c", "d"].map(|name| get(&overlay, name));
        assert_eq!(seen, [Some(b"new".to_vec()), Some(b"stays".to_vec()), None, Some(b"new too".to_vec())]);
        overlay.sync_names().expect("synced");
        assert_eq!(beneath.names().expect("names"), ["a", "b"]);
        assert_eq!(get(&*beneath, "a"), Some(b"old".to_vec()));
        assert_eq!(overlay.path("b"), path.join("b"));
        assert!(!path.join("lock").exists() && overlay.lock().expect("asked").is_some());
        assert!(!path.join("lock").exists());
    }

    #[test]
    fn what_others_put_beneath_is_not_seen() {
        let root = tempfile::tempdir().expect("a folder");
        let beneath: Arc<dyn Storage> = Arc::new(Local::create(&root.path().join("c")).expect("created"));
        put(&*beneath, "a", b"old");
        let overlay =
            Overlay::new(Some(Arc::clone(&beneath)), &root.path().join("c"), &root.path().join("above"));
        let overlay = overlay.expect("laid");
        put(&*beneath, "b", b"unseen");
        beneath.remove("a").expect("removed");
        assert_eq!((overlay.names().expect("names"), get(&overlay, "b")), (vec!["a".to_owned()], None));
        overlay.remove("a").expect("removed");
        put(&overlay, "b", b"its own");
        assert_eq!(overlay.names().expect("names"), ["b"]);
        assert_eq!(get(&overlay, "b"), Some(b"its own".to_vec()));
        assert_eq!(get(&*beneath, "b"), Some(b"unseen".to_vec()));
    }

    #[test]
    fn there_may_be_nothing_beneath() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("c");
        let overlay = Overlay::new(None, &path, &root.path().join("above")).expect("laid");
        assert!(overlay.names().expect("names").is_empty() && get(&overlay, "a").is_none());
        put(&overlay, "a", b"new");
        assert_eq!(overlay.names().expect("names"), ["a"]);
        assert!(!path.exists());
    }
}
