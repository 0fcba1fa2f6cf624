//! What stores have to be told: where they are, and who asks.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often a request is tried that fails, if nothing is said.
const ATTEMPTS: u32 = 8;
/// How long a connection may take, and how long a server may be silent.
pub(super) const TIMES: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(30));
/// The longest file of credentials or of a token, in bytes.
const MOST: u64 = 1 << 20;

static SETTINGS: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// Says what the environment is: the names and values by which the tools of the stores find out who asks, such as
/// `AWS_ACCESS_KEY_ID`. It has to be said before the first URL is read. Without it everybody is a stranger.
pub fn configure(variables: impl Iterator<Item = (String, String)>) {
    let mut settings = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    settings.extend(variables.filter(|(_, value)| !value.is_empty()));
}

/// What is known.
pub(super) fn settings() -> StoreSettings {
    let variables = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    StoreSettings { variables, lost: None }.with_profile()
}

/// Names and values.
pub(super) struct StoreSettings {
    variables: BTreeMap<String, String>,
    /// The profile that was asked for and is not there.
    lost: Option<String>,
}

/// What lets somebody in at stores that speak as S3 does. Part of it is worth nothing, so all of it is of one place.
const LETS_IN: [(&str, &str); 3] = [
    ("aws_access_key_id", "AWS_ACCESS_KEY_ID"),
    ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
    ("aws_session_token", "AWS_SESSION_TOKEN"),
];
/// Where such a store is.
const IS_AT: [(&str, &str); 2] = [("region", "AWS_REGION"), ("endpoint_url", "AWS_ENDPOINT_URL")];

impl StoreSettings {
    /// The value of a name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Whether a name is set to something that means yes.
    pub(super) fn is_true(&self, name: &str) -> bool {
        matches!(self.get(name), Some("1" | "true" | "TRUE" | "True" | "yes"))
    }

    /// All whose names begin so, in lower case.
    pub(super) fn beginning(&self, prefix: &str) -> impl Iterator<Item = (String, &str)> {
        let begin = self.variables.iter().filter(move |(name, _)| name.starts_with(prefix));
        begin.map(|(name, value)| (name.to_ascii_lowercase(), value.as_str()))
    }

    /// How often a request is tried.
    pub(super) fn attempts(&self) -> u32 {
        self.get("AWS_MAX_ATTEMPTS").and_then(|times| times.parse().ok()).unwrap_or(ATTEMPTS).clamp(1, 100)
    }

    /// A file in the home of whoever asks, or where a name says.
    fn file(&self, name: &str, at_home: &str) -> Option<String> {
        let path = self.get(name).map(PathBuf::from);
        let path = path.or_else(|| Some(Path::new(self.get("HOME")?).join(at_home)))?;
        fs::metadata(&path).ok().filter(|file| file.len() <= MOST)?;
        fs::read_to_string(path).ok()
    }

    /// The token for the hub.
    pub(super) fn hub_token(&self) -> Option<String> {
        let said = self.get("HF_TOKEN").map(str::to_owned);
        let kept = || self.file("HF_TOKEN_PATH", ".cache/huggingface/token");
        said.or_else(kept).map(|token| token.trim().to_owned()).filter(|token| !token.is_empty())
    }

    /// The same with what a profile of the tools of S3 says, where nothing else does.
    fn with_profile(mut self) -> StoreSettings {
        if self.get("AWS_ACCESS_KEY_ID").is_some() && self.get("AWS_PROFILE").is_none() {
            return self;
        }
        let name = self.get("AWS_PROFILE").unwrap_or("default").to_owned();
        let credentials = self.file("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials").unwrap_or_default();
        let config = self.file("AWS_CONFIG_FILE", ".aws/config").unwrap_or_default();
        let sections = [(&config, format!("profile {name}")), (&config, name.clone()), (&credentials, name)];
        let sections: Vec<_> = sections.iter().filter_map(|(text, name)| section(text, name)).collect();
        if sections.is_empty() {
            self.lost = self.get("AWS_PROFILE").map(str::to_owned);
        }
        let lets_in = sections.iter().rev().find(|section| section.contains_key(LETS_IN[0].0));
        let lets_in = lets_in.filter(|_| self.get(LETS_IN[0].1).is_none());
        for (key, variable) in LETS_IN {
            let Some(lets_in) = lets_in else { break };
            match lets_in.get(key) {
                Some(value) => self.variables.insert(variable.to_owned(), value.clone()),
                None => self.variables.remove(variable),
            };
        }
        for (key, variable) in IS_AT {
            if let Some(value) = sections.iter().rev().find_map(|section| section.get(key)) {
                self.variables.entry(variable.to_owned()).or_insert_with(|| value.clone());
            }
        }
        self
    }

