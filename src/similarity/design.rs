//! The filter designer: which k, s and r a feature method should have for a threshold (Broder 2000, section 4).
//!
//! If resemblances of pairs were spread evenly, a filter with the curve P would err in proportion to the integral of P
//! below the threshold (pairs accepted and unlike) and that of 1 - P above it (pairs missed). That sum, each part weighed
//! with what such an error costs, is what is made least.

use super::curve::accepted;
use crate::limits::{MAX_FEATURES, MAX_MINWISE_VALUES};

/// What a filter is to do, and what it may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// The resemblance from which on pairs are to be accepted: above 0, below 1.
    pub threshold: f64,
    /// What it costs to accept a pair that is less alike, and to miss one that is not; in any unit, not below 0.
    pub costs: (f64, f64),
    /// Most features a document, of eight bytes each: 1 to [`MAX_FEATURES`].
    pub features: usize,
    /// Most min-wise values a document, which time grows with: 1 to [`MAX_MINWISE_VALUES`].
    pub values: usize,
}

/// A filter: r of k features agree, of s min-wise values each.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Design {
    /// Features a document.
    pub k: usize,
    /// Min-wise values a feature.
    pub s: usize,
    /// Features that must agree.
    pub r: usize,
    /// Integral of the curve from 0 to the threshold: unlike pairs accepted.
    pub accepted_below: f64,
    /// Integral of what it leaves out from the threshold to 1: like pairs missed.
    pub missed_above: f64,
    /// Both, weighed with their costs.
    pub cost: f64,
    /// The resemblance at which half of all pairs are accepted.
    pub half: f64,
}

/// Points of a five-point Gauss-Legendre rule in [-1, 1], and their weights.
const POINTS: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.906_179_845_938_664, 0.236_926_885_056_189_1),
];
/// Parts that a range is divided into: a feature of a thousand values leaves 0 within a hundredth of 1.
const PANELS: usize = 64;

/// Where a curve is looked at between two bounds, and the weights of what is seen there. Parts get smaller towards 1, where
/// curves are steep.
fn points(from: f64, to: f64) -> Vec<(f64, f64)> {
    let bound = |part: usize| {
        let left = 1.0 - part as f64 / PANELS as f64;
        to - (to - from) * left * left
    };
    let panel = |part: usize| {
        let (low, high) = (bound(part), bound(part + 1));
        let half = (high - low) / 2.0;
        POINTS.map(|(at, weight)| (low + half * (1.0 + at), weight * half))
    };
    (0..PANELS).flat_map(panel).collect()
}

/// For every r from 1 to k: the integrals of the curve below the threshold and of what it leaves out above it.
fn areas(k: usize, s: usize, threshold: f64) -> Vec<(f64, f64)> {
    let mut areas = vec![(0.0, 0.0); k];
    let mut chances = Vec::new();
    for (rho, weight) in points(0.0, threshold) {
        accepted(k, s, rho, &mut chances);
        (0..k).for_each(|r| areas[r].0 += weight * chances[r]);
    }
    for (rho, weight) in points(threshold, 1.0) {
        accepted(k, s, rho, &mut chances);
        (0..k).for_each(|r| areas[r].1 += weight * (1.0 - chances[r]));
    }
    areas
}

impl Design {
    /// The filter with these parameters, held against a wish.
    ///
    /// # Panics
    /// If r is 0 or above k.
    pub fn of(k: usize, s: usize, r: usize, wish: &Wish) -> Design {
        assert!((1..=k).contains(&r), "{r} of {k} features");
        Design::with(k, s, r, areas(k, s, wish.threshold)[r - 1], wish)
    }

    fn with(k: usize, s: usize, r: usize, (accepted_below, missed_above): (f64, f64), wish: &Wish) -> Design {
        let cost = wish.costs.0 * accepted_below + wish.costs.1 * missed_above;
        Design { k, s, r, accepted_below, missed_above, cost, half: half(k, s, r) }
    }
}

