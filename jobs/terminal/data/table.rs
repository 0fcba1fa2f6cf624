//! Tables for people: aligned for a terminal, or as Markdown.

/// A table: columns with a heading each. The first column begins at the left, the others end at the right.
pub(crate) struct TextTable {
    pub(crate) heading: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(crate) fn text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells.chain([self.heading[column].len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.heading.len()).map(width).collect();
        let line = |cells: Vec<&str>| {
            let cells = cells.iter().zip(&widths).enumerate();
            let cell = |(column, (text, width)): (usize, (&&str, &usize))| match column {
                0 => format!("{text:<width$}"),
                _ => format!("  {text:>width$}"),
            };
            cells.map(cell).collect::<String>().trim_end().to_owned() + "\n"
        };
        let rows = self.rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
        line(self.heading.clone()) + &rows.collect::<String>()
    }

    pub(crate) fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let escaped = |text: &String| text.replace('\\', "\\\\").replace('|', "\\|");
        let heading = line(self.heading.iter().map(|name| name.to_lowercase()).collect());
        let rule = (0..self.heading.len()).map(|column| if column == 0 { "---" } else { "---:" });
        let rule = format!("|{}|\n", rule.collect::<Vec<_>>().join("|"));
        heading
            + &rule
            + &self.rows.iter().map(|row| line(row.iter().map(escaped).collect())).collect::<String>()
    }
}
