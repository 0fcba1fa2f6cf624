//! A threshold as an exact decimal, so that no comparison of sets ever rounds.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Most digits after the point: with them every comparison of 32-bit set sizes fits in 64 bits.
const DIGITS: usize = 6;
/// The greatest denominator.
const MILLION: u64 = 1_000_000;

/// A decimal `num / den` in (0, 1] with `den` a power of ten. `0.55` times 100 is 55 here, not 55.00000000000001.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    num: u64,
    den: u64,
}

impl Threshold {
    /// So many millionths; 1 to 1,000,000 are thresholds.
    pub fn from_millionths(millionths: u32) -> Option<Threshold> {
        let (mut num, mut den) = (u64::from(millionths), MILLION);
        if num == 0 || num > MILLION {
            return None;
        }
        while num.is_multiple_of(10) && den > 1 {
            (num, den) = (num / 10, den / 10);
        }
        Some(Threshold { num, den })
    }

    /// How many millionths it is.
    pub fn millionths(self) -> u32 {
        (self.num * (MILLION / self.den)) as u32
    }

    /// Whether `part / whole` is at or over the threshold; false for an empty whole.
    pub fn is_met(self, part: u64, whole: u64) -> bool {
        whole > 0 && part * self.den >= whole * self.num
    }

    /// Whether `part / whole` is over the threshold; false for an empty whole.
    pub fn is_exceeded(self, part: u64, whole: u64) -> bool {
        u128::from(part) * u128::from(self.den) > u128::from(whole) * u128::from(self.num)
    }

    /// Whether it is less than another one.
    pub fn is_below(self, other: Threshold) -> bool {
        self.num * other.den < other.num * self.den
    }

    /// Whether `part / whole` is at or over the square of the threshold.
    pub fn is_met_squared(self, part: u64, whole: u64) -> bool {
        let times = |n: u64, factor: u64| u128::from(n) * u128::from(factor) * u128::from(factor);
        times(part, self.den) >= times(whole, self.num)
    }

    /// The least integer at or over `t * sqrt(a * b)`, of numbers of 32 bits.
    pub fn ceil_of_root(self, a: u64, b: u64) -> u64 {
        let scaled = u128::from(a) * u128::from(b) * u128::from(self.num) * u128::from(self.num);
        let whole = scaled.div_ceil(u128::from(self.den) * u128::from(self.den));
        let root = whole.isqrt();
        (root + u128::from(root * root < whole)) as u64
    }

    /// The least integer at or over `t * n`.
    pub fn ceil(self, n: u64) -> u64 {
        (n * self.num).div_ceil(self.den)
    }

    /// The greatest integer of which `n` is at least the part t.
    pub fn greatest_whole(self, n: u64) -> u64 {
        n * self.den / self.num
    }

    /// Keys a set of `n` shingles must show so that no other set with resemblance at or over the threshold is
    /// missed: `n - ceil(t * n) + 1`, 0 for the empty set.
    pub fn prefix(self, n: usize) -> usize {
        if n == 0 { 0 } else { n - self.ceil(n as u64) as usize + 1 }
    }

    /// The same for sets that are compared with none smaller than themselves: with an equal one or a larger one they share
    /// at least what two sets of `n` need (the indexing prefix of Bayardo, Ma and Srikant 2007).
    pub fn indexing_prefix(self, n: usize) -> usize {
        if n == 0 { 0 } else { n - self.needed(n as u64, n as u64) as usize + 1 }
    }

    /// First shingles of a set of `n` by which larger sets are found that contain it at or over the threshold: at least
    /// `1 + n / 32` of these are in each. The least number of which one is, is [`Threshold::prefix`]; the others ask for as many
    /// more (the adaptive prefix of Wang, Li and Feng 2012), so that few are found that share a rare phrase alone.
    pub fn containment_prefix(self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.prefix(n) + n / 32).min(n) }
    }

    /// Shared shingles that sets of `a` and `b` need to resemble each other at the threshold: with `s` shared,
    /// `s / (a + b - s) >= num / den`, so `s >= num * (a + b) / (num + den)`.
    pub fn needed(self, a: u64, b: u64) -> u64 {
        ((a + b) * self.num).div_ceil(self.num + self.den)
    }

    /// Numerator and denominator: a power of ten up to 1,000,000.
    pub fn fraction(self) -> (u64, u64) {
        (self.num, self.den)
    }

    /// The size of the largest set that one of `n` can resemble at the threshold if it shares no more than `rest` with any: the
    /// greatest `m` of which [`Threshold::needed`] says no more than that. 0 where there is none.
    pub fn largest_resembled(self, n: u64, rest: u64) -> u64 {
        (rest * (self.num + self.den) / self.num).saturating_sub(n)
    }

    /// The threshold as a float, for display only.
    pub fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Threshold, String> {
        let wrong = || {
            format!(
                "threshold {text:?}: expected a decimal above 0 and at most 1 with up to {DIGITS} digits, like 0.8"
            )
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        let fraction = fraction.trim_end_matches('0');
        if text.is_empty() || text == "." || !digits(whole) || !digits(fraction) || fraction.len() > DIGITS {
            return Err(wrong());
        }
        let den = 10u64.pow(fraction.len() as u32);
        let parse = |s: &str| if s.is_empty() { Ok(0) } else { s.parse::<u64>().map_err(|_| wrong()) };
        let num = parse(whole)?
            .checked_mul(den)
            .and_then(|n| n.checked_add(parse(fraction).ok()?))
            .ok_or_else(wrong)?;
        if num == 0 || num > den {
            return Err(wrong());
        }
        Ok(Threshold { num, den })
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_f64())
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Threshold, D::Error> {
        // The shortest decimal that reads back as the same float is what the author of the file wrote.
        let value = f64::deserialize(deserializer)?;
        format!("{value}").parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(text: &str) -> Threshold {
        text.parse().expect("a threshold")
    }

    #[test]
    fn is_exact_where_floats_are_not() {
        assert_eq!(t("0.55").ceil(20), 11);
        assert_eq!((0.55f64 * 100.0).ceil(), 56.0);
        assert_eq!(t("0.55").ceil(100), 55);
        assert_eq!(t("0.55").prefix(20), 10);
        assert!(t("0.55").is_met(11, 20));
        assert!(!t("0.55").is_met(10, 19));
        assert_eq!(t("1").prefix(7), 1);
        assert_eq!(t("0.8").prefix(0), 0);
    }

    #[test]
    fn needed_is_the_least_count_that_is_met() {
        for text in ["0.5", "0.55", "0.8", "0.95", "1"] {
            for a in 1..60u64 {
                for b in a..60 {
                    let least = (0..=a).find(|s| t(text).is_met(*s, a + b - s)).unwrap_or(a + 1);
                    assert_eq!(t(text).needed(a, b).min(a + 1), least, "{text} {a} {b}");
                }
            }
        }
    }

    #[test]
    fn refuses_what_is_no_threshold() {
        for wrong in ["", ".", "0", "0.0", "1.1", "-0.5", "8e-1", "0.1234567", "abc", "99999999999999999999"]
        {
            assert!(wrong.parse::<Threshold>().is_err(), "{wrong}");
        }
        assert_eq!(t(".5"), t("0.50"));
        assert_eq!(t("0.8").to_string(), "0.8");
    }
}
