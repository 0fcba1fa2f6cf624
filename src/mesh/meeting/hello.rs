//! The frames of a hello, as bytes. All have a fixed length and fixed offsets, little-endian:
//!
//! ```text
//! connector: hello   magic, protocol, version, shape, from, to, job, purpose, life, nonce, key     in the clear
//! listener:  reply   magic, protocol, version, shape, number, verdict, job, life, nonce, key, proof over hello and reply
//! connector: proof   whether the reply's proof holds, proof over all of it
//! listener:  word    verdict, proof over all of it
//! ```
//!
//! Each side's nonce is in every proof, so recorded frames prove nothing later; each proof has the label of its role,
//! so none can be sent back to its maker. The shape is the numbers of processes and workers, and whether what follows is
//! encrypted; a key is a message of [`super::key_agreement`], zeros where nothing is.

use crate::mesh::meeting::key_agreement::{KeyMessage, MESSAGE_BYTES};
use crate::mesh::meeting::secret::{Key, PROOF_BYTES};

/// The protocol of hello, of control frames and of what is packed for others; one that differs is refused.
pub(in crate::mesh) const PROTOCOL: u32 = 3;
/// Length of nonces and lives, in bytes.
pub(in crate::mesh) const NONCE_BYTES: usize = 16;
/// Length of a hello.
pub(in crate::mesh) const HELLO_BYTES: usize = PREFIX_BYTES + 20 + 16 + 8 + 2 * NONCE_BYTES + MESSAGE_BYTES;
/// Length of a reply.
pub(in crate::mesh) const REPLY_BYTES: usize =
    PREFIX_BYTES + 20 + 16 + 2 * NONCE_BYTES + MESSAGE_BYTES + PROOF_BYTES;
/// Length of a connector's proof, and of a listener's last word.
pub(in crate::mesh) const LAST_BYTES: usize = 4 + PROOF_BYTES;
/// Magic, protocol and version come first in every protocol there will be.
pub(in crate::mesh) const PREFIX_BYTES: usize = 8 + 4 + VERSION_BYTES;

const VERSION_BYTES: usize = 32;
const HELLO_MAGIC: &[u8; 8] = b"alike-hi";
const REPLY_MAGIC: &[u8; 8] = b"alike-re";
const CONTROL: u64 = u64::MAX;

/// What all processes of a job must have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mesh) struct HelloTerms {
    pub(in crate::mesh) protocol: u32,
    pub(in crate::mesh) version: String,
    pub(in crate::mesh) processes: u32,
    pub(in crate::mesh) workers: u32,
    pub(in crate::mesh) encrypted: bool,
    pub(in crate::mesh) job: u128,
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mesh) enum Purpose {
    /// The one connection of a pair that lives as long as the job.
    Control,
    /// The data of the run with this number.
    Data(u64),
}

/// What a connector says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mesh) struct Hello {
    pub(in crate::mesh) terms: HelloTerms,
    pub(in crate::mesh) from: u32,
    pub(in crate::mesh) to: u32,
    pub(in crate::mesh) purpose: Purpose,
    /// Drawn when a process starts: a restarted one is another.
    pub(in crate::mesh) life: [u8; NONCE_BYTES],
    pub(in crate::mesh) nonce: [u8; NONCE_BYTES],
    pub(in crate::mesh) key: KeyMessage,
}

/// What a listener says of itself and of the hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mesh) struct Reply {
    pub(in crate::mesh) terms: HelloTerms,
    pub(in crate::mesh) process: u32,
    pub(in crate::mesh) verdict: Verdict,
    pub(in crate::mesh) life: [u8; NONCE_BYTES],
    pub(in crate::mesh) nonce: [u8; NONCE_BYTES],
    pub(in crate::mesh) key: KeyMessage,
}

/// What becomes of a hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mesh) enum Verdict {
    /// It is one of the job.
    Welcome,
    /// It speaks another protocol.
    Protocol,
    /// It is another version of alike.
    Version,
    /// It has another number of processes or workers.
    Shape,
    /// It was given another command.
    Job,
    /// It takes the listener for another process, or has a number that does not call this one.
    Number,
    /// Another process with its number is here.
    Double,
    /// The job is under way with another process of its number; this may be what is left of an earlier attempt.
    UnderWay,
    /// Nobody awaits the run that it is for.
    Stale,
    /// It has another secret.
    Secret,
    /// One of both encrypts, and the other does not.
    Encryption,
}

impl Verdict {
    const ALL: [Verdict; 11] = [
        Verdict::Welcome,
        Verdict::Protocol,
        Verdict::Version,
        Verdict::Shape,
        Verdict::Job,
        Verdict::Number,
        Verdict::Double,
        Verdict::UnderWay,
        Verdict::Stale,
        Verdict::Secret,
        Verdict::Encryption,
    ];

