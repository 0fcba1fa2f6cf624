//! The protected documents of a job: finding them, and refusing sets that protect nothing.

pub(crate) mod same_files;

use std::path::{Path, PathBuf};

use alike::collection::{QueryOverrides, Snapshot, StoredSource, is_collection, overridden};
use alike::config::{Cluster, Config};
use alike::error::{Error, Result};
use alike::flow::{Outcome, ProtectedSet};
use alike::lexicon::Lexicon;
use alike::limits::MAX_FILES;
use alike::progress::Progress;
use alike::read::{Discovery, FormatHint, Refusal, Refused, RefusedCount, Source};

use self::same_files::{refuse_same, warn_of_copies, warn_of_loaded};
use crate::cli::common::{ConfigArgs, RefusalArgs};
use crate::cli::dedup::ProtectedPath;
use crate::session::collection::folder;
use crate::session::inputs::find_inputs;
use crate::session::options::configuration;
use crate::session::target::{beside, differences};

/// Refuses what is wrong with paths before anything is looked for.
pub(crate) fn check_protected(against: &[ProtectedPath], inputs: &[PathBuf]) -> Result<()> {
    let standard = Path::new("-");
    let protected = against.iter().filter(|set| set.path == standard).count();
    if protected > 1 || protected == 1 && inputs.iter().any(|path| path == standard) {
        return Err(Error::config(
            "standard input can be read once only: name - once, and files for the rest",
        ));
    }
    Ok(())
}

/// A collection whose documents are protected: one commit of it.
#[derive(Clone, Debug)]
pub(crate) struct ProtectedCollection {
    path: PathBuf,
    snapshot: Snapshot,
}

impl ProtectedCollection {
    /// Whether it was named by this path.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        self.path == path
    }

    /// Its commit.
    pub(crate) fn commit(&self) -> u64 {
        self.snapshot.manifest().commit
    }
}

/// Opens the collections among protected paths, each once.
pub(crate) fn open_collections(against: &[ProtectedPath]) -> Result<Vec<ProtectedCollection>> {
    let mut opened: Vec<ProtectedCollection> = Vec::new();
    for ProtectedPath { name, path } in against.iter().filter(|set| is_collection(&set.path)) {
        if opened.iter().any(|collection| collection.path == *path) {
            return Err(Error::input(path, "is named twice by --against; leave one of them out"));
        }
        let snapshot = Snapshot::open(&folder(path)?)?;
        if snapshot.manifest().counts.documents == 0 {
            return Err(Error::config(format!(
                "--against {name}: there are no documents in the collection {}; name a set with documents",
                path.display()
            )));
        }
        opened.push(ProtectedCollection { path: path.clone(), snapshot });
    }
    Ok(opened)
}

/// The configuration of a run: where there are protected collections, that of the first one but for its clusters, unless another
/// is asked for. Their documents must be ones that this run can compare by what is stored of them.
pub(crate) fn configured(
    choices: &ConfigArgs,
    lexicon: Option<&Path>,
    collections: &[ProtectedCollection],
) -> Result<Config> {
    let Some(first) = collections.first() else { return configuration(choices, Config::default()) };
    let frozen = &first.snapshot.manifest().config;
    let base = match choices.config {
        Some(_) => Config::default(),
        None => Config { cluster: Cluster::default(), ..frozen.clone() },
    };
    let mut config = beside(frozen, choices, base)?;
    match lexicon.filter(|_| config.needs_lexicon()) {
        Some(path) => config.lexicon = Lexicon::open(path)?.name(),
        None if config.lexicon.is_empty() => config.lexicon.clone_from(&frozen.lexicon),
        None => {}
    }
    let advice = "leave that out, which takes the configuration of the collection, or name the files that were loaded into it";
    refuse_incomparable(collections, &config, advice)?;
    Ok(config)
}

/// Refuses collections whose documents cannot be compared by what is stored of them, as `config` compares documents; `advice`
/// says what to do.
pub(crate) fn refuse_incomparable(
    collections: &[ProtectedCollection],
    config: &Config,
    advice: &str,
) -> Result<()> {
    for ProtectedCollection { path, snapshot } in collections {
        let frozen = &snapshot.manifest().config;
        let own = [config.method.name().to_owned(), config.method.name().replace('-', "_")];
        let is_sketch = |difference: &String| {
            let (section, key) = difference.split_once(['.', ' ']).unwrap_or((difference, ""));
            ["method", "verify", "lexicon", "text"].contains(&section)
                || section == "input" && key.starts_with("within_field ")
                // What is made of shared shingles is asked of pairs, and nothing that is stored.
                || own.iter().any(|own| own == section) && !(section == "join" && key.starts_with("measure "))
        };
        let differ: Vec<String> = differences(frozen, config)?.into_iter().filter(is_sketch).collect();
        if !differ.is_empty() {
            return Err(Error::config(format!(
                "--against {}: its documents cannot be compared by what the collection stores of them: {}; {advice}",
                path.display(),
                differ.join("; ")
            )));
        }
        let keep = Some(config.cluster.keep.clone());
        overridden(frozen, &QueryOverrides { keep, ..QueryOverrides::default() })?;
    }
    Ok(())
}

