//! Records read once more, and written in another form: a worker for each file.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Component, Path};
use std::sync::Arc;
use std::{fs, slice};

use super::cuts::CutFile;
#[cfg(feature = "parquet")]
use super::cuts::{is_empty, without};
use super::encoders::{Encoder, IdEncoder, LineEncoder, StretchEncoder, TextEncoder};
use super::form::FormChoice;
#[cfg(feature = "parquet")]
use super::notes::Note;
use super::notes::{NoteColumns, NoteFile};
#[cfg(feature = "parquet")]
use super::objects::with_text;
use super::plan::{FormPlan, OutputFile, Way};
use super::selection::Selection;
#[cfg(feature = "parquet")]
use super::selection::StretchEdit;
use super::shards::{ShardNames, Shards, Written};
use super::taker::RecordTaker;
use crate::error::{Error, Result};
#[cfg(feature = "parquet")]
use crate::output::chosen::ChosenRows;
use crate::output::chosen::{Chosen, Side};
use crate::output::hands::{Hands, hand_out_among};
use crate::output::kept::{KeptTally, assist_kept, write_kept};
use crate::peers::Peers;
use crate::progress::Progress;
use crate::read::{Compression, Extent, Fields, Source, UnitReader, is_one_record, units};

/// The records of a run, and how they are written.
#[derive(Clone, Copy)]
pub struct RecordSet<'a> {
    /// Where they are from.
    pub sources: &'a [Source],
    /// Where in a record its text and its other fields are.
    pub fields: &'a Arc<Fields>,
    /// How they are written.
    pub choice: FormChoice,
}

impl RecordSet<'_> {
    /// Whether the rows of a source get the types of another format, which hold only what these allow.
    #[cfg(feature = "parquet")]
    pub fn retypes(&self, at: usize) -> bool {
        let becomes_rows = self.choice.form == Some(super::form::RecordForm::Parquet);
        becomes_rows && self.sources[at].format == crate::read::Format::Arrow
    }

    /// No rows are read that have types.
    #[cfg(not(feature = "parquet"))]
    pub fn retypes(&self, _: usize) -> bool {
        false
    }
}

/// Writes the chosen records of all sources under `staging`, in the form that is asked for. Other processes take part with
/// [`assist_records`].
///
/// # Errors
/// Those of [`FormPlan::new`] and [`write_kept`].
pub fn write_records(
    staging: &Path,
    set: RecordSet<'_>,
    chosen: Chosen<'_>,
    notes: Option<&NoteFile>,
    hands: Hands<'_>,
    progress: &Progress,
) -> Result<KeptTally> {
    write(staging, set, chosen, FoundOut { notes, cuts: None }, hands, progress)
}

/// The same of records whose texts lose stretches, or are marked, as [`FormChoice::texts`] says. Other processes take part
/// with [`assist_records`].
///
/// # Errors
/// Those of [`write_records`]; [`Error::Changed`] if a text is not the one that was read.
pub fn write_cut_records(
    staging: &Path,
    set: RecordSet<'_>,
    chosen: Chosen<'_>,
    cuts: &CutFile,
    hands: Hands<'_>,
    progress: &Progress,
) -> Result<KeptTally> {
    write(staging, set, chosen, FoundOut { notes: None, cuts: Some(cuts) }, hands, progress)
}

