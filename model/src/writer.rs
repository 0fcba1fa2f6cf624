//! A writer, step by step, as `docs/src/reference/format.md` has it under "A commit". It leads followers, if there are
//! any.

use crate::flaw::Flaw;
use crate::folder::{Content, Folder, Manifest, Name, Run, Small};
use crate::follower::{Kept, Order, Task};
use crate::opening::{Opening, runs_are_whole};

/// What a commit does with the runs before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// Adds a run, and one with each follower.
    Load,
    /// Adds runs in several epochs, with a checkpoint after each but the last one. After the second epoch followers
    /// merge their runs of both.
    LoadOfEpochs,
    /// Adds a run as well, after what an interrupted load has left is removed.
    Abandon,
    /// Replaces all runs by one, and by one with each follower.
    Compact,
    /// Replaces all runs by one, also those of followers. A second commit has them forgotten.
    Gather,
}

/// Where a writer is: the step that comes next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Away,
    Open(Opening),
    /// What was found is made durable: what is removed next is removed because of it.
    SyncFound,
    /// A look which files there are to remove.
    List(After),
    /// Files to remove, last first; and what comes when they are gone and that is durable.
    Remove(Vec<Name>, After),
    /// A look whether somebody was faster, once all that was unfinished is gone: nobody else can publish any more.
    LookAgain(Vec<Name>, After),
    Vouch,
    LinkVouching,
    SyncVouching,
    /// Names are synced, so that a power cut does not bring checkpoints back, and the rest is removed.
    SyncRemoved(Vec<Name>, After),
    Ready,
    /// The followers are told to remove what nobody names.
    OrderTidy(Then),
    /// Each follower is told to write a run.
    OrderRun(Then),
    /// The followers answer: they have done what was ordered, or want to know first whether this writer is still there.
    Await(Then),
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
    CheckOwn,
    Acknowledge,
}

/// What comes after files are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum After {
    Opened,
    Abandoned,
    Checkpointed,
    Committed,
}

/// What comes after an order is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Then {
    /// The first epoch.
    Begin,
    /// The next epoch.
    Epoch,
    /// The run of this process.
    OwnRun,
    /// A checkpoint.
    Checkpoint,
    Acknowledge,
    End,
}

/// A writer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Writer {
    pub step: Step,
    /// Which of all openings for writing this is.
    pub attempt: Small,
    pub work: Work,
    pub last: Option<Manifest>,
    /// The commits before it that stay, the oldest first.
    pub older: Vec<Manifest>,
    /// What an interrupted load has left, and how many epochs of it are done.
    pub pending: Option<(Small, Manifest)>,
    pub next: Option<Manifest>,
    /// How many epochs are done.
    pub epochs: Small,
}

/// What there is around a writer.
pub struct Around<'a> {
    pub folder: &'a mut Folder,
    pub kept: &'a Kept,
    /// What the followers of its job do, if there are any.
    pub followers: &'a mut [Task],
    /// How many commits before the last one stay.
    pub older: Small,
    pub flaw: Option<Flaw>,
}

/// What a step tells the rest of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Nothing,
    /// Opened with this as the last commit.
    Opened(Manifest),
    /// Found damage.
    Damaged,
    /// A follower was tidied for a commit that is unknown to this writer, whose last one this is.
    Refused(Small),
    /// Has given up: it is dead.
    GaveUp,
    Acknowledged(Manifest),
}

impl Writer {
    pub fn away() -> Writer {
        let (last, older, pending, next) = (None, Vec::new(), None, None);
        Writer { step: Step::Away, attempt: 0, work: Work::Load, last, older, pending, next, epochs: 0 }
    }

    /// A writer that has the lock.
    pub fn begin(attempt: Small, work: Work) -> Writer {
        Writer { step: Step::Open(Opening::List), attempt, work, ..Writer::away() }
    }

    pub fn last(&self) -> &Manifest {
        self.last.as_ref().expect("opened")
    }

    /// Whether it can only wait for its followers.
    pub fn waits(&self, followers: &[Task], flaw: Option<Flaw>) -> bool {
        match self.step {
            Step::Await(Then::Begin) | Step::OrderRun(_) if flaw == Some(Flaw::BeginsEarly) => {
                followers.iter().all(Task::is_busy)
            }
            Step::OrderTidy(_) | Step::OrderRun(_) | Step::Await(_) => followers.iter().any(Task::is_busy),
            _ => false,
        }
    }

