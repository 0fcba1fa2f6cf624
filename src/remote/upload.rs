//! Writing objects: files of this machine become objects of a store, all of them or none.
//!
//! The parts of all objects are sent first, and no store shows any of them. When every byte has arrived the objects are completed,
//! `summary.json` last: whoever finds that finds all the others. What goes wrong before leaves nothing that is shown.

use std::fs::File;
use std::future::Future;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{FuturesOrdered, FuturesUnordered};

use super::state::{OutputObject, StopFlag};
use super::stores::{BegunObject, ObjectKey, Store, store};
use super::trouble::{Outcome, Trouble};
use super::url::ObjectUrl;
use super::waiting::Awaited;
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::progress::Progress;

/// Bytes of a part, unless there would be too many: stores take no smaller ones than 5 MiB.
const PART: u64 = sized(8 << 20, 4 << 10);
/// Most parts of an object: stores take 10,000.
const MOST_PARTS: u64 = 9_999;
/// Bytes of parts that are under way at once.
const UNDER_WAY: u64 = 4 * PART;
/// Objects that are begun, completed or given up at once.
const AT_ONCE: usize = 16;
/// How often a sender looks whether to stop.
const LOOK: Duration = Duration::from_millis(20);
/// How long giving up may take: what is not given up then is shown to nobody either.
const GIVING_UP: Duration = Duration::from_millis(500);
/// What says that an output is whole, and is completed last.
const LAST: &str = "summary.json";

impl OutputObject {
    /// Bytes of each of its parts but the last.
    fn part(&self) -> u64 {
        PART.max(self.bytes.div_ceil(MOST_PARTS))
    }

    /// How many parts it has.
    fn parts(&self) -> u64 {
        self.bytes.div_ceil(self.part())
    }

    /// Reads a part.
    fn read(&self, at: u64) -> io::Result<Vec<u8>> {
        let start = at * self.part();
        let mut bytes = vec![0; usize::try_from(self.part().min(self.bytes - start)).unwrap_or_default()];
        File::open(&self.path)?.read_exact_at(&mut bytes, start)?;
        Ok(bytes)
    }
}

/// Refuses a URL where no output may be: one that names nothing, of a store that nobody writes to, with objects below it, or where
/// this program may not write. For that an upload is begun and given up.
///
/// # Errors
/// [`Error::Config`], [`Error::OutputExists`], and [`Error::Io`] if the store does not answer, or lets nobody in.
pub fn admit_output(url: &ObjectUrl) -> Result<()> {
    refuse_taken(url)?;
    let (store, probe) = (output_store(url)?, object_url(url, LAST));
    let begun = Awaited::begin(async move {
        begin(store, probe).await?.given_up().await;
        Ok(())
    });
    begun.wait(&StopFlag::default()).map_err(|trouble| trouble.told_of_output(url))
}

fn refuse_taken(url: &ObjectUrl) -> Result<()> {
    let store = output_store(url)?;
    let asked = url.clone();
    let taken = Awaited::begin(async move { store.cloud()?.is_taken(&asked).await });
    match taken.wait(&StopFlag::default()) {
        Ok(false) => Ok(()),
        Ok(true) => Err(Error::OutputExists(PathBuf::from(url.to_string()))),
        Err(trouble) => Err(trouble.told_of_output(url)),
    }
}

/// The store of an output, which has a name in it.
fn output_store(url: &ObjectUrl) -> Result<Arc<Store>> {
    let store = store(url).map_err(|error| match error {
        Error::Input { reason, .. } => Error::config(format!("--out {url}: {reason}")),
        error => error,
    })?;
    if url.key().is_empty() {
        return Err(Error::config(format!("--out {url}: name a folder in it, like {}/clean", url.store())));
    }
    Ok(store)
}

/// The URL of an object below an output.
fn object_url(url: &ObjectUrl, name: &str) -> ObjectUrl {
    url.with_key(&format!("{}/{name}", url.key().trim_end_matches('/')))
}

