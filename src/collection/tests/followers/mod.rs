//! The leader of a job and its followers, which keep their runs to themselves, killed and without power at any operation,
//! and the next job beside what is left of them: the real code, on folders in memory, in the orders of `model/`.
//!
//! The processes are threads that meet over the loopback. What the leader does is what the program does: it opens the
//! collection, loads, merges or gathers; followers [`follow`]. [`stage`] decides who may go on.

mod course;
mod folders;
mod jobs;
mod judge;
mod machines;
mod merging;
mod stage;

use std::sync::Arc;
use std::time::Instant;

use self::course::{Course, Event, Expected, Play, Tried, loaded, try_all};
use self::jobs::{Ground, Work, config, write_records};
use self::machines::{FOLLOWERS, Folders, LEADERS};
use crate::collection::tests::mix;
use crate::collection::{Retain, Writer};
use crate::limits::stride;
use crate::storage::{Simulated, Storage};

/// In three epochs, between which nothing is merged.
const LOAD: Work = Work::Load("a", 300);
/// In so many that runs are merged between them, those of followers too.
const LONG: Work = Work::Load("a", 90);
/// What is not begun before somebody knows the last commit for certain.
const SHORT: Work = Work::Load("a", 5000);
const OTHER: Work = Work::Load("b", 300);

/// A collection with one load, in which all courses begin.
struct Bench {
    ground: Arc<Ground>,
    expected: Expected,
    folders: Folders,
}

impl Bench {
    /// One that has nothing yet, if it is to be `new`.
    fn new(new: bool) -> Bench {
        let inputs = tempfile::tempdir().expect("a folder");
        for (name, first, count) in [("base", 0, 6), ("a", 20, 9), ("b", 50, 7)] {
            write_records(inputs.path(), name, first, count);
        }
        let folder = Simulated::new();
        let storage: Arc<dyn Storage> = Arc::new(folder.clone());
        let mut writer = Writer::create(&storage, config(), true).expect("created");
        if !new {
            // Two or three of them, and what merges runs between them.
            writer.set_retain(Retain::Commits(2));
            writer.commit_retain().expect("committed");
        }
        let collection = writer.snapshot().manifest().collection;
        drop(writer);
        let ground = Arc::new(Ground { inputs, collection });
        let folders = Folders::new(folder);
        if new {
            return Bench { expected: Expected::new(&ground, &[]), ground, folders };
        }
        let folders = loaded(&ground, &folders);
        Bench { expected: Expected::new(&ground, &["base"]), ground, folders }
    }

    /// How many operations a job has that nothing happens to.
    fn operations(&self, first: Work) -> u64 {
        let course = Course { at: u64::MAX, ..course(first, Work::Compact, 0, Event::Kill(0)) };
        Play::all(&course, (&self.ground, &self.expected), &self.folders).alone
    }

    /// Tries all of these courses; what came of them is shown with `--nocapture`.
    fn try_all(&self, courses: &[Course], what: &str) -> Vec<Tried> {
        let begun = Instant::now();
        let tried = try_all(courses, (&self.ground, &self.expected), &self.folders);
        let happened = tried.iter().filter(|tried| tried.happened).count();
        let [operations, turns] = [|tried: &Tried| tried.operations, |tried: &Tried| tried.turns]
            .map(|of| tried.iter().map(of).sum::<u64>());
        let seconds = begun.elapsed().as_secs_f64();
        show(&format!(
            "{what}: {} courses, {happened} with what was to happen, {operations} operations, {turns} turns, {seconds:.1} s",
            courses.len()
        ));
        assert!(happened * 2 > courses.len(), "{what}: it happens in {happened} of {}", courses.len());
        tried
    }
}

#[expect(clippy::print_stdout, reason = "whoever wants to know the figure asks for it")]
fn show(figure: &str) {
    println!("{figure}");
}

fn course(first: Work, next: Work, at: u64, event: Event) -> Course {
    Course { first, next, followers: 1, at, event, then: None, seed: at }
}

/// Operations around that which makes the folder of the followers.
const MAKING: u64 = 3;
/// Operations that the workers of each process have in [`LOAD`].
const WITHIN: u64 = 5;
/// Orders of operations of two jobs of which one has lost the lock.
const STOLEN: u64 = 40;
/// Of those that two events disturb.
const DISTURBED: u64 = 60;

/// What the second job does, in turn.
const NEXT: [Work; 5] = [OTHER, LOAD, Work::Compact, Work::Abandon, Work::Gather];

