//! The steps of a run.

/// The steps of a run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Stage {
    /// Finding and opening the inputs.
    Open,
    /// Reading, tokenising and sketching.
    Read,
    /// Grouping postings by key and counting shared keys.
    Collide,
    /// Measuring candidate pairs.
    Verify,
    /// Forming clusters.
    Cluster,
    /// Writing the output.
    Write,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Stage; 6] =
        [Stage::Open, Stage::Read, Stage::Collide, Stage::Verify, Stage::Cluster, Stage::Write];

    /// The stage's name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Open => "open",
            Stage::Read => "read",
            Stage::Collide => "collide",
            Stage::Verify => "verify",
            Stage::Cluster => "cluster",
            Stage::Write => "write",
        }
    }
}
