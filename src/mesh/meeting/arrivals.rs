//! Who has come, who is admitted, and who was refused.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::limits::MAX_MESH_LINES;
use crate::mesh::channel::Channel;
use crate::mesh::meeting::hello::{Hello, NONCE_BYTES, Purpose, Verdict};
use crate::mesh::meeting::socket;

/// How often whoever waits for somebody to come looks whether it still makes sense.
const LOOK: Duration = Duration::from_millis(100);

/// Lines for people.
pub(in crate::mesh) type Say = Box<dyn Fn(&str) + Send + Sync>;

/// A connection whose hello is through.
pub(in crate::mesh) struct Met {
    pub(in crate::mesh) channel: Channel,
    pub(in crate::mesh) life: [u8; NONCE_BYTES],
}

/// What is known of the connections of a process, from both sides.
#[derive(Default)]
pub(in crate::mesh) struct Book {
    /// The control connection of each process that is met, until the job is under way.
    pub(in crate::mesh) control: Vec<Option<Met>>,
    /// The lives of all processes, once the job is under way.
    pub(in crate::mesh) lives: Option<Vec<[u8; NONCE_BYTES]>>,
    /// What kept the last attempt to reach a process from going well.
    pub(in crate::mesh) trouble: BTreeMap<usize, String>,
    /// Why this process cannot take part.
    pub(in crate::mesh) fatal: Option<Error>,
    /// No more connections.
    pub(in crate::mesh) closed: bool,
    /// Data connections that nobody has asked for yet, by run and process.
    data: BTreeMap<(u64, usize), Channel>,
    /// The first run whose data connections have not been handed out.
    next_round: u64,
    /// Who was refused and why, each once: those who know the secret.
    refused: BTreeSet<String>,
    /// The same of those who do not.
    doubtful: BTreeSet<String>,
    /// Connections that were no process of this job.
    strangers: u64,
    /// Lines that may still be said.
    lines: usize,
}

/// The book, shared by those who listen, call and wait.
pub(in crate::mesh) struct Arrivals {
    process: usize,
    book: Mutex<Book>,
    changed: Condvar,
    say: Say,
}

impl Arrivals {
    /// Nobody has come yet to process `process` of `processes`.
    pub(in crate::mesh) fn new(process: usize, processes: usize, say: Say) -> Arrivals {
        let control = (0..processes).map(|_| None).collect();
        let book = Book { control, lines: MAX_MESH_LINES, ..Book::default() };
        Arrivals { process, book: Mutex::new(book), changed: Condvar::new(), say }
    }

    /// The book. Nothing that is done with it can leave it half written.
    pub(in crate::mesh) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells those who wait that the book has changed.
    pub(in crate::mesh) fn changed(&self) {
        self.changed.notify_all();
    }

