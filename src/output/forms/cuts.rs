//! Stretches of texts that are cut out when their records are written, or marked.
//!
//! They stand in a file in document order: whoever writes records, in whatever process, reads along with them and holds the
//! stretches of one document at a time.

use crate::limits::sized;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use unicode_normalization::char::is_combining_mark;

use crate::document::Position;
use crate::error::{Error, Result};
use crate::text::is_lone;

/// Stretches of texts in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CutFile {
    path: PathBuf,
    /// Where those of each source begin.
    starts: Vec<u64>,
}

/// Writes stretches to a file, document by document.
pub struct CutWriter {
    path: PathBuf,
    out: BufWriter<File>,
    at: u64,
    starts: Vec<u64>,
    last: Option<Position>,
}

impl CutWriter {
    /// A new file in `folder`, which other processes see under the same name.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new(folder: &Path) -> Result<CutWriter> {
        let path = std::path::absolute(folder).map_err(|e| Error::io(folder, "find", e))?.join("cuts");
        let file = File::create_new(&path).map_err(|e| Error::io(&path, "create", e))?;
        let out = BufWriter::with_capacity(sized(1 << 18, 64), file);
        Ok(CutWriter { path, out, at: 0, starts: Vec::new(), last: None })
    }

    /// Notes stretches of the text of a document, which comes behind those before it. They are bytes of the text as it is
    /// read, ascending, do not overlap, and begin and end between characters.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn push(&mut self, document: Position, stretches: &[Range<usize>]) -> Result<()> {
        debug_assert!(self.last < Some(document), "in document order");
        debug_assert!(stretches.is_sorted_by(|a, b| a.start <= a.end && a.end <= b.start));
        self.last = Some(document);
        while self.starts.len() <= document.file() as usize {
            self.starts.push(self.at);
        }
        let head = [document.offset(), stretches.len() as u64];
        let numbers = stretches.iter().flat_map(|stretch| [stretch.start as u64, stretch.end as u64]);
        for number in head.into_iter().chain(numbers) {
            self.out.write_all(&number.to_le_bytes()).map_err(|e| Error::io(&self.path, "write", e))?;
            self.at += 8;
        }
        Ok(())
    }

    /// Ends the file, of documents from so many sources.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self, sources: usize) -> Result<CutFile> {
        self.out.flush().map_err(|e| Error::io(&self.path, "write", e))?;
        self.starts.resize(sources + 1, self.at);
        Ok(CutFile { path: self.path, starts: self.starts })
    }
}

impl CutFile {
    /// Removes the file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn remove(self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(|e| Error::io(&self.path, "remove", e))
    }

    /// The stretches of the documents of a source.
    pub(super) fn of(&self, source: usize) -> Result<SourceCuts> {
        let failed = |e: io::Error| Error::io(&self.path, "read", e);
        let mut file = BufReader::new(File::open(&self.path).map_err(failed)?);
        let (at, end) = (self.starts[source], self.starts[source + 1]);
        file.seek(SeekFrom::Start(at)).map_err(failed)?;
        let mut cuts = SourceCuts { path: self.path.clone(), file, at, end, next: None, stretches: vec![] };
        cuts.advance()?;
        Ok(cuts)
    }
}

/// The stretches of a source, in the order of its records.
pub(super) struct SourceCuts {
    path: PathBuf,
    file: BufReader<File>,
    at: u64,
    end: u64,
    /// The offset of the next record that has any, and these.
    next: Option<u64>,
    stretches: Vec<Range<usize>>,
}

impl SourceCuts {
    /// The stretches of the record at an offset, which is behind those asked for before.
    pub(super) fn at(&mut self, offset: u64) -> Result<&[Range<usize>]> {
        while self.next.is_some_and(|next| next < offset) {
            self.advance()?;
        }
        Ok(if self.next == Some(offset) { &self.stretches } else { &[] })
    }

