//! Collections whose processes keep what they write to themselves, where some of it cannot be had or is not what it should
//! be: who has it is named, and nothing is changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::thread;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::support::PAGE;
use crate::support::job::{Process, at_free_ports, command};
use crate::support::loads::Seen;
use crate::support::local::{STATE, States, in_place, kept, machine, manifests, named, pool, runs, seen};
use crate::support::loss::texts;
use crate::support::outputs::{assert_same, written};
use crate::support::program::{Dir, Ran};
use crate::support::texts::Random;

const PROCESSES: usize = 3;

/// A collection that three processes have loaded, each on its own machine, the same one in one folder, and more to load.
/// All three have read some of it.
fn bench(flags: &str) -> Dir {
    let (dir, mut random) = (Dir::new(), Random(17));
    dir.write("first.jsonl", texts(&mut random, 0, 1200));
    dir.write("second.jsonl", texts(&mut random, 1000, 600));
    dir.write("third.jsonl", texts(&mut random, 1500, 200));
    dir.write("gone.txt", "d3\nd7\nd1100\n");
    dir.alike(&format!("load one first.jsonl -w 1 -q {flags}"), None).ok();
    for _ in 0..20 {
        States::Apart.done(&dir, (PROCESSES, 1), &format!("load c first.jsonl -q {flags}"));
        in_place(&dir, "loaded");
        if readers(&dir) == PROCESSES {
            return dir;
        }
        // A process that is slow to begin finds nothing left to read.
        fs::remove_dir_all(dir.join("c")).unwrap();
        (0..PROCESSES).for_each(|index| drop(fs::remove_dir_all(machine(&dir, index).join(STATE))));
    }
    panic!("one of {PROCESSES} processes never read anything");
}

/// Processes that keep texts which they have read.
fn readers(dir: &Dir) -> usize {
    let (_, manifest) = manifests(dir).pop_last().unwrap();
    let runs = manifest["runs"].as_array().unwrap().iter();
    let with_texts = runs.filter(|run| run["rows"]["texts"].as_u64() > Some(0));
    with_texts.map(|run| run["keeper"]["process"].as_u64()).collect::<BTreeSet<_>>().len()
}

/// All files of the collection and of what processes keep of it, but for the lock, and the XXH3 of each.
fn files(dir: &Dir) -> BTreeMap<PathBuf, u64> {
    let folders = (0..PROCESSES).map(|index| kept(dir, index).0).chain([dir.join("c")]);
    let entries = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    let paths = entries.map(|entry| entry.unwrap().path()).filter(|path| !path.ends_with("lock"));
    paths.map(|path| (path.clone(), xxh3_64(&fs::read(path).unwrap()))).collect()
}

/// The collection with `second.jsonl` loaded, in one folder.
#[track_caller]
fn loaded(dir: &Dir) {
    dir.alike("load one second.jsonl -w 1 -q", None).ok();
    Seen::of(dir, "one").assert_eq(&seen(dir), "loaded");
}

/// A run that a process keeps.
fn run_of(dir: &Dir, process: usize) -> PathBuf {
    let folder = kept(dir, process).0;
    let name = named(dir)[&process].last().unwrap().clone();
    folder.join(name)
}

/// Commands that look at what other processes keep.
const LOOKS: [&str; 8] = [
    "explain c d5",
    "fsck c",
    "export c --out out",
    "pairs c --json -q",
    "check c first.jsonl --json",
    "clusters c --json",
    "documents c --json",
    "stats c --json",
];

