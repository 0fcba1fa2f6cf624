//! What the others have said: messages, numbers, goodbyes, and the one loss.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::frame;
use super::link::Link;
use super::topic::{self, ASK, REPLY};
use crate::error::{Error, Result};
use crate::limits::LAST_WORDS_MILLIS;

/// Why a job cannot go on: another process is gone. The first that is noticed counts, on all processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The number of that process.
    pub process: usize,
    /// Its address as the hosts file has it.
    pub address: String,
    /// How it was noticed, or why the process gave up, in one line.
    pub what: String,
    /// The exit code it gave, if it gave up by itself.
    pub code: Option<u8>,
}

impl Lost {
    /// The error that whoever needs that process gets.
    pub fn error(&self) -> Error {
        let Lost { process, address, what, code } = self.clone();
        match code {
            None => Error::Lost { process, address, what },
            Some(code) => Error::GaveUp { process, address, code, why: what },
        }
    }
}

/// Longest time for which last words are given a way out.
const LAST_WORDS: Duration = Duration::from_millis(LAST_WORDS_MILLIS);

/// What is to be done about a loss.
pub(super) type Act = Box<dyn FnOnce(&Lost) + Send>;

/// What there is between this process and the others while the job lives.
pub(super) struct State {
    pub(super) process: usize,
    pub(super) hosts: Vec<String>,
    /// The control connections; none at the own number.
    pub(super) links: Vec<Option<Link>>,
    said: Mutex<Said>,
    changed: Condvar,
    /// For each process the thread that answers it, which a question of that one wakes, and no other message.
    asked: Vec<Condvar>,
}

#[derive(Default)]
pub(super) struct Said {
    /// Messages that nobody has fetched yet, by sender and topic.
    mail: BTreeMap<(usize, u32), VecDeque<Vec<u8>>>,
    /// Answers to this process's requests.
    numbers: BTreeMap<u64, u64>,
    /// What others have replied to this process's questions.
    replies: BTreeMap<u64, Vec<u8>>,
    /// The next number of each counter; at process 0.
    counters: BTreeMap<u64, u64>,
    /// Which processes have said that they are done.
    left: Vec<bool>,
    /// Which connections have ended.
    ended: Vec<bool>,
    /// A loss is being told to the others, or known.
    noticed: bool,
    lost: Option<Lost>,
    acts: Vec<Act>,
    /// This process is done or has given up: nothing is a loss any more.
    over: bool,
}

impl State {
    /// Nothing has been said yet.
    pub(super) fn new(process: usize, hosts: Vec<String>, links: Vec<Option<Link>>) -> State {
        let none = vec![false; hosts.len()];
        let said = Mutex::new(Said { left: none.clone(), ended: none, ..Said::default() });
        let asked = hosts.iter().map(|_| Condvar::new()).collect();
        State { process, hosts, links, said, changed: Condvar::new(), asked }
    }

    /// What has been said. Nothing that is done with it can leave it half written.
    pub(super) fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what has been said, and tells those who wait.
    pub(super) fn note<T>(&self, change: impl FnOnce(&mut Said) -> T) -> T {
        let changed = change(&mut self.said());
        self.asked.iter().chain([&self.changed]).for_each(Condvar::notify_all);
        changed
    }

    /// Takes a message in, and tells those who may wait for it: there are many small questions, and as many answers.
    pub(super) fn deliver(&self, from: usize, topic: u32, bytes: Vec<u8>) {
        self.said().deliver(from, topic, bytes);
        if topic == ASK { &self.asked[from] } else { &self.changed }.notify_all();
    }

    /// All other processes' numbers and connections.
    pub(super) fn peers(&self) -> impl Iterator<Item = (usize, &Link)> {
        self.links.iter().enumerate().filter_map(|(process, link)| Some((process, link.as_ref()?)))
    }

    /// The next number of a counter that this process keeps.
    pub(super) fn count(&self, counter: u64) -> u64 {
        let mut said = self.said();
        let next = said.counters.entry(counter).or_default();
        *next += 1;
        *next - 1
    }

    /// Fails once a process is lost.
    pub(super) fn check(&self) -> Result<()> {
        self.said().check()
    }

