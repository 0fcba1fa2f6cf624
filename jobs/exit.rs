//! Exit codes: which one says what, and which error has which.

use alike::error::Error;

/// Something failed that neither other input nor other options would mend.
pub(crate) const FAILED: u8 = 1;
/// Wrong use or configuration.
pub(crate) const WRONG_USE: u8 = 2;
/// The input was refused.
pub(crate) const REFUSED: u8 = 3;
/// A collection, a lexicon or an output cannot be used: damaged, being written to, of another format, or none.
pub(crate) const UNUSABLE: u8 = 4;
/// Another process of the job was lost, or did not come.
pub(crate) const LOST: u8 = 5;
/// Ended by Ctrl-C: 128 and the number of the signal, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// The exit code of an error.
pub(crate) fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Config(_)
        | Error::NoDocument { .. }
        | Error::OutputExists(_)
        | Error::NotRetained { .. }
        | Error::Unreachable { .. } => WRONG_USE,
        Error::Input { .. }
        | Error::Undecodable { .. }
        | Error::Refused { .. }
        | Error::InputGone { .. }
        | Error::InputChanged { .. }
        | Error::Limit(_) => REFUSED,
        Error::Damaged { .. }
        | Error::UnfinishedDamaged { .. }
        | Error::Locked(_)
        | Error::Unfinished { .. }
        | Error::NewerFormat { .. }
        | Error::OlderFormat { .. }
        | Error::Forked { .. }
        | Error::NotACollection(..)
        | Error::NotAnOutput(..)
        | Error::OtherOutput { .. }
        | Error::OutputOfAnother { .. }
        | Error::LexiconDamaged { .. }
        | Error::LexiconUnfit { .. } => UNUSABLE,
        Error::Interrupted | Error::Paused { .. } => INTERRUPTED,
        Error::Join { refused: true, .. } => WRONG_USE,
        Error::Join { refused: false, .. } | Error::Lost { .. } => LOST,
        Error::GaveUp { code, .. } => *code,
        _ => FAILED,
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn every_kind_of_failure_has_its_code() {
        let path = Path::new("x");
        let refused = Error::Refused { rejected: 1, records: 2, reason: String::new(), first: String::new() };
        for (error, code) in [
            (Error::config("x"), 2),
            (Error::OutputExists(PathBuf::from("x")), 2),
            (Error::input(path, "x"), 3),
            (Error::undecodable("x", "x"), 3),
            (refused, 3),
            (Error::Limit("x".into()), 3),
            (Error::damaged(path, 1, "x"), 4),
            (Error::Locked(PathBuf::from("x")), 4),
            (Error::unfinished(path, 1, "x"), 4),
            (Error::Forked { path: PathBuf::from("x"), tidied: 1, commit: 2 }, 4),
            (Error::Unreachable { path: PathBuf::from("x"), process: 1, asked: true }, 2),
            (Error::NotRetained { path: PathBuf::from("x"), asked: "x".into(), retained: "1".into() }, 2),
            (Error::NewerFormat { path: PathBuf::from("x"), found: 2, known: 1 }, 4),
            (Error::OlderFormat { path: PathBuf::from("x"), found: 1, known: 2 }, 4),
            (Error::NotACollection(PathBuf::from("x"), "x".into()), 4),
            (Error::lexicon_damaged(path, 1, "x"), 4),
            (Error::lexicon_unfit(path, "x"), 4),
            (Error::Interrupted, 130),
            (Error::Paused { path: PathBuf::from("x"), records: 1 }, 130),
            (Error::Changed(PathBuf::from("x")), 1),
            (Error::io(path, "read", io::Error::other("x")), 1),
            (Error::Worker("x".into()), 1),
            (Error::Join { refused: true, what: "x".into() }, 2),
            (Error::Join { refused: false, what: "x".into() }, 5),
            (Error::Lost { process: 1, address: "a:1".into(), what: "x".into() }, 5),
            (Error::GaveUp { process: 1, address: "a:1".into(), code: 3, why: "x".into() }, 3),
        ] {
            assert_eq!(exit_code(&error), code, "{error}");
        }
    }
}
