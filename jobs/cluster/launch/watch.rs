//! Watching processes until all have ended: who is asked to end when, and who is ended.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use alike::error::{Error, Result};

use super::child::{Child, Event};
use super::ends::ProcessEnd;
use crate::exit::WRONG_USE;

/// How often processes and signals are looked at.
const TICK: Duration = Duration::from_millis(50);
/// Events taken between two looks.
const BATCH: usize = 1000;

/// How long is waited for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// After one has failed, for the others to notice and end by themselves.
    pub(crate) notice: Duration,
    /// The same after one has refused how it was called: whom it had met know it at once, and whom it had not would wait for
    /// it until their time to meet is over.
    pub(crate) refusal: Duration,
    /// After they were asked to end since one has failed.
    pub(crate) end: Duration,
    /// After they were asked to end since somebody wants it.
    pub(crate) interrupt: Duration,
    /// After all have ended, for what they said and for what they started that keeps their streams open.
    pub(crate) linger: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        let seconds = Duration::from_secs;
        Patience {
            notice: seconds(10),
            refusal: seconds(2),
            end: seconds(5),
            interrupt: seconds(2),
            linger: seconds(1),
        }
    }
}

/// Who receives the events.
pub(crate) trait LaunchObserver {
    /// Something was written.
    fn receive(&mut self, event: Event);
    /// A process has ended, well or not.
    fn ended(&mut self, process: usize, end: ProcessEnd);
    /// What the launcher itself has to say.
    fn note(&mut self, line: &str);
    /// Some time has passed.
    fn tick(&mut self);
}

/// What became of all.
#[derive(Debug)]
pub(crate) struct Ended {
    /// How each process ended, in order.
    pub(crate) ends: Vec<ProcessEnd>,
    /// Whether the launcher was interrupted before all had ended.
    pub(crate) interrupted: bool,
}

/// What is done with processes that still run when their time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escalation {
    Ask,
    Kill,
}

/// Waits until all `children` have ended, and sees to it that they do once one has failed or `interrupts` counts.
pub(crate) fn watch(
    children: Vec<Child>,
    events: &Receiver<Event>,
    interrupts: &AtomicUsize,
    observer: &mut dyn LaunchObserver,
    patience: Patience,
) -> Result<Ended> {
    let ends = children.iter().map(|_| None).collect();
    let watch = LaunchWatch { children, ends, interrupts, seen: 0, drained: false, due: None, patience };
    watch.run(events, observer)
}

struct LaunchWatch<'a> {
    children: Vec<Child>,
    ends: Vec<Option<ProcessEnd>>,
    interrupts: &'a AtomicUsize,
    /// Interrupts that were answered.
    seen: usize,
    /// Whether what process 0 wrote has been taken; a slow reader gets all of it.
    drained: bool,
    /// What is done when, if not all have ended by then.
    due: Option<(Instant, Escalation)>,
    patience: Patience,
}

impl LaunchWatch<'_> {
    fn run(mut self, events: &Receiver<Event>, observer: &mut dyn LaunchObserver) -> Result<Ended> {
        let mut silent = None;
        loop {
            let open = self.receive(events, observer);
            self.look(observer).map_err(|e| Error::io(Path::new("a process"), "wait for", e))?;
            if let Some(ends) = self.ends.iter().copied().collect::<Option<Vec<ProcessEnd>>>() {
                let since = *silent.get_or_insert_with(Instant::now);
                // Somebody may not want to wait for a slow reader.
                let over = self.drained || self.interrupts.load(Ordering::Relaxed) > self.seen;
                if !open || over && since.elapsed() > self.patience.linger {
                    return Ok(Ended { ends, interrupted: self.seen > 0 });
                }
            } else {
                self.answer(observer);
                self.act(observer);
            }
            observer.tick();
        }
    }

    /// Takes what was written; whether more may come.
    fn receive(&mut self, events: &Receiver<Event>, observer: &mut dyn LaunchObserver) -> bool {
        let first = match events.recv_timeout(TICK) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(TICK);
                return false;
            }
        };
        for event in [first].into_iter().chain(events.try_iter().take(BATCH)) {
            match event {
                Event::Drained => self.drained = true,
                event => observer.receive(event),
            }
        }
        true
    }

    /// Sees who has ended.
    fn look(&mut self, observer: &mut dyn LaunchObserver) -> io::Result<()> {
        for (i, (child, known)) in self.children.iter_mut().zip(&mut self.ends).enumerate() {
            let Some(end) = child.end()?.filter(|_| known.is_none()) else { continue };
            *known = Some(end);
            observer.ended(i, end);
            if end.code == 0 || end.asked {
                continue;
            }
            observer.note(&format!("process {i} ended with {}", end.code));
            let Patience { notice, refusal, .. } = self.patience;
            let patience = if end.code == WRONG_USE { refusal } else { notice };
            // Until then the others may notice it themselves.
            let ask_at = Instant::now() + patience;
            let sooner = match self.due {
                None => true,
                Some((at, Escalation::Ask)) => ask_at < at,
                Some((_, Escalation::Kill)) => false,
            };
            if sooner && self.seen == 0 {
                self.due = Some((ask_at, Escalation::Ask));
            }
        }
        Ok(())
    }

    /// Passes interrupts on.
    fn answer(&mut self, observer: &mut dyn LaunchObserver) {
        let now = self.interrupts.load(Ordering::Relaxed);
        match (self.seen, now) {
            (0, 1..) => {
                observer.note("interrupted; waiting for all processes to end");
                self.ask();
                self.due = Some((Instant::now() + self.patience.interrupt, Escalation::Kill));
            }
            (1.., _) if now > self.seen => self.due = Some((Instant::now(), Escalation::Kill)),
            _ => {}
        }
        self.seen = now;
    }

    /// Does what is due.
    fn act(&mut self, observer: &mut dyn LaunchObserver) {
        match self.due {
            Some((when, next)) if when <= Instant::now() => {
                let names = self.running().map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
                match next {
                    Escalation::Ask => {
                        observer.note(&format!("still running, and asked to end: {names}"));
                        self.ask();
                        self.due = Some((Instant::now() + self.patience.end, Escalation::Kill));
                    }
                    Escalation::Kill => {
                        observer.note(&format!("still running, and killed: {names}"));
                        self.children.iter_mut().for_each(Child::kill);
                        // Whoever is killed ends; but the system may take its time.
                        self.due = Some((Instant::now() + self.patience.end, Escalation::Kill));
                    }
                }
            }
            _ => {}
        }
    }

    fn ask(&mut self) {
        self.children.iter_mut().for_each(Child::ask);
    }

    fn running(&self) -> impl Iterator<Item = usize> {
        self.ends.iter().enumerate().filter(|(_, end)| end.is_none()).map(|(i, _)| i)
    }
}

#[cfg(all(test, unix))]
#[path = "watch_tests.rs"]
mod tests;
