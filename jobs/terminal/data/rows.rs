//! Rows of data: aligned columns, JSON or tab-separated values. A command names its columns once.

use std::borrow::Cow;
use std::mem;

use alike::error::Result;
use serde::Serialize;

use crate::cli::values::DataForm;
use crate::terminal::escape::sanitize;
use crate::terminal::stdout::{OutputLines, json_of};

/// Rows whose cells say how wide the columns of a table are. Later ones may stand out.
const MEASURED: usize = 1000;
/// Most characters that a column of a table is filled up to.
const WIDEST: usize = 40;

/// A column: its name is the heading.
pub(crate) struct Column {
    name: Cow<'static, str>,
    /// Whether its cells are numbers, which end below each other.
    number: bool,
}

impl Column {
    /// A column of texts.
    pub(crate) fn text(name: impl Into<Cow<'static, str>>) -> Column {
        Column { name: name.into(), number: false }
    }

    /// A column of numbers.
    pub(crate) fn number(name: &'static str) -> Column {
        Column { name: name.into(), number: true }
    }
}

/// What stands in a row: nothing is a dash in a table, and nothing between tabs.
pub(crate) type Cells = Vec<Option<String>>;

/// A cell that has a value.
#[expect(
    clippy::needless_pass_by_value,
    reason = "whoever has a value need not borrow it, and who borrows gives that"
)]
pub(crate) fn cell(value: impl ToString) -> Option<String> {
    Some(value.to_string())
}

/// Rows on standard output.
pub(crate) struct DataRows<'a> {
    lines: &'a mut OutputLines,
    form: DataForm,
    columns: Vec<Column>,
    /// Rows of a table that wait for those behind them.
    waiting: Vec<Cells>,
    /// Of the columns of a table, once they are known.
    widths: Vec<usize>,
    /// Whether anything has been written.
    begun: bool,
}

impl<'a> DataRows<'a> {
    pub(crate) fn new(lines: &'a mut OutputLines, form: DataForm, columns: Vec<Column>) -> DataRows<'a> {
        DataRows { lines, form, columns, waiting: Vec::new(), widths: Vec::new(), begun: false }
    }

    /// A row: a value for JSON, and its cells.
    pub(crate) fn row(&mut self, value: &impl Serialize, cells: impl FnOnce() -> Cells) -> Result<()> {
        self.rows(value, || vec![cells()])
    }

    /// A value for JSON that is several rows, or none, where there are columns.
    pub(crate) fn rows(&mut self, value: &impl Serialize, rows: impl FnOnce() -> Vec<Cells>) -> Result<()> {
        match self.form {
            DataForm::Jsonl => self.lines.json(value),
            DataForm::Json => {
                let begin = if mem::replace(&mut self.begun, true) { "," } else { "[" };
                self.lines.raw(&format!("{begin}{}", json_of(value)?))
            }
            DataForm::Tsv => {
                self.heading()?;
                rows().iter().try_for_each(|cells| self.lines.plain(&separated(cells)))
            }
            DataForm::Table => rows().into_iter().try_for_each(|cells| self.aligned(cells)),
        }
    }

    /// Ends what was begun. Without it rows are lost.
    pub(crate) fn finish(mut self) -> Result<()> {
        match self.form {
            DataForm::Jsonl => Ok(()),
            DataForm::Json if self.begun => self.lines.text("]"),
            DataForm::Json => self.lines.text("[]"),
            DataForm::Tsv => self.heading(),
            DataForm::Table => self.measure(),
        }
    }

    /// The heading of separated values, once.
    fn heading(&mut self) -> Result<()> {
        if mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let names: Cells = self.columns.iter().map(|column| cell(&column.name)).collect();
        self.lines.plain(&separated(&names))
    }

    /// A row of a table.
    fn aligned(&mut self, cells: Cells) -> Result<()> {
        if self.begun {
            return self.show(&cells);
        }
        self.waiting.push(cells);
        if self.waiting.len() < MEASURED { Ok(()) } else { self.measure() }
    }

    /// Finds the widths of the columns, and shows what waits below their headings.
    fn measure(&mut self) -> Result<()> {
        if mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let waiting = mem::take(&mut self.waiting);
        let width = |column: usize| {
            let cells =
                waiting.iter().map(|cells| cells.get(column).map_or(1, |cell| shown(cell).chars().count()));
            cells.max().unwrap_or(0).min(WIDEST).max(self.columns[column].name.chars().count())
        };
        self.widths = (0..self.columns.len()).map(width).collect();
        let heading = |column: &Column| cell(column.name.replace('_', " ").to_uppercase());
        let heading: Cells = self.columns.iter().map(heading).collect();
        self.show(&heading)?;
        waiting.iter().try_for_each(|cells| self.show(cells))
    }

    fn show(&mut self, cells: &Cells) -> Result<()> {
        let columns = self.columns.iter().zip(&self.widths).zip(cells);
        let padded = columns.map(|((column, width), cell)| match column.number {
            true => format!("{:>width$}", shown(cell)),
            false => format!("{:<width$}", shown(cell)),
        });
        let line = padded.collect::<Vec<_>>().join("  ");
        self.lines.text(line.trim_end())
    }
}

/// A cell of a table: what it says cannot act on a terminal.
fn shown(cell: &Option<String>) -> Cow<'_, str> {
    cell.as_deref().map_or(Cow::Borrowed("-"), sanitize)
}

/// Cells with tabs between them. What would be taken for the end of a cell or a row is escaped.
pub(super) fn separated(cells: &[Option<String>]) -> String {
    let mut line = String::new();
    for (column, cell) in cells.iter().enumerate() {
        if column > 0 {
            line.push('\t');
        }
        for character in cell.iter().flat_map(|cell| cell.chars()) {
            match character {
                '\t' => line.push_str("\\t"),
                '\n' => line.push_str("\\n"),
                '\r' => line.push_str("\\r"),
                '\\' => line.push_str("\\\\"),
                character => line.push(character),
            }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_cell_ends_it() {
        let cells = [cell("a\tb"), None, cell("c\nd\r"), cell("e\\t"), cell("\u{e9}")];
        assert_eq!(separated(&cells), "a\\tb\t\tc\\nd\\r\te\\\\t\t\u{e9}");
        assert_eq!(separated(&[]), "");
    }
}
