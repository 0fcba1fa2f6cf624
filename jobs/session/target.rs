//! The collection that a load goes to: one that is there, or one that is made when all else is known to be right.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use alike::collection::{Manifest, Writer, newest};
use alike::config::{Clustering, Config, Fold, JoinMeasure, Rule};
use alike::error::{Error, Result};
use alike::lexicon::Lexicon;
use alike::peers::Peers;
use alike::storage::{Local, Overlay, Storage};
use serde_json::{Map, Value};

use crate::cli::common::{ConfigArgs, PlaceArgs};
use crate::session::collection::{reach, scattered};
use crate::session::options::configuration;

/// What is asked of the collection that a load goes to.
pub(crate) struct CreateOptions<'a> {
    /// What decides the answer.
    pub(crate) choices: &'a ConfigArgs,
    /// The field whose value documents must share to be compared, if one was named.
    pub(crate) within: Option<&'a str>,
    /// Whether what is asked to be measured is asked of protected documents, and not of the collection's own.
    pub(crate) one_sided: bool,
    /// The lexicon that was named.
    pub(crate) lexicon: Option<&'a Lexicon>,
    /// Whether texts are to be kept.
    pub(crate) store_text: bool,
}

/// Where a load goes.
pub(crate) enum Target {
    /// A collection that is there.
    There(Box<Writer>),
    /// A collection that no load has gone to: its first one was killed, and this one says something else.
    Anew { writer: Box<Writer>, config: Box<Config>, store_text: bool },
    /// Nothing is there yet.
    New { at: PlaceArgs, above: Option<PathBuf>, config: Box<Config>, store_text: bool },
}

/// How often a dry run looks again when others commit while it opens the collection.
const ATTEMPTS: usize = 20;

/// A collection that is there, opened for what changes it. In a dry run all that is written goes to the folder `above`, and others may
/// write to the collection meanwhile.
pub(crate) fn opened(at: &PlaceArgs, above: Option<&Path>, peers: Option<&Peers>) -> Result<Writer> {
    let Some(above) = above else { return Writer::open(&reach(at, peers)?) };
    let mut attempt = 0;
    loop {
        let there = reach(at, peers)?;
        let commit = newest(&*there)?;
        // What an attempt has written is in no other's way.
        let folder = above.join(attempt.to_string());
        let seen: Arc<dyn Storage> =
            Arc::new(Overlay::new(Some(Arc::clone(&there)), &at.collection, &folder)?);
        match Writer::open(&seen) {
            Err(_) if attempt < ATTEMPTS && newest(&*there)? != commit => attempt += 1,
            opened => return opened,
        }
    }
}

impl Target {
    /// Opens the collection, if it is one, and holds it against what was asked for. In a dry run nothing is written but to
    /// the folder `above`.
    pub(crate) fn find(
        at: &PlaceArgs,
        asked: &CreateOptions<'_>,
        above: Option<PathBuf>,
        peers: Option<&Peers>,
    ) -> Result<Target> {
        let (collection, store_text) = (&at.collection, asked.store_text);
        match opened(at, above.as_deref(), peers) {
            Ok(writer) if writer.is_unused() && check_same(writer.snapshot().manifest(), asked).is_err() => {
                let config = Box::new(first(asked)?);
                Ok(Target::Anew { writer: Box::new(writer), config, store_text })
            }
            Ok(writer) => {
                let same = check_same(writer.snapshot().manifest(), asked);
                same.map_err(|error| match writer.pending() {
                    Some(pending) => {
                        Error::unfinished(collection, pending.tally.records, "it has another configuration")
                    }
                    None => error,
                })?;
                Ok(Target::There(Box::new(writer)))
            }
            Err(Error::NotACollection(..)) if can_become_one(collection)? => {
                Ok(Target::New { at: at.clone(), above, config: Box::new(first(asked)?), store_text })
            }
            Err(error) => Err(error),
        }
    }

    /// The configuration of the collection.
    pub(crate) fn config(&self) -> &Config {
        match self {
            Target::There(writer) => &writer.snapshot().manifest().config,
            Target::Anew { config, .. } | Target::New { config, .. } => config,
        }
    }

    /// Whether an interrupted load would go on.
    pub(crate) fn goes_on(&self) -> bool {
        matches!(self, Target::There(writer) if writer.pending().is_some())
    }

    /// The collection, made if it has to be; whether it was.
    pub(crate) fn writer(self, peers: Option<&Peers>) -> Result<(Writer, bool)> {
        match self {
            Target::There(writer) => Ok((*writer, false)),
            Target::Anew { writer, config, store_text } => {
                Ok((writer.start_anew(*config, store_text)?, true))
            }
            Target::New { at, above, config, store_text } => {
                let storage: Arc<dyn Storage> = match above {
                    Some(above) => Arc::new(Overlay::new(None, &at.collection, &above)?),
                    None => scattered(Arc::new(Local::create(&at.collection)?), &at, peers),
                };
                let created = Writer::create(&storage, *config, store_text).map_err(|error| match error {
                    // Nothing was there shortly before.
                    Error::Config(_) if newest(&*storage).is_ok() => Error::Locked(at.collection.clone()),
                    error => error,
                });
                Ok((created?, true))
            }
        }
    }
}

