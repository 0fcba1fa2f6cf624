//! Labels, read and held against the documents of a command.

use std::fmt::Write as _;
use std::path::Path;

use alike::error::{Error, Result};
use alike::evaluate::{Documents, Form, LabelOptions, Labels, Named, Resolved, Truth, Unlisted, resolve};
use alike::printable::counted;
use serde::Serialize;

use crate::cli::evaluate::{FormArg, LabelArgs, UnlistedArg};

/// Labels, and the file they stand in.
pub(crate) type GivenLabels<'a> = (&'a Path, Labels);

/// Reads the labels, if there are any: before other work, so that what is wrong with them is told at once, and a pipe that
/// nobody writes to can be interrupted.
pub(crate) fn load_labels(args: &LabelArgs) -> Result<Option<GivenLabels<'_>>> {
    let Some(path) = args.labels.as_deref() else { return Ok(None) };
    let form = args.labels_form.map(|form| match form {
        FormArg::Pairs => Form::Pairs,
        FormArg::Clusters => Form::Clusters,
        FormArg::Marks => Form::Marks,
    });
    let wish = LabelOptions { form, column: args.labels_column.clone(), duplicate: args.duplicate.clone() };
    let labels = Labels::load(path, &wish)?;
    if args.unlisted == UnlistedArg::Distinct && labels.form() != Form::Pairs {
        return Err(Error::config("--unlisted distinct is about labels that are pairs; leave it out"));
    }
    Ok(Some((path, labels)))
}

/// Holds labels against the documents.
pub(crate) fn labelled(
    (path, labels): &GivenLabels<'_>,
    args: &LabelArgs,
    documents: &Documents,
) -> Result<(Form, Resolved)> {
    let unlisted = match args.unlisted {
        UnlistedArg::Ignored => Unlisted::Ignored,
        UnlistedArg::Distinct => Unlisted::Distinct,
    };
    Ok((labels.form(), resolve(path, labels, documents, unlisted)?))
}

/// What labels there are, as reports tell it.
#[derive(Serialize)]
pub(crate) struct LabelsReport {
    pub(crate) file: String,
    pub(crate) form: Form,
    /// Pairs that are not listed, of labels that are pairs.
    pub(crate) unlisted: &'static str,
    pub(crate) used: u64,
    /// Lines of a log of verdicts that a later one replaces.
    pub(crate) replaced: u64,
    /// Lines of pairs that people are unsure of.
    pub(crate) unsure: u64,
    pub(crate) unknown: Named,
    pub(crate) unlabelled: Named,
    /// Whether a pair or a document is said to be no duplicate: if none is, nothing found can be wrong.
    pub(crate) all_duplicates: bool,
}

impl LabelsReport {
    pub(crate) fn new(path: &Path, args: &LabelArgs, (form, resolved): &(Form, Resolved)) -> LabelsReport {
        LabelsReport {
            file: path.display().to_string(),
            form: *form,
            unlisted: match args.unlisted {
                UnlistedArg::Ignored => "ignored",
                UnlistedArg::Distinct => "distinct",
            },
            used: resolved.used,
            replaced: resolved.replaced,
            unsure: resolved.unsure,
            unknown: resolved.unknown.clone(),
            unlabelled: resolved.unlabelled.clone(),
            all_duplicates: match &resolved.truth {
                Truth::Judged(pairs) => pairs.iter().all(|(.., duplicates)| *duplicates),
                Truth::Marks(marks) => marks.iter().all(|mark| *mark),
                Truth::Whole { .. } => false,
            },
        }
    }

    /// Whether they say something of every pair of the documents that they name, and not of those alone that they list.
    pub(crate) fn is_complete(&self) -> bool {
        self.form == Form::Clusters || self.unlisted == "distinct"
    }

    /// What people should know of them, line by line.
    pub(crate) fn notes(&self) -> Vec<String> {
        let LabelsReport { file, used, replaced, unsure, unknown, unlabelled, .. } = self;
        let mut line = format!("{} of {file}", counted(*used, "label"));
        for (count, what) in [(replaced, "replaced by later verdicts"), (unsure, "unsure and left out")] {
            if *count > 0 {
                // Writing to a string cannot fail.
                let _ = write!(line, "; {count} {what}");
            }
        }
        for (named, what) in
            [(unknown, "ids in them that no document has"), (unlabelled, "documents without a label")]
        {
            if named.count > 0 {
                let _ = write!(line, "; {} {what}: {}", named.count, named.shown());
            }
        }
        let mut notes = vec![line];
        if self.form != Form::Pairs && unlabelled.count > 0 {
            notes.push("documents without a label are left out of all measures".into());
        }
        if self.form == Form::Pairs {
            notes.push(match self.unlisted {
                "distinct" => "pairs that are not listed count as no duplicates".to_owned(),
                _ => "pairs that are not listed count for nothing".to_owned(),
            });
        }
        if self.all_duplicates {
            notes.push(
                "no label says what is no duplicate, so nothing can be wrong; is the list complete (--unlisted distinct)?"
                    .into(),
            );
        }
        notes
    }
}
