//! A lexicon as a file: a first line with the form and a digest, a line with what it says of its making, and a line for
//! each term. It is written once, under another name, and has its own when it is complete.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use tempfile::NamedTempFile;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use super::sorted::Sorted;
use super::terms::Header;
use crate::error::{Error, Result};
use crate::hex;
use crate::limits::MAX_LEXICON_BYTES;
use crate::partial_name::partial_name;
use crate::progress::Progress;
use crate::scratch::Scratch;

/// The number of the form. It also stands for what canonical words are: those of 1 fold nothing.
pub const FORMAT: u32 = 2;
/// How the first line begins, up to the number of the form.
const START: &str = "alike lexicon, format ";
/// What stands between the number and the digest.
const DIGEST: &str = ", xxh3-128 ";
/// Most documents that a lexicon may speak of.
const MOST_DOCUMENTS: u64 = 1 << 48;
/// Terms between two looks at whether to stop.
const GLANCE: u64 = 1 << 16;

/// A lexicon that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frozen {
    /// What it says of its making.
    pub header: Header,
    /// The digest of its content.
    pub digest: u128,
    /// Its terms.
    pub count: u64,
    /// Terms left out because they are in fewer than `min_df` documents.
    pub left_out: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

impl Frozen {
    /// The name by which a configuration knows it: the digest, in 32 hexadecimal digits.
    pub fn name(&self) -> String {
        hex::text(&self.digest)
    }
}

/// Refuses a file to be made where there is anything of its name, or no folder for it.
///
/// # Errors
/// [`Error::OutputExists`], [`Error::Config`] if it names no file, and [`Error::Io`].
pub fn refuse_existing(out: &Path) -> Result<()> {
    if out.file_name().is_none() {
        return Err(Error::config(format!("{}: --out must name a file to be created", out.display())));
    }
    let folder = folder(out);
    std::fs::metadata(folder).map_err(|e| Error::io(folder, "write in", e))?;
    match out.symlink_metadata() {
        Ok(_) => Err(Error::OutputExists(out.to_path_buf())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io(out, "create", error)),
    }
}

/// Writes the terms of at least `header.min_df` documents as the new file `out`.
pub(super) fn freeze(
    out: &Path,
    header: Header,
    mut counts: impl Sorted,
    progress: &Progress,
) -> Result<Frozen> {
    header.check()?;
    let mut content = FileContent::create(out)?;
    let line = serde_json::to_string(&header).map_err(|e| Error::io(out, "write", e.into()))?;
    content.write(&format!("{line}\n"))?;
    let (mut term, mut line, mut count, mut left_out) = (String::new(), String::new(), 0, 0);
    while let Some(documents) = counts.next(&mut term)? {
        if (count + left_out) % GLANCE == 0 {
            progress.check()?;
        }
        if documents < header.min_df {
            left_out += 1;
            continue;
        }
        line.clear();
        line.push_str(&term);
        line.push('\t');
        line.push_str(&documents.to_string());
        line.push('\n');
        content.write(&line)?;
        count += 1;
    }
    if count == 0 {
        return Err(Error::Limit(format!(
            "no term is in {} of the {} documents, so the lexicon would be empty; lower --min-df, or name more \
             documents",
            header.min_df, header.documents
        )));
    }
    progress.check()?;
    let (digest, bytes) = content.finish(out)?;
    Ok(Frozen { header, digest, count, left_out, bytes })
}

/// A file whose first line is known when all others are.
struct FileContent<'a> {
    out: &'a Path,
    file: BufWriter<NamedTempFile>,
    /// The folder that it is in until it is complete.
    _scratch: Scratch,
    hash: Xxh3Default,
    bytes: u64,
}

impl FileContent<'_> {
    fn create(out: &Path) -> Result<FileContent<'_>> {
        let failed = |e| Error::io(out, "create", e);
        refuse_existing(out)?;
        let prefix = partial_name(out.file_name().unwrap_or_default());
        let scratch = Scratch::within(folder(out), &prefix).map_err(failed)?;
        let mut builder = tempfile::Builder::new();
        // Temporary files are private by default, but this one becomes the output: as open as the umask allows.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(scratch.path()).map_err(failed)?;
        let (file, hash) = (BufWriter::new(file), Xxh3Default::new());
        let mut content = FileContent { out, file, _scratch: scratch, hash, bytes: 0 };
        let line = first_line(0);
        content.bytes = line.len() as u64;
        content.file.write_all(line.as_bytes()).map_err(failed)?;
        Ok(content)
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.bytes += text.len() as u64;
        if self.bytes > MAX_LEXICON_BYTES {
            return Err(Error::Limit(format!(
                "the lexicon would be longer than {MAX_LEXICON_BYTES} bytes; raise --min-df"
            )));
        }
        self.hash.update(text.as_bytes());
        self.file.write_all(text.as_bytes()).map_err(|e| Error::io(self.out, "write", e))
    }

    /// Writes the first line, and gives the file its name unless there is one of that name by now.
    fn finish(self, out: &Path) -> Result<(u128, u64)> {
        let digest = self.hash.digest128();
        let failed = |e| Error::io(out, "write", e);
        let mut file = self.file.into_inner().map_err(|e| failed(e.into_error()))?;
        let sealed =
            file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(first_line(digest).as_bytes()));
        sealed.and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        match file.persist_noclobber(out) {
            Ok(_) => sync(folder(out)).map_err(failed)?,
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::OutputExists(out.to_path_buf()));
            }
            Err(error) => return Err(Error::io(out, "create", error.error)),
        }
        Ok((digest, self.bytes))
    }
}

