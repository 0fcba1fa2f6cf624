//! What is counted over the epochs of a load, which an interrupted one leaves in its checkpoint.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::flow::{CommonKey, CommonKeys};
use crate::limits::{COMMON_NAMED, DOCUMENTS_NAMED};

/// What is counted over the epochs of a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadTally {
    /// Records, refused ones not included.
    pub records: u64,
    /// Documents that were there already, unchanged.
    pub unchanged: u64,
    /// Records that a later one of the same id replaced.
    pub superseded: u64,
    /// Checkpoints of earlier versions have this field. It is passed over.
    #[serde(default, skip_serializing)]
    pub replaced_elsewhere: IgnoredAny,
    /// Bytes of their texts.
    #[serde(default)]
    pub text_bytes: u64,
    /// Records with too few terms for the method.
    #[serde(alias = "poor")]
    pub too_few_terms: u64,
    /// The first of them, at most [`DOCUMENTS_NAMED`].
    #[serde(default, alias = "first_poor")]
    pub first_too_few_terms: Vec<String>,
    /// Records without a date that is understood.
    #[serde(alias = "undated")]
    pub missing_date: u64,
    /// The first of them, at most [`DOCUMENTS_NAMED`].
    #[serde(default, alias = "first_undated")]
    pub first_missing_date: Vec<String>,
    /// Records without the value that copies are compared by.
    #[serde(default)]
    pub missing_value: u64,
    /// Records without a value of the field that documents must share to be compared.
    #[serde(default)]
    pub missing_within: u64,
    /// Keys ignored as common.
    #[serde(default)]
    pub common_keys: Ignored,
    /// Texts that came and went.
    pub contents: (u64, u64),
}

impl LoadTally {
    /// Adds the names of documents of an epoch, as far as names are still wanted.
    pub(in crate::collection) fn name(&mut self, too_few_terms: Vec<String>, missing_date: Vec<String>) {
        for (names, new) in
            [(&mut self.first_too_few_terms, too_few_terms), (&mut self.first_missing_date, missing_date)]
        {
            // Of one id there may be several records.
            new.into_iter().for_each(|name| {
                if !names.contains(&name) {
                    names.push(name);
                }
            });
            names.truncate(DOCUMENTS_NAMED);
        }
    }
}

/// Keys that a load ignored because more contents have them than the cap allows: new ones, and those that were live before
/// it, even if it replaces or deletes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ignored {
    /// How often one was: in each epoch that ignored it a key counts again.
    pub times: u64,
    /// Postings (a key of a new content) under them.
    pub postings: u64,
    /// All postings of new contents.
    pub of_postings: u64,
    /// Those in the most contents, at most [`COMMON_NAMED`], the most common first.
    pub most: Vec<CommonKey>,
}

impl Ignored {
    /// Adds what an epoch ignored.
    pub(in crate::collection) fn add(&mut self, common: &CommonKeys, of_postings: u64) {
        self.times += common.keys();
        self.postings += common.postings();
        self.of_postings += of_postings;
        self.name(common.most());
    }

    fn name(&mut self, most: Vec<CommonKey>) {
        self.most.extend(most);
        // Of one key the greatest number.
        self.most.sort_by(|a, b| (&a.key, b.contents).cmp(&(&b.key, a.contents)));
        self.most.dedup_by(|a, b| a.key == b.key);
        self.most.sort_by(|a, b| (b.contents, &a.key).cmp(&(a.contents, &b.key)));
        self.most.truncate(COMMON_NAMED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_with_the_earlier_names_are_read() {
        let earlier = r#"{"records": 5, "unchanged": 0, "superseded": 0, "poor": 2, "first_poor": ["a", "b"],
            "undated": 1, "first_undated": ["c"], "contents": [3, 0]}"#;
        let tally: LoadTally = serde_json::from_str(earlier).expect("a tally");
        assert_eq!((tally.too_few_terms, tally.missing_date, tally.text_bytes), (2, 1, 0));
        assert_eq!((tally.first_too_few_terms.len(), &*tally.first_missing_date[0]), (2, "c"));
    }

    #[test]
    fn a_key_of_several_epochs_is_named_once() {
        let named = |key: &str, contents| CommonKey { key: key.into(), contents };
        let mut ignored = Ignored::default();
        ignored.name(vec![named("a", 20), named("b", 10)]);
        ignored.name(vec![named("b", 25), named("c", 10)]);
        assert_eq!(ignored.most, [named("b", 25), named("a", 20), named("c", 10)]);
        ignored.name((0..200).map(|key| named(&format!("{key:03}"), 15)).collect());
        assert_eq!((ignored.most.len(), &*ignored.most[99].key), (COMMON_NAMED, "097"));
    }
}
