//! A hello from the side that connects.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::limits::HELLO_MILLIS;
use crate::mesh::channel::Channel;
use crate::mesh::meeting::hello::{
    self, Hello, HelloTerms, LAST_BYTES, NONCE_BYTES, PREFIX_BYTES, PROTOCOL, Purpose, REPLY_BYTES,
};
use crate::mesh::meeting::hello::{Reply, Verdict};
use crate::mesh::meeting::key_agreement::{Agreeing, Ciphers, NO_MESSAGE};
use crate::mesh::meeting::membership::Membership;
use crate::mesh::meeting::secret::Key;
use crate::mesh::meeting::socket;

/// Who this process is to the others: what a hello or a reply says of it.
pub(in crate::mesh) struct Identity {
    pub(in crate::mesh) terms: HelloTerms,
    pub(in crate::mesh) process: u32,
    pub(in crate::mesh) life: [u8; NONCE_BYTES],
    pub(in crate::mesh) key: Key,
    pub(in crate::mesh) hosts: Vec<String>,
    /// Where this process listens, if not at its address.
    pub(in crate::mesh) listen: Option<String>,
    pub(in crate::mesh) peer_timeout: Duration,
}

/// What came of a hello.
pub(in crate::mesh) enum Called {
    /// A connection to the process, which has this life.
    Met(Channel, [u8; NONCE_BYTES]),
    /// Not this time, and why; another attempt may go well.
    Later(String),
    /// Never, and why.
    Refused(String),
}

/// Bytes nobody can foresee.
pub(in crate::mesh) fn nonce() -> Result<[u8; NONCE_BYTES]> {
    let mut bytes = [0; NONCE_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::config(format!("the system has no random numbers: {error}")))?;
    Ok(bytes)
}

impl Identity {
    /// The identity of a process that starts now.
    pub(in crate::mesh) fn new(membership: &Membership) -> Result<Identity> {
        let number = |n: usize| u32::try_from(n).map_err(|_| Error::config(format!("{n} is too many")));
        let terms = HelloTerms {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_string(),
            processes: number(membership.processes())?,
            workers: number(membership.workers)?,
            encrypted: membership.encrypted,
            job: membership.job,
        };
        Ok(Identity {
            terms,
            process: number(membership.process)?,
            life: nonce()?,
            key: Key::new(membership.secret.as_ref()),
            hosts: membership.hosts.clone(),
            listen: membership.listen.clone(),
            peer_timeout: membership.peer_timeout,
        })
    }

    /// A process as people know it.
    pub(in crate::mesh) fn name(&self, process: usize) -> String {
        format!("process {process} ({})", self.hosts[process])
    }

    /// Says hello to process `to`, and does not wait for its words any more once it is `over`.
    pub(in crate::mesh) fn call(
        &self,
        to: usize,
        purpose: Purpose,
        over: &dyn Fn() -> bool,
    ) -> Result<Called> {
        let mut stream = match socket::connect(&self.hosts[to]) {
            Ok(stream) => stream,
            Err(error) => return Ok(Called::Later(error.to_string())),
        };
        let agreeing = self.terms.encrypted.then(|| Agreeing::begin(&self.key)).transpose()?;
        let (agreeing, key) = agreeing.map_or((None, NO_MESSAGE), |(agreeing, key)| (Some(agreeing), key));
        let hello = Hello {
            terms: self.terms.clone(),
            from: self.process,
            to: u32::try_from(to).unwrap_or(u32::MAX),
            purpose,
            life: self.life,
            nonce: nonce()?,
            key,
        };
        Ok(match self.greet(&mut stream, &hello.encode(), agreeing, over) {
            Ok(Greeted::Admitted(life, ciphers)) => match socket::prepare(&stream, self.peer_timeout) {
                Ok(()) => Called::Met(Channel::new(stream, ciphers), life),
                Err(error) => Called::Later(error.to_string()),
            },
            Ok(Greeted::Not(Verdict::UnderWay | Verdict::Stale, why)) => Called::Later(why),
            Ok(Greeted::Not(_, why)) => Called::Refused(why),
            Ok(Greeted::Stranger) => Called::Later("what listens there is no process of alike".into()),
            Err(error) => Called::Later(format!("it does not finish its hello: {error}")),
        })
    }

    fn greet(
        &self,
        stream: &mut TcpStream,
        hello: &[u8],
        agreeing: Option<Agreeing>,
        over: &dyn Fn() -> bool,
    ) -> io::Result<Greeted> {
        let mut ear = Ear { stream, over, deadline: Instant::now() + Duration::from_millis(HELLO_MILLIS) };
        ear.stream.set_nodelay(true)?;
        ear.stream.set_write_timeout(Some(Duration::from_millis(HELLO_MILLIS)))?;
        ear.stream.write_all(hello)?;
        let mut reply = [0; REPLY_BYTES];
        ear.read_exact(&mut reply[..PREFIX_BYTES])?;
        match hello::reply_prefix(&reply) {
            None => return Ok(Greeted::Stranger),
            Some((protocol, version)) if protocol != PROTOCOL => {
                let other = HelloTerms { protocol, version, ..self.terms.clone() };
                return Ok(Greeted::Not(Verdict::Protocol, self.terms.told(Verdict::Protocol, &other)));
            }
            Some(_) => ear.read_exact(&mut reply[PREFIX_BYTES..])?,
        }
        let Some((said, recognised)) = Reply::decode(&reply, hello, &self.key) else {
            return Ok(Greeted::Stranger);
        };
        let proof = hello::proof(recognised, &[hello, &reply], &self.key);
        ear.stream.write_all(&proof)?;
        let not = |verdict| Ok(Greeted::Not(verdict, self.terms.told(verdict, &said.terms)));
        if !recognised {
            return not(Verdict::Secret);
        }
        if said.verdict != Verdict::Welcome {
            return not(said.verdict);
        }
        let mut word = [0; LAST_BYTES];
        ear.read_exact(&mut word)?;
        match hello::read_word(&word, &[hello, &reply, &proof], &self.key) {
            Some(Verdict::Welcome) => {
                let ciphers = agreeing.map(|agreeing| agreeing.end(&said.key).ok_or(())).transpose();
                Ok(ciphers.map_or(Greeted::Stranger, |ciphers| Greeted::Admitted(said.life, ciphers)))
            }
            Some(verdict) => not(verdict),
            None => Ok(Greeted::Stranger),
        }
    }
}

enum Greeted {
    Admitted([u8; NONCE_BYTES], Option<Ciphers>),
    Not(Verdict, String),
    Stranger,
}

/// How often somebody who waits for a word looks whether it is over.
const LOOK: Duration = Duration::from_millis(50);

/// Reads until a moment, however slowly the bytes come, or until it is over.
struct Ear<'a> {
    stream: &'a mut TcpStream,
    over: &'a dyn Fn() -> bool,
    deadline: Instant,
}

impl Read for Ear<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || (self.over)() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left.min(LOOK)))?;
            match self.stream.read(into) {
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                }
                read => return read,
            }
        }
    }
}
