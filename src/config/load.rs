//! From TOML to a [`Config`]: every message names the file and, where there is one, the line.

use std::fmt::Display;
use std::path::Path;

use toml::{Table, Value};

use super::{Config, Method, Preset};
use crate::error::{Error, Result};
use crate::limits::MAX_CONFIG_BYTES;
use crate::read::read_short;

impl Config {
    /// Reads a configuration file. Keys it leaves out have their defaults; unknown keys are refused. What the values
    /// mean together is not checked here but by [`Config::validate`], after flags were laid over.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn load(path: &Path) -> Result<Config> {
        Config::load_over(path, &Config::default())
    }

    /// Reads a configuration file as [`Config::load`] does, but keys it leaves out are as in `base`.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn load_over(path: &Path, base: &Config) -> Result<Config> {
        let text = read_short(path, MAX_CONFIG_BYTES).map_err(|source| {
            Error::config(format!("{}: cannot read this configuration file: {source}", path.display()))
        })?;
        Config::parse_over(&path.display().to_string(), &text, base)
    }

    /// Reads a configuration from TOML text; `name` says in messages where the text came from.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn parse(name: &str, text: &str) -> Result<Config> {
        toml::from_str(text)
            .map_err(|error| Error::config(format!("{name}: {}", error.to_string().trim_end())))
    }

    /// Reads a configuration as [`Config::parse`] does, but keys it leaves out are as in `base`.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn parse_over(name: &str, text: &str, base: &Config) -> Result<Config> {
        // What is wrong with the text is reported with its place in it.
        Config::parse(name, text)?;
        let wrong = |error: &dyn Display| Error::config(format!("{name}: {error}"));
        // As text and not as a table: a configuration is read and written in one way, which is much to compile.
        let base = toml::to_string(base).map_err(|error| wrong(&error))?;
        let mut whole: Table = base.parse().map_err(|error| wrong(&error))?;
        let written: Table = text.parse().map_err(|error| wrong(&error))?;
        lay_over(&mut whole, written.into_iter().map(|(key, value)| (canonical(key), value)).collect());
        let whole = toml::to_string(&whole).map_err(|error| wrong(&error))?;
        // A place in this text would be none in the file.
        toml::from_str(&whole).map_err(|error| wrong(&error.message()))
    }

    /// The configuration of the preset called `name`; see [`super::PRESETS`].
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn preset(name: &str) -> Result<Config> {
        let preset = Preset::find(name)?;
        Config::parse(preset.name, preset.source)
    }
}

/// The name of a table, of whichever name a method was called by.
fn canonical(key: String) -> String {
    let named = |method: &&Method| method.aliases().contains(&key.as_str());
    Method::ALL.iter().find(named).map_or(key, |method| method.name().to_owned())
}

/// Overwrites what is written, and only that.
fn lay_over(base: &mut Table, written: Table) {
    for (key, value) in written {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(of_base)), Value::Table(written)) => lay_over(of_base, written),
            (_, value) => drop(base.insert(key, value)),
        }
    }
}
