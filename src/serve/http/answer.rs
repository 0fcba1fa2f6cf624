//! Answers: data, pages and files, and errors as either, with their headers.

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
            Error::InputGone { .. } | Error::InputChanged { .. } => {
                "the inputs are not as they were; the operator is told which"
            }
            Error::Io { .. } => "what is served cannot be read; its operator is told why",
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
            error @ Error::NoDocument { .. } => HttpError::missing(error.to_string()),
            error @ Error::NotAnOutput(..) => HttpError {
                within: Some(error.to_string()),
                ..HttpError::busy(5, "the output that is served is not as it was; its operator is told how")
            },
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
/// A page.
const HTML: &str = "text/html; charset=utf-8";
/// What a page may do: be shown, as files of this server say, and send its forms there.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; \
                           frame-ancestors 'none'; base-uri 'none'";
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

    /// A page.
    pub(in crate::serve) fn page(page: String) -> HttpAnswer {
        let policy = (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
        // Without it a browser does not say to this very server which page a form is from.
        let referrer = (header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        HttpAnswer { more: vec![policy, referrer], ..HttpAnswer::of(StatusCode::OK, HTML, page) }
    }

    /// Leads a browser to a page of this server, so that going back or asking again does not send its form again.
    pub(in crate::serve) fn see(address: &str) -> Result<HttpAnswer, HttpError> {
        let to = HeaderValue::from_str(address).map_err(|_| HttpError::bad("there is no such page"))?;
        let more = vec![(header::LOCATION, to)];
        Ok(HttpAnswer { more, ..HttpAnswer::text(StatusCode::SEE_OTHER, "") })
    }

    /// A file that is the same for everybody: `tag` tells its version. Under an address of this very version it may be kept.
    pub(in crate::serve) fn file(
        content: &'static str,
        bytes: &'static str,
        tag: &HeaderValue,
        lasting: bool,
    ) -> HttpAnswer {
        let keep = if lasting { "public, max-age=31536000, immutable" } else { "no-cache" };
        let more = vec![(header::ETAG, tag.clone()), (header::CACHE_CONTROL, HeaderValue::from_static(keep))];
        HttpAnswer { more, ..HttpAnswer::of(StatusCode::OK, content, bytes) }
    }

    /// An error as data.
    pub(in crate::serve) fn error(error: &HttpError) -> HttpAnswer {
        let body = json!({ "error": { "status": error.status.as_u16(), "message": error.message } });
        HttpAnswer::of(error.status, JSON, body.to_string()).failed(error)
    }

    /// The answer with the status of an error, and what its headers say.
    pub(in crate::serve) fn failed(mut self, error: &HttpError) -> HttpAnswer {
        self.status = error.status;
        let answer = &mut self;
        let mut add = |name: HeaderName, value: Option<String>| {
            let value = value.and_then(|value| HeaderValue::from_str(&value).ok());
            answer.more.extend(value.map(|value| (name, value)));
        };
        add(header::RETRY_AFTER, error.retry_after.map(|seconds| seconds.to_string()));
        add(header::ALLOW, error.allow.clone());
        let asks = error.status == StatusCode::UNAUTHORIZED;
        add(header::WWW_AUTHENTICATE, asks.then(|| "Bearer realm=\"alike\"".to_owned()));
        self
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
            (header::VARY, "Accept"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        for (name, value) in self.more {
            headers.insert(name, value);
        }
        response
    }
}
