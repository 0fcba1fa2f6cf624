//! The lists that a load writes: what it refused, and what it left out.

use std::path::{Path, PathBuf};

use alike::error::{Error, Result};
use alike::output::{RejectedRow, Rows};
use alike::read::Rejected;

use crate::cli::collections::LoadArgs;
use crate::commands::collection::left_out::LeftOutFound;
use crate::terminal::new_file::NewFile;

/// New files for lists, as far as they were asked for.
pub(super) struct LoadLists {
    rejected: Option<(PathBuf, String)>,
    left_out: Option<(PathBuf, String)>,
}

impl LoadLists {
    /// Refuses files that are there already.
    pub(super) fn new(args: &LoadArgs) -> Result<LoadLists> {
        let of = |flag: &'static str, path: &Option<PathBuf>| {
            path.as_deref().map(|path| new_file(flag, path)).transpose()
        };
        let rejected = of("--rejected", &args.rejected)?;
        let left_out = of("--left-out", &args.left_out)?;
        if rejected.is_some() && rejected == left_out {
            return Err(Error::config("--rejected and --left-out name the same file; name two"));
        }
        Ok(LoadLists { rejected, left_out })
    }

    /// Writes them.
    pub(super) fn write(&self, rejected: &[Rejected], left_out: &LeftOutFound) -> Result<()> {
        if let Some((folder, name)) = &self.rejected {
            let mut rows = Rows::create(folder, name)?;
            rejected.iter().try_for_each(|rejected| rows.write(&RejectedRow::of(rejected)))?;
            rows.finish()?;
        }
        if let Some((folder, name)) = &self.left_out {
            left_out.write(&folder.join(name))?;
        }
        Ok(())
    }
}

/// The folder and name of a file that is to be made. Two spellings of a folder give one.
fn new_file(flag: &'static str, path: &Path) -> Result<(PathBuf, String)> {
    NewFile::new(flag, path)?;
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| Error::config(format!("{flag} {}: name it in UTF-8", path.display())))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(|e| Error::io(folder, "find", e))?;
    Ok((folder, name.to_owned()))
}
