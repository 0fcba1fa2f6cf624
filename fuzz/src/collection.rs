//! Collections in memory: a good one, one of an interrupted load, and everything that can be asked of any.

use std::fs;
use std::sync::{Arc, OnceLock};

use alike::collection::{
    AskedText, Batch, Checker, Compaction, Prepared, Report, Snapshot, Writer, compact, fsck, prepare,
};
use alike::config::{Clustering, Config};
use alike::error::{Error, Result};
use alike::flow::{Components, LeftOutPositions};
use alike::progress::Progress;
use alike::read::discover;
use alike::resources::Resources;
use alike::simd::Simd;
use tempfile::TempDir;

use crate::storage::{Fault, Simulated, Storage};

/// The lines of the loads of a good collection: clusters, a document in none, one replaced, and one deleted.
const LOADS: [&str; 2] = [
    concat!(
        "{\"id\":\"d0\",\"text\":\"a b c d e f\"}\n{\"id\":\"d1\",\"text\":\"b c d e f g\"}\n",
        "{\"id\":\"d2\",\"text\":\"c d e f g h\"}\n{\"id\":\"d3\",\"text\":\"p q r s t\"}\n",
        "{\"id\":\"d4\",\"text\":\"p q r s t\"}\n{\"id\":\"d5\",\"text\":\"x y z\"}\n",
    ),
    "{\"id\":\"d5\",\"text\":\"p q r s u\"}\n{\"op\":\"delete\",\"id\":\"d3\"}\n",
];

/// Names and bytes of files.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// A folder for inputs, and for what is needed for a while.
pub(crate) struct Bench {
    folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench { folder: tempfile::tempdir().expect("a folder") }
    }

    /// Loads lines; with at most so many bytes of them in an epoch, if that is said.
    pub(crate) fn load(
        &self,
        storage: &Arc<dyn Storage>,
        lines: &str,
        epoch_bytes: Option<u64>,
    ) -> Result<Report> {
        self.with(&mut Writer::open(storage)?, lines, epoch_bytes, |prepared| prepared.commit())
    }

    /// Works a load out, and hands it on.
    pub(crate) fn with<T>(
        &self,
        writer: &mut Writer,
        lines: &str,
        epoch_bytes: Option<u64>,
        then: impl FnOnce(Prepared<'_>) -> Result<T>,
    ) -> Result<T> {
        let path = self.folder.path().join("in.jsonl");
        fs::write(&path, lines).expect("written");
        let name = path.to_str().expect("UTF-8").to_owned();
        let batch = Batch {
            sources: discover(&[name], self.folder.path())?.sources,
            epoch_bytes,
            left_out: LeftOutPositions::default(),
            delete_missing: false,
            lexicon: None,
            components: Components::Forest,
            command: None,
            resources: Resources {
                workers: 1,
                memory: None,
                simd: Simd::detect(),
                scratch: self.folder.path().to_path_buf(),
                peers: None,
            },
        };
        then(prepare(writer, batch, Arc::new(Progress::default()))?)
    }
}

/// Short texts can resemble each other.
pub(crate) fn config() -> Config {
    let mut config = Config::default();
    config.cluster.clustering = Clustering::Transitive;
    config.text.ngram = 2;
    config.threshold = "0.5".parse().expect("a threshold");
    config.count.common_cap = 0;
    config
}

/// The files of a good collection.
pub(crate) fn good() -> &'static Files {
    static GOOD: OnceLock<Files> = OnceLock::new();
    GOOD.get_or_init(|| {
        let (bench, folder) = (Bench::new(), Simulated::new());
        let storage: Arc<dyn Storage> = Arc::new(folder.clone());
        drop(Writer::create(&storage, config(), true).expect("a collection"));
        for lines in LOADS {
            bench.load(&storage, lines, None).expect("loaded");
        }
        files(&folder)
    })
}

/// The files of one that a load of several epochs was interrupted in.
pub(crate) fn interrupted() -> &'static Files {
    static INTERRUPTED: OnceLock<Files> = OnceLock::new();
    INTERRUPTED.get_or_init(|| {
        let bench = Bench::new();
        for fails in 0.. {
            let folder = folder(good());
            let storage: Arc<dyn Storage> = Arc::new(folder.clone());
            folder.fail_from(fails, Fault::Eio);
            let loaded = bench.load(&storage, LOADS[0], Some(60));
            assert!(loaded.is_err(), "no failure leaves two epochs");
            folder.mend();
            let files = files(&folder);
            let written = |(name, bytes): &(String, Vec<u8>)| {
                name.starts_with("checkpoint-") && name.ends_with("0002") && !bytes.is_empty()
            };
            if files.iter().any(written) {
                return files;
            }
        }
        unreachable!("one failure comes last")
    })
}

