//! Documents of a finished run that somebody has seen already: they are read again where they stand, without all others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::document::{FinishedDocument, KnownDocument, KnownDocuments, PlaceInFile, PlaceKind};
use super::find::{FinishedFind, MOST_OF_ID, TEXTS};
use crate::document::Position;
use crate::error::Result;
use crate::progress::Progress;
use crate::read::{Fields, reread_records};
use crate::sketcher::Sketcher;

/// Documents that are wanted, by where they stand, and whether their texts are.
type WantedDocuments = BTreeMap<Position, (KnownDocument, bool)>;

impl FinishedFind<'_> {
    /// Finds what [`FinishedFind::find`] finds, where all documents are known.
    pub(super) fn find_known(
        &self,
        known: &dyn KnownDocuments,
        (ids, places): (&BTreeSet<String>, &BTreeMap<PlaceInFile, bool>),
        fields: &Arc<Fields>,
        progress: &Progress,
    ) -> Result<Vec<FinishedDocument>> {
        let mut wanted = WantedDocuments::new();
        let mut want = |document: KnownDocument, text: bool| {
            wanted.entry(document.position).or_insert((document, false)).1 |= text;
        };
        for id in ids {
            for (number, document) in known.of_id(id, MOST_OF_ID)?.into_iter().enumerate() {
                want(document, number < TEXTS);
            }
        }
        for (place, text) in places {
            for (file, _) in (0..).zip(self.sources).filter(|(_, source)| source.shown == place.file) {
                known.at_line(file, place.line)?.into_iter().for_each(|document| want(document, *text));
            }
        }
        let mut sketcher = Sketcher::new(&self.run.config, self.tables, self.simd);
        let wanted: Vec<(KnownDocument, bool)> = wanted.into_values().collect();
        let mut found = Vec::with_capacity(wanted.len());
        for some in wanted.chunk_by(|(a, _), (b, _)| a.position.file() == b.position.file()) {
            let file = some[0].0.position.file();
            let source = &self.sources[file as usize];
            let offsets: Vec<u64> = some.iter().map(|(document, _)| document.position.offset()).collect();
            reread_records(source, file, &offsets, fields, &mut |at, record| {
                progress.check()?;
                let (document, text) = &some[at];
                let digest = sketcher.read(record.text, record.day);
                let place =
                    PlaceInFile { file: source.shown.clone(), line: document.line, at: PlaceKind::Input };
                let read = FinishedDocument {
                    id: document.id.clone(),
                    place,
                    position: document.position,
                    text: text.then(|| record.text.to_owned()),
                    text_bytes: record.text.len() as u64,
                    day: record.day,
                    value: document.value.clone(),
                    within: document.within.clone(),
                    digest,
                    set: None,
                    preference: 0,
                };
                found.push(self.of_source(read, source));
                Ok(())
            })?;
        }
        Ok(found)
    }
}
