//! Records of stored documents as JSON objects: from the records that the collection keeps, or from their files, as long as
//! these are what was loaded.

use std::collections::BTreeMap;

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::tables::document::Document;
use crate::collection::tables::lookup::find;
use crate::collection::tables::records::records;
use crate::collection::tables::sources::{SourceEntry, sources};
use crate::document::Position;
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::output::RecordObjects;
use crate::progress::Progress;
#[cfg(feature = "parquet")]
use crate::read::row_objects;
use crate::read::{Fields, Format, Source, reread_records, stored_record};

/// Documents whose stored records are looked up at once.
const BATCH: usize = sized(1024, 3);

/// Takes the number of a document among those asked for, and its object.
type Each<'a> = dyn FnMut(usize, &[u8]) -> Result<()> + 'a;

/// A document of a file: where it stands there, its version, and its number among those asked for.
type Wanted = (u64, u32, usize);

impl Snapshot {
    /// Hands the records of documents to `each` as JSON objects, in any order: as `--to jsonl` writes them. What cannot be read
    /// any more is passed over; why is given back, once a file.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Io`] of the collection, [`Error::Interrupted`], and what `each` gives.
    pub fn record_objects(
        &self,
        ids: &[String],
        progress: &Progress,
        each: &mut Each<'_>,
    ) -> Result<Vec<String>> {
        let tables = self.tables();
        let mut files: BTreeMap<u32, Vec<Wanted>> = BTreeMap::new();
        for (batch, ids) in ids.chunks(BATCH).enumerate() {
            progress.check()?;
            let documents = find(&tables, ids)?;
            let numbered = (batch * BATCH..).zip(documents);
            for (number, document) in numbered.filter_map(|(number, found)| Some((number, found?))) {
                let Document { position, version, .. } = document;
                let position = Position::from_bits(position);
                files.entry(position.file()).or_default().push((position.offset(), version, number));
            }
        }
        let entries = sources(&tables, &files.keys().copied().map(u64::from).collect::<Vec<_>>())?;
        let fields = Fields::of(&self.manifest().config.input)?;
        let mut failures = Vec::new();
        for (file, mut wanted) in files {
            progress.check()?;
            let entry = &entries[&file];
            wanted.sort_unstable();
            // Of a row of Parquet only the text is kept.
            if has_whole_records(entry.format) {
                wanted = self.hand_on_kept(entry, &fields, (ids, wanted), each)?;
            }
            if wanted.is_empty() {
                continue;
            }
            let read = entry.open_or_advise(progress);
            match read.and_then(|source| from_file((&source, file), &fields, (ids, &wanted), each)) {
                Err(
                    error @ (Error::Input { .. }
                    | Error::Undecodable { .. }
                    | Error::Changed(_)
                    | Error::Io { .. }),
                ) => {
                    failures.push(error.to_string());
                }
                read => read?,
            }
        }
        Ok(failures)
    }

    /// Hands on the records that the collection keeps; and what it does not.
    fn hand_on_kept(
        &self,
        entry: &SourceEntry,
        fields: &Fields,
        (ids, mut wanted): (&[String], Vec<Wanted>),
        each: &mut Each<'_>,
    ) -> Result<Vec<Wanted>> {
        if !self.manifest().store_text {
            return Ok(wanted);
        }
        wanted.sort_unstable_by_key(|(_, version, _)| *version);
        let (mut objects, mut object) = (RecordObjects::new(entry.format, fields), Vec::new());
        for batch in wanted.chunks(BATCH) {
            let versions: Vec<u64> = batch.iter().map(|(_, version, _)| u64::from(*version)).collect();
            records(&self.tables(), &versions, &mut |at, kept| {
                object.clear();
                let number = batch[at].2;
                let written = stored_record(entry.format, &kept, fields, |record| {
                    objects.write(record, &ids[number], &entry.shown, &mut object);
                });
                if written.is_ok() { each(number, &object) } else { Ok(()) }
            })?;
        }
        Ok(Vec::new())
    }
}

/// Whether a kept record has all its fields.
fn has_whole_records(format: Format) -> bool {
    match format {
        #[cfg(feature = "parquet")]
        Format::Parquet | Format::Arrow => false,
        _ => true,
    }
}

/// Hands on the records of a file, which are in the order of the file.
fn from_file(
    (source, file): (&Source, u32),
    fields: &Fields,
    (ids, wanted): (&[String], &[Wanted]),
    each: &mut Each<'_>,
) -> Result<()> {
    #[cfg(feature = "parquet")]
    if matches!(source.format, Format::Parquet | Format::Arrow) {
        return row_objects(source, &fields.room, &mut |row, object| {
            let of_row = wanted.iter().skip(wanted.partition_point(|(at, ..)| *at < row));
            of_row.take_while(|(at, ..)| *at == row).try_for_each(|(.., number)| each(*number, object))
        });
    }
    // Two ids of a list may be one document.
    let mut offsets: Vec<u64> = wanted.iter().map(|(offset, ..)| *offset).collect();
    offsets.dedup();
    let (mut objects, mut object) = (RecordObjects::new(source.format, fields), Vec::new());
    reread_records(source, file, &offsets, fields, &mut |at, record| {
        object.clear();
        let first = wanted.partition_point(|(offset, ..)| *offset < offsets[at]);
        objects.write(record, &ids[wanted[first].2], &source.shown, &mut object);
        wanted[first..]
            .iter()
            .take_while(|(offset, ..)| *offset == offsets[at])
            .try_for_each(|(.., number)| each(*number, &object))
    })
}
