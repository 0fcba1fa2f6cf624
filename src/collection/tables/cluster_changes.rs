//! The numbers of clusters, and what a load says about them in its change log.

use serde::{Deserialize, Serialize};

use crate::collection::tables::document::{pack, unpack};

/// A cluster's number: the load that made it, and its rank among those that load made, by lowest member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterId(pub u64);

impl ClusterId {
    /// The number of the cluster of this rank, from 1, of a load.
    pub fn new(load: u32, rank: u32) -> ClusterId {
        ClusterId(pack(load, rank))
    }
}

impl std::fmt::Display for ClusterId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (load, rank) = unpack(self.0);
        write!(f, "{load}.{rank}")
    }
}

impl Serialize for ClusterId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ClusterId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl std::str::FromStr for ClusterId {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<ClusterId, String> {
        let parts =
            text.split_once('.').and_then(|(load, rank)| Some((load.parse().ok()?, rank.parse().ok()?)));
        let wrong = || format!("{text:?} is no cluster, expected LOAD.RANK");
        parts.map(|(load, rank)| ClusterId::new(load, rank)).ok_or_else(wrong)
    }
}

/// One thing that happened to the clusters in a load. All lines of a commit turn the clusters before it into those after
/// it: `joined`, `left` and `moved` say what happened to every document whose cluster is another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "lowercase", deny_unknown_fields)]
pub enum ChangeLine {
    /// A cluster that was not there before.
    Created {
        /// The cluster.
        cluster: ClusterId,
        /// Its representative.
        representative: String,
    },
    /// A document, in no cluster before, is in one.
    Joined {
        /// The document.
        id: String,
        /// The cluster.
        cluster: ClusterId,
    },
    /// A document is in another cluster than before.
    Moved {
        /// The document.
        id: String,
        /// The cluster before.
        from: ClusterId,
        /// The cluster now.
        to: ClusterId,
    },
    /// A document is in no cluster any more.
    Left {
        /// The document.
        id: String,
        /// The cluster before.
        cluster: ClusterId,
    },
    /// A document, in no cluster before, is not there any more.
    Deleted {
        /// The document.
        id: String,
    },
    /// A cluster goes on in another one: all of it that is still in any.
    Merged {
        /// The cluster that is no more.
        from: ClusterId,
        /// The one with most of its documents.
        into: ClusterId,
    },
    /// Documents of a cluster that goes on are in another one now.
    Split {
        /// The cluster.
        from: ClusterId,
        /// The other one.
        into: ClusterId,
    },
    /// A cluster of which no two documents are together any more.
    Dissolved {
        /// The cluster.
        cluster: ClusterId,
    },
    /// A cluster is represented by another document.
    Representative {
        /// The cluster.
        cluster: ClusterId,
        /// The representative before.
        from: String,
        /// The one now.
        to: String,
    },
}
