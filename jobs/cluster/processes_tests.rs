//! What options and variables come to, and which of them contradict each other.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs;

use clap::Parser;

use super::*;
use crate::cli::Cli;
use crate::environment::{SECRET, SECRET_FILE};

/// A secret that is long enough.
const GOOD: (&str, &str) = (SECRET, "0123456789abcdef");

/// What `alike load c in FLAGS` comes to in an environment.
fn member(flags: &str, environment: &[(&str, &str)]) -> Result<Option<JobMember>> {
    let line = ["alike", "load", "c", "in"].into_iter().chain(flags.split_whitespace());
    let cli = Cli::try_parse_from(line).expect("a line that clap accepts");
    let variables = |name: &str| {
        let found = environment.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| OsString::from(value)).filter(|value| !value.is_empty())
    };
    let warned = RefCell::new(Vec::new());
    let args = cli.command.processes().expect("load has processes");
    let member = JobMember::new(args, &variables, &|line| warned.borrow_mut().push(line.to_owned()));
    assert!(warned.borrow().is_empty(), "{warned:?}");
    member
}

fn good(flags: &str, environment: &[(&str, &str)]) -> JobMember {
    let member = member(flags, environment).unwrap_or_else(|e| panic!("{flags} {environment:?}: {e}"));
    member.unwrap_or_else(|| panic!("{flags} {environment:?}: one process"))
}

#[track_caller]
fn refused(flags: &str, environment: &[(&str, &str)], parts: &[&str]) {
    match member(flags, environment) {
        Err(Error::Config(message)) => {
            assert!(parts.iter().all(|part| message.contains(part)), "{flags} {environment:?}: {message}");
        }
        other => panic!("{flags} {environment:?}: expected a refusal, got {other:?}"),
    }
}

/// A file with this text, and its path.
fn file(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hosts");
    fs::write(&path, text).expect("written");
    let path = path.to_str().expect("UTF-8").to_owned();
    (folder, path)
}

#[test]
fn without_any_of_it_there_is_one_process() {
    assert_eq!(member("", &[]).expect("fine"), None);
    // A batch system numbers the tasks of any command.
    let batch = [("SLURM_PROCID", "7"), ("JOB_COMPLETION_INDEX", "x")];
    assert_eq!(member("", &batch).expect("fine"), None);
    // So may a secret lie there for other commands.
    assert_eq!(member("", &[GOOD]).expect("fine"), None);
    for flags in ["-n 1", "-n 1 -p 0", "-n 1 --insecure", "-n 1 --peer-timeout 5"] {
        assert_eq!(member(flags, &[]).expect("fine"), None, "{flags}");
    }
    let empty = [(HOSTS, ""), (PROCESSES, ""), (PROCESS, ""), (SECRET_FILE, ""), (SECRET, "")];
    assert_eq!(member("", &empty).expect("fine"), None);
}

#[test]
fn without_a_file_processes_are_on_this_machine() {
    let found = good("-n 3 -p 2", &[GOOD]);
    let expected = JobMember {
        listen: None,
        hosts: ["localhost:2101", "localhost:2102", "localhost:2103"].map(str::to_owned).to_vec(),
        process: 2,
        secret: Some(b"0123456789abcdef".to_vec()),
        encrypted: false,
        join_timeout: Duration::from_secs(60),
        peer_timeout: Duration::from_secs(30),
    };
    assert_eq!(found, expected);
    assert!(!format!("{found:?}").contains("48, 49"), "the secret is not shown: {found:?}");
    let found = good("-n 2 -p 0 --insecure --join-timeout 1 --peer-timeout 2", &[]);
    let seconds = |count| Duration::from_secs(count);
    assert_eq!((found.secret, found.join_timeout, found.peer_timeout), (None, seconds(1), seconds(2)));
}

#[test]
fn what_leaves_the_machine_is_encrypted() {
    let (_folder, far) = file("localhost:1\nb.example.org:2\n");
    let (_other, near) = file("localhost:1\n127.0.0.9:2\n[::1]:3\n");
    let encrypted = |flags: &str| good(flags, &[GOOD]).encrypted;
    assert!(encrypted(&format!("--hosts {far} -p 1")) && !encrypted(&format!("--hosts {near} -p 1")));
    assert!(
        encrypted("-n 2 -p 0 --encryption on") && !encrypted(&format!("--hosts {far} -p 1 --encryption off"))
    );
    assert!(!good(&format!("--hosts {far} -p 1 --insecure"), &[]).encrypted);
    refused("-n 2 -p 0 --insecure --encryption on", &[], &["--encryption on", "--secret-file"]);
    refused("--encryption off", &[], &["--encryption"]);
}

