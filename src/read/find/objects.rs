//! URLs to objects: one that is named, a folder of them, or those that a pattern matches.

use std::collections::BTreeMap;
use std::path::Path;

use glob::{MatchOptions, Pattern};

use super::names::{LONGEST_NAME, NameWish, shortened};
use crate::error::{Error, Result};
use crate::read::head::FoundBy;
use crate::remote::{ListedObject, ObjectUrl, StopFlag, list, look};

/// Objects that a URL leads to.
#[derive(Default)]
pub(super) struct Reached {
    /// Them, in order, with how each was found and what it would like to be called.
    pub(super) objects: Vec<(ListedObject, FoundBy, NameWish)>,
    /// URLs of folders that hold results of earlier runs.
    pub(super) results: Vec<String>,
}

/// What a URL leads to. As with files, a name goes before a pattern, and what is hidden is no part of a folder.
///
/// # Errors
/// [`Error::Input`] if that is nothing, or may not be read; [`Error::Io`].
pub(super) fn reach(url: &ObjectUrl) -> Result<Reached> {
    url.check()?;
    let folder = url.key().is_empty() || url.key().ends_with('/');
    if !folder || !url.is_listed() {
        match look(url, &StopFlag::default()) {
            Ok(Some(state)) => {
                let object = (ListedObject { url: url.clone(), state }, FoundBy::Named, wish(url, 1));
                return Ok(Reached { objects: vec![object], results: Vec::new() });
            }
            // Nothing of that name; who may not list is told by the list.
            Ok(None) => {}
            Err(Error::Input { .. }) if url.is_listed() && is_pattern(url.key()) => {}
            Err(error) => return Err(error),
        }
    }
    if !url.is_listed() {
        return Err(nothing(url, "no such object; check the name"));
    }
    let mut reached = Reached::default();
    if is_pattern(url.key()) {
        matching(url, &mut reached)?;
        if reached.objects.is_empty() && reached.results.is_empty() {
            return Err(nothing(url, "the pattern matches nothing; check it, and quote it in a shell"));
        }
    } else {
        let folder = url.with_key(url.key().trim_end_matches('/'));
        walk(&folder, list(&folder)?, &mut reached);
        if reached.objects.is_empty() && reached.results.is_empty() {
            return Err(nothing(url, "no such object, and none in a folder of that name; check the name"));
        }
    }
    Ok(reached)
}

fn nothing(url: &ObjectUrl, what: &str) -> Error {
    Error::input(Path::new(&url.to_string()), what)
}

fn is_pattern(key: &str) -> bool {
    key.contains(['*', '?', '['])
}

/// The name of an object of which the last `keep` parts count, if no other has the same.
fn wish(url: &ObjectUrl, keep: usize) -> NameWish {
    let shown = url.to_string();
    let parts = shown.split_once("://").map_or(&*shown, |(_, rest)| rest).split('/');
    let named = |part: &&str| !matches!(*part, "" | "." | "..");
    NameWish { parts: parts.filter(named).map(|part| shortened(part, LONGEST_NAME)).collect(), keep }
}

