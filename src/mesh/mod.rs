//! How the processes of a job meet, stay in touch, and notice a loss.
//!
//! A job is N processes with W workers each. Process i listens on line i of the hosts file and on nothing else; for
//! every pair the one with the higher number connects. Each connection begins with a hello in which both sides prove
//! that they know the shared secret; whoever does not is let go, and costs no more than a place in a table of fixed
//! size for a few seconds. What crosses a connection after that is encrypted and authenticated if the membership says so, by
//! keys that both sides agree on in the hello. If not, the hello keeps strangers out, and not those who can read or
//! rewrite what others send.
//!
//! One control connection per pair lives as long as the job: messages, the numbers by which work is shared out,
//! heartbeats, and news of the end. Each run of the dataflow gets data sockets of its own ([`Mesh::sockets`]).
//!
//! The first loss that is noticed ends the job everywhere: whoever notices it tells the others, so that all name the
//! same process, and everything that waits fails with [`Error::Lost`].

mod ask;
mod channel;
mod contact;
mod frame;
#[cfg(unix)]
#[doc(hidden)]
pub mod fuzzing;
mod link;
mod meeting;
mod reader;
mod rounds;
mod state;
#[cfg(test)]
mod tests;
mod topic;
#[cfg(test)]
#[path = "../../tests/support/turns.rs"]
pub(crate) mod turns;
mod watchdog;
mod wire;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub use ask::Answer;
pub use contact::Contact;
pub use meeting::hosts::{addresses_of_file, addresses_of_list, split_address, split_any_address};
pub use meeting::membership::Membership;
pub use meeting::secret::Secret;
pub use state::Lost;
pub use topic::FIRST_OWN_TOPIC;
pub use wire::{Traffic, Wire};

use self::frame::{FrameKind, frame, pair};
use self::link::Link;
use self::meeting::arrivals::{Arrivals, Met};
use self::meeting::call::Identity;
use self::meeting::listener::Listener;
use self::meeting::{rendezvous, socket};
use self::state::State;
use self::topic::{BROADCAST, GATHER, GO, READY};
use self::wire::{ByteCounts, Round};
use crate::error::{Error, Result};
use crate::limits::{LAST_WORDS_MILLIS, MAX_MESSAGE_BYTES};
use crate::printable::counted;

/// The exit code of processes that have not met, as [`Error::Join`] has it.
const NOT_MET: u8 = 5;

/// A process among the others of its job. Dropping it without [`Mesh::leave`] is a loss for the others.
pub struct Mesh {
    membership: Membership,
    identity: Arc<Identity>,
    arrivals: Arc<Arrivals>,
    listener: Mutex<Option<Listener>>,
    state: Arc<State>,
    wires: Mutex<Option<Round>>,
    /// Bytes of the data sockets and of the control connection, by process.
    data: Vec<Arc<ByteCounts>>,
    control: Vec<Arc<ByteCounts>>,
    requests: AtomicU64,
}

impl Mesh {
    /// Meets all others. `say` gets lines for people: who is awaited, after 2 s and then every 10 s, and who was
    /// refused and why; some tens at most.
    ///
    /// # Errors
    /// [`Error::Config`] if the membership makes no sense or no thread can be started; [`Error::Join`] if this process is
    /// refused or not all have come within the timeout; [`Error::Lost`] and [`Error::GaveUp`] if one goes while the job begins.
    pub fn join(membership: Membership, say: Box<dyn Fn(&str) + Send + Sync>) -> Result<Arc<Mesh>> {
        membership.validate()?;
        let begun = Instant::now();
        let deadline = begun + membership.join_timeout;
        let (own, processes) = (membership.process, membership.processes());
        let identity = Arc::new(Identity::new(&membership)?);
        let arrivals = Arc::new(Arrivals::new(own, processes, say));
        let listener = (processes > 1).then(|| open(&identity, &arrivals, deadline)).transpose()?;
        let listens = Instant::now();
        let met = rendezvous::meet(&identity, &arrivals, (begun, listens, deadline));
        if met.is_err() {
            arrivals.close();
        }
        let counts = || (0..processes).map(|_| Arc::default()).collect::<Vec<Arc<ByteCounts>>>();
        let control = counts();
        let link = |met: Met, counts: &Arc<ByteCounts>| Link::new(met.channel, Arc::clone(counts));
        let links = met?.into_iter().zip(&control).map(|(met, counts)| met.map(|met| link(met, counts)));
        let links = links.collect();
        let mesh = Mesh {
            state: Arc::new(State::new(own, membership.hosts.clone(), links)),
            identity,
            arrivals,
            listener: Mutex::new(listener),
            wires: Mutex::default(),
            data: counts(),
            control,
            requests: AtomicU64::new(0),
            membership,
        };
        mesh.start().map_err(|error| Error::config(format!("cannot start a thread: {error}")))?;
        if let Err(error) = mesh.begin(deadline) {
            // Those that only wait for the last word should hear who has not met all, not that this process is gone.
            mesh.give_up(NOT_MET, &error.to_string());
            return Err(error);
        }
        mesh.say_strangers();
        Ok(Arc::new(mesh))
    }

