//! A course of events: a job that something befalls at some operation, the next one beside what is left of it, and one
//! more that must find all well.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::jobs::{Ground, Job, Work, alone};
use super::judge::{Held, find, held, unnamed};
use super::machines::Folders;
use super::stage::{End, Fate, Stage};
use crate::collection::tests::mix;

/// What happens to the first job, or to a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    Kill(usize),
    PowerCut(usize),
    /// The leader loses the lock while it is publishing, and does not know it: the seed says when.
    StolenLock,
    /// A process dies in a dataflow, when its workers have done so much, or its machine does.
    Within(usize, u64, bool),
}

/// What is tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub(super) first: Work,
    pub(super) next: Work,
    pub(super) followers: usize,
    /// The event, and at which operation it comes.
    pub(super) at: u64,
    pub(super) event: Event,
    /// One more, so many operations later.
    pub(super) then: Option<(u64, Event)>,
    /// Of the order of operations, and of what power cuts leave.
    pub(super) seed: u64,
}

/// What was tried.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tried {
    /// Whether what was to happen did.
    pub(super) happened: bool,
    pub(super) operations: u64,
    /// Those of them that matter, before the second job began.
    pub(super) alone: u64,
    /// How often two jobs took turns.
    pub(super) turns: u64,
}

/// What a collection may hold: that of a load, that of both.
pub(super) struct Expected {
    before: Held,
    with_a: Held,
    with_b: Held,
    with_both: Held,
}

impl Expected {
    /// What loads come to after one that there was before, if there was one.
    pub(super) fn new(ground: &Ground, base: &[&str]) -> Expected {
        let of = |names: &[&str]| held(&alone(ground, &[base, names].concat())).expect("read");
        let [before, with_a] = [of(&[]), of(&["a"])];
        Expected { before, with_a, with_b: of(&["b"]), with_both: of(&["a", "b"]) }
    }

    fn has(&self, held: &Held) -> bool {
        [&self.before, &self.with_a, &self.with_b, &self.with_both].contains(&held)
    }
}

/// Numbers that look random.
struct Dice(u64, u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.1 += 1;
        mix(self.0.wrapping_mul(0x9e37_79b9) ^ mix(self.1)) % bound
    }
}

/// Whose turn it is while two jobs are under way.
struct Turns {
    dice: Dice,
    job: usize,
    left: u64,
    taken: u64,
}

impl Turns {
    /// One of those that wait for their turn.
    fn next(&mut self, stage: &Stage, waiting: &[usize]) -> usize {
        let of =
            |job: usize| waiting.iter().copied().filter(|it| stage.job_of(*it) == job).collect::<Vec<_>>();
        if self.left == 0 || of(self.job).is_empty() {
            let other = 1 - self.job;
            if !of(other).is_empty() {
                (self.job, self.taken) = (other, self.taken + 1);
            }
            self.left = [1, 3, 12, 60][self.dice.below(4) as usize];
        }
        self.left -= 1;
        let own = of(self.job);
        own[self.dice.below(own.len() as u64) as usize]
    }
}

/// Lets events take their course, and judges what comes of it.
pub(super) struct Play<'a> {
    course: &'a Course,
    ground: &'a Arc<Ground>,
    expected: &'a Expected,
    stage: Arc<Stage>,
    jobs: Vec<Job>,
    turns: Turns,
    tried: Tried,
}

