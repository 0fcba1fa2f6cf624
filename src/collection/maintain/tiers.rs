//! Which runs are merged: neighbours of similar size, so that there are few runs and each byte is rarely written.

/// How runs are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compaction {
    /// All runs become one, or one for each of several processes.
    Full,
    /// Neighbours of similar size become one wherever there are eleven of them, or twice as many with what is small beside them.
    Tiered {
        /// No merge is begun any more once those before have read this many bytes.
        fuel_bytes: u64,
    },
}

impl Compaction {
    /// The ranges of runs of these sizes that are merged.
    pub(in crate::collection) fn plan(self, sizes: &[u64]) -> Vec<(usize, usize)> {
        match self {
            Compaction::Full => Vec::from_iter((!sizes.is_empty()).then_some((0, sizes.len()))),
            Compaction::Tiered { fuel_bytes } => tiered(sizes, fuel_bytes),
        }
    }
}

/// Most runs of one tier.
pub(in crate::collection) const MOST: usize = 10;
/// How many times larger the runs of a tier are than those of the one below.
const RATIO: u64 = 8;
/// Up to here runs are all of the lowest tier: a run has a page for each of its tables, however few rows they have.
const LOWEST: u64 = 128 << 10;

/// Bytes that may be merged for each byte that a load wrote.
pub(in crate::collection) const FUEL: u64 = 4;

/// The ranges of runs to merge, given the sizes of all, the newest range first.
///
/// A run counts as of the tier of the largest run that is not older: a smaller one before it could be merged with
/// nothing else. So tiers never rise from old to new, and with no more than [`MOST`] runs of each there are few. Those that are
/// smaller than their tier, as what a load says of clusters is beside its texts, count half: what is merged sooner is written again
/// sooner, and few tables have rows in them.
pub(in crate::collection) fn tiered(sizes: &[u64], mut fuel: u64) -> Vec<(usize, usize)> {
    let mut plan = Vec::new();
    let (mut to, mut tier) = (sizes.len(), 0);
    let own: Vec<u32> = sizes.iter().map(|size| (size / LOWEST).max(1).ilog(RATIO)).collect();
    let mut tiers = own.clone();
    for of_run in tiers.iter_mut().rev() {
        tier = tier.max(*of_run);
        *of_run = tier;
    }
    let is_small = |run: &usize| own[*run] < tiers[*run];
    while to > 0 && fuel > 0 {
        let from = tiers[..to].iter().rposition(|tier| *tier != tiers[to - 1]).map_or(0, |at| at + 1);
        let small = (from..to).filter(is_small).count();
        if to - from > MOST + small.min(MOST) {
            plan.push((from, to));
            fuel = fuel.saturating_sub(sizes[from..to].iter().sum());
        }
        to = from;
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    #[test]
    fn eleven_neighbours_of_a_tier_are_merged_and_the_newest_first() {
        let small = [100 * KIB; MOST + 1];
        assert_eq!(small.len(), 11);
        assert_eq!(tiered(&small, 1), [(0, 11)]);
        assert_eq!(tiered(&small[..10], u64::MAX), []);
        assert_eq!(tiered(&small, 0), []);
        let both = [vec![2000 * KIB; 12], small.to_vec()].concat();
        assert_eq!(tiered(&both, u64::MAX), [(12, 23), (0, 12)]);
        assert_eq!(tiered(&both, 1100 * KIB), [(12, 23)]);
        assert_eq!(tiered(&both, 1101 * KIB), [(12, 23), (0, 12)]);
    }

    #[test]
    fn what_is_behind_a_larger_run_counts_as_large() {
        let mut sizes = [100 * KIB, 2000 * KIB].repeat(11);
        sizes.push(100 * KIB);
        assert_eq!(tiered(&sizes, u64::MAX), [(0, 22)]);
        // Ten small ones and ten large ones may stay.
        assert_eq!(tiered(&sizes[..21], u64::MAX), []);
        let few = [vec![100 * KIB; 20], vec![2000 * KIB]].concat();
        assert_eq!(tiered(&few, u64::MAX), [(0, 21)]);
        assert_eq!(tiered(&few[1..], u64::MAX), []);
        assert_eq!(tiered(&[], u64::MAX), []);
    }

    /// Each load writes the texts of two workers, and little beside them.
    #[test]
    fn of_twenty_loads_hardly_a_byte_is_written_more_than_twice() {
        let (mut sizes, mut written) = (Vec::new(), 0);
        for _ in 0..20 {
            let new = [5000 * KIB, 5000 * KIB, 200 * KIB, 300 * KIB];
            sizes.extend(new);
            written += new.iter().sum::<u64>();
            for (from, to) in tiered(&sizes, new.iter().sum::<u64>() * FUEL) {
                let sum: u64 = sizes[from..to].iter().sum();
                written += sum;
                sizes.splice(from..to, [sum]);
            }
        }
        assert!(written * 100 <= 195 * sizes.iter().sum::<u64>(), "{written} bytes, runs of {sizes:?}");
    }

    #[test]
    fn there_are_few_runs_after_any_number_of_loads() {
        let mut sizes: Vec<u64> = Vec::new();
        let mut read = 0;
        for load in 0..5000u64 {
            let new = (60 + load * 7919 % 200) * KIB;
            sizes.push(new);
            for (from, to) in tiered(&sizes, new * FUEL) {
                let sum: u64 = sizes[from..to].iter().sum();
                read += sum;
                sizes.splice(from..to, [sum]);
            }
            assert!(sizes.len() < 36, "{} runs after {load}", sizes.len());
        }
        let sum: u64 = sizes.iter().sum();
        assert!(read < 4 * sum, "{read} bytes were read to merge {sum}");
    }
}