/// Whether there is nothing at `path`, or a folder that the library may find empty. It looks at files only, and must
/// not make a collection among somebody's folders.
fn can_become_one(path: &Path) -> Result<bool> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(true);
    }
    if !path.is_dir() {
        return Ok(false);
    }
    let failed = |e| Error::io(path, "list", e);
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_type().map_err(failed)?.is_file() || entry.file_name().to_str().is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The configuration of a collection that is to be made.
fn first(asked: &CreateOptions<'_>) -> Result<Config> {
    let mut config = configuration(asked.choices, unless_said(asked.choices)?)?;
    if asked.one_sided {
        // As `dedup` compares new documents with each other.
        (config.join.measure, config.count.rule) = (JoinMeasure::Containment, Rule::Containment);
    }
    if let Some(field) = asked.within {
        field.clone_into(&mut config.input.within_field);
    }
    config.validate_for_collection()?;
    if config.needs_lexicon() {
        let lexicon = asked.lexicon.ok_or_else(|| {
            Error::config(format!(
                "{} needs a lexicon, in a collection one that stays as it is; make one of documents of the same kind \
                 with `alike lexicon build`, and name it with --lexicon",
                config.lexicon_user()
            ))
        })?;
        if config.lexicon.is_empty() {
            config.lexicon = lexicon.name();
        }
        config.require_fit(lexicon)?;
    }
    Ok(config)
}

/// What holds of a new collection where nothing else is said.
fn unless_said(choices: &ConfigArgs) -> Result<Config> {
    let mut config = Config::default();
    // Only these clusters do not depend on which document came first.
    config.cluster.clustering = Clustering::Transitive;
    // Whether a shingle is common depends on the order of loads.
    config.count.common_cap = 0;
    if configuration(choices, config.clone())?.measures_containment() {
        // Where one text stands in the next, chains lead from anything to anything.
        config.cluster.clustering = Clustering::Guarantee;
    }
    Ok(config)
}

/// Refuses another configuration than the one that the collection has for ever. Flags alone are laid over that one, so
/// that saying again what is so is no difference; nor is it one to leave out that texts are kept.
fn check_same(manifest: &Manifest, asked: &CreateOptions<'_>) -> Result<()> {
    let CreateOptions { choices, within, one_sided, lexicon, store_text } = *asked;
    let frozen = &manifest.config;
    let base = if choices.config.is_some() { unless_said(choices)? } else { frozen.clone() };
    let mut asked = beside(frozen, choices, base)?;
    if one_sided {
        asked.join.measure = frozen.join.measure;
    }
    if let Some(field) = within {
        field.clone_into(&mut asked.input.within_field);
    }
    match lexicon {
        Some(lexicon) => asked.lexicon = lexicon.name(),
        // Who names none wants the one that is there.
        None if asked.lexicon.is_empty() => asked.lexicon.clone_from(&frozen.lexicon),
        None => {}
    }
    let mut differences = differences(frozen, &asked)?;
    if store_text && !manifest.store_text {
        differences.push("store_text is false, not true".to_owned());
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(Error::config(format!(
        "the configuration of a collection is fixed when it is made, and this is another: {}; leave it out, or load \
         into a new collection",
        differences.join("; ")
    )))
}

/// What is asked, over `base`, of documents of a collection.
pub(crate) fn beside(frozen: &Config, choices: &ConfigArgs, base: Config) -> Result<Config> {
    let mut asked = configuration(choices, base)?;
    // A collection of form 1 folds nothing, and what made it could not say so. The same command still fits it.
    if frozen.text.fold == Fold::NONE
        && asked.text.fold == Fold::default()
        && choices.filters.fold.fold.is_empty()
    {
        asked.text.fold = Fold::NONE;
    }
    Ok(asked)
}

/// The keys in which two configurations differ, with both values.
pub(crate) fn differences(is: &Config, asked: &Config) -> Result<Vec<String>> {
    let json = |config: &Config| serde_json::to_value(config).map_err(|e| Error::config(e.to_string()));
    let mut differences = Vec::new();
    differ("", &json(is)?, &json(asked)?, &mut differences);
    Ok(differences)
}

/// Names the keys in which two configurations differ, with both values.
fn differ(key: &str, is: &Value, asked: &Value, differences: &mut Vec<String>) {
    match (is, asked) {
        (Value::Object(is), Value::Object(asked)) => {
            // What is as it is by default is not said by all of them.
            let names: BTreeSet<&String> = is.keys().chain(asked.keys()).collect();
            for name in names {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                let value = |object: &Map<String, Value>| object.get(name).cloned().unwrap_or_default();
                differ(&key, &value(is), &value(asked), differences);
            }
        }
        _ if is == asked => {}
        _ => differences.push(format!("{key} is {}, not {}", said(is), said(asked))),
    }
}

/// A value as options say it.
fn said(value: &Value) -> String {
    match value {
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Null => "what it is by default".to_owned(),
        Value::Array(values) => values.iter().map(said).collect::<Vec<_>>().join(","),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use alike::read::MissingText;

    use super::*;

    #[test]
    fn differences_name_the_key_and_both_values() {
        let is = Config::default();
        let mut asked = is.clone();
        asked.text.ngram = 3;
        asked.threshold = "0.9".parse().expect("a threshold");
        asked.text.fold = Fold::NONE;
        let json = |config| serde_json::to_value(config).expect("JSON");
        let mut found = Vec::new();
        differ("", &json(&is), &json(&asked), &mut found);
        found.sort();
        assert_eq!(
            found,
            ["text.fold is forms, not none", "text.ngram is 5, not 3", "threshold is 0.8, not 0.9"]
        );
        let mut kept = is.clone();
        kept.input.missing_text = MissingText::Keep;
        let one = |is: &Config, asked: &Config| differences(is, asked).expect("JSON").concat();
        assert_eq!(one(&is, &kept), "input.missing_text is what it is by default, not keep");
        assert_eq!(one(&kept, &is), "input.missing_text is keep, not what it is by default");
    }
}
