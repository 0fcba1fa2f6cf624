//! The protected documents of a job: finding them, and refusing sets that protect nothing.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use alike::collection::is_collection;
use alike::error::{Error, Result};
use alike::flow::{Outcome, ProtectedSet};
use alike::limits::{MAX_FILES, REFUSED_PERCENT};
use alike::progress::Progress;
use alike::read::{Discovery, FormatHint, Refusal, Refused, Source};

use crate::cli::dedup::ProtectedPath;
use crate::session::inputs::find_inputs;

/// Refuses what is wrong with paths before anything is looked for.
pub(crate) fn check_protected(against: &[ProtectedPath], inputs: &[PathBuf]) -> Result<()> {
    let standard = Path::new("-");
    let protected = against.iter().filter(|set| set.path == standard).count();
    if protected > 1 || protected == 1 && inputs.iter().any(|path| path == standard) {
        return Err(Error::config(
            "standard input can be read once only: name - once, and files for the rest",
        ));
    }
    let what = "is a collection, which --against cannot read; name the files that were loaded into it, or what alike export \
                writes of it";
    match against.iter().find(|set| is_collection(&set.path)) {
        Some(set) => Err(Error::input(&set.path, what)),
        None => Ok(()),
    }
}

/// Finds the protected documents and puts them before what was found of the inputs; the sets, in the order of their names on
/// the command line.
pub(crate) fn find_protected(
    against: &[ProtectedPath],
    found: &mut Discovery,
    (hint, spool, progress): (FormatHint, &Path, &Progress),
) -> Result<Vec<ProtectedSet>> {
    let mut names: Vec<&str> = Vec::new();
    for ProtectedPath { name, .. } in against {
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    let (mut sets, mut sources) = (Vec::new(), Vec::new());
    for name in names {
        let paths = against.iter().filter(|set| set.name == name).map(|set| set.path.clone());
        let mut set = find_inputs(&paths.collect::<Vec<_>>(), hint, spool, progress)?;
        if let Some((path, why)) = set.unreadable.first() {
            let what = format!("is protected, and cannot be read ({why}); mend it, or leave it out");
            return Err(Error::input(path, what));
        }
        if set.sources.iter().all(|source| source.bytes == 0) {
            return Err(Error::config(format!(
                "--against {name}: there is nothing in it; name a set with documents"
            )));
        }
        sets.push(ProtectedSet { name: name.to_owned(), sources: set.sources.len() });
        sources.append(&mut set.sources);
        found.skipped.append(&mut set.skipped);
    }
    if sets.is_empty() {
        return Ok(sets);
    }
    refuse_same(&sources, &found.sources)?;
    sources.append(&mut found.sources);
    if sources.len() > MAX_FILES {
        return Err(Error::Limit(format!(
            "{} files, protected ones among them: at most {MAX_FILES} are allowed; put several into one",
            sources.len()
        )));
    }
    found.sources = sources;
    Ok(sets)
}

/// Refuses a file that is protected and an input: nothing of it would be left.
fn refuse_same(protected: &[Source], inputs: &[Source]) -> Result<()> {
    // An object is where its URL says.
    let place = |source: &Source| source.path.canonicalize().unwrap_or_else(|_| source.path.clone());
    let places: HashSet<PathBuf> = protected.iter().map(place).collect();
    match inputs.iter().find(|source| places.contains(&place(source))) {
        None => Ok(()),
        Some(both) => Err(Error::input(
            Path::new(&both.shown),
            "is an input, and protected by --against, too: all of it would be removed; leave it out of one of them",
        )),
    }
}

/// Refuses a run with a set that protects nothing, or of which too much could not be used: what resembles that would stay.
pub(crate) fn refuse_unprotected(strict: bool, outcome: &Outcome) -> Result<()> {
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
        if let Some(at) = wrong.iter().position(|refused| refused.refusal.ends_file()) {
            let file = Path::new(&said[at].file);
            let what = format!(
                "is protected, and cannot be read to its end ({}); mend it, or leave it out",
                said[at].reason
            );
            return Err(Error::input(file, what));
        }
        let refused = wrong.len() as u64;
        let name = &set.name;
        let (records, is_too_much) = (count + refused, refused * 100 > (count + refused) * REFUSED_PERCENT);
        if let Some(first) = said.first().filter(|_| strict || is_too_much) {
            let reason = match strict {
                true => format!("--strict allows none; they are of --against {name}"),
                false => format!(
                    "of --against {name}: what cannot be read protects nothing; more than {REFUSED_PERCENT} % is a sign of a \
                     wrong field (--text-field)"
                ),
            };
            return Err(Error::Refused { rejected: refused, records, reason, first: first.to_string() });
        }
        if count == 0 {
            let what = format!("--against {name}: there are no documents in it; name a set with documents");
            return Err(Error::Config(what));
        }
    }
    Ok(())
}
