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
    let data = fs::metadata(lock).ok()?;
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // Files of other devices may have that inode, too. What a process of somebody else has open is not told: then the device counts
    // that the list names, which some file systems have another name for.
    let device = device(data.dev());
    let holds = |(process, at): &(u32, &str)| has_open(*process, &data).unwrap_or(*at == device);
    let process = lockers(&locks, data.ino()).find(holds)?.0;
    let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).trim_end_matches('\0').replace('\0', " ");
    Some(match command.is_empty() {
        true => format!("process {process}"),
        false => format!("process {process} ({command})"),
    })
}

/// The processes that hold the lock of an inode of any device, in the system's list of locks, each with the device.
fn lockers(locks: &str, inode: u64) -> impl Iterator<Item = (u32, &str)> {
    let of = move |line| {
        let words: Vec<&str> = str::split_whitespace(line).collect();
        let [_, "FLOCK", _, "WRITE", process, file, ..] = words[..] else { return None };
        let (device, file) = file.rsplit_once(':')?;
        let process: u32 = process.parse().ok().filter(|process| *process > 0)?;
        (file.parse() == Ok(inode)).then_some((process, device))
    };
    locks.lines().filter_map(of)
}

/// A device as that list names it: the major and the minor number of Linux.
fn device(number: u64) -> String {
    let (major, minor) =
        ((number >> 8 & 0xfff) | (number >> 32 & !0xfff), (number & 0xff) | (number >> 12 & 0xf_ff00));
    format!("{major:02x}:{minor:02x}")
}

/// Whether a process has a file open; `None` if that may not be known.
fn has_open(process: u32, file: &fs::Metadata) -> Option<bool> {
    let open = fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten();
    let mut open = open.filter_map(|open| fs::metadata(open.path()).ok());
    Some(open.any(|open| (open.dev(), open.ino()) == (file.dev(), file.ino())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_found_in_the_list_of_the_system() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 08:01:77 0 EOF\n2: FLOCK  ADVISORY  WRITE 4711 08:01:77 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 5 08:01:78 0 EOF\n3: FLOCK  ADVISORY  WRITE 12 08:01:79 0 EOF\n";
        let found = |inode| lockers(locks, inode).collect::<Vec<_>>();
        assert_eq!((found(77), found(78), found(79)), (vec![(4711, "08:01")], vec![], vec![(12, "08:01")]));
        assert_eq!((device(0x801), device(0xfe00)), ("08:01".to_owned(), "fe:00".to_owned()));
        let folder = tempfile::tempdir().expect("a folder");
        let of = |name| fs::File::create_new(folder.path().join(name)).expect("created");
        let (open, closed) = (of("a"), of("b").metadata().expect("known"));
        let me = std::process::id();
        let known = [open.metadata().expect("known"), closed].map(|file| has_open(me, &file));
        assert_eq!(
            (known, has_open(u32::MAX, &open.metadata().expect("known"))),
            ([Some(true), Some(false)], None)
        );
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
