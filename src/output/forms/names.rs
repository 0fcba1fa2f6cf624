//! What files are called that are written in another form than their inputs.

use std::collections::HashMap;
use std::path::Path;

use super::form::RecordForm;
use crate::read::{Compression, Source, names_apart};

/// How names of files end that say what is in them.
const KNOWN: [&str; 27] = [
    ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab", ".parquet", ".arrow", ".feather", ".warc", ".wet",
    ".arc", ".mbox", ".trec", ".xml", ".txt", ".html", ".htm", ".eml", ".ids", ".tar", ".tgz", ".tzst",
    ".tbz", ".tbz2", ".txz", ".zip",
];

/// The name of what is written of a source in a form, or in its own: without its end, and that.
pub(super) fn output_name(source: &Source, form: Option<RecordForm>) -> (String, String) {
    let mut stem = source.name.as_str();
    if source.compression != Compression::None {
        stem = without(stem, &[".gz", ".zst", ".bz2", ".xz", ".lz4"]).unwrap_or(stem);
    }
    while let Some(shorter) = without(stem, &KNOWN) {
        stem = shorter;
    }
    let own = || source.name[stem.len()..].to_owned();
    (stem.to_owned(), form.map_or_else(own, RecordForm::extension))
}

/// A name without the end that it has of some, unless nothing would be left of it.
fn without<'a>(name: &'a str, ends: &[&str]) -> Option<&'a str> {
    let lower = name.to_ascii_lowercase();
    let end = ends.iter().find(|end| lower.ends_with(*end))?;
    let stem = &name[..name.len() - end.len()];
    Some(stem).filter(|stem| !stem.is_empty() && !stem.ends_with('/'))
}

/// Tells apart the names of files beside others that keep theirs. Each has the name of its only source, if it has one: those
/// that would be called alike have the whole of it in front, or a folder with a number.
pub(super) fn tell_apart(others: &[&str], files: &mut [(&mut (String, String), Option<&str>)]) {
    let whole = |name: &(String, String)| format!("{}{}", name.0, name.1);
    let mut times: HashMap<String, usize> = HashMap::new();
    let all = others.iter().map(ToString::to_string).chain(files.iter().map(|(name, _)| whole(name)));
    all.for_each(|name| *times.entry(name).or_default() += 1);
    for (name, source) in files.iter_mut() {
        if let Some(source) = source.filter(|_| times[&whole(name)] > 1) {
            source.clone_into(&mut name.0);
        }
    }
    let wanted: Vec<String> = files.iter().map(|(name, _)| whole(name)).collect();
    let all: Vec<&str> = others.iter().copied().chain(wanted.iter().map(String::as_str)).collect();
    let named: Vec<(&Path, &str)> = all.iter().map(|name| (Path::new(*name), *name)).collect();
    for ((name, _), apart) in files.iter_mut().zip(&names_apart(&named)[others.len()..]) {
        name.0 = apart[..apart.len() - name.1.len()].to_owned();
    }
}
