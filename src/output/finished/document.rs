//! A document of the inputs, read again.

use std::cmp::Ordering;
use std::fmt;

use crate::config::{Criterion, Keep};
use crate::document::{DocumentName, Position};
use crate::error::Result;
use crate::flow::by_field;
use crate::read::{Day, Value};
use crate::sketcher::Digest;

/// A line of a file, as lists name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceInFile {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// Whether the file can be read again.
    pub at: PlaceKind,
}

/// Where a line that lists name may be read again. A file of a collection may have the name of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlaceKind {
    /// In a file of the run.
    Input,
    /// Nowhere: it came from standard input.
    Stream,
    /// In a protected collection, not in a file of the run.
    Collection,
}

impl PlaceKind {
    /// Whether the line can be read again.
    pub fn is_at_hand(self) -> bool {
        self == PlaceKind::Input
    }

    /// Why its text is not at hand, if it is not.
    pub fn gone(self) -> Option<&'static str> {
        match self {
            PlaceKind::Input => None,
            PlaceKind::Stream => Some("it came from standard input and is not at hand"),
            PlaceKind::Collection => Some("it is in a protected collection and not at hand"),
        }
    }
}

impl fmt::Display for PlaceInFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A document of the inputs of a finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedDocument {
    /// Its id, if it has one.
    pub id: Option<DocumentName<'static>>,
    /// Where it stands.
    pub place: PlaceInFile,
    /// The same for programs. Positions order documents.
    pub position: Position,
    /// Its text, if that was asked for.
    pub text: Option<String>,
    /// Bytes of its text; 0 of one that is not at hand.
    pub text_bytes: u64,
    /// The day it is dated.
    pub day: Day,
    /// The value that the keep policy compares, if it compares a field.
    pub value: Option<Value>,
    /// Its value of the field that documents must share to be compared: its file where each is compared by itself.
    pub within: Option<String>,
    /// The digest of its canonical text; none of a text without a token.
    pub digest: Option<Digest>,
    /// The protected set that it is of.
    pub set: Option<String>,
    /// How many inputs are preferred to its own.
    pub preference: u32,
}

/// A document that was seen: what reading it again may not tell.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownDocument {
    /// Where it stands among the inputs that were found again.
    pub position: Position,
    /// Its line in the file, from 1.
    pub line: u64,
    /// Its id, if it has one.
    pub id: Option<DocumentName<'static>>,
    /// The value that the keep policy compares, if it compares a field.
    pub value: Option<Value>,
    /// Its value of the field that documents must share to be compared.
    pub within: Option<String>,
}

/// Who has seen all documents of a run.
pub trait KnownDocuments: Sync {
    /// The first documents of an id, so many at most, in document order.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    fn of_id(&self, id: &str, most: usize) -> Result<Vec<KnownDocument>>;

    /// The document at a line of a file, which is known by its number among the inputs that were found again.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    fn at_line(&self, file: u32, line: u64) -> Result<Option<KnownDocument>>;
}

/// What tells two documents apart when one of them is to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided<'a> {
    /// One is protected.
    Protected,
    /// The input of one is preferred.
    Preferred,
    /// A criterion of the keep policy; none if it finds them equal, and their order decides.
    Policy(Option<&'a Criterion>),
}

impl FinishedDocument {
    /// Its id, or its file and line.
    pub fn name(&self) -> DocumentName<'static> {
        self.id.clone().unwrap_or_else(|| self.place.to_string().into())
    }

    /// Orders two documents as a run does, the one to keep first, and says what decided.
    pub fn decided<'a>(&self, other: &FinishedDocument, keep: &'a Keep) -> (Decided<'a>, Ordering) {
        let protected = other.set.is_some().cmp(&self.set.is_some());
        if protected.is_ne() {
            return (Decided::Protected, protected);
        }
        let preference = self.preference.cmp(&other.preference);
        if preference.is_ne() {
            return (Decided::Preferred, preference);
        }
        let lengths = || self.text_bytes.cmp(&other.text_bytes);
        let values = |max| by_field(&self.value, &other.value, max);
        let (criterion, order) = keep.decide(self.position.cmp(&other.position), lengths, values);
        (Decided::Policy(criterion), order)
    }
}
