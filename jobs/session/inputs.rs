//! The inputs of a job: finding them, and refusing those of which too much cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use alike::error::{Error, Result};
use alike::limits::REFUSED_PERCENT;
use alike::printable::counted;
use alike::progress::Progress;
use alike::read::{Discovery, FormatHint, Rejected, discover_as};

use crate::terminal::interrupt::unless_stopped;
use crate::terminal::stderr::warn;

/// Finds the inputs. Standard input may be silent for ever, so it is awaited on a thread that can be left behind.
/// `hint` is what is known of them beside their names and contents.
pub(crate) fn find_inputs(
    inputs: &[PathBuf],
    hint: FormatHint,
    spool: &Path,
    progress: &Progress,
) -> Result<Discovery> {
    let name = |path: &PathBuf| {
        let name = path.to_str().map(str::to_owned);
        name.ok_or_else(|| Error::input(path, "the name is not UTF-8; name the folder it is in"))
    };
    let inputs: Vec<String> = inputs.iter().map(name).collect::<Result<_>>()?;
    let spool = spool.to_path_buf();
    let mut found =
        unless_stopped(progress, "the search for inputs", move || discover_as(&inputs, &spool, hint))?;
    if let Some(first) = found.otherwise.first() {
        warn(&format!(
            "--input-format is of files that are named; {} in folders, such as {}, went by name and content; a pattern \
             like 'FOLDER/*' names them",
            counted(found.otherwise.len() as u64, "file"),
            first.display()
        ));
    }
    // Whoever waits for an object looks at it.
    found.sources.iter_mut().for_each(|source| source.stopped_by(progress.stop_flag()));
    Ok(found)
}

/// A list of ids that cannot be opened. `line` is the command that takes one id without a file.
pub(crate) fn unreadable_ids(list: &Path, error: &io::Error, line: &str) -> Error {
    Error::input(
        list,
        format!(
            "cannot be read ({error}); name a file with one id a line, or give the ids themselves: echo ID | {line} -"
        ),
    )
}

/// Refuses an input of which too much could not be used.
pub(crate) fn refuse(strict: bool, rejected: &[Rejected], documents: u64) -> Result<()> {
    let Some(first) = Rejected::wrong(rejected).next() else { return Ok(()) };
    let count = Rejected::wrong(rejected).count() as u64;
    let records = documents + count;
    let reason = if strict {
        "--strict allows none".to_owned()
    } else if count * 100 > records * REFUSED_PERCENT {
        format!(
            "more than {REFUSED_PERCENT} % is a sign of a wrong input or a wrong field (--text-field, --id-field); nothing \
             was written"
        )
    } else {
        return Ok(());
    };
    Err(Error::Refused { rejected: count, records, reason, first: first.to_string() })
}
