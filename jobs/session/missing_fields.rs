//! Fields that no record has: what is mistyped is told with the fields that there are.

use alike::error::Result;
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

/// Warns of a field that was asked for and that no record has; `by` are those by whose values a report tells what is lost. Nothing is read unless one is missing everywhere.
pub(crate) fn warn_of_missing_fields(outcome: &Outcome, summary: &Summary, by: &[FieldLoss]) {
    let Summary { documents, missing_id, missing_value, configuration, .. } = summary;
    if *documents == 0 {
        return;
    }
    let id = (missing_id == documents).then_some(&*configuration.input.id_field);
    let id = id.filter(|field| *field != USUAL_ID).map(|field| ("--id-field", field));
    let value = configuration.cluster.keep.field().filter(|_| missing_value == documents);
    let by = by.iter().filter(|loss| !loss.has_values()).map(|loss| ("--report-by", &*loss.field));
    let missing: Vec<(&str, &str)> =
        id.into_iter().chain(value.map(|field| ("--keep", field))).chain(by).collect();
    if missing.is_empty() {
        return;
    }
    // A hint is nothing that a run fails for.
    let there = names(outcome).unwrap_or_default();
    let more = if there.len() > NAMED { ", ..." } else { "" };
    let told: Vec<String> = there.iter().take(NAMED).map(|name| printable(name).into_owned()).collect();
    for (flag, field) in missing {
        let field = printable(field);
        let there = match told.is_empty() {
            true => String::new(),
            false => format!("; the first record has: {}{more}", told.join(", ")),
        };
        warn(&format!("{flag}: no document has the field {field}{there}"));
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