    /// Does one step.
    pub fn go(&mut self, around: &mut Around) -> Said {
        match self.step.clone() {
            Step::Away => Said::Nothing,
            Step::Open(step) => self.open(step, around),
            Step::SyncFound
            | Step::List(_)
            | Step::Remove(..)
            | Step::LookAgain(..)
            | Step::SyncRemoved(..)
            | Step::Vouch
            | Step::LinkVouching
            | Step::SyncVouching => self.tidy(around),
            Step::Ready | Step::OrderTidy(_) | Step::OrderRun(_) | Step::Await(_) => self.lead(around),
            Step::WriteRun | Step::SyncRun => self.write(around),
            Step::NameRun | Step::WriteCheckpoint | Step::SyncCheckpoint | Step::NameCheckpoint => {
                self.checkpoint(around.folder)
            }
            Step::WriteNew
            | Step::SyncNew
            | Step::NameNew
            | Step::Link
            | Step::CheckNewest
            | Step::CheckOwn
            | Step::Acknowledge => self.publish(around),
        }
    }

    pub fn give_up(&mut self) -> Said {
        *self = Writer::away();
        Said::GaveUp
    }

    /// Refuses what was found.
    pub fn find_damage(&mut self) -> Said {
        *self = Writer::away();
        Said::Damaged
    }

    /// Goes on with a step.
    pub fn then(&mut self, step: Step) -> Said {
        self.step = step;
        if self.step == Step::Away {
            *self = Writer::away();
        }
        Said::Nothing
    }

    /// What the next commit will be: what an interrupted load has left goes on.
    fn plan(&mut self, older: Small) {
        let last = self.last();
        let commit = last.commit + 1;
        let from = last.from.max(commit.saturating_sub(older)).min(last.commit);
        let plan = Manifest { commit, from, by: self.attempt, ..last.clone() };
        self.next = Some(match &self.pending {
            Some((epochs, pending)) => {
                (self.work, self.epochs) = (Work::LoadOfEpochs, *epochs);
                Manifest { by: self.attempt, ..pending.clone() }
            }
            None if matches!(self.work, Work::Compact | Work::Gather) => {
                Manifest { runs: Vec::new(), ..plan }
            }
            None => plan,
        });
    }

    /// A number for a run.
    fn draw_run(&mut self) -> Small {
        let next = self.next.as_mut().expect("planned");
        next.next_run += 1;
        next.next_run - 1
    }

    /// Begins, and has the followers do their part.
    fn lead(&mut self, around: &mut Around) -> Said {
        match self.step.clone() {
            Step::Ready if self.work == Work::Abandon && self.pending.take().is_some() => {
                self.then(Step::List(After::Abandoned))
            }
            Step::Ready => {
                self.plan(around.older);
                let pending = self.pending.as_ref().map(|(_, pending)| pending);
                // Runs that the last commit names were opened before.
                if pending.is_some_and(|of| of.runs.iter().any(|run| around.is_out_of_reach(run))) {
                    return self.give_up();
                }
                if pending.is_some_and(|of| !runs_are_whole(around.folder, &around.kept.folder, of)) {
                    return self.find_damage();
                }
                self.then(if around.followers.is_empty() {
                    Step::WriteRun
                } else {
                    Step::OrderTidy(Then::Begin)
                })
            }
            Step::OrderTidy(then) => {
                let order = Order::Tidy(self.named(then, around.flaw));
                let orders = around.followers.iter().map(|_| Some(order.clone())).collect();
                self.order(orders, Step::Await(then), around)
            }
            Step::OrderRun(then) => {
                let orders = self.draw_runs(then, around);
                let early = around.flaw == Some(Flaw::NamedEarly);
                let next = if early { self.after(then) } else { Step::Await(then) };
                self.order(orders, next, around)
            }
            Step::Await(then) => self.hear(then, around),
            _ => Said::Nothing,
        }
    }

