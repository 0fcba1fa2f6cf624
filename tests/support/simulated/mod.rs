//! A folder in memory that fails at chosen operations. The unit tests of the library have it too.

mod disk;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::disk::{Contents, Dice, Disk};
use super::{FileWriter, Lock, Reader, Storage, check, failed_before};

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The device fails; nothing happens.
    Eio,
    /// There is no room left; nothing happens.
    Enospc,
    /// Half of what is appended arrives, then there is no room left. On anything but an append, as
    /// [`Fault::Enospc`].
    ShortWrite,
    /// A sync of a file fails, and the system drops what it could not write as if it had been written: it is zeros
    /// from then on, for readers and after a power cut. On anything else, as [`Fault::Eio`].
    FailedSync,
    /// What was asked for is done, and fails all the same: a network file system may lose the answer.
    /// Reading and locking are as with [`Fault::Eio`].
    LostAnswer,
}

impl Fault {
    /// What the system answers, by the numbers that `EIO` and `ENOSPC` have everywhere.
    fn error(self) -> io::Error {
        match self {
            Fault::Eio | Fault::FailedSync | Fault::LostAnswer => io::Error::from_raw_os_error(5),
            Fault::Enospc | Fault::ShortWrite => io::Error::from_raw_os_error(28),
        }
    }
}

/// The power is gone: what an operation fails with at and after [`Simulated::cut_at`].
#[derive(Debug, thiserror::Error)]
#[error("the power is gone")]
struct PowerCut;

/// Whether an operation failed because of [`Simulated::cut_at`].
pub fn is_power_cut(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<PowerCut>())
}

/// A folder in memory, for tests: it counts operations, makes chosen ones fail, and tells what a power failure may
/// leave. Clones share one folder, as processes on one machine do.
///
/// Every call of [`Storage`], [`FileWriter`] and [`Reader`] that can fail is one operation, numbered from 0 in the order
/// of the calls. The methods of this type itself are none: they work from outside, on a machine without power too.
///
/// A sync of names that fails leaves each name as it was, durable or not, and a later one that succeeds makes up for
/// it: file systems stop writing altogether when they cannot write their folders. Contents whose sync failed are
/// never durable.
#[derive(Clone, Default)]
pub struct Simulated {
    machine: Arc<Mutex<Machine>>,
}

#[derive(Default)]
struct Machine {
    disk: Disk,
    locked: bool,
    operations: u64,
    faults: BTreeMap<u64, Fault>,
    fault_from: Option<(u64, Fault)>,
    cut: Option<u64>,
}

impl Machine {
    /// Counts an operation. The fault that it has to fail with, if any.
    fn begin(&mut self) -> io::Result<Option<Fault>> {
        let number = self.operations;
        self.operations += 1;
        if self.cut.is_some_and(|cut| number >= cut) {
            return Err(io::Error::other(PowerCut));
        }
        let lasting = self.fault_from.filter(|&(from, _)| number >= from).map(|(_, fault)| fault);
        Ok(self.faults.get(&number).copied().or(lasting))
    }
}

impl Simulated {
    /// An empty folder on a machine that works.
    pub fn new() -> Simulated {
        Simulated::default()
    }

    /// How many operations there have been, failed ones included: the number of the next one.
    pub fn operations(&self) -> u64 {
        self.machine().operations
    }

    /// Makes operation `n` fail.
    pub fn fail_at(&self, n: u64, fault: Fault) {
        self.machine().faults.insert(n, fault);
    }

    /// Makes operation `n` and all later ones fail, but for those that [`Simulated::fail_at`] has another fault for.
    pub fn fail_from(&self, n: u64, fault: Fault) {
        self.machine().fault_from = Some((n, fault));
    }

    /// Takes the faults back that have not come yet, and ends those that last. Power does not come back.
    pub fn mend(&self) {
        let mut machine = self.machine();
        machine.faults.clear();
        machine.fault_from = None;
    }

    /// Cuts the power at operation `n`: it does nothing, and all from there on fail; [`is_power_cut`] knows the error.
    pub fn cut_at(&self, n: u64) {
        self.machine().cut = Some(n);
    }

    /// The folder as it may be found if the power goes now, on a new machine without faults, with the lock free. What
    /// is durable is there. Of what is not, contents survive in part, possibly torn, zeroed or turned to garbage by
    /// sectors, and names survive or not, each for itself; one that was removed may be back. The seed decides.
    pub fn after_power_cut(&self, seed: u64) -> Simulated {
        let disk = self.machine().disk.after_power_cut(&mut Dice::new(seed));
        Simulated { machine: Arc::new(Mutex::new(Machine { disk, ..Machine::default() })) }
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// `NotFound`, if there is no such file.
    pub fn contents(&self, name: &str) -> io::Result<Vec<u8>> {
        Ok(self.machine().disk.get(name)?.lock().bytes.clone())
    }

    /// Replaces the bytes of a file, under all its names, durably.
    ///
    /// # Errors
    /// `NotFound`, if there is no such file.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.machine().disk.get(name)?.lock().replace(bytes);
        Ok(())
    }

