//! The titles of a commit of a collection: the words in them, and whose they are.

use std::path::Path;
use std::sync::Arc;

use super::notes::{NoteFiles, NoteWriter};
use super::words::{TitleWords, WordIndex, WordRule};
use super::{FoundTitle, MEMORY, TitlesAsked, TitlesFound, shown_title};
use crate::collection::Snapshot;
use crate::error::Result;
use crate::passages::{RowSorter, SortedRun, one_run};
use crate::progress::Progress;
use crate::read::FieldPath;
use crate::simd::Simd;

/// What rows are sorted by: the words of titles, and the places of notes.
const SORTERS: usize = 2;

/// All titles of a commit.
pub struct StoredTitles {
    /// Position, place of the id and the title.
    documents: SortedRun<2>,
    words: WordIndex,
    notes: NoteFiles,
    unread: u64,
}

impl StoredTitles {
    /// Reads the records of all documents once. `log` is told which files cannot be read.
    ///
    /// # Errors
    /// Those of [`Snapshot::titles`].
    pub fn new(
        snapshot: &Snapshot,
        title: &FieldPath,
        (folder, simd): (&Path, Simd),
        progress: &Arc<Progress>,
        log: &dyn Fn(&str),
    ) -> Result<StoredTitles> {
        let held = MEMORY / SORTERS;
        let rule = WordRule { fold: snapshot.manifest().config.text.fold, simd };
        let mut words = TitleWords::new(rule, held, folder, progress);
        let mut documents = RowSorter::new(held, folder, progress);
        let mut notes = NoteWriter::new(0, folder)?;
        let failures = snapshot.titles(title, progress, &mut |found| {
            words.add(found.title, found.position)?;
            documents.push([found.position, notes.add(&(found.id, shown_title(found.title)))?])
        })?;
        failures.iter().for_each(|why| log(&format!("titles are not searched: {why}")));
        Ok(StoredTitles {
            documents: one_run(&documents.finish()?, held, folder, progress)?,
            words: WordIndex::new(rule, vec![words], (held, folder), progress)?,
            notes: NoteFiles::new(vec![notes], folder)?,
            unread: failures.len() as u64,
        })
    }

    /// How many documents have a title.
    pub fn titles(&self) -> u64 {
        self.words.titles()
    }

    /// How many files could not be read: titles in them are not found.
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// Ids of documents by words of their titles, in the order in which they were read.
    ///
    /// # Errors
    /// Those of [`WordIndex::page`].
    pub(in crate::serve) fn ids_with_titles(
        &self,
        asked: TitlesAsked<'_>,
        progress: &Progress,
    ) -> Result<TitlesFound<String>> {
        self.words.page(asked, progress, |position| {
            let [_, place] = self.documents.row(self.documents.first([position, 0])?)?;
            let (document, title) = self.notes.read(place)?;
            Ok(FoundTitle { document, title })
        })
    }
}
