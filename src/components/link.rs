//! A link between two contents.

use crate::document::Doc;

/// Two contents that are linked. Which of them comes first makes no difference; a content linked to itself is not linked.
pub type Link = (Doc, Doc);

/// The link with its lesser content first.
pub(super) fn ordered((a, b): Link) -> Link {
    (a.min(b), a.max(b))
}
