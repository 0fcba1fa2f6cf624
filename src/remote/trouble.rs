//! What goes wrong with objects, in words that say what to do.

use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;

use super::url::{ObjectUrl, StoreKind};
use crate::error::Error;
use crate::printable::printable;

/// Most characters that are shown of what a server or a library says.
const SAID: usize = 300;

/// How answers to those begin who may not have what they ask for.
const DENIED: [&str; 2] = ["the server answers 401", "the server answers 403"];

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// There is no such object.
    Missing,
    /// The object is another one than before.
    Changed,
    /// Whoever asks may not have it: what the store says.
    Forbidden(String),
    /// What has to be told beforehand is not: what, and how.
    Unready(String),
    /// The server cannot do what is needed, or the URL makes no sense to it.
    Unfit(String),
    /// It did not work, and might another time.
    Failed(String),
    /// Somebody wants everything to stop.
    Stopped,
}

/// What is asked for, or what is wrong.
pub(super) type Outcome<T> = std::result::Result<T, Trouble>;

impl Trouble {
    /// As an error of what was to be read. Whoever `knew` the object has read it before.
    pub(super) fn told(self, url: &ObjectUrl, knew: bool) -> Error {
        let path = PathBuf::from(url.to_string());
        let input = |reason: String| Error::Input { path: path.clone(), reason };
        match self {
            Trouble::Changed => Error::Changed(path),
            Trouble::Missing if knew => Error::Changed(path),
            Trouble::Missing => input("no such object; check the name".to_owned()),
            Trouble::Forbidden(said) => {
                input(format!("access is denied ({said}); {}", credentials(url.kind)))
            }
            Trouble::Unready(what) | Trouble::Unfit(what) => input(what),
            Trouble::Failed(said) => Error::Io {
                path,
                action: "read",
                source: io::Error::other(format!(
                    "{said}; check the name, the network and the server, and run again"
                )),
            },
            Trouble::Stopped => Error::Interrupted,
        }
    }

    /// As an error of what was to be written.
    pub(super) fn told_of_output(self, url: &ObjectUrl) -> Error {
        let config = |reason: &str| Error::config(format!("--out {url}: {reason}"));
        let failed = |said: String| Error::Io {
            path: PathBuf::from(url.to_string()),
            action: "write",
            source: io::Error::other(said),
        };
        match self {
            Trouble::Missing => config("there is no such bucket; check the name"),
            Trouble::Unready(what) | Trouble::Unfit(what) => config(&what),
            Trouble::Forbidden(said) => {
                failed(format!("access is denied ({said}); {}", credentials(url.kind)))
            }
            Trouble::Changed => failed("the store says that something else is there; run again".to_owned()),
            Trouble::Failed(said) => {
                failed(format!("{said}; check the name, the network and the store, and run again"))
            }
            Trouble::Stopped => Error::Interrupted,
        }
    }

    /// What a library says of a request, with all that lies beneath: the last of it is the cause.
    pub(super) fn failed(error: &(dyn StdError + 'static)) -> Trouble {
        let mut cause = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        let (all, last) = (error.to_string(), cause.to_string());
        let tries = all.split_once(", after ").and_then(|(_, rest)| rest.split_once(" retries"));
        let tries = tries.and_then(|(tries, _)| tries.parse::<u32>().ok());
        let said = bounded(&answer(&last).unwrap_or(last));
        Trouble::Failed(match tries {
            Some(tries) => format!("{said}, {} times", tries + 1),
            None => said,
        })
    }
}

/// What to do about credentials.
pub(super) fn credentials(kind: StoreKind) -> &'static str {
    match kind {
        StoreKind::Amazon => {
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile, of somebody who has access; \
             AWS_SKIP_SIGNATURE=true reads what is public; a missing object may be denied, too"
        }
        StoreKind::Google => {
            "name a service account with GOOGLE_SERVICE_ACCOUNT, or run `gcloud auth application-default login`; \
             GOOGLE_SKIP_SIGNATURE=true reads what is public"
        }
        StoreKind::Azure => {
            "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or AZURE_STORAGE_SAS_KEY; \
             AZURE_SKIP_SIGNATURE=true reads what is public"
        }
        StoreKind::Web => "the server gives it to others only; fetch it to a file first",
        StoreKind::Hub => "set HF_TOKEN to a token of somebody who has access to the data set",
    }
}

/// The status and the code of an answer that a library quotes: all else in it is long, and for machines.
fn answer(said: &str) -> Option<String> {
    let (_, rest) = said.split_once("status code: ")?;
    let status = rest.split([':', '\n']).next()?.trim();
    let code = rest.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    Some(match code {
        Some((code, _)) => format!("the server answers {status}, {code}"),
        None => format!("the server answers {status}"),
    })
}

/// So much of a text as may be shown.
pub(super) fn bounded(said: &str) -> String {
    printable(&said.chars().take(SAID).collect::<String>()).into_owned()
}

/// An error of the library of stores.
impl From<object_store::Error> for Trouble {
    fn from(error: object_store::Error) -> Trouble {
        use object_store::Error as Of;
        let said = |error: &Of| answer(&error.to_string()).unwrap_or_else(|| "no reason given".to_owned());
        let mut beneath: Option<&(dyn StdError + 'static)> = Some(&error);
        while let Some(cause) = beneath {
            if matches!(cause.downcast_ref(), Some(Of::Precondition { .. })) {
                return Trouble::Changed;
            }
            beneath = cause.source();
        }
        match &error {
            Of::NotFound { .. } => Trouble::Missing,
            Of::PermissionDenied { .. } | Of::Unauthenticated { .. } => Trouble::Forbidden(said(&error)),
            Of::InvalidPath { .. } => Trouble::Unfit(bounded(&format!("{error}; rename the object"))),
            other if other.to_string().contains("Received redirect without LOCATION") => {
                let what = "the bucket is in another region; set AWS_REGION to it";
                Trouble::Unready(what.to_owned())
            }
            other => match Trouble::failed(other) {
                // Lists that are denied.
                Trouble::Failed(said) if DENIED.iter().any(|denied| said.starts_with(denied)) => {
                    Trouble::Forbidden(said)
                }
                trouble => trouble,
            },
        }
    }
}

/// As what reading gives; [`Error::io`] finds the error in it again.
pub(super) fn as_io(error: Error) -> io::Error {
    io::Error::other(error)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn answers_are_told_by_status_and_code() {
        let said = "Server returned non-2xx status code: 503 Service Unavailable: <Error><Code>SlowDown</Code></Error>";
        assert_eq!(answer(said).as_deref(), Some("the server answers 503 Service Unavailable, SlowDown"));
        assert_eq!(answer("status code: 404 Not Found").as_deref(), Some("the server answers 404 Not Found"));
        assert_eq!(answer("no route to host"), None);
    }

    #[test]
    fn what_was_there_and_is_gone_has_changed() {
        let url = ObjectUrl::of(Path::new("s3://b/k")).expect("a URL");
        assert!(matches!(Trouble::Missing.told(&url, true), Error::Changed(_)));
        assert!(matches!(Trouble::Missing.told(&url, false), Error::Input { .. }));
        assert!(matches!(Trouble::Stopped.told(&url, true), Error::Interrupted));
        let denied = Trouble::Forbidden("403".to_owned()).told(&url, true).to_string();
        assert!(denied.starts_with("s3://b/k: access is denied (403); set AWS_"), "{denied}");
    }
}