/// Objects of which every byte has arrived, and none is shown.
pub struct Upload {
    url: ObjectUrl,
    store: Arc<Store>,
    begun: Vec<BegunObject>,
}

impl Upload {
    /// Sends objects that are to be below `url`; their bytes count as progress.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; [`Error::Config`] and [`Error::Io`] of the store, or of a file.
    pub fn send(url: &ObjectUrl, objects: Vec<OutputObject>, progress: &Arc<Progress>) -> Result<Upload> {
        let store = store(url)?;
        let (to, below, progress) = (Arc::clone(&store), url.clone(), Arc::clone(progress));
        let sent = Awaited::begin(async move { send(&to, &below, objects, &progress).await });
        match sent.wait(&StopFlag::default()) {
            Ok(begun) => Ok(Upload { url: url.clone(), store, begun }),
            Err(trouble) => Err(trouble.told_of_output(url)),
        }
    }

    /// Has the store show all objects, unless somebody has written there meanwhile.
    ///
    /// # Errors
    /// [`Error::OutputExists`]; [`Error::Io`] if the store fails: then what it shows already is removed again.
    pub fn complete(self) -> Result<()> {
        let Upload { url, store, begun } = self;
        if let Err(taken) = refuse_taken(&url) {
            let given_up = Awaited::begin(async move {
                give_up(begun).await;
                Ok(())
            });
            return given_up
                .wait(&StopFlag::default())
                .map_err(|trouble| trouble.told_of_output(&url))
                .and(Err(taken));
        }
        let completed = Awaited::begin(async move { complete(&store, begun).await });
        completed.wait(&StopFlag::default()).map_err(|trouble| trouble.told_of_output(&url))
    }
}

async fn send(
    store: &Arc<Store>,
    url: &ObjectUrl,
    objects: Vec<OutputObject>,
    progress: &Progress,
) -> Outcome<Vec<BegunObject>> {
    store.cloud()?;
    let (last, mut ordered): (Vec<_>, Vec<_>) = objects.into_iter().partition(|object| object.name == LAST);
    ordered.extend(last);
    let mut begun = Vec::with_capacity(ordered.len());
    let mut outcome = until_stopped(begin_all(store, url, &ordered, &mut begun), progress).await;
    if outcome.is_ok() {
        outcome = until_stopped(send_parts(&ordered, &mut begun, progress), progress).await;
    }
    match outcome {
        Ok(()) => Ok(begun),
        Err(trouble) => {
            give_up(begun).await;
            Err(trouble)
        }
    }
}

async fn begin_all(
    store: &Arc<Store>,
    url: &ObjectUrl,
    objects: &[OutputObject],
    begun: &mut Vec<BegunObject>,
) -> Outcome<()> {
    let mut beginning = FuturesOrdered::new();
    for object in objects {
        if beginning.len() == AT_ONCE {
            begun.extend(beginning.next().await.transpose()?);
        }
        beginning.push_back(begin(Arc::clone(store), object_url(url, &object.name)));
    }
    while let Some(object) = beginning.next().await {
        begun.push(object?);
    }
    Ok(())
}

async fn begin(store: Arc<Store>, url: ObjectUrl) -> Outcome<BegunObject> {
    store.cloud()?.begin(&url).await
}

async fn send_parts(objects: &[OutputObject], begun: &mut [BegunObject], progress: &Progress) -> Outcome<()> {
    let largest = objects.iter().map(OutputObject::part).max().unwrap_or(PART);
    let at_once = usize::try_from(UNDER_WAY / largest).unwrap_or(1).max(1);
    let mut under_way = FuturesUnordered::new();
    for (begun, object) in begun.iter_mut().zip(objects) {
        for at in 0..object.parts() {
            if under_way.len() == at_once {
                progress.advance(under_way.next().await.transpose()?.unwrap_or_default());
            }
            let bytes = object
                .read(at)
                .map_err(|error| Trouble::Failed(format!("{}: {error}", object.path.display())))?;
            under_way.push(sent(bytes.len() as u64, begun.part(bytes)));
        }
    }
    while let Some(bytes) = under_way.next().await {
        progress.advance(bytes?);
    }
    Ok(())
}

