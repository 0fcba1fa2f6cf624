//! S3, Google Cloud Storage and Azure, by the library for them.

use std::net::{TcpStream, ToSocketAddrs};
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, GetRange, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, RetryConfig,
};

use super::settings::{StoreSettings, TIMES};
use crate::remote::state::{ListedObject, ObjectState};
use crate::remote::trouble::{Outcome, Trouble, bounded, credentials};
use crate::remote::url::{ObjectUrl, StoreKind};

/// Longest time between two tries, and for all of them.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(180));
/// How long it may take to find out whether a machine has a service that says who it is.
const NEARBY: Duration = Duration::from_millis(800);
/// Where machines of clouds have that service.
const METADATA: &str = "169.254.169.254:80";

/// A bucket or container.
pub(in crate::remote) struct CloudStore {
    store: Arc<dyn ObjectStore>,
}

impl CloudStore {
    /// The store of a URL.
    pub(super) fn new(url: &ObjectUrl, settings: &StoreSettings) -> Outcome<CloudStore> {
        let retry = RetryConfig {
            backoff: BackoffConfig { max_backoff: PATIENCE.0, ..BackoffConfig::default() },
            max_retries: settings.attempts() as usize - 1,
            retry_timeout: PATIENCE.1,
        };
        let (connect, silent) = TIMES;
        let options = ClientOptions::new()
            .with_connect_timeout(connect)
            .with_read_timeout(silent)
            .with_timeout_disabled();
        let root = format!("{}/", url.store());
        let has = |names: &[&str]| names.iter().any(|name| settings.get(name).is_some());
        let store: object_store::Result<Arc<dyn ObjectStore>> = match url.kind {
            StoreKind::Google => {
                let mut builder = GoogleCloudStorageBuilder::new().with_client_options(options);
                for (key, value) in known::<GoogleConfigKey>(settings, "GOOGLE_") {
                    builder = builder.with_config(key, value);
                }
                if !has(&GOOGLE) && !settings.is_true("GOOGLE_SKIP_SIGNATURE") && !has_default_login(settings)
                {
                    knows_itself(settings.get("GCE_METADATA_HOST"), url.kind)?;
                }
                builder.with_url(root).with_retry(retry).build().map(|store| Arc::new(store) as _)
            }
            StoreKind::Azure => {
                let mut builder = MicrosoftAzureBuilder::new().with_client_options(options);
                for (key, value) in known::<AzureConfigKey>(settings, "AZURE_") {
                    builder = builder.with_config(key, value);
                }
                let said = ["AZURE_SKIP_SIGNATURE", "AZURE_USE_AZURE_CLI", "AZURE_STORAGE_USE_EMULATOR"];
                if !has(&AZURE) && !said.iter().any(|name| settings.is_true(name)) {
                    knows_itself(None, url.kind)?;
                }
                builder.with_url(root).with_retry(retry).build().map(|store| Arc::new(store) as _)
            }
            _ => {
                if let Some(name) = settings.lost_profile() {
                    let why = format!(
                        "AWS_PROFILE {name}: there is no such profile in ~/.aws; correct or unset it"
                    );
                    return Err(Trouble::Unready(bounded(&why)));
                }
                let mut builder = AmazonS3Builder::new().with_client_options(options);
                for (key, value) in known::<AmazonS3ConfigKey>(settings, "AWS_") {
                    builder = builder.with_config(key, value);
                }
                let endpoint = settings.get("AWS_ENDPOINT_URL_S3").or(settings.get("AWS_ENDPOINT_URL"));
                if endpoint.or(settings.get("AWS_ENDPOINT")).is_some_and(|at| at.starts_with("http://")) {
                    builder = builder.with_allow_http(true);
                }
                if !has(&AMAZON) && !settings.is_true("AWS_SKIP_SIGNATURE") {
                    if settings.is_true("AWS_EC2_METADATA_DISABLED") {
                        return Err(nobody(url.kind));
                    }
                    knows_itself(settings.get("AWS_METADATA_ENDPOINT"), url.kind)?;
                }
                builder.with_url(root).with_retry(retry).build().map(|store| Arc::new(store) as _)
            }
        };
        match store {
            Ok(store) => Ok(CloudStore { store }),
            Err(error) => Err(Trouble::Unready(bounded(&format!("{error}; {}", credentials(url.kind))))),
        }
    }

    /// What is known of an object.
    pub(super) async fn head(&self, url: &ObjectUrl) -> Outcome<ObjectState> {
        let head = GetOptions { head: true, ..GetOptions::default() };
        Ok(state(&self.store.get_opts(&key(url)?, head).await?.meta))
    }

    /// A range of an object.
    pub(super) async fn get(
        &self,
        url: &ObjectUrl,
        state: &ObjectState,
        range: Range<u64>,
    ) -> Outcome<Bytes> {
        let length = usize::try_from(range.end - range.start).unwrap_or_default();
        let options = GetOptions {
            range: Some(GetRange::Bounded(range)),
            if_match: state.version.clone(),
            ..GetOptions::default()
        };
        let result = self.store.get_opts(&key(url)?, options).await?;
        let found = self::state(&result.meta);
        if found.bytes != state.bytes || (state.version.is_some() && found.version != state.version) {
            return Err(Trouble::Changed);
        }
        let (mut bytes, mut body) = (Vec::with_capacity(length), result.into_stream());
        while let Some(block) = body.next().await {
            bytes.extend_from_slice(&block?);
            if bytes.len() > length {
                return Err(Trouble::Failed("the server sent more than it was asked for".to_owned()));
            }
        }
        Ok(bytes.into())
    }