fn write(
    staging: &Path,
    set: RecordSet<'_>,
    chosen: Chosen<'_>,
    said: FoundOut<'_>,
    hands: Hands<'_>,
    progress: &Progress,
) -> Result<KeptTally> {
    let plan = FormPlan::new(set.sources, set.choice)?;
    if plan.is_plain() {
        return write_kept(staging, set.sources, chosen, (hands, &set.fields.room), progress);
    }
    let of = |at: &usize| (chosen.removed[*at].clone(), chosen.ends[*at]);
    let (removed, ends): (Vec<_>, Vec<_>) = plan.as_they_are.iter().map(of).unzip();
    let sources = plain_sources(&plan, set.sources);
    let plain = Chosen { removed: &removed, ends: &ends, ..chosen };
    let tally = write_kept(staging, &sources, plain, (hands, &set.fields.room), progress);
    if let (Err(Error::Undecodable { .. }), Some(peers)) = (&tally, hands.peers) {
        peers.broadcast(&None::<FormShare<'_>>)?;
    }
    let tally = tally?;
    let folder = staging.join(chosen.side.folder());
    let folder = std::path::absolute(&folder).map_err(|e| Error::io(&folder, "find", e))?;
    make_folders(&folder, &plan)?;
    if let Some(peers) = hands.peers {
        peers.broadcast(&Some(FormShare {
            folder: Cow::Borrowed(&folder),
            side: chosen.side,
            removed: chosen.removed.into(),
            notes: said.notes.map(Cow::Borrowed),
            cuts: said.cuts.map(Cow::Borrowed),
        }))?;
    }
    let writer =
        FormWriter { folder: &folder, set, side: chosen.side, removed: chosen.removed, said, progress };
    let written = writer.write_all(&plan, hands)?;
    Ok(KeptTally {
        files: tally.files + written.files,
        bytes_in: set
            .sources
            .iter()
            .filter(|source| source.archive().is_none())
            .map(|source| source.bytes)
            .sum(),
        bytes_out: tally.bytes_out + written.bytes,
        emptied: written.emptied,
    })
}

/// Takes part in what process 0 writes with [`write_records`]; the set is the same.
///
/// # Errors
/// Those of [`write_records`]; [`Error::Lost`] and [`Error::GaveUp`] if another process has ended.
pub fn assist_records(set: RecordSet<'_>, workers: usize, peers: &Peers, progress: &Progress) -> Result<()> {
    let (plan, hands) = (FormPlan::new(set.sources, set.choice)?, (workers, &set.fields.room));
    if plan.is_plain() {
        return assist_kept(set.sources, hands, peers, progress);
    }
    assist_kept(&plain_sources(&plan, set.sources), hands, peers, progress)?;
    // Without it a file that is written as it is could not be decoded.
    let Some(share): Option<FormShare<'_>> = peers.receive()? else { return Ok(()) };
    let said = FoundOut { notes: share.notes.as_deref(), cuts: share.cuts.as_deref() };
    let (folder, removed) = (&*share.folder, &*share.removed);
    let writer = FormWriter { folder, set, side: share.side, removed, said, progress };
    writer.write_all(&plan, Hands { workers, peers: Some(peers) }).map(drop)
}

/// The sources that are written as they are.
fn plain_sources(plan: &FormPlan, sources: &[Source]) -> Vec<Source> {
    plan.as_they_are.iter().map(|at| sources[*at].clone()).collect()
}

/// What all processes must know to write together, beside what each finds out for itself.
#[derive(serde::Serialize, serde::Deserialize)]
struct FormShare<'a> {
    folder: Cow<'a, Path>,
    side: Side,
    removed: Cow<'a, [Vec<u64>]>,
    notes: Option<Cow<'a, NoteFile>>,
    cuts: Option<Cow<'a, CutFile>>,
}

/// What is found out about records before they are written.
#[derive(Clone, Copy)]
struct FoundOut<'a> {
    notes: Option<&'a NoteFile>,
    cuts: Option<&'a CutFile>,
}

impl FoundOut<'_> {
    /// The columns that notes are, if there are notes.
    fn columns(&self) -> Option<NoteColumns> {
        self.notes.map(NoteFile::columns)
    }
}

/// Creates the folders of all files.
fn make_folders(folder: &Path, plan: &FormPlan) -> Result<()> {
    let mut folders = BTreeSet::from([folder.to_path_buf()]);
    for file in &plan.files {
        let name = format!("{}{}", file.name.0, file.name.1);
        if !Path::new(&name).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(Error::input(name.as_ref(), "cannot be given a name under the output folder"));
        }
        folders.extend(folder.join(name).parent().map(Path::to_path_buf));
    }
    folders
        .iter()
        .try_for_each(|folder| fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e)))
}

struct FormWriter<'a> {
    folder: &'a Path,
    set: RecordSet<'a>,
    side: Side,
    removed: &'a [Vec<u64>],
    said: FoundOut<'a>,
    progress: &'a Progress,
}

