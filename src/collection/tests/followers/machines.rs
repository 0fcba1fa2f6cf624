//! The two machines: what each has, and what a power cut leaves of it.

use crate::storage::Simulated;

/// The machine with the collection, and that of the followers.
pub(super) const MACHINES: [usize; 2] = [LEADERS, FOLLOWERS];
pub(super) const LEADERS: usize = 0;
pub(super) const FOLLOWERS: usize = 1;

/// A machine: its folder, and which process has the lock of that.
pub(super) struct Machine {
    pub(super) folder: Simulated,
    pub(super) lock: Option<usize>,
    pub(super) place: Made,
}

/// What is durable of the folder itself.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Made {
    No,
    /// It is there, and a power cut may take it with all that is in it.
    Yes,
    Durable,
}

/// What both machines have, between jobs.
#[derive(Clone)]
pub(super) struct Folders {
    pub(super) both: [Simulated; 2],
    /// Whether that of the followers was made, and is durable.
    pub(super) made: Made,
}

impl Folders {
    /// That of the leader; the followers have none yet.
    pub(super) fn new(leaders: Simulated) -> Folders {
        Folders { both: [leaders, Simulated::new()], made: Made::No }
    }

    /// The same after a power cut of some machines.
    pub(super) fn after_power_cut(&self, cut: [bool; 2], seed: u64) -> Folders {
        let mut left = self.clone();
        for machine in MACHINES.into_iter().filter(|machine| cut[*machine]) {
            left.both[machine] = self.both[machine].after_power_cut(seed + machine as u64);
        }
        if cut[FOLLOWERS] && left.made == Made::Yes {
            let stays = seed.is_multiple_of(2);
            left.made = if stays { Made::Durable } else { Made::No };
            if !stays {
                left.both[FOLLOWERS] = Simulated::new();
            }
        }
        left
    }
}
