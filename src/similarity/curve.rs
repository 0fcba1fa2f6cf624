//! The filter curve of feature methods: how likely two documents of a given resemblance are accepted.

/// P(k,s,r)(rho): the probability that at least `r` of `k` features agree, each of `s` independent min-wise values,
/// for documents of resemblance `rho` in [0, 1] (Broder 2000 section 3).
pub fn acceptance(k: usize, s: usize, r: usize, rho: f64) -> f64 {
    let agree = rho.powi(s as i32);
    let mut choose = 1.0;
    let mut sum = 0.0;
    for i in 0..=k {
        if i >= r {
            sum += choose * agree.powi(i as i32) * (1.0 - agree).powi((k - i) as i32);
        }
        choose *= (k - i) as f64 / (i + 1) as f64;
    }
    sum
}

/// The same for every r from 1 to k at once, into `chances` (cleared first).
pub(super) fn accepted(k: usize, s: usize, rho: f64, chances: &mut Vec<f64>) {
    let agree = rho.powi(s as i32);
    let (mut choose, mut sum) = (1.0, 0.0);
    chances.clear();
    // From k down, so that what is small is added up first.
    for i in (1..=k).rev() {
        sum += choose * agree.powi(i as i32) * (1.0 - agree).powi((k - i) as i32);
        chances.push(sum);
        choose *= i as f64 / (k - i + 1) as f64;
    }
    chances.reverse();
}

#[cfg(test)]
mod tests {
    use super::{acceptance, accepted};

    /// 1 - P, summed from its own terms so that nothing cancels.
    fn rejection(k: usize, s: usize, r: usize, rho: f64) -> f64 {
        let agree = rho.powi(s as i32);
        let choose = |i: usize| (0..i).fold(1.0, |c, j| c * (k - j) as f64 / (j + 1) as f64);
        (0..r).map(|i| choose(i) * agree.powi(i as i32) * (1.0 - agree).powi((k - i) as i32)).sum()
    }

    fn close(value: f64, expected: f64, digits: i32) {
        assert!((value / expected - 1.0).abs() < 10f64.powi(-digits), "{value} is not {expected}");
    }

    #[test]
    fn has_the_published_values() {
        close(rejection(6, 14, 2, 0.975), 0.010672, 4);
        close(rejection(6, 14, 2, 0.99), 0.000_208_17, 4);
        close(acceptance(6, 14, 2, 0.77), 0.009_286_3, 4);
        close(acceptance(6, 14, 2, 0.5), 5.587e-8, 3);
        close(acceptance(6, 14, 2, 0.90937), 0.5, 4);
    }

    #[test]
    fn is_one_less_the_rejection() {
        for (k, s, r) in [(6, 14, 2), (14, 8, 1), (20, 13, 1), (5, 1, 5)] {
            for percent in 0..=100 {
                let rho = f64::from(percent) / 100.0;
                assert!((acceptance(k, s, r, rho) + rejection(k, s, r, rho) - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn all_at_once_are_those_one_by_one() {
        let mut chances = Vec::new();
        for (k, s) in [(1, 1), (6, 14), (64, 3), (20, 13)] {
            for percent in 0..=100 {
                let rho = f64::from(percent) / 100.0;
                accepted(k, s, rho, &mut chances);
                assert_eq!(chances.len(), k);
                let close = |(r, chance): (usize, &f64)| (chance - acceptance(k, s, r, rho)).abs() < 1e-12;
                assert!((1..).zip(&chances).all(close), "{k} {s} {rho}");
            }
        }
    }

    #[test]
    fn fourteen_is_the_steepest_power_at_its_threshold() {
        let rho = (-1.0f64 / 14.0).exp();
        close(rho, 0.93106, 5);
        let slope = |s: i32| f64::from(s) * rho.powi(s - 1);
        assert!((1..60).filter(|s| *s != 14).all(|s| slope(s) < slope(14)));
    }
}