/// Refuses what needs more of protected documents than collections have.
pub(crate) fn refuse_beyond_stored(
    collections: &[ProtectedCollection],
    config: &Config,
    kinds: bool,
) -> Result<()> {
    let within = &config.input.within_field;
    for ProtectedCollection { path, snapshot } in collections {
        let stored = &snapshot.manifest().config.input.within_field;
        let what = match (kinds, stored == within) {
            (true, _) => {
                "--kinds compares texts, which a collection does not have at hand; leave it out".to_owned()
            }
            (false, true) => continue,
            (false, false) if stored.is_empty() => {
                "--within compares a field that the collection does not store; leave it out".to_owned()
            }
            (false, false) => {
                format!(
                    "the collection compares only documents of the same {stored}; compare within that, too"
                )
            }
        };
        return Err(Error::config(format!(
            "--against {}: {what}, or name files, as alike export writes them",
            path.display()
        )));
    }
    Ok(())
}

/// What comes of a copy of a protected file.
const COPIES: &str = "which --against protects: only documents without a word will be left of it";

/// An input that is not there, where the name before `=` may be a part of its own.
pub(crate) fn named_by_mistake(name: &str, error: Error) -> Error {
    match error {
        Error::Input { path, reason } => {
            let whole = format!("{name}={}", path.display());
            match Path::new(&whole).exists() {
                true => Error::input(&path, format!("{reason}; to name the file {whole}, write ./{whole}")),
                false => Error::Input { path, reason },
            }
        }
        error => error,
    }
}

/// Finds the protected documents and puts them before what was found of the inputs; the sets, in the order of their names on
/// the command line, and the collections, each with the number of the source in whose place it is.
pub(crate) fn find_protected(
    against: &[ProtectedPath],
    collections: &[ProtectedCollection],
    found: &mut Discovery,
    (hint, spool, progress): (FormatHint, &Path, &Progress),
) -> Result<(Vec<ProtectedSet>, Vec<StoredSource>)> {
    let mut names: Vec<&str> = Vec::new();
    for ProtectedPath { name, .. } in against {
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    let (mut sets, mut sources, mut stored) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        let (first, mut files) = (sources.len(), Vec::new());
        for path in against.iter().filter(|set| set.name == name).map(|set| &set.path) {
            match collections.iter().find(|collection| collection.path == *path) {
                None => files.push(path.clone()),
                Some(collection) => {
                    stored.push((sources.len() as u32, collection.snapshot.clone()));
                    sources.push(Source::place_for(path));
                }
            }
        }
        if files.is_empty() {
            sets.push(ProtectedSet { name: name.to_owned(), sources: sources.len() - first });
            continue;
        }
        let found_in = find_inputs(&files, hint, spool, progress);
        let mut set = found_in.map_err(|error| named_by_mistake(name, error))?;
        if let Some((path, why)) = set.unreadable.first() {
            let what = format!("is protected, and cannot be read ({why}); mend it, or leave it out");
            return Err(Error::input(path, what));
        }
        if set.sources.iter().all(|source| source.bytes == 0) {
            return Err(Error::config(format!(
                "--against {name}: there is nothing in it; name a set with documents"
            )));
        }
        sources.append(&mut set.sources);
        sets.push(ProtectedSet { name: name.to_owned(), sources: sources.len() - first });
        found.skipped.append(&mut set.skipped);
    }
    if sets.is_empty() {
        return Ok((sets, stored));
    }
    refuse_same(&sources, &sets, &found.sources)?;
    warn_of_copies(&sources, &found.sources, COPIES, progress)?;
    for ProtectedCollection { path, snapshot } in collections {
        warn_of_loaded(path, snapshot.sources()?, &found.sources, progress)?;
    }
    sources.append(&mut found.sources);
    if sources.len() > MAX_FILES {
        return Err(Error::Limit(format!(
            "{} files, protected ones among them: at most {MAX_FILES} are allowed; put several into one",
            sources.len()
        )));
    }
    found.sources = sources;
    Ok((sets, stored))
}

/// Refuses a run with a set that protects nothing, or of which too much could not be used: what resembles that would stay.
pub(crate) fn refuse_unprotected(refusals: RefusalArgs, outcome: &Outcome) -> Result<()> {
    let documents = &outcome.run.documents;
    let mut first = 0;
    for (set, count) in documents.protected.iter().zip(documents.protected_counts()) {
        let files = first..first + set.sources;
        first = files.end;
        let is_wrong = |refused: &&Refused| {
            files.contains(&(refused.position.file() as usize))
                && !matches!(refused.refusal, Refusal::NoTextIn(_))
        };
        let wrong: Vec<Refused> = outcome.refused.iter().filter(is_wrong).cloned().collect();
        let said = documents.inputs.rejected(&wrong);
        if let Some(at) = wrong.iter().position(|refused| refused.refusal.loses_others()) {
            let file = Path::new(&said[at].file);
            let what = format!(
                "is protected, and cannot be read to its end ({}); mend it, or leave it out",
                said[at].reason
            );
            return Err(Error::input(file, what));
        }
        let (name, percent) = (&set.name, refusals.percent());
        RefusedCount::of(&said).allow(percent, count, || match refusals.strict {
            true => format!("--strict allows none; they are of --against {name}"),
            false => format!(
                "of --against {name}: what cannot be read protects nothing; more than {percent} % is a sign of a wrong field \
                 (--text-field); --max-rejected allows more"
            ),
        })?;
        if count == 0 {
            let what = format!("--against {name}: there are no documents in it; name a set with documents");
            return Err(Error::Config(what));
        }
    }
    Ok(())
}
