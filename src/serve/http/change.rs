//! Changes that clients ask for: one after another, each done once for its key, answered when it is durable.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_128;

use super::answer::{HttpAnswer, HttpError};
use super::body::Body;
use super::guard::content_type;
use crate::collection::CommitCommand;
use crate::serve::state::served::Served;
use crate::serve::state::write::{ReceivedFile, change};

/// The header of keys.
const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Says that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// Most bytes of a key.
const LONGEST_KEY: usize = 255;

/// A change that was asked for, received whole.
struct Asked {
    received: ReceivedFile,
    digest: u128,
    command: CommitCommand,
}

/// The key of a change, if it has one.
fn key(headers: &HeaderMap) -> Result<Option<String>, HttpError> {
    let Some(value) = headers.get(KEY) else { return Ok(None) };
    let key = value.to_str().ok().filter(|key| (1..=LONGEST_KEY).contains(&key.len()));
    let wrong = || HttpError::bad(format!("an Idempotency-Key has 1 to {LONGEST_KEY} visible characters"));
    key.map(|key| Some(key.to_owned())).ok_or_else(wrong)
}

/// Records to load.
///
/// # Errors
/// Those of bodies and loads.
pub(super) async fn load(
    served: &Arc<Served>,
    headers: &HeaderMap,
    body: &mut Body,
) -> Result<HttpAnswer, HttpError> {
    served.collection()?.storage()?;
    let command = CommitCommand::Load;
    let lines = ["application/x-ndjson", "application/jsonl", "application/json"];
    let key = key(headers)?;
    let asked = match content_type(headers, &lines)? {
        "application/json" => {
            let bytes = body.whole(served.options.body).await?;
            let digest = xxh3_128(&bytes);
            Asked { received: blocking(move || of_documents(&bytes)).await?, digest, command }
        }
        _ => {
            let (received, digest) = body.received(served.options.load).await?;
            Asked { received, digest, command }
        }
    };
    once(served, key, asked).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedDocuments<'a> {
    #[serde(borrow)]
    documents: Vec<&'a RawValue>,
}

/// An array of records as lines.
fn of_documents(bytes: &Bytes) -> Result<ReceivedFile, HttpError> {
    let wrong = |error: serde_json::Error| {
        HttpError::bad(format!("expected {{\"documents\": [{{...}}, ...]}}: {error}"))
    };
    let asked: AskedDocuments<'_> = serde_json::from_slice(bytes).map_err(wrong)?;
    if asked.documents.is_empty() {
        return Err(HttpError::bad("there are no documents in it"));
    }
    let received = ReceivedFile::new()?;
    // A break stands between the tokens of JSON, and never in one.
    let lines: String =
        asked.documents.iter().map(|record| record.get().replace(['\n', '\r'], " ") + "\n").collect();
    std::fs::write(&received.file, lines)
        .map_err(|error| crate::error::Error::io(&received.file, "write", error))?;
    Ok(received)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedIds {
    ids: Vec<String>,
}

/// Documents to delete.
///
/// # Errors
/// Those of bodies and loads.
pub(super) async fn delete(
    served: &Arc<Served>,
    headers: &HeaderMap,
    body: &mut Body,
) -> Result<HttpAnswer, HttpError> {
    content_type(headers, &["application/json"])?;
    let key = key(headers)?;
    let bytes = body.whole(served.options.body).await?;
    let digest = xxh3_128(&bytes).wrapping_add(1);
    served.collection()?.storage()?;
    let field = served.collection()?.commit().snapshot().manifest().config.input.id_field.clone();
    let received = blocking(move || {
        let wrong = |error| HttpError::bad(format!("expected {{\"ids\": [\"...\", ...]}}: {error}"));
        let AskedIds { ids } = serde_json::from_slice(&bytes).map_err(wrong)?;
        if ids.is_empty() {
            return Err(HttpError::bad("there are no ids in it"));
        }
        Ok(ReceivedFile::of_ids(&ids, &field)?)
    });
    let asked = Asked { received: received.await?, digest, command: CommitCommand::Delete };
    once(served, key, asked).await
}

/// What waits for a disk before it is anybody's turn.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    let failed = |_| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed");
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}

/// Does what was asked for, unless its key has an answer.
async fn once(served: &Arc<Served>, key: Option<String>, asked: Asked) -> Result<HttpAnswer, HttpError> {
    let full = |_| HttpError::busy(5, "too many changes are waiting; ask again");
    let place = Arc::clone(&served.waiting).try_acquire_owned().map_err(full)?;
    if let Some(key) = &key
        && let Some(mut answer) = served.remembered.begin(key, asked.digest)?
    {
        answer.more.push((REPLAYED, HeaderValue::from_static("true")));
        return Ok(answer);
    }
    let served = Arc::clone(served);
    // What was begun is ended, whether its client is still there or not: another one may come with the same key.
    let task = tokio::spawn(async move {
        let done = in_turn(&served, asked).await;
        drop(place);
        if let Some(key) = key {
            let answer = match &done {
                Ok(answer) => Some(answer.clone()),
                // The same request would be refused again.
                Err(error) if error.status == StatusCode::UNPROCESSABLE_ENTITY => {
                    Some(HttpAnswer::error(error))
                }
                Err(_) => None,
            };
            served.remembered.finish(&key, answer.as_ref());
        }
        done
    });
    let failed = |_| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed");
    task.await.map_err(failed)?
}

/// Does what was asked for when all before it are done.
async fn in_turn(served: &Arc<Served>, asked: Asked) -> Result<HttpAnswer, HttpError> {
    let ending = |_| HttpError::busy(5, "the server is ending; nothing was changed");
    let turn = Arc::clone(&served.turn).acquire_owned().await.map_err(ending)?;
    let storage = Arc::clone(served.collection()?.storage()?);
    let served = Arc::clone(served);
    let done = blocking(move || {
        let report = change(&storage, &served.options, &asked.received, asked.command, &served.changes);
        // Whoever has the answer finds what it says.
        served.refresh();
        drop(turn);
        HttpAnswer::json(&report?)
    });
    done.await
}