    fn code(self) -> u32 {
        self as u32
    }

    fn of(code: u32) -> Option<Verdict> {
        Verdict::ALL.get(usize::try_from(code).ok()?).copied()
    }
}

/// The bytes of a frame that are left to read.
struct FieldReader<'a>(&'a [u8]);

impl FieldReader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*field)
    }

    fn number(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn flag(&mut self) -> Option<bool> {
        self.number().filter(|flag| *flag <= 1).map(|flag| flag == 1)
    }
}

fn prefix(magic: &[u8; 8], terms: &HelloTerms) -> Vec<u8> {
    let mut bytes = magic.to_vec();
    bytes.extend(terms.protocol.to_le_bytes());
    let mut version = [0; VERSION_BYTES];
    let length = terms.version.len().min(VERSION_BYTES);
    version[..length].copy_from_slice(&terms.version.as_bytes()[..length]);
    bytes.extend(version);
    bytes
}

/// Protocol and version of a frame that begins with `magic`. Whatever is no plain text in the version is left out.
fn read_prefix(fields: &mut FieldReader<'_>, magic: &[u8; 8]) -> Option<(u32, String)> {
    if fields.take()? != *magic {
        return None;
    }
    let protocol = fields.number()?;
    let version: [u8; VERSION_BYTES] = fields.take()?;
    let plain = version.iter().filter(|byte| byte.is_ascii_graphic());
    Some((protocol, plain.map(|&byte| char::from(byte)).collect()))
}

/// Whether a hello may begin like this, however little of it there is.
pub(in crate::mesh) fn may_be_hello(bytes: &[u8]) -> bool {
    HELLO_MAGIC.iter().zip(bytes).all(|(magic, byte)| magic == byte)
}

/// Protocol and version of a hello, from its first [`PREFIX_BYTES`]; `None` if it is none.
pub(in crate::mesh) fn hello_prefix(bytes: &[u8]) -> Option<(u32, String)> {
    read_prefix(&mut FieldReader(bytes), HELLO_MAGIC)
}

/// Protocol and version of a reply, from its first [`PREFIX_BYTES`]; `None` if it is none.
pub(in crate::mesh) fn reply_prefix(bytes: &[u8]) -> Option<(u32, String)> {
    read_prefix(&mut FieldReader(bytes), REPLY_MAGIC)
}

impl Hello {
    /// Its bytes, [`HELLO_BYTES`] many.
    pub(in crate::mesh) fn encode(&self) -> Vec<u8> {
        let mut bytes = prefix(HELLO_MAGIC, &self.terms);
        let HelloTerms { processes, workers, encrypted, .. } = self.terms;
        for number in [processes, workers, u32::from(encrypted), self.from, self.to] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.terms.job.to_le_bytes());
        let purpose = match self.purpose {
            Purpose::Control => CONTROL,
            Purpose::Data(round) => round,
        };
        bytes.extend(purpose.to_le_bytes());
        bytes.extend(self.life);
        bytes.extend(self.nonce);
        bytes.extend(self.key);
        bytes
    }

    /// The hello that `bytes` are, if they are one.
    pub(in crate::mesh) fn decode(bytes: &[u8]) -> Option<Hello> {
        let mut fields = FieldReader(bytes);
        let (protocol, version) = read_prefix(&mut fields, HELLO_MAGIC)?;
        let (processes, workers, encrypted) = (fields.number()?, fields.number()?, fields.flag()?);
        let (from, to) = (fields.number()?, fields.number()?);
        let job = u128::from_le_bytes(fields.take()?);
        let purpose = match u64::from_le_bytes(fields.take()?) {
            CONTROL => Purpose::Control,
            round => Purpose::Data(round),
        };
        let terms = HelloTerms { protocol, version, processes, workers, encrypted, job };
        let (life, nonce, key) = (fields.take()?, fields.take()?, fields.take()?);
        Some(Hello { terms, from, to, purpose, life, nonce, key })
    }
}

