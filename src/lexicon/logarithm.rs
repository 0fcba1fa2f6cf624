//! Logarithms that are the same on every machine: those of the standard library may differ in their last digit, and a
//! term at the edge of a band would then be in it on one machine and not on another.

/// Bits after the point.
const BITS: u32 = 56;

/// The binary logarithm of a number of 1 or more, in parts of 2^-56, rounded down; too low by less than two such
/// parts. Integers only.
pub(super) fn log2(n: u64) -> u64 {
    let whole = n.ilog2();
    // The number as a fraction in [1, 2) with 63 bits after the point.
    let mut x = n << (63 - whole);
    let mut log = u64::from(whole);
    // Squaring doubles the logarithm: its next bit is whether the square is 2 or more. What each square loses by
    // rounding counts half as much as what the one before has lost.
    for _ in 0..BITS {
        let square = u128::from(x) * u128::from(x);
        let bit = (square >> 127) as u64;
        x = (square >> (63 + bit)) as u64;
        log = log << 1 | bit;
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact() {
        assert!((0..64).all(|bit| log2(1 << bit) == bit << BITS));
    }

    #[test]
    fn others_are_within_what_a_float_says() {
        for n in (1..2000).chain([999_999_937, (1 << 48) + 1, u64::MAX]) {
            let log = log2(n) as f64 / 2f64.powi(BITS as i32);
            assert!((log - (n as f64).log2()).abs() < 1e-14, "{n}");
        }
        // log2 3 = 1.58496250072115618145...
        let third = log2(3) - (1 << BITS);
        assert!(third.abs_diff((0.584_962_500_721_156_2 * 2f64.powi(56)) as u64) < 16);
    }

    #[test]
    fn greater_numbers_have_no_smaller_logarithm() {
        let logs: Vec<u64> = (1..3000).map(log2).collect();
        assert!(logs.is_sorted_by(|a, b| a < b));
    }
}