    /// What `find` finds, as soon as there is something; fails once a process is lost, or with nothing at `until`.
    pub(super) fn wait<T>(
        &self,
        until: Option<Instant>,
        find: impl FnMut(&mut Said) -> Option<T>,
    ) -> Result<Option<T>> {
        self.wait_at(&self.changed, until, find)
    }

    /// What `find` finds of the questions of a process; else as [`State::wait`].
    pub(super) fn wait_for_question<T>(
        &self,
        from: usize,
        find: impl FnMut(&mut Said) -> Option<T>,
    ) -> Result<Option<T>> {
        self.wait_at(&self.asked[from], None, find)
    }

    fn wait_at<T>(
        &self,
        changed: &Condvar,
        until: Option<Instant>,
        mut find: impl FnMut(&mut Said) -> Option<T>,
    ) -> Result<Option<T>> {
        let mut said = self.said();
        loop {
            said.check()?;
            if let Some(found) = find(&mut said) {
                return Ok(Some(found));
            }
            said = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return Ok(None),
                Some(time) => changed.wait_timeout(said, time).unwrap_or_else(PoisonError::into_inner).0,
                None => changed.wait(said).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Process `process` was found to be lost: all processes learn of it, then whoever waits here.
    pub(super) fn lose(&self, process: usize, what: &str) {
        self.conclude(&self.lost(process, what, None), |_| true);
    }

    /// The connection to `process` has ended, which is a loss unless it has said that it is done.
    pub(super) fn ended(&self, process: usize, what: &str) {
        let left = self.note(|said| {
            said.ended[process] = true;
            said.left[process]
        });
        if !left {
            self.lose(process, what);
        }
    }

    /// Process `from` says that `process` was lost, or gave up with an exit code. It has told the others too, but this
    /// one may be gone before they hear that, and must not be taken for the first.
    pub(super) fn told(&self, from: usize, process: usize, code: Option<u8>, what: &str) {
        if process == self.process || process >= self.hosts.len() {
            let lost = self.lost(from, &format!("it takes this process for lost: {what}"), None);
            self.conclude(&lost, |_| false);
        } else {
            self.conclude(&self.lost(process, what, code), |other| other != from);
        }
    }

    /// This process gives up: it informs the others, and waits for nothing any more.
    pub(super) fn give_up(&self, code: u8, why: &str) {
        if self.notice() {
            let lost = self.lost(self.process, why, Some(code));
            self.tell(&lost, LAST_WORDS, |_| true);
            self.note(|said| said.lost = Some(lost));
        } else if !self.said().over {
            // Another thread is telling of a loss. Whom it has not told by then would take this process for the first one lost.
            let _ = self.wait(Some(Instant::now() + LAST_WORDS), |_| None::<()>);
        }
        self.end();
    }

    /// Does `act` when a process is lost, or soon if one is.
    pub(super) fn on_loss(&self, act: Act) {
        self.said().acts.push(act);
    }

    /// Does what was asked for only after the loss.
    pub(super) fn catch_up(&self) {
        let mut said = self.said();
        let Some(lost) = said.lost.clone().filter(|lost| lost.process != self.process) else { return };
        let acts = std::mem::take(&mut said.acts);
        drop(said);
        acts.into_iter().for_each(|act| act(&lost));
    }

    /// From now on nothing is a loss, and connections end when all that waits has been sent.
    pub(super) fn end(&self) {
        self.note(|said| said.over = true);
        self.peers().for_each(|(_, link)| link.finish());
    }

    fn lost(&self, process: usize, what: &str, code: Option<u8>) -> Lost {
        Lost { process, address: self.hosts[process].clone(), what: what.to_string(), code }
    }

    /// Whether this is the first loss, and one at all.
    fn notice(&self) -> bool {
        let mut said = self.said();
        !said.over && !std::mem::replace(&mut said.noticed, true)
    }

    /// Says to some of the others who is lost, and gives that a while to get out.
    fn tell(&self, lost: &Lost, within: Duration, whom: impl Fn(usize) -> bool) {
        let until = Instant::now() + within;
        let word = frame::end(number(lost.process), lost.code, &lost.what);
        let told = || self.peers().filter(|&(process, _)| whom(process));
        told().for_each(|(_, link)| link.urge(word.clone()));
        told().for_each(|(_, link)| link.flushed(until));
    }

    /// The first loss ends the job here, after all have been told who are to be.
    fn conclude(&self, lost: &Lost, whom: impl Fn(usize) -> bool) {
        if !self.notice() {
            return;
        }
        self.tell(lost, LAST_WORDS / 4, |other| other != lost.process && whom(other));
        if lost.code.is_none() {
            // One that is cut off from some only should hear from the others why they go.
            self.tell(lost, LAST_WORDS / 8, |other| other == lost.process && whom(other));
        }
        if let Some(link) = &self.links[lost.process] {
            link.cut();
        }
        let acts = self.note(|said| {
            said.lost = Some(lost.clone());
            std::mem::take(&mut said.acts)
        });
        self.peers().for_each(|(_, link)| link.wake());
        acts.into_iter().for_each(|act| act(lost));
    }
}

impl Said {
    fn check(&self) -> Result<()> {
        self.lost.as_ref().map_or(Ok(()), |lost| Err(lost.error()))
    }

    /// Who is lost.
    pub(super) fn lost(&self) -> Option<Lost> {
        self.lost.clone()
    }

    fn deliver(&mut self, from: usize, topic: u32, bytes: Vec<u8>) {
        if topic == REPLY {
            return self.replies.extend(topic::reply(bytes));
        }
        self.mail.entry((from, topic)).or_default().push_back(bytes);
    }

    /// The next message of a topic from a process.
    pub(super) fn fetch(&mut self, from: usize, topic: u32) -> Option<Vec<u8>> {
        self.mail.get_mut(&(from, topic))?.pop_front()
    }

    /// An error if no more messages will come from a process: it is done.
    pub(super) fn left<T>(&self, from: usize) -> Option<std::result::Result<T, ()>> {
        self.left[from].then_some(Err(()))
    }

    /// An error if a process gives no more answers: it is done, and has seen that all are.
    pub(super) fn ended<T>(&self, from: usize) -> Option<std::result::Result<T, ()>> {
        self.ended[from].then_some(Err(()))
    }

    /// What was replied to a question.
    pub(super) fn replied(&mut self, request: u64) -> Option<Vec<u8>> {
        self.replies.remove(&request)
    }

    /// An error if a process asks nothing more: it is done, or this one is.
    pub(super) fn silent<T>(&self, from: usize) -> Option<std::result::Result<T, ()>> {
        (self.over || self.left[from]).then_some(Err(()))
    }

    /// Takes the answer to a request in.
    pub(super) fn answer(&mut self, request: u64, number: u64) {
        self.numbers.insert(request, number);
    }

    /// The answer to a request.
    pub(super) fn answered(&mut self, request: u64) -> Option<u64> {
        self.numbers.remove(&request)
    }

    /// Process `process` says that it is done.
    pub(super) fn leaves(&mut self, process: usize) {
        self.left[process] = true;
    }

    /// Whether the connection to a process has ended.
    pub(super) fn has_ended(&self, process: usize) -> bool {
        self.ended[process]
    }

    /// Whether all but `own` are done.
    pub(super) fn all_left(&self, own: usize) -> bool {
        self.left.iter().enumerate().all(|(process, &left)| left || process == own)
    }

    /// Whether the connections to all but `own` have ended.
    pub(super) fn all_ended(&self, own: usize) -> bool {
        self.ended.iter().enumerate().all(|(process, &ended)| ended || process == own)
    }

    /// The first process but `own` that is not done.
    pub(super) fn at_work(&self, own: usize) -> usize {
        self.left.iter().enumerate().position(|(process, &left)| !left && process != own).unwrap_or(own)
    }
}

/// The number of a process as frames have it.
fn number(process: usize) -> u32 {
    u32::try_from(process).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn who_gives_up_while_a_loss_is_told_waits_until_it_is() {
        let state = State::new(1, vec!["a".into(), "b".into()], vec![None, None]);
        assert!(state.notice());
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(50));
                let lost = state.lost(0, "it has failed", Some(2));
                state.note(|said| said.lost = Some(lost));
            });
            state.give_up(3, "this one has failed, too");
            assert_eq!(state.said().lost().map(|lost| lost.process), Some(0));
        });
        let begun = Instant::now();
        state.give_up(3, "once more");
        assert!(begun.elapsed() < LAST_WORDS, "there is nothing to wait for");
    }
}
