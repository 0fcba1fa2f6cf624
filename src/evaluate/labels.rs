//! A file of labels: what people say of documents, by id.
//!
//! | form | columns | what a line says |
//! |---|---|---|
//! | pairs | two ids, perhaps a grade | a grade of 1 or more: duplicates of each other; 0: not; no grade: duplicates |
//! | clusters | an id and a label | documents of one label are duplicates of each other |
//! | marks | an id and a mark | 1: a duplicate that is to be removed; 0: one that stays |
//!
//! Of pairs the grade [`UNSURE`] says nothing. Pairs with a column [`JUDGED_AT`] are a log of verdicts: of the lines of a pair the
//! last one counts. Without that column, grades that contradict each other are refused.

use std::path::Path;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::table::FieldTable;
use crate::error::{Error, Result};
use crate::limits::MAX_LABELS_BYTES;
use crate::read::read_short;

/// The grade of a pair that people are unsure of.
pub const UNSURE: &str = "unsure";
/// The column of a log of verdicts that says when each was given.
pub const JUDGED_AT: &str = "judged_at";

/// What the lines of a file of labels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Two ids and a grade.
    Pairs,
    /// An id and what it has in common with its duplicates.
    Clusters,
    /// An id and whether it is to be removed.
    Marks,
}

/// What is said of a file of labels beside itself.
#[derive(Clone, Debug, Default)]
pub struct LabelOptions {
    /// Its form; `None`: as the names of its columns say.
    pub form: Option<Form>,
    /// The column of the grade, label or mark; `None`: by its name.
    pub column: Option<String>,
    /// Words that mean a duplicate where grades or marks are words; all others mean none.
    pub duplicate: Vec<String>,
}

/// Labels as they stand in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// The lines.
    pub rows: LabelRows,
    /// The number of each line in the file, from 1.
    pub lines: Vec<u64>,
    /// Lines of a log of verdicts that are left out because a later one is about the same pair.
    pub replaced: u64,
    /// Lines that are left out because their grade is [`UNSURE`].
    pub unsure: u64,
}

/// The lines of a file of labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelRows {
    /// Two ids, and whether they are duplicates.
    Pairs(Vec<(String, String, bool)>),
    /// An id and its label, which is not empty.
    Clusters(Vec<(String, String)>),
    /// An id and whether it is to be removed.
    Marks(Vec<(String, bool)>),
}

/// Names of columns, in lower case.
const LEFT: [&str; 6] = ["id_a", "a", "left", "id1", "id_1", "doc1"];
const RIGHT: [&str; 6] = ["id_b", "b", "right", "id2", "id_2", "doc2"];
const ID: [&str; 4] = ["id", "doc", "doc_id", "document"];
const GRADE: [&str; 6] = ["grade", "label", "duplicate", "judgement", "judgment", "relevance"];
const LABEL: [&str; 6] = ["cluster", "label", "cluster_id", "group", "set", "family"];
const MARK: [&str; 5] = ["mark", "duplicate", "is_duplicate", "removed", "remove"];

impl Labels {
    /// Reads a file: columns between tabulators below a heading, or lines of JSON. Without a heading the columns are those
    /// of the table above, in that order, and the form must be given.
    ///
    /// # Errors
    /// [`Error::Input`], with the line, for what is no label; [`Error::Config`] where the form does not fit.
    pub fn load(path: &Path, wish: &LabelOptions) -> Result<Labels> {
        let text = read_short(path, MAX_LABELS_BYTES).map_err(|source| {
            let expected = "labels are a text file, columns between tabulators or lines of JSON";
            Error::input(path, format!("cannot be read: {source}; {expected}"))
        })?;
        Labels::parse(path, &text, wish)
    }

