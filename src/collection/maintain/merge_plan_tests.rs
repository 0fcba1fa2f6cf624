//! What is merged by whom.

use super::*;
use crate::config::Config;
use crate::storage::Simulated;

/// Runs are merged by who has them, those of a process that is not there by one that is.
#[test]
fn merges_are_planned_for_each_process_alone() {
    let folder: Arc<dyn Storage> = Arc::new(Simulated::new());
    let writer = Writer::create(&folder, Config::default(), false).unwrap();
    let run = |(id, process)| {
        let keeper = Keeper::of(process, 3);
        RunEntry { id, bytes: 10 * id, digest: 0, rows: BTreeMap::new(), keeper }
    };
    let runs = [(1, 0), (2, 1), (3, 2), (4, 1), (5, 0), (6, 2)].map(run);
    let manifest = Manifest { runs: runs.to_vec(), next_run: 7, ..writer.next() };
    let plan = |first, how, processes| {
        let mut next = manifest.clone();
        let merging = MergePlan::plan(&mut next, first, how, (processes, 1));
        let groups = merging.groups.iter().map(|group| (group.process, group.id, group.runs.clone()));
        assert_eq!(next.next_run - 7, groups.len() as u64);
        (groups.collect::<Vec<_>>(), (0..3).map(|process| merging.bytes(process)).collect::<Vec<_>>())
    };
    let all = vec![(0, 7, vec![1, 5]), (1, 8, vec![2, 4]), (2, 9, vec![3, 6])];
    assert_eq!(plan(0, Compaction::Full, 3), (all, vec![60, 60, 90]));
    let new = vec![(0, 7, vec![5]), (1, 8, vec![4]), (2, 9, vec![6])];
    assert_eq!(plan(3, Compaction::Full, 3), (new, vec![50, 40, 60]));
    let fewer = vec![(0, 7, vec![1, 3, 5, 6]), (1, 8, vec![2, 4])];
    assert_eq!(plan(0, Compaction::Full, 2), (fewer, vec![150, 60, 0]));
    assert_eq!(plan(0, Compaction::Tiered { fuel_bytes: u64::MAX }, 3), (vec![], vec![0, 0, 0]));
    assert_eq!(plan(6, Compaction::Full, 3), (vec![], vec![0, 0, 0]));
}

/// A row that says that a content is dead is never older than what others have of that content: what process 0 merges comes
/// behind all that it was behind, and what others merge before all that it was before.
#[test]
fn what_process_0_merges_is_behind_what_it_was_behind() {
    let folder: Arc<dyn Storage> = Arc::new(Simulated::new());
    let writer = Writer::create(&folder, Config::default(), false).unwrap();
    let run = |(id, process)| {
        let keeper = Keeper::of(process, 3);
        RunEntry { id, bytes: 1, digest: 0, rows: BTreeMap::new(), keeper }
    };
    let before = [(1, 0), (2, 1), (3, 0), (4, 1), (5, 2), (6, 0), (7, 1)].map(run).to_vec();
    let mut next = Manifest { runs: before.clone(), next_run: 8, ..writer.next() };
    let merging = MergePlan::plan(&mut next, 0, Compaction::Full, (3, 1));
    let ids = |runs: Vec<RunEntry>| runs.iter().map(|run| run.id).collect::<Vec<_>>();
    let whole = |group: &MergeGroup| Ok(Some(run((group.id, group.process))));
    assert_eq!(ids(merging.replaced(before.clone(), whole).unwrap()), [9, 10, 8]);
    // Of what process 1 merges nothing is left.
    let some = |group: &MergeGroup| Ok((group.process != 1).then(|| run((group.id, group.process))));
    assert_eq!(ids(merging.replaced(before.clone(), some).unwrap()), [10, 8]);
    // Of the runs of a load only its own are merged.
    let mut next = Manifest { runs: before.clone(), next_run: 8, ..writer.next() };
    let merging = MergePlan::plan(&mut next, 2, Compaction::Full, (3, 1));
    assert_eq!(ids(merging.replaced(before, whole).unwrap()), [1, 2, 9, 10, 8]);
}
