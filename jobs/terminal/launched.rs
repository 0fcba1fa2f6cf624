//! Being a child of `alike launch`: what a process does differently then, and how it notices that the launcher is gone.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read};
use std::thread;

use crate::environment::{LAUNCHED, TERMINAL, environment};

fn told() -> Option<OsString> {
    environment(LAUNCHED)
}

/// Whether this process is a child of `alike launch`.
pub(crate) fn launched() -> bool {
    told().is_some()
}

/// Whether standard output is a terminal in the end.
pub(crate) fn on_terminal() -> bool {
    told().map_or_else(|| io::stdout().is_terminal(), |goes| goes == TERMINAL)
}

/// In a child of `alike launch`: does something when standard input closes. From now on nothing else may read standard input.
pub(crate) fn when_launcher_goes(act: impl FnOnce() + Send + 'static) {
    if !launched() {
        return;
    }
    let watch = move || {
        drain(&mut io::stdin().lock());
        act();
    };
    // Without the thread a lost launcher goes unnoticed, as it does without a launcher.
    let _ = thread::Builder::new().name("lifeline".into()).spawn(watch);
}

/// Reads until there will be no more.
fn drain(input: &mut impl Read) {
    let mut passed = [0; 256];
    loop {
        match input.read(&mut passed) {
            Ok(0) => return,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    struct Slow(VecDeque<io::Result<usize>>);

    impl Read for Slow {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            self.0.pop_front().expect("read on after the end")
        }
    }

    #[test]
    fn only_an_end_ends_it() {
        let interrupted = || Err(io::Error::from(io::ErrorKind::Interrupted));
        let mut input = Slow([Ok(256), interrupted(), Ok(1), Ok(0)].into());
        drain(&mut input);
        assert!(input.0.is_empty());
        let mut input = Slow([Ok(3), Err(io::Error::other("gone"))].into());
        drain(&mut input);
        assert!(input.0.is_empty());
    }
}
