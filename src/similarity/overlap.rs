//! How many members two sorted sets share.

/// Members that two strictly ascending slices share.
pub fn overlap(a: &[u64], b: &[u64]) -> u64 {
    overlap_at_least(a, b, 0).unwrap_or(0)
}

/// Steps between two looks at whether the count needed is still within reach.
const STRIDE: usize = 32;
/// Ranges of values that are merged side by side. One merge waits for its own comparisons most of the time; four of
/// them keep the processor busy. Members are hashes, so the ranges are about equal.
const LANES: usize = 4;
/// Sets smaller than this are merged as one range.
const SMALL: usize = 64;

/// Members that two strictly ascending slices share, or `None` as soon as fewer than `needed` are certain.
pub fn overlap_at_least(a: &[u64], b: &[u64], needed: u64) -> Option<u64> {
    if a.len().min(b.len()) < SMALL {
        return finish(&mut [RangeMerge::new(a, b)], 0, needed);
    }
    let mut lanes = lanes(a, b);
    let mut shared = 0;
    loop {
        let reach: usize = lanes.iter().map(RangeMerge::reach).sum();
        if shared + (reach as u64) < needed {
            return None;
        }
        let steps = lanes.iter().map(RangeMerge::reach).min().unwrap_or(0).min(STRIDE);
        if steps == 0 {
            return finish(&mut lanes, shared, needed);
        }
        for _ in 0..steps {
            for lane in &mut lanes {
                shared += lane.step();
            }
        }
    }
}

/// Merges what is left of each range, one after the other.
fn finish(lanes: &mut [RangeMerge<'_>], mut shared: u64, needed: u64) -> Option<u64> {
    let mut left: usize = lanes.iter().map(RangeMerge::reach).sum();
    for lane in lanes {
        left -= lane.reach();
        loop {
            if shared + ((lane.reach() + left) as u64) < needed {
                return None;
            }
            let steps = lane.reach().min(STRIDE);
            if steps == 0 {
                break;
            }
            for _ in 0..steps {
                shared += lane.step();
            }
        }
    }
    Some(shared)
}

/// Cuts both sets at the same values.
fn lanes<'a>(mut a: &'a [u64], mut b: &'a [u64]) -> [RangeMerge<'a>; LANES] {
    let mut lanes = [RangeMerge::new(&[], &[]); LANES];
    for (lane, number) in lanes.iter_mut().zip(1u64..) {
        let (left, right) = if number == LANES as u64 {
            (a.len(), b.len())
        } else {
            let end = number << (64 - LANES.trailing_zeros());
            let ranges = LANES + 1 - number as usize;
            (bound(a, end, a.len() / ranges), bound(b, end, b.len() / ranges))
        };
        let (x, y);
        (x, a) = a.split_at(left);
        (y, b) = b.split_at(right);
        *lane = RangeMerge::new(x, y);
    }
    lanes
}

/// Least number of members between two looks in the search for a bound.
const LOOK: usize = 16;

/// Where members of `end` and more begin in an ascending slice. It is looked for around `guess`: members are hashes, so that it is not far,
/// and a set that is not in a cache costs fewer waits than with a search through all of it.
fn bound(set: &[u64], end: u64, guess: usize) -> usize {
    let (mut low, mut high, mut step) = (0, set.len(), LOOK);
    if guess < set.len() && set[guess] < end {
        low = guess + 1;
        while low + step < high {
            if set[low + step] >= end {
                high = low + step;
            } else {
                low += step + 1;
                step *= 2;
            }
        }
    } else {
        high = guess.min(high);
        while low + step < high {
            if set[high - step] < end {
                low = high - step + 1;
            } else {
                high -= step;
                step *= 2;
            }
        }
    }
    low + set[low..high].partition_point(|member| *member < end)
}

/// A merge of two ascending slices under way.
#[derive(Clone, Copy)]
struct RangeMerge<'a> {
    a: &'a [u64],
    b: &'a [u64],
    i: usize,
    j: usize,
}

impl<'a> RangeMerge<'a> {
    fn new(a: &'a [u64], b: &'a [u64]) -> RangeMerge<'a> {
        RangeMerge { a, b, i: 0, j: 0 }
    }

    /// The most members that can still be found, and the steps that can be taken without a look at the ends: each
    /// step moves each side by at most one.
    fn reach(&self) -> usize {
        (self.a.len() - self.i).min(self.b.len() - self.j)
    }

    /// One step; 1 if a shared member was passed. No branches to mispredict.
    fn step(&mut self) -> u64 {
        let (x, y) = (self.a[self.i], self.b[self.j]);
        self.i += usize::from(x <= y);
        self.j += usize::from(y <= x);
        u64::from(x == y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn equals_set_intersection(a in prop::collection::btree_set(0u64..500, 0..400), wide in any::<bool>(),
                                   b in prop::collection::btree_set(0u64..500, 0..400), needed in 0u64..300) {
            let truth = a.intersection(&b).count() as u64;
            // Spread over all values, or all within one range.
            let list = |s: &BTreeSet<u64>| s.iter().map(|v| if wide { v << 55 | v } else { *v }).collect::<BTreeSet<_>>();
            let (a, b): (Vec<u64>, Vec<u64>) = (list(&a).into_iter().collect(), list(&b).into_iter().collect());
            prop_assert_eq!(overlap(&a, &b), truth);
            match overlap_at_least(&a, &b, needed) {
                Some(count) => prop_assert_eq!(count, truth),
                None => prop_assert!(truth < needed),
            }
        }

        #[test]
        fn a_bound_is_found_from_any_guess(set in prop::collection::btree_set(0u64..2000, 0..900), end in 0u64..2100, guess in 0usize..1000) {
            let set: Vec<u64> = set.into_iter().collect();
            prop_assert_eq!(bound(&set, end, guess), set.partition_point(|member| *member < end));
        }
    }
}