const EVENTS: [Event; 4] =
    [Event::Kill(0), Event::Kill(1), Event::PowerCut(LEADERS), Event::PowerCut(FOLLOWERS)];

/// Events at operations that leave another state than the one before: each event at a third of them, or at all with `ALIKE_FULL`.
fn everywhere(bench: &Bench, first: Work, next: &[Work]) -> Vec<Course> {
    let all = (0..bench.operations(first)).flat_map(|at| (0..EVENTS.len()).map(move |which| (at, which)));
    all.step_by(stride(3))
        .map(|(at, which)| course(first, next[(at as usize / 2 + which) % next.len()], at, EVENTS[which]))
        .collect()
}

#[test]
#[cfg_attr(alike_tiny, ignore = "takes minutes where a buffer holds next to nothing")]
fn whoever_is_killed_or_without_power_at_any_operation_leaves_a_whole_collection() {
    let bench = Bench::new(false);
    for first in [LOAD, Work::Refuse("a", 300), Work::Compact, Work::Gather] {
        bench.try_all(&everywhere(&bench, first, &NEXT), &format!("{first:?}"));
    }
}

/// The followers have no folder for their runs yet.
#[test]
#[cfg_attr(alike_tiny, ignore = "takes minutes where a buffer holds next to nothing")]
fn whoever_is_killed_or_without_power_in_the_first_load_leaves_a_whole_collection() {
    let bench = Bench::new(true);
    bench.try_all(&everywhere(&bench, SHORT, &[OTHER, LOAD]), "the first load");
    // About when one has made the folder, and is killed before the name of that is durable.
    let courses = (0..MAKING * 16).map(|seed| Course {
        seed,
        ..course(SHORT, [OTHER, LOAD][seed as usize % 2], 2 + seed / 16, Event::Kill(1))
    });
    bench.try_all(&courses.collect::<Vec<Course>>(), "the folder is made");
}

#[test]
#[cfg_attr(alike_tiny, ignore = "takes minutes where a buffer holds next to nothing")]
fn who_dies_in_a_dataflow_leaves_a_whole_collection() {
    let bench = Bench::new(false);
    let fates = [(0, false), (0, true), (1, false), (1, true)];
    let courses = (0..WITHIN * 8).map(|seed| {
        let ((process, cut), next) = (fates[seed as usize % 4], NEXT[seed as usize % NEXT.len()]);
        Course { seed, ..course(LOAD, next, 0, Event::Within(process, seed / 8, cut)) }
    });
    let courses: Vec<Course> = courses.collect();
    bench.try_all(&courses, "within");
}

#[test]
#[cfg_attr(alike_tiny, ignore = "takes minutes where a buffer holds next to nothing")]
fn a_leader_that_has_lost_the_lock_and_its_followers_spoil_nothing() {
    for (first, new) in [(SHORT, true), (Work::Compact, false), (Work::Gather, false)] {
        let (bench, mut courses) = (Bench::new(new), Vec::new());
        for seed in 0..STOLEN {
            let next = [OTHER, LOAD, Work::Compact][seed as usize % 3];
            courses.push(Course { seed, ..course(first, next, 0, Event::StolenLock) });
        }
        bench.try_all(&courses, &format!("stolen {first:?}"));
    }
}

#[test]
#[cfg_attr(alike_tiny, ignore = "takes minutes where a buffer holds next to nothing")]
fn two_events_and_two_followers_in_any_order_leave_a_whole_collection() {
    let bench = Bench::new(false);
    let courses: Vec<Course> = (0..DISTURBED).map(disturbed).collect();
    let tried = bench.try_all(&courses, "two events");
    assert!(tried.iter().map(|tried| tried.turns).sum::<u64>() > 5, "jobs take turns");
}

/// Two events and two followers, or one of each, as the seed says.
fn disturbed(seed: u64) -> Course {
    let throw = |salt: u64, below: u64| mix(seed * 16 + salt) % below;
    let first = [LOAD, LONG, Work::Refuse("a", 300), Work::Compact, Work::Gather][throw(0, 5) as usize];
    let next = NEXT[throw(1, 5) as usize];
    let [event, another] = [2, 3].map(|salt| EVENTS[throw(salt, 4) as usize]);
    let then = seed.is_multiple_of(2).then(|| (throw(4, 150), another));
    let followers = 1 + (throw(6, 2)) as usize;
    Course { followers, then, seed, ..course(first, next, throw(5, 36), event) }
}