impl FormWriter<'_> {
    /// Writes all files, the largest first.
    fn write_all(&self, plan: &FormPlan, hands: Hands<'_>) -> Result<Written> {
        #[cfg(feature = "parquet")]
        let hands = match plan.files.iter().any(|file| file.way == Way::Table) {
            true => Hands { workers: self.set.fields.room.writers_of_tables(hands.workers), ..hands },
            false => hands,
        };
        let effort = |file: &&OutputFile| -> u64 {
            let bytes = |at: &usize| {
                let source = &self.set.sources[*at];
                source.bytes.saturating_mul(if source.compression == Compression::None { 1 } else { 6 })
            };
            file.sources.iter().map(bytes).fold(0, u64::saturating_add)
        };
        let mut files: Vec<&OutputFile> = plan.files.iter().collect();
        files.sort_by_key(|file| std::cmp::Reverse(effort(file)));
        hand_out_among(files.len(), hands, || (), |(), at| self.write_file(files[at]), Written::plus)
    }

    fn write_file(&self, file: &OutputFile) -> Result<Written> {
        #[cfg(feature = "parquet")]
        match file.way {
            Way::Columns => return self.write_columns(file),
            Way::Leaves => return self.write_leaves(file),
            _ => {}
        }
        let mut encoder = self.encoder(file);
        let mut emptied = 0;
        for source in &file.sources {
            emptied += self.read(*source, file.way, &mut *encoder)?;
        }
        // A text that is gone leaves no file, and what an archive has beside the files in it may be nothing.
        let may_be_empty =
            file.way == Way::Text || file.sources.iter().all(|at| self.set.sources[*at].is_unfolded());
        let written = encoder.finish(self.side != Side::Removed && !may_be_empty)?;
        Ok(Written { emptied, ..written })
    }

    fn encoder<'b>(&'b self, file: &'b OutputFile) -> Box<dyn Encoder + 'b> {
        let names = ShardNames::new(self.folder, &file.name, self.set.choice.shard_bytes);
        let shards = |compression| Shards::new(names, compression);
        match file.way {
            Way::Lines(compression) => {
                let is_own = self.set.choice.form.is_none();
                Box::new(LineEncoder::new(shards(compression), self.set.fields, is_own))
            }
            Way::Text => {
                let compression = file.sources.first().map(|at| self.set.sources[*at].compression);
                Box::new(TextEncoder { shards: shards(compression.unwrap_or(Compression::None)) })
            }
            Way::Ids => Box::new(IdEncoder { shards: shards(Compression::None) }),
            #[cfg(feature = "parquet")]
            Way::Table => {
                let names = ShardNames::new(self.folder, &file.name, self.set.choice.shard_bytes);
                Box::new(super::tables::TableEncoder::new(names, self.set.fields, self.said.columns()))
            }
            _ => {
                let compression = file.sources.first().map(|at| self.set.sources[*at].compression);
                let shards = shards(compression.unwrap_or(Compression::None));
                Box::new(StretchEncoder::new(shards, self.said.columns()))
            }
        }
    }

    /// Hands the chosen records of a source to an encoder; returns of how many nothing is left.
    fn read(&self, at: usize, way: Way, encoder: &mut dyn Encoder) -> Result<u64> {
        let source = &self.set.sources[at];
        if !self.has_chosen(at) {
            // It must still say what it said.
            self.progress.advance(source.bytes);
            return source.unchanged().map(|()| 0);
        }
        source.unchanged()?;
        encoder.begin(source)?;
        let selection = self.selection(at)?;
        let emptied = match way {
            #[cfg(feature = "parquet")]
            Way::Lines(_)
                if matches!(source.format, crate::read::Format::Parquet | crate::read::Format::Arrow) =>
            {
                self.read_rows(source, selection, encoder)?
            }
            _ => self.read_units(at, selection, encoder)?,
        };
        source.unchanged().map(|()| emptied)
    }

    /// Whether records of a source may be chosen.
    fn has_chosen(&self, at: usize) -> bool {
        let loses = !self.removed[at].is_empty();
        match self.side {
            Side::Removed => loses,
            Side::Kept | Side::Annotated => !loses || !is_one_record(self.set.sources[at].format),
        }
    }

    /// What is chosen of a source.
    fn selection(&self, at: usize) -> Result<Selection<'_>> {
        Ok(Selection {
            side: self.side,
            removed: &self.removed[at],
            notes: self.said.notes.map(|notes| notes.of(at)).transpose()?,
            cuts: self.said.cuts.map(|cuts| cuts.of(at)).transpose()?,
            texts: self.set.choice.texts,
        })
    }

    fn read_units(&self, at: usize, selection: Selection<'_>, encoder: &mut dyn Encoder) -> Result<u64> {
        let source = &self.set.sources[at];
        let mut taker = RecordTaker::new(source, selection, encoder);
        // Numbers of lines are those of the file where it is read at one stretch.
        let file = u32::try_from(at).unwrap_or(u32::MAX);
        for unit in units(slice::from_ref(source), Extent::ALL, u64::MAX) {
            let mut reader = UnitReader::open(file, source, &unit, Arc::clone(self.set.fields));
            let mut bytes = 0;
            loop {
                self.progress.check()?;
                let more = reader.advance(&mut taker)?;
                taker.failed.take().map_or(Ok(()), Err)?;
                self.progress.advance(reader.bytes() - bytes);
                bytes = reader.bytes();
                if !more {
                    break;
                }
            }
        }
        Ok(taker.emptied)
    }

    #[cfg(feature = "parquet")]
    fn read_rows(
        &self,
        source: &Source,
        mut selection: Selection<'_>,
        encoder: &mut dyn Encoder,
    ) -> Result<u64> {
        let mut emptied = 0;
        crate::read::row_objects(source, &self.set.fields.room, &mut |row, object| {
            if row % 1024 == 0 {
                self.progress.check()?;
            }
            if !selection.takes(row) {
                return Ok(());
            }
            match selection.change(row)? {
                Some(StretchEdit::Mark(note)) => encoder.object(object, Some(&note)),
                Some(StretchEdit::Unmark) => encoder.object(object, Some(&Note::silence())),
                Some(StretchEdit::Cut(stretches)) => {
                    let path = &self.set.fields.text;
                    let text = std::str::from_utf8(object)
                        .ok()
                        .and_then(|object| crate::read::text_member(object, path));
                    let (_, text) = text.ok_or_else(|| Error::Changed(source.path.clone()))?;
                    let left = without(&text, stretches, &source.path)?;
                    if is_empty(&left) {
                        emptied += 1;
                        return Ok(());
                    }
                    let mut cut = Vec::with_capacity(object.len());
                    with_text(object, path, &left, &source.shown, &mut cut)?;
                    encoder.object(&cut, None)
                }
                None => encoder.object(object, selection.note(row)?),
            }
        })?;
        self.progress.advance(source.bytes);
        Ok(emptied)
    }

    #[cfg(feature = "parquet")]
    fn write_leaves(&self, file: &OutputFile) -> Result<Written> {
        let mut written = Written::default();
        for at in &file.sources {
            let source = &self.set.sources[*at];
            source.unchanged()?;
            if self.has_chosen(*at) {
                let names = ShardNames::new(self.folder, &file.name, self.set.choice.shard_bytes);
                let mut writer =
                    super::leaves::LeafWriter::open(source, self.set.fields, names, self.said.columns())?;
                writer.rows(&mut self.selection(*at)?, self.progress)?;
                written = written.plus(writer.finish(self.side != Side::Removed)?);
                source.unchanged()?;
            }
            self.progress.advance(source.bytes);
        }
        Ok(written)
    }

    #[cfg(feature = "parquet")]
    fn write_columns(&self, file: &OutputFile) -> Result<Written> {
        let mut written = Written::default();
        for at in &file.sources {
            let source = &self.set.sources[*at];
            source.unchanged()?;
            let notes = self.said.notes.map(|notes| Ok((notes.of(*at)?, notes.columns()))).transpose()?;
            let names = ShardNames::new(self.folder, &file.name, self.set.choice.shard_bytes);
            let chosen = ChosenRows { side: self.side, removed: &self.removed[*at] };
            let of_source = super::tables::write_columns(
                source,
                chosen,
                notes,
                names,
                (&self.set.fields.room, self.progress),
            )?;
            written = written.plus(of_source);
            source.unchanged()?;
            self.progress.advance(source.bytes);
        }
        Ok(written)
    }
}
