//! Where removed documents come from, and where the documents are that represent them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::document::Doc;
use crate::flow::{Outcome, RunDocuments};

/// Most groups of files that are told apart; the rest is one.
const SHOWN: usize = 40;
/// Most of them that are held against each other.
const HELD_AGAINST: usize = 12;
/// What stands for all others.
const OTHERS: &str = "all others";

/// What a file, or all files of a folder, lose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceLoss {
    /// The file or the folder, as the user named it.
    pub name: String,
    /// Its documents.
    pub documents: u64,
    /// Those of them that are removed.
    pub removed: u64,
}

/// Which source the representatives of removed documents are in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceMatrix {
    /// The sources that lose most, then those that represent most, in the order of their names: at most twelve, and one for all
    /// others. Protected sets are among them.
    pub names: Vec<String>,
    /// Removed documents of a source, by the source of their representative.
    pub removed: Vec<Vec<u64>>,
}

/// What each source loses, in the order of their names, and how they stand to each other if there are two or more.
pub(crate) fn sources(outcome: &Outcome) -> (Vec<SourceLoss>, Option<SourceMatrix>) {
    let documents = &outcome.run.documents;
    let mut files: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let own = |doc: &Doc| !documents.catalogue.is_protected(*doc);
    documents
        .catalogue
        .docs_in_order()
        .filter(own)
        .for_each(|doc| entry(&mut files, &file(documents, doc)).0 += 1);
    outcome.findings.removed.iter().for_each(|row| entry(&mut files, &file(documents, row.doc)).1 += 1);
    let depth = depth(&files.keys());
    let mut groups: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (file, counts) in &files {
        let group = entry(&mut groups, grouped(file, depth));
        (group.0, group.1) = (group.0 + counts.0, group.1 + counts.1);
    }
    let loss = |(name, (documents, removed))| SourceLoss { name, documents, removed };
    (most(groups.into_iter().map(loss).collect()), matrix(outcome, depth))
}

/// The file of a document, as the user named it.
fn file(documents: &RunDocuments, doc: Doc) -> Cow<'_, str> {
    match documents.is_stored(doc) {
        true => Cow::Owned(documents.file(doc)),
        false => {
            let file = documents.catalogue.position(doc).file();
            Cow::Borrowed(&documents.inputs.sources[file as usize].shown)
        }
    }
}

/// The entry of a name, of which no copy is made if it is there.
fn entry<'m, T: Default>(of: &'m mut BTreeMap<String, T>, name: &str) -> &'m mut T {
    if !of.contains_key(name) {
        of.insert(name.to_owned(), T::default());
    }
    of.get_mut(name).expect("it is there")
}

/// How many folders of names are told apart: as many as leave few enough groups; all of the name if that is few enough.
fn depth<'a>(files: &(impl ExactSizeIterator<Item = &'a String> + Clone)) -> usize {
    let deepest = files.clone().map(|file| file.matches('/').count()).max().unwrap_or_default();
    let groups = |depth: usize| files.clone().map(|file| grouped(file, depth)).collect::<BTreeSet<_>>().len();
    if files.len() <= SHOWN {
        return usize::MAX;
    }
    (1..=deepest).rev().find(|depth| groups(*depth) <= SHOWN).unwrap_or(usize::MAX)
}

/// The folder of so many names that a file is in; the file itself if it is in fewer.
fn grouped(file: &str, depth: usize) -> &str {
    let ends = file.match_indices('/').map(|(at, _)| at + 1);
    // A path from the root begins with one more.
    let before = usize::from(file.starts_with('/'));
    let end = ends.skip(before).nth(depth.saturating_sub(1)).filter(|_| depth < usize::MAX);
    &file[..end.unwrap_or(file.len())]
}

