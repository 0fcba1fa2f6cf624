//! Keys ignored because more contents have them than the cap allows: how many, and which.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::limits::COMMON_NAMED;

/// A key that was ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommonKey {
    /// The key as postings have it: 16 hexadecimal digits.
    pub key: String,
    /// Contents that have it: new ones, and stored ones that were live before.
    pub contents: u64,
}

/// Keys that were ignored, the most common of them one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommonKeys {
    keys: u64,
    postings: u64,
    /// Contents and keys.
    most: Vec<(Reverse<u64>, u64)>,
}

impl CommonKeys {
    /// Notes a key in so many contents, with so many new postings.
    pub fn ignore(&mut self, key: u64, contents: u64, postings: u64) {
        self.keys += 1;
        self.postings += postings;
        self.most.push((Reverse(contents), key));
        if self.most.len() >= 2 * COMMON_NAMED {
            self.keep_most();
        }
    }

    /// Adds what another worker ignored: keys of its own.
    pub fn add(&mut self, other: &CommonKeys) {
        self.keys += other.keys;
        self.postings += other.postings;
        self.most.extend_from_slice(&other.most);
        self.keep_most();
    }

    fn keep_most(&mut self) {
        self.most.sort_unstable();
        self.most.truncate(COMMON_NAMED);
    }

    /// How many keys were ignored.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// Postings of these keys, those of stored contents not included.
    pub fn postings(&self) -> u64 {
        self.postings
    }

    /// The keys in the most contents, at most [`COMMON_NAMED`], the most common first.
    pub fn most(&self) -> Vec<CommonKey> {
        let mut all = self.clone();
        all.keep_most();
        let named = |&(Reverse(contents), key): &(Reverse<u64>, u64)| CommonKey {
            key: format!("{key:016x}"),
            contents,
        };
        all.most.iter().map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_common_keys_stay_however_workers_share_them() {
        let keys: Vec<(u64, u64)> = (0..1000).map(|key| (key, 50 + key * 7919 % 300)).collect();
        let mut truth = keys.clone();
        truth.sort_unstable_by_key(|(key, contents)| (Reverse(*contents), *key));
        let named =
            |(key, contents): &(u64, u64)| CommonKey { key: format!("{key:016x}"), contents: *contents };
        let truth: Vec<CommonKey> = truth.iter().take(COMMON_NAMED).map(named).collect();
        for workers in [1, 2, 7] {
            let mut all = CommonKeys::default();
            for worker in 0..workers {
                let mut one = CommonKeys::default();
                let own = keys.iter().skip(worker).step_by(workers);
                own.for_each(|(key, contents)| one.ignore(*key, *contents, 2));
                all.add(&one);
            }
            assert_eq!((all.keys(), all.postings(), all.most()), (1000, 2000, truth.clone()));
        }
    }
}
