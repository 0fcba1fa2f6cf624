//! The disk of [`super::Simulated`]: which contents and names exist, which of them are durable, and what is left of
//! the others when the power goes.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What a disk writes whole or not at all.
const SECTOR: usize = 512;

/// Files by name.
#[derive(Default)]
pub(super) struct Disk {
    names: BTreeMap<String, History>,
}

/// What a name has led to since it was last made durable, the durable state first, the present one last.
type History = Vec<Option<Arc<Contents>>>;

impl Disk {
    /// The names that exist now.
    pub(super) fn names(&self) -> Vec<String> {
        self.names.keys().filter(|name| self.get(name).is_ok()).cloned().collect()
    }

    pub(super) fn get(&self, name: &str) -> io::Result<Arc<Contents>> {
        let now = self.names.get(name).and_then(|history| history.last()).cloned().flatten();
        now.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn add(&mut self, name: &str, contents: Arc<Contents>) -> io::Result<()> {
        if self.get(name).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.names.entry(name.to_owned()).or_insert_with(|| vec![None]).push(Some(contents));
        Ok(())
    }

    pub(super) fn remove(&mut self, name: &str) -> io::Result<()> {
        self.get(name)?;
        self.names.entry(name.to_owned()).and_modify(|history| history.push(None));
        Ok(())
    }

    /// The present becomes what survives.
    pub(super) fn sync_names(&mut self) {
        for history in self.names.values_mut() {
            history.drain(..history.len() - 1);
        }
        self.names.retain(|_, history| history.iter().any(Option::is_some));
    }

    /// What may be found after the power has gone: of each name any of its states, whatever became of the others,
    /// and of each file what is durable and some part of the rest.
    pub(super) fn after_power_cut(&self, dice: &mut Dice) -> Disk {
        let mut left = Disk::default();
        let mut survivors: Vec<(&Arc<Contents>, Arc<Contents>)> = Vec::new();
        for (name, history) in &self.names {
            let Some(before) = &history[dice.below(history.len())] else { continue };
            let known = survivors.iter().find(|(other, _)| Arc::ptr_eq(other, before));
            let after = match known {
                Some((_, after)) => Arc::clone(after),
                None => Arc::new(Contents::durable(before.lock().after_power_cut(dice))),
            };
            survivors.push((before, Arc::clone(&after)));
            left.names.insert(name.clone(), vec![Some(after)]);
        }
        left
    }
}

/// What one or more names, readers and writers lead to.
pub(super) struct Contents(Mutex<Body>);

impl Contents {
    pub(super) fn new() -> Contents {
        Contents::durable(Vec::new())
    }

    fn durable(bytes: Vec<u8>) -> Contents {
        let durable = bytes.len();
        Contents(Mutex::new(Body { bytes, durable }))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Body> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Files may hold megabytes: their length says enough.
impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Contents({} bytes)", self.lock().bytes.len())
    }
}

/// The bytes of a file, and how many of them, from the start, are durable.
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    pub(super) durable: usize,
}

impl Body {
    /// A sync that failed: what was not durable is written off, and dropped from memory as if it had been written.
    pub(super) fn forget(&mut self) {
        self.bytes[self.durable..].fill(0);
    }

    pub(super) fn replace(&mut self, bytes: &[u8]) {
        self.bytes = bytes.to_vec();
        self.durable = bytes.len();
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
        self.durable = self.durable.min(len);
    }

    /// All that is durable, and of the rest nothing, everything or the beginning, of which some or all sectors did
    /// not arrive: a file system may write the length of a file before its contents, and those in any order.
    fn after_power_cut(&self, dice: &mut Dice) -> Vec<u8> {
        let rest = self.bytes.len() - self.durable;
        let kept = match dice.below(4) {
            0 => 0,
            1 => rest,
            _ => dice.below(rest + 1),
        };
        let mut bytes = self.bytes[..self.durable + kept].to_vec();
        let lost_of_8 = [0, 2, 5, 8][dice.below(4)];
        for number in self.durable / SECTOR..bytes.len().div_ceil(SECTOR) {
            if dice.below(8) < lost_of_8 {
                let end = bytes.len().min((number + 1) * SECTOR);
                let sector = &mut bytes[self.durable.max(number * SECTOR)..end];
                match dice.below(2) {
                    0 => sector.fill(0),
                    _ => sector.fill_with(|| dice.below(256) as u8),
                }
            }
        }
        bytes
    }
}

/// Numbers that look random and follow from a seed.
pub(super) struct Dice {
    seed: u64,
    thrown: u64,
}

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice { seed, thrown: 0 }
    }

    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: usize) -> usize {
        self.thrown += 1;
        (xxh3_64_with_seed(&self.thrown.to_le_bytes(), self.seed) % bound as u64) as usize
    }
}
