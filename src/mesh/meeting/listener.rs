//! A hello from the side that is connected to: one thread accepts, one drives all hellos.
//!
//! What has connected and not proved itself is in a table of fixed size, and for a few seconds at most. Nothing is
//! waited for: each connection is read as far as its bytes have come. When the table is full the oldest goes, before
//! all one that has not said anything; a process of the job that was pushed out connects again.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::limits::{HELLO_MILLIS, MAX_PENDING_HELLOS};
use crate::mesh::channel::Channel;
use crate::mesh::meeting::arrivals::Arrivals;
use crate::mesh::meeting::call::{Identity, nonce};
use crate::mesh::meeting::hello::{
    self, HELLO_BYTES, Hello, HelloTerms, LAST_BYTES, PROTOCOL, Reply, Verdict,
};
use crate::mesh::meeting::key_agreement::{Ciphers, NO_MESSAGE, answer};
use crate::mesh::meeting::socket;

/// Shortest and longest pause between two looks at pending hellos.
const PAUSES: (Duration, Duration) = (Duration::from_micros(500), Duration::from_millis(8));

/// The open door of a process, until it is closed.
pub(in crate::mesh) struct Listener {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    identity: Arc<Identity>,
    arrivals: Arc<Arrivals>,
    pending: Mutex<Pending>,
    came: Condvar,
}

#[derive(Default)]
struct Pending {
    guests: Vec<Guest>,
    closed: bool,
}

/// A connection whose hello is not through.
struct Guest {
    stream: TcpStream,
    since: Instant,
    heard: Vec<u8>,
    /// What was said, once its hello was heard.
    answered: Option<Answered>,
}

struct Answered {
    hello: Hello,
    bytes: Vec<u8>,
    reply: Vec<u8>,
    verdict: Verdict,
    /// What the connection is encrypted with, if it is.
    ciphers: Option<Ciphers>,
}

/// What becomes of a guest after a look at it.
enum Look {
    /// It stays; whether it got further.
    Stay(bool),
    /// It goes, as a stranger or with all said.
    Go { stranger: bool },
    /// Its proof is here.
    Proved,
}

impl Listener {
    /// Opens the door: whoever proves to be of the job is taken down in `arrivals`.
    pub(in crate::mesh) fn open(
        listener: TcpListener,
        identity: Arc<Identity>,
        arrivals: Arc<Arrivals>,
    ) -> std::io::Result<Listener> {
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            identity,
            arrivals,
            pending: Mutex::new(Pending::default()),
            came: Condvar::new(),
        });
        let (accepting, driving) = (Arc::clone(&shared), Arc::clone(&shared));
        thread::Builder::new().name("mesh:accept".into()).spawn(move || accepting.accept(&listener))?;
        thread::Builder::new().name("mesh:hello".into()).spawn(move || driving.drive())?;
        Ok(Listener { address, shared })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.pending().closed = true;
        self.shared.came.notify_all();
        // The thread that accepts sees it with the next connection. If this one fails there is nobody to wake.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

impl Shared {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(&self, listener: &TcpListener) {
        loop {
            let accepted = listener.accept();
            let mut pending = self.pending();
            if pending.closed {
                return;
            }
            match accepted {
                Ok((stream, _)) if stream.set_nonblocking(true).is_ok() => {
                    if pending.guests.len() >= MAX_PENDING_HELLOS {
                        pending.drop_oldest();
                        self.arrivals.stranger();
                    }
                    let since = Instant::now();
                    pending.guests.push(Guest { stream, since, heard: Vec::new(), answered: None });
                    self.came.notify_all();
                }
                Ok(_) => {}
                // Too many open files, or a connection that went before it was accepted.
                Err(_) => {
                    drop(pending);
                    thread::sleep(Duration::from_millis(20));
                }
            }
        }
    }

    fn drive(&self) {
        let mut pause = PAUSES.0;
        let mut pending = self.pending();
        while !pending.closed {
            if pending.guests.is_empty() {
                pending = self.came.wait(pending).unwrap_or_else(PoisonError::into_inner);
                pause = PAUSES.0;
                continue;
            }
            let moved = self.look_at_all(&mut pending.guests);
            pause = if moved { PAUSES.0 } else { (pause * 2).min(PAUSES.1) };
            drop(pending);
            thread::sleep(pause);
            pending = self.pending();
        }
        pending.guests.clear();
    }

    fn look_at_all(&self, guests: &mut Vec<Guest>) -> bool {
        let mut moved = false;
        let mut index = 0;
        while index < guests.len() {
            match guests[index].look(self) {
                Look::Stay(further) => {
                    moved |= further;
                    index += 1;
                }
                Look::Go { stranger } => {
                    guests.swap_remove(index);
                    if stranger {
                        self.arrivals.stranger();
                    }
                }
                Look::Proved => {
                    moved = true;
                    self.conclude(guests.swap_remove(index));
                }
            }
        }
        moved
    }

