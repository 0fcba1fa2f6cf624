//! The closest document that one is linked to and that is not in its cluster. Lists do not say it: all inputs are read once.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use super::{FinishedQuestions, cluster_of};
use crate::collection::{Measures, ProtectedSide};
use crate::document::{DocumentName, Position};
use crate::error::Result;
use crate::output::{
    FinishedCluster, FinishedDocument, FinishedFind, KnownDocuments, PassSink, PlaceInFile, PlaceKind,
    fields_of, read_all, unit_bytes,
};
use crate::progress::Stage;
use crate::read::{DocumentSink, Part, Record, Refusal, RunInputs, Sink};
use crate::similarity::{AcceptanceRule, Measure};
use crate::sketcher::Sketcher;

/// A document that is linked to another one of another cluster, or of none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NearestOutside {
    /// Its id, or its file and line.
    pub id: DocumentName<'static>,
    /// Its file, as it was named.
    pub file: String,
    /// Its line there, from 1.
    pub line: u64,
    /// Its cluster, if it is in one.
    pub cluster: Option<u64>,
    /// What both share; the document that was asked about is the first.
    pub measures: Measures,
}

/// What is compared with all documents.
struct OutsideAsked<'a> {
    find: &'a FinishedFind<'a>,
    inputs: &'a RunInputs,
    document: &'a FinishedDocument,
    words: Vec<u64>,
    rule: AcceptanceRule,
    /// The documents of its cluster, and itself.
    inside: BTreeSet<Position>,
    /// Of each input whether it is protected.
    protected: Vec<bool>,
}

impl FinishedQuestions<'_> {
    /// The closest document that the one that is asked for is linked to and that is not in its cluster. Of equally close ones it is
    /// the first of the input.
    ///
    /// # Errors
    /// Those of [`FinishedQuestions::explain`].
    pub fn nearest_outside(&self, asked: &str, known: &dyn KnownDocuments) -> Result<Option<NearestOutside>> {
        let ids = BTreeSet::from([asked.to_owned()]);
        let clusters = self.clusters_of(&ids)?;
        let at = self.run().place(asked).filter(|place| place.at.is_at_hand());
        let documents =
            self.find.find(&ids, &at.map(|place| (place, true)).into_iter().collect(), self.progress)?;
        let document = self.chosen(asked, &documents)?;
        let (Some(rule), Some(_)) = (self.run().config.rule(), document.digest) else { return Ok(None) };
        let Some(text) = &document.text else { return Ok(None) };
        let mut sketcher = self.sketcher();
        sketcher.read(text, document.day);
        let sources = self.find.sources;
        let bytes = sources.iter().map(|source| source.bytes).sum();
        self.progress.enter(Stage::Read, bytes);
        let mut watched = sources.to_vec();
        watched.iter_mut().for_each(|source| source.stopped_by(self.progress.stop_flag()));
        let fields = Arc::new(fields_of(self.run())?);
        let inputs = RunInputs::new(watched, fields, Part::ALL, unit_bytes(bytes));
        let compared = OutsideAsked {
            find: &self.find,
            inputs: &inputs,
            document,
            words: sketcher.words().to_vec(),
            rule,
            inside: self.inside(document, cluster_of(&clusters, document), known)?,
            protected: sources.iter().map(|source| self.run().set_of(source).is_some()).collect(),
        };
        let sink = |_| Ok(OutsideSink { of: &compared, sketcher: self.sketcher(), best: None, documents: 0 });
        let read = read_all(&inputs, self.find.workers, &sink, self.progress)?;
        let best = read.into_iter().filter_map(|sink| sink.best);
        let best = best.min_by(|a, b| compared.order((a.measure, a.position), (b.measure, b.position)));
        best.map(|best| self.told(&compared, best)).transpose()
    }

    /// Where the documents of a cluster stand among the inputs, and the one that is asked about.
    fn inside(
        &self,
        document: &FinishedDocument,
        cluster: Option<&FinishedCluster>,
        known: &dyn KnownDocuments,
    ) -> Result<BTreeSet<Position>> {
        let members = cluster.into_iter().flat_map(FinishedCluster::members);
        let mut inside = BTreeSet::new();
        let places = members.map(|member| (member.place.as_ref(), &member.name));
        for (place, name) in places.chain([(Some(&document.place), &document.name())]) {
            let Some(place) = place else {
                // It is kept beside others, and lists have its name alone.
                inside.extend(known.of_id(name, usize::MAX)?.into_iter().map(|document| document.position));
                continue;
            };
            for (file, _) in (0..).zip(self.find.sources).filter(|(_, source)| source.shown == place.file) {
                inside.extend(known.at_line(file, place.line)?.map(|document| document.position));
            }
        }
        Ok(inside)
    }

    /// What is told of the closest one.
    fn told(&self, compared: &OutsideAsked<'_>, best: ClosestOutside) -> Result<NearestOutside> {
        let source = &compared.inputs.sources[best.position.file() as usize];
        let line = compared.inputs.line_at(best.position, best.line);
        let place = PlaceInFile { file: source.shown.clone(), line, at: PlaceKind::Input };
        let name = best.id.unwrap_or_else(|| place.to_string().into());
        let names = if self.run().record.keep_per_cluster > 1 {
            BTreeSet::from([name.to_string()])
        } else {
            BTreeSet::new()
        };
        let clusters = self.run().clusters_with(&names, &BTreeSet::from([place.clone()]), self.progress)?;
        let is_it = |cluster: &&FinishedCluster| {
            cluster.members().any(|member| match &member.place {
                Some(at) => *at == place,
                None => *member.name == *name,
            })
        };
        let (rule, words) = (compared.rule, &compared.words);
        let other = compared.protected[best.position.file() as usize];
        let measures = match (compared.document.set.is_some(), other) {
            (true, false) => Measures::of_protected(words, &best.words, ProtectedSide::First, rule),
            (false, true) => Measures::of_protected(words, &best.words, ProtectedSide::Second, rule),
            _ => Measures::of_sketches(words, &best.words, rule),
        };
        let cluster = clusters.values().find(is_it).map(|cluster| cluster.number);
        Ok(NearestOutside { id: name, file: place.file, line, cluster, measures })
    }
}

