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
use crate::read::Source;

/// A record as it is written: its fields have the names that a default configuration reads.
#[derive(Serialize)]
struct PartLine<'a> {
    id: String,
    text: &'a str,
}

/// Writes some documents, whose numbers ascend, to a new file of JSON lines, and gives what it is to be read with.
///
/// # Errors
/// [`Error::Io`]; [`Error::Changed`] if a file is another one by now; [`Error::Interrupted`].
pub fn write_part(
    (documents, sources): (&Documents, &[Source]),
    chosen: &[u32],
    (input, path): (&Input, &Path),
    progress: &Progress,
) -> Result<Input> {
    let file = File::create_new(path).map_err(|e| Error::io(path, "create", e))?;
    let mut out = BufWriter::new(file);
    let failed = |e| Error::io(path, "write", e);
    // What is escaped is longer.
    let mut longest = input.max_record_bytes;
    documents.texts(chosen, (sources, input), &mut |index, text| {
        progress.check()?;
        let line = PartLine { id: documents.name(chosen[index]), text };
        let line = serde_json::to_vec(&line).map_err(|e| failed(e.into()))?;
        longest = longest.max(line.len());
        out.write_all(&line).and_then(|()| out.write_all(b"\n")).map_err(failed)
    })?;
    out.flush().map_err(failed)?;
    Ok(Input { max_record_bytes: longest, ..Input::default() })
}

/// At most `count` of some documents, in document order. Which ones depends on nothing but where documents stand: those
/// whose positions have the smallest hashes. So pairs are among them as often whatever they are, and what is a share of
/// pairs is about the same.
pub fn some_of(documents: &Documents, among: &[u32], count: usize) -> Vec<u32> {
    let mut chosen: Vec<(u64, u32)> =
        among.iter().map(|number| (hash(documents.position(*number)), *number)).collect();
    if count < chosen.len() {
        chosen.select_nth_unstable(count);
        chosen.truncate(count);
    }
    let mut chosen: Vec<u32> = chosen.into_iter().map(|(_, number)| number).collect();
    chosen.sort_unstable();
    chosen
}

/// A number that says nothing about where a document stands.
fn hash(position: Position) -> u64 {
    xxhash_rust::xxh3::xxh3_64(&position.to_bits().to_le_bytes())
}
