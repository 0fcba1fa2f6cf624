//! A collection after any history of loads has the clusters of a one-shot run over the documents that are left.

use std::collections::BTreeMap;

use alike::config::{Clustering, Config, Method, Verify};
use proptest::prelude::*;

use crate::support::corpora::full;
use crate::support::history::{Bench, Load, Op, config, contained, follow_on, history, verified, within};

fn follow(config: Config, history: &[Load]) {
    follow_on(Bench::new(config), history);
}

/// Histories of each method; ALIKE_FULL asks for many more.
fn cases() -> u32 {
    if full() { 1000 } else { 40 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn join(history in history()) {
        follow(config(Method::Join), &history);
    }

    #[test]
    fn containment(history in history()) {
        follow(contained(), &history);
    }

    #[test]
    fn features(history in history()) {
        follow(config(Method::Minhash), &history);
    }

    #[test]
    fn verified_features(history in history()) {
        follow(verified(), &history);
    }

    #[test]
    fn exact(history in history()) {
        follow(config(Method::Exact), &history);
    }
}

/// Near-copies beyond what a key group may have before it is handled as a hot group, that come in several loads, are
/// bridged, and go again.
#[test]
fn hot_groups_come_and_go() {
    let mut config = config(Method::Join);
    config.threshold = "0.8".parse().expect("a threshold");
    let words = |from: usize, count: usize| (from..from + count).map(|i| format!("w{i}")).collect::<Vec<_>>();
    let copy = |template: &[String], at: usize| {
        let mut text = template.to_vec();
        text[at % 40] = format!("x{at}");
        text.join(" ")
    };
    let (one, other) = (words(0, 60), [words(0, 25), words(100, 35)].concat());
    let mut bench = Bench::new(config);
    let load = |bench: &mut Bench, ops: Vec<Op>, what: &str| {
        bench.load(&Load { ops, workers: 2, files: 2, epoch_bytes: None });
        bench.check(what);
    };
    let copies = |template: &[String], ids: std::ops::Range<usize>| -> Vec<Op> {
        ids.map(|id| Op::Upsert(id, copy(template, id))).collect()
    };
    load(&mut bench, copies(&one, 0..700), "one hot group");
    load(&mut bench, copies(&other, 1000..1600), "two hot groups that share keys");
    load(&mut bench, copies(&one, 700..720), "a hot group grows");
    // Each of these resembles the one before it, the first the one hot group, the last the other.
    let bridge = (0..=35).map(|step| {
        let text = [one[..25].to_vec(), other[25..25 + step].to_vec(), one[25 + step..].to_vec()].concat();
        Op::Upsert(2000 + step, text.join(" "))
    });
    load(&mut bench, bridge.collect(), "a bridge");
    assert_eq!(bench.clusters().len(), 1);
    load(&mut bench, vec![Op::Delete(2017), Op::Delete(2018), Op::Delete(2019), Op::Delete(2020)], "a gap");
    load(&mut bench, (2010..2030).map(Op::Delete).collect(), "no bridge");
    assert_eq!(bench.clusters().len(), 2);
    load(&mut bench, (0..650).map(Op::Delete).collect(), "less than a hot group");
}

/// Pages that are alike only by a template, which goes or becomes another text: what is left of them are pairs that share more,
/// and pages that stand alone.
fn templates_go(config: &Config, hub: usize) {
    let words = |name: char, of: usize, count: usize| (0..count).map(move |at| format!("{name}{of}x{at}"));
    let template: Vec<String> = words('t', 0, hub).collect();
    let text = |own: &mut dyn Iterator<Item = String>| {
        template.iter().cloned().chain(own).collect::<Vec<_>>().join(" ")
    };
    // Of every 50 pages two have most of their own words in common.
    let page = |id: usize| {
        let of = if id % 50 == 1 { id - 1 } else { id };
        text(&mut words('o', of, 20).chain(words('p', id, 5)))
    };
    for (workers, replaced) in [(1, false), (2, false), (3, true), (2, true)] {
        let mut bench = Bench::new(config.clone());
        let mut load = |ops: Vec<Op>, what: &str| {
            bench.load(&Load { ops, workers, files: 2, epoch_bytes: None });
            bench.check(&format!("{what} with {workers} workers"));
        };
        let pages = (0..700).map(|id| Op::Upsert(id, page(id)));
        load(
            std::iter::once(Op::Upsert(9000, text(&mut std::iter::empty()))).chain(pages).collect(),
            "a star",
        );
        // Another template, by which as many pages hang on the first, and stay.
        let other = |id: usize| words('u', 0, hub).chain(words('o', id, 25)).collect::<Vec<_>>().join(" ");
        load((1000..1100).map(|id| Op::Upsert(id, other(id))).collect(), "another one");
        let gone = if replaced { Op::Upsert(9000, "nothing like it".to_owned()) } else { Op::Delete(9000) };
        load(vec![gone], "no middle");
        load(vec![Op::Upsert(9000, text(&mut std::iter::empty()))], "the middle again");
        load((0..650).map(Op::Delete).chain([Op::Delete(9000)]).collect(), "few leaves");
    }
}

#[test]
fn templates_of_a_join_go() {
    let mut config = config(Method::Join);
    config.threshold = "0.6".parse().expect("a threshold");
    templates_go(&config, 60);
    templates_go(&within(config), 60);
}

#[test]
fn templates_that_are_contained_go() {
    let mut config = contained();
    config.threshold = "0.9".parse().expect("a threshold");
    templates_go(&config, 40);
}

#[test]
fn templates_of_features_go() {
    templates_go(&config(Method::Minhash), 60);
    templates_go(&verified(), 60);
    templates_go(&config(Method::Shingles), 60);
}

/// Hot groups of verified features are measured on sets, whose sizes are not those of postings.
#[test]
fn hot_groups_of_verified_features_grow() {
    let mut config = config(Method::Minhash);
    config.threshold = "0.8".parse().expect("a threshold");
    (config.minhash.k, config.minhash.s, config.minhash.r) = (6, 4, 1);
    config.verify = Verify::Resemblance;
    let copies = |ids: std::ops::Range<usize>| -> Vec<Op> {
        let words = |id: usize| {
            (0..60).map(move |at| if at == id % 40 { format!("x{id}") } else { format!("w{at}") })
        };
        ids.map(|id| Op::Upsert(id, words(id).collect::<Vec<_>>().join(" "))).collect()
    };
    let mut bench = Bench::new(config);
    for (ids, what) in [(0..600, "a hot group"), (600..1200, "it doubles"), (1200..1203, "a few more")] {
        bench.load(&Load { ops: copies(ids), workers: 2, files: 2, epoch_bytes: None });
        bench.check(what);
    }
}

/// Date, document, and its text or `None` for a deletion.
type Event = (String, String, Option<String>);

/// The events of a history among the corpora, in their order.
fn events(name: &str) -> Vec<Event> {
    let rows = crate::support::corpora::rows(&format!("{name}.events"));
    let mut rows: Vec<(u64, Event)> = rows
        .iter()
        .map(|row| {
            let word = |key: &str| row[key].as_str().map(str::to_owned);
            let text = word("text").filter(|_| row["op"] != "del");
            (
                row["seq"].as_u64().expect("a number"),
                (word("date").expect("a date"), word("doc").expect("a name"), text),
            )
        })
        .collect();
    rows.sort_by_key(|(seq, _)| *seq);
    rows.into_iter().map(|(_, event)| event).collect()
}

/// Follows a history: all before `base` is one load, then one for each period, the first `digits` of a date.
fn follow_events(name: &str, base: &str, digits: usize) {
    let events = events(name);
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut config = Config::default();
    config.cluster.clustering = Clustering::Transitive;
    let mut bench = Bench::new(config);
    let period = |date: &str| if date < base { String::new() } else { date[..digits].to_owned() };
    let mut loads = 0;
    for of_period in events.chunk_by(|a, b| period(&a.0) == period(&b.0)) {
        let ops = of_period.iter().map(|(_, doc, text)| {
            let next = numbers.len();
            let id = *numbers.entry(doc.clone()).or_insert(next);
            text.clone().map_or(Op::Delete(id), |text| Op::Upsert(id, text))
        });
        loads += 1;
        bench.load(&Load {
            ops: ops.collect(),
            workers: 1 + loads % 2,
            files: 1,
            epoch_bytes: Some(20_000 * loads as u64),
        });
        bench.check(&format!("{name}, after {}", of_period[0].0));
    }
    assert!(loads > 10 && bench.live.len() > 100, "{loads} loads, {} documents", bench.live.len());
}

#[test]
#[ignore = "needs ALIKE_CORPORA and an hour"]
fn real_histories_in_full() {
    follow_events("peps", "2015-01-01", 4);
    follow_events("rust_rfcs", "2015-01-01", 7);
}