    /// Turns over one bit of a file, `bit` being 0 to 7, where it is; `UnexpectedEof` if the file ends before.
    ///
    /// # Errors
    /// `NotFound` and `UnexpectedEof`.
    pub fn flip(&self, name: &str, offset: u64, bit: u32) -> io::Result<()> {
        let contents = self.machine().disk.get(name)?;
        let mut body = contents.lock();
        let place = usize::try_from(offset).ok().and_then(|offset| body.bytes.get_mut(offset));
        *place.ok_or(io::ErrorKind::UnexpectedEof)? ^= 1 << (bit % 8);
        Ok(())
    }

    /// Cuts a file short; one that is no longer stays as it is.
    ///
    /// # Errors
    /// `NotFound`, if there is no such file.
    pub fn truncate(&self, name: &str, len: u64) -> io::Result<()> {
        self.machine().disk.get(name)?.lock().truncate(usize::try_from(len).unwrap_or(usize::MAX));
        Ok(())
    }

    fn machine(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An operation that does nothing when it fails.
    fn operation(&self) -> io::Result<MutexGuard<'_, Machine>> {
        let mut machine = self.machine();
        match machine.begin()? {
            Some(fault) => Err(fault.error()),
            None => Ok(machine),
        }
    }

    /// An operation that is done, or does nothing, when it fails.
    fn change<T>(&self, change: impl FnOnce(&mut Disk) -> io::Result<T>) -> io::Result<T> {
        let mut machine = self.machine();
        match machine.begin()? {
            None => change(&mut machine.disk),
            Some(Fault::LostAnswer) => {
                Err(change(&mut machine.disk).err().unwrap_or(Fault::LostAnswer.error()))
            }
            Some(fault) => Err(fault.error()),
        }
    }

    fn writer(&self, contents: &Arc<Contents>) -> Box<dyn FileWriter> {
        Box::new(SimulatedWriter { folder: self.clone(), contents: Arc::clone(contents), failed: false })
    }
}

/// All that it holds would fill the screen.
impl fmt::Debug for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulated").field("operations", &self.operations()).finish_non_exhaustive()
    }
}

impl Storage for Simulated {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.operation()?.disk.names())
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn FileWriter>> {
        let contents = Arc::new(Contents::new());
        self.change(|disk| check(name).and_then(|()| disk.add(name, Arc::clone(&contents))))?;
        Ok(self.writer(&contents))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        let machine = self.operation()?;
        check(name)?;
        let contents = machine.disk.get(name)?;
        Ok(Box::new(SimulatedReader { folder: self.clone(), contents }))
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.change(|disk| {
            check(from)?;
            check(to)?;
            let contents = disk.get(from)?;
            disk.add(to, contents)
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.change(|disk| check(name).and_then(|()| disk.remove(name)))
    }

    fn sync_names(&self) -> io::Result<()> {
        self.change(|disk| {
            disk.sync_names();
            Ok(())
        })
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        let mut machine = self.operation()?;
        if std::mem::replace(&mut machine.locked, true) {
            return Ok(None);
        }
        Ok(Some(Box::new(SimulatedLock { folder: self.clone() })))
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new("simulated").join(name)
    }
}

#[derive(Debug)]
struct SimulatedWriter {
    folder: Simulated,
    contents: Arc<Contents>,
    failed: bool,
}

impl SimulatedWriter {
    /// Counts an operation, which is refused if an earlier one of this writer failed.
    fn begin(&mut self) -> io::Result<Option<Fault>> {
        let fault = self.folder.machine().begin();
        if self.failed {
            return Err(failed_before());
        }
        self.failed = !matches!(fault, Ok(None));
        fault
    }
}

impl FileWriter for SimulatedWriter {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let fault = self.begin()?;
        let arrive = match fault {
            None | Some(Fault::LostAnswer) => bytes.len(),
            Some(Fault::ShortWrite) => bytes.len() / 2,
            Some(_) => 0,
        };
        self.contents.lock().bytes.extend_from_slice(&bytes[..arrive]);
        fault.map_or(Ok(()), |fault| Err(fault.error()))
    }

    fn sync(&mut self) -> io::Result<()> {
        let fault = self.begin()?;
        let mut body = self.contents.lock();
        match fault {
            None | Some(Fault::LostAnswer) => body.durable = body.bytes.len(),
            Some(Fault::FailedSync) => body.forget(),
            Some(_) => {}
        }
        fault.map_or(Ok(()), |fault| Err(fault.error()))
    }
}

#[derive(Debug)]
struct SimulatedReader {
    folder: Simulated,
    contents: Arc<Contents>,
}

impl Reader for SimulatedReader {
    fn len(&self) -> io::Result<u64> {
        drop(self.folder.operation()?);
        Ok(self.contents.lock().bytes.len() as u64)
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        drop(self.folder.operation()?);
        let body = self.contents.lock();
        let rest = usize::try_from(offset).ok().and_then(|offset| body.bytes.get(offset..)).unwrap_or(&[]);
        match rest.get(..bytes.len()) {
            Some(found) => bytes.copy_from_slice(found),
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        Ok(())
    }
}

#[derive(Debug)]
struct SimulatedLock {
    folder: Simulated,
}

impl Lock for SimulatedLock {}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        self.folder.machine().locked = false;
    }
}