impl Play<'_> {
    /// Does all of a course, on copies of these folders.
    ///
    /// # Panics
    /// If something is wrong.
    pub(super) fn all(
        course: &Course,
        (ground, expected): (&Arc<Ground>, &Expected),
        folders: &Folders,
    ) -> Tried {
        let stage = Stage::new(&folders.after_power_cut([true, true], 0));
        let turns = Turns { dice: Dice(course.seed, 0), job: 0, left: 0, taken: 0 };
        let (jobs, tried) = (Vec::new(), Tried::default());
        let mut play = Play { course, ground, expected, stage, jobs, turns, tried };
        play.both();
        let folders = play.judge();
        play.afterwards(folders);
        play.tried
    }

    fn begin(&mut self, work: Work) {
        let number = self.jobs.len();
        self.jobs.push(Job::begin(&self.stage, self.ground, number, self.course.followers, work));
        // Who has lost the leader may sleep for a while.
        self.turns.job = number;
        self.turns.left = self.turns.dice.below(200);
    }

    /// Both jobs, from the beginning to where nobody does anything any more.
    fn both(&mut self) {
        self.begin(self.course.first);
        if let Event::Within(process, aside, cut) = self.course.event {
            let fate = if cut { Fate::PowerCut(self.course.seed) } else { Fate::Killed };
            self.stage.doom(process, aside, fate);
        }
        let mut happened_at = None;
        loop {
            let waiting = self.stage.settle();
            let done = self.tried.operations;
            if happened_at.is_none() && (self.is_due() || self.stage.has_struck()) {
                happened_at = Some(done);
                self.tried.happened = true;
                self.befall(self.course.event);
                continue;
            }
            if let (Some(at), Some((after, event))) = (happened_at, self.course.then)
                && done == at + after
            {
                self.tried.operations += 1;
                self.befall(event);
                continue;
            }
            let comes = happened_at.is_some() || waiting.is_empty();
            if self.jobs.len() == 1 && comes && self.stage.is_free() {
                self.begin(self.course.next);
                continue;
            }
            if waiting.is_empty() {
                break;
            }
            let party = self.turns.next(&self.stage, &waiting);
            self.tried.alone += u64::from(self.jobs.len() == 1 && self.stage.matters(party));
            self.tried.operations += 1;
            self.stage.grant(party);
        }
        std::mem::take(&mut self.jobs).into_iter().for_each(Job::end);
        self.tried.turns = self.turns.taken;
    }

    /// Whether the event comes now.
    fn is_due(&mut self) -> bool {
        let done = self.tried.alone;
        match self.course.event {
            Event::Within(..) => false,
            _ if self.jobs.len() > 1 => false,
            Event::StolenLock => self.stage.is_publishing(0) && self.turns.dice.below(3) == 0,
            Event::Kill(_) | Event::PowerCut(_) => done == self.course.at,
        }
    }

    fn befall(&mut self, event: Event) {
        match event {
            Event::Kill(process) => self.stage.kill(process),
            Event::PowerCut(machine) => self.stage.cut(machine, self.course.seed),
            Event::StolenLock => self.stage.steal(),
            Event::Within(..) => {}
        }
    }

    fn fail(&self, what: &str) -> ! {
        panic!("{what}\n{}", self.stage.told());
    }

    /// What both jobs have left, after one more power cut of some machines or none.
    fn judge(&mut self) -> Folders {
        let acknowledged = self.stage.acknowledged();
        for (number, end) in self.stage.ends() {
            self.check_end(number, &end);
        }
        let cut = [(); 2].map(|()| self.turns.dice.below(3) == 0);
        let folders = self.stage.folders().after_power_cut(cut, self.course.seed);
        match find(&folders.both, &acknowledged) {
            Ok(found) if self.expected.has(&found.held) => {}
            Ok(found) => self.fail(&format!("commit {} holds what nobody loaded", found.commit)),
            Err(wrong) => self.fail(&wrong),
        }
        folders
    }

    /// Whether a leader may end like that.
    fn check_end(&self, job: usize, end: &End) {
        let End::Failed(why) = end else { return };
        let stolen = self.course.event == Event::StolenLock;
        let disturbed = stolen || self.course.then.is_some();
        let kind = why.split(':').next().unwrap_or_default();
        let may = match (job, kind) {
            (_, "DAMAGED") => false,
            (_, "FORKED") => stolen,
            (0, _) | (_, "UNFINISHED") => true,
            _ => disturbed,
        };
        if !may {
            self.fail(&format!("the leader of job {job} ends with {why}"));
        }
    }

    /// The jobs that come after: they finish what was begun, and nothing is left that nobody names.
    fn afterwards(&mut self, mut folders: Folders) {
        let mut todo = vec![Work::Compact, Work::Load("a", 300)];
        while let Some(work) = todo.pop() {
            let stage = Stage::new(&folders);
            let job = Job::begin(&stage, self.ground, 2, self.course.followers, work);
            while let Some(party) = stage.settle().first() {
                stage.grant(*party);
            }
            job.end();
            folders = stage.folders();
            match stage.end(0) {
                Some(End::Done) => {}
                // The other one is to be finished first.
                Some(End::Failed(why)) if why.starts_with("UNFINISHED") && work == Work::Load("a", 300) => {
                    todo.extend([work, Work::Load("b", 300)]);
                }
                end => {
                    self.fail(&format!("{work:?} afterwards ends with {end:?}\n{}\n-- before:", stage.told()))
                }
            }
        }
        let found = find(&folders.both, &self.stage.acknowledged()).unwrap_or_else(|wrong| self.fail(&wrong));
        let all = found.held == self.expected.with_both;
        if !all && (found.held != self.expected.with_a || self.has_loaded_b()) {
            self.fail("the collection holds something else in the end");
        }
        if let Some(name) = unnamed(&folders.both) {
            self.fail(&format!("{name} is left in the end"));
        }
    }

    fn has_loaded_b(&self) -> bool {
        let done = self.stage.ends().into_iter().any(|(job, end)| job == 1 && end == End::Done);
        matches!(self.course.next, Work::Load("b", _)) && done
    }
}

/// Tries all of these courses, some at a time: most of the time they wait for each other.
pub(super) fn try_all(
    courses: &[Course],
    ground: (&Arc<Ground>, &Expected),
    folders: &Folders,
) -> Vec<Tried> {
    let next = AtomicUsize::new(0);
    let try_some = || {
        let mut tried = Vec::new();
        while let Some(course) = courses.get(next.fetch_add(1, Ordering::Relaxed)) {
            let played = catch_unwind(AssertUnwindSafe(|| Play::all(course, ground, folders)));
            tried.push(played.unwrap_or_else(|wrong| {
                next.store(courses.len(), Ordering::Relaxed);
                let text = wrong.downcast_ref::<String>().cloned().unwrap_or_default();
                resume_unwind(Box::new(format!("{course:?}: {text}")))
            }));
        }
        tried
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(try_some)).collect();
        let ends = threads.into_iter().map(thread::ScopedJoinHandle::join);
        ends.flat_map(|end| end.unwrap_or_else(|wrong| resume_unwind(wrong))).collect()
    })
}

/// How many courses are tried at a time.
const AT_ONCE: usize = 6;

/// The folders of a collection after its first load, with runs on both machines.
pub(super) fn loaded(ground: &Arc<Ground>, folders: &Folders) -> Folders {
    let stage = Stage::new(folders);
    let job = Job::begin(&stage, ground, 0, 1, Work::Load("base", 1000));
    while let Some(party) = stage.settle().first() {
        stage.grant(*party);
    }
    job.end();
    assert_eq!(stage.end(0), Some(End::Done), "{}", stage.told());
    stage.folders()
}