    /// Waits for a change, at most until `until`.
    pub(in crate::mesh) fn wait<'a>(
        &self,
        book: MutexGuard<'a, Book>,
        until: Instant,
    ) -> MutexGuard<'a, Book> {
        let time = until.saturating_duration_since(Instant::now());
        self.changed.wait_timeout(book, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Says a line, unless enough has been said.
    pub(in crate::mesh) fn say(&self, line: &str) {
        let mut book = self.book();
        if book.lines > 0 {
            book.lines -= 1;
            drop(book);
            (self.say)(line);
        }
    }

    /// Takes down that somebody was refused, and says so the first time. Whoever has not `proved` to know the secret
    /// may claim anything: so many lines of such, and no more.
    pub(in crate::mesh) fn refuse(&self, line: &str, proved: bool) {
        let mut book = self.book();
        let (refused, most) = match proved {
            true => (&mut book.refused, MAX_MESH_LINES / 2),
            false => (&mut book.doubtful, MAX_MESH_LINES / 4),
        };
        if refused.len() < most && refused.insert(line.to_string()) {
            drop(book);
            self.say(line);
        }
    }

    /// Counts a connection that was no process of this job.
    pub(in crate::mesh) fn stranger(&self) {
        self.book().strangers += 1;
    }

    /// Connections that were no process of this job, since this was asked last.
    pub(in crate::mesh) fn strangers(&self) -> u64 {
        std::mem::take(&mut self.book().strangers)
    }

    /// What becomes of a hello whose terms are those of this job, as far as can be told before its proof.
    pub(in crate::mesh) fn verdict(&self, hello: &Hello) -> Verdict {
        self.book().verdict(self.process, hello)
    }

    /// Lets a process in whose proof holds, if nothing has come between. `tell` gives it the last word and returns
    /// whether it could; nobody else writes to the connection before that.
    pub(in crate::mesh) fn admit(
        &self,
        hello: &Hello,
        channel: Channel,
        tell: impl FnOnce(Verdict) -> bool,
    ) -> Verdict {
        let mut book = self.book();
        let verdict = book.verdict(self.process, hello);
        let from = hello.from as usize;
        if tell(verdict) && verdict == Verdict::Welcome {
            match hello.purpose {
                Purpose::Control => book.control[from] = Some(Met { channel, life: hello.life }),
                Purpose::Data(round) => drop(book.data.insert((round, from), channel)),
            }
            self.changed();
        }
        verdict
    }

    /// The connection of process `from` for run `round`, once it has come; `check` says whether waiting makes sense.
    pub(in crate::mesh) fn data(
        &self,
        round: u64,
        from: usize,
        check: impl Fn() -> Result<()>,
    ) -> Result<Channel> {
        let mut book = self.book();
        loop {
            // One whose connector missed the last word is closed, and called again.
            let came = book.data.remove(&(round, from));
            if let Some(channel) = came.filter(|channel| socket::is_open(channel.stream())) {
                return Ok(channel);
            }
            drop(book);
            check()?;
            book = self.wait(self.book(), Instant::now() + LOOK);
        }
    }

    /// Begins run `round`: connections of earlier ones are let go. Fails if it has been handed out before.
    pub(in crate::mesh) fn begin(&self, round: u64) -> Result<()> {
        let mut book = self.book();
        if round < book.next_round {
            return Err(Error::Worker(format!("run {round} of the dataflow has its sockets already")));
        }
        book.next_round = round;
        book.data.retain(|&(of, _), _| of >= round);
        Ok(())
    }

    /// Ends the handing out of run `round`.
    pub(in crate::mesh) fn finish(&self, round: u64) {
        self.book().next_round = round + 1;
    }

    /// Whether `life` is the one with which process `process` came to this job.
    pub(in crate::mesh) fn is_life(&self, process: usize, life: &[u8; NONCE_BYTES]) -> bool {
        self.book().lives.as_ref().is_some_and(|lives| lives[process] == *life)
    }

    /// Lets nobody in any more.
    pub(in crate::mesh) fn close(&self) {
        let mut book = self.book();
        book.closed = true;
        book.data.clear();
        book.control.iter_mut().for_each(|met| *met = None);
        self.changed();
    }
}

impl Book {
    fn verdict(&mut self, process: usize, hello: &Hello) -> Verdict {
        let from = hello.from as usize;
        if hello.to as usize != process || from <= process || from >= self.control.len() {
            return Verdict::Number;
        }
        if self.closed {
            // Nobody will meet it here any more, but another attempt may come to this address.
            return Verdict::Stale;
        }
        let known = self.lives.as_ref().map(|lives| lives[from] == hello.life);
        match (hello.purpose, known) {
            (Purpose::Control, Some(_)) => Verdict::UnderWay,
            (Purpose::Control, None) => match &self.control[from] {
                // A connector that missed the last word calls again; one that has gone leaves its place to another.
                Some(met) if met.life != hello.life && socket::is_open(met.channel.stream()) => {
                    Verdict::Double
                }
                _ => Verdict::Welcome,
            },
            (Purpose::Data(_), Some(false)) => Verdict::UnderWay,
            (Purpose::Data(_), None) => Verdict::Stale,
            // Nobody is further ahead than by one run: the next one needs all.
            (Purpose::Data(round), Some(true)) if round < self.next_round || round - self.next_round > 1 => {
                Verdict::Stale
            }
            (Purpose::Data(_), Some(true)) => Verdict::Welcome,
        }
    }

    /// Who was refused, as an end of a message, or nothing.
    pub(in crate::mesh) fn refusals(&self) -> String {
        self.refused.iter().chain(&self.doubtful).map(|line| format!("; {line}")).collect()
    }
}
