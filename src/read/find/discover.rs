//! Finding the input: arguments to sources.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glob::Pattern;
use walkdir::{DirEntry, WalkDir};

use super::gathering::{Discovery, FoundFile, Gathering, NO_DOCUMENTS, file_is_damaged, note_links};
use super::names::NameWish;
use super::objects::{Reached, reach};
use super::pattern::matches_of;
use super::recognise::{Recognised, recognise};
use super::spool::spool;
use crate::error::{Error, Result};
use crate::printable::counted;
use crate::read::format::FormatHint;
use crate::read::head::{FoundBy, is_maildir};
use crate::remote::{ListedObject, ObjectSpool, ObjectUrl, heads};

/// Why a folder is skipped that [`is_result`].
const RESULT: &str = "the result of an earlier run";

/// Whether a folder is the result of an earlier run: what was kept and removed then is no input now.
fn is_result(folder: &Path) -> bool {
    let holds = |name: &str| folder.join(name).exists();
    let is_deduplicated = || holds("summary.json") && holds("duplicates.jsonl");
    let is_decontaminated = || holds("benchmarks.json") && holds("contaminated.jsonl");
    holds("kept") && (is_deduplicated() || is_decontaminated())
}

/// Whether it is one of the folders of mail that a Maildir has under hidden names.
fn is_folder_of_maildir(folder: &Path) -> bool {
    is_maildir(folder) && folder.parent().is_some_and(is_maildir)
}

/// Whether it is the folder of a Maildir in which messages stand that are not all there yet.
fn is_of_deliveries(folder: &Path) -> bool {
    folder.ends_with("tmp") && folder.parent().is_some_and(is_maildir)
}

/// Finds the files that `inputs` stand for, in the order of the arguments. An argument is a file, a folder (walked
/// in the order of paths, without what is hidden), a pattern (unless a file has that very name), or `-` for standard
/// input, which is copied to the folder `spool`. A file reached twice counts where it was reached first.
///
/// An argument that leads to nothing is [`Error::Input`]; so is a named file that holds no documents, and input that
/// is unreadable altogether. Single files that cannot be read are listed.
///
/// # Errors
/// [`Error::Input`] as above, and [`Error::Limit`].
pub fn discover(inputs: &[String], spool: &Path) -> Result<Discovery> {
    discover_as(inputs, spool, FormatHint::default())
}

/// The same, where something is known of the inputs beside their names and contents.
///
/// # Errors
/// Those of [`discover`].
pub fn discover_as(inputs: &[String], spool: &Path, hint: FormatHint) -> Result<Discovery> {
    let mut search = Search { spool, object_spool: None, gathering: Gathering::new(hint, spool) };
    for input in inputs {
        search.argument(input)?;
        search.gathering.end_of_argument();
    }
    let found = search.gathering.named();
    if !found.sources.is_empty() {
        return Ok(found);
    }
    Err(match (found.unreadable.first(), found.skipped.first()) {
        (Some((path, why)), _) => {
            Error::input(path, format!("cannot be read ({why}), and there is no other input"))
        }
        (None, Some((path, why))) => Error::input(path, format!("{why}; and there is no other input")),
        (None, None) => {
            Error::input(Path::new("input"), "nothing to read; name a file, a folder, a pattern or -")
        }
    })
}

struct Search<'a> {
    spool: &'a Path,
    /// Where what is fetched is kept, once something is.
    object_spool: Option<Arc<ObjectSpool>>,
    gathering: Gathering,
}

