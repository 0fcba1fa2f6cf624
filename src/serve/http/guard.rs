//! Who may ask: the name of the server that was meant, the token, and pages of other sites.

use std::net::IpAddr;

use http::header::{self, HeaderMap};
use http::{Method, StatusCode};

use super::answer::HttpError;
use super::routes::Access;
use crate::serve::options::{AccessToken, ServeOptions};

/// What a client has shown.
pub(super) struct Asking<'a> {
    pub(super) method: &'a Method,
    pub(super) headers: &'a HeaderMap,
    /// The host of an address that is given whole.
    pub(super) authority: Option<&'a str>,
}

/// Refuses whoever may not ask.
///
/// # Errors
/// 400, 401, 403 and 421.
pub(super) fn admit(options: &ServeOptions, asking: &Asking<'_>, access: Access) -> Result<(), HttpError> {
    check_host(options, asking)?;
    if asking.method == Method::POST {
        refuse_other_sites(options, asking)?;
    }
    let token_needed = match access {
        Access::Open => false,
        // Forms show the token in their body: it is looked for where that is read.
        Access::Read | Access::TokenIfAny => options.is_private(),
        Access::Token => true,
    };
    if !token_needed {
        return Ok(());
    }
    let Some(token) = &options.token else {
        let what = "this server only reads; it takes changes if it is started with --token-file";
        return Err(HttpError::new(StatusCode::FORBIDDEN, what));
    };
    match shows(asking.headers, token) {
        true => Ok(()),
        false => {
            Err(HttpError::new(StatusCode::UNAUTHORIZED, "expected Authorization: Bearer and the token"))
        }
    }
}

/// Whether a request shows the token in its head.
pub(super) fn shows(headers: &HeaderMap, token: &AccessToken) -> bool {
    let shown = headers.get(header::AUTHORIZATION).map(http::HeaderValue::as_bytes);
    let (scheme, shown) = shown.and_then(|value| value.split_at_checked(7)).unwrap_or_default();
    scheme.eq_ignore_ascii_case(b"Bearer ") && token.is(shown.trim_ascii())
}

/// Refuses a form of which its browser does not say that it stood on a page of this server. Any page can send a form anywhere
/// without asking, and one that writes needs no more than that; a name of the origin that is another one was refused before.
///
/// # Errors
/// 403.
pub(super) fn check_own_form(headers: &HeaderMap) -> Result<(), HttpError> {
    let site = headers.get("sec-fetch-site").map(http::HeaderValue::as_bytes);
    match headers.contains_key(header::ORIGIN) && site.is_none_or(|site| site == b"same-origin") {
        true => Ok(()),
        false => {
            let what = "only forms on pages of this server are taken; programs send application/json";
            Err(HttpError::new(StatusCode::FORBIDDEN, what))
        }
    }
}

/// The name of a host without its port, in lower case.
fn name(host: &str) -> String {
    let end = match host.strip_prefix('[') {
        Some(rest) => rest.find(']').map_or(host.len(), |end| end + 2),
        None => host.rfind(':').unwrap_or(host.len()),
    };
    host[..end].to_ascii_lowercase()
}

/// Whether a name is one of this machine.
fn is_local(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Of a server that only this machine reaches, a page in a browser could ask under a name of its own that leads here.
fn check_host(options: &ServeOptions, asking: &Asking<'_>) -> Result<(), HttpError> {
    if !options.is_local() {
        return Ok(());
    }
    let header = asking.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(host) = asking.authority.or(header) else {
        return Err(HttpError::bad("expected a header Host"));
    };
    let name = name(host);
    if is_local(&name) || options.hosts.contains(&name) {
        return Ok(());
    }
    let what = format!("this server is not {name:?}; --host NAME lets it be asked under another name");
    Err(HttpError::new(StatusCode::MISDIRECTED_REQUEST, what))
}

/// Pages of other sites ask for nothing that is computed or changed.
fn refuse_other_sites(options: &ServeOptions, asking: &Asking<'_>) -> Result<(), HttpError> {
    let Some(origin) = asking.headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    let own = asking.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let same = origin.is_some_and(|origin| {
        own.is_some_and(|own| own.eq_ignore_ascii_case(origin)) || options.hosts.contains(&name(origin))
    });
    match same {
        true => Ok(()),
        false => Err(HttpError::new(StatusCode::FORBIDDEN, "pages of other sites cannot ask this")),
    }
}

/// Refuses a body that is said to be anything but what is expected.
///
/// # Errors
/// 415.
pub(super) fn content_type<'a>(headers: &HeaderMap, expected: &[&'a str]) -> Result<&'a str, HttpError> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let given = given.split(';').next().unwrap_or_default().trim();
    let found = expected.iter().find(|known| known.eq_ignore_ascii_case(given));
    let wrong = || {
        let what = format!("expected Content-Type: {}", expected.join(" or "));
        HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, what)
    };
    found.copied().ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hosts() {
        for (host, expected, local) in [
            ("localhost:8080", "localhost", true),
            ("LOCALHOST", "localhost", true),
            ("127.0.0.1:1", "127.0.0.1", true),
            ("127.8.9.1", "127.8.9.1", true),
            ("[::1]:80", "[::1]", true),
            ("[::1]", "[::1]", true),
            ("evil.example:8080", "evil.example", false),
            ("localhost.evil.example", "localhost.evil.example", false),
            ("127.0.0.1.evil.example", "127.0.0.1.evil.example", false),
            ("10.0.0.1", "10.0.0.1", false),
            ("[", "[", false),
            ("", "", false),
        ] {
            assert_eq!(name(host), expected);
            assert_eq!(is_local(expected), local, "{host}");
        }
    }
}
