//! Warnings and errors on standard error.

use std::error::Error as _;
use std::io::{self, Write};

use alike::error::Error;

use crate::terminal::escape::sanitize;

/// Tells what is doubtful. Nobody listening is no failure.
pub(crate) fn warn(line: &str) {
    let _ = writeln!(io::stderr().lock(), "alike: warning: {}", sanitize(line));
}

/// The error and its causes, safe to show. A cause that the error has quoted already is not told again.
pub(crate) fn message(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let told = error.to_string();
        if !text.contains(&told) {
            text = format!("{text}: {told}");
        }
        cause = error.source();
    }
    // Line by line: the breaks are ours (a located TOML message has several), what stands between may be the user's.
    text.lines().map(sanitize).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_cause_is_told_once_and_nothing_reaches_the_terminal_raw() {
        let error = Error::io(Path::new("a\u{1b}[2Jb"), "read", io::Error::other("disk on fire"));
        assert_eq!(message(&error), "a\\u{1b}[2Jb: cannot read: disk on fire");
        assert_eq!(message(&Error::config("one\n  two\u{202e}")), "one\n  two\\u{202e}");
    }
}
