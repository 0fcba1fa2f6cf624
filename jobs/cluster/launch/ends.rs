//! How processes ended, and the one exit code that says it.

use std::process::ExitStatus;

use crate::exit::{INTERRUPTED, LOST};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessEnd {
    /// Its exit code, 128 and the number of the signal that ended it, as shells have it.
    pub(crate) code: u8,
    /// Whether the launcher had asked it to end.
    pub(crate) asked: bool,
}

impl ProcessEnd {
    pub(crate) fn new(status: ExitStatus, asked: bool) -> ProcessEnd {
        ProcessEnd { code: code(status), asked }
    }
}

/// The exit code of all. 0 if every process ended with 0. 130 if the launcher was interrupted. Else those count that
/// failed by themselves, rather than because they lost another one or were asked to end; of several the greatest, so
/// that it does not depend on which was seen first. Where there is none such, [`LOST`].
pub(crate) fn worst(ends: &[ProcessEnd], interrupted: bool) -> u8 {
    if ends.iter().all(|end| end.code == 0) {
        return 0;
    }
    if interrupted {
        return INTERRUPTED;
    }
    let own = ends.iter().filter(|end| !end.asked && end.code != LOST);
    match own.map(|end| end.code).max() {
        Some(code) if code > 0 => code,
        _ => LOST,
    }
}

#[cfg(unix)]
fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;

    let signal = || status.signal().map(|signal| 128 + signal);
    let code = status.code().or_else(signal);
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

#[cfg(not(unix))]
fn code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_is_what_failed_by_itself() {
        let end = |code| ProcessEnd { code, asked: false };
        let asked = |code| ProcessEnd { code, asked: true };
        for (ends, interrupted, code) in [
            (vec![end(0), end(0)], false, 0),
            (vec![end(5), end(3), end(5)], false, 3),
            (vec![end(1), end(4), end(0)], false, 4),
            (vec![end(5), end(137)], false, 137),
            (vec![end(5), end(5), asked(143)], false, 5),
            (vec![end(5), end(0), asked(137)], false, 5),
            (vec![end(2), asked(130), asked(143)], false, 2),
            (vec![asked(1), end(5)], false, 5),
            // Interrupted, but all was done already.
            (vec![end(0), asked(0)], true, 0),
            (vec![asked(130), asked(0)], true, 130),
            (vec![end(1), asked(130)], true, 130),
        ] {
            assert_eq!(worst(&ends, interrupted), code, "{ends:?} {interrupted}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_signal_is_128_and_its_number() {
        use std::os::unix::process::ExitStatusExt;

        assert_eq!(code(ExitStatus::from_raw(9)), 137);
        assert_eq!(code(ExitStatus::from_raw(3 << 8)), 3);
    }
}
