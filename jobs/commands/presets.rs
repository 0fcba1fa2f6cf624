//! `alike presets`: which presets there are, and what one of them says.

use std::fmt::Write;

use alike::config::{PRESETS, Preset};
use alike::error::Result;
use alike::method::Description;

/// The text `alike presets` prints: a table, or the TOML of the preset called `name`.
pub(crate) fn text(name: Option<&str>) -> Result<String> {
    if let Some(name) = name {
        return Ok(Preset::find(name)?.source.into());
    }
    let mut table = format!("{:<18}{:<15}{:<11}{:<23}{}\n", "PRESET", "METHOD", "UNIT", "RULE", "FOR");
    for preset in PRESETS {
        let config = preset.config()?;
        let method = config.method.name();
        let Description { unit, rule, .. } = config.description();
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{:<18}{method:<15}{unit:<11}{rule:<23}{}", preset.name, preset.about);
    }
    Ok(table)
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
