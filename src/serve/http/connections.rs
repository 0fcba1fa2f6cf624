//! Who is connected. When one more comes than there is room for, the one goes that has been silent for longest: so nobody can
//! keep others out by holding connections.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::AbortHandle;

/// How long a client may keep the server waiting: for a request, for a piece of its body, or for an answer to be taken.
const PATIENCE: Duration = Duration::from_secs(60);

/// Since when a client keeps the server waiting.
pub(super) struct Waiting {
    begun: Instant,
    /// Milliseconds, counted from 1; 0 while it is the client that waits.
    since: AtomicU64,
}

impl Waiting {
    fn new(begun: Instant) -> Waiting {
        let waiting = Waiting { begun, since: AtomicU64::new(0) };
        waiting.heard();
        waiting
    }

    /// It is the client's turn, or it has said something.
    pub(super) fn heard(&self) {
        self.since.store(self.begun.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
    }

    /// It is the server's turn.
    pub(super) fn serving(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    fn since(&self) -> Option<u64> {
        Some(self.since.load(Ordering::Relaxed)).filter(|since| *since > 0)
    }
}

struct HttpConnection {
    waiting: Arc<Waiting>,
    task: Option<AbortHandle>,
}

/// All who are connected.
pub(super) struct Connections {
    most: usize,
    begun: Instant,
    next: AtomicU64,
    all: Mutex<BTreeMap<u64, HttpConnection>>,
}

/// A place among them; it is free again when this is dropped.
pub(super) struct Seat {
    number: u64,
    among: Arc<Connections>,
    pub(super) waiting: Arc<Waiting>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.among.lock().remove(&self.number);
    }
}

impl Connections {
    pub(super) fn new(most: usize) -> Connections {
        let (next, all) = (AtomicU64::new(0), Mutex::default());
        Connections { most: most.max(1), begun: Instant::now(), next, all }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, HttpConnection>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// A place for one more. Where there is none, the one goes that keeps the server waiting for longest; `None` if all are
    /// being served.
    pub(super) fn admit(self: &Arc<Connections>) -> Option<Seat> {
        let mut all = self.lock();
        if all.len() >= self.most {
            let silent = all.iter().filter_map(|(number, client)| Some((client.waiting.since()?, *number)));
            let (_, number) = silent.min()?;
            if let Some(task) = all.remove(&number).and_then(|client| client.task) {
                task.abort();
            }
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let waiting = Arc::new(Waiting::new(self.begun));
        all.insert(number, HttpConnection { waiting: Arc::clone(&waiting), task: None });
        Some(Seat { number, among: Arc::clone(self), waiting })
    }

    /// Says which task serves a client.
    pub(super) fn served_by(&self, number: u64, task: AbortHandle) {
        match self.lock().get_mut(&number) {
            Some(client) => client.task = Some(task),
            // It went before it began.
            None => task.abort(),
        }
    }

    /// Lets those go whom nobody waits for any longer.
    pub(super) fn sweep(&self) {
        let now = self.begun.elapsed().as_millis() as u64;
        let patience = PATIENCE.as_millis() as u64;
        self.lock().retain(|_, client| {
            let over = client.waiting.since().is_some_and(|since| since + patience < now);
            if let Some(task) = client.task.as_ref().filter(|_| over) {
                task.abort();
            }
            !over
        });
    }
}

impl Seat {
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_goes_that_was_silent_for_longest() {
        let connections = Arc::new(Connections::new(2));
        let [first, second] = [(); 2].map(|()| connections.admit().expect("room"));
        first.waiting.serving();
        // Only the second can go.
        let third = connections.admit().expect("room is made");
        assert_eq!(connections.count(), 2);
        assert!(!connections.lock().contains_key(&second.number()));
        third.waiting.serving();
        assert!(connections.admit().is_none(), "all are served");
        first.waiting.heard();
        drop(second);
        assert!(connections.admit().is_some());
        connections.sweep();
        drop((first, third));
        assert_eq!(connections.count(), 0);
    }
}