/// Takes all objects of a folder but those that are hidden, and results.
fn walk(folder: &ObjectUrl, listed: Vec<ListedObject>, reached: &mut Reached) {
    let inside = |object: &ListedObject| {
        let rest = object.url.key().strip_prefix(folder.key())?;
        Some(rest.trim_start_matches('/').to_owned())
    };
    let results = results(listed.iter().filter_map(inside));
    reached
        .results
        .extend(results.iter().map(|result| folder.with_key(&joined(folder.key(), result)).to_string()));
    for object in listed {
        let Some(rest) = inside(&object) else { continue };
        let hidden = rest.split('/').any(|part| part.starts_with('.'));
        let result = results.iter().any(|result| rest.starts_with(&format!("{result}/")));
        if !hidden && !result {
            let wish = wish(&object.url, rest.split('/').count());
            reached.objects.push((object, FoundBy::Walked, wish));
        }
    }
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The folders within a folder that are results of earlier runs: what was kept and removed then is no input now.
fn results(keys: impl Iterator<Item = String>) -> Vec<String> {
    let mut marks: BTreeMap<String, u8> = BTreeMap::new();
    for key in keys {
        let mark = |at: &str, mark: u8, marks: &mut BTreeMap<String, u8>| {
            *marks.entry(at.to_owned()).or_default() |= mark;
        };
        match key.rsplit_once('/') {
            Some((folder, "summary.json")) => mark(folder, 1, &mut marks),
            Some((folder, "duplicates.jsonl")) => mark(folder, 2, &mut marks),
            _ => {}
        }
        for (at, _) in key.match_indices("/kept/") {
            mark(&key[..at], 4, &mut marks);
        }
    }
    marks.into_iter().filter(|(_, marks)| *marks == 7).map(|(folder, _)| folder).collect()
}

/// Takes the objects that a pattern matches, and those in folders that it matches.
fn matching(url: &ObjectUrl, reached: &mut Reached) -> Result<()> {
    let pattern = Pattern::new(url.key()).map_err(|error| nothing(url, &format!("no pattern ({error})")))?;
    let options = MatchOptions {
        require_literal_separator: true,
        require_literal_leading_dot: true,
        ..MatchOptions::new()
    };
    let literal = &url.key()[..url.key().find(['*', '?', '[']).unwrap_or(url.key().len())];
    let folder = literal.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut folders: BTreeMap<String, Vec<ListedObject>> = BTreeMap::new();
    let mut order: Vec<(Vec<String>, std::result::Result<ListedObject, String>)> = Vec::new();
    let path = |key: &str| key.split('/').map(str::to_owned).collect::<Vec<_>>();
    for object in list(&url.with_key(folder))? {
        let key = object.url.key().to_owned();
        let ends = key.match_indices('/').map(|(end, _)| &key[..end]);
        let within = ends.into_iter().find(|folder| pattern.matches_with(folder, options));
        if pattern.matches_with(&key, options) {
            order.push((path(&key), Ok(object)));
        } else if let Some(within) = within {
            let objects = folders.entry(within.to_owned()).or_default();
            if objects.is_empty() {
                order.push((path(within), Err(within.to_owned())));
            }
            objects.push(object);
        }
    }
    order.sort_by(|a, b| a.0.cmp(&b.0));
    for (_, reached_by) in order {
        match reached_by {
            Ok(object) => {
                let wish = wish(&object.url, 1);
                reached.objects.push((object, FoundBy::Named, wish));
            }
            Err(folder) => {
                let objects = folders.remove(&folder).unwrap_or_default();
                walk(&url.with_key(&folder), objects, reached);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> ObjectUrl {
        ObjectUrl::of(Path::new(text)).expect("a URL")
    }

    #[test]
    fn results_of_earlier_runs_are_known_by_three_names() {
        let keys = [
            "a/out/summary.json",
            "a/out/duplicates.jsonl",
            "a/out/kept/x.jsonl",
            "b/summary.json",
            "b/kept/y",
        ];
        assert_eq!(results(keys.iter().map(|key| (*key).to_owned())), ["a/out"]);
    }

    #[test]
    fn folders_are_walked_without_what_is_hidden() {
        let object = |key: &str| ListedObject { url: url("s3://b").with_key(key), state: Default::default() };
        let listed = ["d/.git/x.jsonl", "d/.h.jsonl", "d/a/z.txt", "d/b.jsonl"].map(object).into();
        let mut reached = Reached::default();
        walk(&url("s3://b/d"), listed, &mut reached);
        let found: Vec<_> =
            reached.objects.iter().map(|(object, _, wish)| (object.url.key(), wish.keep)).collect();
        assert_eq!(found, [("d/a/z.txt", 2), ("d/b.jsonl", 1)]);
    }

    #[test]
    fn names_of_outputs_have_no_query() {
        assert_eq!(wish(&url("https://h/a/../b.gz?key=secret"), 1).parts, ["h", "a", "b.gz"]);
    }
}