    /// The objects whose keys begin with a key and a slash.
    pub(super) async fn list(&self, url: &ObjectUrl) -> Outcome<Vec<ListedObject>> {
        let prefix = key(url)?;
        let mut listed = Vec::new();
        let mut objects = self.store.list(Some(&prefix).filter(|prefix| !prefix.as_ref().is_empty()));
        while let Some(object) = objects.next().await {
            let object = object?;
            listed.push(ListedObject { url: url.with_key(object.location.as_ref()), state: state(&object) });
        }
        Ok(listed)
    }

    /// Whether there is an object of a URL, or one below it.
    pub(in crate::remote) async fn is_taken(&self, url: &ObjectUrl) -> Outcome<bool> {
        let prefix = key(url)?;
        if let Some(object) = self.store.list(Some(&prefix)).next().await {
            return object.map(|_| true).map_err(Trouble::from);
        }
        match self.head(url).await {
            Ok(_) => Ok(true),
            Err(Trouble::Missing) => Ok(false),
            Err(trouble) => Err(trouble),
        }
    }

    /// Begins an object, which nobody is shown before it is complete.
    pub(in crate::remote) async fn begin(&self, url: &ObjectUrl) -> Outcome<BegunObject> {
        let key = key(url)?;
        let upload = self.store.put_multipart(&key).await?;
        Ok(BegunObject { key, upload })
    }

    /// Removes what became of an object, if it is there.
    pub(in crate::remote) async fn remove(&self, key: &ObjectKey) -> Outcome<()> {
        match self.store.delete(&key.0).await.map_err(Trouble::from) {
            Err(Trouble::Missing) | Ok(()) => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }
}

/// What an object is called within its store.
pub(in crate::remote) struct ObjectKey(Path);

/// An object that is not complete.
pub(in crate::remote) struct BegunObject {
    key: Path,
    upload: Box<dyn MultipartUpload>,
}

impl BegunObject {
    /// What it is called.
    pub(in crate::remote) fn key(&self) -> ObjectKey {
        ObjectKey(self.key.clone())
    }

    /// Sends its next part.
    pub(in crate::remote) fn part(
        &mut self,
        bytes: Vec<u8>,
    ) -> impl Future<Output = Outcome<()>> + Send + use<> {
        self.upload.put_part(bytes.into()).map(|sent| sent.map_err(Trouble::from))
    }

    /// Makes it an object; if that fails, the store is to forget it.
    pub(in crate::remote) async fn completed(mut self) -> Outcome<()> {
        let Err(error) = self.upload.complete().await else { return Ok(()) };
        self.given_up().await;
        Err(error.into())
    }

    /// Has the store forget it, which it may refuse.
    pub(in crate::remote) async fn given_up(mut self) {
        let _ = self.upload.abort().await;
    }
}

/// What says who asks, of S3.
const AMAZON: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_S3_EXPRESS",
];
/// Of Google Cloud Storage.
const GOOGLE: [&str; 6] = [
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_BEARER_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS_PATH",
];
/// Of Azure.
const AZURE: [&str; 8] = [
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_ACCESS_KEY",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_STORAGE_TOKEN",
    "AZURE_CLIENT_ID",
    "AZURE_STORAGE_CLIENT_ID",
    "AZURE_FEDERATED_TOKEN_FILE",
];

/// The settings that a library knows, as it knows them.
fn known<K: FromStr>(settings: &StoreSettings, prefix: &str) -> Vec<(K, String)> {
    let parsed = |(name, value): (String, &str)| Some((name.parse().ok()?, value.to_owned()));
    settings.beginning(prefix).filter_map(parsed).collect()
}

/// Whether somebody has logged in with the tools of Google.
fn has_default_login(settings: &StoreSettings) -> bool {
    let home = settings.get("HOME").map(std::path::Path::new);
    home.is_some_and(|home| home.join(".config/gcloud/application_default_credentials.json").is_file())
}

/// Refuses a machine that nobody tells who it is: the library would ask for minutes.
fn knows_itself(at: Option<&str>, kind: StoreKind) -> Outcome<()> {
    let at = at.unwrap_or(METADATA).trim_start_matches("http://").trim_end_matches('/');
    let at = if at.contains(':') { at.to_owned() } else { format!("{at}:80") };
    let mut addresses = at.to_socket_addrs().into_iter().flatten();
    match addresses.any(|address| TcpStream::connect_timeout(&address, NEARBY).is_ok()) {
        true => Ok(()),
        false => Err(nobody(kind)),
    }
}

fn nobody(kind: StoreKind) -> Trouble {
    Trouble::Unready(format!("there are no credentials for it; {}", credentials(kind)))
}

/// The key as the library has it.
fn key(url: &ObjectUrl) -> Outcome<Path> {
    Path::parse(url.key()).map_err(|error| Trouble::Unfit(bounded(&format!("{error}; rename the object"))))
}

/// An entity tag as a header has it: Azure lists tags without their quotes, and sends them with quotes.
fn quoted(tag: &str) -> String {
    if tag.ends_with('"') { tag.to_owned() } else { format!("\"{tag}\"") }
}

fn state(meta: &ObjectMeta) -> ObjectState {
    ObjectState { bytes: meta.size, version: meta.e_tag.as_deref().map(quoted), ..ObjectState::default() }
}
