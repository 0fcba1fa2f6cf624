//! The steps by which the manifest of a commit appears, whole and for good, and those by which a writer removes what is
//! superseded.

use crate::flaw::Flaw;
use crate::folder::{Content, Folder, Manifest, Name, Small};
use crate::follower::Named;
use crate::opening::{has_before, is_vouched};
use crate::writer::{After, Around, Said, Step, Then, Work, Writer};

impl Writer {
    fn planned(&self) -> Small {
        self.next.as_ref().expect("planned").commit
    }

    fn unfinished(&self, flaw: Option<Flaw>) -> Name {
        let drawn = if flaw == Some(Flaw::SharedUnfinishedName) { 0 } else { self.attempt };
        Name::Unfinished(self.planned(), drawn)
    }

    /// Does a step of publishing.
    pub fn publish(&mut self, around: &mut Around) -> Said {
        let (folder, flaw) = (&mut *around.folder, around.flaw);
        let unfinished = self.unfinished(flaw);
        let (own, name) =
            (Content::Manifest(self.next.clone().expect("planned")), Name::Manifest(self.planned()));
        match self.step {
            Step::WriteNew if !folder.create(unfinished, own.clone()) => self.give_up(),
            Step::WriteNew => self.then(Step::SyncNew),
            Step::SyncNew => {
                folder.sync(unfinished);
                self.then(if flaw == Some(Flaw::LinksUnsynced) { Step::Link } else { Step::NameNew })
            }
            Step::NameNew => {
                folder.sync_names();
                self.then(Step::Link)
            }
            Step::Link if !folder.link(unfinished, name) => self.give_up(),
            Step::Link => self.then(Step::CheckNewest),
            Step::CheckNewest if !folder.has(Name::Manifest(self.planned() - 1)) => self.give_up(),
            Step::CheckNewest => self.then(Step::CheckOwn),
            Step::CheckOwn if folder.get(name) != Some(&own) => self.give_up(),
            Step::CheckOwn if !around.followers.is_empty() && flaw == Some(Flaw::TidiesUnacknowledged) => {
                self.then(Step::OrderTidy(Then::Acknowledge))
            }
            Step::CheckOwn => self.then(Step::Acknowledge),
            _ => {
                folder.sync_names();
                let next = self.next.take().expect("planned");
                self.older.extend(self.last.replace(next.clone()));
                self.older.retain(|older| older.commit >= next.from);
                self.pending = None;
                self.step = Step::List(After::Committed);
                Said::Acknowledged(next)
            }
        }
    }

    /// Does a step of making durable what was found, of removing what is superseded, or of vouching for the last
    /// commit.
    pub fn tidy(&mut self, around: &mut Around) -> Said {
        let (folder, last) = (&mut *around.folder, self.last().commit);
        let overtaken = folder.newest() > Some(last);
        match self.step.clone() {
            Step::SyncFound => {
                if around.flaw != Some(Flaw::OpensWithoutSync) {
                    folder.sync_names();
                }
                self.then(Step::List(After::Opened))
            }
            Step::List(after) | Step::LookAgain(_, after) if overtaken => self.fail_to_tidy(after, around),
            Step::List(after) => {
                let names = self.superseded(folder, around.flaw, |name| self.may_go(name, after));
                self.then(Step::Remove(names, after))
            }
            Step::LookAgain(names, after) => self.then(Step::Remove(names, after)),
            Step::Remove(mut names, after) => match names.pop() {
                Some(name) if folder.remove(name) => self.then(removed(name, names, after, around.flaw)),
                Some(_) => self.fail_to_tidy(after, around),
                None => {
                    folder.sync_names();
                    self.end_tidying(after, !around.followers.is_empty())
                }
            },
            Step::SyncRemoved(names, after) => {
                folder.sync_names();
                self.then(Step::Remove(names, after))
            }
            Step::Vouch if is_vouched(folder, last) => self.opened(),
            Step::Vouch => self.then(Step::LinkVouching),
            Step::LinkVouching
                if !folder.link(Name::Manifest(last), Name::Unfinished(last, self.attempt)) =>
            {
                self.give_up()
            }
            Step::LinkVouching => self.then(Step::SyncVouching),
            _ => {
                folder.sync_names();
                self.opened()
            }
        }
    }

    fn opened(&mut self) -> Said {
        self.step = Step::Ready;
        Said::Opened(self.last().clone())
    }

    /// A commit stands, whatever fails then, and followers tidy all the same.
    fn fail_to_tidy(&mut self, after: After, around: &Around) -> Said {
        match after {
            After::Committed if !around.followers.is_empty() => self.then(Step::OrderTidy(Then::End)),
            _ => self.give_up(),
        }
    }