impl OutsideAsked<'_> {
    /// Orders two documents, the one to name first.
    fn order(&self, one: (Measure, Position), other: (Measure, Position)) -> Ordering {
        self.rule.closer(one.0, other.0).then(one.1.cmp(&other.1))
    }

    /// Whether a record is one that the document is never compared with.
    fn is_apart(&self, record: &Record<'_>) -> bool {
        let file = record.position.file() as usize;
        let within = match self.find.run.config.input.is_within_files() {
            true => Some(self.inputs.sources[file].shown.as_str()),
            false => record.within.as_deref(),
        };
        within != self.document.within.as_deref() || self.protected[file] && self.document.set.is_some()
    }

    /// What the document and a record share, if that links them.
    fn linked(&self, record: &Record<'_>, words: &[u64]) -> Option<Measure> {
        let other = self.protected[record.position.file() as usize];
        match (self.document.set.is_some(), other) {
            (true, false) => self.rule.measure_protected(&self.words, words),
            (false, true) => self.rule.measure_protected(words, &self.words),
            _ => self.rule.measure(&self.words, words),
        }
    }
}

/// The closest of the documents that a thread has read.
struct ClosestOutside {
    measure: Measure,
    position: Position,
    line: u32,
    id: Option<DocumentName<'static>>,
    words: Vec<u64>,
}

/// A thread that compares all that it reads.
struct OutsideSink<'a> {
    of: &'a OutsideAsked<'a>,
    sketcher: Sketcher,
    best: Option<ClosestOutside>,
    documents: u64,
}

impl PassSink for OutsideSink<'_> {
    fn takes(&mut self, _: usize) -> bool {
        true
    }

    fn check(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Sink for OutsideSink<'_> {
    fn document(&mut self, record: &Record<'_>) {
        self.documents += 1;
        if self.of.inside.contains(&record.position) || self.of.is_apart(record) {
            return;
        }
        let digest = self.sketcher.read(record.text, record.day);
        let words = self.sketcher.words();
        let linked = digest.and_then(|_| self.of.linked(record, words));
        let Some(measure) = linked else { return };
        let is_first = self.best.as_ref().is_none_or(|best| {
            self.of.order((measure, record.position), (best.measure, best.position)).is_lt()
        });
        if is_first {
            let id = record.id.clone().map(DocumentName::into_owned);
            let words = words.to_vec();
            self.best =
                Some(ClosestOutside { measure, position: record.position, line: record.line, id, words });
        }
    }

    fn refuse(&mut self, _: Position, _: u32, _: Refusal) {}
}

impl DocumentSink for OutsideSink<'_> {
    fn documents(&self) -> u64 {
        self.documents
    }
}
