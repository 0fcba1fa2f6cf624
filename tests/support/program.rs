//! Folders, and runs of the program in them. Nothing here knows what an answer should be.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::output::Output;

/// A temporary folder, removed at the end. The program runs in it, so inputs and outputs are named relative to it.
pub(crate) struct Dir(tempfile::TempDir);

impl Dir {
    pub(crate) fn new() -> Dir {
        Dir(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, making its folders.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Names directly in this folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Runs `alike dedup` in this folder with the arguments of `line`, split at spaces.
    pub(crate) fn dedup(&self, line: &str) -> Ran {
        self.alike(&format!("dedup {line}"), None)
    }

    /// Runs `alike` in this folder with the arguments of `line`, split at spaces, and `stdin` as standard input.
    pub(crate) fn alike(&self, line: &str, stdin: Option<&[u8]>) -> Ran {
        self.alike_with(line, stdin, &[])
    }

    /// The same with variables of the environment.
    pub(crate) fn alike_with(&self, line: &str, stdin: Option<&[u8]>, variables: &[(&str, String)]) -> Ran {
        let mut child = Command::new(env!("CARGO_BIN_EXE_alike"))
            .args(line.split_whitespace())
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path())
            .stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let feeder = stdin.map(|bytes| {
            let mut pipe = child.stdin.take().unwrap();
            let bytes = bytes.to_vec();
            // A program that refuses its arguments closes the pipe early, and that is its right.
            std::thread::spawn(move || drop(pipe.write_all(&bytes)))
        });
        let output = child.wait_with_output().unwrap();
        if let Some(feeder) = feeder {
            feeder.join().unwrap();
        }
        Ran {
            line: line.to_owned(),
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs `alike dedup LINE --out NAME`, which must succeed, and reads what it wrote.
    pub(crate) fn output(&self, line: &str, name: &str) -> Output {
        self.dedup(&format!("{line} --out {name}")).ok();
        Output::read(&self.join(name))
    }
}

/// How a run of the program ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) line: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The run must have succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> Ran {
        self.code(0)
    }

    /// The run must have ended with this exit code.
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "alike {}\n{}{}", self.line, self.stdout, self.stderr);
        self
    }

    /// Standard error must hold this, whatever the case.
    #[track_caller]
    pub(crate) fn says(self, part: &str) -> Ran {
        let found = self.stderr.to_lowercase().contains(&part.to_lowercase());
        assert!(found, "alike {}: expected {part:?} in\n{}", self.line, self.stderr);
        self
    }
}