#[test]
fn a_file_has_an_address_a_line() {
    let (_folder, path) = file("# all of them\n\n  a:1 # the first\nb.example.org:65535\r\n[fd00::1]:2101\n");
    let found = good(&format!("--hosts {path} -p 1"), &[GOOD]);
    assert_eq!(found.hosts, ["a:1", "b.example.org:65535", "[fd00::1]:2101"]);
    // The first ones of a longer file.
    assert_eq!(good(&format!("--hosts {path} -n 2 -p 1"), &[GOOD]).hosts.len(), 2);
    assert_eq!(member(&format!("--hosts {path} -n 1"), &[]).expect("fine"), None);
    let none = format!("{path}.none");
    assert!(matches!(member(&format!("--hosts {none} -p 0"), &[]), Err(Error::Io { .. })));
}

#[test]
fn the_environment_says_it_as_well_and_flags_go_before_it() {
    let (_folder, path) = file("a:1\nb:1\nc:1\n");
    let all = [(HOSTS, path.as_str()), (PROCESSES, "2"), (PROCESS, "1"), GOOD];
    let found = good("", &all);
    assert_eq!((found.hosts.len(), found.process), (2, 1));
    let found = good("-n 3 -p 2", &all);
    assert_eq!((found.hosts.len(), found.process), (3, 2));
    let found = good("", &[(ADDRESSES, "a:1,b:1"), (PROCESS, "1"), GOOD]);
    assert_eq!(found.hosts, ["a:1", "b:1"]);
    // A file that is named goes before what is set.
    let found = good(&format!("--hosts {path}"), &[(ADDRESSES, "x:1"), (PROCESS, "1"), GOOD]);
    assert_eq!(found.hosts, ["a:1", "b:1", "c:1"]);
    refused("", &[(ADDRESSES, "a:1"), (HOSTS, "f")], &[ADDRESSES, HOSTS]);
}

#[test]
fn batch_systems_give_the_index() {
    let slurm = ("SLURM_PROCID", "2");
    let kubernetes = ("JOB_COMPLETION_INDEX", "1");
    assert_eq!(good("-n 3", &[slurm, GOOD]).process, 2);
    assert_eq!(good("-n 3", &[kubernetes, GOOD]).process, 1);
    assert_eq!(good("-n 3", &[slurm, kubernetes, (PROCESS, "0"), GOOD]).process, 0);
    assert_eq!(good("-n 3 -p 1", &[slurm, GOOD]).process, 1);
    refused("-n 2", &[slurm], &["SLURM_PROCID 2", "0 to 1"]);
    refused("-n 3", &[("SLURM_PROCID", "two")], &["SLURM_PROCID=two", "number"]);
}

#[test]
fn contradictions_are_refused() {
    refused("-p 1", &[], &["-p", "--hosts", "-n"]);
    refused("", &[(PROCESS, "1")], &[PROCESS, "--hosts"]);
    refused("--insecure", &[], &["--insecure", "-n"]);
    refused("--secret-file s", &[], &["--secret-file"]);
    refused("--peer-timeout 9", &[], &["--peer-timeout"]);
    refused("-n 3 -p 3", &[GOOD], &["-p 3", "0 to 2"]);
    refused("-n 3", &[GOOD], &["which of the 3", "-p", PROCESS, "alike launch"]);
    for flags in ["-n 0", "-n 257"] {
        refused(flags, &[], &[flags, "1 to 256"]);
    }
    refused("", &[(PROCESSES, "-1")], &["ALIKE_PROCESSES=-1"]);
    refused("-n 2 -p 0", &[], &["need a secret", "--secret-file", "--insecure"]);
    refused("-n 2 -p 0 --insecure", &[GOOD], &["--insecure", SECRET]);
    refused("-n 2 -p 0", &[GOOD, (SECRET_FILE, "f")], &[SECRET, SECRET_FILE]);
    refused("-n 2 -p 0", &[(SECRET, "short")], &[SECRET, "16"]);
    refused("-n 2 -p 0 --insecure --peer-timeout 1", &[], &["--peer-timeout 1", "2 to"]);
    refused("-n 2 -p 0 --insecure --join-timeout 0", &[], &["--join-timeout 0"]);
    refused("-n 2 -p 0 --insecure --join-timeout 99999999", &[], &["86400"]);
}

#[test]
fn a_file_of_hosts_that_will_not_do_is_refused_with_the_line() {
    for (text, parts) in [
        ("", ["no address", "host:2101"]),
        ("# nothing\n\n", ["no address", "host:2101"]),
        ("a:1\nb\n", [":2: b", "no port"]),
        ("a:0\n", [":1: a:0", "host:port"]),
        ("a:65536\n", [":1: a:65536", "host:port"]),
        (":1\n", [":1: :1", "host:port"]),
        ("a b:1\n", [":1: a b:1", "host:port"]),
        ("-oProxyCommand=x:1\n", [":1: -o", "host:port"]),
        ("fd00::1:2101\n", [":1: fd00", "[fd00::1]:2101"]),
        ("a:1\n\nA:1\n", [":3: A:1", ":1 already"]),
    ] {
        let (_folder, path) = file(text);
        refused(&format!("--hosts {path} -p 0"), &[GOOD], &parts);
    }
    let (_folder, path) = file("a:1\nb:1\n");
    refused(&format!("--hosts {path} -n 3 -p 0"), &[GOOD], &["-n 3", "2 addresses"]);
}
