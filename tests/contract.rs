//! Components that all workers keep together while links come and go, against union-find over the links from scratch
//! after every batch; and how many rounds and rows that takes on graphs made to take many.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use alike::components::{Engine, Link, Relabelled, Touched, Work, components_of};
use alike::error::Error;
use proptest::prelude::*;

use crate::support::corpora::full;
use crate::support::texts::Random;

/// What all workers receive at once.
#[derive(Clone, Debug, Default)]
struct Batch {
    /// Links that are never taken back.
    keep: Vec<Link>,
    /// Links that come and go, with how often.
    change: Vec<(Link, isize)>,
}

impl Batch {
    fn of(links: &[Link], sign: isize) -> Batch {
        Batch { keep: Vec::new(), change: links.iter().map(|link| (*link, sign)).collect() }
    }
}

/// Histories of each kind; ALIKE_FULL asks for many more.
fn cases() -> u32 {
    if full() { 5000 } else { 250 }
}

/// What an engine of so many workers says after each batch, and what all workers did for it. Which worker receives a link depends
/// on the batch, so most are taken back through others than they were put in by.
fn follow(workers: usize, batches: &[Batch]) -> Vec<(Vec<Relabelled>, Work)> {
    let owned: Arc<[Batch]> = batches.into();
    let guards = timely::execute(timely::Config::process(workers), move |worker| {
        let mut engine = Engine::new(worker);
        let (index, peers) = (worker.index(), worker.peers());
        let settle = |(number, batch): (usize, &Batch)| {
            engine.keep(batch.keep.iter().copied().skip(index).step_by(peers));
            let mine = batch.change.iter().copied().skip((index + number) % peers).step_by(peers);
            engine.change(worker, mine);
            let changes = engine.settle(worker, &|| Ok(())).unwrap();
            assert!(changes.is_sorted());
            (changes, engine.take_work())
        };
        let told: Vec<_> = owned.iter().enumerate().map(settle).collect();
        engine.close(worker, &|| Ok(())).unwrap();
        told
    });
    let mut all = vec![(Vec::new(), Work::default()); batches.len()];
    for of_worker in guards.unwrap().join() {
        for (sum, (mut changes, work)) in all.iter_mut().zip(of_worker.unwrap()) {
            sum.0.append(&mut changes);
            sum.1.rounds = sum.1.rounds.max(work.rounds);
            sum.1.rows += work.rows;
        }
    }
    all
}

fn ordered((a, b): &Link) -> Link {
    (*a.min(b), *a.max(b))
}

/// The labels of contents that are not their own, by union-find from scratch.
fn labels(links: impl Iterator<Item = Link>) -> BTreeMap<u32, u32> {
    let mut above: BTreeMap<u32, u32> = BTreeMap::new();
    fn root(above: &mut BTreeMap<u32, u32>, content: u32) -> u32 {
        let mut top = content;
        while let Some(next) = above.get(&top) {
            top = *next;
        }
        if content != top {
            above.insert(content, top);
        }
        top
    }
    let mut met = BTreeSet::new();
    for (a, b) in links {
        let (x, y) = (root(&mut above, a), root(&mut above, b));
        met.extend([a, b]);
        if x != y {
            above.insert(x.max(y), x.min(y));
        }
    }
    let labels = met.into_iter().map(|content| (content, root(&mut above, content)));
    labels.filter(|(content, label)| content != label).collect()
}

/// The labels after the changes that are reported.
fn apply(labels: &mut BTreeMap<u32, u32>, changes: &[Relabelled]) {
    let told: BTreeSet<u32> = changes.iter().map(|change| change.content).collect();
    assert_eq!(told.len(), changes.len(), "a content is reported once");
    for Relabelled { content, before, after } in changes {
        assert_eq!(labels.remove(content).unwrap_or(*content), *before);
        assert_ne!(before, after);
        if content != after {
            labels.insert(*content, *after);
        }
    }
}

