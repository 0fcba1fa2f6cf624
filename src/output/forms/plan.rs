//! Which files are written of which inputs, and how; what cannot be done is refused here, before any work.

use super::form::{FormChoice, RecordForm, TextChange};
use super::names::{output_name, tell_apart};
use super::notes::{AGAINST, COLUMNS, DECIDING};
use crate::error::{Error, Result};
#[cfg(feature = "parquet")]
use crate::read::ArrowTable;
use crate::read::{Compression, Format, Source, column_names, is_one_record};

/// How records of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// As the file is, its bytes copied where that can be.
    AsTheyAre,
    /// As they stood, one behind the other.
    Stretches,
    /// A JSON object a line.
    Lines(Compression),
    /// As rows of a table.
    #[cfg(feature = "parquet")]
    Table,
    /// As rows of a table with the columns that they have.
    #[cfg(feature = "parquet")]
    Leaves,
    /// As the file is, with more columns, or in parts.
    #[cfg(feature = "parquet")]
    Columns,
    /// A text, as it is or cut.
    Text,
    /// Their ids.
    Ids,
}

/// A file that is written, or several if it is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutputFile {
    pub(super) way: Way,
    /// Its name, without what it ends with, and that.
    pub(super) name: (String, String),
    /// The sources that its records are from.
    pub(super) sources: Vec<usize>,
}

/// What is written of some inputs.
#[derive(Debug)]
pub struct FormPlan {
    /// Inputs that are written as they are.
    pub(super) as_they_are: Vec<usize>,
    pub(super) files: Vec<OutputFile>,
}

impl FormPlan {
    /// Finds out what is written of sources.
    ///
    /// # Errors
    /// [`Error::Config`] of what makes no sense whatever the inputs, and [`Error::Input`] of an input that cannot be written so.
    pub fn new(sources: &[Source], choice: FormChoice) -> Result<FormPlan> {
        if choice.annotate && choice.form == Some(RecordForm::Ids) {
            return Err(Error::config(
                "--annotate has no place in a list of ids; leave it out, or use --to jsonl",
            ));
        }
        if choice.texts != TextChange::None && !matches!(choice.form, None | Some(RecordForm::JsonLines(_))) {
            return Err(Error::config(
                "texts that are cut or marked are written as JSON Lines; leave --to out, or use --to jsonl",
            ));
        }
        let mut plan = FormPlan { as_they_are: Vec::new(), files: Vec::new() };
        let mut gathered: Vec<usize> = Vec::new();
        for (at, source) in sources.iter().enumerate() {
            let way = way(source, choice)?;
            if choice.annotate {
                refuse_columns(source, way)?;
            }
            match way {
                Way::AsTheyAre => plan.as_they_are.push(at),
                // A file for each record, as the inputs are.
                Way::Text => {
                    let name = output_name(source, None);
                    plan.files.push(OutputFile { way, name, sources: vec![at] });
                }
                // A file for each would be as many files of one record.
                _ if is_one_record(source.format) => gathered.push(at),
                way => {
                    let name = output_name(source, choice.form);
                    plan.files.push(OutputFile { way, name, sources: vec![at] });
                }
            }
        }
        if let (Some(first), Some(form)) = (gathered.first(), choice.form) {
            let way = way(&sources[*first], choice)?;
            let name = ("documents".to_owned(), form.extension());
            plan.files.push(OutputFile { way, name, sources: gathered });
        }
        let others: Vec<&str> = plan.as_they_are.iter().map(|at| &*sources[*at].name).collect();
        let files = plan.files.iter_mut().map(|file| match file.sources[..] {
            [only] => (&mut file.name, Some(&*sources[only].name)),
            _ => (&mut file.name, None),
        });
        tell_apart(&others, &mut files.collect::<Vec<_>>());
        Ok(plan)
    }

    /// Whether nothing is written but the inputs as they are.
    pub fn is_plain(&self) -> bool {
        self.files.is_empty()
    }
}

/// How the records of a source are written.
fn way(source: &Source, choice: FormChoice) -> Result<Way> {
    let FormChoice { form, annotate, texts, shard_bytes, .. } = choice;
    let cut = texts != TextChange::None;
    let divided = shard_bytes.is_some();
    match (form, source.format) {
        (Some(RecordForm::JsonLines(compression)), Format::JsonLines)
            if compression == source.compression && !annotate && !cut && !divided =>
        {
            Ok(Way::AsTheyAre)
        }
        (Some(RecordForm::JsonLines(compression)), _) => Ok(Way::Lines(compression)),
        (Some(RecordForm::Ids), _) => Ok(Way::Ids),
        (None, Format::JsonLines) if cut => Ok(Way::Lines(source.compression)),
        (None, Format::Text) if texts == TextChange::Cut => Ok(Way::Text),
        (None, _) if cut => {
            let why = "its form has no place for a text that was cut or marked";
            Err(Error::input(&source.path, format!("{why}; add --to jsonl")))
        }
        #[cfg(feature = "parquet")]
        (Some(RecordForm::Parquet) | None, Format::Parquet) => {
            Ok(if annotate || divided { Way::Columns } else { Way::AsTheyAre })
        }
        #[cfg(feature = "parquet")]
        (Some(RecordForm::Parquet), Format::Arrow) => {
            ArrowTable::check(source, choice.memory)?;
            Ok(Way::Leaves)
        }
        #[cfg(feature = "parquet")]
        (Some(RecordForm::Parquet), _) => Ok(Way::Table),
        #[cfg(feature = "parquet")]
        (None, Format::Arrow) if divided => {
            Err(refused(source, "a file of Arrow keeps its batches", "--shard-size"))
        }
        (None, Format::JsonLines) if annotate => Ok(Way::Lines(source.compression)),
        (None, Format::Csv { .. }) if annotate => Ok(Way::Stretches),
        (None, _) if annotate => Err(refused(source, "its form has no place for annotations", "--annotate")),
        (None, Format::JsonLines | Format::Csv { .. } | Format::Mbox | Format::Trec) if divided => {
            Ok(Way::Stretches)
        }
        (None, Format::Warc | Format::Arc) if divided => {
            let why = "what speaks of a page would be lost where a crawl is divided";
            Err(refused(source, why, "--shard-size"))
        }
        (None, Format::MediaWiki) if divided => {
            let why = "what stands around its pages would be lost where an export is divided";
            Err(refused(source, why, "--shard-size"))
        }
        (None, Format::Tar | Format::Zip) if divided => {
            let why = "folders and links would be lost where an archive is divided";
            Err(refused(source, why, "--shard-size"))
        }
        (None, _) => Ok(Way::AsTheyAre),
    }
}

fn refused(source: &Source, why: &str, flag: &str) -> Error {
    let form = match source.format {
        #[cfg(feature = "parquet")]
        Format::Arrow => "--to parquet or --to jsonl",
        _ => "--to jsonl",
    };
    Error::input(&source.path, format!("{why}; add {form}, or leave {flag} out"))
}

/// Refuses columns that would be there twice.
fn refuse_columns(source: &Source, way: Way) -> Result<()> {
    let adds = match way {
        Way::Stretches => true,
        #[cfg(feature = "parquet")]
        Way::Columns | Way::Leaves => true,
        _ => false,
    };
    if !adds {
        return Ok(());
    }
    let names = column_names(source)?;
    match COLUMNS
        .iter()
        .chain(&DECIDING)
        .chain([&AGAINST])
        .find(|column| names.iter().any(|name| name == *column))
    {
        Some(column) => Err(Error::input(
            &source.path,
            format!("it has a column {column} already; rename it, or leave --annotate out"),
        )),
        None => Ok(()),
    }
}
