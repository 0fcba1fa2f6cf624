//! Outputs in object stores: the same files as in a folder, all of them or none, whatever goes wrong.

use std::collections::BTreeMap;
use std::fs;

use rustix::process::Signal;

use crate::support::job::{Process, all, command};
use crate::support::meeting::free;
use crate::support::outputs::{assert_same, written};
use crate::support::program::{Dir, Ran};
use crate::support::server::Server;
use crate::support::texts::line;
use crate::support::uploads::WriteFault;

/// A folder of inputs of which one is kept in more than two parts of an upload, and a store without an object.
fn start() -> (Dir, Server) {
    let dir = Dir::new();
    let long = |at: usize| (0..200_000).map(|word| format!("w{at}x{word} ")).collect::<String>();
    let lines: String = (0..12).map(|at| line(&format!("long-{at}"), &long(at))).collect();
    assert!(lines.len() > 20 << 20);
    dir.write("data/long.jsonl", lines);
    dir.write("data/with space+%/[q].jsonl", sample());
    dir.write("data/empty.jsonl", "");
    dir.write("data/c.csv", "id,text\n1,one two three four\n2,one two three four\n");
    (dir, Server::new(&[]))
}

fn sample() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).unwrap()
}

fn run(dir: &Dir, server: &Server, line: &str) -> Ran {
    dir.alike_with(line, None, &variables(dir, server))
}

/// What leads the program to the server, and shows what it leaves in the place for temporary files.
fn variables(dir: &Dir, server: &Server) -> Vec<(&'static str, String)> {
    let temporary = dir.join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let mut variables = server.variables();
    variables.push(("TMPDIR", temporary.to_str().unwrap().to_owned()));
    variables
}

/// The output below a name of the bucket, as a folder would be.
fn stored(server: &Server, out: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = Dir::new();
    let objects = server.objects(&format!("bucket/{out}/"));
    objects.into_iter().for_each(|(name, bytes)| folder.write(&name, bytes));
    written(folder.path())
}

/// Nothing is left in the place for temporary files, and no upload is open.
#[track_caller]
fn assert_tidy(dir: &Dir, server: &Server) {
    assert_eq!(fs::read_dir(dir.join("tmp")).unwrap().count(), 0);
    assert_eq!(server.uploads().1, 0);
}

#[test]
fn an_output_in_a_store_is_what_it_is_in_a_folder() {
    let (dir, server) = start();
    dir.dedup("data --out files --write-removed -w 2").ok();
    let want = written(&dir.join("files"));
    assert!(want.len() > 7, "{:?}", want.keys());
    for workers in [1, 2] {
        let line = format!("dedup data --out s3://bucket/a/out{workers} --write-removed -w {workers}");
        let ran = run(&dir, &server, &line).ok();
        assert!(ran.stderr.contains(&format!("s3://bucket/a/out{workers}")), "{}", ran.stderr);
        assert_same(&want, &stored(&server, &format!("a/out{workers}")), &line);
        assert_tidy(&dir, &server);
    }
    assert!(server.uploads().0 > 2 * want.len(), "large files go in parts");
    // Of two processes one writes.
    let (hosts, line) = (free(2), "dedup data --out s3://bucket/two --write-removed");
    let mut processes: Vec<Process> = (0..2)
        .map(|index| {
            let mut command = command(&dir, &hosts, index, line);
            command.envs(variables(&dir, &server));
            Process::start(command, line)
        })
        .collect();
    all(&mut processes).into_iter().for_each(|ran| drop(ran.ok()));
    assert_same(&want, &stored(&server, "two"), "two processes");
    assert_tidy(&dir, &server);
}

#[test]
fn every_command_that_writes_a_folder_writes_to_a_store() {
    let (dir, server) = start();
    dir.write("benchmark.jsonl", sample());
    dir.alike("load archive data/long.jsonl", None).ok();
    for (at, command) in [
        "export archive",
        "passages data --unit line",
        "repetition data",
        "decontaminate data --benchmarks benchmark.jsonl",
        "dedup data --to jsonl.zst --shard-size 9MB",
    ]
    .into_iter()
    .enumerate()
    {
        dir.alike(&format!("{command} --out files{at} -w 1"), None).ok();
        let want = written(&dir.join(&format!("files{at}")));
        run(&dir, &server, &format!("{command} --out s3://bucket/out{at}/ -w 1")).ok();
        assert_same(&want, &stored(&server, &format!("out{at}")), command);
        assert_tidy(&dir, &server);
    }
}