/// Follows batches and compares after each one. How many labels each changed, and what was done for it.
fn check(workers: usize, batches: &[Batch]) -> Vec<(usize, Work)> {
    let mut counts: BTreeMap<Link, isize> = BTreeMap::new();
    let mut got = BTreeMap::new();
    let told = follow(workers, batches);
    for (number, (batch, (changes, _))) in batches.iter().zip(&told).enumerate() {
        let kept = batch.keep.iter().map(|link| (*link, 1));
        let all = kept.chain(batch.change.iter().copied());
        all.for_each(|(link, n)| *counts.entry(ordered(&link)).or_default() += n);
        apply(&mut got, changes);
        let want = labels(counts.iter().filter(|(_, count)| **count > 0).map(|(link, _)| *link));
        assert_eq!(got, want, "after batch {number} with {workers} workers");
    }
    told.into_iter().map(|(changes, work)| (changes.len(), work)).collect()
}

/// Batches of links among `contents`, of which those that are taken back are there, if in the other direction.
fn history(contents: u32) -> impl Strategy<Value = Vec<Batch>> {
    let step = (0u8..8, 0..contents, 0..contents, any::<prop::sample::Index>());
    prop::collection::vec(prop::collection::vec(step, 0..40), 1..7).prop_map(|batches| {
        let mut there: Vec<Link> = Vec::new();
        let batch = |steps: Vec<(u8, u32, u32, prop::sample::Index)>| {
            let mut batch = Batch::default();
            for (what, a, b, which) in steps {
                match what {
                    0 => batch.keep.push((a, b)),
                    1..=3 if !there.is_empty() => {
                        let (a, b) = there.swap_remove(which.index(there.len()));
                        batch.change.push(((b, a), -1));
                    }
                    _ => {
                        there.push((a, b));
                        batch.change.push(((a, b), 1));
                    }
                }
            }
            batch
        };
        batches.into_iter().map(batch).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn histories(history in history(24), workers in 1usize..=3) {
        check(workers, &history);
    }

    #[test]
    fn sparse_histories(history in history(120), workers in 1usize..=3) {
        check(workers, &history);
    }

    #[test]
    fn loads(
        links in prop::collection::vec((0u32..40, 0u32..40), 0..60),
        insertions in prop::collection::vec((0u32..50, 0u32..50), 0..20),
        goes in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
        workers in 1usize..=3,
    ) {
        // Links that go are given the other way round, some of them come again, and some are there twice.
        let chosen: BTreeSet<usize> =
            goes.iter().filter(|_| !links.is_empty()).map(|index| index.index(links.len())).collect();
        let removals: Vec<Link> = chosen.into_iter().map(|at| (links[at].1, links[at].0)).collect();
        let mut after: Vec<Link> = links.iter().map(ordered).collect();
        for link in removals.iter().map(ordered) {
            let at = after.iter().position(|other| *other == link).unwrap();
            after.swap_remove(at);
        }
        after.extend(&insertions);
        let mut got = labels(links.iter().copied());
        let touched = Touched { links, insertions, removals };
        apply(&mut got, &components_of(workers, touched, || Ok(())).unwrap());
        prop_assert_eq!(got, labels(after.into_iter()));
    }
}

/// How the contents of a shape are numbered.
#[derive(Clone, Copy, Debug)]
enum Numbering {
    Ascending,
    Descending,
    Reversed,
    Shuffled,
}

const NUMBERINGS: [Numbering; 4] =
    [Numbering::Ascending, Numbering::Descending, Numbering::Reversed, Numbering::Shuffled];

/// The links of a shape of `count` contents under another numbering.
fn numbered(links: &[Link], count: u32, numbering: Numbering) -> Vec<Link> {
    let bits = u32::BITS - count.next_power_of_two().trailing_zeros();
    let mut shuffled: Vec<u32> = (0..count).collect();
    Random(7).shuffle(&mut shuffled);
    let number = |content: u32| match numbering {
        Numbering::Ascending => content,
        Numbering::Descending => count - 1 - content,
        Numbering::Reversed => content.reverse_bits() >> bits,
        Numbering::Shuffled => shuffled[content as usize],
    };
    links.iter().map(|(a, b)| (number(*a), number(*b))).collect()
}

fn chain(count: u32) -> Vec<Link> {
    (1..count).map(|content| (content - 1, content)).collect()
}

fn clique(contents: std::ops::Range<u32>) -> Vec<Link> {
    contents.clone().flat_map(|a| (contents.start..a).map(move |b| (b, a))).collect()
}

/// Shapes that are one component each, with the contents they have, and one link that goes and comes back.
fn shapes() -> Vec<(&'static str, u32, Vec<Link>, Link)> {
    let ring = chain(5000).into_iter().chain([(0, 4999)]).collect();
    let star = (0..4999).map(|leaf| (4999, leaf)).collect();
    // Every second content is a leg of the one before it.
    let caterpillar =
        (1..5000).map(|content| (if content % 2 == 0 { content - 2 } else { content - 1 }, content));
    let tree = (1..5000).map(|content| ((content - 1) / 2, content)).collect();
    let cliques = [clique(0..100), clique(100..200), vec![(50, 150)]].concat();
    vec![
        ("chain", 5000, chain(5000), (2499, 2500)),
        ("ring", 5000, ring, (2499, 2500)),
        ("star", 5000, star, (4999, 2500)),
        ("caterpillar", 5000, caterpillar.collect(), (2498, 2500)),
        ("tree", 5000, tree, (0, 2)),
        ("cliques", 200, cliques, (50, 150)),
    ]
}

/// However it is numbered, a graph of 5,000 contents takes tens of rounds, and a link that goes or comes back takes no
/// more, and touches few rows beside the labels that change.
#[test]
fn shapes_take_few_rounds() {
    for (name, count, links, one) in shapes() {
        for numbering in NUMBERINGS {
            let (links, one) = (numbered(&links, count, numbering), numbered(&[one], count, numbering));
            let batches = [Batch::of(&links, 1), Batch::of(&one, -1), Batch::of(&one, 1)];
            for (batch, (changed, work)) in check(1, &batches).into_iter().enumerate() {
                let told = format!("{name}, {numbering:?}, batch {batch}: {changed} labels, {work:?}");
                assert!(work.rounds <= 40, "{told}");
                assert!(batch == 0 || work.rows <= 1000 + 4 * changed, "{told}");
            }
        }
    }
}

/// Contracted where they are given, links of any shape are as few rounds.
#[test]
fn kept_shapes() {
    for (name, count, links, _) in shapes() {
        for workers in [1, 2, 3] {
            let keep = numbered(&links, count, Numbering::Shuffled);
            let batches =
                [Batch { keep, ..Batch::default() }, Batch::of(&[(0, 6000)], 1), Batch::of(&[(0, 6000)], -1)];
            for (_, work) in check(workers, &batches) {
                assert!(work.rounds <= 40, "{name}, {workers} workers: {work:?}");
            }
        }
    }
}

/// One component of 200,000 contents: chains of 5,000 that are joined where they begin and anywhere else.
#[test]
fn a_giant_of_chains() {
    let mut random = Random(3);
    let mut links: Vec<Link> = chain(200_000);
    links
        .iter_mut()
        .filter(|link| link.1 % 5000 == 0)
        .for_each(|link| link.0 = random.below(link.1 as usize) as u32);
    let links = numbered(&links, 200_000, Numbering::Shuffled);
    let gone: Vec<Link> =
        (0..10).map(|_| links[random.below(links.len())]).collect::<BTreeSet<_>>().into_iter().collect();
    let batches = [Batch::of(&links, 1), Batch::of(&gone, -1), Batch::of(&gone, 1)];
    for (_, work) in check(2, &batches) {
        assert!(work.rounds <= 60, "{work:?}");
    }
    let touched = Touched { links: links.clone(), insertions: vec![(7, 300_000)], removals: gone.clone() };
    let mut got = labels(links.iter().copied());
    apply(&mut got, &components_of(2, touched, || Ok(())).unwrap());
    let after = links.into_iter().filter(|link| !gone.contains(link)).chain([(7, 300_000)]);
    assert!(got == labels(after));
}

/// A link that goes without having been there is an error and not an answer, and the engine still comes to an end.
#[test]
fn a_link_that_is_not_there() {
    for workers in [1, 2] {
        let touched = Touched { links: chain(10), insertions: vec![(3, 5)], removals: vec![(5, 3), (2, 7)] };
        let Err(Error::Worker(told)) = components_of(workers, touched, || Ok(())) else {
            panic!("the link 2-7 was never there");
        };
        assert!(told.contains("2 and 7") || told.contains("7 and 2"), "{told}");
    }
}

/// Whoever waits can be told to stop.
#[test]
fn waiting_ends_when_it_is_told_to() {
    let touched = Touched { links: chain(10), ..Touched::default() };
    let end = components_of(2, touched, || Err(Error::Interrupted));
    assert!(matches!(end, Err(Error::Interrupted)), "{end:?}");
}
