//! `alike presets`: which presets there are, and what one of them says.

use std::process::ExitCode;

use alike::config::{PRESETS, Preset};
use alike::error::{Error, Result};
use alike::method::Description;
use serde::Serialize;

use crate::cli::common::PrintArgs;
use crate::cli::values::DataForm;
use crate::terminal::data::rows::{Cells, Column, DataRows, cell};
use crate::terminal::stdout::{OutputLines, print};

/// A preset, as it is listed.
#[derive(Serialize)]
struct PresetRow {
    preset: &'static str,
    method: &'static str,
    unit: String,
    rule: String,
    about: &'static str,
}

/// A list of the presets, or the TOML of the preset called `name`.
pub(super) fn run(name: Option<&str>, how: PrintArgs) -> Result<ExitCode> {
    if let Some(name) = name {
        if how.json || how.format.is_some() {
            return Err(Error::config(
                "--format and --json are about the list; a preset is a file of TOML: leave out one of the two",
            ));
        }
        return print(Preset::find(name)?.source.as_bytes());
    }
    let mut lines = OutputLines::new();
    let columns = ["preset", "method", "unit", "rule", "for"].map(Column::text);
    let mut rows = DataRows::new(&mut lines, how.form(DataForm::Table), columns.into());
    let written = list()?.iter().try_for_each(|row| rows.row(row, || cells(row)));
    let written = written.and_then(|()| rows.finish());
    lines.finish(written)
}

fn list() -> Result<Vec<PresetRow>> {
    let row = |preset: &Preset| {
        let config = preset.config()?;
        let Description { unit, rule, .. } = config.description();
        let method = config.method.name();
        Ok(PresetRow { preset: preset.name, method, unit, rule, about: preset.about })
    };
    PRESETS.iter().map(row).collect()
}

fn cells(row: &PresetRow) -> Cells {
    let PresetRow { preset, method, unit, rule, about } = row;
    vec![cell(preset), cell(method), cell(unit), cell(rule), cell(about)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_listed_in_lines_that_fit_a_terminal() {
        let list = list().expect("a list");
        assert_eq!(list.len(), PRESETS.len());
        let width =
            |column: usize| list.iter().map(|row| cells(row)[column].as_ref().map_or(0, String::len)).max();
        let widths: usize = (0..5).filter_map(width).map(|width| width + 2).sum();
        assert!(widths <= 112, "{widths}");
        assert!(list.iter().any(|row| row.rule == "1 of 20 bands of 13"));
    }
}
