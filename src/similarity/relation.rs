//! How one text became another: the kind of duplicates they are, and how many words were edited.

use serde::Serialize;

use super::edits::Edits;
use super::kind::{Kind, Kinds};

/// Columns times rows of the widest band that a distance is looked for in: a quarter of a second's work or so. Texts of
/// up to 131,072 words are measured whatever they have in common; of a million words, edits up to 17,179.
const MOST_CELLS: u64 = 1 << 34;

/// How two texts relate, word by word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Relation {
    /// What kind of duplicates they are.
    pub kind: Kind,
    /// Word edit distance: the words to be inserted, deleted or replaced; `None` where it was not measured to the end
    /// because the texts are too long for how much they differ.
    pub edits: Option<u32>,
    /// A distance that theirs is above, where it was not measured to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edits_above: Option<u32>,
    /// Words of the longer text.
    #[serde(skip)]
    pub words: u32,
}

impl Relation {
    /// That of a text to itself.
    pub const SAME: Relation = Relation { kind: Kind::Exact, edits: Some(0), edits_above: None, words: 0 };

    /// The word edit distance, or, where it was not measured to the end, the least that it can be.
    pub fn least_edits(&self) -> u32 {
        self.edits.unwrap_or_else(|| self.edits_above.map_or(0, |above| above.saturating_add(1)))
    }

    /// The word edit distance for people; behind a sign where it was not measured to the end.
    pub fn edits_told(&self) -> String {
        match (self.edits, self.edits_above) {
            (Some(edits), _) => edits.to_string(),
            (None, above) => format!(">{}", above.unwrap_or_default()),
        }
    }
}

/// Relates texts, with buffers that are reused from pair to pair.
#[derive(Debug, Default)]
pub struct Relations {
    kinds: Kinds,
    edits: Edits,
}

impl Relations {
    /// How two token sequences relate, whichever comes first.
    pub fn relate(&mut self, a: &[u64], b: &[u64]) -> Relation {
        let words = u32::try_from(a.len().max(b.len())).expect("a text has fewer than 2^32 words");
        let most = most_edits(words);
        let edits = self.edits.at_most(a, b, most);
        let edits_above = edits.is_none().then_some(most);
        Relation { kind: self.kinds.kind(a, b), edits, edits_above, words }
    }
}

/// The longest distance that is looked for between texts, the longer of which has so many words.
fn most_edits(words: u32) -> u32 {
    (MOST_CELLS / u64::from(words).max(1)).min(u64::from(words)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_measured_as_far_as_is_said() {
        assert_eq!([0, 1, 1000, 131_072].map(most_edits), [0, 1, 1000, 131_072]);
        assert_eq!(most_edits(1_000_000), 17_179);
        assert_eq!(most_edits(u32::MAX), 4);
    }

    #[test]
    fn what_was_not_measured_is_not_shown_as_a_distance() {
        let (a, b): (Vec<u64>, Vec<u64>) = ((0..400_000).collect(), (500_000..1_100_000).collect());
        let relation = Relations::default().relate(&a, &b);
        let most = most_edits(600_000);
        assert_eq!((relation.edits, relation.edits_above, relation.words), (None, Some(most), 600_000));
        assert_eq!(relation.least_edits(), most + 1);
        let shown = serde_json::to_value(relation).expect("JSON");
        assert_eq!(shown, serde_json::json!({ "kind": "revision", "edits": null, "edits_above": most }));
    }

    #[test]
    fn of_a_pair() {
        let relation = Relations::default().relate(&[1, 2, 3], &[1, 2, 3, 4]);
        assert_eq!((relation.kind, relation.edits, relation.words), (Kind::Excerpt, Some(1), 4));
        let shown = serde_json::to_value(Relation::SAME).expect("JSON");
        assert_eq!(shown, serde_json::json!({ "kind": "exact", "edits": 0 }));
    }
}
