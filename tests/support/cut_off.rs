//! Runs of the program that are cut off: started, watched, and sent a signal.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::program::Dir;

/// Starts `alike` in a folder with the arguments of `line`, split at spaces.
pub(crate) fn start(dir: &Dir, line: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_alike"))
        .args(line.split_whitespace())
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until a load of the collection `c` has made its checkpoint of an epoch, or of a later one. What a checkpoint holds is
/// whole when the next one is begun.
pub(crate) fn until_epoch(dir: &Dir, child: &mut Child, least: usize) {
    let epoch = |name: &str| name.strip_prefix("checkpoint-")?.split('-').nth(1)?.parse::<usize>().ok();
    let began = Instant::now();
    loop {
        let entries = fs::read_dir(dir.join("c")).into_iter().flatten().filter_map(Result::ok);
        let epochs = entries.filter_map(|entry| epoch(&entry.file_name().to_string_lossy()));
        if epochs.max().is_some_and(|epoch| epoch >= least) {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "no checkpoint of epoch {least}");
        assert!(child.try_wait().unwrap().is_none(), "it was done before it could be cut off");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Sends SIGINT, as Ctrl-C does.
#[cfg(unix)]
pub(crate) fn interrupt(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
}
