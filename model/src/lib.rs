//! The commit protocol of a collection as a state machine, and every state that it can reach: two writers, of which one may
//! have lost the lock without knowing it, a reader, killed processes, power cuts between any two steps, and a file that is
//! lost.
//!
//! The steps are those of `docs/src/reference/format.md`, "A commit"; `src/collection/commit/` does the same in more words.
//! What must hold is in [`World::properties`].

mod folder;
mod writer;

use folder::{Content, Folder, Manifest, Name, Run, Small};
use stateright::{Model, Property};
use writer::{Said, Step, Work, Writer, check_last};

/// How much may happen.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// How often somebody opens the collection for writing.
    pub attempts: Small,
    pub kills: Small,
    pub power_cuts: Small,
    /// How often a writer loses the lock and goes on.
    pub stolen_locks: Small,
    /// How often somebody reads.
    pub reads: Small,
    /// How often the newest manifest is lost while nobody writes.
    pub losses: Small,
}

/// A reader: it takes no lock, and others go on between any two of its steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reader {
    Away,
    Listed { commit: Small, floor: Small },
    Opening { manifest: Manifest, opened: usize, floor: Small },
}

/// All there is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    folder: Folder,
    writers: [Writer; 2],
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
    Kill(usize),
    StealLock,
    PowerCut(u32),
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
        let first = Manifest { commit: 1, runs: Vec::new(), next_run: 1, by: 0 };
        let mut folder = Folder::default();
        // Commit 1 is vouched for by the name under which it was made.
        for name in [Name::Unfinished(1, 0), Name::Manifest(1)] {
            assert!(folder.create(name, Content::Manifest(first.clone())));
            folder.sync(name);
        }
        folder.sync_names();
        vec![State {
            folder,
            writers: [Writer::away(), Writer::away()],
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
        for (at, writer) in state.writers.iter().enumerate() {
            if writer.step != Step::Away {
                actions.push(Action::Go(at));
                if state.left[KILLS] > 0 {
                    actions.push(Action::Kill(at));
                }
            } else if state.lock.is_none() && state.attempts < self.attempts {
                let works = [Work::Load, Work::LoadOfEpochs, Work::Compact];
                actions.extend(works.map(|work| Action::Begin(at, work)));
            }
        }
        // Nothing but the lock protects what a writer has that is not about to publish yet, or what one removes that was
        // overtaken meanwhile.
        let publishes = |at: usize| {
            matches!(
                state.writers[at].step,
                Step::SyncNew | Step::NameNew | Step::Link | Step::CheckNewest | Step::Acknowledge
            )
        };
        if state.left[STOLEN] > 0 && state.lock.is_some_and(publishes) {
            actions.push(Action::StealLock);
        }
        if state.left[POWER_CUTS] > 0 {
            let undecided = state.folder.undecided().len() as u32;
            actions.extend((0..1 << undecided).map(Action::PowerCut));
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
            }
            Action::Go(at) => {
                let said = state.writers[at].go(&mut state.folder);
                hear(&mut state, said);
                note_published(&mut state);
                free(&mut state, at);
            }
            Action::Kill(at) => {
                state.left[KILLS] -= 1;
                state.writers[at] = Writer::away();
                free(&mut state, at);
            }
            Action::StealLock => {
                state.left[STOLEN] -= 1;
                state.lock = None;
            }
            Action::PowerCut(chosen) => {
                state.left[POWER_CUTS] -= 1;
                state.folder = state.folder.after_power_cut(chosen);
                (state.writers, state.lock, state.reader) =
                    ([Writer::away(), Writer::away()], None, Reader::Away);
            }
            Action::Read => read(&mut state),
            Action::LoseNewest => {
                state.left[LOSSES] -= 1;
                state.lost = true;
                state.folder.lose(Name::Manifest(state.folder.newest()?));
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nobody sees anything wrong", |_, state: &State| state.wrong.is_none()),
            Property::always(
                "an acknowledged commit stays, and the newest one is whole",
                |_, state: &State| state.lost || newest_is_whole(state),
            ),
            Property::sometimes("the second commit is acknowledged", |_, state: &State| {
                state.acknowledged.commit >= 2
            }),
            Property::sometimes("somebody has read", |world: &World, state: &State| {
                state.has_read || world.reads == 0
            }),
        ]
    }
}

/// Whether what the last commit has superseded is gone.
fn is_tidy(state: &State) -> bool {
    let last = &state.acknowledged;
    let before = state.folder.manifest(Name::Manifest(last.commit - 1)).and_then(Result::ok);
    let belongs = |name| {
        last.names(name)
            || before.is_some_and(|before| before.names(name))
            || before.is_none() && matches!(name, Name::Unfinished(of, _) if of == last.commit)
    };
    state.folder.newest() == Some(last.commit)
        && state.folder.names().all(belongs)
        && state.folder.undecided().is_empty()
}

fn free(state: &mut State, at: usize) {
    if state.writers[at].step == Step::Away && state.lock == Some(at) {
        state.lock = None;
    }
}