impl Search<'_> {
    fn argument(&mut self, input: &str) -> Result<()> {
        let path = Path::new(input);
        if input == "-" {
            return self.standard_input();
        }
        if let Some(url) = ObjectUrl::of(path) {
            return self.objects(&url);
        }
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.folder(path),
            Ok(_) => self.named(path),
            Err(_) if fs::symlink_metadata(path).is_err() && input.contains(['*', '?', '[']) => {
                self.pattern(input)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Error::input(
                path,
                match input.contains("://") {
                    true => {
                        "no such file or folder, and no URL that is read: these begin with s3://, gs://, az://, https:// or hf://"
                    }
                    false if path.is_symlink() => {
                        "a link to what is not there; mend it, or name the file itself"
                    }
                    false => "no such file or folder; check the name",
                },
            )),
            Err(error) => {
                Err(Error::input(path, format!("cannot be read ({error}); mend it, or leave it out")))
            }
        }
    }

    fn standard_input(&mut self) -> Result<()> {
        if self.gathering.seen.insert(PathBuf::from("-")) {
            let source = spool(&mut io::stdin().lock(), self.spool, self.gathering.hint)?;
            // Where the spool lies is nobody's business, so no parent of it ever shows in a name.
            let parts = vec!["stdin".to_owned(), source.name.clone()];
            self.gathering.add(source, NameWish { parts, keep: 1 })?;
        }
        Ok(())
    }

    /// The objects that a URL leads to.
    fn objects(&mut self, url: &ObjectUrl) -> Result<()> {
        let Reached { objects, results } = reach(url)?;
        let path = PathBuf::from(url.to_string());
        let before = self.gathering.unusable();
        let (objects, mut others): (Vec<ListedObject>, Vec<_>) =
            objects.into_iter().map(|(object, found, wish)| (object, (found, wish))).unzip();
        let (mut useful, mut one) = (0, objects.len() == 1);
        others.reverse();
        for object in heads(self.spooled(objects)) {
            let Some((found, wish)) = others.pop() else { break };
            one &= found == FoundBy::Named;
            useful += usize::from(self.object(object, found, wish)?);
        }
        self.gathering
            .found
            .skipped
            .extend(results.into_iter().map(|result| (result.into(), RESULT.to_owned())));
        if one {
            return self.gathering.refuse_named(&path, before);
        }
        match self.gathering.found.skipped.get(before.1) {
            Some((_, why)) if useful == 0 => {
                Err(Error::input(&path, format!("no documents there; the first object is skipped: {why}")))
            }
            _ => Ok(()),
        }
    }

    /// The same objects; what is fetched of them is kept with the copy of standard input.
    fn spooled(&mut self, mut objects: Vec<ListedObject>) -> Vec<ListedObject> {
        if self.object_spool.is_none() && !objects.is_empty() {
            // Without it all that is read again is fetched again.
            self.object_spool = ObjectSpool::new(self.spool).ok().map(Arc::new);
        }
        if let Some(spool) = &self.object_spool {
            objects.iter_mut().for_each(|object| object.state.spooled_in(spool));
        }
        objects
    }

    /// Takes one object, as [`Search::file`] does a file.
    fn object(&mut self, object: ListedObject, found: FoundBy, wish: NameWish) -> Result<bool> {
        let path = PathBuf::from(object.url.as_str());
        let shown = || PathBuf::from(object.url.to_string());
        if self.gathering.seen.contains(&path) {
            return Ok(true);
        }
        match recognise(&path, Some(object.state), found, self.gathering.hint) {
            Ok(Recognised::Source { source, differs }) => {
                if differs {
                    self.gathering.found.otherwise.push(shown());
                }
                self.gathering.seen.insert(path);
                self.gathering.add(source, wish)?;
                return Ok(true);
            }
            Ok(Recognised::Nothing) => self.gathering.found.skipped.push((shown(), NO_DOCUMENTS.to_owned())),
            Ok(Recognised::Foreign(foreign)) => {
                self.gathering.found.skipped.push((shown(), foreign.reason()));
            }
            Err(error) if file_is_damaged(&error) => {
                self.gathering.unreadable(shown(), &error);
                return Ok(true);
            }
            // One that may not be read is told as a file is; what ends for a while ends the run.
            Err(error) => match Error::io(&path, "read", error) {
                Error::Input { reason, .. } => {
                    self.gathering.found.unreadable.push((shown(), reason));
                    return Ok(true);
                }
                error => return Err(error),
            },
        }
        Ok(false)
    }

    /// A file that was named: it must be one that can be used.
    fn named(&mut self, path: &Path) -> Result<()> {
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(Error::input(
                path,
                "not a regular file; pipe it to standard input and name - instead",
            ));
        }
        let before = self.gathering.unusable();
        self.gathering.files(vec![FoundFile::new(path, FoundBy::Named, 1)])?;
        self.gathering.refuse_named(path, before)
    }

    /// The files that a pattern matches; a folder among them is walked.
    fn pattern(&mut self, input: &str) -> Result<()> {
        let path = Path::new(input);
        let matches = matches_of(input).map_err(|error| {
            let literal = Pattern::escape(input);
            Error::input(
                path,
                format!("no such file, and no pattern ({error}); a name is written {literal} in one"),
            )
        })?;
        let any = !matches.paths.is_empty() || !matches.unreadable.is_empty();
        for (path, error) in matches.unreadable {
            self.gathering.unreadable(path, &error);
        }
        let mut files = Vec::new();
        for path in &matches.paths {
            if path.is_dir() {
                self.gathering.files(std::mem::take(&mut files))?;
                self.walk(path)?;
            } else if !path.exists() || path.is_file() {
                files.push(FoundFile::new(path, FoundBy::Named, 1));
            }
        }
        self.gathering.files(files)?;
        if any {
            Ok(())
        } else {
            Err(Error::input(path, "the pattern matches nothing; check it, and quote it in a shell"))
        }
    }

    fn folder(&mut self, path: &Path) -> Result<()> {
        let skipped = self.gathering.found.skipped.len();
        if self.walk(path)? > 0 {
            return Ok(());
        }
        let skipped = &self.gathering.found.skipped[skipped..];
        let foreign = skipped.iter().find(|(_, why)| why != NO_DOCUMENTS);
        let reason = match (skipped.len() as u64, foreign) {
            (0, _) => "the folder holds no files; check the name".to_owned(),
            (files, Some((file, why))) => {
                let name = file.strip_prefix(path).unwrap_or(file).display();
                format!("no documents in {} of the folder; {name} is {why}", counted(files, "file"))
            }
            (files, None) => format!(
                "no documents in {} of the folder: none is of a format that is read, or is called a text (.txt, .md)",
                counted(files, "file")
            ),
        };
        Err(Error::input(path, reason))
    }

    /// Takes all files below a folder; how many of them hold documents or cannot be read.
    fn walk(&mut self, folder: &Path) -> Result<usize> {
        let visible = |entry: &DirEntry| {
            let is_hidden = entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".");
            let is_seen = !is_hidden || is_folder_of_maildir(entry.path());
            is_seen && (entry.depth() == 0 || !is_of_deliveries(entry.path()))
        };
        let (mut results, mut files, mut last) = (Vec::new(), Vec::new(), None);
        let mut useful = 0;
        for entry in
            WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter().filter_entry(|entry| {
                let is_below = entry.depth() > 0 && entry.file_type().is_dir();
                let result = is_below && is_result(entry.path());
                if result {
                    results.push((entry.path().to_path_buf(), RESULT.to_owned()));
                }
                visible(entry) && !result
            })
        {
            match entry {
                Ok(entry) if entry.file_type().is_file() => {
                    files.push(FoundFile::walked(&entry, &mut last));
                }
                Ok(_) => {}
                // A link to a folder around it: what is in there is reached without it.
                Err(error) if error.loop_ancestor().is_some() => {}
                Err(error) => {
                    useful += 1;
                    let path = error.path().unwrap_or(folder).to_path_buf();
                    match error.io_error() {
                        Some(error) => self.gathering.unreadable(path, error),
                        None => self.gathering.found.unreadable.push((path, error.to_string())),
                    }
                }
            }
        }
        note_links(folder, &mut files);
        useful += self.gathering.files(files)?;
        self.gathering.found.skipped.append(&mut results);
        Ok(useful)
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn tree(files: &[&str]) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("created");
            fs::write(&path, if file.ends_with(".bin") { &b"\0\xff"[..] } else { b"{\"text\": \"a\"}\n" })
                .expect("written");
        }
        folder
    }

    fn find(folder: &TempDir, inputs: &[&str]) -> Result<Discovery> {
        let inputs: Vec<String> = inputs
            .iter()
            .map(|input| folder.path().join(input).to_str().expect("UTF-8").to_owned())
            .collect();
        discover(&inputs, &folder.path().join(".spool"))
    }

    fn names(folder: &TempDir, inputs: &[&str]) -> Vec<String> {
        let found = find(folder, inputs).expect("found");
        found.sources.into_iter().map(|source| source.name).collect()
    }

    #[test]
    fn folders_are_walked_in_order_without_what_is_hidden() {
        let folder = tree(&[
            "d/b.jsonl",
            "d/a/z.txt",
            "d/a.txt",
            "d/.git/x.jsonl",
            "d/.h.jsonl",
            "d/n.bin",
            "d/a/.y.txt",
        ]);
        let found = find(&folder, &["d"]).expect("found");
        let names: Vec<_> = found.sources.iter().map(|source| source.name.as_str()).collect();
        assert_eq!(names, ["a/z.txt", "a.txt", "b.jsonl"]);
        assert_eq!(found.skipped, [(folder.path().join("d/n.bin"), NO_DOCUMENTS.to_owned())]);
        assert!(found.sources.is_sorted_by_key(|source| source.path.clone()));
    }

    #[test]
    fn folders_of_a_maildir_have_hidden_names() {
        let mails = ["cur/1", "new/2", "tmp/3"].map(|mail| [format!("m/{mail}"), format!("m/.Sent/{mail}")]);
        let hidden = ["m/.git/cur/x.jsonl", "d/.Sent/cur/y", "d/.Sent/new/y", "d/.Sent/tmp/y", "d/z.jsonl"];
        let all: Vec<&str> = mails.iter().flatten().map(String::as_str).chain(hidden).collect();
        let found = names(&tree(&all), &["m", "d"]);
        let sent = |name: &&String| name.contains(".Sent/");
        assert_eq!((found.iter().filter(sent).count(), found.len()), (2, 5), "{found:?}");
    }

    #[test]
    fn arguments_keep_their_order_and_files_count_once() {
        let folder = tree(&["x/a.jsonl", "x/b.jsonl", "y/a.jsonl"]);
        assert_eq!(names(&folder, &["x/b.jsonl", "x", "y"]), ["b.jsonl", "x/a.jsonl", "y/a.jsonl"]);
        assert_eq!(names(&folder, &["x/../x/b.jsonl", "x/b.jsonl", "x/b*"]), ["b.jsonl"]);
        let found = find(&folder, &["x/b.jsonl", "x", "x/a.jsonl", "y"]).expect("found");
        assert_eq!(found.found_by, [1, 2, 2, 3]);
        std::os::unix::fs::symlink(folder.path().join("x"), folder.path().join("y/loop")).expect("linked");
        std::os::unix::fs::symlink(folder.path().join("y"), folder.path().join("x/back")).expect("linked");
        assert_eq!(names(&folder, &["y"]), ["a.jsonl", "loop/a.jsonl", "loop/b.jsonl"]);
    }

    #[test]
    fn files_of_a_folder_have_their_own_names_and_not_those_of_links() {
        let folder = tree(&["d/part-1.jsonl", "d/part-2.jsonl", "d/z/a.jsonl", "o/b.jsonl"]);
        let link = |from: &str, to: &str| {
            std::os::unix::fs::symlink(folder.path().join(to), folder.path().join(from)).expect("linked");
        };
        link("d/latest.jsonl", "d/part-2.jsonl");
        link("d/b", "d/z");
        link("d/c.jsonl", "o/b.jsonl");
        link("d/e.jsonl", "o/b.jsonl");
        assert_eq!(names(&folder, &["d"]), ["c.jsonl", "part-1.jsonl", "part-2.jsonl", "z/a.jsonl"]);
        // A name that says nothing of what it is, and a link that does.
        let folder = tree(&["m/Makefile", "m/b.jsonl"]);
        fs::write(folder.path().join("m/Makefile"), "plain words").expect("written");
        std::os::unix::fs::symlink("Makefile", folder.path().join("m/notes.txt")).expect("linked");
        assert_eq!(names(&folder, &["m"]), ["b.jsonl", "notes.txt"]);
    }

    #[test]
    fn a_literal_name_wins_over_a_pattern() {
        let folder = tree(&["[ab].jsonl", "a.jsonl", "b.jsonl", ".c.jsonl", "d.bin", "sub/e.jsonl"]);
        assert_eq!(names(&folder, &["[ab].jsonl"]), ["[ab].jsonl"]);
        assert_eq!(names(&folder, &["[a-b].jsonl"]), ["a.jsonl", "b.jsonl"]);
        let found = find(&folder, &["*"]).expect("found");
        assert_eq!(found.sources.len(), 4);
        assert_eq!(found.skipped.len(), 1);
    }

    #[test]
    fn what_leads_to_nothing_is_an_error() {
        let folder = tree(&["d.bin", "bins/e.bin"]);
        fs::create_dir(folder.path().join("empty")).expect("created");
        for input in ["missing", "empty", "bins", "d.bin", "*.jsonl", "[", "missing/[x"] {
            assert!(matches!(find(&folder, &[input]), Err(Error::Input { .. })), "{input}");
        }
        assert!(matches!(find(&folder, &[]), Err(Error::Input { .. })));
    }

    #[test]
    fn what_cannot_be_read_is_listed() {
        let folder = tree(&["d/a.jsonl"]);
        std::os::unix::fs::symlink("nowhere", folder.path().join("d/broken.jsonl")).expect("linked");
        let found = find(&folder, &["d"]).expect("found");
        assert_eq!(found.unreadable.len(), 1);
        assert_eq!(found.unreadable[0].0, folder.path().join("d/broken.jsonl"));
        fs::remove_file(folder.path().join("d/a.jsonl")).expect("removed");
        assert!(matches!(find(&folder, &["d"]), Err(Error::Input { .. })));
    }
}
