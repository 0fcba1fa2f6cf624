//! Waiting for a collection that another process writes to.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use alike::error::{Error, Result};
use alike::printable::counted;
use alike::progress::Progress;

use crate::cli::common::{TalkArgs, WaitArgs};
use crate::terminal::stderr::tell;

/// The file of a collection that its writer has locked.
const LOCK: &str = "lock";
/// How often it is looked whether the other one has ended.
const AGAIN: Duration = Duration::from_millis(200);
/// Most seconds that are waited.
const MOST: u64 = 365 * 24 * 60 * 60;

/// Does what needs the lock of a collection, and does it again while another process has the lock, as long as was asked for.
/// Says once who that is.
pub(crate) fn patiently<T>(
    wait: WaitArgs,
    talk: &TalkArgs,
    progress: &Progress,
    mut work: impl FnMut() -> Result<T>,
) -> Result<T> {
    let seconds = wait.wait.unwrap_or(0).min(MOST);
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut told = talk.quiet || talk.json_progress;
    loop {
        match work() {
            Err(Error::Locked(path)) if Instant::now() < until => {
                if !told {
                    let who = holder(&path.join(LOCK)).unwrap_or_else(|| "another process".to_owned());
                    tell(&format!(
                        "{}: {who} is writing to it; waiting up to {}",
                        path.display(),
                        counted(seconds, "second")
                    ));
                    told = true;
                }
                progress.check()?;
                thread::sleep(AGAIN.min(until.saturating_duration_since(Instant::now())));
            }
            done => return done,
        }
    }
}

/// The process that has locked a file, with its command line, where the system tells: it is one of this machine, and whoever
/// asks may know.
fn holder(lock: &Path) -> Option<String> {
    let inode = fs::metadata(lock).ok()?.ino();
    let process = locker(&fs::read_to_string("/proc/locks").ok()?, inode)?;
    let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).trim_end_matches('\0').replace('\0', " ");
    Some(match command.is_empty() {
        true => format!("process {process}"),
        false => format!("process {process} ({command})"),
    })
}

/// The process that holds the lock of an inode in the system's list of locks.
fn locker(locks: &str, inode: u64) -> Option<u32> {
    let of = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", process, file, ..] = words[..] else { return None };
        let same = file.rsplit(':').next()?.parse() == Ok(inode);
        process.parse().ok().filter(|process| same && *process > 0)
    };
    locks.lines().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_found_in_the_list_of_the_system() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 08:01:77 0 EOF\n2: FLOCK  ADVISORY  WRITE 4711 08:01:77 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 5 08:01:78 0 EOF\n3: FLOCK  ADVISORY  WRITE 12 08:01:79 0 EOF\n";
        assert_eq!((locker(locks, 77), locker(locks, 78), locker(locks, 79)), (Some(4711), None, Some(12)));
        assert_eq!(locker("", 1), None);
    }

    #[test]
    fn nobody_waits_longer_than_was_asked_for() {
        let (quiet, progress) = (TalkArgs { quiet: true, ..TalkArgs::default() }, Progress::default());
        let locked = |times: u32, wait| {
            let mut asked = 0;
            patiently(WaitArgs { wait }, &quiet, &progress, || {
                asked += 1;
                if asked <= times { Err(Error::Locked("c".into())) } else { Ok(asked) }
            })
        };
        assert!(matches!(locked(1, None), Err(Error::Locked(_))));
        assert!(matches!(locked(1, Some(60)), Ok(2)));
        assert!(matches!(locked(1000, Some(1)), Err(Error::Locked(_))));
        progress.stop();
        assert!(matches!(locked(1000, Some(60)), Err(Error::Interrupted)));
    }
}
