use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Links that are known, and what is asked.
#[derive(Default)]
struct Known {
    links: BTreeSet<(Doc, Doc)>,
    /// Postings that each question meets.
    each: u64,
    met: u64,
    asked: usize,
    at_once: usize,
    has_room: bool,
}

impl Known {
    fn are_linked(&self, a: Doc, b: Doc) -> bool {
        self.links.contains(&(a.min(b), a.max(b)))
    }
}

impl Recollide for Known {
    fn linked(&mut self, content: Doc, others: Others<'_>) -> Result<Vec<(Doc, u32)>> {
        if matches!(others, Others::Many(_)) {
            (self.asked, self.met) = (self.asked + 1, self.met + self.each);
        }
        let ends: BTreeSet<Doc> = self.links.iter().flat_map(|(a, b)| [*a, *b]).collect();
        let linked = |other: &Doc| self.are_linked(content, *other);
        let found = match others {
            Others::Few(few) => few.iter().map(|doc| *doc as Doc).filter(linked).collect::<Vec<_>>(),
            Others::Many(are) => ends.into_iter().filter(|doc| are(*doc)).filter(linked).collect(),
        };
        Ok(found.into_iter().map(|doc| (doc, content + doc)).collect())
    }

    fn met(&self) -> u64 {
        self.met
    }

    fn all(&mut self, contents: &[Doc], _: u64) -> Result<Option<Vec<(Doc, Doc)>>> {
        self.at_once += 1;
        let mut forest = Forest::new(contents.last().map_or(0, |last| *last as usize + 1));
        let tree = self.links.iter().filter(|(a, b)| forest.union(*a, *b));
        Ok(self.has_room.then(|| tree.copied().collect()))
    }
}

/// The leaves of a star whose middle went: none is linked to another, and each meets all others under the keys of the middle.
#[test]
fn the_leaves_of_a_star_are_not_asked_one_by_one() {
    let leaves = 20_000;
    let survivors: HashSet<Doc> = (0..leaves).collect();
    let exhausted: Vec<Vec<Doc>> = survivors.iter().map(|doc| vec![*doc]).collect();
    let links = BTreeSet::from([(3, 17), (17, 400), (9, 10)]);
    let mut known = Known { links, each: 10 * u64::from(leaves), has_room: true, ..Known::default() };
    let divided = parts(&survivors, exhausted, (&mut known, 0)).expect("divided");
    assert!(known.asked < 20 && known.at_once == 1, "{} and {}", known.asked, known.at_once);
    assert!(divided.split.contains(&vec![3, 17, 400]) || !divided.split.concat().contains(&17));
    assert!((leaves as usize - 4..leaves as usize).contains(&divided.split.len()));
    let ends: BTreeSet<(Doc, Doc)> = divided.links.iter().map(|(a, b, _)| (*a.min(b), *a.max(b))).collect();
    assert_eq!(ends, known.links);
    assert!(divided.links.iter().all(|(a, b, shared)| a + b == *shared));
}

proptest! {
    /// However contents are asked for, the answer is that of painting: what is linked is in one part.
    #[test]
    fn parts_are_what_painting_makes_of_links(
        part_of in prop::collection::vec(0u32..12, 40..80),
        links in prop::collection::btree_set((0u32..80, 0u32..80), 0..30),
        (each, has_room) in (prop_oneof![Just(0u64), Just(1 << 20)], any::<bool>()),
    ) {
        let count = part_of.len() as Doc;
        let links = links.into_iter().filter(|(a, b)| a < b && *b < count).collect();
        let mut known = Known { links, each, has_room, ..Known::default() };
        let of = |part: u32| -> Vec<Doc> { (0..).zip(&part_of).filter(|row| *row.1 == part).map(|row| row.0).collect() };
        // Number 0 is the rest, which is never without contents: it has one of its own.
        let exhausted: Vec<Vec<Doc>> = (1..12).map(of).filter(|part| !part.is_empty()).collect();
        let survivors: HashSet<Doc> = (0..=count).collect();
        let divided = parts(&survivors, exhausted, (&mut known, 0)).expect("divided");
        let mut colours: Vec<u32> = part_of.iter().copied().chain([0]).collect();
        for (a, b) in &known.links {
            let (x, y) = (colours[*a as usize], colours[*b as usize]);
            colours.iter_mut().filter(|colour| **colour == x.max(y)).for_each(|colour| *colour = x.min(y));
        }
        let colour = |colour| -> Vec<Doc> { (0..).zip(&colours).filter(|row| *row.1 == colour).map(|row| row.0).collect() };
        let mut expected: Vec<Vec<Doc>> = (1..12).map(colour).filter(|part| !part.is_empty()).collect();
        let mut split = divided.split;
        expected.sort();
        split.sort();
        prop_assert_eq!(split, expected);
        prop_assert!(divided.links.iter().all(|(a, b, _)| known.are_linked(*a, *b)));
    }
}
