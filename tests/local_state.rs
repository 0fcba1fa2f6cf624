//! Collections of which each process keeps what it writes to itself, as on a machine of its own: after any history they
//! hold what a collection in one folder holds, and what lies elsewhere is asked for or named.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::PAGE;
use crate::support::job::Shape;
use crate::support::loads::{Seen, Step, counted, files, whole};
use crate::support::local::{
    MANY, POOLED, STATE, States, in_place, kept, machine, manifests, named, pool, runs,
};
use crate::support::program::{Dir, Ran};
use crate::support::texts::{Random, line};

/// What happens to a collection: a step, in which shape, with which flags beside.
const HISTORY: [(Step, Shape, &str); 5] = [
    (Step::Load("first"), (3, 1), ""),
    (Step::Load("third"), (3, 2), "--epoch 60K"),
    (Step::Delete("gone.txt"), (4, 1), "--epoch 2K"),
    (Step::Load("now"), (4, 2), "--delete-missing --epoch 240K --components differential"),
    (Step::Load("moved.jsonl"), (5, 1), "--epoch 30K"),
];

/// The collection `c` is like `one`, of which everything is in one folder; all that it is made of is whole and in its place.
#[track_caller]
fn check(dir: &Dir, states: States, what: &str) {
    let at_hand = match states {
        States::Apart => {
            in_place(dir, what);
            pool(dir);
            POOLED
        }
        States::OneFolder => "c --local-state state",
    };
    Seen::of(dir, "one").assert_eq(&Seen::of(dir, at_hand), what);
    assert_eq!(counted(dir, "one"), counted(dir, at_hand), "{what}");
    dir.alike(&format!("fsck {at_hand}"), None).ok();
}

/// Follows the history with one worker and with many processes, each with a folder of its own, under a configuration that
/// the first load is given; then merges, and brings everything to one folder.
fn follow(states: States, first: &str) {
    let dir = Dir::new();
    files(&dir);
    for (at, (step, shape, flags)) in HISTORY.into_iter().enumerate() {
        let fixed = if at == 0 { first } else { "" };
        let alone = flags.split("--epoch").next().unwrap();
        dir.alike(&format!("{} -w 1", step.line("one", &format!("{fixed} {alone}"))), None).ok();
        let ran = states.done(&dir, shape, &step.line("c", &format!("{fixed} {flags}")));
        if flags.contains("--epoch") {
            let report: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert!(report["epochs"].as_u64() > Some(1), "{step:?}: {report}");
        }
        check(&dir, states, &format!("{first}: {step:?} as {} x {}", shape.0, shape.1));
    }
    states.done(&dir, (5, 1), "compact c -q");
    check(&dir, states, &format!("{first}: compacted"));
    let named = named(&dir);
    // One that is slow to begin may have read nothing, and then keeps nothing where documents are only compared whole.
    assert!(named.len() > 2 && named.values().all(|runs| !runs.is_empty()), "{first}: {named:?}");
    states.done(&dir, (5, 1), "compact c --gather -q");
    check_gathered(&dir, first);
}

/// After everything was brought together one process needs nothing but the folder.
#[track_caller]
fn check_gathered(dir: &Dir, first: &str) {
    for index in 0..MANY {
        assert_eq!(runs(kept(dir, index).0), BTreeSet::new(), "{first}: process {index}");
    }
    whole(dir, "c");
    for name in ["one", "c"] {
        dir.alike(&format!("load {name} back.jsonl.gz -w 2 -q"), None).ok();
    }
    Seen::of(dir, "one").assert_eq(&Seen::of(dir, "c"), first);
    whole(dir, "c");
}

#[test]
fn local_join() {
    follow(States::Apart, "--method join");
    follow(States::OneFolder, "--method join --clustering guarantee --keep longest");
}

#[test]
fn local_join_with_a_guarantee_and_texts() {
    follow(States::Apart, "--method join --clustering guarantee --keep field:score:max --store-text");
}

#[test]
fn local_features() {
    follow(States::Apart, "--method minhash --keep longest");
}

#[test]
fn local_shingles_and_exact() {
    follow(States::Apart, "--config none.toml --clustering guarantee");
    follow(States::OneFolder, "--method exact --store-text");
}

