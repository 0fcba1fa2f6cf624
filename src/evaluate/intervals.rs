//! Intervals of confidence.
//!
//! Pairs are not drawn one by one: those of a cluster are right or wrong together, so an interval that takes each for a draw
//! of its own is far too narrow. What is drawn here is *blocks*: documents that neither the method nor the truth pairs with any
//! document outside. They are drawn with replacement (Efron 1979), and the interval is that of the middle 95 % of what the
//! draws give. It says how much the figure depends on which families of duplicates happen to be in the collection, for
//! collections that are as large and have as many documents without duplicates.

/// Share of the draws that an interval holds.
pub const CONFIDENCE: f64 = 0.95;
/// Draws of an interval.
pub const REPLICATES: usize = 1000;
/// Standard deviations that hold [`CONFIDENCE`] of a normal distribution.
const DEVIATIONS: f64 = 1.959_963_984_540_054;
/// What drawing begins with: the same blocks always give the same interval.
const SEED: u64 = 0x616c_696b_6520_3935;

/// The least and the greatest value that are likely.
pub type Interval = [f64; 2];

/// What each of [`REPLICATES`] draws of as many blocks as there are comes to: `add` adds a block to a sum, which begins as
/// `start`. The same blocks in the same order give the same draws.
pub fn bootstrap<B, S: Clone>(blocks: &[B], start: &S, mut add: impl FnMut(&mut S, &B)) -> Vec<S> {
    let mut random = SplitMix(SEED);
    let draw = |_| {
        let mut sum = start.clone();
        blocks.iter().for_each(|_| add(&mut sum, &blocks[random.below(blocks.len())]));
        sum
    };
    (0..REPLICATES).map(draw).collect()
}

/// The middle [`CONFIDENCE`] of some values; `None` of none.
pub(super) fn middle(mut values: Vec<f64>) -> Option<Interval> {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let outside = f64::midpoint(1.0, -CONFIDENCE);
    let at = |share: f64| values[(share * last as f64).round() as usize];
    Some([at(outside), at(1.0 - outside)])
}

/// Wilson's interval (1927) of a share of `hits` among `draws`, each by itself; `None` without draws. Drawing blocks says
/// nothing where all are right, or all wrong: then this says what so many blocks leave open.
pub fn wilson(hits: f64, draws: f64) -> Option<Interval> {
    if draws <= 0.0 {
        return None;
    }
    let square = DEVIATIONS * DEVIATIONS;
    let share = hits / draws;
    let centre = (share + square / (2.0 * draws)) / (1.0 + square / draws);
    let half = DEVIATIONS / (1.0 + square / draws)
        * (share * (1.0 - share) / draws + square / (4.0 * draws * draws)).sqrt();
    // Both bounds are exact at either end, where rounding would leave a share outside of its interval.
    let low = if hits == 0.0 { 0.0 } else { centre - half };
    let high = if hits == draws { 1.0 } else { centre + half };
    Some([low, high])
}

/// A small generator (Steele, Lea and Flood 2014), the same on every machine.
struct SplitMix(u64);

impl SplitMix {
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ (mixed >> 31)) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_has_published_values() {
        // Newcombe 1998, table 1: 81 of 263 and 15 of 148, 0 of 20 and 1 of 29.
        for ((hits, draws), [low, high]) in [
            ((81.0, 263.0), [0.2553, 0.3662]),
            ((15.0, 148.0), [0.0624, 0.1605]),
            ((0.0, 20.0), [0.0, 0.1611]),
            ((1.0, 29.0), [0.0061, 0.1718]),
        ] {
            let [from, to] = wilson(hits, draws).expect("draws");
            assert!((from - low).abs() < 5e-5 && (to - high).abs() < 5e-5, "{hits} of {draws}: {from} {to}");
        }
        assert_eq!(wilson(0.0, 0.0), None);
    }

    #[test]
    fn draws_of_single_hits_are_as_wide_as_the_binomial_says() {
        let blocks: Vec<bool> = (0..400).map(|n| n % 5 == 0).collect();
        let sums = bootstrap(&blocks, &0u32, |sum, hit| *sum += u32::from(*hit));
        assert_eq!(sums, bootstrap(&blocks, &0u32, |sum, hit| *sum += u32::from(*hit)));
        let shares = sums.iter().map(|sum| f64::from(*sum) / 400.0).collect();
        let [low, high] = middle(shares).expect("values");
        // 0.2 with a standard deviation of 0.02.
        assert!((low - 0.161).abs() < 0.005 && (high - 0.239).abs() < 0.005, "{low} {high}");
    }

    #[test]
    fn the_middle_of_few_values() {
        assert_eq!(middle(Vec::new()), None);
        assert_eq!(middle(vec![3.0]), Some([3.0, 3.0]));
        let hundred = (0..=1000).rev().map(f64::from).collect();
        assert_eq!(middle(hundred), Some([25.0, 975.0]));
    }
}
