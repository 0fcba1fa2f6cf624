//! What is found of a document.

use serde::{Deserialize, Serialize};

use crate::document::Position;
use crate::output::DocumentFinding;

/// A document with texts of benchmarks in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContaminatedDocument {
    /// Where it stands.
    pub position: Position,
    /// Its line, counted from 1 within its unit.
    pub line: u32,
    /// Its id, if it has one.
    pub id: Option<String>,
    /// The texts that stand in it, or those of which most stands there.
    pub items: Vec<ItemPassage>,
    /// How many more there are.
    pub unlisted: u64,
    /// First byte of each stretch that a text stands in, and the byte behind its last: ascending, and without common bytes.
    pub stretches: Vec<[u64; 2]>,
}

/// The best of the stretches of a document that a text stands in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemPassage {
    /// The number of the text.
    pub text: u32,
    /// How many stretches there are.
    pub passages: u32,
    /// How many of its n-grams were found in this one.
    pub found: u32,
    /// The score of the item, in millionths; 0 where items have none.
    pub score: u32,
    /// The first byte of the stretch in the text of the document.
    pub start: u64,
    /// The byte behind its last.
    pub end: u64,
    /// What stands there, or how it begins.
    pub excerpt: String,
}

impl DocumentFinding for ContaminatedDocument {
    fn position(&self) -> Position {
        self.position
    }
}