impl Reply {
    /// Its bytes, [`REPLY_BYTES`] many: the answer to `hello` under `key`.
    pub(in crate::mesh) fn encode(&self, hello: &[u8], key: &Key) -> Vec<u8> {
        let mut bytes = prefix(REPLY_MAGIC, &self.terms);
        let HelloTerms { processes, workers, encrypted, .. } = self.terms;
        for number in [processes, workers, u32::from(encrypted), self.process, self.verdict.code()] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.terms.job.to_le_bytes());
        bytes.extend(self.life);
        bytes.extend(self.nonce);
        bytes.extend(self.key);
        let proof = key.prove("reply", &[hello, &bytes]);
        bytes.extend(proof);
        bytes
    }

    /// The reply to `hello` that `bytes` are, if they are one, and whether its proof holds.
    pub(in crate::mesh) fn decode(bytes: &[u8], hello: &[u8], key: &Key) -> Option<(Reply, bool)> {
        let mut fields = FieldReader(bytes);
        let (protocol, version) = read_prefix(&mut fields, REPLY_MAGIC)?;
        let (processes, workers, encrypted) = (fields.number()?, fields.number()?, fields.flag()?);
        let process = fields.number()?;
        let verdict = Verdict::of(fields.number()?)?;
        let job = u128::from_le_bytes(fields.take()?);
        let (life, nonce, message) = (fields.take()?, fields.take()?, fields.take()?);
        let said = bytes.len().checked_sub(fields.0.len())?;
        let proof: [u8; PROOF_BYTES] = fields.take()?;
        let holds = key.holds("reply", &[hello, &bytes[..said]], &proof);
        let terms = HelloTerms { protocol, version, processes, workers, encrypted, job };
        Some((Reply { terms, process, verdict, life, nonce, key: message }, holds))
    }
}

/// A number with a proof over it and `before`, in the role `label`: the last frame of either side.
pub(in crate::mesh) fn last_word(label: &str, number: u32, before: &[&[u8]], key: &Key) -> Vec<u8> {
    let number = number.to_le_bytes();
    let parts: Vec<&[u8]> = before.iter().copied().chain([&number[..]]).collect();
    [&number[..], &key.prove(label, &parts)].concat()
}

/// The number of a last frame, and whether its proof holds.
fn read_last_word(label: &str, bytes: &[u8], before: &[&[u8]], key: &Key) -> Option<(u32, bool)> {
    let (number, proof) = bytes.split_first_chunk::<4>()?;
    let parts: Vec<&[u8]> = before.iter().copied().chain([&number[..]]).collect();
    Some((u32::from_le_bytes(*number), key.holds(label, &parts, proof)))
}

/// The connector's proof; `recognised` says whether the listener's held.
pub(in crate::mesh) fn proof(recognised: bool, before: &[&[u8]], key: &Key) -> Vec<u8> {
    last_word("proof", u32::from(recognised), before, key)
}

/// Whether a connector's proof holds, and the connector found that the listener's did.
pub(in crate::mesh) fn proof_holds(bytes: &[u8], before: &[&[u8]], key: &Key) -> bool {
    read_last_word("proof", bytes, before, key) == Some((1, true))
}

/// The listener's last word.
pub(in crate::mesh) fn word(verdict: Verdict, before: &[&[u8]], key: &Key) -> Vec<u8> {
    last_word("word", verdict.code(), before, key)
}

/// The listener's last word, if its proof holds.
pub(in crate::mesh) fn read_word(bytes: &[u8], before: &[&[u8]], key: &Key) -> Option<Verdict> {
    let (number, holds) = read_last_word("word", bytes, before, key)?;
    Verdict::of(number).filter(|_| holds)
}

impl HelloTerms {
    /// In what way a process with `other` terms cannot take part, if it cannot.
    pub(in crate::mesh) fn differs(&self, other: &HelloTerms) -> Option<Verdict> {
        if self.protocol != other.protocol {
            Some(Verdict::Protocol)
        } else if self.version != other.version {
            Some(Verdict::Version)
        } else if (self.processes, self.workers) != (other.processes, other.workers) {
            Some(Verdict::Shape)
        } else if self.encrypted != other.encrypted {
            Some(Verdict::Encryption)
        } else {
            (self.job != other.job).then_some(Verdict::Job)
        }
    }

    /// What a verdict means, as said by a process with these terms about one with `other` terms.
    pub(in crate::mesh) fn told(&self, verdict: Verdict, other: &HelloTerms) -> String {
        match verdict {
            Verdict::Welcome => "it is welcome".into(),
            Verdict::Protocol | Verdict::Version => format!(
                "it is alike {} (protocol {}), this one {} (protocol {}); install the same on all machines",
                other.version, other.protocol, self.version, self.protocol
            ),
            Verdict::Shape => format!(
                "it runs as {} processes x {} workers, this one as {} x {}",
                other.processes, other.workers, self.processes, self.workers
            ),
            Verdict::Encryption => {
                let sends = |terms: &HelloTerms| {
                    if terms.encrypted { "encrypts what it sends" } else { "does not encrypt what it sends" }
                };
                let (other, own) = (sends(other), sends(self));
                format!("it {other}, this one {own}; give all processes the same --encryption and hosts")
            }
            Verdict::Job => "it was given another command than this one; all processes need the same".into(),
            Verdict::Number => {
                "it does not agree about which process is which; all processes need the same hosts file"
                    .into()
            }
            Verdict::Double => "there is another process with the same number".into(),
            Verdict::UnderWay => "the job is under way already".into(),
            Verdict::Stale => "nobody awaits this connection any more".into(),
            Verdict::Secret => "it has another secret than this one".into(),
        }
    }
}
