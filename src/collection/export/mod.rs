//! The files that the documents of a collection came from, with the records that are kept: from the sources, which must
//! be as they were, or from stored records.

mod dropped_lines;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Component, Path, PathBuf};

use self::dropped_lines::dropped_lines;
use crate::collection::tables::records::records_in_order;
use crate::collection::{Origin, Replay, Snapshot, SourceEntry};
use crate::error::{Error, Result};
use crate::flow::{Outcome, ReplayedDocuments as _};
use crate::limits::sized;
use crate::output::{Chosen, Hands, KeptTally, Packer, Side, write_kept};
use crate::progress::{Progress, Stage};
use crate::read::{
    RecordRoom, Source, boundaries, file_end, names_apart, open_decompressed_again, rows, stays_empty,
    stored_pieces,
};
use crate::threads::hand_out;

/// Bytes read at once.
const BLOCK: usize = sized(1 << 20, 64);

/// What is to be written of a collection.
#[derive(Debug)]
pub struct Export<'a> {
    snapshot: &'a Snapshot,
    files: Vec<Kept<'a>>,
    workers: usize,
    room: &'a RecordRoom,
    progress: &'a Progress,
}

/// A file with live documents.
#[derive(Debug)]
struct Kept<'a> {
    entry: &'a SourceEntry,
    /// Its name below `kept/`, that of no other file.
    name: String,
    /// Its records that are kept, in the order of their offsets.
    records: Vec<Origin>,
}

