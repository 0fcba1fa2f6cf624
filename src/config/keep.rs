//! How a keep policy is written: `first`, `last`, `longest`, `shortest`, `field:NAME:max`, `field:NAME:min`.

use std::fmt;
use std::str::FromStr;

use super::Keep;

impl FromStr for Keep {
    type Err = String;

    /// `field:NAME:max` is split at its first and its last colon, since a name may hold colons and dots of its own.
    fn from_str(text: &str) -> Result<Keep, String> {
        match text {
            "first" => return Ok(Keep::First),
            "last" => return Ok(Keep::Last),
            "longest" => return Ok(Keep::Longest),
            "shortest" => return Ok(Keep::Shortest),
            _ => {}
        }
        match text.strip_prefix("field:").and_then(|rest| rest.rsplit_once(':')) {
            Some((name, "max")) if !name.is_empty() => Ok(Keep::Field { name: name.into(), max: true }),
            Some((name, "min")) if !name.is_empty() => Ok(Keep::Field { name: name.into(), max: false }),
            _ => Err(format!(
                "keep policy {text:?}: expected first, last, longest, shortest, field:NAME:max or field:NAME:min"
            )),
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keep::First => f.write_str("first"),
            Keep::Last => f.write_str("last"),
            Keep::Longest => f.write_str("longest"),
            Keep::Shortest => f.write_str("shortest"),
            Keep::Field { name, max } => write!(f, "field:{name}:{}", if *max { "max" } else { "min" }),
        }
    }
}

impl TryFrom<String> for Keep {
    type Error = String;

    fn try_from(text: String) -> Result<Keep, String> {
        text.parse()
    }
}

impl From<Keep> for String {
    fn from(keep: Keep) -> String {
        keep.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let names = ["date", "meta.date", "dc:date", "a:b.c:d", "max", ":", "x:max"];
        let fields =
            names.iter().flat_map(|name| [true, false].map(|max| Keep::Field { name: (*name).into(), max }));
        for keep in [Keep::First, Keep::Last, Keep::Longest, Keep::Shortest].into_iter().chain(fields) {
            assert_eq!(keep.to_string().parse(), Ok(keep.clone()), "{keep}");
        }
    }

    #[test]
    fn splits_at_the_first_and_the_last_colon() {
        let keep = "field:dc:date.issued:min".parse();
        assert_eq!(keep, Ok(Keep::Field { name: "dc:date.issued".into(), max: false }));
    }

    #[test]
    fn refuses_what_is_no_policy() {
        for wrong in
            ["", "First", "field", "field:", "field:max", "field::max", "field:date", "field:date:most"]
        {
            let message = wrong.parse::<Keep>().expect_err(wrong);
            assert!(message.contains("field:NAME:max"), "{message}");
        }
    }
}
