//! How long commits can be looked at again, as people and manifests write it.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::limits::{MAX_RETAINED_DAYS, MAX_RETAINED_LOADS};

/// How long commits of a collection can be looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Retain {
    /// So many of the last commits that changed documents, with the compactions between them.
    Commits(u32),
    /// All that was the last commit at any time in so many days before the newest one.
    Days(u32),
}

impl Display for Retain {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Retain::Commits(count) => write!(f, "{count}"),
            Retain::Days(days) => write!(f, "{days}d"),
        }
    }
}

impl FromStr for Retain {
    type Err = String;

    fn from_str(text: &str) -> Result<Retain, String> {
        let (digits, days) = text.strip_suffix('d').map_or((text, false), |digits| (digits, true));
        let most = if days { MAX_RETAINED_DAYS } else { MAX_RETAINED_LOADS };
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        match digits.parse().ok().filter(|count| plain && (1..=most).contains(count)) {
            Some(count) if days => Ok(Retain::Days(count)),
            Some(count) => Ok(Retain::Commits(count)),
            None => Err(format!(
                "{text:?}: expected a number of commits up to {MAX_RETAINED_LOADS}, like 50, or of days up to \
                 {MAX_RETAINED_DAYS}, like 30d"
            )),
        }
    }
}

impl TryFrom<String> for Retain {
    type Error = String;

    fn try_from(text: String) -> Result<Retain, String> {
        text.parse()
    }
}

impl From<Retain> for String {
    fn from(retain: Retain) -> String {
        retain.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        for (text, retain) in [
            ("1", Retain::Commits(1)),
            ("500", Retain::Commits(500)),
            ("1d", Retain::Days(1)),
            ("36500d", Retain::Days(36500)),
        ] {
            assert_eq!(text.parse(), Ok(retain));
            assert_eq!(retain.to_string(), text);
            assert_eq!(serde_json::from_str::<Retain>(&format!("\"{text}\"")).ok(), Some(retain));
        }
        for wrong in ["", "0", "0d", "d", "501", "36501d", "+5", "5 d", "5h", "-1", "1.5d", "99999999999"] {
            let told = wrong.parse::<Retain>().expect_err(wrong);
            assert!(told.contains("30d"), "{told}");
        }
    }
}
