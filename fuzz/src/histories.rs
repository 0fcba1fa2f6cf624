//! Histories of a collection: loads, deletions, compactions, reopenings, faults and power cuts, against a map of texts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use alike::collection::{Compaction, Snapshot, Writer, compact, fsck};
use alike::error::Result;
use alike::progress::Progress;
use serde_json::json;

use crate::collection::{Bench, config};
use crate::storage::{Fault, Simulated, Storage};
use crate::take;

/// Most operations of a history.
const MOST: usize = 24;
const FAULTS: [Fault; 5] =
    [Fault::Eio, Fault::Enospc, Fault::ShortWrite, Fault::FailedSync, Fault::LostAnswer];

thread_local! {
    /// Reused from input to input.
    static BENCH: Bench = Bench::new();
}

/// All that there is to know of a collection: the text of each document.
type Model = BTreeMap<u8, String>;

/// What a reader sees of the documents: their ids, and the clusters of two or more.
type Seen = (BTreeSet<u8>, BTreeSet<BTreeSet<u8>>);

/// The bytes are operations, one after the other.
pub fn histories(mut data: &[u8]) {
    BENCH.with(|bench| {
        let mut folder = Simulated::new();
        let mut model = Model::new();
        drop(Writer::create(&storage(&folder), config(), true).expect("a collection"));
        for _ in 0..MOST {
            if data.is_empty() {
                break;
            }
            step(bench, &mut folder, &mut model, &mut data);
            assert_eq!(seen(&folder), expected(&model), "{model:?}");
        }
    });
}

/// One operation: what it is, and whether something fails or the power goes on the way.
fn step(bench: &Bench, folder: &mut Simulated, model: &mut Model, data: &mut &[u8]) {
    let [what, fails, at] = take(data);
    let last = commit(folder);
    let before = folder.operations();
    // Without a fault the operation is what it would be with one that comes too late.
    match fails % 8 {
        0 | 1 => folder.fail_at(before + u64::from(at), FAULTS[usize::from(what / 16) % FAULTS.len()]),
        2 => folder.fail_from(before + u64::from(at), FAULTS[usize::from(what / 16) % FAULTS.len()]),
        3 | 4 => folder.cut_at(before + u64::from(at)),
        _ => {}
    }
    let mut after = model.clone();
    let outcome = match what % 16 {
        0..9 => {
            let lines = change(&mut after, data);
            let epoch = (what & 64 != 0).then_some(60);
            load(bench, folder, &lines, epoch)
        }
        9..12 => squeeze(
            folder,
            if what & 64 != 0 { Compaction::Full } else { Compaction::Tiered { fuel_bytes: u64::MAX } },
        ),
        12 | 13 => Writer::open(&storage(folder)).map(drop),
        _ => Writer::open(&storage(folder)).and_then(|mut writer| writer.abandon()),
    };
    folder.mend();
    let cut = matches!(fails % 8, 3 | 4);
    if cut {
        *folder = folder.after_power_cut(u64::from(at) << 8 | u64::from(what));
    }
    match outcome {
        Ok(()) => *model = after,
        // Whether it came to its end is not known to whoever did it, and one of both is there.
        Err(error) => {
            assert!(fails % 8 < 5, "nothing failed, and then: {error}");
            if commit(folder) > last {
                *model = after;
            }
            // What was begun and not finished refuses anything else.
            Writer::open(&storage(folder)).and_then(|mut writer| writer.abandon()).expect("mended");
        }
    }
}

/// The lines of a load, and what becomes of the texts.
fn change(model: &mut Model, data: &mut &[u8]) -> String {
    let [count] = take(data);
    let mut lines = String::new();
    for _ in 0..count % 8 {
        let [id, what, from, words] = take(data);
        let id = id % 16;
        let line = if what % 3 == 0 {
            model.remove(&id);
            json!({"op": "delete", "id": format!("d{id}")})
        } else {
            let text = text(what, from, words);
            model.insert(id, text.clone());
            json!({"id": format!("d{id}"), "text": text})
        };
        lines.push_str(&format!("{line}\n"));
    }
    lines
}

/// A few words of a few sequences: many texts resemble each other, and bridges come and go.
fn text(family: u8, from: u8, words: u8) -> String {
    let (family, from, words) = (family % 2, from % 12, words % 9);
    (from..from + words).map(|at| format!("f{family}w{at}")).collect::<Vec<_>>().join(" ")
}

fn storage(folder: &Simulated) -> Arc<dyn Storage> {
    Arc::new(folder.clone())
}

/// The number of the last commit.
fn commit(folder: &Simulated) -> u64 {
    Snapshot::open(&storage(folder)).expect("a collection opens").manifest().commit
}

fn load(bench: &Bench, folder: &Simulated, lines: &str, epoch_bytes: Option<u64>) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    bench.load(&storage(folder), lines, epoch_bytes).map(drop)
}

fn squeeze(folder: &Simulated, how: Compaction) -> Result<()> {
    compact(&mut Writer::open(&storage(folder))?, how, &Progress::default()).map(drop)
}

/// What there is, which fsck finds whole.
fn seen(folder: &Simulated) -> Seen {
    let snapshot = Snapshot::open(&storage(folder)).expect("a collection opens");
    let whole = fsck(&snapshot, &Progress::default(), &mut |finding| panic!("{finding:?}"));
    assert!(whole.expect("read").complete);
    let number = |id: &str| id.strip_prefix('d').and_then(|id| id.parse().ok()).expect("an id");
    let (mut documents, mut clusters) = Seen::default();
    let mut note = |id: &str| -> Result<()> {
        assert!(documents.insert(number(id)), "{id} twice");
        Ok(())
    };
    snapshot.documents(&mut |document| note(&document.id)).expect("documents");
    let read = snapshot.clusters(&mut |cluster| {
        assert!(clusters.insert(cluster.members.iter().map(|id| number(id)).collect()));
        Ok(())
    });
    read.expect("clusters");
    (documents, clusters)
}

/// What there should be, pair by pair: texts of at least half of the pairs of words in common are together.
fn expected(model: &Model) -> Seen {
    let pairs = |text: &str| -> BTreeSet<String> {
        let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
        words.windows(words.len().clamp(1, 2)).map(|pair| pair.join(" ")).collect()
    };
    let alike = |a: &str, b: &str| {
        let (a, b) = (pairs(a), pairs(b));
        let shared = a.intersection(&b).count();
        shared > 0 && 2 * shared >= a.len() + b.len() - shared
    };
    let mut clusters: Vec<BTreeSet<u8>> = Vec::new();
    for (id, text) in model {
        let (joined, apart) =
            clusters.into_iter().partition(|cluster| cluster.iter().any(|other| alike(text, &model[other])));
        clusters = apart;
        let joined: Vec<BTreeSet<u8>> = joined;
        clusters.push(joined.into_iter().flatten().chain([*id]).collect());
    }
    clusters.retain(|cluster| cluster.len() > 1);
    (model.keys().copied().collect(), clusters.into_iter().collect())
}
