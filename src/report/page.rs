//! The page: its frame, its style, and the parts in their order.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use memchr::memmem;

use super::facts::RunReport;
use super::sections;
use crate::error::{Error, Result};
use crate::printable::printable;
use crate::scratch::Scratch;

/// How names of folders begin that a page is in before it is whole.
const UNFINISHED: &str = ".report-";
/// As much of a report as has its policy.
const HEAD: u64 = 1 << 10;
/// Nothing on the page may fetch or run anything.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

impl RunReport {
    /// The page, with nothing in it that a browser would have to fetch or run.
    pub fn html(&self) -> String {
        let parts: Vec<(&str, &str, Markup)> =
            sections::all(self).into_iter().filter_map(|(id, name, part)| Some((id, name, part?))).collect();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { "Near-duplicates: " (printable(&self.subject)) }
                    style { (PreEscaped(include_str!("style.css"))) }
                }
                body {
                    a class="skip" href="#main" { "Skip to the report" }
                    header {
                        p class="of" { "Near-duplicates of" }
                        h1 { bdi { (printable(&self.subject)) } }
                        nav aria-label="Parts" {
                            ul { @for (id, name, _) in &parts { li { a href={ "#" (id) } { (name) } } } }
                        }
                    }
                    main id="main" {
                        @for (id, name, part) in &parts {
                            section aria-labelledby=(id) { h2 id=(id) { (name) } (part) }
                        }
                    }
                    footer { p { "Written by alike " (self.version) "." } }
                }
            }
        };
        page.into_string()
    }
}

/// A report on its way to a file: opened before the work that it is about, so that a name that cannot be written to is told
/// at once. Dropped before [`ReportFile::finish`] it leaves nothing.
#[derive(Debug)]
pub struct ReportFile {
    path: PathBuf,
    scratch: Scratch,
}

impl ReportFile {
    /// A file that will be at `path`. A report that is there already stays until then.
    ///
    /// # Errors
    /// [`Error::Config`] if something else is there, or no folder; [`Error::Io`] if no file can be made there.
    pub fn create(path: &Path) -> Result<ReportFile> {
        let failed = |e| Error::io(path, "create the report", e);
        if path.is_dir() {
            return Err(failed(ErrorKind::IsADirectory.into()));
        }
        if let Some(what) = in_the_way(path).map_err(failed)? {
            return Err(Error::Config(format!("{}: {what}; give the report another name", path.display())));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            let (path, folder) = (path.display(), folder.display());
            return Err(Error::Config(format!("{path}: there is no folder {folder}; make it first")));
        }
        // The name of the temporary folder is nothing that a user knows.
        let scratch = Scratch::within(folder, UNFINISHED).map_err(|e| failed(e.kind().into()))?;
        Ok(ReportFile { path: path.to_path_buf(), scratch })
    }

    /// Writes the page and gives it its name: whoever looks finds a whole page, or what was there before.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(self, report: &RunReport) -> Result<()> {
        let failed = |e| Error::io(&self.path, "write the report", e);
        let page = self.scratch.path().join("page");
        fs::write(&page, report.html()).map_err(failed)?;
        fs::rename(&page, &self.path).map_err(failed)
    }
}

/// What is at `path` that a report does not replace: whatever is no report, and not empty.
fn in_the_way(path: &Path) -> io::Result<Option<&'static str>> {
    let data = match path.symlink_metadata() {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        data => data?,
    };
    if data.is_symlink() {
        return Ok(Some("there is a link already, which would be replaced"));
    }
    if !data.is_file() {
        return Ok(Some("there is something already that is no file"));
    }
    let mut head = Vec::new();
    fs::File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    let is_report = head.is_empty() || memmem::find(&head, POLICY.as_bytes()).is_some();
    Ok((!is_report).then_some("there is a file already, and it is no report"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reports_are_replaced() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("look.html");
        let create = || ReportFile::create(&path).map(drop);
        for (content, replaced) in [("", true), ("{\"text\":\"a\"}", false), ("<!DOCTYPE html><html>", false)]
        {
            fs::write(&path, content).expect("written");
            assert_eq!(create().is_ok(), replaced, "{content}");
            assert_eq!(fs::read_to_string(&path).expect("as it was"), content);
        }
        fs::write(&path, format!("<!DOCTYPE html><meta content=\"{POLICY}\">")).expect("written");
        assert!(create().is_ok());
        #[cfg(unix)]
        {
            fs::remove_file(&path).expect("removed");
            std::os::unix::fs::symlink("/dev/null", &path).expect("a link");
            assert!(create().is_err());
        }
    }

    #[test]
    fn what_a_killed_process_left_goes_with_the_next_page() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("look.html");
        let count = || fs::read_dir(root.path()).expect("a folder").count();
        // As if the process had been killed before its folder had a lock.
        fs::create_dir(root.path().join(".report-abcdefgh")).expect("a folder");
        let file = ReportFile::create(&path).expect("a file");
        assert_eq!(count(), 1);
        drop(file);
        assert_eq!(count(), 0);
    }
}