    /// The number of this process.
    pub fn process(&self) -> usize {
        self.membership.process
    }

    /// How many processes the job has.
    pub fn processes(&self) -> usize {
        self.membership.processes()
    }

    /// How many workers each process has.
    pub fn workers(&self) -> usize {
        self.membership.workers
    }

    /// The address of a process, as the hosts file has it.
    pub fn address(&self, process: usize) -> &str {
        &self.membership.hosts[process]
    }

    /// Sends a message to process `to`. Messages of one topic arrive in order. Waits only while more than
    /// [`crate::limits::MAX_QUEUED_BYTES`] wait for the same process.
    ///
    /// # Errors
    /// [`Error::Lost`] and [`Error::GaveUp`] once a process is lost; [`Error::Limit`] if the message is longer than
    /// [`MAX_MESSAGE_BYTES`].
    ///
    /// # Panics
    ///
    /// If `topic` is [`FIRST_OWN_TOPIC`] or more, or there is no process `to`.
    pub fn send(&self, to: usize, topic: u32, bytes: Vec<u8>) -> Result<()> {
        assert!(topic < FIRST_OWN_TOPIC, "topic {topic} belongs to the mesh");
        self.send_any(to, topic, Arc::new(bytes))
    }

    /// The next message of a topic from process `from`; waits for it. What is not fetched stays in memory.
    ///
    /// # Errors
    /// [`Error::Lost`] and [`Error::GaveUp`] as soon as any process is lost.
    ///
    /// # Panics
    ///
    /// If `topic` is [`FIRST_OWN_TOPIC`] or more.
    pub fn receive(&self, from: usize, topic: u32) -> Result<Vec<u8>> {
        assert!(topic < FIRST_OWN_TOPIC, "topic {topic} belongs to the mesh");
        self.receive_any(from, topic)
    }

    /// The next message of a topic from process `from`, if it is here. Panics as [`Mesh::receive`] does.
    ///
    /// # Errors
    /// Those of [`Mesh::receive`].
    pub fn try_receive(&self, from: usize, topic: u32) -> Result<Option<Vec<u8>>> {
        assert!(topic < FIRST_OWN_TOPIC, "topic {topic} belongs to the mesh");
        self.state.wait(Some(Instant::now()), |said| said.fetch(from, topic))
    }

