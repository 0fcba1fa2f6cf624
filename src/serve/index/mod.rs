//! What is noted of all documents of what is served, in files that only this process has, so that some are found without reading
//! all: where each stands and what it is called, and which have a word in their titles.
//!
//! A note is made in one pass, in the background and in bounded memory; what does not fit goes to disk. Until it is there, whoever
//! needs it is told how far it is.

pub(super) mod inputs;
pub(super) mod making;
mod notes;
pub(super) mod stored;
mod words;

/// Bytes of memory that is held while notes are made, over all threads.
const MEMORY: usize = crate::limits::sized(64 << 20, 1 << 12);

/// Characters of a title that are shown; all its words are noted.
const TITLE: usize = 300;

/// The beginning of a title, as it is shown.
fn shown_title(title: &str) -> String {
    title.chars().take(TITLE).collect()
}

/// A document whose title has what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundTitle<T> {
    /// What is known of the document.
    pub(super) document: T,
    /// Its title, or how that begins.
    pub(super) title: String,
}

/// What is asked for of titles.
#[derive(Clone, Copy, Debug)]
pub(in crate::serve) struct TitlesAsked<'a> {
    /// Words that titles have, all of them.
    pub(in crate::serve) words: &'a str,
    /// The place of a document behind which the page begins.
    pub(in crate::serve) after: Option<u64>,
    /// At most so many documents.
    pub(in crate::serve) limit: usize,
}

/// A page of documents, and where the next one begins, if there are more.
pub(in crate::serve) type TitlesFound<T> = (Vec<FoundTitle<T>>, Option<u64>);
