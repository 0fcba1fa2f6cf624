//! A program without the feature `remote`: every URL is refused, with what to do.

use std::convert::Infallible;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::state::{Fetched, ListedObject, ObjectState, OutputObject, StopFlag};
use super::url::ObjectUrl;
use crate::error::{Error, Result};
use crate::progress::Progress;

/// Why nothing is read.
const ABSENT: &str =
    "this build reads no URLs: build alike with --features full, or copy what is there to a file first";

fn refused(url: &ObjectUrl) -> Error {
    Error::input(Path::new(&url.to_string()), ABSENT)
}

/// What reads an object: nothing.
#[derive(Debug)]
pub struct NoReader(Infallible);

impl NoReader {
    /// Refuses to.
    ///
    /// # Errors
    /// [`Error::Input`] within it.
    pub fn open(url: &ObjectUrl, _: &ObjectState) -> io::Result<NoReader> {
        Err(io::Error::other(refused(url)))
    }

    /// Cannot be called.
    pub fn expect(&mut self, _: Range<u64>) {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub fn read_at(&mut self, _: &mut [u8], _: u64) -> io::Result<usize> {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn again(&self, _: Range<u64>) -> NoReader {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn state(&self) -> &ObjectState {
        match self.0 {}
    }
}

/// Why nothing is written.
const NO_OUTPUT: &str =
    "this build writes to no URLs: build alike with --features full, or name a folder of this machine";

/// Refuses every URL.
///
/// # Errors
/// [`Error::Config`].
pub fn admit_output(url: &ObjectUrl) -> Result<()> {
    Err(Error::config(format!("--out {url}: {NO_OUTPUT}")))
}

/// What writes objects: nothing.
#[derive(Debug)]
pub struct NoUpload(Infallible);

impl NoUpload {
    /// Refuses to.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn send(url: &ObjectUrl, _: Vec<OutputObject>, _: &Arc<Progress>) -> Result<NoUpload> {
        admit_output(url).map(|()| unreachable!("every URL is refused"))
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub fn complete(self) -> Result<()> {
        match self.0 {}
    }
}

/// Does nothing.
pub fn configure(_: impl Iterator<Item = (String, String)>) {}

/// Refuses to.
///
/// # Errors
/// [`Error::Input`].
pub fn look(url: &ObjectUrl, _: &StopFlag) -> Result<Option<ObjectState>> {
    Err(refused(url))
}

/// Refuses to.
///
/// # Errors
/// [`Error::Input`].
pub fn list(url: &ObjectUrl) -> Result<Vec<ListedObject>> {
    Err(refused(url))
}

/// Those that are listed: none.
pub fn heads(listed: Vec<ListedObject>) -> impl Iterator<Item = ListedObject> {
    listed.into_iter()
}

/// Nothing.
pub fn traffic() -> Fetched {
    Fetched::default()
}
