//! The dataflow: a graph of links contracted level by level, and labels brought back down.
//!
//! On a level every content that has neighbours names one *parent*: of its neighbours and itself the one of least
//! priority. The next level is the graph of parents: each link becomes one between the parents of its ends, or vanishes if
//! they are the same. What is connected stays so, and what is apart, too. There is a next level or an end, for the content
//! of greatest priority is nobody's parent.
//!
//! Priorities are random, drawn anew on each level but the first, so the levels are logarithmic in the size of the largest component:
//! of cliques one content is left, of chains half of them are, of stars half in the mean, and of any graph at least one
//! in 64 goes in the mean. (Sum 1 / (degree + 1) over a content and its neighbours: the mean of that over all contents is
//! 1, so it is at most 2 for half of them. With a priority x in the upper half of \[0, 1\] such a content is passed over
//! by each of these with a probability of at least 1 - 2^-degree, by all of them with at least 4^-2, since each makes the
//! others likelier.) Lacki, Mirrokni and Wlodarczyk, Connected Components at Scale via Local Contractions, 2018, choose
//! among the neighbours of neighbours, too: fewer levels, each at twice the work.
//!
//! A choice depends on the neighbours only, not on the component, so a link that comes or goes changes a few choices on
//! each level and no others. The least content of what each parent stands for goes up with the levels. Where a parent has
//! no neighbour it stands for a component: its least content is the label, which goes down again to all that chose it.
//! What goes down is the label and not the parent, so a component whose last parent is another one after a change, as it
//! mostly is, has nothing to tell its members.
//!
//! All levels are one collection with the level in its key, and level `k` is worked out in round `k` of an iteration. So
//! a key changes in one round only, and differential-dataflow never has to hold what one round did to it against what
//! later ones did.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use differential_dataflow::lattice::Lattice;
use differential_dataflow::operators::arrange::{Arranged, TraceAgent};
use differential_dataflow::operators::iterate::Variable;
use differential_dataflow::trace::BatchReader;
use differential_dataflow::trace::implementations::{ValBuilder, ValSpine};
use differential_dataflow::{AsCollection, Data, VecCollection};
use serde::{Deserialize, Serialize};
use timely::dataflow::operators::Inspect;
use timely::dataflow::operators::vec::Map;
use timely::order::Product;
use timely::progress::Timestamp;

use super::link::Link;
use crate::document::Doc;

/// A content on a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Node(u64);

impl Node {
    fn new(level: u32, content: Doc) -> Node {
        Node(u64::from(level) << 32 | u64::from(content))
    }

    fn level(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn content(self) -> Doc {
        self.0 as u32
    }

    /// What contents of this level are chosen by: the least one wins. On the first level it is not random but the content
    /// itself: in bulk most links there lead to the least content of a tree, and a star is then contracted at once. Where
    /// that does not help it costs one level.
    fn priority(self) -> (u64, Doc) {
        if self.level() == 0 {
            return (0, self.content());
        }
        let mut x = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31), self.content())
    }
}

/// When something holds: the time of the links, and the round.
type Round<T> = Product<T, u32>;
/// What changes, with a key and when.
type Rows<'scope, T, V> = VecCollection<'scope, Round<T>, (Node, V), isize>;
/// What is kept under keys.
type Kept<'scope, T, V> = Arranged<'scope, TraceAgent<ValSpine<Node, V, Round<T>, isize>>>;

/// Labels of level `k` come down in round `DOWN - k`, whatever the level on which their component ended. If a component
/// ends a level later after a change, the labels of its contents have not changed in any round.
/// A level at which that round is past already (no graph of 2^32 contents gets there but by a bad miracle) is as right,
/// and only costs more.
const DOWN: u32 = 256;

/// What a contraction does, as seen by the worker it runs on.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    rounds: Rc<RefCell<BTreeSet<u32>>>,
    rows: Rc<Cell<usize>>,
    absent: Rc<Cell<Option<Link>>>,
}

/// What a contraction did on a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Rounds of the iteration, up the levels and down again, that had anything to do.
    pub rounds: usize,
    /// Rows that came or went in what is kept: ends of links, nodes with their parents, and labels, on all levels.
    pub rows: usize,
}

impl Watch {
    /// What was done since this was asked for the last time.
    pub fn take_work(&self) -> Work {
        Work { rounds: self.rounds.take().len(), rows: self.rows.take() }
    }

    /// A link that has been taken back more often than it was put in, if there is one: labels mean nothing from there on.
    pub fn absent(&self) -> Option<Link> {
        self.absent.get()
    }

    /// Notes what changes, and in which rounds.
    fn note<'scope, T: Timestamp + Lattice, V: Data>(&self, kept: &Kept<'scope, T, V>) {
        let (rounds, rows) = (Rc::clone(&self.rounds), Rc::clone(&self.rows));
        kept.stream.clone().inspect_batch(move |time, batches| {
            rounds.borrow_mut().insert(time.inner);
            rows.set(rows.get() + batches.iter().map(BatchReader::len).sum::<usize>());
        });
    }
}

