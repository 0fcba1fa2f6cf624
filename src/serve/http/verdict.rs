//! A verdict on two documents: who gives it, on what, and that it is written before it is answered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;
use serde::Deserialize;

use super::accept::AnswerForm;
use super::answer::{HttpAnswer, HttpError};
use super::body::Body;
use super::guard::{check_own_form, content_type, shows};
use super::query::Query;
use crate::error::Error;
use crate::printable::counted;
use crate::progress::Progress;
use crate::serve::html::address_of_pair;
use crate::serve::state::commit::ServedCommit;
use crate::serve::state::run::ServedRun;
use crate::serve::state::served::{Served, ServedSubject};
use crate::serve::state::threads::Lane;
use crate::serve::state::verdicts::{PairVerdict, VerdictFile};

/// Most bytes of a verdict and a token.
const MOST: u64 = 16 << 10;
/// Pages that a form may lead back to.
const BACK: [&str; 2] = ["/clusters/", "/compare?"];

/// A verdict as programs send it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SentVerdict {
    verdict: PairVerdict,
}

/// A verdict that was received, from somebody who may give it.
pub(super) struct ReceivedVerdict {
    ids: [String; 2],
    verdict: PairVerdict,
    /// The page that asked.
    back: Option<String>,
}

/// Reads a verdict.
///
/// # Errors
/// 400, 401, 403, 413, 415 and 422.
pub(super) async fn received(
    served: &Served,
    head: &Parts,
    body: &mut Body,
) -> Result<ReceivedVerdict, HttpError> {
    file(served)?;
    let query = Query::parse(head.uri.query(), &["a", "b", "back"])?;
    let types = ["application/json", "application/x-www-form-urlencoded"];
    let is_json = content_type(&head.headers, &types)? == types[0];
    if !is_json {
        check_own_form(&head.headers)?;
    }
    let bytes = body.whole(served.options.body.min(MOST)).await?;
    let sent = if is_json { Query::default() } else { form(&bytes)? };
    if let Some(token) = &served.options.token
        && !shows(&head.headers, token)
        && !sent.get("token").is_some_and(|shown| token.is(shown.as_bytes()))
    {
        let what =
            "verdicts take the token: Authorization: Bearer and the token, or the field \"token\" of a form";
        return Err(HttpError::new(StatusCode::UNAUTHORIZED, what));
    }
    let wrong = |why| {
        HttpError::bad(format!(
            "expected an object like {{\"verdict\": \"same\"}}, or \"different\" or \"unsure\" in it: {why}"
        ))
    };
    let verdict = match is_json {
        true => serde_json::from_slice::<SentVerdict>(&bytes).map_err(wrong)?.verdict,
        false => of_form(&sent)?,
    };
    let ids = [query.needed("a")?.to_owned(), query.needed("b")?.to_owned()];
    let refused = |what: &str| Err(HttpError::new(StatusCode::UNPROCESSABLE_ENTITY, what));
    if ids[0] == ids[1] {
        return refused("a verdict is on two documents, and these have one id");
    }
    if ids.iter().any(String::is_empty) {
        return refused("labels cannot name a document whose id is empty");
    }
    let back = query.get("back").map(|back| own_page(back).map(str::to_owned)).transpose()?;
    Ok(ReceivedVerdict { ids, verdict, back })
}

/// What a form says.
fn of_form(sent: &Query) -> Result<PairVerdict, HttpError> {
    let wrong = || HttpError::bad("the form's field \"verdict\" is same, different or unsure");
    sent.get("verdict").and_then(|name| name.parse().ok()).ok_or_else(wrong)
}

/// The file of verdicts.
fn file(served: &Served) -> Result<&VerdictFile, HttpError> {
    let what = "this server takes no verdicts; start it with --verdicts FILE";
    served.verdicts.as_ref().ok_or_else(|| HttpError::new(StatusCode::FORBIDDEN, what))
}

