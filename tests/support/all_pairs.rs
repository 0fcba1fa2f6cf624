//! What is alike by comparing each text with all others.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// All pairs with a resemblance of so much, by counting what each text shares with each other.
pub(crate) fn alike_pairs(texts: &BTreeMap<usize, String>, threshold: &str) -> Vec<(usize, usize)> {
    let millionths = (threshold.parse::<f64>().unwrap() * 1e6).round() as usize;
    let sets: Vec<(usize, Vec<u64>)> = texts.iter().map(|(id, text)| (*id, shingles(text))).collect();
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, (_, set)) in sets.iter().enumerate() {
        set.iter().for_each(|shingle| holders.entry(*shingle).or_default().push(at));
    }
    let mut pairs = Vec::new();
    for (at, (a, of_a)) in sets.iter().enumerate() {
        let mut shared = vec![0; sets.len()];
        of_a.iter().flat_map(|shingle| &holders[shingle]).for_each(|other| shared[*other] += 1);
        for (other, (b, of_b)) in sets.iter().enumerate().skip(at + 1) {
            if shared[other] * 1_000_000 >= (of_a.len() + of_b.len() - shared[other]) * millionths {
                pairs.push((*a, *b));
            }
        }
    }
    pairs
}

/// The shingles of a text, of five words each, as digests.
fn shingles(text: &str) -> Vec<u64> {
    let words: Vec<&str> = text.split(' ').collect();
    let all: BTreeSet<u64> =
        words.windows(5).map(|words| xxhash_rust::xxh3::xxh3_64(words.join(" ").as_bytes())).collect();
    all.into_iter().collect()
}

/// What is connected by pairs.
pub(crate) fn chained(pairs: Vec<(usize, usize)>) -> BTreeSet<BTreeSet<usize>> {
    let mut parents: BTreeMap<usize, usize> = BTreeMap::new();
    let root = |parents: &BTreeMap<usize, usize>, mut page: usize| {
        while let Some(parent) = parents.get(&page).filter(|parent| **parent != page) {
            page = *parent;
        }
        page
    };
    for (a, b) in pairs {
        let (x, y) = (root(&parents, a), root(&parents, b));
        // Whoever is looked at hangs from the root directly.
        parents.extend([(a, x.min(y)), (b, x.min(y)), (x, x.min(y)), (y, x.min(y))]);
    }
    let mut clusters: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for page in parents.keys() {
        clusters.entry(root(&parents, *page)).or_default().insert(*page);
    }
    clusters.into_values().collect()
}
