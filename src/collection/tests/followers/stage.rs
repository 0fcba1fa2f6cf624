//! Whose turn it is: every operation of every process waits here until it is let through. Nothing is let through
//! before all processes wait, for their turn or for each other, so that the order of operations is that which the test
//! chooses, and the same each time.
//!
//! Only what the main thread of a process does has turns. The workers of a dataflow write runs that nobody else names
//! yet, each its own: their operations are counted, and a process can die at any of them.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::judge::named_and_gone;
use super::machines::{FOLLOWERS, Folders, LEADERS, MACHINES, Machine, Made};
use crate::collection::commit::names::Name;
use crate::error::Error;
use crate::mesh::Mesh;
use crate::mesh::turns::{Awaited, Watch};
use crate::storage::Simulated;

/// The longest time in which nobody comes to where all wait.
const STUCK: Duration = Duration::from_secs(30);
/// Operations that are shown of a schedule in which something is wrong.
const SHOWN: usize = 80;

thread_local! {
    /// The process whose main thread this is.
    static MAIN: Cell<Option<usize>> = const { Cell::new(None) };
}

/// What a process that is killed unwinds with.
pub(super) struct Killed;

/// How a process has ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    Done,
    Killed,
    Failed(String),
    Panicked(String),
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    Running,
    AtGate(String),
    Waiting(Awaited),
    Ended(End),
}

/// A process.
struct Party {
    job: usize,
    process: usize,
    machine: usize,
    state: State,
    granted: bool,
    killed: bool,
    /// Whether its mesh was told so.
    told: bool,
    mesh: Weak<Mesh>,
    /// Operations of its workers, and at which of them it dies.
    aside: u64,
    fate: Option<(u64, Fate)>,
    /// Commits that it is about to publish: nothing but a manifest counts from there on.
    publishing: Option<u64>,
    linked: Option<u64>,
}

/// What befalls a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Killed,
    /// Its machine has no power any more, with a seed of what that leaves.
    PowerCut(u64),
}

#[derive(Default)]
struct Inner {
    parties: Vec<Party>,
    machines: Vec<Machine>,
    sent: BTreeMap<(usize, usize, usize, u32), u64>,
    received: BTreeMap<(usize, usize, usize, u32), u64>,
    met: BTreeMap<(usize, u64), BTreeSet<usize>>,
    /// What was done, for whoever wants to know why something is wrong.
    told: Vec<String>,
    wrong: Option<String>,
    /// The commits that were acknowledged, each with its manifest.
    acknowledged: Vec<(u64, Vec<u8>)>,
}

/// All processes of a test, and their machines.
pub(super) struct Stage {
    inner: Mutex<Inner>,
    changed: Condvar,
}

/// A process of a job, as the mesh of that is watched.
pub(super) struct Watcher {
    pub(super) stage: Arc<Stage>,
    pub(super) job: usize,
}

impl Stage {
    /// Nobody is there yet.
    pub(super) fn new(folders: &Folders) -> Arc<Stage> {
        let [leaders, followers] = folders.both.clone();
        let machines = [(leaders, Made::Durable), (followers, folders.made)];
        let machines = machines.map(|(folder, place)| Machine { folder, lock: None, place }).into();
        Arc::new(Stage { inner: Mutex::new(Inner { machines, ..Inner::default() }), changed: Condvar::new() })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something, and tells all who wait.
    fn note<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let changed = change(&mut self.inner());
        self.changed.notify_all();
        changed
    }

    /// A process comes; its number.
    pub(super) fn enter(&self, job: usize, process: usize) -> usize {
        self.note(|inner| {
            let machine = if process == 0 { LEADERS } else { FOLLOWERS };
            let (state, mesh) = (State::Running, Weak::new());
            inner.parties.push(Party {
                job,
                process,
                machine,
                state,
                granted: false,
                killed: false,
                told: false,
                mesh,
                aside: 0,
                fate: None,
                publishing: None,
                linked: None,
            });
            inner.parties.len() - 1
        })
    }

    /// This thread is the main thread of a process.
    pub(super) fn begin(party: usize) {
        MAIN.set(Some(party));
    }

    /// The process has met the others.
    pub(super) fn meet(&self, party: usize, mesh: &Arc<Mesh>) {
        self.note(|inner| inner.parties[party].mesh = Arc::downgrade(mesh));
    }

    pub(super) fn leave(&self, party: usize, end: End) {
        self.note(|inner| {
            let end = if inner.parties[party].killed { End::Killed } else { end };
            inner.say(party, &format!("{end:?}"));
            inner.parties[party].state = State::Ended(end);
        });
    }

    /// The folder of a machine as it is now.
    pub(super) fn folder(&self, machine: usize) -> Simulated {
        self.inner().machines[machine].folder.clone()
    }

