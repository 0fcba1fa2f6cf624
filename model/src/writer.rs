//! A writer, step by step, as `docs/src/reference/format.md` has it under "A commit".

use crate::folder::{Content, Folder, Manifest, Name, Small};

/// What a commit does with the runs before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// Adds a run.
    Load,
    /// Adds two runs, with a checkpoint between them.
    LoadOfEpochs,
    /// Replaces all runs by one.
    Compact,
}

/// Where a writer is: the step that comes next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Away,
    Open,
    /// What was found is made durable: what is removed next is removed because of it.
    SyncFound,
    /// A look which files there are to remove.
    List(After),
    /// Files to remove, last first; and what comes when they are gone and that is durable.
    Remove(Vec<Name>, After),
    /// A look whether somebody was faster, once all that was unfinished is gone: nobody else can publish any more.
    LookAgain(Vec<Name>, After),
    Vouch,
    Ready,
    WriteRun,
    SyncRun,
    NameRun,
    WriteCheckpoint,
    SyncCheckpoint,
    NameCheckpoint,
    WriteNew,
    SyncNew,
    NameNew,
    Link,
    CheckNewest,
    Acknowledge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum After {
    Opened,
    Committed,
}

/// A writer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Writer {
    pub step: Step,
    /// Which of all openings for writing this is.
    pub attempt: Small,
    work: Work,
    last: Option<Manifest>,
    before: Option<Manifest>,
    pending: Option<Manifest>,
    pub next: Option<Manifest>,
}

/// What a step tells the rest of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Nothing,
    /// Opened with this as the last commit.
    Opened(Manifest),
    /// Found damage.
    Damaged,
    /// Has given up: it is dead.
    GaveUp,
    Acknowledged(Manifest),
}

impl Writer {
    pub fn away() -> Writer {
        let (last, before, pending, next) = (None, None, None, None);
        Writer { step: Step::Away, attempt: 0, work: Work::Load, last, before, pending, next }
    }

    /// A writer that has the lock.
    pub fn begin(attempt: Small, work: Work) -> Writer {
        Writer { step: Step::Open, attempt, work, ..Writer::away() }
    }

    fn last(&self) -> &Manifest {
        self.last.as_ref().expect("opened")
    }

    /// Does one step.
    pub fn go(&mut self, folder: &mut Folder) -> Said {
        let next_step = match self.step.clone() {
            Step::Away => return Said::Nothing,
            Step::Open => return self.open(folder),
            Step::SyncFound => {
                folder.sync_names();
                Step::List(After::Opened)
            }
            Step::List(_) if folder.newest() > Some(self.last().commit) => return self.give_up(),
            Step::List(after) => {
                let names = match after {
                    After::Opened => self.superseded(folder, |_| true),
                    After::Committed => self.superseded(folder, |name| self.is_below(name)),
                };
                Step::Remove(names, after)
            }
            Step::LookAgain(_, _) if folder.newest() > Some(self.last().commit) => return self.give_up(),
            Step::LookAgain(names, after) => Step::Remove(names, after),
            Step::Remove(mut names, after) => match names.pop() {
                Some(name) if folder.remove(name) => {
                    let unfinished = |name: &Name| matches!(name, Name::Unfinished(..));
                    match unfinished(&name) && !names.last().is_some_and(unfinished) {
                        true => Step::LookAgain(names, after),
                        false => Step::Remove(names, after),
                    }
                }
                Some(_) => return self.give_up(),
                None => {
                    folder.sync_names();
                    match after {
                        After::Opened => Step::Vouch,
                        After::Committed => Step::Away,
                    }
                }
            },
            Step::Vouch => {
                let commit = self.last().commit;
                if !is_vouched(folder, commit) {
                    if !folder.link(Name::Manifest(commit), Name::Unfinished(commit, self.attempt)) {
                        return self.give_up();
                    }
                    folder.sync_names();
                }
                self.step = Step::Ready;
                return Said::Opened(self.last().clone());
            }
            Step::Ready => {
                self.plan();
                Step::WriteRun
            }
            Step::WriteRun => {
                let next = self.next.as_mut().expect("planned");
                let id = next.next_run;
                next.next_run += 1;
                next.runs.push((id, self.attempt));
                if !folder.create(Name::Run(id), Content::Run(self.attempt)) {
                    return self.give_up();
                }
                Step::SyncRun
            }
            Step::SyncRun => {
                let next = self.next.as_ref().expect("planned");
                folder.sync(Name::Run(next.next_run - 1));
                let first = next.next_run == self.last().next_run + 1;
                if self.work == Work::LoadOfEpochs && first { Step::NameRun } else { Step::WriteNew }
            }
            Step::NameRun => {
                folder.sync_names();
                Step::WriteCheckpoint
            }
            Step::WriteCheckpoint => {
                if !folder.create(Name::Checkpoint(self.planned()), self.manifest()) {
                    return self.give_up();
                }
                Step::SyncCheckpoint
            }
            Step::SyncCheckpoint => {
                folder.sync(Name::Checkpoint(self.planned()));
                Step::NameCheckpoint
            }
            Step::NameCheckpoint => {
                folder.sync_names();
                self.pending = self.next.clone();
                Step::WriteRun
            }
            Step::WriteNew => {
                if !folder.create(self.unfinished(), self.manifest()) {
                    return self.give_up();
                }
                Step::SyncNew
            }
            Step::SyncNew => {
                folder.sync(self.unfinished());
                Step::NameNew
            }
            Step::NameNew => {
                folder.sync_names();
                Step::Link
            }
            Step::Link => {
                if !folder.link(self.unfinished(), Name::Manifest(self.planned())) {
                    return self.give_up();
                }
                Step::CheckNewest
            }
            Step::CheckNewest => {
                let own = folder.get(Name::Manifest(self.planned())) == Some(&self.manifest());
                if !folder.has(Name::Manifest(self.planned() - 1)) || !own {
                    return self.give_up();
                }
                Step::Acknowledge
            }
            Step::Acknowledge => return self.acknowledge(folder),
        };
        self.step = next_step;
        Said::Nothing
    }