/// Documents that another process keeps since an early epoch, which a later one replaces, deletes or brings again as they were: all
/// is counted as if there were one epoch and one process.
#[test]
fn local_newcomers_that_a_later_epoch_replaces() {
    let (dir, mut random) = (Dir::new(), Random(29));
    let mut lines: Vec<String> =
        (0..600).map(|id| line(&format!("d{id}"), &format!("{id} {}", random.below(40)))).collect();
    for id in (0..600).step_by(2) {
        lines.push(match id % 6 {
            0 => line(&format!("d{id}"), &format!("another text {id} {}", random.below(40))),
            2 => format!("{{\"id\":\"d{id}\",\"op\":\"delete\"}}\n"),
            _ => lines[id].clone(),
        });
    }
    lines.extend((0..90).map(|id| line(&format!("d{id}"), &format!("the third text of {id}"))));
    dir.write("in.jsonl", lines.concat());
    let report = |ran: Ran| {
        let mut report: Value = serde_json::from_str(&ran.stdout).unwrap();
        ["seconds", "epochs", "contents", "common_keys"]
            .iter()
            .for_each(|key| drop(report.as_object_mut().unwrap().remove(*key)));
        report
    };
    let flags = "--json --quiet --ngram 1 --threshold 0.5";
    let want = report(dir.alike(&format!("load one in.jsonl -w 1 {flags}"), None).ok());
    for shape in [(2, 1), (3, 2)] {
        let _ = fs::remove_dir_all(dir.join("c"));
        let ran = States::Apart.done(&dir, shape, &format!("load c in.jsonl --epoch 4K {flags}"));
        assert_eq!(report(ran), want, "{shape:?}");
        check(&dir, States::Apart, &format!("{shape:?}"));
    }
}

/// Copies a folder, files and all, over what is there.
fn copied(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copied(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// How many runs process 1 keeps of the last commit.
fn of_process_1(dir: &Dir) -> usize {
    let (_, manifest) = manifests(dir).pop_last().unwrap();
    manifest["runs"].as_array().unwrap().iter().filter(|run| run["keeper"]["process"] == 1).count()
}

/// A load is over when it is committed. Whatever is damaged of what process 1 keeps, and is merged after that, all processes end
/// well and the load is there, or all say that it is damaged and nothing is.
#[test]
fn whatever_page_is_damaged_a_load_is_done_or_changes_nothing() {
    let (dir, shape) = (Dir::new(), (2, 1));
    let state = machine(&dir, 1).join(STATE);
    let (mut load, mut random) = (String::new(), Random(7));
    // Loads until one of them merges what process 1 has.
    for at in 0.. {
        assert!(at < 30, "nothing is merged");
        let ids = (0..40).map(|id| (format!("{at}-{id}"), random.below(6)));
        let texts =
            ids.map(|(id, family)| line(&id, &format!("{id} family {family} has these words in common")));
        dir.write(&format!("{at}.jsonl"), texts.collect::<String>());
        load = format!("load c {at}.jsonl --ngram 2 --threshold 0.5 --store-text -q");
        if at == 0 {
            States::Apart.done(&dir, shape, &load);
            continue;
        }
        copied(&dir.join("c"), &dir.join("before"));
        copied(&state, &dir.join("before-state"));
        let before = of_process_1(&dir);
        States::Apart.done(&dir, shape, &load);
        if of_process_1(&dir) <= before {
            break;
        }
    }
    let clusters = || {
        pool(&dir);
        dir.alike(&format!("clusters {POOLED} --json"), None).ok().stdout
    };
    let after = clusters();
    copied(&dir.join("before"), &dir.join("c"));
    copied(&dir.join("before-state"), &state);
    let before = clusters();
    assert_ne!(before, after);
    let mut refused = 0;
    let own = dir.join("before-state").join(kept(&dir, 1).1);
    for run in runs(own.clone()) {
        let whole = fs::read(own.join(&run)).unwrap();
        for page in 0..whole.len() / PAGE {
            copied(&dir.join("before"), &dir.join("c"));
            copied(&dir.join("before-state"), &state);
            let mut damaged = whole.clone();
            damaged[page * PAGE + 100] ^= 1;
            fs::write(kept(&dir, 1).0.join(&run), damaged).unwrap();
            let ended = States::Apart.job(&dir, shape, &load);
            let codes: Vec<Option<i32>> = ended.iter().map(|ran| ran.code).collect();
            let what = format!("{run}, page {page}: {codes:?}: {}{}", ended[0].stderr, ended[1].stderr);
            // What was damaged is looked at, too, unless it was merged.
            let path = kept(&dir, 1).0.join(&run);
            if path.exists() {
                fs::write(path, &whole).unwrap();
            }
            if codes == [Some(0), Some(0)] {
                assert!(clusters() == after, "{what}");
            } else {
                assert!(codes == [Some(4), Some(4)] && clusters() == before, "{what}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0, "nothing is noticed");
}
