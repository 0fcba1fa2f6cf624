//! What labels say about the documents of the inputs.

use std::path::Path;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use serde::Serialize;

use super::documents::Documents;
use super::grouping::Grouping;
use super::labels::{LabelRows, Labels};
use crate::components::Forest;
use crate::error::{Error, Result};
use crate::printable::counted;

/// Names that are listed one by one.
const TOLD: usize = 5;

/// What is true of some documents, which are numbered from 0 in document order.
#[derive(Clone, Debug)]
pub enum Truth {
    /// Which belong together, and which pairs are duplicates.
    Whole {
        /// The clusters.
        clusters: Grouping,
        /// The pairs: those of the clusters, or those that were listed.
        pairs: Grouping,
    },
    /// Pairs that were judged, and whether they are duplicates; nothing is known of others.
    Judged(Vec<(u32, u32, bool)>),
    /// Of each document whether it is to be removed.
    Marks(Vec<bool>),
}

/// What pairs are that a list of pairs does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unlisted {
    /// Nobody knows; they count for nothing.
    Ignored,
    /// No duplicates: the list is complete.
    Distinct,
}

/// How many there are of something, and the first of them by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Named {
    /// How many.
    pub count: u64,
    /// The first ones.
    pub first: Vec<String>,
}

impl Named {
    /// The first names, for people.
    pub fn shown(&self) -> String {
        let more = if self.count > self.first.len() as u64 { ", ..." } else { "" };
        format!("{}{more}", self.first.join(", "))
    }

    fn add(&mut self, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < TOLD {
            self.first.push(name());
        }
    }
}

/// Labels held against the documents of the inputs.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The documents that count, ascending: those that something is known of.
    pub documents: Vec<u32>,
    /// What is known of them.
    pub truth: Truth,
    /// Lines of the file that were used.
    pub used: u64,
    /// Lines of a log of verdicts that a later one replaces.
    pub replaced: u64,
    /// Lines of pairs that people are unsure of.
    pub unsure: u64,
    /// Ids in the labels that no document has; lines with one say nothing.
    pub unknown: Named,
    /// Documents that no label names. Of clusters and marks they are left out of all figures.
    pub unlabelled: Named,
}

/// Holds labels against documents; `path` says in messages where the labels are.
///
/// # Errors
/// [`Error::Input`] for labels that contradict each other, for an id that several documents have, and where no label names
/// a document.
pub fn resolve(path: &Path, labels: &Labels, documents: &Documents, unlisted: Unlisted) -> Result<Resolved> {
    let mut resolver = Resolver::new(path, labels, documents);
    let resolved = match &labels.rows {
        LabelRows::Pairs(_) if unlisted == Unlisted::Distinct && labels.unsure > 0 => {
            let pairs = counted(labels.unsure, "pair");
            let what = "a list of all duplicates (--unlisted distinct) says of every pair whether it is one; grade them, or leave \
                        --unlisted out";
            return Err(Error::input(path, format!("{pairs} graded unsure, and {what}")));
        }
        LabelRows::Pairs(rows) => resolver.pairs(rows, unlisted),
        LabelRows::Clusters(rows) => {
            let labels = resolver.each(rows)?;
            Ok(resolver.some(&labels, |labels| {
                let mut numbers: HashMap<&str, u32> = HashMap::new();
                let of = labels.iter().map(|label| {
                    let next = numbers.len() as u32;
                    *numbers.entry(label.as_str()).or_insert(next)
                });
                let clusters = Grouping::new(of.collect(), []);
                Truth::Whole { pairs: clusters.clone(), clusters }
            }))
        }
        LabelRows::Marks(rows) => {
            let marks = resolver.each(rows)?;
            Ok(resolver.some(&marks, |marks| Truth::Marks(marks.iter().map(|mark| **mark).collect())))
        }
    };
    resolved.map(|resolved| Resolved { replaced: labels.replaced, unsure: labels.unsure, ..resolved })
}

struct Resolver<'a> {
    path: &'a Path,
    lines: &'a [u64],
    documents: &'a Documents,
    /// The document of each id, and how many documents have it.
    numbers: HashMap<&'a str, (u32, u32)>,
    unknown: Named,
    /// Ids told as unknown.
    missing: hashbrown::HashSet<&'a str>,
    used: u64,
}