#[test]
fn local_what_is_elsewhere_is_named_and_what_is_here_is_shown() {
    let dir = bench("--clustering guarantee");
    for line in LOOKS {
        let ran = dir.alike(line, None).code(2).says("was stored locally by process").says("--gather");
        assert!(ran.stdout.is_empty() || line.starts_with("fsck"), "{ran:?}");
        // A folder in which none of it is makes no difference.
        dir.alike(&format!("{line} --local-state nowhere"), None)
            .code(2)
            .says("was stored locally by process");
    }
    assert!(!dir.join("out").exists() && !dir.join("nowhere").exists());
    // Logs of commits are in the folder of the collection.
    let changes = |name| {
        let ran = dir.alike(&format!("changes {name}"), None).ok();
        let mut lines: Vec<String> = ran.stdout.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(changes("c"), changes("one"));
    assert!(!changes("c").is_empty());
    let info: Value = serde_json::from_str(&dir.alike("info c --json", None).ok().stdout).unwrap();
    assert_eq!(info["documents"], 1200, "{info}");
    let processes: BTreeSet<Option<u64>> =
        info["runs"].as_array().unwrap().iter().map(|run| run["process"].as_u64()).collect();
    assert_eq!(processes, BTreeSet::from([None, Some(1), Some(2)]), "{info}");
}

#[test]
fn local_what_is_at_hand_is_looked_at() {
    let dir = bench("--store-text");
    pool(&dir);
    for line in LOOKS {
        let show = |name: &str, flags: &str| {
            let line =
                line.replace(" c ", &format!(" {name} ")).replace("--out out", &format!("--out out-{name}"));
            let line = if line == "fsck c" { format!("fsck {name}") } else { line };
            let ran = dir.alike(&format!("{line}{flags}"), None).ok();
            let mut lines: Vec<String> = ran.stdout.lines().map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        let (got, want) = (show("c", " --local-state pool"), show("one", ""));
        let other = ["fsck c", "stats c --json"].contains(&line) || line.starts_with("export");
        assert!(got == want || other, "{line}: {got:?}\n{want:?}");
    }
    assert_same(&written(&dir.join("out-one")), &written(&dir.join("out-c")), "exported");
    // One process alone, to which all is at hand, may do everything.
    let line = "load NAME second.jsonl -w 2 --dry-run --json -q";
    let foresee = |name: &str, flags: &str| {
        let ran = dir.alike(&format!("{}{flags}", line.replace("NAME", name)), None).ok();
        let mut report: Value = serde_json::from_str(&ran.stdout).unwrap();
        report.as_object_mut().unwrap().remove("seconds");
        report
    };
    assert_eq!(foresee("c", " --local-state pool"), foresee("one", ""));
    dir.alike("load c second.jsonl -w 2 -q --local-state pool", None).ok();
    loaded(&dir);
    dir.alike("fsck c --local-state pool", None).ok();
    dir.alike("compact c --gather -q --local-state pool", None).ok();
    dir.alike("fsck c", None).ok();
}

/// Who is too few to have everything changes nothing and says what is to be done.
#[test]
fn local_fewer_processes_are_refused() {
    let dir = bench("");
    let before = files(&dir);
    for line in [
        "load c second.jsonl",
        "load c second.jsonl --epoch 20K",
        "delete c --ids gone.txt",
        "compact c",
        "compact c --gather",
        "recluster c --json",
    ] {
        for ran in States::Apart.job(&dir, (PROCESSES - 1, 1), line) {
            ran.code(2).says("process 2").says("compact").says("--gather");
        }
        assert_eq!(files(&dir), before, "{line}");
    }
    for line in
        ["load c second.jsonl", "delete c --ids gone.txt", "compact c", "load c second.jsonl --dry-run"]
    {
        for flags in ["", " --local-state state"] {
            let ran = dir.alike(&format!("{line}{flags}"), None).code(2);
            ran.says("was stored locally by process").says("--gather");
            assert_eq!(files(&dir), before, "{line}{flags}");
        }
    }
    dir.alike("compact c --gather", None).code(2).says("--local-state");
    // As many as there were, and more, just go on.
    States::Apart.done(&dir, (PROCESSES + 1, 1), "load c second.jsonl -q");
    loaded(&dir);
    in_place(&dir, "one more");
}

/// What each process keeps is agreed on before anything is done.
#[test]
fn local_state_is_said_by_all_or_none() {
    let dir = bench("");
    let before = files(&dir);
    let line = "load c second.jsonl -w 1 --join-timeout 3";
    let said_by = |said: usize| {
        let ended = at_free_ports(2, |hosts, index| {
            let command = if index == said {
                States::Apart.command(&dir, hosts, index, line)
            } else {
                command(&dir, hosts, index, line)
            };
            Process::start(command, line)
        });
        let [zero, one] = ended.try_into().unwrap();
        Ran::code(one, 2).says("another command").says("refuse");
        Ran::code(zero, 5).says("another command").says("refused");
    };
    thread::scope(|scope| {
        scope.spawn(|| said_by(0));
        said_by(1);
    });
    assert_eq!(files(&dir), before);
}

/// What `cluster` makes of a collection.
fn clustered(dir: &Dir, name: &str) -> Vec<String> {
    let line = format!("recluster {name} --json -q --threshold 0.9");
    let ran = match name {
        "c" => States::Apart.done(dir, (PROCESSES, 1), &line),
        _ => dir.alike(&line, None).ok(),
    };
    let mut lines: Vec<String> = ran.stdout.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// An attempt that came to nothing may leave a run whose number is given to another process later: nobody takes one for the
/// other, and the next load removes it.
#[test]
fn local_leftovers_are_not_taken_for_runs() {
    let dir = bench("");
    let own = fs::read(run_of(&dir, 1)).unwrap();
    let folder = kept(&dir, 1).0;
    let number = |process: usize| named(&dir)[&process].first().unwrap()[..12].to_owned();
    let left: Vec<PathBuf> = [number(0), number(2), "run-00009999".to_owned()]
        .into_iter()
        .map(|run| folder.join(format!("{run}-of-1-0123456789abcdef")))
        .collect();
    let leave = || left.iter().for_each(|path| fs::write(path, &own).unwrap());
    leave();
    assert_eq!(clustered(&dir, "c"), clustered(&dir, "one"));
    assert!(left.iter().all(|path| path.exists()), "who only looks removes nothing");
    States::Apart.done(&dir, (PROCESSES, 1), "load c second.jsonl -q");
    loaded(&dir);
    in_place(&dir, "with leftovers");
    leave();
    States::Apart.done(&dir, (PROCESSES, 1), "compact c --gather -q");
    assert!((0..PROCESSES).all(|process| runs(kept(&dir, process).0).is_empty()));
    dir.alike("fsck c", None).ok();
    loaded(&dir);
}

/// Their names say who has run what, so that folders may be mixed up among the machines; another run under the very
/// name of one is damage.
#[test]
fn local_states_may_change_places() {
    let dir = bench("");
    let [first, second] = [1, 2].map(|process| machine(&dir, process).join(STATE));
    fs::rename(&first, dir.join("aside")).unwrap();
    fs::rename(&second, &first).unwrap();
    fs::rename(dir.join("aside"), &second).unwrap();
    assert_eq!(clustered(&dir, "c"), clustered(&dir, "one"));
    States::Apart.done(&dir, (PROCESSES, 1), "load c second.jsonl -q");
    loaded(&dir);
    States::Apart.done(&dir, (PROCESSES, 1), "compact c -q");
    loaded(&dir);
    let [other, of_2] = [1, 2].map(|process| run_of(&dir, process));
    let mixed = other.with_file_name(of_2.file_name().unwrap());
    let before = seen(&dir);
    for line in ["recluster c --json -q", "load c first.jsonl -q --delete-missing"] {
        fs::copy(&other, &mixed).unwrap();
        for ran in States::Apart.job(&dir, (PROCESSES, 1), line) {
            assert!(ran.stderr.contains("process") || ran.stderr.contains(STATE), "{ran:?}");
            ran.code(4).says("damaged");
        }
        fs::remove_file(&mixed).unwrap();
        before.assert_eq(&seen(&dir), line);
    }
    States::Apart.done(&dir, (PROCESSES, 1), "load c third.jsonl -q");
    dir.alike("load one third.jsonl -w 1 -q", None).ok();
    Seen::of(&dir, "one").assert_eq(&seen(&dir), "put right");
}

/// A collection that was copied before others went on with it knows nothing of what they keep now, and takes none of it away.
#[test]
fn local_copies_do_not_go_on_with_what_the_original_keeps() {
    let dir = bench("");
    let copied = |from: &str, to: &str| {
        let _ = fs::remove_dir_all(dir.join(to));
        fs::create_dir(dir.join(to)).unwrap();
        for entry in fs::read_dir(dir.join(from)).unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), dir.join(to).join(entry.file_name())).unwrap();
        }
    };
    copied("c", "old");
    States::Apart.done(&dir, (PROCESSES, 1), "load c second.jsonl -q");
    States::Apart.done(&dir, (PROCESSES, 1), "compact c -q");
    let before = files(&dir);
    for line in ["load old second.jsonl", "compact old", "compact old --gather"] {
        for ran in States::Apart.job(&dir, (PROCESSES, 1), line) {
            assert!([Some(2), Some(4)].contains(&ran.code), "{line}: {ran:?}");
        }
        assert_eq!(files(&dir), before, "{line}");
    }
    States::Apart.done(&dir, (PROCESSES, 1), "load c second.jsonl -q");
    loaded(&dir);
}