/// The label of every content that has a link to another: the least content of its component. A content without links is
/// not in what comes out; one could say that it is its own label.
///
/// Links are counted: one that was put in twice is there until it has been taken back twice. [`Watch::absent`] tells if
/// one was taken back more often than that.
///
/// What comes out is not consolidated: within a time a row may come and go.
pub fn contract<'scope, T: Timestamp + Lattice>(
    links: VecCollection<'scope, T, Link, isize>,
    watch: &Watch,
) -> VecCollection<'scope, T, (Doc, Doc), isize> {
    let outer = links.scope();
    outer.scoped::<Round<T>, _, _>("Contract", |scope| {
        let links = links.enter(scope).filter(|(a, b)| a != b);
        let parents = climb(links.flat_map(|(a, b)| [(Node::new(0, a), b), (Node::new(0, b), a)]), watch);
        let (families, roots) = gather(parents, watch);
        descend(families, roots, watch).leave(outer)
    })
}

/// From links, both ways, on the first level to the parents of all nodes on all levels.
fn climb<'scope, T: Timestamp + Lattice>(first: Rows<'scope, T, Doc>, watch: &Watch) -> Kept<'scope, T, Doc> {
    let (next, above) = Variable::new(first.scope(), Product::new(Default::default(), 1));
    let links = above.concat(first).arrange_by_key_named("Links");
    watch.note(&links);
    let absent = Rc::clone(&watch.absent);
    let parents = choose(links.clone(), "Parents", move |node, neighbours| {
        if node.level() == 0
            && let Some((other, _)) = neighbours.iter().find(|(_, count)| *count < 0)
        {
            absent.set(Some((node.content(), **other)));
        }
        let all = neighbours.iter().map(|(other, _)| Node::new(node.level(), **other).priority());
        all.fold(node.priority(), Ord::min).1
    });
    // Of the two directions of a link one is enough from here to the next level.
    let half = links.join_core(parents.clone(), |node, other, parent| {
        (node.content() < *other).then_some((Node::new(node.level(), *other), *parent))
    });
    let half = half.arrange_by_key_named("Links with one parent");
    let above = half.join_core(parents.clone(), |node, a, b| {
        let level = node.level() + 1;
        let both = [(Node::new(level, *a), *b), (Node::new(level, *b), *a)];
        both.into_iter().take(if a == b { 0 } else { 2 })
    });
    next.set(above);
    parents
}

/// A node of the level below that chose a node, and the least content that it stands for.
type Child = (Doc, Doc);

/// From parents to those that chose each, and to the nodes that have no neighbours, with the least content below each.
fn gather<'scope, T: Timestamp + Lattice>(
    parents: Kept<'scope, T, Doc>,
    watch: &Watch,
) -> (Kept<'scope, T, Child>, Rows<'scope, T, Doc>) {
    let first = parents.clone().flat_map_ref(|node, parent| {
        let content = node.content();
        (node.level() == 0).then_some((Node::new(1, *parent), (content, content)))
    });
    let (next, above) = Variable::new(first.scope(), Product::new(Default::default(), 1));
    let families = above.concat(first).arrange_by_key_named("Families");
    watch.note(&families);
    let least = choose(families.clone(), "Least", |_, children| {
        children.iter().map(|((_, least), _)| *least).fold(Doc::MAX, Ord::min)
    });
    let held = parents.join_core(least.clone(), |node, parent, least| [(*node, (*parent, *least))]);
    next.set(
        held.clone()
            .map(|(node, (parent, least))| (Node::new(node.level() + 1, parent), (node.content(), least))),
    );
    // A node has a parent if it has a neighbour.
    let free = least.as_collection(|node, least| (*node, *least));
    let roots = free.concat(held.map(|(node, (_, least))| (node, least)).negate());
    (families, roots)
}

/// From nodes that stand for components, with their labels, down to the labels of contents.
fn descend<'scope, T: Timestamp + Lattice>(
    families: Kept<'scope, T, Child>,
    roots: Rows<'scope, T, Doc>,
    watch: &Watch,
) -> VecCollection<'scope, Round<T>, (Doc, Doc), isize> {
    let (next, below) = Variable::new(roots.scope(), Product::new(Default::default(), 1));
    let roots = roots.inner.map(|((node, label), mut time, change)| {
        time.inner = time.inner.max(DOWN.saturating_sub(node.level()));
        ((node, label), time, change)
    });
    let labels = below.concat(roots.as_collection()).arrange_by_key_named("Labels");
    watch.note(&labels);
    let told =
        labels.join_core(families, |node, label, (child, _)| [(Node::new(node.level() - 1, *child), *label)]);
    next.set(told.clone().filter(|(node, _)| node.level() > 0));
    told.flat_map(|(node, label)| (node.level() == 0).then_some((node.content(), label)))
}

/// One value for each key, chosen from all that it has.
fn choose<'scope, T: Timestamp + Lattice, V: Data>(
    from: Kept<'scope, T, V>,
    name: &str,
    one: impl Fn(Node, &[(&V, isize)]) -> Doc + 'static,
) -> Kept<'scope, T, Doc> {
    from.reduce_abelian::<_, ValBuilder<_, _, _, _>, ValSpine<_, _, _, _>, _, _>(
        name,
        move |node, values, chosen| chosen.push((one(*node, values), 1)),
        |rows, node, changes| {
            rows.extend(changes.drain(..).map(|(value, time, n)| ((*node, value), time, n)));
        },
    )
}
