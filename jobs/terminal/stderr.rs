//! Warnings and errors on standard error.

use std::borrow::Cow;
use std::error::Error as _;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use alike::error::Error;
use serde_json::json;

use crate::terminal::escape::sanitize;

/// Whether a program reads lines of JSON there.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Says whether warnings are lines of JSON from now on, as progress is.
pub(crate) fn warn_as_json(json: bool) {
    AS_JSON.store(json, Ordering::Relaxed);
}

/// Tells what is doubtful. Nobody listening is no failure.
pub(crate) fn warn(line: &str) {
    match AS_JSON.load(Ordering::Relaxed) {
        true => warn_program(line),
        false => {
            let _ = writeln!(io::stderr().lock(), "alike: warning: {}", sanitize(line));
        }
    }
}

/// Tells a program what is doubtful: a line of JSON, like those of progress. Nobody listening is no failure.
pub(crate) fn warn_program(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", json!({ "event": "warning", "message": line }));
}

/// Tells what was done. Nobody listening is no failure.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", sanitize(line));
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
    text.lines().map(|line| sanitize(&shortened(line)).into_owned()).collect::<Vec<_>>().join("\n")
}

/// Most bytes of a line: names of files take 4,096 at most, but what stands in a file may be as long as that.
const LONGEST: usize = 10_000;

/// A line without its middle, if it is too long to be read.
fn shortened(line: &str) -> Cow<'_, str> {
    if line.len() <= LONGEST {
        return Cow::Borrowed(line);
    }
    let boundary = |at: &usize| line.is_char_boundary(*at);
    let begin = (0..=LONGEST / 2).rev().find(boundary).unwrap_or(0);
    let end = (line.len() - LONGEST / 2..line.len()).find(boundary).unwrap_or(line.len());
    Cow::Owned(format!("{} [... {} bytes ...] {}", &line[..begin], end - begin, &line[end..]))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_cause_is_told_once_and_nothing_reaches_the_terminal_raw() {
        let error = Error::io(Path::new("a\u{1b}[2Jb"), "read", io::Error::other("disk on fire"));
        assert_eq!(message(&error), "a\\u{1b}[2Jb: cannot read: disk on fire");
        let long = message(&Error::config(format!("begin {} end", "\u{e9}".repeat(LONGEST))));
        assert!(long.starts_with("begin ") && long.ends_with(" end") && long.contains("[... 10"), "{long}");
        assert!(long.len() < LONGEST + 100, "{}", long.len());
        assert_eq!(message(&Error::config("one\n  two\u{202e}")), "one\n  two\\u{202e}");
    }
}
