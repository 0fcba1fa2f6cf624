use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use differential_dataflow::input::Input;
use timely::dataflow::operators::Probe;

use super::*;
use crate::components::Forest;
use crate::document::Doc;

/// The labels of linked contents, by union-find from scratch.
pub(super) fn labels_of(links: &[Link]) -> BTreeMap<Doc, Doc> {
    let links = links.iter().filter(|(a, b)| a != b);
    let contents: BTreeSet<Doc> = links.clone().flat_map(|(a, b)| [*a, *b]).collect();
    let mut forest = Forest::new(contents.last().map_or(0, |last| *last as usize + 1));
    for (a, b) in links {
        forest.union(*a, *b);
    }
    contents.into_iter().map(|content| (content, forest.find(content))).collect()
}

/// What the dataflow alone says after each batch of links, and what it did.
fn contracted(batches: Vec<Vec<(Link, isize)>>) -> Vec<(BTreeMap<Doc, Doc>, Work)> {
    timely::execute_directly(move |worker| {
        let (rows, watch) = (Rc::<RefCell<BTreeMap<(Doc, Doc), isize>>>::default(), Watch::default());
        let (mut input, probe) = worker.dataflow::<u64, _, _>(|scope| {
            let (input, links) = scope.new_collection();
            let told = Rc::clone(&rows);
            let labels = contract(links, &watch);
            let labels = labels.inspect(move |(row, _, n)| *told.borrow_mut().entry(*row).or_default() += n);
            (input, labels.inner.probe().0)
        });
        let settle = |(time, batch): (u64, Vec<(Link, isize)>)| {
            batch.into_iter().for_each(|(link, change)| input.update(link, change));
            input.advance_to(time);
            input.flush();
            worker.step_while(|| probe.less_than(&time));
            rows.borrow_mut().retain(|_, count| *count != 0);
            assert!(rows.borrow().values().all(|count| *count == 1), "{rows:?}");
            assert_eq!(watch.absent(), None);
            (rows.borrow().keys().copied().collect(), watch.take_work())
        };
        (1..).zip(batches).map(settle).collect()
    })
}

#[test]
fn every_linked_content_has_a_label_and_no_other_has() {
    let links = [(1, 2), (5, 4), (2, 3), (7, 7), (4, 5)];
    let put = links.iter().map(|link| (*link, 1)).collect();
    let take = vec![((2, 1), -1), ((4, 5), -1)];
    let told = contracted(vec![put, take, vec![((5, 4), -1), ((3, 5), 1)], vec![((2, 3), -1), ((3, 5), -1)]]);
    let all = [&links[..], &[(5, 4), (2, 3)], &[(2, 3), (3, 5)], &[]];
    for ((labels, _), links) in told.into_iter().zip(all) {
        assert_eq!(labels, labels_of(links));
    }
}

/// A link between contents that are connected without it, in a component of any size, is known to change nothing after a
/// few rows on each level.
#[test]
fn a_link_that_joins_nothing_costs_little() {
    let mut rows = Vec::new();
    for count in [1000, 30_000] {
        let ring = (0..count).map(|content| ((content, (content + 1) % count), 1)).collect();
        let chord = (count / 5, count / 2);
        let told = contracted(vec![ring, vec![(chord, 1)], vec![(chord, -1)], vec![((0, 1), -1)]]);
        assert!(told.iter().all(|(labels, _)| labels.values().all(|label| *label == 0)));
        rows.extend(told[1..].iter().map(|(_, work)| work.rows));
    }
    assert!(rows.iter().all(|rows| *rows < 1500), "{rows:?}");
}