    /// What both machines have now.
    pub(super) fn folders(&self) -> Folders {
        let inner = self.inner();
        let both = MACHINES.map(|machine| inner.machines[machine].folder.clone());
        Folders { both, made: inner.machines[FOLLOWERS].place }
    }

    pub(super) fn is_made(&self, party: usize) -> bool {
        let inner = self.inner();
        inner.machines[inner.parties[party].machine].place > Made::No
    }

    pub(super) fn is_durable(&self, party: usize) -> bool {
        let inner = self.inner();
        inner.machines[inner.parties[party].machine].place == Made::Durable
    }

    pub(super) fn make(&self, party: usize) {
        self.note(|inner| inner.places(party, Made::Yes));
    }

    pub(super) fn make_durable(&self, party: usize) {
        self.note(|inner| inner.places(party, Made::Durable));
    }

    /// Whether what a process is about to do leaves another state for whoever comes after it: its end before that is
    /// another one than before what it did last.
    pub(super) fn matters(&self, party: usize) -> bool {
        let inner = self.inner();
        let it = &inner.parties[party];
        match &it.state {
            State::AtGate(what) => {
                let looks = ["open", "lock"].iter().any(|of| what.starts_with(of));
                !(looks || it.process == 0 && what.starts_with("list"))
            }
            _ => false,
        }
    }