    /// The profile that was asked for, if there is none of that name.
    pub(super) fn lost_profile(&self) -> Option<&str> {
        self.lost.as_deref()
    }
}

/// The keys and values of a section of a file of settings, if it has that section.
fn section(text: &str, name: &str) -> Option<BTreeMap<String, String>> {
    let (mut inside, mut found) = (false, None);
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
        if let Some(title) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            inside = title.trim() == name;
            if inside {
                found.get_or_insert_with(BTreeMap::new);
            }
        } else if let (true, Some((key, value)), Some(found)) = (inside, line.split_once('='), &mut found) {
            found.insert(key.trim().to_owned(), value.trim().to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> StoreSettings {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        StoreSettings { variables: variables.collect(), lost: None }
    }

    #[test]
    fn profiles_fill_in_what_nobody_says() {
        let home = tempfile::tempdir().expect("a folder");
        fs::create_dir(home.path().join(".aws")).expect("created");
        let credentials = "[default]\naws_access_key_id = one\n[other]\n# aws_access_key_id = none\n; [default]\naws_access_key_id=two\n\
                           aws_secret_access_key = s=t\n";
        fs::write(home.path().join(".aws/credentials"), credentials).expect("written");
        let config = "[default]\nregion = eu-west-1\n[profile other]\nregion = us-west-2\n";
        fs::write(home.path().join(".aws/config"), config).expect("written");
        let home = home.path().to_str().expect("UTF-8");
        let plain = of(&[("HOME", home)]).with_profile();
        assert_eq!(
            (plain.get("AWS_ACCESS_KEY_ID"), plain.get("AWS_REGION")),
            (Some("one"), Some("eu-west-1"))
        );
        let other = of(&[("HOME", home), ("AWS_PROFILE", "other"), ("AWS_REGION", "said")]).with_profile();
        assert_eq!((other.get("AWS_ACCESS_KEY_ID"), other.get("AWS_REGION")), (Some("two"), Some("said")));
        assert_eq!(other.get("AWS_SECRET_ACCESS_KEY"), Some("s=t"));
        assert_eq!((other.lost_profile(), plain.lost_profile()), (None, None));
        assert_eq!(
            of(&[("HOME", home), ("AWS_PROFILE", "gone")]).with_profile().lost_profile(),
            Some("gone")
        );
        // A key of one place and the secret of another let nobody in.
        let mine = [("HOME", home), ("AWS_ACCESS_KEY_ID", "mine"), ("AWS_PROFILE", "other")];
        let mine = of(&mine).with_profile();
        assert_eq!((mine.get("AWS_ACCESS_KEY_ID"), mine.get("AWS_SECRET_ACCESS_KEY")), (Some("mine"), None));
        assert_eq!(mine.get("AWS_REGION"), Some("us-west-2"));
        let token = [("HOME", home), ("AWS_SESSION_TOKEN", "mine"), ("AWS_PROFILE", "other")];
        assert_eq!(of(&token).with_profile().get("AWS_SESSION_TOKEN"), None, "of another key");
        let said = of(&[("HOME", home), ("AWS_ACCESS_KEY_ID", "mine")]).with_profile();
        assert_eq!((said.get("AWS_ACCESS_KEY_ID"), said.get("AWS_SECRET_ACCESS_KEY")), (Some("mine"), None));
    }

    #[test]
    fn attempts_are_within_reason() {
        assert_eq!(of(&[]).attempts(), ATTEMPTS);
        assert_eq!(of(&[("AWS_MAX_ATTEMPTS", "0")]).attempts(), 1);
        assert_eq!(of(&[("AWS_MAX_ATTEMPTS", "many")]).attempts(), ATTEMPTS);
    }
}