/// The resemblance at which half of all pairs are accepted. Curves only rise.
fn half(k: usize, s: usize, r: usize) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if super::acceptance(k, s, r, middle) < 0.5 { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// For every number of features from 1 to what is wished the filter of least cost, in that order; of equal ones that with
/// fewer values.
pub fn design(wish: &Wish) -> Vec<Design> {
    let most = wish.features.min(MAX_FEATURES).min(wish.values);
    (1..=most)
        .filter_map(|k| {
            let mut best: Option<(f64, usize, usize, (f64, f64))> = None;
            for s in 1..=wish.values.min(MAX_MINWISE_VALUES) / k {
                for (r, areas) in (1..).zip(areas(k, s, wish.threshold)) {
                    let cost = wish.costs.0 * areas.0 + wish.costs.1 * areas.1;
                    if best.is_none_or(|(least, ..)| cost < least) {
                        best = Some((cost, s, r, areas));
                    }
                }
            }
            best.map(|(_, s, r, areas)| Design::with(k, s, r, areas, wish))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::acceptance;
    use super::*;

    const EVEN: Wish = Wish { threshold: 0.9, costs: (1.0, 1.0), features: 6, values: 120 };

    /// Both integrals by the midpoints of many strips.
    fn slowly(k: usize, s: usize, r: usize, threshold: f64) -> (f64, f64) {
        const STRIPS: usize = 20_000;
        let area = |from: f64, to: f64, height: &dyn Fn(f64) -> f64| {
            let width = (to - from) / STRIPS as f64;
            (0..STRIPS).map(|at| height(from + (at as f64 + 0.5) * width) * width).sum::<f64>()
        };
        let curve = |rho: f64| acceptance(k, s, r, rho);
        (area(0.0, threshold, &curve), area(threshold, 1.0, &|rho| 1.0 - curve(rho)))
    }

    #[test]
    fn integrals_are_those_of_many_strips() {
        for (k, s) in [(1, 1), (6, 14), (20, 13), (64, 64), (2, 1000)] {
            for threshold in [0.1, 0.5, 0.9, 0.99] {
                for (r, (below, above)) in (1..).zip(areas(k, s, threshold)) {
                    let (slow_below, slow_above) = slowly(k, s, r, threshold);
                    // The strips are the coarser ones: a feature of 4,096 values rises within a few of them.
                    let close = (below - slow_below).abs() < 1e-6 && (above - slow_above).abs() < 1e-6;
                    assert!(close, "{k} {s} {r} {threshold}: {below} {slow_below} {above} {slow_above}");
                }
            }
        }
        // Of P(1, s, 1), which is x^s, and of P(64, 64, 64), which is x^4096, in closed form.
        for (k, s, threshold, tolerance) in [(1, 14, 0.9, 1e-14), (64, 64, 0.1, 1e-9), (64, 64, 0.99, 1e-9)] {
            let (below, above) = areas(k, s, threshold)[k - 1];
            let power = (k * s + 1) as f64;
            let exact = threshold.powf(power) / power;
            assert!((below - exact).abs() < tolerance, "{below} {exact}");
            assert!((above - (1.0 - threshold - (1.0 / power - exact))).abs() < tolerance, "{above}");
        }
    }

    #[test]
    fn the_best_is_the_best_of_all() {
        for wish in [EVEN, Wish { threshold: 0.5, costs: (3.0, 0.5), features: 4, values: 30 }] {
            let designs = design(&wish);
            assert_eq!(
                designs.iter().map(|design| design.k).collect::<Vec<_>>(),
                Vec::from_iter(1..=wish.features)
            );
            for best in designs {
                let all = (1..=wish.values / best.k).flat_map(|s| (1..=best.k).map(move |r| (s, r)));
                let cost = |(s, r)| Design::of(best.k, s, r, &wish).cost;
                assert!(all.map(cost).all(|cost| cost >= best.cost), "{best:?}");
            }
        }
    }

    #[test]
    fn the_published_filter_and_what_is_best_at_its_size() {
        let published = Design::of(6, 14, 2, &EVEN);
        assert!((published.half - 0.90937).abs() < 5e-6, "{published:?}");
        let best = *design(&EVEN).last().expect("designs");
        assert_eq!((best.k, best.s, best.r), (6, 15, 2));
        assert!(best.cost < published.cost && published.cost < 1.03 * best.cost, "{published:?} {best:?}");
        // The total error of a filter is least, as the threshold moves, where it accepts one half.
        let cost = |threshold| Design::of(6, 14, 2, &Wish { threshold, ..EVEN }).cost;
        assert!([0.88, 0.9, 0.905, 0.914, 0.93].iter().all(|at| cost(*at) > cost(published.half)));
    }

    #[test]
    fn who_minds_missed_pairs_more_gets_a_filter_that_lets_more_pass() {
        let of = |costs| *design(&Wish { costs, ..EVEN }).last().expect("designs");
        let (careful, even, eager) = (of((10.0, 1.0)), of((1.0, 1.0)), of((1.0, 10.0)));
        assert!(careful.half > even.half && even.half > eager.half);
        assert!(careful.accepted_below < eager.accepted_below && careful.missed_above > eager.missed_above);
    }
}