    /// Says the last word to a guest whose proof is here, and lets it in if it may.
    fn conclude(&self, mut guest: Guest) {
        let Some(Answered { hello, bytes, reply, verdict, ciphers }) = guest.answered.take() else { return };
        let identity = &self.identity;
        // Whoever knows the secret and has agreed on no keys is not one of ours.
        let agreed = ciphers.is_some() || !identity.terms.encrypted || verdict != Verdict::Welcome;
        let holds = agreed && hello::proof_holds(&guest.heard, &[&bytes, &reply], &identity.key);
        let from = guest.stream.peer_addr().map_or_else(|_| "somewhere".into(), |a| a.ip().to_string());
        let refused = |verdict| {
            let told = identity.terms.told(verdict, &hello.terms);
            self.arrivals.refuse(&format!("a process {} at {from} was refused: {told}", hello.from), holds);
        };
        if !holds {
            refused(Verdict::Secret);
            self.arrivals.stranger();
            return;
        }
        if verdict != Verdict::Welcome {
            refused(verdict);
            return;
        }
        let before: [&[u8]; 3] = [&bytes, &reply, &guest.heard];
        let Ok(kept) = guest.stream.try_clone() else { return };
        if socket::prepare(&kept, identity.peer_timeout).is_err() {
            return;
        }
        let kept = Channel::new(kept, ciphers);
        let verdict = self.arrivals.admit(&hello, kept, |verdict| {
            // Too short to be held up: the connection has taken nothing but the reply before.
            guest.stream.write_all(&hello::word(verdict, &before, &identity.key)).is_ok()
        });
        if verdict != Verdict::Welcome {
            refused(verdict);
        }
    }
}

impl Pending {
    fn drop_oldest(&mut self) {
        let oldest = (0..self.guests.len()).min_by_key(|&i| self.guests[i].since);
        oldest.map(|index| self.guests.swap_remove(index));
    }
}

impl Guest {
    fn look(&mut self, shared: &Shared) -> Look {
        if self.since.elapsed() > Duration::from_millis(HELLO_MILLIS) {
            return Look::Go { stranger: true };
        }
        let wanted = if self.answered.is_some() { LAST_BYTES } else { HELLO_BYTES };
        let mut bytes = [0; HELLO_BYTES];
        match self.stream.read(&mut bytes[..wanted - self.heard.len()]) {
            Ok(0) => return Look::Go { stranger: true },
            Ok(count) => self.heard.extend(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Look::Stay(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => return Look::Stay(false),
            Err(_) => return Look::Go { stranger: true },
        }
        match (&self.answered, self.heard.len() == wanted) {
            (Some(_), true) => Look::Proved,
            (Some(_), false) => Look::Stay(false),
            (None, whole) => self.answer(whole, shared),
        }
    }

    /// Answers a hello once it is here; whoever does not begin one is sent away at once.
    fn answer(&mut self, whole: bool, shared: &Shared) -> Look {
        let identity = &shared.identity;
        let stranger = Look::Go { stranger: true };
        if !hello::may_be_hello(&self.heard) {
            return stranger;
        }
        let other = hello::hello_prefix(&self.heard).filter(|&(protocol, _)| protocol != PROTOCOL);
        if !whole && other.is_none() {
            return Look::Stay(false);
        }
        let Ok(nonce) = nonce() else { return stranger };
        let (terms, process, life) = (identity.terms.clone(), identity.process, identity.life);
        let mut reply = Reply { terms, process, verdict: Verdict::Protocol, life, nonce, key: NO_MESSAGE };
        if let Some((protocol, version)) = other {
            // What its frames are like from here on nobody knows, but the beginning says so.
            let _ = self.stream.write(&reply.encode(&self.heard, &identity.key));
            let other = HelloTerms { protocol, version, ..identity.terms.clone() };
            let told = identity.terms.told(Verdict::Protocol, &other);
            shared.arrivals.refuse(&format!("a process was refused: {told}"), false);
            return Look::Go { stranger: false };
        }
        let Some(hello) = Hello::decode(&self.heard) else { return stranger };
        reply.verdict =
            identity.terms.differs(&hello.terms).unwrap_or_else(|| shared.arrivals.verdict(&hello));
        let mut ciphers = None;
        if identity.terms.encrypted && reply.verdict == Verdict::Welcome {
            // One that knows another secret is told so once it has tried to prove that it knows this one.
            let agreed = answer(&identity.key, &hello.key);
            (ciphers, reply.key) = agreed.map_or((None, NO_MESSAGE), |(ciphers, key)| (Some(ciphers), key));
        }
        let bytes = std::mem::take(&mut self.heard);
        let encoded = reply.encode(&bytes, &identity.key);
        // A fresh connection takes this much at once, or it is none of ours.
        if !self.stream.write(&encoded).is_ok_and(|count| count == encoded.len()) {
            return stranger;
        }
        self.answered = Some(Answered { hello, bytes, reply: encoded, verdict: reply.verdict, ciphers });
        Look::Stay(true)
    }
}