/// A load of one shape is killed, and one of another shape comes after it: numbers of runs go to other processes.
#[test]
fn local_leftovers_of_another_shape() {
    let dir = bench("");
    for (shape, line) in
        [((4, 2), "load c bad.jsonl -q --strict"), ((3, 1), "load c second.jsonl -q --epoch 20K")]
    {
        dir.write("bad.jsonl", fs::read_to_string(dir.join("second.jsonl")).unwrap() + "no record\n");
        for ran in States::Apart.job(&dir, shape, line) {
            assert_eq!(ran.code, Some(if line.contains("bad") { 3 } else { 0 }), "{ran:?}");
        }
    }
    loaded(&dir);
    for index in 0..PROCESSES {
        let nothing = Default::default();
        let want = named(&dir).remove(&index).filter(|_| index > 0).unwrap_or(nothing);
        assert_eq!(runs(kept(&dir, index).0), want, "process {index}");
    }
}

/// A run that is gone is named with its process, and one that is damaged is never read as another.
#[test]
fn local_runs_missing_or_damaged_are_named() {
    for process in [1, 2] {
        let dir = bench("");
        let path = run_of(&dir, process);
        let whole = fs::read(&path).unwrap();
        let damaged: Vec<u8> = whole.iter().map(|byte| byte ^ 0x10).collect();
        let mut body = damaged[..whole.len() - PAGE].to_vec();
        body.extend(&whole[whole.len() - PAGE..]);
        for bytes in [None, Some(&damaged[..]), Some(&body), Some(&whole[..whole.len() - PAGE]), Some(&[])] {
            match bytes {
                Some(bytes) => fs::write(&path, bytes).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let before = files(&dir);
            let codes: &[i32] = if bytes.is_none() { &[2] } else { &[4] };
            for line in
                ["load c second.jsonl -q", "compact c -q", "compact c --gather -q", "recluster c --json -q"]
            {
                let what = format!("{line}: {:?} bytes of process {process}", bytes.map(<[u8]>::len));
                let ended = States::Apart.job(&dir, (PROCESSES, 1), line);
                for ran in &ended {
                    assert!(ran.code.is_some_and(|code| codes.contains(&code)), "{what}: {ended:?}");
                }
                let named = ended.iter().all(|ran| {
                    ran.stderr.contains(&format!("process {process}")) || ran.stderr.contains(STATE)
                });
                assert!(named, "{what}: {ended:?}");
                assert_eq!(files(&dir), before, "{what}");
                assert!(ended[0].stdout.is_empty(), "{what}: {ended:?}");
            }
            pool(&dir);
            let code = if bytes.is_none() { 2 } else { 4 };
            for line in ["fsck c", "pairs c --json -q"] {
                dir.alike(&format!("{line} --local-state pool"), None).code(code);
            }
        }
        fs::write(&path, &whole).unwrap();
        States::Apart.done(&dir, (PROCESSES, 1), "load c second.jsonl -q");
        loaded(&dir);
        assert!(runs(kept(&dir, process).0).len() > 1 && machine(&dir, process).is_dir());
    }
}

/// The ids to be deleted are a file of process 0, which reads all of it.
#[test]
fn local_ids_are_read_where_they_are() {
    let dir = bench("");
    let ids: String = (0..1200).map(|at| format!("{:>60}d{at}\n", "")).collect();
    dir.write("all.txt", ids);
    let line = "delete c --ids all.txt --json-progress --epoch 8K -w 1";
    let ended: Vec<Ran> = at_free_ports(PROCESSES, |hosts, index| {
        Process::start(States::Apart.command(&dir, hosts, index, line), line)
    });
    for (process, ran) in ended.into_iter().map(Ran::ok).enumerate() {
        let rows = ran.stderr.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let epochs: Vec<Value> = rows.filter(|row| row["event"] == "epoch").collect();
        assert!(epochs.len() > 2, "{ran:?}");
        for epoch in epochs {
            assert_eq!(epoch["bytes"].as_u64().unwrap() > 0, process == 0, "process {process}: {epoch}");
        }
    }
    dir.alike("delete one --ids all.txt -q", None).ok();
    Seen::of(&dir, "one").assert_eq(&seen(&dir), "deleted");
}
