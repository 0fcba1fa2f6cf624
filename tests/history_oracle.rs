//! Clusters over whole histories against differential-dataflow: the links between contents are a collection of its own,
//! into which a load puts some and takes some back; what it maintains as connected components must be the clusters
//! after every load.
//!
//! Links come from brute force over the live texts. Nothing is shared with the program but what a token is.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::mpsc;

use alike::config::{Method, Tokens};
use differential_dataflow::input::Input;
use differential_dataflow::operators::Iterate;
use proptest::prelude::*;

use crate::support::canonical::canonical_tokens;
use crate::support::corpora::full;
use crate::support::history::{Bench, Clusters, Load, config, history};
use crate::support::oracle::{Contents, Doc, fraction};

/// A link, or a content with itself, so that contents without links are nodes, too.
type Edge = (u32, u32);

/// The edges after each load become the components after each load, by label propagation to a fixed point: the label
/// of every node.
fn components(states: &[BTreeSet<Edge>]) -> Vec<BTreeMap<u32, u32>> {
    let (to, from) = mpsc::channel();
    let owned = states.to_vec();
    timely::execute_directly(move |worker| {
        let (mut input, probe) = worker.dataflow::<u32, _, _>(|scope| {
            let (input, edges) = scope.new_collection::<Edge, isize>();
            let both = edges.clone().concat(edges.map(|(a, b)| (b, a))).distinct();
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
        let mut before = BTreeSet::new();
        for (load, after) in (0..).zip(owned) {
            before.difference(&after).for_each(|edge| input.remove(*edge));
            after.difference(&before).for_each(|edge| input.insert(*edge));
            input.advance_to(load + 1);
            input.flush();
            worker.step_while(|| probe.less_than(input.time()));
            before = after;
        }
    });
    let changes: Vec<((u32, u32), u32, isize)> = from.into_iter().collect();
    let mut labels: BTreeMap<(u32, u32), isize> = BTreeMap::new();
    let of_load = |load: u32| {
        for (row, _, change) in changes.iter().filter(|(_, time, _)| *time == load) {
            *labels.entry(*row).or_default() += change;
        }
        assert!(labels.values().all(|count| (0..=1).contains(count)), "after load {load}: {labels:?}");
        let there = labels.iter().filter(|(_, count)| **count == 1);
        let labels: BTreeMap<u32, u32> = there.clone().map(|(row, _)| *row).collect();
        assert_eq!(labels.len(), there.count(), "a node has one label");
        labels
    };
    (0..states.len() as u32).map(of_load).collect()
}

/// The numbers that canonical texts have throughout a history.
#[derive(Default)]
struct Numbers(HashMap<Vec<String>, u32>);

impl Numbers {
    fn of(&mut self, text: &str) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(canonical_tokens(text, Tokens::Words)).or_insert(next)
    }
}

/// What is there after a load: edges, and the documents of each content.
fn state(
    live: &BTreeMap<usize, String>,
    numbers: &mut Numbers,
    method: Method,
) -> (BTreeSet<Edge>, BTreeMap<u32, Vec<String>>) {
    let doc = |(id, text): (&usize, &String)| Doc { id: format!("d{id}"), text: text.clone(), score: None };
    let docs: Vec<Doc> = live.iter().map(doc).collect();
    let half = fraction("0.5");
    let contents = Contents::count(&docs, 2, |pair| method == Method::Join && pair.resembles(half));
    let number: Vec<u32> = contents.holders.iter().map(|of| numbers.of(&docs[of[0]].text)).collect();
    let links = contents.pairs.iter().map(|pair| (number[pair.a], number[pair.b]));
    let links = links.map(|(a, b)| (a.min(b), a.max(b)));
    let edges = links.chain(number.iter().map(|node| (*node, *node))).collect();
    let ids = |of: &Vec<usize>| of.iter().map(|at| docs[*at].id.clone()).collect();
    (edges, number.iter().copied().zip(contents.holders.iter().map(ids)).collect())
}

/// The clusters that labels of contents make of documents.
fn clusters(labels: &BTreeMap<u32, u32>, documents: &BTreeMap<u32, Vec<String>>) -> Clusters {
    let mut of_label: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for (content, ids) in documents {
        of_label.entry(labels[content]).or_default().extend(ids.iter().cloned());
    }
    assert!(labels.keys().eq(documents.keys()), "every live content is a node, and nothing else");
    of_label.into_values().filter(|members| members.len() > 1).collect()
}

fn follow(method: Method, history: &[Load]) {
    let mut bench = Bench::new(config(method));
    let mut numbers = Numbers::default();
    let (mut edges, mut documents, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for load in history {
        bench.load(load);
        found.push(bench.clusters());
        let (of_load, ids) = state(&bench.live, &mut numbers, method);
        edges.push(of_load);
        documents.push(ids);
    }
    for (load, labels) in components(&edges).iter().enumerate() {
        assert_eq!(found[load], clusters(labels, &documents[load]), "after load {load}");
    }
}

/// Histories of each method; ALIKE_FULL asks for many more.
fn cases() -> u32 {
    if full() { 1000 } else { 40 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn join(history in history()) {
        follow(Method::Join, &history);
    }

    #[test]
    fn exact(history in history()) {
        follow(Method::Exact, &history);
    }
}

/// The oracle itself: a chain that loses its middle, and gets it back.
#[test]
fn components_come_and_go() {
    let chain: BTreeSet<Edge> =
        (0..6).map(|node| (node, node)).chain((0..5).map(|node| (node, node + 1))).collect();
    let mut broken = chain.clone();
    broken.retain(|edge| *edge != (2, 3));
    let all = components(&[chain.clone(), broken, BTreeSet::new(), chain]);
    let labels = |at: usize| all[at].values().copied().collect::<Vec<_>>();
    assert_eq!(labels(0), [0; 6]);
    assert_eq!(labels(1), [0, 0, 0, 3, 3, 3]);
    assert!(all[2].is_empty());
    assert_eq!(labels(3), [0; 6]);
}
