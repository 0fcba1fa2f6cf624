//! The commit protocol of a collection as a state machine, and every state that it can reach. There are two writers,
//! of which one may have lost the lock without knowing it, each with followers that keep their runs to themselves on
//! another machine, and a reader. Processes are killed, either machine loses its power between any two steps, and a
//! file is lost.
//!
//! The steps are those of `docs/src/reference/format.md`, "A commit"; `src/collection/commit/` does the same in more
//! words.
//! What must hold is in [`World::properties`].

mod flaw;
mod folder;
mod follower;
mod judge;
mod opening;
mod publishing;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use flaw::Flaw;
use folder::{Content, Folder, Manifest, Name, Small};
use follower::{Kept, Place, Task};
use judge::{checkpoint_is_whole, hear, is_tidy, newest_is_whole, note_published, older_are_whole};
use reader::{Reader, read};
use stateright::{Model, Property};
pub use writer::Work;
use writer::{Around, Step, Writer};

/// How much may happen.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// How often somebody opens the collection for writing.
    pub attempts: Small,
    /// How often a process is killed.
    pub kills: Small,
    /// How often one of the machines loses its power.
    pub power_cuts: Small,
    /// How often a writer loses the lock and goes on.
    pub stolen_locks: Small,
    /// How often somebody reads.
    pub reads: Small,
    /// How often the newest manifest is lost while nobody writes.
    pub losses: Small,
    /// What a writer may do.
    pub works: &'static [Work],
    /// How many followers each writer leads, all on one machine, where they share a folder.
    pub followers: usize,
    /// How many commits before the last one stay.
    pub older: Small,
    /// What is done otherwise than it should be.
    pub flaw: Option<Flaw>,
}

/// All there is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    folder: Folder,
    kept: Kept,
    writers: [Writer; 2],
    /// Those of each writer. They may outlive their leader.
    followers: [Vec<Task>; 2],
    lock: Option<usize>,
    reader: Reader,
    /// The last commit that somebody was told of.
    acknowledged: Manifest,
    /// Who published each commit since the first, as far as it lasted: later ones are built on it.
    published: Vec<Small>,
    /// What is left of [`World`], and how often somebody has opened.
    left: [Small; 5],
    attempts: Small,
    lost: bool,
    wrong: Option<&'static str>,
    has_read: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Begin(usize, Work),
    Go(usize),
    Follow(usize, usize),
    Kill(usize),
    KillFollower(usize, usize),
    /// A follower notices that its leader is gone.
    Notice(usize, usize),
    StealLock,
    /// Of the machine with the collection.
    PowerCut(u32),
    /// Of the machine of the followers, and whether their folder stays, if it has no durable name yet.
    FollowersPowerCut(u32, bool),
    Read,
    LoseNewest,
}

const KILLS: usize = 0;
const POWER_CUTS: usize = 1;
const STOLEN: usize = 2;
const READS: usize = 3;
const LOSSES: usize = 4;