/// The bytes of a part, when they have arrived.
async fn sent(bytes: u64, part: impl Future<Output = Outcome<()>>) -> Outcome<u64> {
    part.await.map(|()| bytes)
}

/// Does something until it is done, or everything is to stop.
async fn until_stopped<T>(work: impl Future<Output = Outcome<T>>, progress: &Progress) -> Outcome<T> {
    let mut work = pin!(work);
    loop {
        match tokio::time::timeout(LOOK, work.as_mut()).await {
            Ok(done) => return done,
            Err(_) if progress.stopped() => return Err(Trouble::Stopped),
            Err(_) => {}
        }
    }
}

/// Has stores forget what was sent. What they do not forget costs room until they tidy up, and is shown to nobody.
async fn give_up(begun: Vec<BegunObject>) {
    let all = async {
        let mut giving_up = FuturesUnordered::new();
        for object in begun {
            if giving_up.len() == AT_ONCE {
                giving_up.next().await;
            }
            giving_up.push(object.given_up());
        }
        while giving_up.next().await.is_some() {}
    };
    let _ = tokio::time::timeout(GIVING_UP, all).await;
}

/// Has the store show objects, the last one last. After the first that fails no other is completed, and those that are shown are
/// removed again: of those only, as somebody else may have written the others.
async fn complete(store: &Arc<Store>, begun: Vec<BegunObject>) -> Outcome<()> {
    let count = begun.len();
    let (mut left, mut completing) = (begun.into_iter(), FuturesUnordered::new());
    let (mut shown, mut outcome) = (Vec::new(), Ok(()));
    loop {
        while outcome.is_ok() && completing.len() < AT_ONCE {
            // The last one waits for all others.
            if left.len() == 1 && !completing.is_empty() {
                break;
            }
            let Some(object) = left.next() else { break };
            completing.push(completed(object));
        }
        match completing.next().await {
            None => break,
            Some(Ok(key)) => shown.push(key),
            Some(Err(trouble)) => outcome = outcome.and(Err(trouble)),
        }
    }
    let Err(trouble) = outcome else {
        debug_assert_eq!(shown.len(), count);
        return Ok(());
    };
    give_up(left.collect()).await;
    let (mut removing, mut gone) = (FuturesUnordered::new(), Ok(()));
    for key in shown {
        if removing.len() == AT_ONCE {
            gone = gone.and(removing.next().await.unwrap_or(Ok(())));
        }
        removing.push(remove(Arc::clone(store), key));
    }
    while let Some(removed) = removing.next().await {
        gone = gone.and(removed);
    }
    Err(match (gone, trouble) {
        (Err(_), Trouble::Failed(said)) => {
            Trouble::Failed(format!("{said}; what was written could not be removed, and has no {LAST}"))
        }
        (_, trouble) => trouble,
    })
}

/// The key of an object, when it is shown.
async fn completed(object: BegunObject) -> Outcome<ObjectKey> {
    let key = object.key();
    object.completed().await.map(|()| key)
}

async fn remove(store: Arc<Store>, key: ObjectKey) -> Outcome<()> {
    store.cloud()?.remove(&key).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_file_and_never_too_many() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        for bytes in [0, 1, PART - 1, PART, PART + 1, 2 * PART + 7] {
            let content: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
            std::fs::write(&path, &content).expect("written");
            let object = OutputObject { path: path.clone(), name: "x".into(), bytes };
            let parts: Vec<Vec<u8>> = (0..object.parts()).map(|at| object.read(at).expect("read")).collect();
            assert_eq!((parts.len() as u64, parts.concat()), (bytes.div_ceil(PART), content));
        }
        let object = |bytes| OutputObject { path: path.clone(), name: "x".into(), bytes };
        assert!((1..60).all(|log| object(1 << log).parts() <= MOST_PARTS));
        // A file that became shorter is told, not sent.
        object(PART * 3).read(2).expect_err("cut off");
    }
}
