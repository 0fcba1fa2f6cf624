//! Histories of loads, and collections that are held against one-shot runs after each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::support::storage::Simulated;
use alike::collection::{Batch, ChangeLine, Report, Snapshot, Writer, prepare};
use alike::config::{Clustering, Config, JoinMeasure, Method, Verify};
use alike::error::Error;
use alike::flow::Components;
use alike::flow::{Request, run};
use alike::lexicon::Lexicon;
use alike::progress::Progress;
use alike::read::{Day, day, discover};
use alike::resources::Resources;
use alike::simd::Simd;
use alike::storage::Storage;
use proptest::prelude::*;
use serde_json::json;

use crate::support::program::Dir;

/// One record of a load.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Upsert(usize, String),
    Delete(usize),
}

impl Op {
    pub(crate) fn line(&self) -> String {
        let row = match self {
            Op::Upsert(id, text) => {
                let (date, site) = (Op::date(*id, text), Op::site(*id, text));
                json!({"id": format!("d{id}"), "text": text, "date": date, "site": site})
            }
            Op::Delete(id) => json!({"op": "delete", "id": format!("d{id}")}),
        };
        format!("{row}\n")
    }

    /// The date of a document, for configurations that read dates: one of a hundred days in Unix seconds, none, or no
    /// date at all. It changes with the text, and with what is no token of it.
    fn date(id: usize, text: &str) -> Option<String> {
        match id * 17 + text.len() * 5 {
            some if some % 7 == 0 => None,
            some if some % 11 == 0 => Some("some day".to_owned()),
            some => Some((1_704_067_200 + 86_400 * (some % 100)).to_string()),
        }
    }

    /// The site of a document, for configurations that compare documents of one site only: one of two, or none. It changes with the
    /// text, and with what is no token of it.
    pub(crate) fn site(id: usize, text: &str) -> Option<&'static str> {
        [Some("a"), Some("b"), None, Some("a"), Some("a")][(id * 7 + text.len() * 3) % 5]
    }

    /// The day of a document as it is read.
    pub(crate) fn day(id: usize, text: &str) -> Day {
        Op::date(id, text).map_or(Day::None, |date| day(&date).map_or(Day::Unclear, Day::Known))
    }
}

/// A load: its records, how many workers do it, and into how many files it is split.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) ops: Vec<Op>,
    pub(crate) workers: usize,
    pub(crate) files: usize,
    /// Bytes of input of an epoch, if it is not all one.
    pub(crate) epoch_bytes: Option<u64>,
}

impl Load {
    /// Does to documents by id what the load does to a collection.
    pub(crate) fn apply(&self, live: &mut BTreeMap<usize, String>) {
        for op in &self.ops {
            match op {
                Op::Upsert(id, text) => live.insert(*id, text.clone()),
                Op::Delete(id) => live.remove(id),
            };
        }
    }
}

/// A collection under test, with what it should hold.
pub(crate) struct Bench {
    pub(crate) dir: Dir,
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) config: Config,
    /// What the collection is made with, where its method looks terms up.
    pub(crate) lexicon: Option<Arc<Lexicon>>,
    pub(crate) live: BTreeMap<usize, String>,
    /// Clusters as the change log alone tells them: members, representative.
    pub(crate) replayed: BTreeMap<String, (BTreeSet<String>, String)>,
}

pub(crate) type Clusters = BTreeSet<BTreeSet<String>>;

impl Bench {
    pub(crate) fn new(config: Config) -> Bench {
        Bench::on(Arc::new(Simulated::new()), config)
    }

    pub(crate) fn on(storage: Arc<dyn Storage>, config: Config) -> Bench {
        drop(Writer::create(&storage, config.clone(), true).expect("a collection"));
        let (live, replayed) = (BTreeMap::new(), BTreeMap::new());
        Bench { dir: Dir::new(), storage, config, lexicon: None, live, replayed }
    }

    /// A collection whose sketches are made by a lexicon, if its configuration names one.
    pub(crate) fn by(lexicon: &Arc<Lexicon>, config: Config) -> Bench {
        let named = !config.lexicon.is_empty();
        Bench { lexicon: named.then(|| Arc::clone(lexicon)), ..Bench::new(config) }
    }

    pub(crate) fn load(&mut self, load: &Load) -> Report {
        let names = self.write(load);
        if names.is_empty() {
            return Report::default();
        }
        let report = self.run(&names, load).expect("loaded");
        self.replay(report.commit);
        report
    }