#[test]
fn what_is_there_stays() {
    let (dir, _) = start();
    let server = Server::new(&[
        ("bucket/out/x", b"precious".to_vec()),
        ("bucket/file", b"precious".to_vec()),
        ("bucket/outer/y", b"precious".to_vec()),
    ]);
    for out in ["s3://bucket/out", "s3://bucket/out/", "s3://bucket/file"] {
        let ran = run(&dir, &server, &format!("dedup data/c.csv --out {out}")).code(2);
        assert!(ran.stderr.contains(&format!("{out}: exists already")), "{}", ran.stderr);
    }
    assert_eq!((server.objects("bucket/").len(), server.uploads()), (3, (0, 0)));
    run(&dir, &server, "dedup data/c.csv --out s3://bucket/oute").ok();
    // What appears while the output is sent stays as well, and nothing is beside it.
    server.write_fault(WriteFault::Appears("bucket/late/x"));
    run(&dir, &server, "dedup data/c.csv --out s3://bucket/late").code(2).says("exists already");
    assert!(server.objects("bucket/late/").into_keys().eq(["x"]));
    assert_tidy(&dir, &server);
}

#[test]
fn faults_that_pass_are_survived_and_others_leave_nothing() {
    let (dir, server) = start();
    dir.dedup("data --out files -w 1").ok();
    let want = written(&dir.join("files"));
    server.write_fault(WriteFault::Status(503, 3));
    run(&dir, &server, "dedup data --out s3://bucket/out -w 1").ok();
    assert_same(&want, &stored(&server, "out"), "after some faults");
    for (fault, says) in [
        (WriteFault::Status(503, 1000), "503"),
        (WriteFault::Status(403, 1000), "access is denied"),
        (WriteFault::Parts(500), "500"),
        (WriteFault::CompletedAfter(0, 503), "503"),
        (WriteFault::CompletedAfter(3, 503), "503"),
        (WriteFault::CompletedAfter(want.len() - 1, 503), "503"),
    ] {
        server.write_fault(fault);
        let ran = run(&dir, &server, "dedup data --out s3://bucket/none -w 1").code(1).says(says);
        assert!(ran.stderr.contains("error: s3://bucket/none: cannot write"), "{fault:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("could not be removed"), "{fault:?}: {}", ran.stderr);
        assert!(server.objects("bucket/none/").is_empty(), "{fault:?}");
        assert_eq!(fs::read_dir(dir.join("tmp")).unwrap().count(), 0, "{fault:?}");
        server.forget();
    }
    // Where nothing can be taken back, it is told, and what says that an output is whole is missing.
    server.write_fault(WriteFault::StuckAfter(3, 503));
    let ran = run(&dir, &server, "dedup data --out s3://bucket/part -w 1").code(1);
    assert!(ran.stderr.contains("could not be removed, and has no summary.json"), "{}", ran.stderr);
    let left = server.objects("bucket/part/");
    assert!(!left.is_empty() && !left.contains_key("summary.json"), "{:?}", left.keys());
}

#[test]
fn who_stops_a_run_stops_what_it_sends() {
    let (dir, server) = start();
    for parts in [0, 4] {
        let before = server.uploads().0;
        server.write_fault(WriteFault::SilentAfter(before + parts));
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_alike"));
        let line = "dedup data --out s3://bucket/out -w 2";
        command.args(line.split(' ')).envs(variables(&dir, &server)).current_dir(dir.path());
        let mut process = Process::start(command, line);
        while server.uploads().0 <= before + parts && process.at_work() {
            std::thread::yield_now();
        }
        process.signal(Signal::INT);
        let ran = process.ended();
        assert_eq!(ran.code, Some(130), "{parts}: {}", ran.stderr);
        assert!(server.objects("bucket/").is_empty(), "{parts}");
        assert_tidy(&dir, &server);
    }
}

#[test]
fn places_that_no_output_may_have_are_told() {
    let (dir, server) = start();
    for (out, says) in [
        ("s3://bucket", "--out s3://bucket: name a folder in it, like s3://bucket/clean"),
        ("s3://", "without the name of a store"),
        ("https://example.org/out", "alike writes to s3://, gs:// and az://"),
        ("hf://datasets/o/n/out", "alike writes to s3://, gs:// and az://"),
    ] {
        let ran = run(&dir, &server, &format!("dedup data/c.csv --out {out}"));
        assert!(matches!(ran.code, Some(2 | 3)) && ran.stderr.contains(says), "{out}: {}", ran.stderr);
    }
    let nobody = [("AWS_EC2_METADATA_DISABLED", "true".to_owned()), ("HOME", "/nowhere".to_owned())];
    dir.alike_with("dedup data/c.csv --out s3://bucket/out", None, &nobody)
        .code(2)
        .says("there are no credentials");
    // A dry run writes nowhere, and asks for nothing.
    dir.alike_with("dedup data/c.csv --dry-run --out s3://bucket/out", None, &nobody).ok();
}