    fn give_up(&mut self) -> Said {
        *self = Writer::away();
        Said::GaveUp
    }

    fn planned(&self) -> Small {
        self.next.as_ref().expect("planned").commit
    }

    fn unfinished(&self) -> Name {
        Name::Unfinished(self.planned(), self.attempt)
    }

    fn manifest(&self) -> Content {
        Content::Manifest(self.next.clone().expect("planned"))
    }

    /// What the next commit will be: what an interrupted load has left goes on.
    fn plan(&mut self) {
        let last = self.last();
        let plan = Manifest { commit: last.commit + 1, by: self.attempt, ..last.clone() };
        self.next = Some(match &self.pending {
            Some(pending) => Manifest { by: self.attempt, ..pending.clone() },
            None if self.work == Work::Compact => Manifest { runs: Vec::new(), ..plan },
            None => plan,
        });
        if self.pending.is_some() {
            self.work = Work::LoadOfEpochs;
        }
    }

    fn open(&mut self, folder: &Folder) -> Said {
        let last = folder.newest().and_then(|commit| folder.manifest(Name::Manifest(commit)));
        let Some(Ok(last)) = last else {
            *self = Writer::away();
            return Said::Damaged;
        };
        let commit = last.commit;
        if !runs_are_whole(folder, last) || check_last(folder, last).is_err() {
            *self = Writer::away();
            return Said::Damaged;
        }
        self.last = Some(last.clone());
        self.before = match folder.manifest(Name::Manifest(commit - 1)) {
            None => None,
            Some(Ok(before)) => Some(before.clone()),
            Some(Err(())) => {
                *self = Writer::away();
                return Said::Damaged;
            }
        };
        let checkpoint = folder.manifest(Name::Checkpoint(commit + 1));
        self.pending = checkpoint.and_then(Result::ok).cloned();
        self.step = Step::SyncFound;
        Said::Nothing
    }

    fn acknowledge(&mut self, folder: &mut Folder) -> Said {
        folder.sync_names();
        let next = self.next.take().expect("planned");
        self.before = self.last.replace(next.clone());
        self.pending = None;
        self.step = Step::List(After::Committed);
        Said::Acknowledged(next)
    }

    /// Whether a file may be of this commit or an earlier one: others may be preparing the next.
    fn is_below(&self, name: Name) -> bool {
        let last = self.last();
        match name {
            Name::Run(id) => id < last.next_run,
            Name::Unfinished(of, _) | Name::Checkpoint(of) | Name::Manifest(of) => of <= last.commit,
        }
    }

    /// What neither the last commit nor the one before it names, to be removed from the end of the list on.
    fn superseded(&self, folder: &Folder, may_go: impl Fn(Name) -> bool) -> Vec<Name> {
        let last = self.last();
        let has_before = folder.has(Name::Manifest(last.commit - 1));
        let kept = |name: Name| {
            last.names(name)
                || self.before.as_ref().is_some_and(|before| before.names(name))
                || !has_before && matches!(name, Name::Unfinished(of, _) if of == last.commit)
                || self.pending.as_ref().is_some_and(|pending| {
                    name == Name::Checkpoint(pending.commit)
                        || pending.names(name) && name != Name::Manifest(pending.commit)
                })
        };
        let mut names: Vec<Name> = folder.names().filter(|name| may_go(*name) && !kept(*name)).collect();
        names.sort_unstable_by(|a, b| b.cmp(a));
        names
    }
}

/// Whether all runs of a commit are there, as they were written.
pub fn runs_are_whole(folder: &Folder, manifest: &Manifest) -> bool {
    manifest.runs.iter().all(|(id, by)| folder.get(Name::Run(*id)) == Some(&Content::Run(*by)))
}

fn is_vouched(folder: &Folder, commit: Small) -> bool {
    let vouches = |name| matches!(name, Name::Unfinished(of, _) if of == commit);
    folder.has(Name::Manifest(commit - 1)) || folder.names().any(vouches)
}

/// Refuses the greatest commit that there is a manifest of, if there was a later one.
///
/// # Errors
/// If there was.
pub fn check_last(folder: &Folder, last: &Manifest) -> Result<(), ()> {
    let under_way = folder.has(Name::Checkpoint(last.commit + 1));
    let later = folder.names().any(|name| matches!(name, Name::Run(id) if id >= last.next_run));
    if is_vouched(folder, last.commit) || under_way || !later { Ok(()) } else { Err(()) }
}
