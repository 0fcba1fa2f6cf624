//! Folders of the system as storage. Tests put others in their places.

use std::path::Path;
use std::sync::Arc;

use super::{Local, Storage};
use crate::error::Result;

/// A folder, which is made if it is not there, durably.
///
/// # Errors
/// Those of [`Local::create`].
pub fn made_folder(path: &Path) -> Result<Arc<dyn Storage>> {
    #[cfg(test)]
    if let Some(place) = super::places::of(path) {
        return super::local::make_durably(path, &super::places::Holding(&*place)).map(|()| place.folder());
    }
    Ok(Arc::new(Local::create(path)?))
}

/// A folder, if it is there.
///
/// # Errors
/// Those of [`Local::open`].
pub fn found_folder(path: &Path) -> Result<Option<Arc<dyn Storage>>> {
    #[cfg(test)]
    if let Some(place) = super::places::of(path) {
        return Ok(place.is_there().then(|| place.folder()));
    }
    Ok(if path.is_dir() { Some(Arc::new(Local::open(path)?)) } else { None })
}