/// The fields of a form.
fn form(bytes: &[u8]) -> Result<Query, HttpError> {
    let text = std::str::from_utf8(bytes).map_err(|_| HttpError::bad("the form is not UTF-8"))?;
    Query::parse(Some(text), &["verdict", "token"])
}

/// The address of a page of this server, and of no other.
fn own_page(address: &str) -> Result<&str, HttpError> {
    let is_plain = address.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    match is_plain && BACK.iter().any(|begin| address.starts_with(begin)) {
        true => Ok(address),
        false => {
            Err(HttpError::bad("parameter \"back\" is the address of a cluster or of two documents here"))
        }
    }
}

/// Writes a verdict on documents that are there, and answers it.
///
/// # Errors
/// 404 and 422, those of what is served, and 500 and 507 if it cannot be written.
pub(super) async fn give(
    served: &Arc<Served>,
    said: ReceivedVerdict,
    form: AnswerForm,
) -> Result<HttpAnswer, HttpError> {
    let (subject, writing) = (served.subject(), Arc::clone(served));
    let work = move |progress: &Progress| {
        let ReceivedVerdict { ids, verdict, back } = said;
        match &subject {
            ServedSubject::Commit(commit) => check_stored(commit, &ids)?,
            ServedSubject::Run(run) => check_listed(run, &ids, progress)?,
        }
        let [a, b] = &ids;
        let line = file(&writing)?.add(a, b, verdict).map_err(not_written)?;
        match form {
            AnswerForm::Data => HttpAnswer::json(&line),
            AnswerForm::Page => HttpAnswer::see(&back.unwrap_or_else(|| address_of_pair(a, b))),
        }
    };
    served.threads.run(Lane::Slow, work).await
}

/// What whoever gave a verdict is told when it could not be written.
fn not_written(error: Error) -> HttpError {
    match error {
        Error::Limit(what) => HttpError::new(StatusCode::INSUFFICIENT_STORAGE, what),
        // No name of a folder is in that.
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => HttpError::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "the verdict could not be written: the disk is full",
        ),
        error => {
            let what = "the verdict could not be written; the server's operator is told why";
            let told = HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, what);
            HttpError { within: Some(error.to_string()), ..told }
        }
    }
}

/// Refuses documents that a commit has not.
fn check_stored(commit: &ServedCommit, ids: &[String; 2]) -> Result<(), HttpError> {
    let found = commit.snapshot().documents_of(ids)?;
    match found.iter().zip(ids).find(|(found, _)| found.is_none()) {
        Some((_, id)) => Err(HttpError::missing(format!("there is no document {id:?}"))),
        None => Ok(()),
    }
}

/// Refuses documents that the inputs of an output have not, or several of one id: labels could not tell them apart.
fn check_listed(run: &ServedRun, ids: &[String; 2], progress: &Progress) -> Result<(), HttpError> {
    let asked: BTreeSet<String> = ids.iter().cloned().collect();
    let found =
        run.ask(progress, |questions| questions.find.find(&asked, &BTreeMap::new(), questions.progress))?;
    for id in ids {
        match found.iter().filter(|document| document.id.as_deref() == Some(id.as_str())).count() {
            0 => {
                let what = format!("no document has the id {id:?}; labels name documents by their ids");
                return Err(HttpError::missing(what));
            }
            1 => {}
            count => {
                let count = counted(count as u64, "document");
                let what = format!("{count} have the id {id:?}; labels need ids of their own");
                return Err(HttpError::new(StatusCode::UNPROCESSABLE_ENTITY, what));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_leads_back_to_this_server_only() {
        for own in ["/clusters/1.2?member=a%0A#member", "/compare?a=1&b=2", "/clusters/7"] {
            assert_eq!(own_page(own).expect("a page"), own);
        }
        for other in [
            "",
            "/",
            "//evil.example",
            "https://evil.example/clusters/",
            "/clusters/\\",
            "/clusters/ x",
            "/clusters/\n",
            "/compare",
        ] {
            assert!(own_page(other).is_err(), "{other}");
        }
    }
}