    fn advance(&mut self) -> Result<()> {
        self.next = None;
        if self.at < self.end {
            self.read().map_err(|e| Error::io(&self.path, "read", e))?;
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        let SourceCuts { file, at, next, stretches, .. } = self;
        let mut number = || {
            let mut bytes = [0; 8];
            *at += 8;
            file.read_exact(&mut bytes).map(|()| u64::from_le_bytes(bytes))
        };
        let (offset, count) = (number()?, number()?);
        stretches.clear();
        for _ in 0..count {
            stretches.push(number()? as usize..number()? as usize);
        }
        *next = Some(offset);
        Ok(())
    }
}

/// A text without some stretches of it. Between two words of which a stretch would make one it leaves the blank with which it begins or ends,
/// or a space if there is none.
///
/// # Errors
/// [`Error::Changed`] of the file `path` if one of them does not lie within the text, or divides a character: the text is not
/// the one that was read.
pub(super) fn without(text: &str, stretches: &[Range<usize>], path: &Path) -> Result<String> {
    let changed = || Error::Changed(path.to_path_buf());
    let (mut left, mut from) = (String::with_capacity(text.len()), 0);
    let is_lone = |char: char| is_lone(char.encode_utf8(&mut [0; 4]));
    for stretch in stretches {
        left.push_str(text.get(from..stretch.start).ok_or_else(changed)?);
        from = stretch.end;
        let (cut, behind) =
            (text.get(stretch.clone()).ok_or_else(changed)?, text.get(from..).ok_or_else(changed)?);
        // A mark belongs to the letter before it.
        let last = left.chars().rev().find(|char| !is_combining_mark(*char));
        let beside = last.zip(behind.chars().next());
        if let Some((before, behind)) = beside.filter(|(a, b)| a.is_alphanumeric() && b.is_alphanumeric()) {
            let ends = [cut.chars().next(), cut.chars().next_back()];
            let blank = ends.into_iter().flatten().find(|char| char.is_whitespace());
            // Of letters that are words by themselves none become one, and what was one word may be one again.
            let were_apart = || cut.chars().any(|char| !char.is_alphanumeric() || is_lone(char));
            let become_one = !is_lone(before) && !is_lone(behind) && were_apart();
            left.extend(blank.or(become_one.then_some(' ')));
        }
    }
    left.push_str(text.get(from..).ok_or_else(changed)?);
    Ok(left)
}

/// Whether nothing but blanks is left of a text.
pub(super) fn is_empty(left: &str) -> bool {
    left.trim().is_empty()
}

/// What is said of a record whose text stays: where its stretches are.
pub(super) fn mark(stretches: &[Range<usize>]) -> Vec<u8> {
    let places: Vec<String> =
        stretches.iter().map(|stretch| format!("[{},{}]", stretch.start, stretch.end)).collect();
    format!("{{\"stretches\":[{}]}}", places.join(",")).into_bytes()
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of one stretch")]
mod tests {
    use super::*;

    #[test]
    fn stretches_come_back_in_the_order_of_records() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = CutWriter::new(folder.path()).expect("a file");
        let all = [((0, 7), vec![0..2, 4..9]), ((0, 90), vec![1..2]), ((3, 0), vec![]), ((3, 5), vec![8..8])];
        for ((file, offset), stretches) in &all {
            writer.push(Position::new(*file, *offset), stretches).expect("written");
        }
        let file = writer.finish(5).expect("finished");
        let of = |source: usize, offsets: &[u64]| -> Vec<Vec<Range<usize>>> {
            let mut cuts = file.of(source).expect("open");
            offsets.iter().map(|offset| cuts.at(*offset).expect("read").to_vec()).collect()
        };
        assert_eq!(of(0, &[0, 7, 8, 90, 91]), [vec![], vec![0..2, 4..9], vec![], vec![1..2], vec![]]);
        assert_eq!(of(0, &[90]), [vec![1..2]]);
        assert!(of(1, &[0, 7]).concat().is_empty() && of(4, &[0, 5]).concat().is_empty());
        assert_eq!(of(3, &[0, 5]), [vec![], vec![8..8]]);
        file.remove().expect("removed");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn two_words_stay_two() {
        let cut =
            |text: &str, stretches: &[Range<usize>]| without(text, stretches, Path::new("x")).expect("cut");
        assert_eq!(cut("iPhone\u{4e2d} Pro", &[6..10]), "iPhone Pro");
        assert_eq!(cut("a b c d", &[1..4]), "a c d");
        assert_eq!(cut("a b c d", &[1..4, 4..6]), "a d");
        assert_eq!(cut("a b, c", &[2..5]), "a c");
        assert_eq!(cut("a\u{3000}b\nc", &[1..6]), "a\u{3000}c");
        assert_eq!(cut("foo\u{4e2d}bar", &[3..6]), "foo bar");
        assert_eq!(cut("foo\u{4e2d}\u{6587}bar", &[3..6]), "foo\u{6587}bar");
        assert_eq!(cut("\u{4e2d}foo\u{6587}", &[3..6]), "\u{4e2d}\u{6587}");
        assert_eq!(cut("foobar", &[2..4, 5..5]), "foar");
        assert_eq!(cut("cafe\u{301}\u{4e2d}bar", &[6..9]), "cafe\u{301} bar");
    }

    #[test]
    fn no_character_is_divided() {
        let text = "a\u{e9}\u{4e00}z";
        let cut = |stretches: &[Range<usize>]| without(text, stretches, Path::new("x"));
        assert_eq!(cut(&[1..3]).expect("cut"), "a\u{4e00}z");
        assert_eq!(cut(&[0..1, 3..7]).expect("cut"), "\u{e9}");
        assert_eq!(cut(&[]).expect("cut"), text);
        for wrong in [&[2..3][..], &[1..2], &[0..99], &[99..100], &[3..6, 4..7]] {
            assert!(matches!(cut(wrong), Err(Error::Changed(_))), "{wrong:?}");
        }
        assert_eq!(mark(&[1..3, 7..9]), b"{\"stretches\":[[1,3],[7,9]]}");
    }
}