fn files(folder: &Simulated) -> Files {
    let bytes = |name: String| (name.clone(), folder.contents(&name).expect("a file"));
    folder.names().expect("names").into_iter().map(bytes).collect()
}

/// A folder with files.
pub(crate) fn folder(files: &Files) -> Simulated {
    let folder = Simulated::new();
    files.iter().for_each(|(name, bytes)| put(&folder, name, bytes));
    folder
}

/// Puts a file there, in the place of any other of its name.
pub(crate) fn put(folder: &Simulated, name: &str, bytes: &[u8]) {
    let _ = folder.remove(name);
    folder.create(name).and_then(|mut file| file.append(bytes)).expect("nothing fails in memory");
}

/// Asks everything of what is there: there are answers, or errors that say what is wrong. Whether fsck finds it whole.
pub(crate) fn ask(storage: &Arc<dyn Storage>) -> bool {
    let snapshot = match Snapshot::open(storage) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            told(&error);
            alike::collection::broken_files(storage).map(drop).unwrap_or_else(|error| told(&error));
            return false;
        }
    };
    let progress = Progress::default();
    let mut findings = 0;
    let report = fsck(&snapshot, &progress, &mut |finding| {
        assert!(!finding.what.is_empty());
        findings += 1;
    });
    let whole = match report {
        Ok(report) => {
            assert_eq!(report.findings, findings);
            report.complete && findings == 0
        }
        Err(error) => {
            told(&error);
            false
        }
    };
    let mut ids = Vec::new();
    let documents = snapshot.documents(&mut |document| {
        ids.push(document.id);
        Ok(())
    });
    let clusters = snapshot.clusters(&mut |_| Ok(()));
    let mut outcomes = vec![documents, clusters, snapshot.stats(&progress).map(drop)];
    ids.truncate(8);
    ids.dedup();
    outcomes.push(snapshot.group(&ids, &progress).map(drop));
    for (at, id) in ids.iter().enumerate() {
        let second = ids.get(at + 1).filter(|second| *second != id);
        outcomes.push(snapshot.explain(id, second.map(String::as_str), &progress).map(drop));
    }
    let check = Checker::new(&snapshot).and_then(|mut checker| {
        let texts = ["a b c d e f", "p q r s"].map(|text| AskedText { text, ..AskedText::default() });
        checker.check(&texts, &progress)
    });
    outcomes.push(check.map(drop));
    for outcome in outcomes {
        match outcome {
            Err(error) if whole => panic!("fsck finds nothing, and then: {error}"),
            Err(error) => told(&error),
            Ok(()) => {}
        }
    }
    whole
}

/// Writes to what is there, as far as it lets itself be written to.
pub(crate) fn write(storage: &Arc<dyn Storage>, bench: &Bench, whole: bool) {
    let loaded = bench.load(storage, LOADS[0], Some(60));
    let mut outcomes = vec![loaded.map(drop)];
    outcomes.push(Writer::open(storage).and_then(|mut writer| {
        writer.abandon()?;
        compact(&mut writer, Compaction::Full, &Progress::default()).map(drop)
    }));
    for outcome in outcomes {
        if let Err(error) = outcome {
            told(&error);
        }
    }
    assert!(!whole || ask(storage), "it was whole");
}

/// An error that may be told of what a folder holds.
pub(crate) fn told(error: &Error) {
    match error {
        Error::Damaged { .. }
        | Error::UnfinishedDamaged { .. }
        | Error::NewerFormat { .. }
        | Error::OlderFormat { .. }
        | Error::NotACollection(..)
        | Error::Unreachable { .. }
        | Error::LexiconDamaged { .. }
        | Error::LexiconUnfit { .. }
        | Error::Unfinished { .. }
        | Error::Limit(_)
        | Error::Locked(_)
        | Error::Config(_)
        | Error::Changed(_) => assert!(!error.to_string().is_empty()),
        error => panic!("{error:?}"),
    }
}
