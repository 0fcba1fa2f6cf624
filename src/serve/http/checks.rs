//! Requests for what texts resemble: those that wait at the same moment are looked up together.

use std::sync::Arc;

use bytes::Bytes;

use super::accept::AnswerForm;
use super::answer::{HttpAnswer, HttpError};
use super::query::{Query, form_fields};
use super::rendered::rendered;
use crate::progress::Progress;
use crate::serve::html::{PageAsked, ServedKind};
use crate::serve::pages::{CheckAsked, CheckPage, ServedPage, check, check_together};
use crate::serve::state::commit::ServedCommit;

/// A request, its body read.
pub(in crate::serve) struct CheckRequest {
    pub(super) commit: Arc<ServedCommit>,
    pub(super) bytes: Bytes,
    /// Whether the body is JSON, and not a form.
    pub(super) is_json: bool,
    pub(super) form: AnswerForm,
    pub(super) of: ServedKind,
}

impl CheckRequest {
    /// What is asked.
    fn asked(&self) -> Result<CheckAsked, HttpError> {
        let wrong = |error| HttpError::bad(format!("expected {{\"text\": \"...\"}}: {error}"));
        match self.is_json {
            true => serde_json::from_slice(&self.bytes).map_err(wrong),
            false => {
                let (text, within) = form_fields(&self.bytes, "text", "within")?;
                Ok(CheckAsked::one(text, within))
            }
        }
    }

    /// A page as this request wants it.
    fn answer(&self, asked: &CheckAsked, page: CheckPage) -> Result<HttpAnswer, HttpError> {
        // Only one text has a page.
        let form = if asked.text().is_some() { self.form } else { AnswerForm::Data };
        let query = &Query::default();
        let shown = PageAsked { of: self.of, query, text: asked.text(), verdicts: None };
        rendered(&ServedPage::Check(page), form, &shown)
    }
}

/// Answers requests: those with one text each, of one commit, with one look at its tables.
pub(in crate::serve) fn answered_checks(
    requests: &[CheckRequest],
    progress: &Progress,
) -> Vec<Result<HttpAnswer, HttpError>> {
    let asked: Vec<Result<CheckAsked, HttpError>> = requests.iter().map(CheckRequest::asked).collect();
    let mut pages: Vec<Option<CheckPage>> = requests.iter().map(|_| None).collect();
    if let [first, _, ..] = requests {
        let has_one = |at: &usize| {
            let is_one = asked[*at].as_ref().is_ok_and(|asked| asked.text().is_some());
            is_one && Arc::ptr_eq(&requests[*at].commit, &first.commit)
        };
        let places: Vec<usize> = (0..requests.len()).filter(has_one).collect();
        let texts: Vec<&CheckAsked> = places.iter().filter_map(|at| asked[*at].as_ref().ok()).collect();
        // What fails together is asked one by one: each has what is wrong with it alone.
        if let Ok(found) = check_together(&first.commit, &texts, progress) {
            places.into_iter().zip(found).for_each(|(at, page)| pages[at] = Some(page));
        }
    }
    let answers = requests.iter().zip(asked).zip(pages).map(|((request, asked), page)| {
        let asked = asked?;
        let page = page.map_or_else(|| check(&request.commit, &asked, progress), Ok)?;
        request.answer(&asked, page)
    });
    answers.collect()
}