    /// Loads records as they are, whatever else they have; what is live is not noted.
    pub(crate) fn load_lines(&self, lines: &str) {
        self.dir.write("lines.jsonl", lines);
        let name = self.dir.join("lines.jsonl").to_string_lossy().into_owned();
        self.run(&[name], &Load { ops: Vec::new(), workers: 1, files: 1, epoch_bytes: None })
            .expect("loaded");
    }

    /// A load that may fail. Its change log is not followed.
    pub(crate) fn try_load(&mut self, load: &Load) -> Result<Report, Error> {
        let names = self.write(load);
        self.run(&names, load)
    }

    /// Writes the files of a load and notes what it does.
    pub(crate) fn write(&mut self, load: &Load) -> Vec<String> {
        let mut names = Vec::new();
        for (at, part) in load.ops.chunks(load.ops.len().div_ceil(load.files).max(1)).enumerate() {
            let name = format!("load{at}.jsonl");
            self.dir.write(&name, part.iter().map(Op::line).collect::<String>());
            names.push(self.dir.join(&name).to_string_lossy().into_owned());
        }
        load.apply(&mut self.live);
        names
    }

    fn run(&self, names: &[String], load: &Load) -> Result<Report, Error> {
        self.load_by(&mut Writer::open(&self.storage)?, names, load.workers, load.epoch_bytes)
    }

    /// Loads files through a writer that is open.
    pub(crate) fn load_by(
        &self,
        writer: &mut Writer,
        names: &[String],
        workers: usize,
        epoch_bytes: Option<u64>,
    ) -> Result<Report, Error> {
        let batch = Batch {
            sources: discover(names, &self.dir.join("."))?.sources,
            epoch_bytes,
            left_out: Default::default(),
            delete_missing: false,
            lexicon: self.lexicon.clone(),
            components: if workers.is_multiple_of(2) { Components::Differential } else { Components::Forest },
            command: None,
            resources: Resources {
                workers,
                memory: None,
                simd: Simd::detect(),
                scratch: self.dir.join("."),
                peers: None,
            },
        };
        let prepared = prepare(writer, batch, Arc::new(Progress::default()))?;
        assert!(prepared.rejected().len() == 0);
        prepared.commit()
    }

