//! A request and its answer.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::time::timeout;

use super::accept::AnswerForm;
use super::answer::{HttpAnswer, HttpError};
use super::body::Body;
use super::change;
use super::checks::{CheckRequest, answered_checks};
use super::connections::{Connections, Waiting};
use super::guard::{Asking, admit, content_type};
use super::measured::{Gauges, ServerMetrics};
use super::query::Query;
use super::rendered::rendered;
use super::routes::{Endpoint, Routed, SUFFIX, route};
use super::verdict;
use crate::serve::OPENAPI;
use crate::serve::html::assets::Asset;
use crate::serve::html::{self, FormPage, PageAsked, PageVerdicts};
use crate::serve::pages::PageName;
use crate::serve::state::served::{Served, ServedSubject};
use crate::serve::state::threads::Lane;
use crate::serve::state::together::QuestionQueue;

/// What all requests have in common.
pub(super) struct Desk {
    pub(super) served: Arc<Served>,
    pub(super) connections: Arc<Connections>,
    pub(super) measured: ServerMetrics,
    /// Small texts that are to be held against a collection.
    pub(super) checks: Arc<QuestionQueue<CheckRequest, HttpAnswer>>,
}

/// Bytes of texts up to which checking them is quick.
const QUICK_BYTES: usize = 64 << 10;

impl Desk {
    /// Answers a request. Nothing that it says can make this fail.
    pub(super) async fn answer(
        &self,
        client: &Arc<Waiting>,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let begun = Instant::now();
        let (head, incoming) = request.into_parts();
        let patience = self.served.options.timeout;
        let mut body =
            Body::new(incoming, &head.headers, Arc::clone(client), (patience, &self.served.bodies));
        let form = match head.uri.path().ends_with(SUFFIX) {
            true => AnswerForm::Data,
            false => AnswerForm::asked(&head.headers),
        };
        let routed = route(head.uri.path(), &head.method);
        let path = routed.as_ref().map_or("none", |routed| routed.route.path);
        let outcome = match routed {
            Ok(routed) => self.admitted(client, &head, (routed, form), &mut body).await,
            Err(error) => Err(error),
        };
        let answer = outcome.unwrap_or_else(|error| {
            self.note(path, &error);
            match form {
                AnswerForm::Data => HttpAnswer::error(&error),
                AnswerForm::Page => HttpAnswer::page(html::error(&error, self.served.kind())).failed(&error),
            }
        });
        self.measured.add(path, answer.status.as_u16(), begun.elapsed());
        if !answer.status.is_success() && !answer.status.is_redirection() {
            client.heard();
            body.drain().await;
        }
        client.heard();
        Ok(answer.response())
    }

    /// Tells the operator what failed within.
    fn note(&self, path: &str, error: &HttpError) {
        if let Some(within) = &error.within {
            self.served.note(&format!("{path}: {within}"));
            if error.damaged {
                self.served.note_damage();
            }
        }
    }

    async fn admitted(
        &self,
        client: &Waiting,
        head: &Parts,
        (routed, form): (Routed, AnswerForm),
        body: &mut Body,
    ) -> Result<HttpAnswer, HttpError> {
        let authority = head.uri.authority().map(http::uri::Authority::as_str);
        let asking = Asking { method: &head.method, headers: &head.headers, authority };
        admit(&self.served.options, &asking, routed.route.access)?;
        match routed.route.endpoint {
            // These may take as long as they do.
            Endpoint::Load => {
                self.bare(head)?;
                change::load(&self.served, &head.headers, body).await
            }
            Endpoint::Delete => {
                self.bare(head)?;
                change::delete(&self.served, &head.headers, body).await
            }
            _ => {
                let late = |_| HttpError::busy(1, "the answer took too long");
                let answered = self.answered(client, head, (routed, form), body);
                timeout(self.served.options.timeout, answered).await.map_err(late)?
            }
        }
    }

    /// A request without parameters.
    fn bare(&self, head: &Parts) -> Result<Query, HttpError> {
        Query::parse(head.uri.query(), &[])
    }

