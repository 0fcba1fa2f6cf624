//! How two processes agree on the keys of an encrypted connection: by the two messages of the Noise protocol
//! `NNpsk0`, one in the hello and one in the reply (Perrin, "The Noise Protocol Framework", revision 34, sections 7 and 9).
//!
//! Both keys are drawn for this connection alone, so whoever learns the secret later can read nothing of what was recorded. The
//! secret is part of the keys: whoever does not know it can neither agree on any nor stand between two who do.

use std::io;

use snow::{Builder, HandshakeState, StatelessTransportState};

use crate::error::{Error, Result};
use crate::mesh::meeting::secret::Key;

/// Length of either message: a public key, and the tag of no bytes.
pub(in crate::mesh) const MESSAGE_BYTES: usize = 32 + 16;

/// The names of all that it is made of, as Noise has them.
const PROTOCOL: &str = "Noise_NNpsk0_25519_AESGCM_SHA256";

/// A message of either side.
pub(in crate::mesh) type KeyMessage = [u8; MESSAGE_BYTES];

/// What stands for a message where nothing is encrypted.
pub(in crate::mesh) const NO_MESSAGE: KeyMessage = [0; MESSAGE_BYTES];

/// What a connection is encrypted with, in both directions.
pub(in crate::mesh) struct Ciphers(StatelessTransportState);

impl Ciphers {
    /// Writes message `number` of this side, which carries some bytes, to `into`, which it fills.
    pub(in crate::mesh) fn seal(&self, number: u64, bytes: &[u8], into: &mut [u8]) -> io::Result<usize> {
        self.0.write_message(number, bytes, into).map_err(io::Error::other)
    }

    /// Writes what message `number` of the other side carries to `into`, which has room for it; how many bytes that are.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if it is not that message.
    pub(in crate::mesh) fn open(&self, number: u64, message: &[u8], into: &mut [u8]) -> io::Result<usize> {
        let changed = |_| io::Error::new(io::ErrorKind::InvalidData, "what it sends was changed on the way");
        self.0.read_message(number, message, into).map_err(changed)
    }
}

/// The connector's side between both messages.
pub(in crate::mesh) struct Agreeing(Box<HandshakeState>);

impl Agreeing {
    /// Begins; the message for the hello.
    pub(in crate::mesh) fn begin(key: &Key) -> Result<(Agreeing, KeyMessage)> {
        let fails = |error: snow::Error| Error::config(format!("cannot encrypt: {error}"));
        let mut side = side(key, true).map_err(fails)?;
        let mut message = NO_MESSAGE;
        side.write_message(&[], &mut message).map_err(fails)?;
        Ok((Agreeing(Box::new(side)), message))
    }

    /// Ends with the message of the reply; `None` if it is none of one that knows the secret and the hello.
    pub(in crate::mesh) fn end(mut self, message: &KeyMessage) -> Option<Ciphers> {
        self.0.read_message(message, &mut []).ok()?;
        self.0.into_stateless_transport_mode().ok().map(Ciphers)
    }
}

/// The listener's side: what it encrypts with, and the message for the reply. `None` if the message is none of one that
/// knows the secret. Whoever does not costs some digests; whoever repeats a recorded message, an agreement that leads nowhere.
pub(in crate::mesh) fn answer(key: &Key, message: &KeyMessage) -> Option<(Ciphers, KeyMessage)> {
    let mut side = side(key, false).ok()?;
    side.read_message(message, &mut []).ok()?;
    let mut answer = NO_MESSAGE;
    side.write_message(&[], &mut answer).ok()?;
    side.into_stateless_transport_mode().ok().map(|ciphers| (Ciphers(ciphers), answer))
}

/// The side that begins, or the other one.
fn side(key: &Key, begins: bool) -> std::result::Result<HandshakeState, snow::Error> {
    let shared = key.prove("encryption", &[]);
    let side = Builder::new(PROTOCOL.parse()?).psk(0, &shared)?;
    if begins { side.build_initiator() } else { side.build_responder() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Secret;

    #[test]
    fn only_those_agree_who_know_the_secret_and_heard_each_other() {
        let key = |secret: &[u8]| Key::new(Some(&Secret::new(secret).expect("long enough")));
        let (own, other) = (key(b"0123456789abcdef"), key(b"0123456789abcdeg"));
        let begin = || Agreeing::begin(&own).expect("random numbers");
        let (agreeing, hello) = begin();
        assert!(answer(&other, &hello).is_none() && answer(&own, &NO_MESSAGE).is_none());
        let (theirs, reply) = answer(&own, &hello).expect("answered");
        let mine = agreeing.end(&reply).expect("agreed");
        let (mut sealed, mut opened) = ([0; 19], [0; 19]);
        mine.seal(5, b"abc", &mut sealed).expect("sealed");
        assert!(theirs.open(4, &sealed, &mut opened).is_err());
        assert_eq!(theirs.open(5, &sealed, &mut opened).expect("opened"), 3);
        assert_eq!(&opened[..3], b"abc");
        // The reply to another hello, though recorded from the same process.
        assert!(begin().0.end(&reply).is_none());
        assert_ne!(begin().1, begin().1);
    }
}
