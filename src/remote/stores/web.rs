//! Objects on web servers: anything that can be asked for a part of a file.

use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, IF_MATCH,
    LAST_MODIFIED, RANGE, RETRY_AFTER,
};
use reqwest::{Client, Method, Response, StatusCode};

use super::settings::{StoreSettings, TIMES};
use crate::remote::state::ObjectState;
use crate::remote::trouble::{Outcome, Trouble};

/// Time before the second try, and the longest before any.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// What a version begins with that is the time of the last change.
const TIME: &str = "time ";

/// Web servers.
pub(in crate::remote) struct WebStore {
    client: Client,
    attempts: u32,
}

impl WebStore {
    /// What speaks to web servers, with a token if there is one.
    pub(super) fn new(settings: &StoreSettings, token: Option<&str>) -> Outcome<WebStore> {
        let (connect, silent) = TIMES;
        let mut headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]);
        if let Some(token) = token {
            let value = HeaderValue::from_str(&format!("Bearer {token}"));
            let mut value = value.map_err(|_| Trouble::Unready("HF_TOKEN is no token".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let name = concat!("alike/", env!("CARGO_PKG_VERSION"));
        let builder =
            Client::builder().connect_timeout(connect).read_timeout(silent).default_headers(headers);
        let client =
            builder.user_agent(name).build().map_err(|error| Trouble::failed(&error.without_url()))?;
        Ok(WebStore { client, attempts: settings.attempts() })
    }

    /// What is known of an object.
    pub(super) async fn head(&self, url: &str) -> Outcome<ObjectState> {
        let answer = self.send(Method::HEAD, url, &[]).await;
        match answer {
            Ok(answer) if answer.headers().contains_key(CONTENT_LENGTH) => {
                let bytes = number(answer.headers(), CONTENT_LENGTH.as_str());
                Ok(ObjectState { bytes, version: version(answer.headers()), ..ObjectState::default() })
            }
            Err(trouble @ (Trouble::Missing | Trouble::Failed(_))) => Err(trouble),
            // Some servers have no heads, or allow none.
            _ => {
                let answer = self.send(Method::GET, url, &[(RANGE.as_str(), "bytes=0-0".to_owned())]).await?;
                // Of nothing there are no parts to send.
                let is_empty = answer.status() == StatusCode::OK && answer.content_length() == Some(0);
                let whole = if is_empty { Some(NOTHING) } else { part(&answer) };
                let (_, bytes) = whole.ok_or_else(no_parts)?;
                Ok(ObjectState { bytes, version: version(answer.headers()), ..ObjectState::default() })
            }
        }
    }

    /// A range of an object; what was received before a failure is not asked for again.
    pub(super) async fn get(&self, url: &str, state: &ObjectState, range: Range<u64>) -> Outcome<Bytes> {
        let mut bytes = Vec::with_capacity(usize::try_from(range.end - range.start).unwrap_or_default());
        let mut attempt = 0;
        loop {
            let from = range.start + bytes.len() as u64;
            // A request that fails has been tried as often as it may be.
            let answer = self.ask_for(url, state, from..range.end).await?;
            match receive(answer, range.end - from, &mut bytes).await {
                Err(Trouble::Failed(_)) if attempt + 1 < self.attempts => {
                    tokio::time::sleep(pause(attempt, None)).await;
                    attempt += 1;
                }
                done => return done.map(|()| bytes.into()),
            }
        }
    }

    /// The answer that has the bytes of a range in its body.
    async fn ask_for(&self, url: &str, state: &ObjectState, range: Range<u64>) -> Outcome<Response> {
        let mut headers = vec![(RANGE.as_str(), format!("bytes={}-{}", range.start, range.end - 1))];
        // One that is weak is equal to none.
        let strong = state.version.as_ref().filter(|version| version.starts_with('"'));
        headers.extend(strong.map(|version| (IF_MATCH.as_str(), version.clone())));
        let answer = self.send(Method::GET, url, &headers).await?;
        let is_all = answer.status() == StatusCode::OK && range == (0..state.bytes);
        match part(&answer) {
            Some((start, bytes)) if start == range.start && bytes == state.bytes => {}
            Some((_, bytes)) if bytes != state.bytes => return Err(Trouble::Changed),
            None if is_all => {}
            _ => return Err(no_parts()),
        }
        if state.version.is_some() && version(answer.headers()) != state.version {
            return Err(Trouble::Changed);
        }
        Ok(answer)
    }

    /// Asks, again and again where that may help.
    pub(super) async fn send(
        &self,
        method: Method,
        url: &str,
        headers: &[(&'static str, String)],
    ) -> Outcome<Response> {
        let mut attempt = 0;
        loop {
            let mut request = self.client.request(method.clone(), url);
            for (name, value) in headers {
                request = request.header(*name, value);
            }
            let (trouble, after) = match request.send().await {
                // That there are no bytes of which a part could be sent says how many there are.
                Ok(answer)
                    if answer.status() == StatusCode::RANGE_NOT_SATISFIABLE
                        && part(&answer) == Some(NOTHING) =>
                {
                    return Ok(answer);
                }
                Ok(answer) => match judge(answer.status(), self.attempts) {
                    None => return Ok(answer),
                    Some(trouble) => (trouble, answer.headers().get(RETRY_AFTER).cloned()),
                },
                Err(error) if error.is_builder() => {
                    return Err(Trouble::Unfit("a URL that makes no sense; check it".to_owned()));
                }
                Err(error) => (Trouble::failed(&error.without_url()), None),
            };
            attempt += 1;
            if attempt >= self.attempts || !matches!(trouble, Trouble::Failed(_)) {
                return Err(trouble);
            }
            tokio::time::sleep(pause(attempt - 1, after.as_ref())).await;
        }
    }
}

/// Appends the bytes of a body, of which `left` are to come.
async fn receive(mut answer: Response, mut left: u64, bytes: &mut Vec<u8>) -> Outcome<()> {
    while left > 0 {
        let block = answer.chunk().await.map_err(|error| Trouble::failed(&error.without_url()))?;
        let Some(block) = block else {
            return Err(Trouble::Failed("the server ended before it had sent all".to_owned()));
        };
        if block.len() as u64 > left {
            return Err(Trouble::Unfit("the server sent more than it was asked for".to_owned()));
        }
        bytes.extend_from_slice(&block);
        left -= block.len() as u64;
    }
    Ok(())
}

/// What a status means, if it is not success.
fn judge(status: StatusCode, attempts: u32) -> Option<Trouble> {
    let again = status.is_server_error()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    match status {
        status if status.is_success() => None,
        StatusCode::NOT_FOUND | StatusCode::GONE => Some(Trouble::Missing),
        StatusCode::PRECONDITION_FAILED | StatusCode::RANGE_NOT_SATISFIABLE => Some(Trouble::Changed),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Some(Trouble::Forbidden(status.to_string())),
        status if again => Some(Trouble::Failed(format!("the server answers {status}, {attempts} times"))),
        status => Some(Trouble::Unfit(format!("the server answers {status}"))),
    }
}

/// How long to wait after so many failures, unless the server says how long.
fn pause(failures: u32, after: Option<&HeaderValue>) -> Duration {
    let said = after.and_then(|after| after.to_str().ok()?.parse().ok()).map(Duration::from_secs);
    said.unwrap_or(PAUSE.0 * 2u32.saturating_pow(failures.min(20))).min(PAUSE.1)
}

/// The [`part`] of an object without a byte.
const NOTHING: (u64, u64) = (0, 0);

/// The first byte of the part that an answer is, and the bytes of the whole.
fn part(answer: &Response) -> Option<(u64, u64)> {
    let range = answer.headers().get(CONTENT_RANGE)?.to_str().ok()?.strip_prefix("bytes ")?;
    let (range, whole) = range.split_once('/')?;
    if (range, whole) == ("*", "0") {
        return Some(NOTHING);
    }
    let (start, _) = range.split_once('-')?;
    Some((start.parse().ok()?, whole.parse().ok()?))
}

fn no_parts() -> Trouble {
    Trouble::Unfit("the server does not send parts of files; fetch it to a file first".to_owned())
}

fn number(headers: &HeaderMap, name: &str) -> u64 {
    headers.get(name).and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or_default()
}

/// What changes when the object does.
fn version(headers: &HeaderMap) -> Option<String> {
    let tag = headers.get(ETAG).and_then(|tag| Some(tag.to_str().ok()?.to_owned()));
    let time = || headers.get(LAST_MODIFIED).and_then(|time| Some(format!("{TIME}{}", time.to_str().ok()?)));
    tag.or_else(time)
}
