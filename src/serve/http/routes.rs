//! The routes: which path and method is answered by what, and who may ask.

use super::answer::HttpError;
use super::query::decoded;
use http::{Method, StatusCode};

/// What answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// What there is.
    Summary,
    /// A page of clusters.
    Clusters,
    /// A cluster with a page of its members.
    Cluster,
    /// A page of documents.
    Documents,
    /// A document.
    Document,
    /// The same by a parameter: there are ids that no path can have.
    DocumentById,
    /// Two documents.
    Compare,
    /// A page of the change logs.
    Changes,
    /// A form for a text.
    CheckForm,
    /// Texts held against the collection.
    Check,
    /// A verdict on two documents.
    Verdict,
    /// Documents added and replaced.
    Load,
    /// Documents deleted.
    Delete,
    /// What is measured of the server.
    Metrics,
    /// Whether it lives.
    Healthz,
    /// Whether it answers from the newest commit.
    Readyz,
    /// The description of all this.
    OpenApi,
    /// A file that pages need.
    Static,
}

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody.
    Open,
    /// Who may read.
    Read,
    /// Who has the token.
    Token,
    /// Who may read, and has the token if there is one.
    TokenIfAny,
}

/// A route.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The path. What stands in braces is the rest of a path, percent-decoded.
    pub path: &'static str,
    /// The method; `GET` stands for `HEAD` too.
    pub method: &'static str,
    /// What answers.
    pub endpoint: Endpoint,
    /// Who may ask.
    pub access: Access,
}

const fn get(path: &'static str, endpoint: Endpoint, access: Access) -> Route {
    Route { path, method: "GET", endpoint, access }
}

const fn post(path: &'static str, endpoint: Endpoint, access: Access) -> Route {
    Route { path, method: "POST", endpoint, access }
}

/// All routes.
pub const ROUTES: &[Route] = &[
    get("/", Endpoint::Summary, Access::Read),
    get("/clusters", Endpoint::Clusters, Access::Read),
    get("/clusters/{number}", Endpoint::Cluster, Access::Read),
    get("/documents", Endpoint::Documents, Access::Read),
    get("/documents/{id}", Endpoint::Document, Access::Read),
    get("/document", Endpoint::DocumentById, Access::Read),
    get("/compare", Endpoint::Compare, Access::Read),
    get("/changes", Endpoint::Changes, Access::Read),
    get("/check", Endpoint::CheckForm, Access::Read),
    post("/check", Endpoint::Check, Access::Read),
    post("/verdicts", Endpoint::Verdict, Access::TokenIfAny),
    post("/load", Endpoint::Load, Access::Token),
    post("/delete", Endpoint::Delete, Access::Token),
    get("/metrics", Endpoint::Metrics, Access::Read),
    get("/healthz", Endpoint::Healthz, Access::Open),
    get("/readyz", Endpoint::Readyz, Access::Open),
    get("/openapi.json", Endpoint::OpenApi, Access::Open),
    get("/static/{name}", Endpoint::Static, Access::Open),
];

/// A route, and what its path says.
#[derive(Debug)]
pub(super) struct Routed {
    pub(super) route: &'static Route,
    /// The name in the path as it is written.
    pub(super) name: String,
    /// The same without the suffix `.json`, if it has one: an id may end so itself.
    pub(super) stripped: Option<String>,
}

/// The ending that asks for JSON.
pub(super) const SUFFIX: &str = ".json";

/// The route of a path and a method.
pub(super) fn route(path: &str, method: &Method) -> Result<Routed, HttpError> {
    let stripped = path.strip_suffix(SUFFIX).map(|path| if path.is_empty() { "/" } else { path });
    let mut allowed: Vec<&'static str> = Vec::new();
    for route in ROUTES {
        let Some(routed) = matched(route, path, stripped)? else { continue };
        if route.method == method.as_str() || route.method == "GET" && method == Method::HEAD {
            return Ok(routed);
        }
        allowed.extend(if route.method == "GET" { &["GET", "HEAD"][..] } else { &["POST"] });
    }
    if allowed.is_empty() {
        return Err(HttpError::new(
            StatusCode::NOT_FOUND,
            "there is nothing here; GET /openapi.json describes all paths",
        ));
    }
    let what = format!("this path takes {}", allowed.join(", "));
    Err(HttpError { allow: Some(allowed.join(", ")), ..HttpError::new(StatusCode::METHOD_NOT_ALLOWED, what) })
}

/// A route whose path this is, with or without the suffix.
fn matched(route: &'static Route, path: &str, stripped: Option<&str>) -> Result<Option<Routed>, HttpError> {
    let Some((begin, _)) = route.path.split_once('{') else {
        // The suffix of the root stands behind its slash.
        let of_root = route.path == "/" && path == "/.json";
        let is = path == route.path || stripped == Some(route.path) || of_root;
        return Ok(is.then(|| Routed { route, name: String::new(), stripped: None }));
    };
    let Some(name) = path.strip_prefix(begin).filter(|name| !name.is_empty()) else { return Ok(None) };
    let stripped = name.strip_suffix(SUFFIX).map(|name| decoded(name, false)).transpose()?;
    Ok(Some(Routed { route, name: decoded(name, false)?, stripped }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_routes() {
        let found = |path: &str| {
            let routed = route(path, &Method::GET).expect("a route");
            (routed.route.endpoint, routed.name, routed.stripped)
        };
        let plain = |endpoint| (endpoint, String::new(), None);
        for (path, endpoint) in [
            ("/", Endpoint::Summary),
            ("/.json", Endpoint::Summary),
            ("/clusters", Endpoint::Clusters),
            ("/clusters.json", Endpoint::Clusters),
            ("/openapi.json", Endpoint::OpenApi),
            ("/healthz", Endpoint::Healthz),
        ] {
            assert_eq!(found(path), plain(endpoint), "{path}");
        }
        assert_eq!(found("/clusters/3.12"), (Endpoint::Cluster, "3.12".to_owned(), None));
        assert_eq!(
            found("/documents/a%2Fb/../c.json"),
            (Endpoint::Document, "a/b/../c.json".to_owned(), Some("a/b/../c".to_owned()))
        );
        assert_eq!(found("/documents/x%2Ejson").2, None);
        let refused = |path: &str, method: Method| {
            let refused = route(path, &method).expect_err("refused");
            (refused.status.as_u16(), refused.allow)
        };
        assert_eq!(refused("/nothing", Method::GET), (404, None));
        assert_eq!(refused("/clusters/", Method::GET), (404, None));
        assert_eq!(refused("/clusters", Method::POST), (405, Some("GET, HEAD".to_owned())));
        assert_eq!(refused("/load", Method::GET), (405, Some("POST".to_owned())));
        assert_eq!(refused("/check", Method::PUT), (405, Some("GET, HEAD, POST".to_owned())));
        assert_eq!(refused("/documents/%ff", Method::GET), (400, None));
        assert_eq!(refused("/documents/%2", Method::GET), (400, None));
    }
}
