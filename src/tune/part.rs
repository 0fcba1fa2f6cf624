//! Some of the documents, as a file: what a run cannot read from among others.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use crate::config::Input;
use crate::document::Position;
use crate::error::{Error, Result};
use crate::evaluate::Documents;
use crate::progress::Progress;
use crate::read::{Fields, Source, reread};

/// A record as it is written: its fields have the names that a default configuration reads.
#[derive(Serialize)]
struct PartLine<'a> {
    id: String,
    text: &'a str,
}

/// Most bytes that a byte of text takes as JSON.
const ESCAPED: usize = 6;

/// Writes `count` documents to a new file of JSON lines, in document order, and gives what it is to be read with. Which ones
/// depends on nothing but where documents stand: those whose positions have the smallest hashes. So pairs come into the part
/// as often whatever they are, and what is a share of pairs is about the same in it.
///
/// # Errors
/// [`Error::Io`]; [`Error::Changed`] if a file is another one by now; [`Error::Interrupted`].
pub fn write_part(
    (documents, sources): (&Documents, &[Source]),
    count: usize,
    (input, path): (&Input, &Path),
    progress: &Progress,
) -> Result<Input> {
    let chosen = smallest(documents, count);
    let file = File::create_new(path).map_err(|e| Error::io(path, "create", e))?;
    let mut out = BufWriter::new(file);
    let failed = |e| Error::io(path, "write", e);
    let fields = Fields::of(input)?;
    for of_file in chosen.chunk_by(|a, b| a.0.file() == b.0.file()) {
        let file = of_file[0].0.file();
        let offsets: Vec<u64> = of_file.iter().map(|(position, _)| position.offset()).collect();
        reread(&sources[file as usize], file, &offsets, &fields, &mut |index, text, _| {
            progress.check()?;
            let line = PartLine { id: documents.name(of_file[index].1), text };
            serde_json::to_writer(&mut out, &line).map_err(|e| failed(e.into()))?;
            out.write_all(b"\n").map_err(failed)
        })?;
    }
    out.flush().map_err(failed)?;
    let longest = input.max_record_bytes.saturating_mul(ESCAPED);
    Ok(Input { max_record_bytes: longest.max(Input::default().max_record_bytes), ..Input::default() })
}

/// The chosen documents by position, with their numbers.
fn smallest(documents: &Documents, count: usize) -> Vec<(Position, u32)> {
    let mut chosen: Vec<(u64, Position, u32)> = (0..documents.len() as u32)
        .map(|number| {
            let position = documents.position(number);
            (hash(position), position, number)
        })
        .collect();
    if count < chosen.len() {
        chosen.select_nth_unstable(count);
        chosen.truncate(count);
    }
    let mut chosen: Vec<_> = chosen.into_iter().map(|(_, position, number)| (position, number)).collect();
    chosen.sort_unstable();
    chosen
}

/// A number that says nothing about where a document stands.
fn hash(position: Position) -> u64 {
    xxhash_rust::xxh3::xxh3_64(&position.to_bits().to_le_bytes())
}
