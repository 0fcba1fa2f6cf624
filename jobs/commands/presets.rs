//! `alike presets`: which presets there are, and what one of them says.

use std::fmt::Write;

use alike::config::{Config, Method, PRESETS, Preset, Rule, Tokens};
use alike::error::Result;

/// The text `alike presets` prints: a table, or the TOML of the preset called `name`.
pub(crate) fn text(name: Option<&str>) -> Result<String> {
    if let Some(name) = name {
        return Ok(Preset::find(name)?.source.into());
    }
    let mut table = format!("{:<18}{:<15}{:<11}{:<23}{}\n", "PRESET", "METHOD", "UNIT", "RULE", "FOR");
    for preset in PRESETS {
        let config = preset.config()?;
        let (method, shingle, rule) = row(&config);
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{:<18}{method:<15}{shingle:<11}{rule:<23}{}", preset.name, preset.about);
    }
    Ok(table)
}

/// Method, shingle and rule of a configuration, each in a few letters.
fn row(config: &Config) -> (&'static str, String, String) {
    let tokens = match config.text.tokens {
        Tokens::Words => "words",
        Tokens::Chars => "chars",
    };
    let (features, ngram) = (&config.features, config.text.ngram);
    let over = format!("at least {}", config.threshold);
    let counted = match config.count.rule {
        Rule::Resemblance => over.clone(),
        Rule::Containment => format!("{} contained", config.threshold),
        Rule::Shared => format!("{} shared", config.count.shared),
    };
    let shingle = format!("{ngram} {tokens}");
    let (shingle, rule) = match config.method {
        Method::Exact => ("text".into(), "equal".into()),
        Method::Join => (shingle, over),
        Method::Features if features.r == 1 => {
            (shingle, format!("1 of {} bands of {}", features.k, features.s))
        }
        Method::Features => (shingle, format!("{} of {} features", features.r, features.k)),
        Method::Shingles | Method::Supershingles | Method::Winnow => (shingle, counted),
        Method::Anchors => (format!("{} chars", config.anchors.characters), counted),
        Method::Sentences => ("sentences".into(), counted),
        Method::Lines => (format!("{} lines", config.lines.per_chunk), counted),
        Method::Salient => (format!("{} terms", config.salient.terms), counted),
        Method::Imatch => ("terms".into(), format!("1 of {} digests", config.imatch.lexicons + 1)),
        Method::Fingerprint => (format!("{} terms", config.fingerprint.terms), "equal".into()),
        Method::Vector => {
            (format!("{} terms", config.vector.terms), format!("{} shared", config.vector.shared))
        }
        Method::Cosine => ("terms".into(), over),
    };
    (config.method.name(), shingle, rule)
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
