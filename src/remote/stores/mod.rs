//! What serves objects: stores of clouds, web servers, and the hub of Hugging Face.

mod cloud;
mod hub;
mod settings;
mod web;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;

use self::cloud::CloudStore;
pub(super) use self::cloud::{BegunObject, ObjectKey};
use self::hub::HubStore;
pub use self::settings::configure;
use self::settings::settings;
use self::web::WebStore;
use super::state::{ListedObject, ObjectState};
use super::trouble::{Outcome, Trouble};
use super::url::{ObjectUrl, StoreKind};
use super::waiting::no_threads;
use crate::error::Result;

/// What speaks to a store.
pub(super) enum Store {
    Cloud(CloudStore),
    Web(WebStore),
    Hub(HubStore),
}

/// The store of a URL: the same as for other URLs of it.
///
/// # Errors
/// [`Error::Input`](crate::error::Error::Input) if it cannot be spoken to.
pub(super) fn store(url: &ObjectUrl) -> Result<Arc<Store>> {
    static STORES: OnceLock<Mutex<HashMap<String, Arc<Store>>>> = OnceLock::new();
    url.check()?;
    if let Some(error) = no_threads(url) {
        return Err(error);
    }
    let mut stores = STORES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(store) = stores.get(url.store()) {
        return Ok(Arc::clone(store));
    }
    // Another one than this may have been installed before: it does as well.
    drop(rustls::crypto::ring::default_provider().install_default());
    let settings = settings();
    let store = match url.kind {
        StoreKind::Amazon | StoreKind::Google | StoreKind::Azure => {
            CloudStore::new(url, &settings).map(Store::Cloud)
        }
        StoreKind::Web => WebStore::new(&settings, None).map(Store::Web),
        StoreKind::Hub => HubStore::new(&settings).map(Store::Hub),
    };
    let store = Arc::new(store.map_err(|trouble| trouble.told(url, false))?);
    stores.insert(url.store().to_owned(), Arc::clone(&store));
    Ok(store)
}

impl Store {
    /// The store, if it is one that can be written to.
    pub(super) fn cloud(&self) -> Outcome<&CloudStore> {
        match self {
            Store::Cloud(store) => Ok(store),
            Store::Web(_) | Store::Hub(_) => {
                let what = "alike writes to s3://, gs:// and az://; name a folder of this machine, and copy it with other tools";
                Err(Trouble::Unfit(what.to_owned()))
            }
        }
    }

    /// What is known of an object.
    pub(super) async fn head(&self, url: &ObjectUrl) -> Outcome<ObjectState> {
        match self {
            Store::Cloud(store) => store.head(url).await,
            Store::Web(store) => store.head(url.as_str()).await,
            Store::Hub(store) => store.head(url).await,
        }
    }

    /// A range of an object, as it was when it was found.
    pub(super) async fn get(
        &self,
        url: &ObjectUrl,
        state: &ObjectState,
        range: Range<u64>,
    ) -> Outcome<Bytes> {
        match self {
            Store::Cloud(store) => store.get(url, state, range).await,
            Store::Web(store) => store.get(url.as_str(), state, range).await,
            Store::Hub(store) => store.get(url, state, range).await,
        }
    }

    /// The objects in a folder, in no order.
    pub(super) async fn list(&self, url: &ObjectUrl) -> Outcome<Vec<ListedObject>> {
        match self {
            Store::Cloud(store) => store.list(url).await,
            Store::Web(_) => {
                let what = "a web server does not say what is in a folder; name its files one by one";
                Err(Trouble::Unfit(what.to_owned()))
            }
            Store::Hub(store) => store.list(url).await,
        }
    }
}