    /// Names the runs that the followers are to write. Nobody reads that before they are done.
    fn draw_runs(&mut self, then: Then, around: &Around) -> Vec<Option<Order>> {
        let job = if around.flaw == Some(Flaw::NamesWithoutJob) { 0 } else { self.attempt };
        if then == Then::Checkpoint {
            // What was merged is named no more.
            let before = self.last().runs.len();
            let next = self.next.as_mut().expect("planned");
            next.runs = merged(&next.runs, before);
        }
        let draw = |task: &Task| {
            // Only with the flaw of beginning early: it writes nothing.
            if task.is_busy() {
                return None;
            }
            let run = Run { id: self.draw_run(), by: self.attempt, job: Some(job) };
            self.next.as_mut().expect("planned").runs.push(run);
            Some(Order::Write(run))
        };
        around.followers.iter().map(draw).collect()
    }

    fn order(&mut self, orders: Vec<Option<Order>>, next: Step, around: &mut Around) -> Said {
        if around.followers.contains(&Task::Away) {
            return self.give_up();
        }
        for (task, order) in around.followers.iter_mut().zip(orders) {
            if let Some(order) = order {
                *task = Task::Enter(order);
            }
        }
        self.then(next)
    }

    /// Hears what the followers answer. If some want to know whether it is still there, it gives all of them its word.
    fn hear(&mut self, then: Then, around: &mut Around) -> Said {
        if around.followers.contains(&Task::Away) {
            return self.give_up();
        }
        if around.followers.contains(&Task::Refused) {
            let last = self.last().commit;
            *self = Writer::away();
            return Said::Refused(last);
        }
        if around.followers.iter().any(|task| matches!(task, Task::AwaitWord(..))) {
            around.followers.iter_mut().for_each(Task::take_word);
            return Said::Nothing;
        }
        self.then(self.after(then))
    }

    /// What comes when the followers have done their part.
    fn after(&self, then: Then) -> Step {
        match then {
            // The last epoch of several has nothing for the followers.
            Then::Begin | Then::Epoch if self.epochs >= 2 || self.work == Work::Gather => Step::WriteRun,
            Then::Begin | Then::Epoch => Step::OrderRun(Then::OwnRun),
            Then::OwnRun => Step::WriteRun,
            Then::Checkpoint => Step::NameRun,
            Then::Acknowledge => Step::Acknowledge,
            Then::End => Step::Away,
        }
    }

    /// Writes the run of this process.
    fn write(&mut self, around: &mut Around) -> Said {
        if self.step == Step::WriteRun {
            let id = self.draw_run();
            let run = Run { id, by: self.attempt, job: None };
            self.next.as_mut().expect("planned").runs.push(run);
            return match around.folder.create(run.name(), Content::Run(run.by)) {
                true => self.then(Step::SyncRun),
                false => self.give_up(),
            };
        }
        let next = self.next.as_ref().expect("planned");
        around.folder.sync(Name::Run(next.next_run - 1));
        self.epochs += 1;
        let step = match (self.work, self.epochs) {
            (Work::LoadOfEpochs, 1) => Step::NameRun,
            (Work::LoadOfEpochs, 2) if !around.followers.is_empty() => Step::OrderRun(Then::Checkpoint),
            _ => Step::WriteNew,
        };
        self.then(step)
    }

    /// Makes what there is of a load durable.
    fn checkpoint(&mut self, folder: &mut Folder) -> Said {
        let next = self.next.clone().expect("planned");
        let name = Name::Checkpoint(next.commit, self.epochs);
        match self.step {
            Step::NameRun => {
                folder.sync_names();
                self.then(Step::WriteCheckpoint)
            }
            Step::WriteCheckpoint if !folder.create(name, Content::Manifest(next.clone())) => self.give_up(),
            Step::WriteCheckpoint => self.then(Step::SyncCheckpoint),
            Step::SyncCheckpoint => {
                folder.sync(name);
                self.then(Step::NameCheckpoint)
            }
            _ => {
                folder.sync_names();
                self.pending = Some((self.epochs, next));
                self.then(Step::List(After::Checkpointed))
            }
        }
    }
}

/// Runs without those of followers after the first `before`.
fn merged(runs: &[Run], before: usize) -> Vec<Run> {
    let stay = |(at, run): &(usize, &Run)| *at < before || run.job.is_none();
    runs.iter().enumerate().filter(stay).map(|(_, run)| *run).collect()
}
