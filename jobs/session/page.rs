//! The page about a run: where it is written, and what it says.

use std::path::{Path, PathBuf};

use alike::error::{Error, Result};
use alike::report::{ReportFile, RunReport};

/// A page that is to be written: beside the output, or in it.
pub(crate) enum PagePlace {
    /// It is open.
    Beside(ReportFile),
    /// In the folder of the output, which is not there yet: the name in it.
    Within(PathBuf),
}

impl PagePlace {
    /// The place of a page; `out` is the folder that the run will write.
    ///
    /// # Errors
    /// [`Error::Config`] of a name that the run may need itself, or without a folder; [`Error::Io`] if no file can be made there.
    pub(crate) fn new(page: Option<&Path>, out: Option<&Path>) -> Result<Option<PagePlace>> {
        let Some(page) = page else { return Ok(None) };
        let Some(within) = out.and_then(|out| page.strip_prefix(out).ok()) else {
            return ReportFile::create(page).map(PagePlace::Beside).map(Some);
        };
        if within.components().count() != 1 || within.extension().is_none_or(|end| end != "html") {
            return Err(Error::config(format!(
                "--report {}: in the folder of --out a report is a file whose name ends with .html, like {}",
                page.display(),
                out.unwrap_or(page).join("report.html").display()
            )));
        }
        Ok(Some(PagePlace::Within(within.to_path_buf())))
    }

    /// Writes the page; `folder` is the one that becomes the output.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn write(self, report: &RunReport, folder: &Path) -> Result<()> {
        match self {
            PagePlace::Beside(file) => file.finish(report),
            PagePlace::Within(name) => ReportFile::create(&folder.join(name))?.finish(report),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_stand_in_the_output() {
        let place = |page: &str| PagePlace::new(Some(Path::new(page)), Some(Path::new("no/such/out")));
        assert!(
            matches!(place("no/such/out/look.html"), Ok(Some(PagePlace::Within(name))) if name == Path::new("look.html"))
        );
        for page in ["no/such/out/kept", "no/such/out/summary.json", "no/such/out/kept/a.html", "no/such/out"]
        {
            assert!(matches!(place(page), Err(Error::Config(_))), "{page}");
        }
        assert!(matches!(place("no/such/folder/look.html"), Err(Error::Config(_))));
        assert!(matches!(PagePlace::new(None, None), Ok(None)));
    }
}
