//! Names for the outputs of sources: relative, harmless, and unique.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};

/// The parts of a path that name something: no root, no `.`, no `..`.
pub(super) fn parts(path: &Path) -> Vec<String> {
    let name = |component| match component {
        Component::Normal(name) => Some(Path::new(name).to_string_lossy().into_owned()),
        _ => None,
    };
    path.components().filter_map(name).collect()
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
