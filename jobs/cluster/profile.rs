//! Where the time of the workers went, told at the end.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use alike::error::Result;
use alike::progress::Progress;
use alike::progress::profile::{Profile, ProfileRow};

use crate::terminal::escape::sanitize;
use crate::terminal::new_file::NewFile;

/// Rows of a stage that take less than this part of all seconds are left to the file.
const LEAST: f64 = 0.001;

/// A profile of this process.
pub(crate) struct Profiled {
    profile: Arc<Profile>,
    /// The file for it; `None` is standard error.
    file: Option<NewFile>,
    command: &'static str,
    process: usize,
    json: bool,
}

impl Profiled {
    /// A profile for a file, if one is named; `several` says whether others write one, too.
    pub(crate) fn new(
        file: Option<&Path>,
        (command, process, several): (&'static str, usize, bool),
        json: bool,
    ) -> Result<Profiled> {
        let file = file.map(|file| match several {
            true => {
                let mut name = file.as_os_str().to_owned();
                name.push(format!(".{process}"));
                PathBuf::from(name)
            }
            false => file.to_path_buf(),
        });
        let file = NewFile::if_named("--profile", file.as_ref())?;
        Ok(Profiled { profile: Arc::default(), file, command, process, json })
    }

    /// Has the times of a run added.
    pub(crate) fn begin(&self, progress: &Progress) {
        progress.profile_in(Arc::clone(&self.profile));
    }

    /// Tells what was added.
    pub(crate) fn print(&self) -> Result<()> {
        let rows = self.profile.rows();
        let value = serde_json::json!({
            "event": "profile", "command": self.command, "process": self.process, "rows": rows,
        });
        if let Some(file) = &self.file {
            return file.write(&format!("{value:#}\n"));
        }
        let text = if self.json { format!("{value}\n") } else { table(&rows) };
        let mut stderr = io::stderr().lock();
        // Nobody listening is no failure.
        text.lines().for_each(|line| drop(writeln!(stderr, "{}", sanitize(line))));
        Ok(())
    }
}

/// The rows for people.
fn table(rows: &[ProfileRow]) -> String {
    let all: f64 = rows.iter().map(|row| row.seconds).sum();
    let mut text =
        format!("{:<8} {:<24} {:>9} {:>6} {:>12}\n", "STAGE", "OPERATOR", "SECONDS", "%", "ACTIVATIONS");
    for row in rows.iter().filter(|row| row.seconds >= all * LEAST) {
        let ProfileRow { stage, operator, seconds, activations } = row;
        let part = if all > 0.0 { 100.0 * seconds / all } else { 0.0 };
        let stage = stage.name();
        text += &format!("{stage:<8} {operator:<24} {seconds:>9.3} {part:>6.1} {activations:>12}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use alike::error::Error;
    use alike::progress::Stage;

    use super::*;

    #[test]
    fn people_see_what_takes_time() {
        let row = |operator: &str, seconds| ProfileRow {
            stage: Stage::Collide,
            operator: operator.to_owned(),
            seconds,
            activations: 12,
        };
        let told = table(&[row("Count", 7.5), row("Net", 0.000_1), row("Collide", 2.5)]);
        assert_eq!(
            told,
            "STAGE    OPERATOR                   SECONDS      %  ACTIVATIONS\n\
             collide  Count                        7.500   75.0           12\n\
             collide  Collide                      2.500   25.0           12\n"
        );
        assert_eq!(table(&[]).lines().count(), 1);
    }

    #[test]
    fn a_file_of_somebody_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("times");
        std::fs::write(&path, "mine").expect("written");
        let of = |several| Profiled::new(Some(&path), ("load", 2, several), false);
        assert!(matches!(of(false), Err(Error::Config(_))));
        let profiled = of(true).expect("another name");
        profiled.print().expect("written");
        let written = std::fs::read(folder.path().join("times.2")).expect("there");
        let value: serde_json::Value = serde_json::from_slice(&written).expect("JSON");
        assert_eq!((&value["process"], &value["command"]), (&2.into(), &"load".into()));
        assert_eq!(std::fs::read(&path).expect("there"), b"mine");
    }
}
