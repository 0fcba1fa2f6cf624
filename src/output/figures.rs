//! Figures as people read them.

use crate::printable::plural;

/// `1,234 files`, `1 file`.
pub fn counted(n: u64, one: &str) -> String {
    format!("{} {}", count(n), plural(n, one))
}

/// With a comma before every three digits.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Megabytes of 10^6 bytes with one digit after the point, or bytes where that would say little.
pub fn size(bytes: u64) -> String {
    if bytes < 100_000 {
        return counted(bytes, "byte");
    }
    // Rounded to tenths in integers, so that no size is too large.
    let tenths = bytes / 100_000 + u64::from(bytes % 100_000 >= 50_000);
    format!("{}.{} MB", count(tenths / 10), tenths % 10)
}

/// A share with one digit after the point.
pub fn percent(part: f64, whole: f64) -> String {
    let share = if whole > 0.0 { part / whole * 100.0 } else { 0.0 };
    // Little is not nothing.
    if share > 0.0 && share < 0.05 { "< 0.1 %".to_string() } else { format!("{share:.1} %") }
}
