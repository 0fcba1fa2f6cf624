//! The one place that gives a page a form.

use super::accept::AnswerForm;
use super::answer::{HttpAnswer, HttpError};
use crate::serve::html::{self, PageAsked};
use crate::serve::pages::ServedPage;

/// A page as it is sent.
pub(super) fn rendered(
    page: &ServedPage,
    form: AnswerForm,
    asked: &PageAsked<'_>,
) -> Result<HttpAnswer, HttpError> {
    match form {
        AnswerForm::Data => HttpAnswer::json(page),
        AnswerForm::Page => Ok(HttpAnswer::page(html::page(page, asked))),
    }
}
