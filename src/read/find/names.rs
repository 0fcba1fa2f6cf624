//! Names for the outputs of sources: relative, harmless, and unique.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};

use xxhash_rust::xxh3::xxh3_64;

/// Bytes of the longest name that a file system takes.
pub(super) const LONGEST_NAME: usize = 255;
/// Bytes of a name that was longer: it has room for what outputs put behind it.
const SHORTENED: usize = 200;
/// Bytes that all names of a file in an archive may have together.
const LONGEST_PATH: usize = 1024;
/// Bytes of the longest end of a name that says what is in a file.
const END: usize = 10;

/// The parts of a path that name something: no root, no `.`, no `..`. None is longer than a file system takes.
pub(super) fn parts(path: &Path) -> Vec<String> {
    let name = |component| match component {
        Component::Normal(name) => Some(shortened(&Path::new(name).to_string_lossy(), LONGEST_NAME)),
        _ => None,
    };
    path.components().filter_map(name).collect()
}

/// The same of a file in an archive, whose names keep to no file system: each has room for what outputs put behind it, and where
/// there are too many, one stands for all folders.
pub(super) fn member_parts(path: &str) -> Vec<String> {
    let mut parts: Vec<String> =
        parts(Path::new(path)).iter().map(|part| shortened(part, SHORTENED)).collect();
    if parts.iter().map(|part| part.len() + 1).sum::<usize>() > LONGEST_PATH
        && let Some(file) = parts.pop()
    {
        parts = vec![digest(&parts.join("/")), file];
    }
    parts
}

