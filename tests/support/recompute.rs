//! A collection's documents clustered again, by the collection and by a one-shot run on their texts.

use std::sync::Arc;

use alike::collection::{QueryOverrides, RecomputeRequest, Snapshot, overridden};
use alike::config::{Config, Method, Rule, Sampling};
use alike::flow::{Outcome, Reason, Request, run};
use alike::progress::Progress;
use alike::read::discover;
use alike::resources::Resources;
use alike::simd::Simd;
use alike::similarity::Measure;

use crate::support::history::{Bench, Op, config};

/// Everything that a run found out, in names.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) removed: Vec<(String, usize, String, Reason, Option<String>, Measure)>,
    pub(crate) clusters: Vec<(String, Vec<String>)>,
    pub(crate) pairs: Option<Vec<(String, String, Measure, Reason)>>,
    /// Documents, those without a token, copies, links.
    pub(crate) tally: [u64; 4],
}

impl Found {
    fn of(outcome: &Outcome, pairs: bool) -> Found {
        let name = |doc: u32| String::from(outcome.run.documents.name(doc).expect("a name"));
        let removed = outcome.findings.removed.iter().map(|row| {
            let parent = row.parent.map(name);
            (name(row.doc), row.cluster, name(row.representative), row.reason, parent, row.measure)
        });
        let clusters = outcome.findings.clusters.iter();
        let clusters = clusters.map(|cluster| {
            (name(cluster.representative), cluster.members.iter().map(|doc| name(*doc)).collect())
        });
        let of_pair =
            |(a, b, measure, reason): &(u32, u32, Measure, Reason)| (name(*a), name(*b), *measure, *reason);
        let tally = outcome.tally;
        // Where not all pairs are asked for, how many links there are depends on what is a hot group.
        let links = if pairs { tally.links } else { 0 };
        Found {
            removed: removed.collect(),
            clusters: clusters.collect(),
            pairs: outcome.findings.pairs.as_ref().map(|pairs| pairs.iter().map(of_pair).collect()),
            tally: [tally.documents, tally.empty, tally.copies, links],
        }
    }
}

/// What is asked, and how.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) choice: QueryOverrides,
    pub(crate) workers: usize,
    pub(crate) pairs: bool,
    pub(crate) memory: Option<u64>,
}

pub(crate) fn replayed(bench: &Bench, asked: &Asked) -> Found {
    let snapshot = Snapshot::open(&bench.storage).expect("opened");
    let Asked { choice, workers, pairs, memory } = asked.clone();
    let scratch = bench.dir.join(".");
    let again = RecomputeRequest {
        overrides: choice,
        pairs,
        resources: Resources { workers, memory, simd: Simd::detect(), scratch, peers: None },
    };
    Found::of(&snapshot.recompute(again, Arc::new(Progress::default())).expect("a run"), asked.pairs)
}

/// The one-shot run on the live documents.
pub(crate) fn rerun(bench: &Bench, asked: &Asked) -> Found {
    let snapshot = Snapshot::open(&bench.storage).expect("opened");
    let mut order = Vec::new();
    let read = snapshot.documents(&mut |document| {
        order.push((document.first_load, document.id));
        Ok(())
    });
    read.expect("documents");
    order.sort();
    let lines = order.iter().map(|(_, id)| {
        let number: usize = id[1..].parse().expect("a number");
        Op::Upsert(number, bench.live[&number].clone()).line()
    });
    bench.dir.write("ordered.jsonl", lines.collect::<String>());
    let name = bench.dir.join("ordered.jsonl").to_string_lossy().into_owned();
    let sources = match order.is_empty() {
        true => Vec::new(),
        false => discover(&[name], &bench.dir.join(".")).expect("inputs").sources,
    };
    let resources = Resources {
        workers: 1,
        memory: None,
        simd: Simd::detect(),
        scratch: bench.dir.join("."),
        peers: None,
    };
    let config = overridden(&bench.config, &asked.choice).expect("a choice");
    let request = Request {
        pairs: asked.pairs,
        lexicon: bench.lexicon.clone(),
        ..Request::new(sources, config, resources)
    };
    Found::of(&run(request, Arc::new(Progress::default())).expect("a run"), asked.pairs)
}

pub(crate) fn keeping(config: Config, keep: &str) -> Config {
    let mut config = config;
    config.cluster.keep = keep.parse().expect("a policy");
    config
}

pub(crate) fn sampled(rule: Rule) -> Config {
    let mut config = config(Method::Shingles);
    config.count.rule = rule;
    (config.shingles.sampling, config.shingles.modulus) = (Sampling::Mod, 2);
    config
}
