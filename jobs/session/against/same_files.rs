//! Files that are protected and inputs at once: one file under two names, or a copy.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use alike::collection::SourceEntry;
use alike::error::{Error, Result};
use alike::flow::ProtectedSet;
use alike::printable::{counted, printable};
use alike::progress::Progress;
use alike::read::{Source, file_digest};

use crate::terminal::stderr::warn;

/// Bytes of two files that are compared at a time.
const BLOCK: usize = 1 << 18;

/// Refuses a file that is protected and an input, as nothing of it would be left, and one that is in two sets, as the second would
/// seem to remove nothing.
pub(super) fn refuse_same(protected: &[Source], sets: &[ProtectedSet], inputs: &[Source]) -> Result<()> {
    let mut places: HashMap<FilePlace, &str> = HashMap::new();
    let set_of = sets.iter().flat_map(|set| std::iter::repeat_n(&*set.name, set.sources));
    for (source, set) in protected.iter().zip(set_of) {
        let first = *places.entry(FilePlace::of(source)).or_insert(set);
        if first != set {
            let what = format!("is protected as {first} and as {set}; leave it out of one of them");
            return Err(Error::input(Path::new(&source.shown), what));
        }
    }
    match inputs.iter().find(|source| places.contains_key(&FilePlace::of(source))) {
        None => Ok(()),
        Some(both) => Err(Error::input(
            Path::new(&both.shown),
            "is an input, and protected by --against, too: nothing of it would be left; leave it out of one of them",
        )),
    }
}

/// Where a file lies, however it is named: links lead to one place.
#[derive(PartialEq, Eq, Hash)]
enum FilePlace {
    /// The device, and the number there.
    File(u64, u64),
    /// An object.
    Url(PathBuf),
}

impl FilePlace {
    fn of(source: &Source) -> FilePlace {
        let file = source.path.metadata();
        file.map_or_else(
            |_| FilePlace::Url(source.path.clone()),
            |file| FilePlace::File(file.dev(), file.ino()),
        )
    }
}

/// Warns of inputs that are copies of other files of the run, byte for byte; `so` says what those are, and what comes of it. Only
/// files of one size are compared, and only as far as they are equal.
pub(crate) fn warn_of_copies(
    others: &[Source],
    inputs: &[Source],
    so: &str,
    progress: &Progress,
) -> Result<()> {
    let mut of_size: HashMap<u64, Vec<&Source>> = HashMap::new();
    for source in others.iter().filter(|source| source.bytes > 0) {
        of_size.entry(source.bytes).or_default().push(source);
    }
    let mut copies: Vec<(&Source, String)> = Vec::new();
    for input in inputs {
        for other in of_size.get(&input.bytes).into_iter().flatten() {
            if is_copy(&input.path, &other.path, progress)? {
                copies.push((input, other.shown.clone()));
                break;
            }
        }
    }
    warn_of(&copies, so);
    Ok(())
}

/// Warns of inputs that were loaded into a protected collection, byte for byte; `loaded` are the files that it has documents of.
pub(super) fn warn_of_loaded(
    collection: &Path,
    loaded: Vec<SourceEntry>,
    inputs: &[Source],
    progress: &Progress,
) -> Result<()> {
    let mut of_size: HashMap<u64, Vec<SourceEntry>> = HashMap::new();
    for file in loaded.into_iter().filter(|file| file.bytes > 0 && file.digest != 0) {
        of_size.entry(file.bytes).or_default().push(file);
    }
    let mut copies: Vec<(&Source, String)> = Vec::new();
    for input in inputs {
        let Some(of_size) = of_size.get(&input.bytes) else { continue };
        let Some(digest) = digest_of(input, progress)? else { continue };
        let loaded = of_size.iter().find(|file| file.digest == digest);
        copies.extend(loaded.map(|file| (input, file.shown.clone())));
    }
    let so = format!(
        "which was loaded into {}, which --against protects: of it documents that are stored as they stand there will be left out",
        printable(&collection.to_string_lossy())
    );
    warn_of(&copies, &so);
    Ok(())
}

/// The digest of a file. What cannot be read is left to whoever reads it next.
fn digest_of(source: &Source, progress: &Progress) -> Result<Option<u128>> {
    match file_digest(source, progress) {
        Err(Error::Interrupted) => Err(Error::Interrupted),
        digest => Ok(digest.ok()),
    }
}

/// Warns of the first of some inputs that hold the same bytes as other files, and says how many more do.
fn warn_of(copies: &[(&Source, String)], so: &str) {
    let Some((input, other)) = copies.first() else { return };
    let more = match copies.len() as u64 - 1 {
        0 => String::new(),
        more => format!("; so is it with {}", counted(more, "more file")),
    };
    let (input, other) = (printable(&input.shown), printable(other));
    match input == other {
        true => warn(&format!("{input} is a file {so}{more}")),
        false => warn(&format!("{input} holds the same bytes as {other}, {so}{more}")),
    }
}

/// Whether two files hold the same bytes. What cannot be read is left to whoever reads it next.
fn is_copy(a: &Path, b: &Path, progress: &Progress) -> Result<bool> {
    let (Ok(a), Ok(b)) = (File::open(a), File::open(b)) else { return Ok(false) };
    let (mut a, mut b) = (BufReader::with_capacity(BLOCK, a), BufReader::with_capacity(BLOCK, b));
    loop {
        progress.check()?;
        let (Ok(of_a), Ok(of_b)) = (a.fill_buf(), b.fill_buf()) else { return Ok(false) };
        let common = of_a.len().min(of_b.len());
        if common == 0 {
            return Ok(of_a.len() == of_b.len());
        }
        if of_a[..common] != of_b[..common] {
            return Ok(false);
        }
        a.consume(common);
        b.consume(common);
    }
}