    async fn answered(
        &self,
        client: &Waiting,
        head: &Parts,
        (Routed { route, name, stripped }, form): (Routed, AnswerForm),
        body: &mut Body,
    ) -> Result<HttpAnswer, HttpError> {
        let is_page = form == AnswerForm::Page;
        let page = match route.endpoint {
            Endpoint::Summary => PageName::Summary,
            Endpoint::Clusters => PageName::Clusters,
            Endpoint::Cluster => PageName::Cluster(stripped.unwrap_or(name)),
            Endpoint::Documents => PageName::Documents,
            Endpoint::Document => PageName::Document(name, stripped),
            Endpoint::DocumentById => PageName::DocumentById,
            Endpoint::Compare if is_page && head.uri.query().unwrap_or_default().is_empty() => {
                return Ok(HttpAnswer::page(html::form(FormPage::Compare, self.served.kind())));
            }
            Endpoint::Compare => PageName::Compare,
            Endpoint::Changes => PageName::Changes,
            Endpoint::Check => {
                self.bare(head)?;
                let types = ["application/json", "application/x-www-form-urlencoded"];
                let is_json = content_type(&head.headers, &types)? == types[0];
                let bytes = body.whole(self.served.options.body).await?;
                client.serving();
                return self.check(bytes, is_json, form).await;
            }
            Endpoint::CheckForm => {
                self.bare(head)?;
                let commit = self.served.collection()?.commit();
                if !is_page {
                    return Err(no_form());
                }
                let within = &commit.snapshot().manifest().config.input.within_field;
                return Ok(HttpAnswer::page(html::form(FormPage::Check { within }, self.served.kind())));
            }
            Endpoint::Verdict => {
                let said = verdict::received(&self.served, head, body).await?;
                client.serving();
                return verdict::give(&self.served, said, form).await;
            }
            Endpoint::Static => return file(head, &name),
            Endpoint::OpenApi => return self.bare(head).map(|_| HttpAnswer::raw_json(OPENAPI)),
            Endpoint::Healthz => return self.bare(head).map(|_| HttpAnswer::text(StatusCode::OK, "ok\n")),
            Endpoint::Readyz => return self.bare(head).map(|_| self.ready()),
            Endpoint::Metrics => return self.bare(head).map(|_| self.metrics()),
            // They are answered elsewhere.
            Endpoint::Load | Endpoint::Delete => return Err(HttpError::bad("not here")),
        };
        client.serving();
        let query = Query::parse(head.uri.query(), page.parameters())?;
        let lane = page.lane(&query);
        let (subject, served) = (self.served.subject(), Arc::clone(&self.served));
        let read = move |progress: &_| {
            let mut page = page.read((&subject, &served.options), &query, is_page, progress)?;
            if let Some(file) = &served.verdicts {
                page.judge(file);
            }
            let verdicts = PageVerdicts::of(&served);
            rendered(&page, form, &PageAsked { of: served.kind(), query: &query, text: None, verdicts })
        };
        self.served.threads.run(lane, read).await
    }

    async fn check(&self, bytes: Bytes, is_json: bool, form: AnswerForm) -> Result<HttpAnswer, HttpError> {
        let (commit, of) = (self.served.collection()?.commit(), self.served.kind());
        let quick = bytes.len() <= QUICK_BYTES;
        let request = CheckRequest { commit, bytes, is_json, form, of };
        if quick {
            return self.checks.ask(&self.served.threads, request).await;
        }
        let work = move |progress: &_| {
            let mut answers = answered_checks(&[request], progress);
            answers.pop().unwrap_or_else(|| Err(HttpError::bad("nothing was asked")))
        };
        self.served.threads.run(Lane::Slow, work).await
    }

    fn ready(&self) -> HttpAnswer {
        match self.served.trouble() {
            None => {
                let number = self.served.subject().number();
                let told = number.map_or_else(|| "output".to_owned(), |number| format!("commit {number}"));
                HttpAnswer::text(StatusCode::OK, told + "\n")
            }
            Some(what) => HttpAnswer::error(&HttpError::busy(1, what)),
        }
    }

    fn metrics(&self) -> HttpAnswer {
        let (commit, documents, clusters) = match self.served.subject() {
            ServedSubject::Commit(commit) => {
                let counts = commit.snapshot().manifest().counts;
                (commit.number(), counts.documents, counts.clusters)
            }
            ServedSubject::Run(run) => (0, run.count("documents"), run.count("clusters")),
        };
        let gauges = Gauges {
            connections: self.connections.count(),
            commit,
            documents,
            clusters,
            ready: self.served.trouble().is_none(),
        };
        let content = "text/plain; version=0.0.4; charset=utf-8";
        HttpAnswer { content, ..HttpAnswer::text(StatusCode::OK, self.measured.text(&gauges)) }
    }
}

/// Programs send their texts at once.
fn no_form() -> HttpError {
    let error =
        HttpError::new(StatusCode::METHOD_NOT_ALLOWED, "this path takes POST; the form is for browsers");
    HttpError { allow: Some("POST".to_owned()), ..error }
}

/// A file that pages need, unless the client has it.
fn file(head: &Parts, name: &str) -> Result<HttpAnswer, HttpError> {
    let query = Query::parse(head.uri.query(), &["v"])?;
    let asset = Asset::named(name).ok_or_else(|| HttpError::missing("there is no such file"))?;
    let version = asset.version();
    let tag = HeaderValue::from_str(&format!("\"{version}\""));
    let tag = tag.map_err(|_| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed"))?;
    let answer = HttpAnswer::file(asset.content, asset.bytes, &tag, query.get("v") == Some(version));
    Ok(if is_known(&head.headers, &tag) {
        HttpAnswer { status: StatusCode::NOT_MODIFIED, body: Bytes::new(), ..answer }
    } else {
        answer
    })
}

/// Whether a client has the version of a tag already.
fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let known = headers.get(header::IF_NONE_MATCH).map_or(&b""[..], HeaderValue::as_bytes);
    known.split(|byte| *byte == b',').any(|known| known.trim_ascii() == tag.as_bytes())
}
