//! `alike launch`: what processes are given, what they say, and how all end. Other machines are played by a script
//! in the place of ssh.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use crate::support::program::{Dir, Ran};
use crate::support::texts::{line, words};

/// In the place of ssh: notes its own id and arguments, and gives the command to a shell.
const FAKE_SSH: &str =
    "#!/bin/sh\necho $$ >> ssh.pids\necho \"$1 $2\" >> ssh.hosts\nshift 2\nexec sh -c \"$1\"\n";

/// Records of which the second is a near-copy of the first.
fn records() -> String {
    let texts = [words(0, 100), words(2, 100), words(1000, 100)];
    ["a", "b", "c"].iter().zip(texts).map(|(id, text)| line(id, &text)).collect()
}

/// A folder with records, hosts, a secret and the place of ssh.
fn bench() -> Dir {
    let dir = Dir::new();
    dir.write("in.jsonl", records());
    dir.write("hosts", "# three\nnode-a:2101\nnode-b:2101\n[fd00::3]:2101\n");
    dir.write("secret", "nobody knows this one\n");
    dir.write("fake-ssh", FAKE_SSH);
    mode(&dir.join("secret"), 0o600);
    mode(&dir.join("fake-ssh"), 0o755);
    dir
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Launches three processes of a shell script in the place of alike, on machines that are played.
fn played(dir: &Dir, script: &str) -> Ran {
    dir.write("program", format!("#!/bin/sh\n{script}"));
    mode(&dir.join("program"), 0o755);
    let program = dir.join("program");
    let line = format!(
        "launch --hosts hosts --ssh --ssh-command ./fake-ssh --program {} --secret-file secret -- load c in.jsonl",
        program.display()
    );
    dir.alike(&line, None)
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn one_process_is_as_without_a_launcher() {
    let dir = bench();
    let alone = dir.output("in.jsonl", "alone");
    let ran = dir.alike("launch -n 1 -- dedup in.jsonl --out launched", None).ok();
    assert!(ran.stderr.contains("[0] removed 1 of 3 documents"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("\"event\""), "progress is drawn or nothing: {}", ran.stderr);
    assert_eq!(crate::support::output::Output::read(&dir.join("launched")).duplicates, alone.duplicates);

    // Data is passed through unchanged, and is data where the launcher's standard output is none.
    dir.alike("load c in.jsonl", None).ok();
    let clusters = dir.alike("recluster c", None).ok().stdout;
    dir.write("one", "localhost:2101\n");
    let ran = dir.alike("launch -q --hosts one -- recluster c", None).ok();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (clusters.as_str(), ""));
    assert!(clusters.starts_with('{'));

    let ran = dir.alike("launch --json-progress -n 1 -- dedup in.jsonl --out json", None).ok();
    let lines: Vec<Value> = ran.stderr.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let (last, steps) = lines.split_last().unwrap();
    assert_eq!(last["summary"]["removed"], 1);
    assert!(
        steps.iter().all(|step| step["event"].is_string() && step["stage"].is_string()),
        "{}",
        ran.stderr
    );
}

#[test]
fn every_process_speaks_with_its_index() {
    let dir = bench();
    let ran = dir.alike("launch -n 2 -- dedup nowhere.jsonl --out out", None);
    assert!(ran.code.is_some_and(|code| code > 0), "{ran:?}");
    assert!(ran.stderr.contains("[0] alike: error: nowhere.jsonl"), "{}", ran.stderr);
    // Why process 0 gave up is told by process 0; what others say for themselves, by these.
    assert_eq!(ran.stderr.matches("no such file").count(), 1, "{}", ran.stderr);
    let ran = dir.alike("launch -n 3 -- dedup in.jsonl --threshold 7 --out out", None).code(2);
    assert_eq!(ran.stderr.matches("alike: error: ").count(), 1, "{}", ran.stderr);
    let script = "echo \"alike: error: $((ALIKE_PROCESS / 2))\" >&2; exit 3\n";
    let ran = played(&dir, script).code(3);
    let mut errors = sorted(&ran.stderr);
    errors.retain(|line| line.contains("error"));
    assert_eq!(errors, ["[0] alike: error: 0", "[2] alike: error: 1"]);
    assert!(!dir.join("out").exists());
}

#[test]
fn wrong_use_is_refused_before_anything_starts() {
    let dir = bench();
    for (line, part) in [
        ("launch -n 2 -- presets", "alike presets does not run as many processes"),
        ("launch -n 2 -- info c", "alike info does not run as many processes"),
        ("launch -- load c in.jsonl", "--hosts FILE"),
        ("launch --hosts nowhere -- load c in.jsonl", "nowhere"),
        ("launch --hosts hosts -n 4 -- load c in.jsonl", "has 3 addresses only"),
        ("launch --hosts hosts --ssh -- load c in.jsonl", "--secret-file"),
        ("launch -n 2 -- load c -", "standard input"),
        ("launch -n 2 -- load c in.jsonl -p 1", "in front"),
        ("launch -n 2 --ssh -- load c in.jsonl", "--hosts"),
        ("launch -n 2", "SUBCOMMAND"),
        ("launch -n 2 --workdir nowhere -- load c in.jsonl", "--workdir nowhere: is no folder"),
    ] {
        let ran = dir.alike(line, None).says(part);
        // A file that cannot be read is no wrong use.
        assert_eq!(ran.code, Some(if line.contains("--hosts nowhere") { 1 } else { 2 }), "{ran:?}");
    }
    dir.write("lines", "a secret of\ntwo lines");
    mode(&dir.join("lines"), 0o600);
    dir.alike("launch -n 2 --secret-file lines -- load c in.jsonl", None).code(2).says("several lines");
    mode(&dir.join("secret"), 0o640);
    dir.alike("launch -n 2 --secret-file secret -- load c in.jsonl", None).code(2).says("chmod 600");
    assert!(!dir.join("c").exists());
}

/// The process of that address would try it for ten seconds, and the others wait.
#[test]
fn a_taken_address_is_refused_at_once() {
    let dir = bench();
    let [taken, other] = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let [address, free] = [&taken, &other].map(|listener| listener.local_addr().unwrap());
    drop(other);
    for hosts in [format!("{address}\n{free}\n"), format!("{free}\n{address}\n")] {
        dir.write("two", hosts);
        let begun = std::time::Instant::now();
        let ran = dir.alike("launch --hosts two -- dedup in.jsonl --out out", None).code(2);
        ran.says(&format!("cannot listen on {address}"));
        assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    }
}

#[test]
fn all_are_told_the_same_but_for_the_index() {
    let dir = bench();
    let script = "IFS= read -r secret\n\
         echo \"$ALIKE_PROCESS of $ALIKE_PROCESSES at $ALIKE_ADDRESSES from $ALIKE_SECRET_FILE: $secret; $*\"\n\
         echo \"said by $ALIKE_PROCESS in $(pwd)\" >&2\n";
    let ran = played(&dir, script).ok();
    let told = |index| {
        format!(
            "{index} of 3 at node-a:2101,node-b:2101,[fd00::3]:2101 from -: nobody knows this one; load c in.jsonl"
        )
    };
    assert_eq!(ran.stdout, format!("{}\n", told(0)), "what process 0 writes is data");
    let folder = fs::canonicalize(dir.path()).unwrap();
    let mut expected: Vec<String> =
        (0..3).map(|i| format!("[{i}] said by {i} in {}", folder.display())).collect();
    expected.extend((1..3).map(|i| format!("[{i}] {}", told(i))));
    expected.sort_unstable();
    assert_eq!(sorted(&ran.stderr), expected);
    let hosts = fs::read_to_string(dir.join("ssh.hosts")).unwrap();
    assert_eq!(sorted(&hosts), ["fd00::3 --", "node-a --", "node-b --"]);
}

#[test]
fn the_worst_that_failed_by_itself_is_the_exit_code() {
    let dir = bench();
    let script =
        "case $ALIKE_PROCESS in 1) echo 'no \u{1b}[2Jroom' >&2; exit 3;; *) sleep 0.3; exit 5;; esac\n";
    let ran = played(&dir, script).code(3).says("alike: launch: process 1 ended with 3");
    assert!(ran.stderr.contains("[1] no \\u{1b}[2Jroom"), "{}", ran.stderr);
    played(&dir, "exit 5\n").code(5);
    played(&dir, "kill -9 $$\n").code(137);
}

#[test]
fn a_slow_reader_gets_all_that_process_0_wrote() {
    let dir = bench();
    // More than a pipe holds, so that some of it is still on its way when the process has ended.
    dir.write("program", "#!/bin/sh\n[ $ALIKE_PROCESS = 0 ] && head -c 100000 /dev/zero\nexit 0\n");
    mode(&dir.join("program"), 0o755);
    let mut launcher = launcher(&dir);
    until("all are started", || lines_of(&dir, "ssh.pids") == 3);
    thread::sleep(Duration::from_secs(2));
    let mut data = Vec::new();
    launcher.stdout.take().unwrap().read_to_end(&mut data).unwrap();
    assert_eq!(data.len(), 100_000);
    assert_eq!(launcher.wait().unwrap().code(), Some(0));
}

/// Waits until something is so.
#[track_caller]
fn until(what: &str, so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "still not: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A launcher of three processes that wait until their standard input closes.
fn waiting(dir: &Dir) -> Child {
    dir.write("program", "#!/bin/sh\ncat >/dev/null\necho $ALIKE_PROCESS >> ended\nexit 130\n");
    mode(&dir.join("program"), 0o755);
    launcher(dir)
}

/// A launcher of three processes of the script that stands in the place of alike.
fn launcher(dir: &Dir) -> Child {
    Command::new(env!("CARGO_BIN_EXE_alike"))
        .args("launch --hosts hosts --ssh --ssh-command ./fake-ssh --insecure --program".split(' '))
        .arg(dir.join("program"))
        .args(["--", "load", "c", "in.jsonl"])
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn lines_of(dir: &Dir, name: &str) -> usize {
    fs::read_to_string(dir.join(name)).map_or(0, |text| text.lines().count())
}

#[test]
fn ctrl_c_and_termination_end_all_in_order() {
    for signal in [Signal::INT, Signal::TERM] {
        let dir = bench();
        let launcher = waiting(&dir);
        until("all are started", || lines_of(&dir, "ssh.pids") == 3);
        kill_process(Pid::from_child(&launcher), signal).unwrap();
        let output = launcher.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        assert_eq!(lines_of(&dir, "ended"), 3);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("interrupted; waiting"), "{stderr}");
    }
}

#[test]
fn no_process_outlives_a_launcher_that_is_killed() {
    let dir = bench();
    let mut launcher = waiting(&dir);
    until("all are started", || lines_of(&dir, "ssh.pids") == 3);
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    until("all have ended", || lines_of(&dir, "ended") == 3);
    let pids = fs::read_to_string(dir.join("ssh.pids")).unwrap();
    for pid in pids.lines().map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap()) {
        until("it is gone", || test_kill_process(pid).is_err());
    }
}

#[test]
fn a_launched_process_ends_when_its_input_closes() {
    let dir = bench();
    let output = Command::new(env!("CARGO_BIN_EXE_alike"))
        .args(["dedup", "in.jsonl", "--out", "out", "-w", "1"])
        .env("ALIKE_LAUNCHED", "pipe")
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted") && !dir.join("out").exists(), "{stderr}");
}