    /// Brings something from every process to process 0, which gets all in order; the others get nothing. All
    /// processes call it, by one thread each, with the same other collective calls before.
    ///
    /// # Errors
    /// Those of [`Mesh::send`].
    pub fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        if self.process() > 0 {
            self.send_any(0, GATHER, Arc::new(bytes))?;
            return Ok(Vec::new());
        }
        let others = (1..self.processes()).map(|from| self.receive_any(from, GATHER));
        std::iter::once(Ok(bytes)).chain(others).collect()
    }

    /// What process 0 gives, on every process; what the others give is not looked at. Called as
    /// [`Mesh::gather`].
    ///
    /// # Errors
    /// Those of [`Mesh::send`].
    pub fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>> {
        if self.process() > 0 {
            return self.receive_any(0, BROADCAST);
        }
        let bytes = Arc::new(bytes);
        (1..self.processes()).try_for_each(|to| self.send_any(to, BROADCAST, Arc::clone(&bytes)))?;
        Ok(Arc::unwrap_or_clone(bytes))
    }

    /// The next number of a counter, from 0: each is given out once over all processes and threads. Process 0 keeps
    /// the counters.
    ///
    /// # Errors
    /// [`Error::Lost`] and [`Error::GaveUp`] once a process is lost.
    pub fn take(&self, counter: u64) -> Result<u64> {
        self.check()?;
        let Some(keeper) = &self.state.links[0] else { return Ok(self.state.count(counter)) };
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        keeper.urge(frame(FrameKind::Take, 0, &pair(request, counter)));
        let number = self.state.wait(None, |said| said.answered(request).map(Ok).or(said.ended(0)))?;
        number.unwrap_or(Err(())).map_err(|()| self.departed(0))
    }

    /// Whether all processes are still there.
    ///
    /// # Errors
    /// [`Error::Lost`] and [`Error::GaveUp`] once a process is lost.
    pub fn check(&self) -> Result<()> {
        self.state.check()
    }

    /// Does `act` once when a process is lost, on a thread of the mesh; also if it is lost already.
    pub fn on_loss(&self, act: Box<dyn FnOnce(&Lost) + Send>) {
        self.state.on_loss(act);
    }

    /// The orderly end: tells the others that this process is done, and waits until all have said so. After that
    /// connections that end are no loss, and nothing can be sent.
    ///
    /// # Errors
    /// [`Error::Lost`] and [`Error::GaveUp`] if a process is lost before; [`Error::Lost`] if one is not done within the
    /// peer timeout.
    pub fn leave(&self) -> Result<()> {
        self.check()?;
        self.state.peers().for_each(|(_, link)| link.leave());
        let deadline = Instant::now() + self.membership.peer_timeout;
        let own = self.process();
        let all = self.state.wait(Some(deadline), |said| said.all_left(own).then_some(()))?;
        if all.is_none() {
            let process = self.state.said().at_work(own);
            let waited = self.membership.peer_timeout.as_secs_f64();
            let what = format!("it is still at work {waited:.1} s after this process was done");
            return Err(Error::Lost { process, address: self.address(process).to_string(), what });
        }
        self.state.end();
        // A connection that is closed with something unread takes back what was sent last.
        let patience = Instant::now() + Duration::from_millis(LAST_WORDS_MILLIS);
        self.state.wait(Some(patience), |said| said.all_ended(own).then_some(()))?;
        self.close();
        self.say_strangers();
        Ok(())
    }

    /// Tells all others that this process gives up, why (one line; what does not fit into
    /// [`crate::limits::MAX_WORD_BYTES`] is cut), and with which exit code. They get [`Error::GaveUp`]. Takes a second
    /// at most; everything here that still waits fails.
    pub fn give_up(&self, code: u8, why: &str) {
        self.state.give_up(code, why);
        self.close();
    }

    /// Starts the threads at the ends of the control connections.
    fn start(&self) -> std::io::Result<()> {
        for other in self.state.peers().map(|(other, _)| other) {
            let (reading, writing) = (Arc::clone(&self.state), Arc::clone(&self.state));
            let named = |what: &str| thread::Builder::new().name(format!("mesh:{what}-{other}"));
            named("read").spawn(move || {
                reader::read_all(reading.links[other].as_ref().expect("a peer"), other, &reading);
            })?;
            named("write").spawn(move || writing.links[other].as_ref().expect("a peer").write_all())?;
        }
        watchdog::watch(&self.state, self.membership.peer_timeout)
    }

    /// Waits until all have met all.
    fn begin(&self, deadline: Instant) -> Result<()> {
        let late = |process: usize| {
            let what = format!(
                "{} is here, but has not met all others within {:.1} s; see what it says",
                self.identity.name(process),
                self.membership.join_timeout.as_secs_f64()
            );
            Error::Join { refused: false, what }
        };
        let hear = |from: usize, topic: u32, until: Instant| {
            let message = self.state.wait(Some(until), |said| said.fetch(from, topic))?;
            message.map(drop).ok_or_else(|| late(from))
        };
        if self.process() > 0 {
            self.send_any(0, READY, Arc::default())?;
            return hear(0, GO, deadline + Duration::from_millis(LAST_WORDS_MILLIS));
        }
        (1..self.processes()).try_for_each(|from| hear(from, READY, deadline))?;
        (1..self.processes()).try_for_each(|to| self.send_any(to, GO, Arc::default()))
    }

    fn send_any(&self, to: usize, topic: u32, bytes: Arc<Vec<u8>>) -> Result<()> {
        #[cfg(test)]
        turns::sends(self, to, topic);
        if bytes.len() > MAX_MESSAGE_BYTES {
            let text = format!("a message of {} bytes is longer than {MAX_MESSAGE_BYTES}", bytes.len());
            return Err(Error::Limit(text));
        }
        let Some(link) = &self.state.links[to] else {
            self.check()?;
            self.state.deliver(to, topic, Arc::unwrap_or_clone(bytes));
            return Ok(());
        };
        if link.send(topic, bytes, || self.check())? {
            return Ok(());
        }
        // The connection has ended: with a goodbye, or with a loss that is just being told to the others.
        self.state.wait(None, |said| said.left(to))?.unwrap_or(Err(())).map_err(|()| self.departed(to))
    }

    fn receive_any(&self, from: usize, topic: u32) -> Result<Vec<u8>> {
        #[cfg(test)]
        let _waiting = turns::Waiting::begin(self, turns::Awaited::Message { from, topic });
        let found = self.state.wait(None, |said| said.fetch(from, topic).map(Ok).or(said.left(from)))?;
        found.unwrap_or(Err(())).map_err(|()| self.departed(from))
    }

    /// A process was done before it sent what this one awaits.
    fn departed(&self, process: usize) -> Error {
        let what = "it was done before this process was".to_string();
        Error::Lost { process, address: self.address(process).to_string(), what }
    }

    fn say_strangers(&self) {
        let strangers = self.arrivals.strangers();
        if strangers > 0 {
            let connections = counted(strangers, "connection");
            self.arrivals.say(&format!("{connections} of no process of this job: closed"));
        }
    }

    fn close(&self) {
        self.arrivals.close();
        *self.wires() = None;
        self.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        self.state.end();
        self.state.peers().for_each(|(_, link)| link.cut());
        self.close();
    }
}

/// Opens this process's door.
fn open(identity: &Arc<Identity>, arrivals: &Arc<Arrivals>, deadline: Instant) -> Result<Listener> {
    let host = identity.listen.as_ref().unwrap_or(&identity.hosts[identity.process as usize]);
    let socket = socket::listen(host, deadline, &|line| arrivals.say(line))?;
    Listener::open(socket, Arc::clone(identity), Arc::clone(arrivals))
        .map_err(|error| Error::config(format!("cannot start a thread: {error}")))
}