    /// Waits for the turn of a process, which is about to do something.
    ///
    /// # Errors
    /// If it is dead. Its main thread then ends at once.
    pub(super) fn pass(&self, party: usize, what: &str) -> io::Result<()> {
        let mut inner = self.inner();
        if MAIN.get() != Some(party) {
            inner.pass_aside(party, what);
            self.changed.notify_all();
            let killed = inner.parties[party].killed;
            return if killed { Err(io::Error::other("killed")) } else { Ok(()) };
        }
        inner.parties[party].state = State::AtGate(what.to_owned());
        self.changed.notify_all();
        while !inner.parties[party].granted && !inner.parties[party].killed {
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
        let it = &mut inner.parties[party];
        (it.state, it.granted) = (State::Running, false);
        if !it.killed {
            inner.say(party, what);
            return Ok(());
        }
        drop(inner);
        if std::thread::panicking() {
            return Err(io::Error::other("killed"));
        }
        resume_unwind(Box::new(Killed))
    }

    /// Waits for the turn of a process that is about to open a file; the threads that read have none.
    ///
    /// # Errors
    /// Those of [`Stage::pass`].
    pub(super) fn pass_opening(&self, party: usize, name: &str) -> io::Result<()> {
        if MAIN.get() == Some(party) { self.pass(party, &format!("open {name}")) } else { Ok(()) }
    }

    /// A process has changed names: what is named by commits must be there, whoever removes what.
    pub(super) fn check_names(&self, party: usize, what: &str) {
        self.note(|inner| {
            if inner.parties[party].killed {
                return;
            }
            let [leaders, kept] = MACHINES.map(|machine| inner.machines[machine].folder.clone());
            if let Some(gone) = named_and_gone(&leaders, &kept) {
                let name = inner.name(party);
                inner.wrong.get_or_insert(format!("{gone} when {name} did: {what}"));
            }
        });
    }

    /// A process has given a file its second name.
    pub(super) fn linked(&self, party: usize, to: &str) {
        let Some(Name::Manifest(commit)) = Name::parse(to) else { return };
        self.note(|inner| inner.parties[party].linked = Some(commit));
    }

    /// A process has made names durable: that of its manifest is the acknowledgement.
    pub(super) fn synced(&self, party: usize) {
        self.note(|inner| {
            let it = &mut inner.parties[party];
            if it.killed {
                return;
            }
            let Some(commit) = it.linked.take() else { return };
            it.publishing = None;
            let name = Name::Manifest(commit).to_string();
            match inner.machines[LEADERS].folder.contents(&name) {
                Ok(bytes) => inner.acknowledged.push((commit, bytes)),
                Err(_) => {
                    inner.wrong.get_or_insert(format!("{name} is acknowledged, and gone"));
                }
            }
        });
    }

    /// A process has begun a file.
    pub(super) fn created(&self, party: usize, name: &str) {
        if let Some(Name::Unfinished(commit, _)) = Name::parse(name) {
            self.note(|inner| inner.parties[party].publishing = Some(commit));
        }
    }

    /// Takes the lock of a machine's folder, if nobody has it.
    pub(super) fn lock(&self, party: usize) -> bool {
        self.note(|inner| {
            let machine = inner.parties[party].machine;
            let lock = &mut inner.machines[machine].lock;
            let free = lock.is_none();
            if free {
                *lock = Some(party);
            }
            free
        })
    }

    /// Frees the lock, unless somebody else has it.
    pub(super) fn unlock(&self, party: usize) {
        self.note(|inner| {
            let machine = inner.parties[party].machine;
            inner.machines[machine].lock.take_if(|holder| *holder == party);
        });
    }

    /// Frees the lock of the collection, whoever has it.
    pub(super) fn steal(&self) {
        self.note(|inner| {
            inner.machines[LEADERS].lock = None;
            inner.told.push("the lock is stolen".to_owned());
        });
    }

    /// Waits until all wait; those whose turn it may be, in the order in which they came.
    ///
    /// # Panics
    /// If something is wrong, or nobody comes.
    pub(super) fn settle(&self) -> Vec<usize> {
        let mut inner = self.inner();
        loop {
            let dead = inner.parties.iter_mut().filter(|it| it.killed && !it.told);
            let dead: Vec<Weak<Mesh>> = dead
                .filter(|it| matches!(it.state, State::Waiting(_)))
                .map(|it| {
                    it.told = true;
                    it.mesh.clone()
                })
                .collect();
            if !dead.is_empty() {
                drop(inner);
                dead.iter().filter_map(Weak::upgrade).for_each(|mesh| mesh.give_up(1, "killed"));
                inner = self.inner();
                continue;
            }
            if (0..inner.parties.len()).all(|party| inner.is_settled(party)) {
                inner.check();
                return inner.candidates();
            }
            let (next, late) =
                self.changed.wait_timeout(inner, STUCK).unwrap_or_else(PoisonError::into_inner);
            inner = next;
            if late.timed_out() {
                inner.wrong.get_or_insert("nobody goes on".to_owned());
                inner.check();
            }
        }
    }

    /// Lets a process do what it waits for.
    pub(super) fn grant(&self, party: usize) {
        self.note(|inner| inner.parties[party].granted = true);
    }

    /// Kills a process.
    pub(super) fn kill(&self, party: usize) {
        self.note(|inner| inner.kill(party));
    }

    /// Cuts the power of a machine.
    pub(super) fn cut(&self, machine: usize, seed: u64) {
        self.note(|inner| inner.cut(machine, seed));
    }

    /// Has a process die when its workers have done so much.
    pub(super) fn doom(&self, party: usize, aside: u64, fate: Fate) {
        self.note(|inner| inner.parties[party].fate = Some((aside, fate)));
    }

    pub(super) fn job_of(&self, party: usize) -> usize {
        self.inner().parties[party].job
    }

    pub(super) fn is_publishing(&self, party: usize) -> bool {
        self.inner().parties[party].publishing.is_some()
    }

    /// How a process has ended, if it has.
    pub(super) fn end(&self, party: usize) -> Option<End> {
        match &self.inner().parties[party].state {
            State::Ended(end) => Some(end.clone()),
            _ => None,
        }
    }

    pub(super) fn acknowledged(&self) -> Vec<(u64, Vec<u8>)> {
        self.inner().acknowledged.clone()
    }

    /// How the leaders of all jobs have ended.
    pub(super) fn ends(&self) -> Vec<(usize, End)> {
        let inner = self.inner();
        let ends = inner.parties.iter().filter(|it| it.process == 0).filter_map(|it| match &it.state {
            State::Ended(end) => Some((it.job, end.clone())),
            _ => None,
        });
        ends.collect()
    }

    /// Whether nobody has the lock of the collection.
    pub(super) fn is_free(&self) -> bool {
        self.inner().machines[LEADERS].lock.is_none()
    }

    /// Whether somebody was killed.
    pub(super) fn has_struck(&self) -> bool {
        self.inner().parties.iter().any(|it| it.killed)
    }

    /// What was done last.
    pub(super) fn told(&self) -> String {
        let inner = self.inner();
        inner.told[inner.told.len().saturating_sub(SHOWN)..].join("\n")
    }
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").finish_non_exhaustive()
    }
}

impl End {
    /// What a process has failed with.
    pub(super) fn failed(error: &Error) -> End {
        let kind = match error {
            Error::Damaged { .. } | Error::UnfinishedDamaged { .. } => "DAMAGED",
            Error::Forked { .. } => "FORKED",
            Error::Unfinished { .. } => "UNFINISHED",
            Error::Locked(_) => "LOCKED",
            Error::Lost { .. } | Error::GaveUp { .. } | Error::Interrupted => "LOST",
            _ => "OTHER",
        };
        End::Failed(format!("{kind}: {error}"))
    }
}

impl Inner {
    fn name(&self, party: usize) -> String {
        let Party { job, process, .. } = &self.parties[party];
        match process {
            0 => format!("the leader of job {job}"),
            _ => format!("follower {process} of job {job}"),
        }
    }

    fn say(&mut self, party: usize, what: &str) {
        let line = format!("{}: {what}", self.name(party));
        self.told.push(line);
    }

