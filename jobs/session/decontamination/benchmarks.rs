//! The benchmarks of a job: finding them, and refusing what cannot be one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use alike::collection::is_collection;
use alike::decontaminate::BenchmarkSet;
use alike::error::{Error, Result};
use alike::limits::MAX_FILES;
use alike::progress::Progress;
use alike::read::{Discovery, FormatHint, Source};

use crate::cli::dedup::ProtectedPath;
use crate::session::against::named_by_mistake;
use crate::session::against::same_files::warn_of_copies;
use crate::session::inputs::find_inputs;

/// What comes of a copy of a benchmark.
const COPIES: &str = "which is a benchmark: what is looked for stands in it";

/// Benchmarks, and their files one behind the other.
#[derive(Default)]
pub(crate) struct FoundBenchmarks {
    pub(crate) sets: Vec<BenchmarkSet>,
    pub(crate) sources: Vec<Source>,
    /// Files of folders that were passed over, and why.
    pub(crate) skipped: Vec<(PathBuf, String)>,
}

/// Finds the files of benchmarks: of those that have a name all are one, of others each is one.
pub(crate) fn find_benchmarks(
    paths: &[ProtectedPath],
    corpus: &Discovery,
    (hint, spool, progress): (FormatHint, &Path, &Progress),
) -> Result<FoundBenchmarks> {
    let mut names: Vec<&str> = Vec::new();
    for ProtectedPath { name, path } in paths {
        if path == Path::new("-") {
            return Err(Error::config("--benchmarks -: benchmarks are read from files; name them"));
        }
        if is_collection(path) {
            let what =
                "is a collection, which --benchmarks cannot read; name the files that were loaded into it";
            return Err(Error::input(path, what));
        }
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    let mut found = FoundBenchmarks::default();
    for name in names {
        let same: Vec<&ProtectedPath> = paths.iter().filter(|set| set.name == name).collect();
        let is_named = same.iter().any(|set| set.path != Path::new(name));
        let places: Vec<PathBuf> = same.iter().map(|set| set.path.clone()).collect();
        let files = find_inputs(&places, hint, spool, progress);
        let mut files = files.map_err(|error| named_by_mistake(name, error))?;
        if let Some((path, why)) = files.unreadable.first() {
            let what = format!("is a benchmark, and cannot be read ({why}); mend it, or leave it out");
            return Err(Error::input(path, what));
        }
        if is_named {
            found.sets.push(BenchmarkSet { name: name.to_owned(), sources: files.sources.len() });
        } else {
            let each = |source: &Source| BenchmarkSet { name: source.shown.clone(), sources: 1 };
            found.sets.extend(files.sources.iter().map(each));
        }
        found.sources.append(&mut files.sources);
        found.skipped.append(&mut files.skipped);
    }
    if found.sources.len() + corpus.sources.len() > MAX_FILES {
        let files = found.sources.len() + corpus.sources.len();
        return Err(Error::Limit(format!(
            "{files} files, those of benchmarks among them: at most {MAX_FILES} are allowed; put several into one"
        )));
    }
    refuse_same(&found.sources, &corpus.sources)?;
    warn_of_copies(&found.sources, &corpus.sources, COPIES, progress)?;
    Ok(found)
}

/// Refuses a file that is a benchmark twice, or a benchmark and of the corpus: all of it would be found.
fn refuse_same(benchmarks: &[Source], corpus: &[Source]) -> Result<()> {
    // An object is where its URL says.
    let place = |source: &Source| source.path.canonicalize().unwrap_or_else(|_| source.path.clone());
    let mut places = HashSet::new();
    if let Some(twice) = benchmarks.iter().find(|source| !places.insert(place(source))) {
        let what = "is named by two --benchmarks; leave it out of one of them";
        return Err(Error::input(Path::new(&twice.shown), what));
    }
    match corpus.iter().find(|source| places.contains(&place(source))) {
        None => Ok(()),
        Some(both) => Err(Error::input(
            Path::new(&both.shown),
            "is of the corpus, and a benchmark, too: all of it would be found in itself; leave it out of one of them",
        )),
    }
}
