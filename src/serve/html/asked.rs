//! What a page is an answer to.

use super::ServedKind;
use crate::serve::http::query::Query;
use crate::serve::state::served::Served;
use crate::serve::state::verdicts::VerdictFile;

/// What was asked: forms and links of a page say it again.
pub(in crate::serve) struct PageAsked<'a> {
    /// What is served.
    pub(in crate::serve) of: ServedKind,
    /// What stood behind the question mark.
    pub(in crate::serve) query: &'a Query,
    /// The text that was to be checked.
    pub(in crate::serve) text: Option<&'a str>,
    /// Where verdicts are taken, what they are and what they take.
    pub(in crate::serve) verdicts: Option<PageVerdicts<'a>>,
}

/// What a page needs that takes verdicts.
#[derive(Clone, Copy)]
pub(in crate::serve) struct PageVerdicts<'a> {
    /// What was said before.
    pub(in crate::serve) file: &'a VerdictFile,
    /// Whether a form has to show the token. Where reading takes it, whoever sees the form shows it in the head already.
    pub(in crate::serve) token: bool,
}

impl PageVerdicts<'_> {
    /// Those of a server, if it takes any.
    pub(in crate::serve) fn of(served: &Served) -> Option<PageVerdicts<'_>> {
        let token = served.options.token.is_some() && !served.options.is_private();
        served.verdicts.as_ref().map(|file| PageVerdicts { file, token })
    }
}