    /// Follows the change log.
    pub(crate) fn replay(&mut self, commit: Option<u64>) {
        let Some(commit) = commit else { return };
        let snapshot = Snapshot::open(&self.storage).expect("opened");
        let mut bytes = Vec::new();
        let found = snapshot.changes(commit, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        assert!(found.expect("read"), "a log of commit {commit}");
        let text = String::from_utf8(bytes).expect("UTF-8");
        let clusters = &mut self.replayed;
        let mut gone = Vec::new();
        for line in text.lines() {
            match serde_json::from_str(line).expect("a line") {
                ChangeLine::Created { cluster, representative } => {
                    let new = clusters.insert(cluster.to_string(), (BTreeSet::new(), representative));
                    assert!(new.is_none(), "{cluster} was there");
                }
                ChangeLine::Joined { id, cluster } => {
                    assert!(clusters.get_mut(&cluster.to_string()).expect("a cluster").0.insert(id));
                }
                ChangeLine::Left { id, cluster } => {
                    assert!(clusters.get_mut(&cluster.to_string()).expect("a cluster").0.remove(&id));
                }
                ChangeLine::Moved { id, from, to } => {
                    assert!(clusters.get_mut(&from.to_string()).expect("a cluster").0.remove(&id));
                    assert!(clusters.get_mut(&to.to_string()).expect("a cluster").0.insert(id));
                }
                // It was in none before, and is in none now.
                ChangeLine::Deleted { id } => {
                    assert!(clusters.values().all(|(members, _)| !members.contains(&id)), "{id}");
                }
                ChangeLine::Merged { from, .. } | ChangeLine::Dissolved { cluster: from } => {
                    gone.push(from.to_string());
                }
                ChangeLine::Split { .. } => {}
                ChangeLine::Representative { cluster, from, to } => {
                    let cluster = clusters.get_mut(&cluster.to_string()).expect("a cluster");
                    assert_eq!(std::mem::replace(&mut cluster.1, to), from);
                }
            }
        }
        for cluster in gone {
            assert!(clusters.remove(&cluster).expect("a cluster").0.is_empty(), "{cluster} is not empty");
        }
    }

    /// The clusters that the collection has. They must be those that its change log tells.
    pub(crate) fn clusters(&self) -> Clusters {
        let snapshot = Snapshot::open(&self.storage).expect("opened");
        let mut all = BTreeSet::new();
        let mut told = BTreeMap::new();
        let read = snapshot.clusters(&mut |cluster| {
            let members: BTreeSet<String> = cluster.members.iter().cloned().collect();
            assert_eq!(members.len() as u64, cluster.size);
            told.insert(cluster.cluster.to_string(), (members.clone(), cluster.representative));
            assert!(all.insert(members));
            Ok(())
        });
        read.expect("clusters");
        assert_eq!(told, self.replayed);
        assert_eq!(snapshot.manifest().counts.clusters, all.len() as u64);
        assert_eq!(snapshot.manifest().counts.documents, self.live.len() as u64);
        all
    }

    /// The documents that the collection has, by id.
    pub(crate) fn documents(&self) -> BTreeSet<String> {
        let snapshot = Snapshot::open(&self.storage).expect("opened");
        let mut ids = BTreeSet::new();
        let read = snapshot.documents(&mut |document| {
            assert!(ids.insert(document.id));
            Ok(())
        });
        read.expect("documents");
        ids
    }

    /// The clusters of a one-shot run over what is live.
    pub(crate) fn rerun(&self) -> Clusters {
        let lines: String = self.live.iter().map(|(id, text)| Op::Upsert(*id, text.clone()).line()).collect();
        if lines.is_empty() {
            return Clusters::new();
        }
        self.dir.write("live.jsonl", lines);
        let name = self.dir.join("live.jsonl").to_string_lossy().into_owned();
        let sources = discover(&[name], &self.dir.join(".")).expect("inputs").sources;
        let resources = Resources {
            workers: 1,
            memory: None,
            simd: Simd::detect(),
            scratch: self.dir.join("."),
            peers: None,
        };
        let request = Request::new(sources, self.config.clone(), resources);
        let request = Request { lexicon: self.lexicon.clone(), ..request };
        let outcome = run(request, Arc::new(Progress::default())).expect("a run");
        let name = |doc: &u32| String::from(outcome.run.documents.name(*doc).expect("a name"));
        outcome.findings.clusters.iter().map(|cluster| cluster.members.iter().map(name).collect()).collect()
    }

    pub(crate) fn check(&self, what: &str) {
        assert_eq!(self.clusters(), self.rerun(), "{what}");
        let ids: BTreeSet<String> = self.live.keys().map(|id| format!("d{id}")).collect();
        assert_eq!(self.documents(), ids, "{what}");
    }
}

pub(crate) fn config(method: Method) -> Config {
    let mut config = Config { method, ..Config::default() };
    config.cluster.clustering = Clustering::Transitive;
    config.text.ngram = 2;
    config.threshold = "0.5".parse().expect("a threshold");
    if method == Method::Minhash {
        (config.minhash.k, config.minhash.s, config.minhash.r) = (6, 2, 2);
    }
    config.count.common_cap = 0;
    config
}

/// The same, of documents of one site.
pub(crate) fn within(mut config: Config) -> Config {
    config.input.within_field = "site".to_owned();
    config
}

/// A join by containment.
pub(crate) fn contained() -> Config {
    let mut config = config(Method::Join);
    config.join.measure = JoinMeasure::Containment;
    config.threshold = "0.6".parse().expect("a threshold");
    config
}

/// Two features must be shared, and then sets are measured.
pub(crate) fn verified() -> Config {
    let mut config = config(Method::Minhash);
    config.verify = Verify::Resemblance;
    config
}

/// Texts of a few words out of a few sequences, so that many resemble each other and bridges come and go.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let len = prop_oneof![1 => 0usize..4, 6 => 6usize..9];
    (0usize..2, 0usize..12, len).prop_map(|(family, from, len)| {
        (from..from + len).map(|i| format!("f{family}w{i}")).collect::<Vec<_>>().join(" ")
    })
}

pub(crate) fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        2 => (0usize..20, text()).prop_map(|(id, text)| Op::Upsert(id, text)),
        1 => (0usize..20).prop_map(Op::Delete),
    ]
}

pub(crate) fn history() -> impl Strategy<Value = Vec<Load>> {
    let epoch_bytes = prop::option::of(1u64..400);
    let load = (prop::collection::vec(op(), 0..10), 1usize..4, 1usize..4, epoch_bytes);
    let load = load.prop_map(|(ops, workers, files, epoch_bytes)| Load { ops, workers, files, epoch_bytes });
    prop::collection::vec(load, 1..7)
}

pub(crate) fn follow_on(mut bench: Bench, history: &[Load]) {
    for (at, load) in history.iter().enumerate() {
        bench.load(load);
        bench.check(&format!("after load {at}"));
    }
}