impl<'a> Export<'a> {
    /// What [`Snapshot::recompute_with_origins`] leaves to be written.
    pub fn new(snapshot: &'a Snapshot, outcome: &'a Outcome, replay: &'a Replay) -> Export<'a> {
        let mut gone = vec![false; replay.documents()];
        for row in &outcome.findings.removed {
            gone[outcome.run.documents.catalogue.position(row.doc).offset() as usize] = true;
        }
        let mut records: BTreeMap<u32, Vec<Origin>> = BTreeMap::new();
        for (at, _) in gone.iter().enumerate().filter(|(_, gone)| !**gone) {
            let origin = replay.origin(at);
            records.entry(origin.file).or_default().push(origin);
        }
        let entries: Vec<&SourceEntry> = replay.sources().values().collect();
        let named = entries.iter().map(|entry| (Path::new(&entry.path), entry.name.as_str()));
        let names = names_apart(&named.collect::<Vec<_>>());
        let files = entries.into_iter().zip(names).map(|(entry, name)| {
            let mut records = records.remove(&entry.file).unwrap_or_default();
            records.sort_unstable();
            Kept { entry, name, records }
        });
        let run = &outcome.run;
        Export {
            snapshot,
            files: files.collect(),
            workers: run.context.topology.workers(),
            room: &run.documents.inputs.fields.room,
            progress: &run.context.status.progress,
        }
    }

    /// Files that have live documents, and their bytes on disk as they were loaded.
    pub fn inputs(&self) -> (u64, u64) {
        (self.files.len() as u64, self.files.iter().map(|file| file.entry.bytes).sum())
    }

    /// Looks whether all can be written: records are kept, or the files are still those that were loaded.
    ///
    /// # Errors
    /// [`Error::Input`] names the first file that is not, and what to do; [`Error::Io`] and [`Error::Interrupted`].
    pub fn check(&self) -> Result<()> {
        match self.snapshot.manifest().store_text {
            true => Ok(()),
            false => self.sources().map(drop),
        }
    }

    /// Writes `kept/NAME` under `staging` for each file that has live documents, with those of its records that are live
    /// there and kept; a text file that goes is not written. Of a file that is still there lines are copied byte for
    /// byte, blank ones too. Stored records are written one a line.
    ///
    /// # Errors
    /// Those of [`Export::check`]; [`Error::Changed`] if a file changes meanwhile; [`Error::Damaged`].
    pub fn write(&self, staging: &Path) -> Result<KeptTally> {
        if self.snapshot.manifest().store_text {
            return self.write_stored(staging);
        }
        let sources = self.sources()?;
        self.progress.enter(Stage::Write, self.inputs().1);
        let parts = hand_out(sources.len(), self.workers, || (), |(), at| self.left_out(&sources[at], at))?;
        let (removed, ends): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let hands = Hands { workers: self.workers, peers: None };
        let chosen = Chosen { side: Side::Kept, removed: &removed, ends: &ends };
        write_kept(staging, &sources, chosen, (hands, self.room), self.progress)
    }

    /// The files, as they were loaded, under their names here.
    fn sources(&self) -> Result<Vec<Source>> {
        hand_out(
            self.files.len(),
            self.workers,
            || (),
            |(), at| {
                let Kept { entry, name, .. } = &self.files[at];
                let source = entry.open_or_advise(self.progress)?;
                Ok(Source { name: name.clone(), ..source })
            },
        )
    }

    /// Where the lines start that are not kept, and where the last good one ends if the file cannot be read further.
    fn left_out(&self, source: &Source, at: usize) -> Result<(Vec<u64>, Option<u64>)> {
        let records = &self.files[at].records;
        if let Some(rows) = rows(source)? {
            // The rows that are not among those that are kept; both ascend.
            let mut kept = records.iter().map(|origin| origin.offset).peekable();
            let left_out = (0..rows).filter(|row| kept.next_if_eq(row).is_none()).collect();
            return if kept.peek().is_none() {
                Ok((left_out, None))
            } else {
                Err(Error::Changed(source.path.clone()))
            };
        }
        let Some(boundaries) = boundaries(source.format) else {
            return Ok((if records.is_empty() { vec![0] } else { Vec::new() }, None));
        };
        let kept: Vec<u64> = records.iter().map(|origin| origin.offset).collect();
        let input = open_decompressed_again(source).map_err(|e| Error::io(&source.path, "read", e))?;
        let mut input = BufReader::with_capacity(BLOCK, input);
        dropped_lines(&kept, boundaries, || {
            self.progress.check()?;
            let block = input.fill_buf().map(<[u8]>::to_vec);
            let block = block.map_err(|e| Error::io(&source.path, "read", e))?;
            input.consume(block.len());
            Ok(block)
        })?
        .ok_or_else(|| Error::Changed(source.path.clone()))
    }

    fn write_stored(&self, staging: &Path) -> Result<KeptTally> {
        let folder = staging.join("kept");
        make_folder(&folder)?;
        let (_, bytes_in) = self.inputs();
        self.progress.enter(Stage::Write, bytes_in);
        let written = |file: &&Kept<'_>| !file.records.is_empty() || stays_empty(file.entry.format);
        let files: Vec<&Kept<'_>> = self.files.iter().filter(written).collect();
        let bytes = hand_out(
            files.len(),
            self.workers,
            || (),
            |(), at| {
                let target = target(&folder, files[at])?;
                target.parent().map_or(Ok(()), make_folder)?;
                self.write_file(files[at], &target)?;
                self.progress.advance(files[at].entry.bytes);
                fs::metadata(&target).map(|made| made.len()).map_err(|e| Error::io(&target, "read", e))
            },
        )?;
        Ok(KeptTally { files: files.len() as u64, bytes_in, bytes_out: bytes.iter().sum(), emptied: 0 })
    }

    /// Writes a file of stored records, compressed as its source was.
    fn write_file(&self, file: &Kept<'_>, target: &Path) -> Result<()> {
        let failed = |e| Error::io(target, "write", e);
        let made = File::create_new(target).map_err(|e| Error::io(target, "create", e))?;
        let out = BufWriter::with_capacity(BLOCK, made);
        let mut out = Packer::new(file.entry.format, file.entry.compression, out).map_err(failed)?;
        self.write_records(file, target, &mut out)?;
        out.write_all(file_end(file.entry.format)).map_err(failed)?;
        out.finish().and_then(|mut out| out.flush()).map_err(failed)
    }

    fn write_records(&self, file: &Kept<'_>, target: &Path, out: &mut dyn Write) -> Result<()> {
        let failed = |e: io::Error| Error::io(target, "write", e);
        let mut versions = file.records.iter().map(|origin| u64::from(origin.version));
        let mut written = 0;
        records_in_order(&self.snapshot.tables(), &mut versions, &mut |at, record| {
            self.progress.check()?;
            if at > written {
                return Err(self.missing(&file.records[written]));
            }
            let pieces = stored_pieces(file.entry.format, &record, written == 0);
            written += 1;
            pieces.iter().try_for_each(|piece| out.write_all(piece)).map_err(failed)
        })?;
        file.records.get(written).map_or(Ok(()), |origin| Err(self.missing(origin)))
    }

    /// A document whose record is not there.
    fn missing(&self, origin: &Origin) -> Error {
        let runs = self.snapshot.runs();
        let path = runs.last().map_or_else(PathBuf::new, |run| run.path().to_path_buf());
        Error::damaged(&path, 0, format!("record {} is in no run up to this one", origin.version))
    }
}

/// Where a file goes. Names of collections are relative when they are made; what is read is not trusted to be.
fn target(folder: &Path, file: &Kept<'_>) -> Result<PathBuf> {
    let inside = Path::new(&file.name).components().all(|part| matches!(part, Component::Normal(_)));
    if !inside || file.name.is_empty() {
        let shown = Path::new(&file.entry.shown);
        return Err(Error::input(shown, "cannot be given a name under the output folder"));
    }
    Ok(folder.join(&file.name))
}

fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))
}
