//! All tests of the program as a whole.

/// Presets, configuration files, and the documents the command line gives of itself.
mod config;