    fn kill(&mut self, party: usize) {
        if self.parties.get(party).is_some_and(|it| !matches!(it.state, State::Ended(_))) {
            self.say(party, "is killed");
            self.parties[party].killed = true;
        }
    }

    fn cut(&mut self, machine: usize, seed: u64) {
        self.told.push(format!("the power of machine {machine} goes ({seed})"));
        let on_it: Vec<usize> =
            (0..self.parties.len()).filter(|party| self.parties[*party].machine == machine).collect();
        on_it.into_iter().for_each(|party| self.kill(party));
        let both = MACHINES.map(|machine| self.machines[machine].folder.clone());
        let before = Folders { both, made: self.machines[FOLLOWERS].place };
        let left = before.after_power_cut(MACHINES.map(|of| of == machine), seed);
        let place = if machine == FOLLOWERS { left.made } else { Made::Durable };
        self.machines[machine] = Machine { folder: left.both[machine].clone(), lock: None, place };
    }

    fn places(&mut self, party: usize, place: Made) {
        let it = &self.parties[party];
        if !it.killed {
            self.machines[it.machine].place = place;
        }
    }

    /// A worker does something.
    fn pass_aside(&mut self, party: usize, what: &str) {
        let it = &mut self.parties[party];
        let due = it.fate.take_if(|(at, _)| *at == it.aside);
        it.aside += 1;
        match due {
            Some((_, Fate::Killed)) => self.kill(party),
            Some((_, Fate::PowerCut(seed))) => self.cut(self.parties[party].machine, seed),
            None => {}
        }
        if !self.parties[party].killed {
            self.say(party, &format!("(worker) {what}"));
        }
    }

    /// Whether a process waits for something that only the turn of another one brings.
    fn is_settled(&self, party: usize) -> bool {
        let it = &self.parties[party];
        match &it.state {
            State::Ended(_) => true,
            State::Running => false,
            State::AtGate(_) => !it.killed && !it.granted,
            State::Waiting(awaited) => !it.killed && !self.is_there(it, *awaited),
        }
    }

    /// Whether what a process waits for is there, or never will be.
    fn is_there(&self, it: &Party, awaited: Awaited) -> bool {
        let mut others = self.parties.iter().filter(|other| other.job == it.job);
        if others.clone().any(|other| matches!(other.state, State::Ended(_))) {
            return true;
        }
        match awaited {
            Awaited::Message { from, topic } => {
                let key = (it.job, from, it.process, topic);
                self.sent.get(&key).unwrap_or(&0) > self.received.get(&key).unwrap_or(&0)
            }
            Awaited::Sockets(round) => {
                let met = self.met.get(&(it.job, round));
                others.all(|other| met.is_some_and(|met| met.contains(&other.process)))
            }
        }
    }

    fn candidates(&self) -> Vec<usize> {
        let at_gate = |party: &usize| matches!(self.parties[*party].state, State::AtGate(_));
        (0..self.parties.len()).filter(at_gate).collect()
    }

    /// Fails if something is wrong.
    fn check(&self) {
        let panicked = self.parties.iter().find_map(|it| match &it.state {
            State::Ended(End::Panicked(what)) => Some(what.clone()),
            _ => None,
        });
        if let Some(wrong) = self.wrong.clone().or(panicked) {
            let states: Vec<&State> = self.parties.iter().map(|it| &it.state).collect();
            let told = self.told[self.told.len().saturating_sub(SHOWN)..].join("\n");
            panic!("{wrong}\n{states:?}\n{told}");
        }
    }
}

impl Watch for Watcher {
    fn sends(&self, process: usize, to: usize, topic: u32) {
        self.stage.note(|inner| *inner.sent.entry((self.job, process, to, topic)).or_default() += 1);
    }

    fn waits(&self, process: usize, awaited: Awaited) {
        self.stage.note(|inner| {
            if let Awaited::Sockets(round) = awaited {
                inner.met.entry((self.job, round)).or_default().insert(process);
            }
            inner.of_main(self.job, process, State::Waiting(awaited));
        });
    }

    fn goes_on(&self, process: usize, awaited: Awaited) {
        self.stage.note(|inner| {
            // Who has sockets goes on to a dataflow, where it needs the others all the same.
            if let Awaited::Message { from, topic } = awaited {
                *inner.received.entry((self.job, from, process, topic)).or_default() += 1;
                inner.of_main(self.job, process, State::Running);
            }
        });
    }
}

impl Inner {
    /// Notes what the main thread of a process does, if this is it.
    fn of_main(&mut self, job: usize, process: usize, state: State) {
        let Some(main) = MAIN.get() else { return };
        let it = &mut self.parties[main];
        if (it.job, it.process) == (job, process) && !matches!(it.state, State::Ended(_)) {
            it.state = state;
        }
    }
}
