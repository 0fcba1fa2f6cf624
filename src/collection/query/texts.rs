//! Texts of stored documents, where they can still be had: from the records that the collection keeps, or from their
//! files, as long as these are what was loaded.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::tables::Tables;
use crate::collection::tables::document::Document;
use crate::collection::tables::lookup::find;
use crate::collection::tables::records::records;
use crate::collection::tables::sources::{SourceEntry, sources};
use crate::document::Position;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::read::{Fields, Source, record_text, reread};

/// A text, or why there is none.
pub type Text = std::result::Result<String, String>;

/// A file, or why it cannot be read again.
type Opened = std::result::Result<Source, String>;

/// Reads texts of a commit. Each file is held against what was loaded once.
pub struct Texts<'a> {
    tables: Tables,
    fields: Fields,
    /// Each opened when a text of it is first asked for.
    files: BTreeMap<u32, (SourceEntry, Option<Opened>)>,
    progress: &'a Progress,
}

impl<'a> Texts<'a> {
    /// Nothing read yet.
    ///
    /// # Errors
    /// [`crate::error::Error::Config`].
    pub fn new(snapshot: &Snapshot, progress: &'a Progress) -> Result<Texts<'a>> {
        let fields = Fields::of(&snapshot.manifest().config.input)?;
        Ok(Texts { tables: snapshot.tables(), fields, files: BTreeMap::new(), progress })
    }

    /// The text of a document.
    ///
    /// # Errors
    /// Those of the collection, and [`Error::Interrupted`]. What is wrong with the file is why there is no text.
    pub fn text(&mut self, document: &Document) -> Result<Text> {
        let position = Position::from_bits(document.position);
        let file = position.file();
        if let Entry::Vacant(vacant) = self.files.entry(file) {
            let mut found = sources(&self.tables, &[u64::from(file)])?;
            let entry = found.remove(&file).expect("a source that is in no run is an error");
            vacant.insert((entry, None));
        }
        let mut raw = None;
        records(&self.tables, &[u64::from(document.version)], &mut |_, bytes| {
            raw = Some(bytes);
            Ok(())
        })?;
        match raw {
            Some(raw) => Ok(self.stored(file, &raw)),
            None => self.reread(position),
        }
    }

    /// The text of a record that the collection keeps.
    fn stored(&self, file: u32, raw: &[u8]) -> Text {
        let record = record_text(self.files[&file].0.format, raw, &self.fields);
        record.map(|(text, _)| text).map_err(|refusal| refusal.to_string())
    }

    /// The text that stands in a file.
    fn reread(&mut self, position: Position) -> Result<Text> {
        let (entry, opened) = self.files.get_mut(&position.file()).expect("looked up by whoever asks");
        let opened = match opened {
            Some(opened) => opened,
            None => opened.insert(told(entry.open_or_advise(self.progress))?),
        };
        let source = match opened {
            Ok(source) => source,
            Err(why) => return Ok(Err(why.clone())),
        };
        let mut text = String::new();
        let read = reread(source, position.file(), &[position.offset()], &self.fields, &mut |_, found, _| {
            text.push_str(found);
            Ok(())
        });
        Ok(told(read)?.map(|()| text))
    }
}

impl Snapshot {
    /// The text of a document, or why it cannot be had; `None` if there is no such document.
    ///
    /// # Errors
    /// Those of the collection, and [`Error::Interrupted`].
    pub fn text_of(&self, id: &str, progress: &Progress) -> Result<Option<Text>> {
        let mut found = find(&self.tables(), &[id.to_owned()])?;
        let Some(document) = found.pop().flatten() else { return Ok(None) };
        Texts::new(self, progress)?.text(&document).map(Some)
    }

    /// Bytes that are gone through before the text of a document can be had: those of its file, which must be what was loaded;
    /// none if the collection keeps records, or if there is no such document.
    ///
    /// # Errors
    /// Those of the collection.
    pub fn text_costs(&self, id: &str) -> Result<u64> {
        let tables = self.tables();
        let document = find(&tables, &[id.to_owned()])?.pop().flatten();
        let Some(document) = document.filter(|_| !self.manifest().store_text) else { return Ok(0) };
        let file = Position::from_bits(document.position).file();
        Ok(sources(&tables, &[u64::from(file)])?.get(&file).map_or(0, |source| source.bytes))
    }
}

/// What is wrong with an input, in words; other errors stay what they are.
fn told<T>(outcome: Result<T>) -> Result<std::result::Result<T, String>> {
    match outcome {
        Ok(value) => Ok(Ok(value)),
        Err(
            error @ (Error::Input { .. } | Error::Undecodable { .. } | Error::Changed(_) | Error::Io { .. }),
        ) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}
