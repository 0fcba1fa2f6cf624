//! The files that a pattern matches. Names count as they are shown, so those that are not UTF-8 are matched, too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern, PatternError};
use walkdir::{DirEntry, WalkDir};

/// What a pattern leads to.
#[derive(Debug, Default)]
pub(super) struct PatternMatches {
    /// Files and folders that it matches, in the order of paths.
    pub(super) paths: Vec<PathBuf>,
    /// Folders on the way that cannot be read, and why.
    pub(super) unreadable: Vec<(PathBuf, io::Error)>,
}

/// Finds what a pattern matches. A name that begins with a dot is matched only where the pattern begins so, too.
///
/// # Errors
/// If that is no pattern.
pub(super) fn matches_of(pattern: &str) -> Result<PatternMatches, PatternError> {
    Pattern::new(pattern)?;
    let mut found = PatternMatches::default();
    let root = if pattern.starts_with('/') { "/" } else { "" };
    found.paths.push(PathBuf::from(root));
    let components: Vec<&str> = pattern.split('/').filter(|component| !component.is_empty()).collect();
    for (at, component) in components.iter().enumerate() {
        if *component == "**" && components.get(at + 1) == Some(component) {
            continue;
        }
        let folders = std::mem::take(&mut found.paths);
        if *component == "**" {
            // At the end all that is below a folder is meant, its own files, too: who walks it has them.
            folders.iter().for_each(|folder| found.folders_below(folder));
        } else if component.contains(['*', '?', '[']) {
            let component = Pattern::new(component)?;
            folders.iter().for_each(|folder| found.within(folder, &component));
        } else {
            let named = folders.iter().map(|folder| folder.join(component));
            found.paths.extend(named.filter(|path| path.symlink_metadata().is_ok()));
        }
        // Folders are reached on several ways where one part of a pattern stands for several names.
        found.paths.sort_unstable();
        found.paths.dedup();
    }
    if pattern.ends_with('/') {
        found.paths.retain(|path| path.is_dir());
    }
    Ok(found)
}

