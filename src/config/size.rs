//! Byte sizes as people write them.

use crate::error::{Error, Result};

/// Most digits after the point: enough for any byte of a terabyte that a person would write.
const FRACTION_DIGITS: usize = 9;

/// Reads a byte size: a decimal and a binary unit (`K`, `M`, `G` or `T`, in either case, `iB` or `B` may follow), so
/// `2G`, `512MiB`, `1.5g` and `1048576`. Fractions of a byte are dropped.
///
/// # Errors
/// [`Error::Config`].
pub fn parse_size(text: &str) -> Result<u64> {
    bytes(text.trim()).ok_or_else(|| {
        Error::config(format!(
            "size {text:?}: expected bytes, or a number with K, M, G or T, like 512M or 1.5G"
        ))
    })
}

/// The size in bytes; `None` when `text` is no size or does not fit.
fn bytes(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let shift = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.len() > FRACTION_DIGITS {
        return None;
    }
    // Integers all the way: a float would round sizes above 2^53.
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let scaled = digits.checked_mul(1 << shift)? / 10u128.pow(fraction.len() as u32);
    u64::try_from(scaled).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sizes() {
        for (text, bytes) in [
            ("0", 0),
            ("1048576", 1 << 20),
            ("17b", 17),
            ("1k", 1 << 10),
            ("2G", 2 << 30),
            ("2 GiB", 2 << 30),
            ("512MiB", 512 << 20),
            ("512mb", 512 << 20),
            ("1.5g", 3 << 29),
            (".5T", 1 << 39),
            ("1.T", 1 << 40),
            ("0.3", 0),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_size(text).expect(text), bytes, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_size() {
        for wrong in [
            "",
            ".",
            "G",
            "-1",
            "1e9",
            "1.2.3",
            "2P",
            "2 i",
            "2Gi b",
            "lots",
            "0x10",
            "18446744073709551616",
            "99999999T",
        ] {
            let message = parse_size(wrong).expect_err(wrong).to_string();
            assert!(message.contains("like 512M"), "{message}");
        }
    }
}
