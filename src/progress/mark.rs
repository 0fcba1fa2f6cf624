//! Counters at the beginning of an epoch, and what was counted since.

use super::{EpochDone, Progress, Stage};
use crate::metrics::Metric;

/// Counters at the beginning of an epoch.
#[derive(Clone, Debug)]
pub struct Mark {
    counts: Vec<u64>,
    stages: [f64; Stage::ALL.len()],
    wire: (u64, u64),
}

impl Mark {
    /// The present state; `wire` are the bytes sent to other processes, and received from them.
    pub fn new(progress: &Progress, wire: (u64, u64)) -> Mark {
        let counts = Metric::ALL.iter().map(|metric| progress.metrics().get(*metric)).collect();
        Mark { counts, stages: progress.stage_seconds(), wire }
    }

    /// What was counted from there to `now`; what no counter has is left out.
    pub fn until(&self, now: &Mark) -> EpochDone {
        let counted = |metric: Metric| now.counts[metric as usize] - self.counts[metric as usize];
        let spent = Stage::ALL.map(|stage| now.stages[stage as usize] - self.stages[stage as usize]);
        EpochDone {
            records: counted(Metric::Documents),
            refused: counted(Metric::Refused),
            bytes: counted(Metric::ReadBytes),
            postings: counted(Metric::Postings),
            candidates: counted(Metric::Candidates),
            links: counted(Metric::Links),
            seconds: spent.iter().sum(),
            stages: Stage::ALL
                .iter()
                .zip(spent)
                .map(|(stage, spent)| (stage.name().to_owned(), spent))
                .collect(),
            wire_sent_bytes: now.wire.0 - self.wire.0,
            wire_received_bytes: now.wire.1 - self.wire.1,
            ..EpochDone::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_came_since_counts() {
        let progress = Progress::default();
        progress.metrics().add(Metric::Documents, 10);
        progress.enter(Stage::Read, 0);
        let before = Mark::new(&progress, (5, 7));
        progress.metrics().add(Metric::Documents, 3);
        progress.metrics().add(Metric::Links, 2);
        std::thread::sleep(std::time::Duration::from_millis(20));
        progress.enter(Stage::Collide, 0);
        let done = before.until(&Mark::new(&progress, (6, 9)));
        assert_eq!((done.records, done.links, done.postings), (3, 2, 0));
        assert_eq!((done.wire_sent_bytes, done.wire_received_bytes), (1, 2));
        assert!(done.stages["read"] >= 0.02 && done.stages["open"] == 0.0, "{:?}", done.stages);
        assert!((done.seconds - done.stages.values().sum::<f64>()).abs() < 1e-9);
    }
}
