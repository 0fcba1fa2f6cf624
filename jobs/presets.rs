//! `alike presets`: which presets there are, and what one of them says.

use std::fmt::Write;

use alike::config::{Config, Method, PRESETS, Preset, Tokens};
use alike::error::Result;

/// The text `alike presets` prints: a table, or the TOML of the preset called `name`.
pub(crate) fn text(name: Option<&str>) -> Result<String> {
    if let Some(name) = name {
        return Ok(Preset::find(name)?.source.into());
    }
    let mut table = format!("{:<14}{:<10}{:<10}{:<21}{}\n", "PRESET", "METHOD", "SHINGLE", "RULE", "FOR");
    for preset in PRESETS {
        let config = preset.config()?;
        let (method, shingle, rule) = row(&config);
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{:<14}{method:<10}{shingle:<10}{rule:<21}{}", preset.name, preset.about);
    }
    Ok(table)
}

/// Method, shingle and rule of a configuration, each in a few letters.
fn row(config: &Config) -> (&'static str, String, String) {
    let tokens = match config.text.tokens {
        Tokens::Words => "words",
        Tokens::Chars => "chars",
    };
    let features = &config.features;
    let (method, rule) = match config.method {
        Method::Exact => ("exact", "equal text".into()),
        Method::Join => ("join", format!("at least {}", config.threshold)),
        Method::Shingles => ("shingles", format!("at least {}", config.threshold)),
        Method::Features if features.r == 1 => {
            ("features", format!("1 of {} bands of {}", features.k, features.s))
        }
        Method::Features => ("features", format!("{} of {} features", features.r, features.k)),
    };
    (method, format!("{} {tokens}", config.text.ngram), rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_every_preset_in_lines_that_fit_a_terminal() {
        let table = text(None).expect("a table");
        assert_eq!(table.lines().count(), PRESETS.len() + 1);
        for (line, preset) in table.lines().skip(1).zip(PRESETS) {
            assert!(line.starts_with(preset.name) && line.ends_with(preset.about), "{line}");
            assert!(line.len() <= 110, "{line}");
        }
        assert!(table.contains("1 of 20 bands of 13"));
    }

    #[test]
    fn prints_one_as_it_stands() {
        assert!(text(Some("textdedup")).expect("a preset").starts_with("# text-dedup"));
        assert!(text(Some("nothing")).is_err());
    }
}