/// The sources that lose most if there are too many, and what the others lose together.
fn most(mut all: Vec<SourceLoss>) -> Vec<SourceLoss> {
    if all.len() <= SHOWN {
        return all;
    }
    all.sort_by(|a, b| b.removed.cmp(&a.removed).then_with(|| a.name.cmp(&b.name)));
    let rest = all.split_off(SHOWN - 1);
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let sum = |of: fn(&SourceLoss) -> u64| rest.iter().map(of).sum();
    let (documents, removed) = (sum(|loss| loss.documents), sum(|loss| loss.removed));
    all.push(SourceLoss { name: OTHERS.to_owned(), documents, removed });
    all
}

fn matrix(outcome: &Outcome, depth: usize) -> Option<SourceMatrix> {
    let documents = &outcome.run.documents;
    let protected = documents.protected.iter().map(|set| format!("{} (protected)", set.name));
    let protected: Vec<String> = protected.collect();
    // A document belongs to its protected set, or to its group of files.
    let group = |doc: Doc| match documents.protected_set(doc) {
        Some(set) => Cow::Borrowed(&*protected[set]),
        None => match file(documents, doc) {
            Cow::Borrowed(file) => Cow::Borrowed(grouped(file, depth)),
            Cow::Owned(file) => Cow::Owned(grouped(&file, depth).to_owned()),
        },
    };
    let mut cells: BTreeMap<(Cow<'_, str>, Cow<'_, str>), u64> = BTreeMap::new();
    for row in &outcome.findings.removed {
        *cells.entry((group(row.doc), group(row.representative))).or_default() += 1;
    }
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for ((from, to), count) in &cells {
        sums.entry(from).or_default().0 += count;
        sums.entry(to).or_default().1 += count;
    }
    let mut names: Vec<(&str, (u64, u64))> = sums.into_iter().collect();
    if names.len() < 2 {
        return None;
    }
    names.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let few = names.len() <= HELD_AGAINST;
    let mut names: Vec<String> =
        names.into_iter().take(HELD_AGAINST).map(|(name, _)| name.to_owned()).collect();
    names.sort();
    if !few {
        names.push(OTHERS.to_owned());
    }
    let place = |name: &str| names.iter().position(|other| other == name).unwrap_or(names.len() - 1);
    let mut removed = vec![vec![0; names.len()]; names.len()];
    for ((from, to), count) in &cells {
        removed[place(from)][place(to)] += count;
    }
    Some(SourceMatrix { removed, names })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[&str]) -> Vec<String> {
        of.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn files_are_grouped_by_folders() {
        for (file, depth, group) in [
            ("a/b/c.jsonl", 1, "a/"),
            ("a/b/c.jsonl", 2, "a/b/"),
            ("a/b/c.jsonl", 3, "a/b/c.jsonl"),
            ("a/b/c.jsonl", usize::MAX, "a/b/c.jsonl"),
            ("/a/b/c.jsonl", 1, "/a/"),
            ("c.jsonl", 1, "c.jsonl"),
        ] {
            assert_eq!(grouped(file, depth), group, "{file} {depth}");
        }
    }

    #[test]
    fn as_many_folders_as_leave_few_groups() {
        assert_eq!(depth(&names(&["a/x", "b/y"]).iter()), usize::MAX);
        let all: Vec<String> = (0..100).map(|n| format!("crawl/{}/{n}/pages.jsonl", n % 7)).collect();
        assert_eq!(depth(&all.iter()), 2);
        let flat: Vec<String> = (0..100).map(|n| format!("{n}.jsonl")).collect();
        assert_eq!(depth(&flat.iter()), usize::MAX);
    }

    #[test]
    fn too_many_sources_become_one() {
        let loss = |n: u64| SourceLoss { name: format!("{n:03}"), documents: 10, removed: n };
        let told = most((0..100).map(loss).collect());
        assert_eq!(told.len(), SHOWN);
        assert_eq!(
            told[SHOWN - 1],
            SourceLoss { name: OTHERS.into(), documents: 610, removed: (0..61).sum() }
        );
        assert_eq!(told[0].name, "061");
    }
}
