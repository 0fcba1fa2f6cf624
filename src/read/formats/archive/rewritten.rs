//! What becomes of members when an archive is written again.

use std::path::PathBuf;

/// What becomes of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberFate {
    /// It stays as it stands.
    Stays,
    /// It goes.
    Goes,
    /// It gets another content.
    Replaced(NewContent),
}

/// Another content of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewContent {
    /// The file that it is.
    pub path: PathBuf,
    /// Bytes of the member before its content, where that is known.
    pub before: u64,
}
