//! What is asked of stores: which objects there are, and ranges of their bytes.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use super::state::{Fetched, ListedObject, ObjectState, StopFlag};
use super::stores::{Store, store};
use super::trouble::Trouble;
use super::url::ObjectUrl;
use super::waiting::Awaited;
use crate::error::Result;

static REQUESTS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// How much this process has fetched so far.
pub fn traffic() -> Fetched {
    Fetched { requests: REQUESTS.load(Ordering::Relaxed), bytes: BYTES.load(Ordering::Relaxed) }
}

/// Begins to fetch a range of an object. Where what is fetched is kept, it is kept even if nobody waits for it: somebody will
/// want it later.
pub(super) fn fetch(
    store: &Arc<Store>,
    url: &ObjectUrl,
    state: &ObjectState,
    range: Range<u64>,
) -> Awaited<Bytes> {
    let (store, url, state) = (Arc::clone(store), url.clone(), state.clone());
    let kept = state.blocks.is_some();
    REQUESTS.fetch_add(1, Ordering::Relaxed);
    let coming = state.blocks.fetching(&range);
    let mut awaited = Awaited::begin(async move {
        let _coming = coming;
        let bytes = store.get(&url, &state, range.clone()).await?;
        BYTES.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if bytes.len() as u64 == range.end - range.start {
            state.blocks.keep(range.start, &bytes);
            Ok(bytes)
        } else {
            let what = format!("the server sent {} bytes, not {}", bytes.len(), range.end - range.start);
            Err(Trouble::Failed(what))
        }
    });
    awaited.given_up = !kept;
    awaited
}

/// What is known of the object that a URL names; `None` if there is none.
///
/// # Errors
/// [`crate::error::Error::Input`] if it may not be read, and [`crate::error::Error::Io`].
pub fn look(url: &ObjectUrl, stop: &StopFlag) -> Result<Option<ObjectState>> {
    let store = store(url)?;
    let asked = url.clone();
    match Awaited::begin(async move { store.head(&asked).await }).wait(stop) {
        Ok(state) => Ok(Some(state)),
        Err(Trouble::Missing) => Ok(None),
        Err(trouble) => Err(trouble.told(url, false)),
    }
}

/// All objects whose keys begin with the key of a URL and a slash, in the order of their paths.
///
/// # Errors
/// [`crate::error::Error::Input`] if they may not be listed, and [`crate::error::Error::Io`].
pub fn list(url: &ObjectUrl) -> Result<Vec<ListedObject>> {
    let store = store(url)?;
    let asked = url.clone();
    let listed = Awaited::begin(async move { store.list(&asked).await }).wait(&StopFlag::default());
    let mut listed = match listed {
        Err(Trouble::Missing) => Vec::new(),
        listed => listed.map_err(|trouble| trouble.told(url, false))?,
    };
    // As paths are sorted, whatever stands before a slash in other orders.
    listed.sort_by(|a, b| a.url.key().split('/').cmp(b.url.key().split('/')));
    // What stands for a folder, where folders are no things.
    let stands = |at: usize| {
        let object: &ListedObject = &listed[at];
        let folder = format!("{}/", object.url.key());
        let inside = listed.get(at + 1).is_some_and(|next| next.url.key().starts_with(&folder));
        object.state.bytes == 0 && (inside || object.url.key() == url.key().trim_end_matches('/'))
    };
    let stands: Vec<bool> = (0..listed.len()).map(stands).collect();
    let mut stands = stands.into_iter();
    listed.retain(|_| stands.next() == Some(false));
    Ok(listed)
}
