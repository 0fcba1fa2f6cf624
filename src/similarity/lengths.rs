//! Lengths that are about equal.

/// Whether neither of two lengths is more than `percent` greater or less than the other. Conrad, Guo and Schriber
/// 2003, section 7.3, compare no documents "when the length of one varies by more than +-20 % with respect to
/// another": of 100 and 121 tokens the second varies by 21 % with respect to the first, so they are not compared,
/// although the first is only 17 % shorter than the second.
pub fn lengths_agree(a: u32, b: u32, percent: u32) -> bool {
    u64::from(a.abs_diff(b)) * 100 <= u64::from(percent) * u64::from(a.min(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_decides() {
        assert!(lengths_agree(100, 120, 20) && lengths_agree(120, 100, 20));
        assert!(!lengths_agree(100, 121, 20) && !lengths_agree(121, 100, 20));
        assert!(lengths_agree(7, 7, 0) && !lengths_agree(7, 8, 0) && lengths_agree(0, 0, 0));
        assert!(!lengths_agree(0, 1, 100) && lengths_agree(1, 2, 100));
        assert!(!lengths_agree(0, u32::MAX, 100) && lengths_agree(u32::MAX, u32::MAX, 100));
    }
}