/// A name of at most so many bytes, or what it begins with, what tells it from others that begin so, and what it ends with.
pub(super) fn shortened(name: &str, most: usize) -> String {
    if name.len() <= most {
        return name.to_owned();
    }
    let mut stem = name;
    // Two ends: one may be that of a compression.
    for _ in 0..2 {
        let end = stem.rsplit_once('.').filter(|(_, end)| {
            (1..=END).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        stem = end.map_or(stem, |(stem, _)| stem);
    }
    let (digest, end) = (digest(name), &name[stem.len()..]);
    let mut cut = (SHORTENED - digest.len() - end.len() - 1).min(stem.len());
    while !stem.is_char_boundary(cut) {
        cut -= 1;
    }
    format!("{}-{digest}{end}", &stem[..cut])
}

fn digest(name: &str) -> String {
    format!("{:016x}", xxh3_64(name.as_bytes()))
}

/// What a source would like to be called.
pub(super) struct NameWish {
    /// The parts of its whole path.
    pub(super) parts: Vec<String>,
    /// How many of the last parts are its name, if no other source has the same.
    pub(super) keep: usize,
}

impl NameWish {
    fn name(&self) -> String {
        self.parts[self.parts.len().saturating_sub(self.keep.max(1))..].join("/")
    }
}

/// Names for files of several runs, given the path and the name of each in its run: that name, where no other file
/// has it.
pub fn names_apart(files: &[(&Path, &str)]) -> Vec<String> {
    let mut times: HashMap<&Path, usize> = HashMap::new();
    files.iter().for_each(|(path, _)| *times.entry(path).or_default() += 1);
    let wish = |(path, name): &(&Path, &str)| {
        let (whole, name) = (parts(path), parts(Path::new(name)));
        let keep = name.len();
        // Parents tell nothing apart where one path was read several times, and a name that got a number in its run is
        // not the end of its path.
        let parents = times[path] == 1 && whole.ends_with(&name);
        NameWish { parts: if parents { whole } else { name }, keep }
    };
    unique(files.iter().map(wish).collect())
}

/// One name for each wish. Those that clash get parent folders in front until they differ, and a number if they
/// never do. A name that is a folder of another name clashes with it.
pub(super) fn unique(mut wishes: Vec<NameWish>) -> Vec<String> {
    loop {
        let names: Vec<String> = wishes.iter().map(NameWish::name).collect();
        let clashing = clashes(&names);
        let mut grown = false;
        for &index in &clashing {
            let wish = &mut wishes[index];
            if wish.keep < wish.parts.len() {
                wish.keep += 1;
                grown = true;
            }
        }
        if !grown {
            return number(names, &clashing);
        }
    }
}

/// The indices of names that clash, in order.
fn clashes(names: &[String]) -> Vec<usize> {
    let mut count: HashMap<&str, usize> = HashMap::new();
    let mut folders: HashSet<&str> = HashSet::new();
    for name in names {
        *count.entry(name).or_default() += 1;
        folders.extend(name.match_indices('/').map(|(end, _)| &name[..end]));
    }
    let taken = |name: &str| count.get(name).copied().unwrap_or_default();
    let clash = |name: &str| {
        name.is_empty()
            || taken(name) > 1
            || folders.contains(name)
            || name.match_indices('/').any(|(end, _)| taken(&name[..end]) > 0)
    };
    (0..names.len()).filter(|&index| clash(&names[index])).collect()
}

/// Puts a number in front of the names that clash still.
fn number(mut names: Vec<String>, clashing: &[usize]) -> Vec<String> {
    // A first part that no name has, so that numbered names meet no others.
    let mut used: HashSet<String> =
        names.iter().map(|name| name.split('/').next().unwrap_or_default().to_owned()).collect();
    let mut next = 1u64;
    for &index in clashing {
        let mut prefix = next.to_string();
        while !used.insert(prefix.clone()) {
            next += 1;
            prefix = next.to_string();
        }
        let name = if names[index].is_empty() { "input" } else { &names[index] };
        names[index] = format!("{prefix}/{name}");
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(wishes: &[(&str, usize)]) -> Vec<String> {
        let wish = |&(path, keep): &(&str, usize)| NameWish { parts: parts(Path::new(path)), keep };
        unique(wishes.iter().map(wish).collect())
    }

    #[test]
    fn names_never_escape() {
        assert_eq!(parts(Path::new("/a/../../b/./c.txt")), ["a", "b", "c.txt"]);
        assert_eq!(
            names(&[("../../etc/passwd", 9), ("/", 1), ("..", 1)]),
            ["etc/passwd", "1/input", "2/input"]
        );
    }

    #[test]
    fn names_that_no_file_system_takes_are_shortened() {
        let long = |letter: &str, times: usize, end: &str| format!("{}{end}", letter.repeat(times));
        for name in [long("a", 255, ""), long("a", 249, ".jsonl"), long("\u{e9}", 125, ".json")] {
            assert_eq!(shortened(&name, LONGEST_NAME), name);
        }
        for (name, end) in [
            (long("a", 300, ".jsonl"), ".jsonl"),
            (long("a", 300, ".jsonl.gz"), ".jsonl.gz"),
            (long("\u{e9}", 128, ""), ""),
            (long("\u{4e2d}", 90, ".a b"), ""),
            (long("a.", 150, "csv"), ".a.csv"),
        ] {
            let (short, other) =
                (shortened(&name, LONGEST_NAME), shortened(&format!("b{name}"), LONGEST_NAME));
            assert!(short.len() <= SHORTENED && short.len() > SHORTENED - 4, "{short}");
            assert!(short.ends_with(end) && short != other, "{short}");
            assert!(name.starts_with(short.rsplit_once('-').expect("a digest").0), "{short}");
            assert_eq!(shortened(&short, LONGEST_NAME), short);
        }
        // What stands apart at the end alone stays apart.
        assert_ne!(
            shortened(&long("a", 300, "b.csv"), LONGEST_NAME),
            shortened(&long("a", 300, "c.csv"), LONGEST_NAME)
        );
        let deep = format!("{}b.jsonl", "folder/".repeat(1000));
        let [folders, file] = &member_parts(&deep)[..] else { panic!("a folder and a file") };
        assert_eq!((folders.len(), &**file), (16, "b.jsonl"));
        assert_eq!(member_parts("/a/../b/c.jsonl"), ["a", "b", "c.jsonl"]);
    }

    #[test]
    fn clashes_are_told_apart_by_parents() {
        assert_eq!(names(&[("/x/a.jsonl", 1), ("/x/b.jsonl", 1)]), ["a.jsonl", "b.jsonl"]);
        assert_eq!(names(&[("/x/a", 1), ("/y/a", 1), ("/y/b", 1)]), ["x/a", "y/a", "b"]);
        assert_eq!(names(&[("/p/x/a", 1), ("/q/x/a", 1)]), ["p/x/a", "q/x/a"]);
        assert_eq!(names(&[("/p/x/a", 1), ("/q/x", 1)]), ["a", "x"]);
    }

    #[test]
    fn a_name_is_no_folder_of_another() {
        assert_eq!(names(&[("/p/x", 1), ("/q/x/y", 2)]), ["p/x", "q/x/y"]);
    }

    #[test]
    fn files_of_several_runs_are_told_apart() {
        let apart = |files: &[(&str, &str)]| {
            let files: Vec<(&Path, &str)> =
                files.iter().map(|(path, name)| (Path::new(*path), *name)).collect();
            names_apart(&files)
        };
        assert_eq!(
            apart(&[("/x/a/b", "b"), ("/x/a/c", "a/c"), ("", "stdin.jsonl")]),
            ["b", "a/c", "stdin.jsonl"]
        );
        assert_eq!(apart(&[("/x/a", "a"), ("/y/a", "a"), ("/z/b", "1/b")]), ["x/a", "y/a", "1/b"]);
        assert_eq!(apart(&[("/x/a", "a"), ("/y/a", "a"), ("/x/a", "a")]), ["1/a", "y/a", "2/a"]);
        assert_eq!(apart(&[("", "stdin.jsonl"), ("", "stdin.jsonl")]), ["1/stdin.jsonl", "2/stdin.jsonl"]);
    }

    #[test]
    fn a_number_is_the_last_resort() {
        assert_eq!(names(&[("a", 1), ("a", 1), ("1/c", 2)]), ["2/a", "3/a", "1/c"]);
        assert_eq!(names(&[("x", 1), ("x/y", 2)]), ["1/x", "2/x/y"]);
    }
}
