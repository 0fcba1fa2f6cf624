//! The data sockets of the runs of a job: fresh ones for each.

use std::cmp::Ordering;
use std::io;
use std::net::Shutdown;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use super::Mesh;
use super::channel::Channel;
use super::meeting::call::Called;
use super::meeting::hello::Purpose;
use super::meeting::rendezvous::{PAUSES, refused};
use super::wire::{DataLoss, Over, Round, Wire};
use crate::error::{Error, Result};

impl Mesh {
    /// Fresh data sockets of run `round` to all others, none at the own number. Every process calls it with the same
    /// rounds in the same order: 0, 1, 2 and so on. Waits for the others, however long they work at something else.
    ///
    /// # Errors
    /// [`Error::Lost`] and [`Error::GaveUp`] once a process is lost; [`Error::Join`] if one that is there takes no
    /// connection within the join timeout; [`Error::Worker`] if the round has its sockets already.
    pub fn sockets(&self, round: u64) -> Result<Vec<Option<Wire>>> {
        #[cfg(test)]
        let _waiting = super::turns::Waiting::begin(self, super::turns::Awaited::Sockets(round));
        self.arrivals.begin(round)?;
        let own = self.process();
        let (mut wires, mut handles, over) = (Vec::new(), Vec::new(), Arc::<Over>::default());
        for other in 0..self.processes() {
            let channel = match other.cmp(&own) {
                Ordering::Less => self.call_for_data(other, round)?,
                Ordering::Equal => {
                    wires.push(None);
                    continue;
                }
                Ordering::Greater => self.arrivals.data(round, other, || self.check())?,
            };
            let handle = channel.stream().try_clone();
            handles.push(handle.map_err(|error| self.unusable(other, &error))?);
            let (state, patience) = (Arc::clone(&self.state), self.membership.peer_timeout);
            let lost = DataLoss::new(patience, move |what| state.lose(other, what));
            wires.push(Some(Wire::new(channel, Arc::clone(&self.data[other]), Arc::clone(&over), lost)));
        }
        self.arrivals.finish(round);
        *self.wires() = Some(Round { number: round, handles, over });
        Ok(wires)
    }

    /// Run `round` is over in all processes: from now on its data sockets may fail. Does nothing if a later run has sockets.
    pub fn end(&self, round: u64) {
        if let Some(ended) = self.wires().as_ref().filter(|of| of.number == round) {
            ended.over.set();
        }
    }

    /// Shuts the data sockets of run `round` down, both ways, so that threads that read from them or write to them
    /// end. Does nothing if there are none, or if a later run has sockets.
    pub fn cut(&self, round: u64) {
        let Some(cut) = self.wires().take_if(|of| of.number == round) else { return };
        for handle in &cut.handles {
            // One that has ended by itself is cut already.
            let _ = handle.shutdown(Shutdown::Both);
        }
    }

    /// The data sockets that were handed out last.
    pub(super) fn wires(&self) -> MutexGuard<'_, Option<Round>> {
        self.wires.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A data connection to process `to`, which is there and may be busy with strangers.
    fn call_for_data(&self, to: usize, round: u64) -> Result<Channel> {
        let deadline = Instant::now() + self.membership.join_timeout;
        let mut pause = PAUSES.0;
        loop {
            self.check()?;
            let why = match self.identity.call(to, Purpose::Data(round), &|| self.check().is_err())? {
                Called::Met(channel, life) if self.arrivals.is_life(to, &life) => return Ok(channel),
                Called::Met(..) => "it is another process than before".to_string(),
                Called::Later(why) => why,
                Called::Refused(why) => return Err(refused(&self.identity, to, &why)),
            };
            if Instant::now() >= deadline {
                let what = format!(
                    "{} takes no connection for data: {why}; see that nothing between the machines holds new \
                     connections up",
                    self.identity.name(to)
                );
                return Err(Error::Join { refused: false, what });
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    fn unusable(&self, process: usize, error: &io::Error) -> Error {
        let what = format!("its connection cannot be used: {error}");
        Error::Lost { process, address: self.address(process).to_string(), what }
    }
}