    fn end_tidying(&mut self, after: After, follows: bool) -> Said {
        match after {
            After::Opened => self.then(Step::Vouch),
            After::Abandoned => self.then(Step::Ready),
            // Only what was merged is to be removed, and is where there are followers.
            After::Checkpointed if follows && self.epochs >= 2 => self.then(Step::OrderTidy(Then::Epoch)),
            After::Checkpointed if follows => self.then(Step::OrderRun(Then::OwnRun)),
            After::Checkpointed => self.then(Step::WriteRun),
            After::Committed if self.work == Work::Gather && self.epochs == 1 => {
                // No commit before the last one that stays may name what followers keep.
                let last = self.last().clone();
                self.next = Some(Manifest { commit: last.commit + 1, from: last.commit, ..last });
                self.epochs = 2;
                self.then(Step::WriteNew)
            }
            After::Committed if follows => self.then(Step::OrderTidy(Then::End)),
            After::Committed => self.then(Step::Away),
        }
    }

    /// Whether a file may go: others may be preparing the next commit.
    fn may_go(&self, name: Name, after: After) -> bool {
        match (after, name) {
            (After::Opened | After::Abandoned, _) | (After::Checkpointed, Name::Checkpoint(..)) => true,
            (After::Checkpointed, Name::Run(id)) => id < self.next.as_ref().expect("planned").next_run,
            (After::Checkpointed, _) => false,
            (After::Committed, Name::Run(id)) => id < self.last().next_run,
            (After::Committed, Name::Unfinished(of, _) | Name::Checkpoint(of, _) | Name::Manifest(of)) => {
                of <= self.last().commit
            }
            (After::Committed, Name::Kept(..) | Name::Tidied(..)) => false,
        }
    }

    /// What neither the last commit names nor one before it that stays, to be removed from the end of the list on.
    fn superseded(&self, folder: &Folder, flaw: Option<Flaw>, may_go: impl Fn(Name) -> bool) -> Vec<Name> {
        let last = self.last();
        let newest = self.older.len().saturating_sub(1);
        let older = match flaw {
            Some(Flaw::RemovesOlder) => &self.older[newest..],
            _ => &self.older[..],
        };
        let has_before = has_before(folder, last.commit);
        let kept = |name: Name| {
            last.names(name)
                || older.iter().any(|older| older.names(name))
                || !has_before && matches!(name, Name::Unfinished(of, _) if of == last.commit)
                || self.pending.as_ref().is_some_and(|(epochs, pending)| {
                    name == Name::Checkpoint(pending.commit, *epochs)
                        || pending.names(name) && name != Name::Manifest(pending.commit)
                })
        };
        let mut names: Vec<Name> = folder.names().filter(|name| may_go(*name) && !kept(*name)).collect();
        names.sort_unstable_by(|a, b| b.cmp(a));
        names
    }

    /// What followers keep.
    pub fn named(&self, then: Then, flaw: Option<Flaw>) -> Named {
        let (mut last, mut older) = (self.last.as_ref(), self.older.iter().collect::<Vec<&Manifest>>());
        if then == Then::Acknowledge {
            older.extend(last);
            last = self.next.as_ref();
        }
        let commits: Vec<&Manifest> = last.into_iter().chain(older.last().copied()).collect();
        // Who has just opened has begun nothing, and leaves nothing of those who began before.
        let bounded = then != Then::Begin && flaw != Some(Flaw::TidiesAll);
        let below = last.filter(|_| bounded).map(|last| last.next_run);
        match flaw {
            Some(Flaw::ForgetsCommitBefore) => older.clear(),
            Some(Flaw::ForgetsOlder) => drop(older.drain(..older.len().saturating_sub(1))),
            _ => {}
        }
        let pending = self.pending.as_ref().map(|(_, pending)| pending);
        let pending = pending.filter(|_| flaw != Some(Flaw::ForgetsCheckpoint));
        Named::of(
            &commits,
            [last, pending].into_iter().flatten().chain(older).flat_map(|of| &of.runs),
            (below, self.attempt),
        )
    }
}

/// What comes when a file is removed. A checkpoint must be gone for good before its runs go.
fn removed(name: Name, names: Vec<Name>, after: After, flaw: Option<Flaw>) -> Step {
    let ends = |of: fn(&Name) -> bool| of(&name) && !names.last().is_some_and(of);
    if flaw != Some(Flaw::NoSecondLook) && ends(|name| matches!(name, Name::Unfinished(..))) {
        Step::LookAgain(names, after)
    } else if flaw != Some(Flaw::AbandonsAtOnce) && ends(|name| matches!(name, Name::Checkpoint(..))) {
        Step::SyncRemoved(names, after)
    } else {
        Step::Remove(names, after)
    }
}
