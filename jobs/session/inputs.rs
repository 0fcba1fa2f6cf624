//! The inputs of a job: finding them, which are preferred, and refusing those of which too much cannot be used.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use alike::collection::is_collection;
use alike::error::{Error, Result};
use alike::limits::REFUSED_PERCENT;
use alike::output::skipped_files;
use alike::printable::{counted, plural, printable};
use alike::progress::Progress;
use alike::read::{Discovery, FormatHint, RefusedCount, Rejected, discover_as};

use crate::cli::common::RefusalArgs;
use crate::terminal::interrupt::unless_stopped;
use crate::terminal::reporter::Reporter;
use crate::terminal::stderr::warn;

/// Most inputs that a message names.
const SHOWN: usize = 12;

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
    if let Some(path) = inputs.iter().find(|path| is_collection(path)) {
        let what = "is a collection, and no input; name the files that were loaded into it, or write what it keeps with \
                    `alike export`";
        return Err(Error::input(path, what));
    }
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

/// What is said of inputs that are empty: what was to write them may have failed. Of files in folders some are empty by custom.
pub(crate) fn empty_inputs(found: &Discovery, inputs: &[PathBuf]) -> Option<String> {
    let starts = std::iter::once(0).chain(found.found_by.iter().copied());
    let is_empty = |start: usize, end: usize| {
        end == start + 1 && found.sources.get(start).is_some_and(|source| source.bytes == 0)
    };
    let places = starts.zip(&found.found_by).zip(inputs);
    let empty = places.filter(|((start, end), _)| is_empty(*start, **end)).map(|(_, input)| input.clone());
    empty_files(&empty.collect::<Vec<_>>(), "input")
}

/// The same of all files, those in folders, too: where what is missing is deleted.
pub(crate) fn empty_sources(found: &Discovery) -> Option<String> {
    let empty = found.sources.iter().filter(|source| source.bytes == 0);
    empty_files(&empty.map(|source| PathBuf::from(&source.shown)).collect::<Vec<_>>(), "file")
}

fn empty_files(empty: &[PathBuf], what: &str) -> Option<String> {
    let verb = if empty.len() == 1 { "is" } else { "are" };
    let count = counted(empty.len() as u64, what);
    (!empty.is_empty()).then(|| format!("{count} {verb} empty: {}", shown(empty)))
}

/// Warns of inputs that are empty, and of files in folders that are passed over.
pub(crate) fn warn_of_unused(reporter: &Reporter<'_>, found: &Discovery, inputs: &[PathBuf]) {
    warn_of_skipped(reporter, found);
    empty_inputs(found, inputs).iter().for_each(|empty| reporter.warning(empty));
}

/// Warns of files in folders that are passed over.
pub(crate) fn warn_of_skipped(reporter: &Reporter<'_>, found: &Discovery) {
    let skipped: Vec<(String, &str)> =
        found.skipped.iter().map(|(path, why)| (path.display().to_string(), &**why)).collect();
    let skipped: Vec<(&str, &str)> = skipped.iter().map(|(path, why)| (&**path, *why)).collect();
    skipped_files(&skipped, "").iter().for_each(|line| reporter.warning(line));
}

/// Hands on the ids of a list, `-` or a file with one a line; blank lines are none. An id has at most `most` bytes, and `line` is the
/// command that takes one id without a file.
///
/// # Errors
/// [`Error::Input`] if the list cannot be opened, or a line is no id; [`Error::Io`]; those of `each`.
pub(crate) fn each_listed_id(
    list: &Path,
    most: usize,
    line: &str,
    each: &mut dyn FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut input: Box<dyn BufRead> = match list.to_str() {
        Some("-") => Box::new(io::stdin().lock()),
        _ => {
            let opened = File::open(list).map_err(|error| {
                let instead = format!("or give the ids themselves: echo ID | {line} -");
                Error::input(
                    list,
                    format!("cannot be read ({error}); name a file with one id a line, {instead}"),
                )
            })?;
            Box::new(BufReader::new(opened))
        }
    };
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        // The end of the line is no part of the id.
        let read = input.by_ref().take(most as u64 + 2).read_until(b'\n', &mut bytes);
        if read.map_err(|e| Error::io(list, "read", e))? == 0 {
            break;
        }
        let id = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let id = id.strip_suffix(b"\r").unwrap_or(id);
        if id.len() > most {
            return Err(Error::input(
                list,
                format!("line {number} has more than {most} bytes, and is no id"),
            ));
        }
        let id = std::str::from_utf8(id)
            .map_err(|_| Error::input(list, format!("line {number} is not UTF-8; give one id a line")))?;
        if !id.trim().is_empty() {
            each(id)?;
        }
    }
    Ok(())
}

/// Warns where no document has a word: with `--missing-text keep` no record is refused for a field that is mistyped.
pub(crate) fn warn_of_no_words(reporter: &Reporter<'_>, wordless: u64, documents: u64) {
    if documents > 0 && wordless == documents {
        reporter.warning(&format!(
            "{} without any word; is the text field right (--text-field)?",
            counted(documents, "document")
        ));
    }
}

/// Says so when inputs hold nothing.
pub(crate) fn warn_of_no_documents(reporter: &Reporter<'_>, documents: u64) {
    if documents == 0 {
        reporter.warning("the inputs hold no documents; check the files");
    }
}

