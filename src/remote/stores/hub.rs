//! Data sets on the hub of Hugging Face. A revision is made the commit that it names, so that what is read is of one commit.

use std::ops::Range;
use std::sync::Mutex;

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::LINK;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::settings::StoreSettings;
use super::web::WebStore;
use crate::remote::state::{ListedObject, ObjectState};
use crate::remote::trouble::{Outcome, Trouble};
use crate::remote::url::ObjectUrl;

/// Where the hub is, if nothing is said.
const HUB: &str = "https://huggingface.co";
/// The revision, if none is said.
const MAIN: &str = "main";
/// How the revision is written that has the data set as Parquet.
const PARQUET: (&str, &str) = ("~parquet", "refs%2Fconvert%2Fparquet");

/// A data set of the hub, in a revision.
pub(in crate::remote) struct HubStore {
    web: WebStore,
    at: String,
    /// The commit of the revision, once it is known.
    commit: Mutex<Option<String>>,
}

#[derive(Deserialize)]
struct Revision {
    sha: String,
}

#[derive(Deserialize)]
struct TreeEntry {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    #[serde(default)]
    size: u64,
}

impl HubStore {
    /// What speaks to the hub.
    pub(super) fn new(settings: &StoreSettings) -> Outcome<HubStore> {
        let web = WebStore::new(settings, settings.hub_token().as_deref())?;
        let at = settings.get("HF_ENDPOINT").unwrap_or(HUB).trim_end_matches('/').to_owned();
        Ok(HubStore { web, at, commit: Mutex::default() })
    }

    /// What is known of a file.
    pub(super) async fn head(&self, url: &ObjectUrl) -> Outcome<ObjectState> {
        if url.key().is_empty() {
            return Err(Trouble::Missing);
        }
        let commit = self.commit(url).await?;
        let found = self.web.head(&self.file(url, &commit)?).await?;
        Ok(ObjectState { bytes: found.bytes, version: Some(commit), ..ObjectState::default() })
    }

    /// A range of a file.
    pub(super) async fn get(
        &self,
        url: &ObjectUrl,
        state: &ObjectState,
        range: Range<u64>,
    ) -> Outcome<Bytes> {
        let commit = state.version.as_deref().ok_or(Trouble::Missing)?;
        // What a commit has never changes, whatever tags the servers of its files give it.
        let state = ObjectState { bytes: state.bytes, ..ObjectState::default() };
        self.web.get(&self.file(url, commit)?, &state, range).await
    }

    /// The files in a folder.
    pub(super) async fn list(&self, url: &ObjectUrl) -> Outcome<Vec<ListedObject>> {
        let commit = self.commit(url).await?;
        let (set, _) = set(url);
        let tree = format!("{}/api/{set}/tree/{commit}", self.at);
        let mut next = Some(format!("{}?recursive=true", joined(&tree, url.key())?));
        let mut listed = Vec::new();
        while let Some(page) = next {
            let (entries, after): (Vec<TreeEntry>, _) = self.ask(&page).await?;
            for entry in entries.into_iter().filter(|entry| entry.kind == "file") {
                let state = ObjectState {
                    bytes: entry.size,
                    version: Some(commit.clone()),
                    ..ObjectState::default()
                };
                listed.push(ListedObject { url: url.with_key(&entry.path), state });
            }
            next = after;
        }
        Ok(listed)
    }

    /// The commit of the revision of a URL: the same for all that is read here.
    async fn commit(&self, url: &ObjectUrl) -> Outcome<String> {
        let known = || self.commit.lock().ok()?.clone();
        if let Some(commit) = known() {
            return Ok(commit);
        }
        let (set, revision) = set(url);
        let (found, _): (Revision, _) =
            self.ask(&format!("{}/api/{set}/revision/{revision}", self.at)).await?;
        if let Ok(mut commit) = self.commit.lock() {
            commit.get_or_insert(found.sha.clone());
        }
        Ok(known().unwrap_or(found.sha))
    }

    /// Asks for JSON; and where there is more.
    async fn ask<T: DeserializeOwned>(&self, url: &str) -> Outcome<(T, Option<String>)> {
        let answer = self.web.send(Method::GET, url, &[]).await?;
        let link = answer.headers().get(LINK).and_then(|link| Some(link.to_str().ok()?.to_owned()));
        let next = link.and_then(|link| {
            let next = link.split(',').find(|link| link.contains("rel=\"next\""))?;
            Some(next.split_once('<')?.1.split_once('>')?.0.to_owned())
        });
        let body = answer.bytes().await.map_err(|error| Trouble::failed(&error.without_url()))?;
        let parsed = serde_json::from_slice(&body);
        let parsed = parsed.map_err(|_| Trouble::Unfit("the hub answers something unexpected".to_owned()))?;
        Ok((parsed, next))
    }

    /// The URL of a file in a commit.
    fn file(&self, url: &ObjectUrl, commit: &str) -> Outcome<String> {
        let (set, _) = set(url);
        joined(&format!("{}/{set}/resolve/{commit}", self.at), url.key())
    }
}

/// The data set of a URL, and its revision.
fn set(url: &ObjectUrl) -> (&str, &str) {
    match url.store_name().split_once('@') {
        Some((set, revision)) if revision == PARQUET.0 => (set, PARQUET.1),
        Some((set, revision)) => (set, revision),
        None => (url.store_name(), MAIN),
    }
}

/// A URL with a path behind it, whose parts may have any characters.
fn joined(base: &str, path: &str) -> Outcome<String> {
    let unfit = || Trouble::Unfit("HF_ENDPOINT is no URL; write it like https://huggingface.co".to_owned());
    let mut url = Url::parse(base).map_err(|_| unfit())?;
    url.path_segments_mut().map_err(|()| unfit())?.extend(path.split('/').filter(|part| !part.is_empty()));
    Ok(url.into())
}
