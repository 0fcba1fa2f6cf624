//! What processes say has gone wrong, told once: where all fail for one reason, each of them says it.

use std::time::{Duration, Instant};

/// What an error begins with.
const ERROR: &str = "alike: error: ";
/// How long an error of another process waits for what process 0 says.
const PATIENCE: Duration = Duration::from_secs(1);

/// Errors of processes: those of process 0, and what waits for them.
#[derive(Default)]
pub(super) struct LaunchErrors {
    /// What process 0 has said.
    told: Vec<String>,
    /// What others have said, and when.
    waiting: Vec<(Instant, usize, String)>,
}

impl LaunchErrors {
    /// Whether a line is not to be shown, or not yet.
    pub(super) fn take(&mut self, process: usize, line: &str) -> bool {
        let Some(error) = line.trim_end().strip_prefix(ERROR) else { return false };
        if process == 0 {
            self.told.push(error.to_owned());
            self.waiting.retain(|(_, _, line)| !repeats(&self.told, line));
            return false;
        }
        if !repeats(&self.told, line) {
            self.waiting.push((Instant::now(), process, line.to_owned()));
        }
        true
    }

    /// The lines that have waited long enough; at the end all of them.
    pub(super) fn due(&mut self, is_end: bool) -> Vec<(usize, String)> {
        let is_due = |begun: &Instant| is_end || begun.elapsed() > PATIENCE;
        let (due, waiting) = self.waiting.drain(..).partition(|(begun, ..)| is_due(begun));
        self.waiting = waiting;
        let due: Vec<(Instant, usize, String)> = due;
        due.into_iter().map(|(_, process, line)| (process, line)).collect()
    }
}

/// Whether process 0 has said the same, or a line only says what process 0 gave up for.
fn repeats(told: &[String], line: &str) -> bool {
    let error = line.trim_end().strip_prefix(ERROR).unwrap_or(line);
    let of_first = error.strip_prefix("process 0 ").and_then(|rest| rest.split_once(" gave up: "));
    told.iter().any(|told| told == error || of_first.is_some_and(|(_, why)| why == told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_process_0_says_is_not_said_again() {
        let mut errors = LaunchErrors::default();
        assert!(errors.take(1, "alike: error: process 0 (a:1) gave up: no such file\n"));
        assert!(errors.take(2, "alike: error: another thing"));
        assert!(!errors.take(2, "warning: no such file"), "only errors wait");
        assert!(errors.due(false).is_empty());
        assert!(!errors.take(0, "alike: error: no such file"));
        assert!(errors.take(3, "alike: error: process 0 (a:1) gave up: no such file"));
        assert!(errors.take(3, "alike: error: no such file"));
        assert!(errors.take(1, "alike: error: process 2 (a:2) gave up: no such file"));
        let due = errors.due(true);
        let other = "alike: error: process 2 (a:2) gave up: no such file".to_owned();
        assert_eq!(due, [(2, "alike: error: another thing".to_owned()), (1, other)]);
        assert!(errors.due(true).is_empty());
    }

    #[test]
    fn who_never_hears_from_process_0_is_heard() {
        let mut errors = LaunchErrors::default();
        let before = Instant::now().checked_sub(PATIENCE * 2).expect("the clock has run for that long");
        errors.waiting.push((before, 1, "alike: error: x".to_owned()));
        assert_eq!(errors.due(false), [(1, "alike: error: x".to_owned())]);
    }
}
