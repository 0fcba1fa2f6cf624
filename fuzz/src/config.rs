//! Configuration files: what is read is what is written, and whatever is refused is refused with its place.

use alike::config::{Config, PRESETS, Preset};
use alike::error::Error;

use crate::take;

/// The first byte names a preset; the rest is a TOML text, faults in its UTF-8 replaced.
pub fn config(mut data: &[u8]) {
    let [base] = take(&mut data);
    let text = String::from_utf8_lossy(data);
    let parsed = Config::parse("file.toml", &text);
    match &parsed {
        Ok(config) => {
            come_back(config);
            let over = Config::parse_over("file.toml", &text, &Config::default()).expect("as it stands");
            assert_eq!(over, *config, "{text:?} over the defaults");
        }
        Err(error) => told(error, "file.toml"),
    }
    let preset = &PRESETS[usize::from(base) % PRESETS.len()];
    let base = preset.config().expect("a preset");
    match (Config::parse_over("file.toml", &text, &base), parsed) {
        (Ok(over), Ok(_)) => {
            come_back(&over);
            // What is laid over once is laid over.
            let again = Config::parse_over("file.toml", &text, &over).expect("as before");
            assert_eq!(again, over, "{text:?} over {}", preset.name);
        }
        (Err(error), _) => told(&error, "file.toml"),
        (Ok(_), Err(error)) => panic!("{text:?} is only good over {}: {error}", preset.name),
    }
    if let Ok(found) = Preset::find(&text) {
        assert!(PRESETS.iter().any(|preset| preset.name == found.name));
    }
}

/// A configuration as text is the same configuration; what makes no sense says so.
fn come_back(config: &Config) {
    let text = toml::to_string(config).expect("a configuration is written");
    assert_eq!(Config::parse("again", &text).expect("read again"), *config, "{text}");
    if let Err(error) = config.validate() {
        assert!(matches!(error, Error::Config(_)) && !error.to_string().is_empty());
    }
}

fn told(error: &Error, name: &str) {
    assert!(matches!(error, Error::Config(_)) && error.to_string().contains(name), "{error}");
}
