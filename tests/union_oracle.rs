//! The clusters of a transitive run equal the connected components that differential-dataflow maintains over the links
//! of that run, inserted one part after another.

use std::collections::BTreeMap;
use std::sync::mpsc;

use differential_dataflow::input::Input;
use differential_dataflow::operators::Iterate;

use crate::support::corpora::{corpus, sample};
use crate::support::oracle::Doc;
use crate::support::output::label;
use crate::support::program::Dir;
use crate::support::texts::{Random, families, words};

/// The components of two nodes or more, by label propagation to a fixed point. Links come in several epochs.
fn components(links: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let (to, from) = mpsc::channel();
    let links = links.to_vec();
    timely::execute(timely::Config::process(2), move |worker| {
        let to = to.clone();
        let (mut input, probe) = worker.dataflow::<u32, _, _>(|scope| {
            let (input, links) = scope.new_collection::<(u32, u32), isize>();
            let both = links.clone().concat(links.map(|(a, b)| (b, a)));
            let labels = both.clone().map(|(node, _)| (node, node)).distinct();
            let labels = labels.clone().iterate(move |scope, inner| {
                let both = both.enter(scope);
                let labels = labels.enter(scope);
                inner
                    .join_map(both, |_, label, neighbour| (*neighbour, *label))
                    .concat(labels)
                    .reduce(|_, labels, least| least.push((*labels[0].0, 1)))
            });
            let (probe, _) = labels.consolidate().inspect(move |row| to.send(*row).unwrap()).probe();
            (input, probe)
        });
        for (epoch, part) in links.chunks(links.len().div_ceil(3).max(1)).enumerate() {
            for (i, link) in part.iter().enumerate() {
                if i % worker.peers() == worker.index() {
                    input.insert(*link);
                }
            }
            input.advance_to(epoch as u32 + 1);
            input.flush();
            worker.step_while(|| probe.less_than(input.time()));
        }
    })
    .unwrap();
    let mut labels: BTreeMap<(u32, u32), isize> = BTreeMap::new();
    for (row, _time, change) in from {
        *labels.entry(row).or_default() += change;
    }
    let mut sets: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for ((node, label), count) in labels {
        assert!(count == 0 || count == 1, "{node} has label {label} {count} times");
        if count == 1 {
            sets.entry(label).or_default().push(node);
        }
    }
    sets.into_values().collect()
}

fn agree(texts: &[String], flags: &str) {
    let docs = Doc::all(texts);
    let dir = Dir::new();
    dir.write("in.jsonl", Doc::jsonl(&docs));
    let output = dir.output(&format!("in.jsonl --clustering transitive --pairs -w 2 {flags}"), "out");
    let number = |id: &serde_json::Value| label(id)[1..].parse::<u32>().unwrap();
    let links: Vec<(u32, u32)> =
        output.pairs.iter().map(|row| (number(&row["a"]), number(&row["b"]))).collect();
    let mut want: Vec<Vec<String>> = components(&links)
        .into_iter()
        .map(|set| {
            let mut ids: Vec<String> = set.into_iter().map(|node| format!("d{node}")).collect();
            ids.sort();
            ids
        })
        .collect();
    want.sort();
    assert!(want.len() > 20, "too few components to show anything: {}", want.len());
    assert_eq!(want, output.partition(), "{flags}");
}

/// Long chains, in which each document resembles only its neighbours, and branches between them, in random order.
#[test]
fn chains_and_branches() {
    let mut random = Random(99);
    let mut texts = Vec::new();
    for chain in 0..40 {
        let start = chain * 10_000;
        for step in 0..1 + random.below(40) {
            // Windows of 100 words that move by 8: neighbours share 88 of 104 5-grams (0.846), the next but one 80 of 112.
            texts.push(words(start + step * 8, 100));
        }
        texts.push(words(start, 100).to_uppercase());
        if chain % 3 == 0 {
            // The start of this chain and of the next in one text: contained in neither, linked to neither at 0.8.
            texts.push(format!("{} {}", words(start, 50), words(start + 10_000, 50)));
        }
    }
    random.shuffle(&mut texts);
    for flags in ["--threshold 0.8", "--threshold 0.45", "--method exact"] {
        agree(&texts, flags);
    }
}

#[test]
fn the_sample() {
    agree(&sample(), "--threshold 0.7");
    agree(&sample(), "--method minhash");
}

#[test]
#[ignore = "needs ALIKE_CORPORA"]
fn licence_texts() {
    let texts = families(corpus("licence_texts"), 30);
    agree(&texts, "--threshold 0.7");
    agree(&texts, "--method minhash");
}
