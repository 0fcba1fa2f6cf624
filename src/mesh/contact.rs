//! How it stands with each other process.

use std::time::Duration;

use super::Mesh;
use super::wire::{ByteCounts, Traffic};

/// How it stands with another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// Its number.
    pub process: usize,
    /// Bytes sent to it and received from it since this process joined.
    pub traffic: Traffic,
    /// Whether the control connection to it stands.
    pub alive: bool,
    /// How long ago anything came from it; `None` if nothing has yet.
    pub silence: Option<Duration>,
}

impl Mesh {
    /// How it stands with each other process, in order.
    pub fn contacts(&self) -> Vec<Contact> {
        let said = self.state.said();
        let contact = |(process, link): (usize, &super::Link)| Contact {
            process,
            traffic: traffic(&self.data[process], &self.control[process]),
            alive: !said.has_ended(process),
            silence: link.silence().map(Duration::from_millis),
        };
        self.state.peers().map(contact).collect()
    }

    /// Bytes sent and received so far, by all connections together.
    pub fn traffic(&self) -> Traffic {
        let all = self.data.iter().zip(&self.control).map(|(data, control)| traffic(data, control));
        all.fold(Traffic::default(), Traffic::and)
    }
}

fn traffic(data: &ByteCounts, control: &ByteCounts) -> Traffic {
    let (data_sent, data_received) = data.both();
    let (control_sent, control_received) = control.both();
    Traffic { data_sent, data_received, control_sent, control_received }
}