fn first_line(digest: u128) -> String {
    format!("{START}{FORMAT}{DIGEST}{}\n", hex::text(&digest))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn sync(folder: &Path) -> io::Result<()> {
    // Only Unix opens folders as files; elsewhere the file system orders renames by itself.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// What a lexicon's file holds, proved to be what was written.
pub(super) struct LexiconParts {
    pub(super) digest: u128,
    pub(super) header: Header,
    /// The whole file.
    pub(super) text: String,
    /// Where each term begins in it; a tabulator ends it.
    pub(super) starts: Vec<u32>,
    /// In how many documents each term is.
    pub(super) documents: Vec<u64>,
}

/// Reads a lexicon and holds it against its digest.
pub(super) fn read(path: &Path) -> Result<LexiconParts> {
    parse(path, read_whole(path)?)
}

/// Holds the bytes of a lexicon's file against their digest.
pub(super) fn parse(path: &Path, bytes: Vec<u8>) -> Result<LexiconParts> {
    let damaged = |offset: usize, what: &str| Error::lexicon_damaged(path, offset as u64, what);
    let (digest, at) = seal(path, &bytes)?;
    if xxh3_128(&bytes[at..]) != digest {
        return Err(damaged(at, "what follows does not have the digest of the first line"));
    }
    let text = String::from_utf8(bytes).map_err(|e| damaged(e.utf8_error().valid_up_to(), "not UTF-8"))?;
    let line = text[at..].split_inclusive('\n').next().unwrap_or_default();
    let header: Header =
        serde_json::from_str(line).map_err(|e| damaged(at, &format!("no head of a lexicon: {e}")))?;
    // Sums of what many say must fit.
    if header.check().is_err() || header.documents.max(header.short) > MOST_DOCUMENTS {
        return Err(damaged(at, "no head of a lexicon"));
    }
    let (mut starts, mut documents, mut before) = (Vec::new(), Vec::new(), "");
    let mut offset = at + line.len();
    for line in text[offset..].split_inclusive('\n') {
        let (term, count) = row(line).ok_or_else(|| damaged(offset, "no term with its count"))?;
        let fits = (header.min_df..=header.documents).contains(&count) && header.terms.has(term);
        if !fits || term <= before {
            return Err(damaged(offset, "a term that does not belong here"));
        }
        starts.push(offset as u32);
        documents.push(count);
        before = term;
        offset += line.len();
    }
    if starts.is_empty() {
        return Err(Error::lexicon_unfit(path, "has no term; build one from more documents"));
    }
    Ok(LexiconParts { digest, header, starts, documents, text })
}

/// A term and its count, written in the only way.
fn row(line: &str) -> Option<(&str, u64)> {
    let (term, count) = line.strip_suffix('\n')?.split_once('\t')?;
    let plain = count.bytes().all(|byte| byte.is_ascii_digit()) && !count.starts_with('0');
    count.parse().ok().filter(|_| plain).map(|count| (term, count))
}

fn read_whole(path: &Path) -> Result<Vec<u8>> {
    let length = std::fs::metadata(path).map(|metadata| (metadata.is_file(), metadata.len()));
    match length {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Error::lexicon_unfit(path, "there is no such file; build it, or name another"))
        }
        Err(error) => Err(Error::io(path, "open", error)),
        Ok((false, _)) => Err(Error::lexicon_unfit(path, "is no file; name a lexicon")),
        Ok((_, length)) if length > MAX_LEXICON_BYTES => {
            Err(Error::lexicon_unfit(path, format!("is longer than any lexicon, {MAX_LEXICON_BYTES} bytes")))
        }
        Ok(_) => std::fs::read(path).map_err(|e| Error::io(path, "read", e)),
    }
}

/// The digest that the first line tells, and where the next one begins.
fn seal(path: &Path, bytes: &[u8]) -> Result<(u128, usize)> {
    let damaged = |offset: usize, what: &str| Error::lexicon_damaged(path, offset as u64, what);
    let Some(rest) = bytes.strip_prefix(START.as_bytes()) else {
        return Err(Error::lexicon_unfit(path, format!("is no lexicon: one begins with {START:?}")));
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&rest[..digits]).ok().and_then(|text| text.parse().ok());
    let format: u32 = number
        .filter(|_| !rest.starts_with(b"0"))
        .ok_or_else(|| damaged(START.len(), "no number of a format"))?;
    if format > FORMAT {
        return Err(Error::NewerFormat { path: path.to_path_buf(), found: format, known: FORMAT });
    }
    let digest = rest[digits..].strip_prefix(DIGEST.as_bytes());
    let digest = digest.and_then(|rest| rest.split_first_chunk::<32>()).and_then(|(digits, rest)| {
        rest.starts_with(b"\n").then_some(())?;
        hex::parse(std::str::from_utf8(digits).ok()?)
    });
    let at = START.len() + digits + DIGEST.len() + 33;
    digest.map(|digest| (digest, at)).ok_or_else(|| {
        damaged(START.len() + digits, &format!("the first line goes on with {DIGEST:?} and 32 digits"))
    })
}
