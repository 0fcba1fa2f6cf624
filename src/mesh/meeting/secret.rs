//! The shared secret, and what is proved with it.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::error::{Error, Result};
use crate::limits::LEAST_SECRET;

/// Length of a proof, in bytes.
pub(in crate::mesh) const PROOF_BYTES: usize = 32;

/// A secret that all processes of a job share. It is never shown, and never crosses a connection.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// The secret that `bytes` are, without white space at their end, so that a file with a last line break and a
    /// variable without one hold the same.
    ///
    /// # Errors
    /// [`Error::Config`] if fewer than [`LEAST_SECRET`] bytes are left.
    pub fn new(bytes: &[u8]) -> Result<Secret> {
        let bytes = bytes.trim_ascii_end();
        if bytes.len() < LEAST_SECRET {
            let text = format!(
                "the shared secret has {} bytes and needs {LEAST_SECRET}; make one with `openssl rand -hex 32`",
                bytes.len()
            );
            return Err(Error::config(text));
        }
        Ok(Secret(bytes.to_vec()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// What proofs are made with and held against: a secret, or the empty key of jobs without one.
#[derive(Clone)]
pub(in crate::mesh) struct Key(Hmac<Sha256>);

impl Key {
    /// The key of a secret.
    pub(in crate::mesh) fn new(secret: Option<&Secret>) -> Key {
        let bytes = secret.map_or(&[][..], |secret| &secret.0);
        Key(Hmac::new_from_slice(bytes).expect("a key of any length makes an HMAC"))
    }

    fn over(&self, label: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        // Lengths first: no two lists of parts have the same bytes.
        for part in [label.as_bytes()].iter().chain(parts) {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }

    /// The proof that whoever holds this key said `parts` in the role `label`.
    pub(in crate::mesh) fn prove(&self, label: &str, parts: &[&[u8]]) -> [u8; PROOF_BYTES] {
        self.over(label, parts).finalize().into_bytes().into()
    }

    /// Whether `proof` is the one of these parts, in a time that does not depend on where it differs.
    pub(in crate::mesh) fn holds(&self, label: &str, parts: &[&[u8]], proof: &[u8]) -> bool {
        self.over(label, parts).verify_slice(proof).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_secrets_are_refused_and_none_is_shown() {
        assert!(Secret::new(b"0123456789abcde\n").is_err());
        let secret = Secret::new(b"0123456789abcdef\r\n").expect("long enough");
        assert_eq!(secret, Secret::new(b"0123456789abcdef").expect("long enough"));
        assert_eq!(format!("{secret:?}"), "Secret(..)");
    }

    #[test]
    fn a_proof_holds_for_its_parts_role_and_key_only() {
        let key = Key::new(Some(&Secret::new(b"0123456789abcdef").expect("long enough")));
        let proof = key.prove("a", &[b"bc", b"d"]);
        assert!(key.holds("a", &[b"bc", b"d"], &proof));
        assert!(!key.holds("a", &[b"b", b"cd"], &proof));
        assert!(!key.holds("ab", &[b"c", b"d"], &proof));
        assert!(!key.holds("a", &[b"bc", b"d"], &proof[..31]));
        assert!(!Key::new(None).holds("a", &[b"bc", b"d"], &proof));
    }

    #[test]
    fn proofs_are_hmac_sha256() {
        // RFC 4231, test case 2, on the function beneath.
        let mut mac = Hmac::<Sha256>::new_from_slice(b"Jefe").expect("a key");
        mac.update(b"what do ya want for nothing?");
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        let hex: String = mac.finalize().into_bytes().iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, expected);
    }
}
