//! The variables of the environment that the program reads: which of many processes this one is, what `alike launch`
//! leaves there for its children, and what object stores know their users by. Everything else is a flag or a key of the
//! configuration.

use std::ffi::OsString;
use std::path::Path;

use alike::error::{Error, Result};

/// File of addresses; `--hosts` goes before it.
pub(crate) const HOSTS: &str = "ALIKE_HOSTS";
/// The addresses themselves, with commas between them: what `alike launch` gives its children, who need no file then.
pub(crate) const ADDRESSES: &str = "ALIKE_ADDRESSES";
/// Number of processes; `-n` goes before it.
pub(crate) const PROCESSES: &str = "ALIKE_PROCESSES";
/// Index of this process; `-p` goes before it.
pub(crate) const PROCESS: &str = "ALIKE_PROCESS";
/// Address to listen on; `--listen` goes before it.
pub(crate) const LISTEN: &str = "ALIKE_LISTEN";
/// File of the secret; `--secret-file` goes before it.
pub(crate) const SECRET_FILE: &str = "ALIKE_SECRET_FILE";
/// Address of the metrics; `--metrics` goes before it.
pub(crate) const METRICS: &str = "ALIKE_METRICS";
/// What is added to the port of the metrics: `alike launch` gives its children one command line, and of those on one
/// machine each needs a port of its own.
pub(crate) const METRICS_ABOVE: &str = "ALIKE_METRICS_ABOVE";
/// The secret itself.
pub(crate) const SECRET: &str = "ALIKE_SECRET";
/// The token of `alike serve`; `--token-file` goes before it.
#[cfg(feature = "serve")]
pub(crate) const TOKEN: &str = "ALIKE_TOKEN";
/// Set by `alike launch` for its children: where its own standard output goes, [`TERMINAL`] or [`PIPE`]. A process
/// that finds it
/// - gives its progress as JSON lines, which the launcher draws, and still tells its results to people;
/// - takes standard output for what the launcher's is, since that is where it arrives;
/// - ends in order when its standard input closes: the launcher holds the other end, and whatever becomes of the
///   launcher, of ssh, or of the machine it runs on, the system closes it.
pub(crate) const LAUNCHED: &str = "ALIKE_LAUNCHED";
/// People read what is written.
pub(crate) const TERMINAL: &str = "terminal";
/// Programs read what is written.
pub(crate) const PIPE: &str = "pipe";

/// A variable of the environment by its name; one without a value is as none.
pub(crate) type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// A variable of the environment of this process.
#[expect(
    clippy::disallowed_methods,
    reason = "one command line serves all processes of a job: what differs between them is in the environment"
)]
pub(crate) fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The command that was typed, for the shell; none if it is no text. What stands behind the question mark of an address may
/// be a key to it, and is left out.
pub(crate) fn typed_command() -> Option<String> {
    let words: Option<Vec<String>> =
        std::env::args_os().skip(1).map(|word| word.into_string().ok()).collect();
    let open = |word: String| match word.contains("://") {
        true => word.split_once('?').map_or(word.clone(), |(address, _)| format!("{address}?...")),
        false => word,
    };
    let words: Vec<String> =
        std::iter::once("alike".to_owned()).chain(words?.into_iter().map(open)).collect();
    shlex::try_join(words.iter().map(String::as_str)).ok()
}

/// How names of variables begin by which the tools of object stores find out who asks, and where.
const OF_STORES: [&str; 6] = ["AWS_", "AZURE_", "GCE_METADATA_", "GOOGLE_", "HF_", "HOME"];

/// What object stores know their users by.
pub(crate) fn of_stores() -> impl Iterator<Item = (String, String)> {
    let of_stores = |name: &str| OF_STORES.iter().any(|begin| name.starts_with(begin));
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).filter(move |(name, _)| of_stores(name))
}

/// The number that a variable of the environment holds.
pub(crate) fn number(name: &str, variables: Variables<'_>) -> Result<Option<usize>> {
    let Some(value) = variables(name) else { return Ok(None) };
    let number = value.to_str().and_then(|text| text.trim().parse().ok());
    let wrong = || Error::config(format!("{name}={}: expected a whole number", Path::new(&value).display()));
    number.ok_or_else(wrong).map(Some)
}
