//! What `dedup` shows on a terminal when it ends: a histogram and three pairs. Pipes, `--quiet` and JSON have nothing of it.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::program::Dir;
use crate::support::texts::{line, words};

/// What a run of `alike` with this line writes to a terminal.
fn on_terminal(dir: &Dir, line: &str, variable: Option<&str>) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = || {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NOCTTY.bits() as i32;
        OpenOptions::new().read(true).write(true).custom_flags(flags).open(&name).unwrap()
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_alike"));
    command.args(line.split(' ')).current_dir(dir.path()).stdin(Stdio::null()).stdout(Stdio::null());
    command.env_remove("NO_COLOR").envs(variable.map(|name| (name, "1"))).stderr(theirs());
    // A terminal that nobody has open ends what is read from it.
    let open = theirs();
    let reader = thread::spawn(move || {
        let (mut all, mut some) = (Vec::new(), [0; 4096]);
        let mut ours = File::from(ours);
        while let Ok(count @ 1..) = ours.read(&mut some) {
            all.extend_from_slice(&some[..count]);
        }
        String::from_utf8(all).unwrap().replace("\r\n", "\n")
    });
    let status = command.status().unwrap();
    drop((command, open));
    let text = reader.join().unwrap();
    assert!(status.success(), "{line}: {text}");
    text
}

/// A text, the same again, and seven of which each has more other words at its end.
fn near_copies() -> String {
    let text = |other: usize| format!("{} {}", words(0, 100 - other), words(1000 * other, other));
    let copies = (0..8).map(|other| line(&format!("d{other}"), &text(other)));
    line("first", &text(0)) + &copies.collect::<String>()
}

#[test]
fn a_histogram_and_three_pairs() {
    let dir = Dir::new();
    dir.write("in.jsonl", near_copies());
    let shown = on_terminal(&dir, "dedup in.jsonl --dry-run --threshold 0.8", None);
    let (_, looked) = shown.split_once("Removed documents by resemblance").unwrap();
    // 96 shingles of 5 words; of d7 89 are of both, and 7 of one only, twice.
    assert!(looked.contains("  same  1  "), "{looked}");
    let counts = looked.lines().filter_map(|line| line.strip_prefix("  0."));
    let counts = counts.filter_map(|row| row.split_whitespace().nth(1)?.parse::<u64>().ok());
    assert_eq!(counts.sum::<u64>(), 7, "{looked}");
    assert!(looked.contains("d7 is removed, first stays"), "{looked}");
    assert!(looked.contains("\x1b[31m[-w93") && looked.contains("\x1b[32m{+w7000"), "{looked}");
    let plain = on_terminal(&dir, "dedup in.jsonl --dry-run", Some("NO_COLOR"));
    let (_, looked) = plain.split_once("Removed documents by resemblance").unwrap();
    assert!(looked.contains("[-w93") && !looked.contains("\x1b[3"), "{looked}");
}

#[test]
fn who_does_not_look_is_shown_nothing() {
    let dir = Dir::new();
    dir.write("in.jsonl", near_copies());
    for flags in ["--quiet", "--json-progress"] {
        let shown = on_terminal(&dir, &format!("dedup in.jsonl --dry-run {flags}"), None);
        assert!(!shown.contains("Removed documents"), "{flags}: {shown}");
    }
    let ran = dir.dedup("in.jsonl --dry-run").ok();
    assert!(ran.stderr.contains("would remove 8") && !ran.stderr.contains("Removed documents"));
}

/// Nothing was removed, or by a method that counts: no histogram, and no pair of which nothing is known.
#[test]
fn there_may_be_nothing_to_show() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("1", &words(0, 50)) + &line("2", &words(100, 50)));
    let shown = on_terminal(&dir, "dedup in.jsonl --dry-run", None);
    assert!(!shown.contains("Removed documents"), "{shown}");
}
