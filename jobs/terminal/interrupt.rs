//! Ctrl-C: the first asks the run to stop and tidy up, the second ends the program at once.

use std::io;
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use alike::error::{Error, Result};
use alike::progress::Progress;

use crate::exit::INTERRUPTED;
use crate::terminal::launched;

/// Stops `progress` on the first interrupt, termination or hang-up from now on, and when `alike launch` has gone that
/// started this process. A second one does not wait: what is left behind has a temporary name.
pub(crate) fn stop_on_interrupt(progress: Arc<Progress>) -> Result<()> {
    launched::stop_with_launcher(Arc::clone(&progress));
    let mut asked = false;
    #[expect(clippy::exit, reason = "whoever presses Ctrl-C twice wants no more of this program")]
    let handler = move || {
        // A run may be stopping for another reason.
        if asked {
            process::exit(i32::from(INTERRUPTED));
        }
        asked = true;
        progress.stop();
    };
    on_interrupt(handler)
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
