//! What was asked for and has no effect: fields that no record has, told with those that there are, and what is about pages or mails
//! where there are none.

use std::path::Path;

use alike::config::Input;
use alike::error::{Error, Result};
use alike::flow::Outcome;
use alike::output::Summary;
use alike::printable::printable;
use alike::read::{Fields, Format, Source, column_names, reread_records};
use alike::report::FieldLoss;
use serde_json::Value;

use crate::terminal::stderr::warn;

/// Names of fields that are told.
const NAMED: usize = 20;
/// The field that ids are in where none is named.
const USUAL_ID: &str = "id";

/// Warns of what was asked for and has no effect: of a field that no record has, and of pages and mails where there are none; `by` are those by whose values a report tells what is lost. Nothing is read unless one is missing everywhere.
pub(crate) fn warn_of_missing_fields(outcome: &Outcome, summary: &Summary, by: &[FieldLoss]) {
    let Summary { documents, missing_id, missing_value, configuration, .. } = summary;
    if *documents == 0 {
        return;
    }
    warn_of_other_formats(outcome, &configuration.input);
    let id = (missing_id == documents).then_some(&*configuration.input.id_field);
    let id = id.filter(|field| *field != USUAL_ID).map(|field| ("--id-field", field));
    let value = configuration.cluster.keep.field().filter(|_| missing_value == documents);
    let by = by.iter().filter(|loss| !loss.has_values()).map(|loss| ("--report-by", &*loss.field));
    let missing: Vec<(&str, &str)> =
        id.into_iter().chain(value.map(|field| ("--keep", field))).chain(by).collect();
    if missing.is_empty() {
        return;
    }
    let there = there(outcome);
    for (flag, field) in missing {
        warn(&format!(
            "{flag}: no document has a number or a string in the field {}{there}",
            printable(field)
        ));
    }
}

/// Refuses to compare all documents with each other where only those of one value were to be.
///
/// # Errors
/// [`Error::Input`] if no document has a value, and there is more than one with a word.
pub(crate) fn refuse_missing_within(outcome: &Outcome, input: &Input) -> Result<()> {
    let (missing, documents) = (outcome.tally.missing_within, outcome.tally.documents);
    let first = outcome.run.documents.own_sources().first();
    match first.filter(|_| documents - outcome.tally.empty > 1 && missing == documents) {
        Some(first) => {
            let (file, field) = (Path::new(&first.shown), &input.within_field);
            Err(no_value_to_compare_within(file, field, &there(outcome)))
        }
        None => Ok(()),
    }
}

/// The error of a field that no document has, so that all would be compared; `there` is what else they have.
pub(crate) fn no_value_to_compare_within(place: &Path, field: &str, there: &str) -> Error {
    let field = printable(field);
    let what = format!(
        "--within: no document has a number or a string in the field {field}{there}; name a field that they have, or leave --within \
         out to compare all of them"
    );
    Error::input(place, what)
}

/// The fields that the first document has, for a message; a hint is nothing that a run fails for.
fn there(outcome: &Outcome) -> String {
    let there = names(outcome).unwrap_or_default();
    let more = if there.len() > NAMED { ", ..." } else { "" };
    let told: Vec<String> = there.iter().take(NAMED).map(|name| printable(name).into_owned()).collect();
    if told.is_empty() { String::new() } else { format!("; the first record has: {}{more}", told.join(", ")) }
}

/// Warns of what was asked for of pages or mails where no input has any.
fn warn_of_other_formats(outcome: &Outcome, input: &Input) {
    let sources = outcome.run.documents.own_sources();
    let has = |is: fn(Format) -> bool| sources.iter().any(|source| is(source.format));
    let is_archive = |format| matches!(format, Format::Tar | Format::Zip);
    let pages = |format| matches!(format, Format::Html | Format::Warc | Format::Arc | Format::Trec);
    let mails = |format| matches!(format, Format::Mbox | Format::Message);
    if input.main_text && !has(pages) && !has(is_archive) {
        warn("--main-text: no input has pages of HTML, so all texts are compared whole");
    }
    if input.strip_quotes && !has(mails) && !has(is_archive) {
        warn("--strip-quotes: no input is mail, so all texts are compared whole");
    }
}

/// The fields of the first document; none where records have no named ones.
fn names(outcome: &Outcome) -> Result<Vec<String>> {
    let documents = &outcome.run.documents;
    let catalogue = &documents.catalogue;
    let first = catalogue.docs_in_order().find(|doc| !catalogue.is_protected(*doc));
    let Some(position) = first.map(|doc| catalogue.position(doc)) else { return Ok(Vec::new()) };
    let source: &Source = &documents.inputs.sources[position.file() as usize];
    let fields: &Fields = &documents.inputs.fields;
    if source.format != Format::JsonLines {
        return column_names(source);
    }
    let mut names = Vec::new();
    reread_records(source, position.file(), &[position.offset()], fields, &mut |_, record| {
        if let Ok(Value::Object(members)) = serde_json::from_slice(record.raw) {
            names.extend(members.into_iter().map(|(name, _)| name));
        }
        Ok(())
    })?;
    Ok(names)
}
