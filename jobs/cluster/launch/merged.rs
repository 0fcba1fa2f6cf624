//! The progress of all processes as one.

use std::time::Instant;

use alike::progress::Stage;
use serde::Deserialize;

use crate::terminal::display::ProgressSnapshot;

/// A line of progress as a process writes it (`display.rs`).
#[derive(Debug, Deserialize)]
struct ProgressLine {
    event: String,
    stage: String,
    done: u64,
    total: Option<u64>,
    documents: u64,
}

/// What one process has told of itself.
#[derive(Clone, Debug, Default)]
struct Process {
    /// Where it is; `None` before its first line.
    at: Option<(u64, Stage)>,
    /// Work done, and its total, of each stage when it was in it last; a total of 0 is unknown.
    stages: [(u64, u64); Stage::ALL.len()],
    documents: u64,
    /// Whether it has ended, and will not tell any more.
    ended: bool,
}

/// What all have told.
#[derive(Debug)]
pub(crate) struct Merged {
    processes: Vec<Process>,
    begun: Instant,
}

impl Merged {
    pub(crate) fn new(processes: usize) -> Merged {
        Merged { processes: vec![Process::default(); processes], begun: Instant::now() }
    }

    /// Takes a line of a process; false if it is none of progress.
    pub(crate) fn take(&mut self, process: usize, line: &[u8]) -> bool {
        // Most other lines are not JSON, and few that are have an event.
        let Some(told) =
            line.starts_with(b"{").then(|| serde_json::from_slice::<ProgressLine>(line).ok()).flatten()
        else {
            return false;
        };
        let Some(stage) = Stage::ALL.into_iter().find(|stage| stage.name() == told.stage) else {
            return false;
        };
        if !["start", "progress", "end"].contains(&told.event.as_str()) {
            return false;
        }
        let process = &mut self.processes[process];
        // A load goes through the stages once an epoch.
        let round = match process.at {
            Some((round, before)) if (stage as u8) < (before as u8) => round + 1,
            Some((round, _)) => round,
            None => 0,
        };
        process.at = Some((round, stage));
        process.stages[stage as usize] = (told.done, told.total.unwrap_or(0));
        process.documents = told.documents;
        true
    }

    /// Notes that a process tells nothing more.
    pub(crate) fn ended(&mut self, process: usize) {
        self.processes[process].ended = true;
    }

    /// The stage of the slowest, and what all have done of it: those that are beyond it have done all of theirs.
    /// `None` until somebody has told anything, and once nobody will any more.
    pub(crate) fn now(&self) -> Option<ProgressSnapshot> {
        let place = |process: &Process| process.at.map(|(round, stage)| (round, stage as u8));
        let told = || self.processes.iter().filter(|process| process.at.is_some());
        let running = told().filter(|process| !process.ended);
        let slowest = running.min_by_key(|process| place(process))?;
        let (_, stage) = slowest.at?;
        let here = place(slowest);
        let mut now =
            ProgressSnapshot { stage, done: 0, total: 0, documents: 0, elapsed: self.begun.elapsed() };
        let mut known = true;
        for process in told() {
            let (done, total) = process.stages[stage as usize];
            let beyond = process.ended || place(process) != here;
            now.done += if beyond { done.max(total) } else { done };
            now.total += if beyond { done.max(total) } else { total };
            known &= beyond || total > 0;
            now.documents += process.documents;
        }
        if !known {
            now.total = 0;
        }
        Some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(stage: &str, done: u64, total: u64, documents: u64) -> Vec<u8> {
        let total = (total > 0).then_some(total);
        let line = serde_json::json!({
            "event": "progress", "stage": stage, "done": done, "total": total, "documents": documents, "seconds": 1.0,
        });
        line.to_string().into_bytes()
    }

    fn told(merged: &Merged) -> (Stage, u64, u64, u64) {
        let now = merged.now().expect("something was told");
        (now.stage, now.done, now.total, now.documents)
    }

    #[test]
    fn what_all_do_is_added_up() {
        let mut merged = Merged::new(3);
        assert_eq!(merged.now(), None);
        assert!(merged.take(0, &line("read", 10, 100, 1)));
        // One that has told nothing yet counts for nothing.
        assert_eq!(told(&merged), (Stage::Read, 10, 100, 1));
        assert!(merged.take(1, &line("read", 20, 300, 2)));
        assert!(merged.take(2, &line("read", 0, 0, 0)));
        assert_eq!(told(&merged), (Stage::Read, 30, 0, 3), "one total is unknown, and so is that of all");
        assert!(merged.take(2, &line("read", 5, 50, 4)));
        assert_eq!(told(&merged), (Stage::Read, 35, 450, 7));
    }

    #[test]
    fn the_slowest_names_the_stage_and_those_beyond_have_done_it() {
        let mut merged = Merged::new(2);
        merged.take(0, &line("read", 100, 100, 5));
        merged.take(1, &line("read", 20, 300, 2));
        merged.take(0, &line("collide", 3, 9, 5));
        assert_eq!(told(&merged), (Stage::Read, 120, 400, 7));
        merged.take(1, &line("collide", 1, 0, 8));
        assert_eq!(told(&merged), (Stage::Collide, 4, 0, 13));
        // The next epoch of one is beyond all stages of the epoch before.
        merged.take(0, &line("read", 1, 70, 6));
        assert_eq!(told(&merged).0, Stage::Collide);
        merged.take(1, &line("read", 2, 30, 9));
        assert_eq!(told(&merged), (Stage::Read, 3, 100, 15));
    }

    #[test]
    fn one_that_has_ended_is_not_waited_for() {
        let mut merged = Merged::new(2);
        merged.take(0, &line("read", 10, 100, 5));
        merged.take(1, &line("verify", 1, 8, 2));
        merged.ended(0);
        assert_eq!(told(&merged), (Stage::Verify, 1, 8, 7));
        merged.ended(1);
        assert_eq!(merged.now(), None);
    }

    #[test]
    fn other_lines_are_not_progress() {
        let mut merged = Merged::new(1);
        for other in [
            "alike: error: no",
            "{",
            "{\"summary\":{}}",
            r#"{"event":"progress","stage":"dance","done":1,"total":null,"documents":0}"#,
            r#"{"event":"else","stage":"read","done":1,"total":null,"documents":0}"#,
            "",
        ] {
            assert!(!merged.take(0, other.as_bytes()), "{other}");
        }
        assert_eq!(merged.now(), None);
    }
}
