//! Ctrl-C: the first asks the run to stop and tidy up, and ends the program if that takes too long; the second ends it at once.

use std::io::{self, Write};
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use alike::error::{Error, Result};
use alike::progress::Progress;
use alike::scratch::remove_temporary_folders;

use crate::exit::INTERRUPTED;
use crate::terminal::launched;

/// How long a run may take to stop by itself.
const PATIENCE: Duration = Duration::from_millis(800);
/// Signals within so long are one: who ends a program may tell it, and then the group of processes that it is in.
const ONE: Duration = Duration::from_millis(250);
/// How long what it leaves may take to be removed. What is left of it goes with the next run.
const REMOVAL: Duration = Duration::from_millis(150);
/// How long a process may take whose launcher is gone.
const ORPHANED: Duration = Duration::from_secs(10);
/// How long somebody who reads what the program says may keep it from ending.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// Stops `progress` on the first interrupt, termination or hang-up from now on, and when `alike launch` has gone that
/// started this process. The program then ends within a second: what is not done with by then is left as a kill leaves it, which
/// harms no collection, and temporary folders are removed. A second one, a quarter of a second later or more, does not wait for anything:
/// what is left behind has a temporary name.
pub(crate) fn stop_on_interrupt(progress: Arc<Progress>) -> Result<()> {
    stop(progress, Some(PATIENCE))
}

/// The same, for a run that takes the time it needs to end in order.
#[cfg(feature = "serve")]
pub(crate) fn stop_in_order_on_interrupt(progress: Arc<Progress>) -> Result<()> {
    stop(progress, None)
}

fn stop(progress: Arc<Progress>, patience: Option<Duration>) -> Result<()> {
    let orphaned = Arc::clone(&progress);
    launched::when_launcher_goes(move || {
        orphaned.stop();
        end_after(ORPHANED);
    });
    let mut asked: Option<Instant> = None;
    #[expect(clippy::exit, reason = "whoever presses Ctrl-C twice wants no more of this program")]
    let handler = move || {
        // A run may be stopping for another reason.
        match asked {
            Some(first) if first.elapsed() < ONE => return,
            Some(_) => process::exit(i32::from(INTERRUPTED)),
            None => asked = Some(Instant::now()),
        }
        progress.stop();
        if let Some(patience) = patience {
            // Without the thread the run ends when it looks, as it mostly does long before.
            let _ = thread::Builder::new().name("patience".into()).spawn(move || end_after(patience));
        }
    };
    on_interrupt(handler)
}

/// Whether [`end_after`] ends the program at this moment.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Waits for the end of the program where that has come already: what fails then fails because its folders are gone.
pub(crate) fn wait_if_ending() {
    while ENDING.load(Ordering::SeqCst) {
        thread::park();
    }
}

/// Ends the program if it has not ended by then: what is not done with is left as a kill leaves it, but for temporary folders.
#[expect(clippy::exit, reason = "what has not stopped by now does not look whether it should")]
pub(crate) fn end_after(patience: Duration) {
    thread::sleep(patience);
    ENDING.store(true, Ordering::SeqCst);
    try_for(REMOVAL, remove_temporary_folders);
    try_for(LAST_WORDS, || {
        // Nobody may be reading.
        let _ = writeln!(io::stderr().lock(), "alike: error: interrupted");
    });
    process::exit(i32::from(INTERRUPTED));
}

/// Does something that may never end, on a thread that is left behind then.
fn try_for(longest: Duration, work: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel::<()>();
    let work = move || {
        work();
        drop(done);
    };
    if thread::Builder::new().spawn(work).is_ok() {
        // Either it is done, or not in time.
        let _ = is_done.recv_timeout(longest);
    }
}

/// Has `act` called at each interrupt, termination or hang-up from now on.
pub(crate) fn on_interrupt(act: impl FnMut() + Send + 'static) -> Result<()> {
    ctrlc::set_handler(act).map_err(|error| {
        let source = match error {
            ctrlc::Error::System(source) => source,
            other => io::Error::other(other),
        };
        Error::io(Path::new("Ctrl-C"), "install a handler", source)
    })
}

/// Sees to it that writing beyond the largest file that the system allows fails, as on a full disk: by itself it would end the
/// program without a word.
pub(crate) fn beyond_limits_is_an_error() -> io::Result<()> {
    #[cfg(unix)]
    signal_hook::flag::register(rustix::process::Signal::XFSZ.as_raw(), Arc::default())?;
    Ok(())
}

/// How often a wait looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(5);

/// What `work` gives, done on a thread that is left behind if `progress` is stopped meanwhile: it may wait for ever. `what`
/// is what it is called if it panics.
pub(crate) fn unless_stopped<T: Send + 'static>(
    progress: &Progress,
    what: &str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (send, done) = mpsc::channel();
    // Nobody waits for the answer any more after Ctrl-C.
    thread::spawn(move || drop(send.send(work())));
    loop {
        match done.recv_timeout(LOOK) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Timeout) => progress.check()?,
            Err(RecvTimeoutError::Disconnected) => return Err(Error::Worker(format!("{what} panicked"))),
        }
    }
}