    /// The same, from the text of a file; `path` says in messages where it came from.
    ///
    /// # Errors
    /// As [`Labels::load`].
    pub fn parse(path: &Path, text: &str, wish: &LabelOptions) -> Result<Labels> {
        let table = FieldTable::parse(text, is_heading).map_err(|what| Error::input(path, what))?;
        if table.rows.is_empty() {
            return Err(Error::input(path, "there is no label in it"));
        }
        let columns =
            Columns::of(&table, wish).map_err(|what| Error::config(format!("{}: {what}", path.display())))?;
        let labels = columns.read(&table, wish).map_err(|what| Error::input(path, what))?;
        match labels.unsure > 0 && labels.lines.is_empty() {
            true => {
                Err(Error::input(path, "every pair in it is graded unsure, which says nothing; judge some"))
            }
            false => Ok(labels),
        }
    }

    /// What the lines are.
    pub fn form(&self) -> Form {
        match self.rows {
            LabelRows::Pairs(_) => Form::Pairs,
            LabelRows::Clusters(_) => Form::Clusters,
            LabelRows::Marks(_) => Form::Marks,
        }
    }
}

fn is_heading(fields: &[&str]) -> bool {
    let first = fields[0].to_lowercase();
    LEFT.contains(&&*first) || ID.contains(&&*first)
}

/// Which columns hold what.
struct Columns {
    form: Form,
    id: usize,
    /// The other id of pairs.
    other: usize,
    /// The grade, label or mark; pairs may do without.
    value: Option<usize>,
    /// Whether the last line of a pair counts.
    log: bool,
}

impl Columns {
    fn of(table: &FieldTable, wish: &LabelOptions) -> std::result::Result<Columns, String> {
        let Some(names) = &table.names else {
            if let [Some(only)] = &table.rows[0].1[..]
                && only.contains(',')
            {
                return Err("columns are parted by tabulators, and the first line has commas: write the file with tabulators".into());
            }
            let form = wish.form.ok_or(
                "the first line is no heading (its first column would be id or id_a); say what the columns are with \
                 --labels-form pairs, clusters or marks",
            )?;
            if wish.column.is_some() {
                return Err("--labels-column needs a heading, and the first line is none".into());
            }
            return Columns::in_order(form, table.rows[0].1.len());
        };
        let at = |known: &[&str]| names.iter().position(|name| known.contains(&&*name.to_lowercase()));
        let asked = |name: &String| {
            let found = names.iter().position(|column| column == name);
            found.ok_or_else(|| format!("there is no column {name:?}; there are {}", names.join(", ")))
        };
        let asked = wish.column.as_ref().map(asked).transpose()?;
        let form = wish.form.or_else(|| match (at(&LEFT), at(&RIGHT), at(&ID)) {
            (Some(_), Some(_), _) => Some(Form::Pairs),
            (_, _, Some(_)) if asked.is_some() => None,
            (_, _, Some(_)) => match (at(&LABEL), at(&MARK)) {
                (Some(_), None) => Some(Form::Clusters),
                (None, Some(_)) => Some(Form::Marks),
                _ => None,
            },
            _ => None,
        });
        let form = form.ok_or_else(|| {
            let names = names.join(", ");
            format!(
                "what the columns {names} are is not clear; say so with --labels-form and --labels-column"
            )
        })?;
        let missing = |what: &str, known: &[&str]| {
            format!(
                "there is no column for {what}: none of {} is called {}",
                names.join(", "),
                known.join(" or ")
            )
        };
        let needed = |what, known: &[&str]| at(known).ok_or_else(|| missing(what, known));
        Ok(match form {
            Form::Pairs => {
                let (id, other) = (needed("the first id", &LEFT)?, needed("the second id", &RIGHT)?);
                let log = at(&[JUDGED_AT]).is_some();
                Columns { form, id, other, value: asked.or_else(|| at(&GRADE)), log }
            }
            Form::Clusters => {
                let value = asked.map_or_else(|| needed("the label", &LABEL), Ok)?;
                Columns { form, id: needed("the id", &ID)?, other: 0, value: Some(value), log: false }
            }
            Form::Marks => {
                let value = asked.map_or_else(|| needed("the mark", &MARK), Ok)?;
                Columns { form, id: needed("the id", &ID)?, other: 0, value: Some(value), log: false }
            }
        })
    }

