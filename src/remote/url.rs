//! URLs of objects, as people write them.

use std::fmt;
use std::path::Path;

use crate::error::{Error, Result};

/// What serves an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreKind {
    /// S3, and what speaks as it does.
    Amazon,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
    /// Any web server.
    Web,
    /// The hub of Hugging Face.
    Hub,
}

/// How URLs begin.
const SCHEMES: [(&str, StoreKind); 9] = [
    ("s3://", StoreKind::Amazon),
    ("s3a://", StoreKind::Amazon),
    ("gs://", StoreKind::Google),
    ("az://", StoreKind::Azure),
    ("abfs://", StoreKind::Azure),
    ("abfss://", StoreKind::Azure),
    ("http://", StoreKind::Web),
    ("https://", StoreKind::Web),
    ("hf://", StoreKind::Hub),
];
/// What URLs of the hub begin with: other things than data sets are not read.
const DATASETS: &str = "datasets/";

/// The URL of an object, or of what objects have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectUrl {
    pub(super) kind: StoreKind,
    text: String,
    /// Bytes before the key: of the store, with its scheme, and without a slash.
    store: usize,
}

impl ObjectUrl {
    /// The URL that a path is, if it is one.
    pub fn of(path: &Path) -> Option<ObjectUrl> {
        let text = path.to_str()?;
        let begins = |(scheme, _): &(&str, StoreKind)| {
            text.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
        };
        let (scheme, kind) = SCHEMES.into_iter().find(begins)?;
        let text = format!("{scheme}{}", &text[scheme.len()..]);
        let rest = &text[scheme.len()..];
        // Of the hub, the owner and the name belong to the store, with the revision.
        let slashes = if kind == StoreKind::Hub { 2 } else { 0 };
        let store = rest.match_indices('/').nth(slashes).map_or(text.len(), |(at, _)| scheme.len() + at);
        Some(ObjectUrl { kind, text, store })
    }

    /// The same store, and another key.
    pub fn with_key(&self, key: &str) -> ObjectUrl {
        let text = format!("{}/{key}", self.store());
        ObjectUrl { text, ..self.clone() }
    }

    /// As it is opened.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The store: all before the key.
    pub fn store(&self) -> &str {
        &self.text[..self.store]
    }

    /// The name of the store, without its scheme.
    pub fn store_name(&self) -> &str {
        self.store().split_once("://").map_or("", |(_, name)| name)
    }

    /// The name within its store, without a slash before it.
    pub fn key(&self) -> &str {
        self.text[self.store..].trim_start_matches('/')
    }

    /// Whether what is behind a URL can be listed.
    pub fn is_listed(&self) -> bool {
        self.kind != StoreKind::Web
    }

    /// Refuses a URL that names no store, or a password.
    ///
    /// # Errors
    /// [`Error::Input`].
    pub fn check(&self) -> Result<()> {
        let name = self.store_name();
        let reason = match self.kind {
            StoreKind::Hub if !name.starts_with(DATASETS) || name.split('/').count() < 3 => {
                "expected hf://datasets/OWNER/NAME[@REVISION]/PATH"
            }
            StoreKind::Web if name.contains('@') => {
                "a URL with a user or a password in it is not read, as URLs are written to lists; take them out"
            }
            _ if name.is_empty() => "a URL without the name of a store; write it like s3://bucket/folder",
            _ => return Ok(()),
        };
        // With the password it is shown to nobody.
        let shown = match self.kind {
            StoreKind::Web => self.text.replace(name, name.rsplit('@').next().unwrap_or_default()),
            _ => self.to_string(),
        };
        Err(Error::input(Path::new(&shown), reason))
    }
}

/// Without what follows a question mark, which may let others in.
impl fmt::Display for ObjectUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = match self.kind {
            StoreKind::Web => self.text.split(['?', '#']).next().unwrap_or_default(),
            _ => &self.text,
        };
        f.write_str(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> ObjectUrl {
        ObjectUrl::of(Path::new(text)).expect("a URL")
    }

    #[test]
    fn stores_and_keys_are_told_apart() {
        for (text, store, key) in [
            ("s3://b", "s3://b", ""),
            ("S3://b/", "s3://b", ""),
            ("s3://b/a/c.jsonl", "s3://b", "a/c.jsonl"),
            ("abfss://c@a.dfs.core.windows.net/x", "abfss://c@a.dfs.core.windows.net", "x"),
            ("https://h:1/a/b.gz?x=/y", "https://h:1", "a/b.gz?x=/y"),
            ("hf://datasets/o/n@v1/d/x.parquet", "hf://datasets/o/n@v1", "d/x.parquet"),
            ("hf://datasets/o/n", "hf://datasets/o/n", ""),
        ] {
            let url = url(text);
            assert_eq!((url.store(), url.key()), (store, key), "{text}");
            assert!(url.check().is_ok());
            assert_eq!(url.with_key("k").as_str(), format!("{store}/k"));
        }
    }

    #[test]
    fn other_names_are_those_of_files() {
        for text in ["a.jsonl", "s3:/b/a", "./s3://b/a", "ftp://h/a", "", "s3"] {
            assert_eq!(ObjectUrl::of(Path::new(text)), None, "{text}");
        }
    }

    #[test]
    fn secrets_are_shown_to_nobody() {
        assert_eq!(url("https://h/a.gz?X-Amz-Signature=secret").to_string(), "https://h/a.gz");
        let refused = url("https://me:secret@h/a").check().expect_err("a password").to_string();
        assert!(refused.starts_with("https://h/a: ") && !refused.contains("secret"), "{refused}");
    }

    #[test]
    fn urls_that_name_no_store_are_refused() {
        for text in ["s3://", "s3:///a", "hf://o/n/x", "hf://datasets/o", "http://"] {
            assert!(matches!(url(text).check(), Err(Error::Input { .. })), "{text}");
        }
    }
}
