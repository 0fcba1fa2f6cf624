//! A follower, step by step: a process on another machine that keeps the runs it writes to itself. It does what the
//! leader of its job orders, one thing after the other. It may not notice for a while that its leader is gone.

use crate::flaw::Flaw;
use crate::folder::{Content, Folder, Manifest, Name, Run, Small};

/// What is durable of the folder that followers keep their runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    Missing,
    /// It is there, and a power cut may take it with all that is in it.
    Made,
    Durable,
}

/// What followers keep: the second machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kept {
    pub place: Place,
    pub folder: Folder,
}

/// What the leader keeps: the last commit and the one before it, and all runs that these or an interrupted load name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Named {
    /// Each with the attempt that made it, which stands for its digest.
    pub commits: Vec<(Small, Small)>,
    pub runs: Vec<Name>,
    /// Runs from this number on may be of a commit that somebody else prepares, unless this job wrote them.
    pub below: Option<Small>,
    pub job: Small,
}

impl Named {
    pub fn of<'a>(
        commits: &[&Manifest],
        runs: impl Iterator<Item = &'a Run>,
        (below, job): (Option<Small>, Small),
    ) -> Named {
        let commits = commits.iter().map(|manifest| (manifest.commit, manifest.by)).collect();
        let mut runs: Vec<Name> = runs.filter(|run| run.job.is_some()).map(Run::name).collect();
        runs.sort_unstable();
        runs.dedup();
        Named { commits, runs, below, job }
    }

    /// Whether a note is of a commit that the leader knows nothing of: what is removed may be all there is of that.
    fn is_foreign(&self, name: Name) -> bool {
        let Name::Tidied(commit, by) = name else { return false };
        match self.commits.iter().find(|(known, _)| *known == commit) {
            Some((_, known)) => *known != by,
            None => commit > self.commits[0].0,
        }
    }

    fn note(&self) -> Name {
        Name::Tidied(self.commits[0].0, self.commits[0].1)
    }

    /// Whether a file is to be removed.
    fn goes(&self, name: Name) -> bool {
        match name {
            Name::Kept(id, job) => {
                let is_over = self.below.is_none_or(|below| id < below) || job == self.job;
                is_over && !self.runs.contains(&name)
            }
            Name::Tidied(..) => name != self.note(),
            _ => false,
        }
    }
}

/// What a leader orders.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// To remove all runs that nobody names.
    Tidy(Named),
    /// To write a run: that of an epoch, or what others become that are merged.
    Write(Run),
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    Away,
    /// It awaits an order.
    Idle,
    Enter(Order),
    SyncPlace(Order),
    List(Named),
    /// It has listed what is there, and awaits the leader's word: whoever can give it still has the lock.
    AwaitWord(Named, Vec<Name>),
    Note(Named, Vec<Name>),
    Remove(Vec<Name>),
    SyncTidied,
    Create(Run),
    SyncRun(Run),
    SyncNames,
    /// It has done what was ordered.
    Done,
    /// It has found notes of a commit that the leader knows nothing of.
    Refused,
}

impl Task {
    /// Whether it can do something without its leader.
    pub fn is_busy(&self) -> bool {
        !matches!(self, Task::Away | Task::Idle | Task::AwaitWord(..) | Task::Done | Task::Refused)
    }

    /// Hears the leader's word.
    pub fn take_word(&mut self) {
        *self = match std::mem::replace(self, Task::Away) {
            Task::AwaitWord(named, names) => Task::Note(named, names),
            done => done,
        };
    }

    /// Does one step.
    pub fn go(&mut self, kept: &mut Kept, flaw: Option<Flaw>) {
        let folder = &mut kept.folder;
        *self = match std::mem::replace(self, Task::Away) {
            Task::Enter(order) => match kept.place {
                Place::Missing => {
                    kept.place = Place::Made;
                    Task::SyncPlace(order)
                }
                Place::Made if flaw != Some(Flaw::UnsyncedFolder) => Task::SyncPlace(order),
                Place::Made | Place::Durable => begin(order),
            },
            Task::SyncPlace(order) => {
                kept.place = Place::Durable;
                begin(order)
            }
            Task::List(named) => list(named, folder, flaw),
            Task::Note(named, names) => {
                // Another process of this machine may have been faster.
                if folder.create(named.note(), Content::Note) {
                    folder.sync(named.note());
                }
                Task::Remove(names)
            }
            Task::Remove(mut names) => match names.pop() {
                Some(name) => {
                    let _ = folder.remove(name);
                    if names.is_empty() { Task::SyncTidied } else { Task::Remove(names) }
                }
                None => Task::SyncTidied,
            },
            Task::Create(run) if !folder.create(run.name(), Content::Run(run.by)) => Task::Away,
            Task::Create(_) if flaw == Some(Flaw::UnsyncedRun) => Task::SyncNames,
            Task::Create(run) => Task::SyncRun(run),
            Task::SyncRun(run) => {
                folder.sync(run.name());
                if flaw == Some(Flaw::UnsyncedNames) { Task::Done } else { Task::SyncNames }
            }
            Task::SyncTidied | Task::SyncNames => {
                folder.sync_names();
                Task::Done
            }
            waits => waits,
        };
    }
}

fn begin(order: Order) -> Task {
    match order {
        Order::Tidy(named) => Task::List(named),
        Order::Write(run) => Task::Create(run),
    }
}

/// Looks what there is to be removed.
fn list(named: Named, folder: &Folder, flaw: Option<Flaw>) -> Task {
    if folder.names().any(|name| named.is_foreign(name)) {
        return Task::Refused;
    }
    let mut names: Vec<Name> = folder.names().filter(|name| named.goes(*name)).collect();
    // Removed from the end of the list on: runs first, then older notes.
    names.reverse();
    if names.is_empty() && folder.has(named.note()) {
        Task::Done
    } else if flaw == Some(Flaw::TidiesWithoutAsking) {
        Task::Note(named, names)
    } else {
        Task::AwaitWord(named, names)
    }
}

impl Kept {
    /// What a power cut leaves: what it leaves of any folder, or nothing, if the folder has no durable name.
    pub fn after_power_cut(&self, chosen: u32, stays: bool) -> Kept {
        match stays {
            true => Kept { place: Place::Durable, folder: self.folder.after_power_cut(chosen) },
            false => Kept { place: Place::Missing, folder: Folder::default() },
        }
    }
}