/// Refuses an input of which anything could not be used, for a reason of its own.
pub(crate) fn refuse_any(rejected: &[Rejected], documents: u64, reason: &str) -> Result<()> {
    RefusedCount::of(Rejected::wrong(rejected)).allow(0, documents, || reason.to_owned())
}

/// Refuses an input of which more could not be used than was asked for.
pub(crate) fn refuse(refusals: RefusalArgs, rejected: &[Rejected], documents: u64) -> Result<()> {
    let percent = refusals.percent();
    RefusedCount::of(Rejected::wrong(rejected)).allow(percent, documents, || match refusals.strict {
        true => "--strict allows none".to_owned(),
        false => format!(
            "more than {percent} % is a sign of a wrong input; --max-rejected allows more; nothing was written"
        ),
    })
}

/// Refuses an input of which most could not be used, where nobody can ask for another limit.
pub(crate) fn refuse_most(refused: &RefusedCount, documents: u64) -> Result<()> {
    let reason = || format!("more than {REFUSED_PERCENT} % is a sign of a wrong input");
    refused.allow(REFUSED_PERCENT, documents, reason)
}

/// Gives what was found of `inputs` an order of preference: those that [`preferred_inputs`] gave first, the first ones most.
pub(crate) fn set_preferences(named: &[String], inputs: &[PathBuf], found: &mut Discovery) -> Result<()> {
    let of = |argument: usize| {
        let start = argument.checked_sub(1).map_or(0, |before| found.found_by[before]);
        start..found.found_by[argument]
    };
    let mut ranks = vec![named.len() as u32; found.sources.len()];
    for (rank, name) in (0..).zip(named) {
        let arguments = (0..inputs.len()).filter(|argument| is_named(&inputs[*argument], name));
        let mut files = arguments.flat_map(of).peekable();
        if files.peek().is_none() {
            return Err(Error::config(format!(
                "--prefer {}: inputs that are named before it have all of its files; name it before them",
                printable(name)
            )));
        }
        files.for_each(|file| ranks[file] = rank);
    }
    for (source, rank) in found.sources.iter_mut().zip(ranks) {
        source.preference = rank;
    }
    Ok(())
}

/// The inputs that are preferred, each once. What is no input as a whole is a list with commas.
pub(crate) fn preferred_inputs(asked: &[String], inputs: &[PathBuf]) -> Result<Vec<String>> {
    let is_input = |name: &str| inputs.iter().any(|input| is_named(input, name));
    let mut named: Vec<String> = Vec::new();
    for asked in asked {
        let names = match is_input(asked) {
            true => vec![asked.as_str()],
            false => asked.split(',').collect(),
        };
        for name in names {
            if !is_input(name) {
                return Err(Error::config(format!(
                    "--prefer {}: no such input; the inputs are: {}",
                    printable(name),
                    shown(inputs)
                )));
            }
            if named.iter().any(|earlier| is_named(Path::new(earlier), name)) {
                return Err(Error::config(format!(
                    "--prefer {}: it is named twice; leave one of them out",
                    printable(name)
                )));
            }
            named.push(name.to_owned());
        }
    }
    Ok(named)
}

/// Whether a name is that of an input. A slash at the end and `./` before it make no difference.
fn is_named(input: &Path, name: &str) -> bool {
    let plain = |path: &Path| path.strip_prefix(".").map_or_else(|_| path.to_path_buf(), Path::to_path_buf);
    !name.is_empty() && plain(input) == plain(Path::new(name))
}

/// Inputs as a message names them.
pub(crate) fn shown(inputs: &[PathBuf]) -> String {
    let name = |input: &PathBuf| printable(&input.to_string_lossy()).into_owned();
    let mut names: Vec<String> = inputs.iter().take(SHOWN).map(name).collect();
    if let Some(more) = inputs.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        names.push(format!("and {more} more {}", plural(more as u64, "input")));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(asked: &[&str], inputs: &[&str]) -> std::result::Result<Vec<String>, String> {
        let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
        let inputs: Vec<PathBuf> = inputs.iter().map(PathBuf::from).collect();
        preferred_inputs(&asked, &inputs).map_err(|error| error.to_string())
    }

    #[test]
    fn inputs_are_named_as_they_were_and_in_lists() {
        let inputs = ["wiki/", "./news", "a,b.jsonl", "s3://bucket/x/", "*.txt", "-", "."];
        let all = ["news/,wiki", "a,b.jsonl", "s3://bucket/x,*.txt,-", "."];
        let want = ["news/", "wiki", "a,b.jsonl", "s3://bucket/x", "*.txt", "-", "."];
        assert_eq!(names(&all, &inputs), Ok(want.map(str::to_owned).to_vec()));
        assert_eq!(names(&[], &inputs), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_input_is_told_with_those_that_are() {
        let unknown = names(&["wiki,crawl"], &["wiki", "news/"]).expect_err("no such input");
        assert!(unknown.contains("--prefer crawl: no such input; the inputs are: wiki, news/"), "{unknown}");
        assert!(names(&[""], &["wiki"]).is_err() && names(&["wiki,"], &["wiki"]).is_err());
        let many: Vec<String> = (0..40).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(names(&["x"], &many).expect_err("none").ends_with("11, and 28 more inputs"));
        let twice = names(&["wiki", "wiki/"], &["wiki"]).expect_err("twice");
        assert!(twice.contains("named twice"), "{twice}");
    }
}