/// A folder as it is opened: without a name it is the current one.
fn opened(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// A path that was found below a folder as it is opened, called by the folder's own name.
fn below(folder: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(opened(folder)).map_or_else(|_| path.to_path_buf(), |inside| folder.join(inside))
}

impl PatternMatches {
    /// Takes what is in a folder and has a name that matches.
    fn within(&mut self, folder: &Path, component: &Pattern) {
        if !opened(folder).is_dir() {
            return;
        }
        let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
        let names = fs::read_dir(opened(folder))
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>());
        match names {
            Ok(names) => {
                let matching =
                    names.iter().filter(|name| component.matches_with(&name.to_string_lossy(), options));
                self.paths.extend(matching.map(|name| folder.join(name)));
            }
            Err(error) => self.refuse(opened(folder), error),
        }
    }

    /// Takes a folder and those below it that are not hidden.
    fn folders_below(&mut self, folder: &Path) {
        let top = opened(folder);
        if !top.is_dir() {
            return;
        }
        let visible =
            |entry: &DirEntry| entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".");
        for entry in WalkDir::new(top).follow_links(true).into_iter().filter_entry(visible) {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {
                    self.paths.push(below(folder, entry.path()));
                }
                Ok(_) => {}
                Err(error) => {
                    // A link to a folder around it, or to nothing, is no folder to look into.
                    let path = error.path().filter(|path| path.is_dir()).map(|path| below(folder, path));
                    if let (Some(path), Some(error)) = (path, error.into_io_error()) {
                        self.refuse(&path, error);
                    }
                }
            }
        }
    }

    /// Notes once that a folder cannot be read.
    fn refuse(&mut self, folder: &Path, error: io::Error) {
        if self.unreadable.iter().all(|(known, _)| known != folder) {
            self.unreadable.push((folder.to_path_buf(), error));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use tempfile::TempDir;

    use super::*;

    fn tree(files: &[&[u8]]) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = folder.path().join(OsStr::from_bytes(file));
            fs::create_dir_all(path.parent().expect("a parent")).expect("created");
            fs::write(&path, "text").expect("written");
        }
        folder
    }

    /// What a pattern below a folder matches, by paths in it.
    fn matched(folder: &TempDir, pattern: &str) -> Vec<PathBuf> {
        let found =
            matches_of(&format!("{}/{pattern}", folder.path().to_str().expect("UTF-8"))).expect("a pattern");
        assert!(found.unreadable.is_empty(), "{:?}", found.unreadable);
        let inside = |path: &PathBuf| path.strip_prefix(folder.path()).expect("below it").to_path_buf();
        found.paths.iter().map(inside).collect()
    }

    #[test]
    fn names_that_are_not_utf_8_are_matched_as_they_are_shown() {
        let folder = tree(&[b"b.jsonl", b"caf\xe9.jsonl", b"d\xe9/b.jsonl", b".h\xe9.jsonl"]);
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        for (pattern, expected) in [
            ("b*", &[&b"b.jsonl"[..]][..]),
            ("*.jsonl", &[b"b.jsonl", b"caf\xe9.jsonl"]),
            ("caf?.jsonl", &[b"caf\xe9.jsonl"]),
            ("**/b.jsonl", &[b"b.jsonl", b"d\xe9/b.jsonl"]),
            ("*/b.jsonl", &[b"d\xe9/b.jsonl"]),
            ("d*/", &[b"d\xe9"]),
            (".h*", &[b".h\xe9.jsonl"]),
        ] {
            let expected: Vec<PathBuf> = expected.iter().map(|name| path(name)).collect();
            assert_eq!(matched(&folder, pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn other_names_are_matched_as_the_crate_matches_them() {
        let folder = tree(&[
            b"a.txt",
            b"b.txt",
            b"[c].txt",
            b".h.txt",
            b"x/a.txt",
            b"x/y/a.txt",
            b"x/y/b.md",
            b"x/.git/a.txt",
            b"z/y/x/a.txt",
        ]);
        std::os::unix::fs::symlink("nowhere", folder.path().join("x/broken.txt")).expect("linked");
        std::os::unix::fs::symlink("x", folder.path().join("link")).expect("linked");
        let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
        for pattern in [
            "*",
            "*.txt",
            "[ab].txt",
            "[!a].txt",
            "[[]c].txt",
            "?.txt",
            "**",
            "**/*",
            "**/a.txt",
            "**/**/a.txt",
            "**/**",
            "x/**",
            "x/**/*.txt",
            "*/y/*",
            "*/a.txt",
            "x/*.txt",
            "x/y/../*",
            "./*/*",
            "*/",
            "x/*/",
            "**/y/**",
            "x//y//*",
            ".git/*",
            "x/.git/*",
            "a.txt/*",
            "none/*",
            "link/**/a*",
        ] {
            let whole = format!("{}/{pattern}", folder.path().display());
            let of_crate = |pattern: &str| {
                let found = glob::glob_with(pattern, options).expect("a pattern");
                found.map(|path| path.expect("read")).collect::<Vec<PathBuf>>()
            };
            let mut expected = of_crate(&whole);
            if let Some(above) = whole.strip_suffix("/**") {
                // Of the crate a last `**` stands for the folders below only.
                expected.extend(of_crate(above.strip_suffix("/**").unwrap_or(above)));
            }
            expected.sort();
            expected.dedup();
            let found = matches_of(&whole).expect("a pattern").paths;
            assert_eq!(found, expected, "{pattern}");
        }
        for none in ["[", "a**", "***", "x/[y/z]"] {
            assert!(matches_of(none).is_err(), "{none}");
        }
    }

    #[test]
    fn what_is_hidden_is_matched_by_a_dot_alone() {
        let folder = tree(&[b".a.txt", b"x/.b/c.txt", b"x/d.txt"]);
        let all = |pattern: &str| matched(&folder, pattern);
        assert_eq!(all(".*"), [Path::new(".a.txt")]);
        assert_eq!(all("x/.*/*"), [Path::new("x/.b/c.txt")]);
        assert_eq!((all("?a*"), all("[.]a*"), all("**/c.txt")), (vec![], vec![], vec![]));
        std::os::unix::fs::symlink("..", folder.path().join("x/up")).expect("linked");
        assert_eq!(all("**/d.txt"), [Path::new("x/d.txt")]);
    }
}