    /// The columns of a file without a heading.
    fn in_order(form: Form, width: usize) -> std::result::Result<Columns, String> {
        if width < 2 {
            return Err("a line of labels has two columns or more, with a tabulator between them".into());
        }
        Ok(match form {
            Form::Pairs => Columns { form, id: 0, other: 1, value: (width > 2).then_some(2), log: false },
            Form::Clusters | Form::Marks => Columns { form, id: 0, other: 0, value: Some(1), log: false },
        })
    }

    fn read(&self, table: &FieldTable, wish: &LabelOptions) -> std::result::Result<Labels, String> {
        let mut lines = Vec::with_capacity(table.rows.len());
        let (mut pairs, mut clusters, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        let last = if self.log { self.last_of_pairs(table) } else { HashMap::new() };
        let (mut replaced, mut unsure) = (0, 0);
        for (number, fields) in &table.rows {
            let text = |at: usize| fields[at].clone().filter(|text| !text.is_empty());
            let id = |at: usize| text(at).ok_or_else(|| format!("line {number} has no id"));
            let value = self.value.and_then(text);
            let verdict = || match &value {
                None if self.value.is_some() => Err(format!("line {number} has no grade or mark")),
                None => Ok(true),
                Some(value) => {
                    verdict(value, &wish.duplicate).map_err(|what| format!("line {number}: {what}"))
                }
            };
            match self.form {
                Form::Pairs => {
                    let (a, b) = (id(self.id)?, id(self.other)?);
                    let is_unsure =
                        value.as_deref() == Some(UNSURE) && wish.duplicate.iter().all(|word| word != UNSURE);
                    let duplicates = if is_unsure { None } else { Some(verdict()?) };
                    if self.log && last.get(&unordered(&a, &b)) != Some(number) {
                        replaced += 1;
                        continue;
                    }
                    let Some(duplicates) = duplicates else {
                        unsure += 1;
                        continue;
                    };
                    pairs.push((a, b, duplicates));
                }
                Form::Marks => marks.push((id(self.id)?, verdict()?)),
                // A document without a label is one that nothing is said of.
                Form::Clusters => match value {
                    Some(label) => clusters.push((id(self.id)?, label)),
                    None => continue,
                },
            }
            lines.push(*number);
        }
        let rows = match self.form {
            Form::Pairs => LabelRows::Pairs(pairs),
            Form::Clusters => LabelRows::Clusters(clusters),
            Form::Marks => LabelRows::Marks(marks),
        };
        Ok(Labels { rows, lines, replaced, unsure })
    }

    /// The number of the last line of each pair.
    fn last_of_pairs<'a>(&self, table: &'a FieldTable) -> HashMap<(&'a str, &'a str), u64> {
        let id = |fields: &'a [Option<String>], at: usize| fields[at].as_deref().unwrap_or_default();
        let pair = |fields: &'a [Option<String>]| unordered(id(fields, self.id), id(fields, self.other));
        table.rows.iter().map(|(number, fields)| (pair(fields), *number)).collect()
    }
}

/// Two ids in the order that all lines of the pair have in common.
fn unordered<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    (a.min(b), a.max(b))
}

/// Whether a grade or a mark means a duplicate.
fn verdict(value: &str, duplicate: &[String]) -> std::result::Result<bool, String> {
    if !duplicate.is_empty() {
        return Ok(duplicate.iter().any(|word| word == value));
    }
    match value.parse::<f64>() {
        Ok(grade) if grade.is_finite() && grade >= 0.0 => Ok(grade >= 1.0),
        _ => Err(format!(
            "{value:?} is no grade: expected a number, 1 or more for duplicates; if grades are words, say which mean \
             duplicates with --duplicate WORD"
        )),
    }
}
