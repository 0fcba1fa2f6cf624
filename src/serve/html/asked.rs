//! What a page is an answer to.

use super::ServedKind;
use crate::serve::http::query::Query;

/// What was asked: forms and links of a page say it again.
pub(in crate::serve) struct PageAsked<'a> {
    /// What is served.
    pub(in crate::serve) of: ServedKind,
    /// What stood behind the question mark.
    pub(in crate::serve) query: &'a Query,
    /// The text that was to be checked.
    pub(in crate::serve) text: Option<&'a str>,
}