impl Model for World {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let first = Manifest { commit: 0, runs: Vec::new(), next_run: 1, from: 0, by: 0 };
        let mut folder = Folder::default();
        // Commit 0 is vouched for by the name under which it was made.
        for name in [Name::Unfinished(0, 0), Name::Manifest(0)] {
            assert!(folder.create(name, Content::Manifest(first.clone())));
            folder.sync(name);
        }
        folder.sync_names();
        vec![State {
            folder,
            kept: Kept { place: Place::Missing, folder: Folder::default() },
            writers: [Writer::away(), Writer::away()],
            followers: [self.none(), self.none()],
            lock: None,
            reader: Reader::Away,
            acknowledged: first,
            published: Vec::new(),
            left: [self.kills, self.power_cuts, self.stolen_locks, self.reads, self.losses],
            attempts: 0,
            lost: false,
            wrong: None,
            has_read: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.wrong.is_some() {
            return;
        }
        for at in 0..state.writers.len() {
            self.actions_of(state, at, actions);
        }
        let is_away =
            |at: &usize| state.writers[*at].step == Step::Away && state.followers[*at] == self.none();
        // It is all one which of two takes the place.
        if let Some(at) = (0..state.writers.len()).find(is_away)
            && state.lock.is_none()
            && state.attempts < self.attempts
        {
            actions.extend(self.works.iter().map(|work| Action::Begin(at, *work)));
        }
        // Nothing but the lock protects what a writer has that is not about to publish yet, or what one removes that was
        // overtaken meanwhile.
        let publishes = |at: usize| {
            matches!(
                state.writers[at].step,
                Step::SyncNew
                    | Step::NameNew
                    | Step::Link
                    | Step::CheckNewest
                    | Step::CheckOwn
                    | Step::Acknowledge
            )
        };
        if state.left[STOLEN] > 0 && state.lock.is_some_and(publishes) {
            actions.push(Action::StealLock);
        }
        if state.left[POWER_CUTS] > 0 {
            power_cuts(state, actions);
        }
        if state.reader != Reader::Away || state.left[READS] > 0 {
            actions.push(Action::Read);
        }
        let quiet =
            state.writers.iter().all(|writer| writer.step == Step::Away) && state.reader == Reader::Away;
        if state.left[LOSSES] > 0 && quiet && is_tidy(state) {
            actions.push(Action::LoseNewest);
        }
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        match action {
            Action::Begin(at, work) => {
                state.attempts += 1;
                state.lock = Some(at);
                state.writers[at] = Writer::begin(state.attempts, work);
                state.followers[at].fill(Task::Idle);
            }
            Action::Go(at) => {
                let mut around = Around {
                    folder: &mut state.folder,
                    kept: &state.kept,
                    followers: &mut state.followers[at],
                    older: self.older,
                    flaw: self.flaw,
                };
                let said = state.writers[at].go(&mut around);
                hear(&mut state, said);
                note_published(&mut state);
            }
            Action::Follow(at, which) => state.followers[at][which].go(&mut state.kept, self.flaw),
            Action::Kill(at) => {
                state.left[KILLS] -= 1;
                state.writers[at] = Writer::away();
            }
            Action::KillFollower(at, which) => {
                state.left[KILLS] -= 1;
                state.followers[at][which] = Task::Away;
            }
            Action::Notice(at, which) => state.followers[at][which] = Task::Away,
            Action::StealLock => {
                state.left[STOLEN] -= 1;
                state.lock = None;
            }
            Action::PowerCut(chosen) => {
                state.left[POWER_CUTS] -= 1;
                state.folder = state.folder.after_power_cut(chosen);
                (state.writers, state.reader) = ([Writer::away(), Writer::away()], Reader::Away);
                state.lock = None;
            }
            Action::FollowersPowerCut(chosen, stays) => {
                state.left[POWER_CUTS] -= 1;
                state.kept = state.kept.after_power_cut(chosen, stays);
                state.followers = [self.none(), self.none()];
            }
            Action::Read => read(&mut state),
            Action::LoseNewest => {
                state.left[LOSSES] -= 1;
                state.lost = true;
                state.folder.lose(Name::Manifest(state.folder.newest()?));
            }
        }
        settle(&mut state);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nobody sees anything wrong", |_, state: &State| state.wrong.is_none()),
            Property::always(
                "an acknowledged commit stays, and the newest one is whole",
                |_, state: &State| state.lost || newest_is_whole(state),
            ),
            Property::always("the commits before the newest one that stay are whole", |_, state: &State| {
                state.lost || older_are_whole(state)
            }),
            Property::always("a load that can be resumed is whole", |_, state: &State| {
                state.lost || checkpoint_is_whole(state)
            }),
            Property::sometimes("a commit after the first is acknowledged", |_, state: &State| {
                state.acknowledged.commit >= 1
            }),
            Property::sometimes("somebody has read", |world: &World, state: &State| {
                state.has_read || world.reads == 0
            }),
        ]
    }
}

impl World {
    /// The followers of nobody.
    fn none(&self) -> Vec<Task> {
        vec![Task::Away; self.followers]
    }

    /// What a writer and its followers can do, and what can befall them.
    fn actions_of(&self, state: &State, at: usize, actions: &mut Vec<Action>) {
        let (writer, followers) = (&state.writers[at], &state.followers[at]);
        let leads = writer.step != Step::Away;
        if leads && !writer.waits(followers, self.flaw) {
            actions.push(Action::Go(at));
        }
        if leads && state.left[KILLS] > 0 {
            actions.push(Action::Kill(at));
        }
        for (which, task) in followers.iter().enumerate().filter(|(_, task)| **task != Task::Away) {
            if task.is_busy() {
                actions.push(Action::Follow(at, which));
            }
            if !leads {
                actions.push(Action::Notice(at, which));
            } else if state.left[KILLS] > 0 {
                actions.push(Action::KillFollower(at, which));
            }
        }
    }
}

/// What a power cut of either machine may leave.
fn power_cuts(state: &State, actions: &mut Vec<Action>) {
    let choices = |folder: &Folder| 0..1u32 << folder.undecided().len();
    actions.extend(choices(&state.folder).map(Action::PowerCut));
    if state.kept.place == Place::Made {
        actions.push(Action::FollowersPowerCut(0, false));
    }
    if state.kept.place != Place::Missing {
        let stays = choices(&state.kept.folder).map(|chosen| Action::FollowersPowerCut(chosen, true));
        actions.extend(stays);
    }
}

/// Frees the lock of who is gone. A follower that has nothing to do without its leader ends with it.
fn settle(state: &mut State) {
    for at in 0..state.writers.len() {
        if state.writers[at].step == Step::Away {
            if state.lock == Some(at) {
                state.lock = None;
            }
            for task in state.followers[at].iter_mut().filter(|task| !task.is_busy()) {
                *task = Task::Away;
            }
        }
    }
}
