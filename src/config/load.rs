//! From TOML to a [`Config`]: every message names the file and, where there is one, the line.

use std::fs;
use std::path::Path;

use super::{Config, Preset};
use crate::error::{Error, Result};

impl Config {
    /// Reads a configuration file. Keys it leaves out have their defaults; unknown keys are refused. What the values
    /// mean together is not checked here but by [`Config::validate`], after flags were laid over.
    pub fn load(path: &Path) -> Result<Config> {
        let text = fs::read_to_string(path).map_err(|source| {
            Error::config(format!("{}: cannot read this configuration file: {source}", path.display()))
        })?;
        Config::parse(&path.display().to_string(), &text)
    }

    /// Reads a configuration from TOML text; `name` says in messages where the text came from.
    pub fn parse(name: &str, text: &str) -> Result<Config> {
        toml::from_str(text)
            .map_err(|error| Error::config(format!("{name}: {}", error.to_string().trim_end())))
    }

    /// The configuration of the preset called `name`; see [`super::PRESETS`].
    pub fn preset(name: &str) -> Result<Config> {
        let preset = Preset::find(name)?;
        Config::parse(preset.name, preset.source)
    }
}
