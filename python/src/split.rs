//! Rows divided into two parts so that no cluster stands in both.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Which rows are in the first part and which in the second. `clusters` has the cluster of each row; a row without one stands
/// for itself. Whole clusters go to the second part, in an order that the seed draws, as long as they fit into a share of
/// all rows. Rows that are left out are in neither.
pub fn sides(clusters: &[Option<i64>], left_out: &[bool], share: f64, seed: u64) -> (Vec<bool>, Vec<bool>) {
    // A cluster is known by its first row.
    let mut first = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (row, cluster) in clusters.iter().enumerate().filter(|(row, _)| !left_out[*row]) {
        let new = groups.len();
        let at = cluster.map_or(new, |cluster| *first.entry(cluster).or_insert(new));
        if at == new {
            groups.push(Vec::new());
        }
        groups[at].push(row);
    }
    let rows: usize = groups.iter().map(Vec::len).sum();
    // A share such as 0.29 lies below what it says by less than that.
    let mut room = (share * rows as f64 + 1e-9).floor() as usize;
    groups.sort_by_cached_key(|group| drawn(group[0], seed));
    let (mut train, mut test) = (vec![false; clusters.len()], vec![false; clusters.len()]);
    for group in groups {
        let fits = group.len() <= room;
        room -= if fits { group.len() } else { 0 };
        let side = if fits { &mut test } else { &mut train };
        group.into_iter().for_each(|row| side[row] = true);
    }
    (train, test)
}

/// A number that a seed draws for a row.
fn drawn(row: usize, seed: u64) -> u64 {
    xxh3_64_with_seed(&(row as u64).to_le_bytes(), seed)
}