/// Notes who has published the newest commit. A power cut may take one back, and another then takes its place.
fn note_published(state: &mut State) {
    let Some(newest) = state.folder.newest() else { return };
    if let Some(Ok(manifest)) = state.folder.manifest(Name::Manifest(newest)) {
        let by = manifest.by;
        if newest >= 2 {
            state.published.resize(usize::from(newest) - 1, by);
            state.published[usize::from(newest) - 2] = by;
        }
    }
}

fn hear(state: &mut State, said: Said) {
    let acknowledged = state.acknowledged.commit;
    match said {
        Said::Nothing | Said::GaveUp => {}
        Said::Acknowledged(manifest)
            if state.published.get(usize::from(manifest.commit) - 2) != Some(&manifest.by) =>
        {
            state.wrong = Some("a commit is acknowledged whose place another has taken");
        }
        // Somebody may have built on it before it was acknowledged.
        Said::Acknowledged(manifest) if manifest.commit < acknowledged => {}
        Said::Acknowledged(manifest) => state.acknowledged = manifest,
        Said::Opened(last)
            if last.commit < acknowledged || last.commit == acknowledged && last != state.acknowledged =>
        {
            state.wrong = Some("a writer takes an older commit for the last one");
        }
        Said::Opened(_) => {}
        Said::Damaged if !state.lost => state.wrong = Some("a writer finds damage that nobody did"),
        Said::Damaged => {}
    }
}

/// A step of the reader.
fn read(state: &mut State) {
    let newest = state.folder.newest();
    let relisted = |commit: Small, floor: Small| match newest {
        Some(newest) if newest != commit => Ok(Reader::Listed { commit: newest, floor }),
        _ => Err("a reader finds damage that nobody did"),
    };
    let next = match state.reader.clone() {
        Reader::Away => {
            state.left[READS] -= 1;
            let floor = state.acknowledged.commit;
            newest.map(|commit| Reader::Listed { commit, floor }).ok_or("a reader finds no collection")
        }
        Reader::Listed { commit, floor } => match state.folder.manifest(Name::Manifest(commit)) {
            None => relisted(commit, floor),
            Some(Err(())) => Err("a reader finds a manifest that is not whole"),
            Some(Ok(manifest)) => Ok(Reader::Opening { manifest: manifest.clone(), opened: 0, floor }),
        },
        Reader::Opening { manifest, opened, floor } => match manifest.runs.get(opened) {
            Some(run) => match open_run(&state.folder, *run) {
                None => relisted(manifest.commit, floor),
                Some(true) => Ok(Reader::Opening { manifest, opened: opened + 1, floor }),
                Some(false) => Err("a reader finds a run that is another's"),
            },
            None => match check_last(&state.folder, &manifest) {
                Err(()) => relisted(manifest.commit, floor),
                Ok(()) if manifest.commit < floor => {
                    state.wrong = Some("a reader takes an older commit for the last one");
                    Ok(Reader::Away)
                }
                Ok(()) => {
                    state.has_read = true;
                    Ok(Reader::Away)
                }
            },
        },
    };
    state.reader = next.unwrap_or_else(|what| {
        if !state.lost {
            state.wrong = Some(what);
        }
        Reader::Away
    });
}

/// Whether a run is as it was written; none if it is not there.
fn open_run(folder: &Folder, (id, by): Run) -> Option<bool> {
    folder.get(Name::Run(id)).map(|content| *content == Content::Run(by))
}

fn newest_is_whole(state: &State) -> bool {
    let folder = &state.folder;
    let Some(Some(Ok(newest))) = folder.newest().map(|commit| folder.manifest(Name::Manifest(commit))) else {
        return false;
    };
    writer::runs_are_whole(folder, newest)
        && (newest.commit > state.acknowledged.commit || *newest == state.acknowledged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stateright::Checker;

    fn check(world: World) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let checked = world.checker().threads(threads).spawn_bfs().join();
        println!("{world:?}: {} states, {} steps deep", checked.unique_state_count(), checked.max_depth());
        checked.assert_properties();
    }

    const NOTHING: World =
        World { attempts: 3, kills: 0, power_cuts: 0, stolen_locks: 0, reads: 1, losses: 0 };

    #[test]
    fn killed_writers_and_power_cuts() {
        check(World { kills: 1, power_cuts: 2, ..NOTHING });
        check(World { attempts: 4, kills: 2, reads: 0, ..NOTHING });
    }

    #[test]
    fn a_writer_that_has_lost_the_lock() {
        check(World { stolen_locks: 1, reads: 0, ..NOTHING });
        check(World { attempts: 2, stolen_locks: 1, kills: 1, ..NOTHING });
    }

    #[test]
    fn a_lost_lock_and_a_power_cut() {
        check(World { attempts: 2, stolen_locks: 1, power_cuts: 1, reads: 0, ..NOTHING });
    }

    #[test]
    fn a_lost_manifest() {
        check(World { kills: 1, power_cuts: 1, losses: 1, ..NOTHING });
    }
}