impl<'a> Resolver<'a> {
    fn new(path: &'a Path, labels: &'a Labels, documents: &'a Documents) -> Resolver<'a> {
        let mut numbers: HashMap<&str, (u32, u32)> = HashMap::new();
        for (id, number) in documents.ids() {
            numbers.entry(id).or_insert((number, 0)).1 += 1;
        }
        let (unknown, missing) = Default::default();
        Resolver { path, lines: &labels.lines, documents, numbers, unknown, missing, used: 0 }
    }

    fn wrong(&self, row: usize, what: &str) -> Error {
        Error::input(self.path, format!("line {}: {what}", self.lines[row]))
    }

    /// The document of an id, if there is one.
    fn number(&mut self, row: usize, id: &'a str) -> Result<Option<u32>> {
        match self.numbers.get(id) {
            Some((number, 1)) => Ok(Some(*number)),
            Some((_, count)) => Err(self
                .wrong(row, &format!("{count} documents have the id {id:?}; labels need ids of their own"))),
            None => {
                if self.missing.insert(id) {
                    self.unknown.add(|| id.to_owned());
                }
                Ok(None)
            }
        }
    }

    /// What is said of each document.
    fn each<T: PartialEq>(&mut self, rows: &'a [(String, T)]) -> Result<Vec<Option<&'a T>>> {
        let mut said: Vec<Option<&T>> = vec![None; self.documents.len()];
        for (row, (id, value)) in rows.iter().enumerate() {
            let Some(number) = self.number(row, id)? else { continue };
            if said[number as usize].replace(value).is_some_and(|other| other != value) {
                return Err(self.wrong(row, &format!("{id:?} has another label above")));
            }
            self.used += 1;
        }
        self.refuse_none()?;
        Ok(said)
    }

    fn refuse_none(&self) -> Result<()> {
        if self.used > 0 {
            return Ok(());
        }
        let first = self.unknown.first.first().map_or("", String::as_str);
        Err(Error::input(
            self.path,
            format!("no document of the input has an id that it names, like {first:?}; is --id-field right?"),
        ))
    }

    /// The documents that something is said of.
    fn some<T>(self, said: &[Option<&'a T>], truth: impl FnOnce(&[&'a T]) -> Truth) -> Resolved {
        let (mut documents, mut unlabelled, mut values) = (Vec::new(), Named::default(), Vec::new());
        for (number, value) in (0..).zip(said) {
            match value {
                Some(value) => {
                    documents.push(number);
                    values.push(*value);
                }
                None => unlabelled.add(|| self.documents.name(number)),
            }
        }
        let (used, unknown) = (self.used, self.unknown);
        Resolved { documents, truth: truth(&values), used, replaced: 0, unsure: 0, unknown, unlabelled }
    }

    fn pairs(&mut self, rows: &'a [(String, String, bool)], unlisted: Unlisted) -> Result<Resolved> {
        let mut judged: HashMap<(u32, u32), bool> = HashMap::new();
        let mut named = vec![false; self.documents.len()];
        for (row, (a, b, duplicates)) in rows.iter().enumerate() {
            let (Some(x), Some(y)) = (self.number(row, a)?, self.number(row, b)?) else { continue };
            if x == y {
                return Err(self.wrong(row, &format!("{a:?} is paired with itself")));
            }
            match judged.entry((x.min(y), x.max(y))) {
                Entry::Occupied(other) if other.get() != duplicates => {
                    return Err(self.wrong(row, &format!("{a:?} and {b:?} have another grade above")));
                }
                Entry::Occupied(_) => {}
                Entry::Vacant(place) => drop(place.insert(*duplicates)),
            }
            (named[x as usize], named[y as usize]) = (true, true);
            self.used += 1;
        }
        self.refuse_none()?;
        let mut unlabelled = Named::default();
        let unnamed = (0..).zip(&named).filter(|(_, named)| !**named);
        unnamed.for_each(|(number, _)| unlabelled.add(|| self.documents.name(number)));
        let mut judged: Vec<(u32, u32, bool)> = judged.into_iter().map(|((a, b), is)| (a, b, is)).collect();
        judged.sort_unstable();
        let count = self.documents.len();
        let truth = match unlisted {
            Unlisted::Ignored => Truth::Judged(judged),
            Unlisted::Distinct => whole(count, &judged),
        };
        let (used, unknown) = (self.used, std::mem::take(&mut self.unknown));
        let documents = (0..count as u32).collect();
        Ok(Resolved { documents, truth, used, replaced: 0, unsure: 0, unknown, unlabelled })
    }
}

/// A complete list of pairs: clusters are what the duplicates of it join.
fn whole(count: usize, judged: &[(u32, u32, bool)]) -> Truth {
    let duplicates = || judged.iter().filter(|(.., is)| *is).map(|(a, b, _)| (*a, *b));
    let mut forest = Forest::new(count);
    for (a, b) in duplicates() {
        forest.union(a, b);
    }
    let clusters = Grouping::new((0..count as u32).map(|document| forest.find(document)).collect(), []);
    Truth::Whole { clusters, pairs: Grouping::alone(count, duplicates()) }
}
