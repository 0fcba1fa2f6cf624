//! What a process knows of its job before it meets the others.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::limits::MAX_PROCESSES;
use crate::mesh::meeting::secret::Secret;

/// A process and the job that it is part of. All processes of a job have the same, but for `process` and `listen`.
#[derive(Clone, Debug)]
pub struct Membership {
    /// The address of each process, `host:port`, in order: where the others call it.
    pub hosts: Vec<String>,
    /// The number of this process: an index of `hosts`.
    pub process: usize,
    /// Where this process listens, and nowhere else; without it, at its address.
    pub listen: Option<String>,
    /// Worker threads of each process, at least 1.
    pub workers: usize,
    /// The shared secret; `None` only if the user asked to do without, and then anybody who can connect may join.
    pub secret: Option<Secret>,
    /// Whether all that crosses a connection after the hello is encrypted and authenticated; needs a secret.
    pub encrypted: bool,
    /// A digest of what all processes must agree on, such as the command; a process with another one is refused.
    pub job: u128,
    /// How long all others may take to come.
    pub join_timeout: Duration,
    /// After how long without a word another process counts as lost; at least 100 ms.
    pub peer_timeout: Duration,
}

impl Membership {
    /// How many processes the job has.
    pub fn processes(&self) -> usize {
        self.hosts.len()
    }

    /// Whether these values make sense together.
    ///
    /// # Errors
    /// [`Error::Config`], which says what is wrong.
    pub fn validate(&self) -> Result<()> {
        let (process, processes) = (self.process, self.hosts.len());
        if processes == 0 || processes > MAX_PROCESSES {
            return Err(Error::config(format!("a job has 1 to {MAX_PROCESSES} processes, not {processes}")));
        }
        if process >= processes {
            let text = format!("process {process} of {processes} does not exist; the first has number 0");
            return Err(Error::config(text));
        }
        if self.workers == 0 || u32::try_from(self.workers).is_err() {
            return Err(Error::config(format!("a process cannot have {} workers", self.workers)));
        }
        if self.encrypted && self.secret.is_none() {
            return Err(Error::config(
                "encryption without a secret: nobody knows whom keys are agreed on with",
            ));
        }
        if self.peer_timeout < Duration::from_millis(100) {
            return Err(Error::config("a peer timeout under 0.1 s takes every pause for a loss"));
        }
        let mut seen = BTreeSet::new();
        for host in &self.hosts {
            let port = host.rsplit_once(':').filter(|(name, _)| !name.is_empty());
            if !port.is_some_and(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0)) {
                return Err(Error::config(format!(
                    "{host:?} is no address; write host:port, as in node1:2101"
                )));
            }
            if !seen.insert(host) {
                return Err(Error::config(format!("two processes have the address {host}")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn membership(hosts: &[&str], process: usize, workers: usize) -> Membership {
        Membership {
            hosts: hosts.iter().map(ToString::to_string).collect(),
            process,
            listen: None,
            workers,
            secret: None,
            encrypted: false,
            job: 1,
            join_timeout: Duration::from_secs(1),
            peer_timeout: Duration::from_secs(1),
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert!(membership(&["a:1", "[::1]:2"], 1, 1).validate().is_ok());
        for wrong in [
            membership(&[], 0, 1),
            membership(&["a:1"], 1, 1),
            membership(&["a:1"], 0, 0),
            membership(&["a:1", "a:1"], 0, 1),
            membership(&["a"], 0, 1),
            membership(&["a:0"], 0, 1),
            membership(&[":1"], 0, 1),
            membership(&["a:65536"], 0, 1),
            Membership { peer_timeout: Duration::ZERO, ..membership(&["a:1"], 0, 1) },
            Membership { encrypted: true, ..membership(&["a:1"], 0, 1) },
        ] {
            assert!(matches!(wrong.validate(), Err(Error::Config(_))), "{wrong:?}");
        }
    }
}
