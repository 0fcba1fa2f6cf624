//! Answers: JSON, and errors as JSON, all with the same headers.

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use http_body_util::Full;
use serde_json::json;

use crate::error::Error;

/// What is not answered, and why.
#[derive(Debug)]
pub(in crate::serve) struct HttpError {
    pub(in crate::serve) status: StatusCode,
    pub(in crate::serve) message: String,
    /// Seconds after which it may be asked again.
    pub(in crate::serve) retry_after: Option<u32>,
    /// Methods that the path takes.
    pub(in crate::serve) allow: Option<String>,
    /// What the operator is told, and nobody else.
    pub(in crate::serve) within: Option<String>,
    /// Whether the commit that was asked is damaged.
    pub(in crate::serve) damaged: bool,
}

impl HttpError {
    pub(in crate::serve) fn new(status: StatusCode, message: impl Into<String>) -> HttpError {
        let message = message.into();
        HttpError { status, message, retry_after: None, allow: None, within: None, damaged: false }
    }

    /// A request that makes no sense.
    pub(in crate::serve) fn bad(message: impl Into<String>) -> HttpError {
        HttpError::new(StatusCode::BAD_REQUEST, message)
    }

    /// What is not there.
    pub(in crate::serve) fn missing(message: impl Into<String>) -> HttpError {
        HttpError::new(StatusCode::NOT_FOUND, message)
    }

    /// What may be there the next time.
    pub(in crate::serve) fn busy(seconds: u32, message: impl Into<String>) -> HttpError {
        let error = HttpError::new(StatusCode::SERVICE_UNAVAILABLE, message);
        HttpError { retry_after: Some(seconds), ..error }
    }

    /// What failed within: those who ask learn nothing of files and folders.
    pub(in crate::serve) fn within(error: &Error) -> HttpError {
        let what = match error {
            Error::Damaged { .. } => "the collection is damaged; its operator is told where",
            Error::Io { .. } => "the collection cannot be read; its operator is told why",
            _ => "the server failed; its operator is told why",
        };
        let told = HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, what);
        let damaged = matches!(error, Error::Damaged { .. });
        HttpError { within: Some(error.to_string()), damaged, ..told }
    }
}

/// What is said of what a question to the collection failed with.
impl From<Error> for HttpError {
    fn from(error: Error) -> HttpError {
        match error {
            Error::Config(message) => HttpError::bad(message),
            Error::Interrupted => HttpError::busy(1, "the answer took too long, or the server is ending"),
            error => HttpError::within(&error),
        }
    }
}

/// What is answered.
#[derive(Clone, Debug)]
pub(in crate::serve) struct HttpAnswer {
    pub(in crate::serve) status: StatusCode,
    pub(in crate::serve) content: &'static str,
    pub(in crate::serve) body: Bytes,
    pub(in crate::serve) more: Vec<(HeaderName, HeaderValue)>,
}

/// JSON.
const JSON: &str = "application/json";
/// Plain text.
const TEXT: &str = "text/plain; charset=utf-8";

impl HttpAnswer {
    fn of(status: StatusCode, content: &'static str, body: impl Into<Bytes>) -> HttpAnswer {
        HttpAnswer { status, content, body: body.into(), more: Vec::new() }
    }

    /// Data as JSON.
    ///
    /// # Errors
    /// 500: there is no data of ours that cannot be JSON.
    pub(in crate::serve) fn json(value: &impl serde::Serialize) -> Result<HttpAnswer, HttpError> {
        let body = serde_json::to_vec(value)
            .map_err(|error| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        Ok(HttpAnswer::of(StatusCode::OK, JSON, body))
    }

    /// JSON as it stands.
    pub(in crate::serve) fn raw_json(text: &'static str) -> HttpAnswer {
        HttpAnswer::of(StatusCode::OK, JSON, text)
    }

    /// Text.
    pub(in crate::serve) fn text(status: StatusCode, text: impl Into<Bytes>) -> HttpAnswer {
        HttpAnswer::of(status, TEXT, text)
    }

    /// An error.
    pub(in crate::serve) fn error(error: &HttpError) -> HttpAnswer {
        let body = json!({ "error": { "status": error.status.as_u16(), "message": error.message } });
        let mut answer = HttpAnswer::of(error.status, JSON, body.to_string());
        let mut add = |name: HeaderName, value: Option<String>| {
            let value = value.and_then(|value| HeaderValue::from_str(&value).ok());
            answer.more.extend(value.map(|value| (name, value)));
        };
        add(header::RETRY_AFTER, error.retry_after.map(|seconds| seconds.to_string()));
        add(header::ALLOW, error.allow.clone());
        let asks = error.status == StatusCode::UNAUTHORIZED;
        add(header::WWW_AUTHENTICATE, asks.then(|| "Bearer realm=\"alike\"".to_owned()));
        answer
    }

    /// The answer as it is sent.
    pub(super) fn response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content));
        for (name, value) in [
            (header::CACHE_CONTROL, "no-store"),
            (
                header::CONTENT_SECURITY_POLICY,
                "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
            ),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (header::REFERRER_POLICY, "no-referrer"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.extend(self.more);
        response
    }
}
