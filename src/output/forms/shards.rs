//! A file that is written, or the parts that it is divided into.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::limits::sized;
use crate::output::kept::Packer;
use crate::read::{Compression, Format};

/// Bytes that are written at once.
const BLOCK: usize = sized(256 << 10, 64);

/// What a file came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Written {
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// Records that were not written as nothing is left of them.
    pub(super) emptied: u64,
}

impl Written {
    /// What two came to.
    pub(super) fn plus(self, other: Written) -> Written {
        Written {
            files: self.files + other.files,
            bytes: self.bytes + other.bytes,
            emptied: self.emptied + other.emptied,
        }
    }
}

/// The shards of one file, or of its parts, which sort by name as they follow each other, up to the 99,999th.
pub(super) struct ShardNames<'a> {
    folder: &'a Path,
    name: &'a (String, String),
    /// About how many bytes a part may have.
    limit: Option<u64>,
    parts: u64,
}

impl<'a> ShardNames<'a> {
    pub(super) fn new(folder: &'a Path, name: &'a (String, String), limit: Option<u64>) -> ShardNames<'a> {
        ShardNames { folder, name, limit, parts: 0 }
    }

    /// Where the next part goes.
    pub(super) fn next(&mut self) -> PathBuf {
        self.parts += 1;
        let (stem, end) = self.name;
        let name = match self.limit {
            Some(_) => format!("{stem}-{:05}{end}", self.parts),
            None => format!("{stem}{end}"),
        };
        self.folder.join(name)
    }

    /// About how many bytes a part may have, if there may be several.
    #[cfg(feature = "parquet")]
    pub(super) fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Whether a part of so many bytes is full.
    pub(super) fn is_full(&self, bytes: u64) -> bool {
        self.limit.is_some_and(|limit| bytes >= limit)
    }
}

/// Bytes of records on their way to files.
pub(super) struct Shards<'a> {
    names: ShardNames<'a>,
    compression: Compression,
    /// What stands in front of each part.
    pub(super) header: Vec<u8>,
    open: Option<(Packer<TalliedFile>, PathBuf)>,
    /// Bytes of the open part.
    bytes: Rc<Cell<u64>>,
    written: Written,
}

impl<'a> Shards<'a> {
    pub(super) fn new(names: ShardNames<'a>, compression: Compression) -> Shards<'a> {
        Shards {
            names,
            compression,
            header: Vec::new(),
            open: None,
            bytes: Rc::default(),
            written: Written::default(),
        }
    }

    /// Writes a record.
    pub(super) fn write(&mut self, record: &[u8]) -> Result<()> {
        self.write_parts(&[record])
    }

    /// Writes a record that stands in parts.
    pub(super) fn write_parts(&mut self, record: &[&[u8]]) -> Result<()> {
        let (packer, path) = self.opened()?;
        for part in record {
            packer.write_all(part).map_err(|e| Error::io(path, "write", e))?;
        }
        if self.names.is_full(self.bytes.get()) { self.close() } else { Ok(()) }
    }

    /// Ends the last part. If there is none yet, there will be one without records if it is `wanted`.
    pub(super) fn finish(mut self, wanted: bool) -> Result<Written> {
        if wanted && self.written.files == 0 {
            self.opened()?;
        }
        self.close()?;
        Ok(self.written)
    }

    fn opened(&mut self) -> Result<(&mut Packer<TalliedFile>, &Path)> {
        if self.open.is_none() {
            let path = self.names.next();
            let file = File::create_new(&path).map_err(|e| Error::io(&path, "create", e))?;
            self.bytes.set(0);
            let file = BufWriter::with_capacity(BLOCK, file);
            let out = TalliedFile { file, bytes: Rc::clone(&self.bytes) };
            // Every form is compressed as lines are: as a whole.
            let packer = Packer::new(Format::JsonLines, self.compression, out);
            let mut packer = packer.map_err(|e| Error::io(&path, "write", e))?;
            packer.write_all(&self.header).map_err(|e| Error::io(&path, "write", e))?;
            self.written.files += 1;
            self.open = Some((packer, path));
        }
        match &mut self.open {
            Some((packer, path)) => Ok((packer, path)),
            None => unreachable!("it was opened above"),
        }
    }

    fn close(&mut self) -> Result<()> {
        let Some((packer, path)) = self.open.take() else { return Ok(()) };
        let failed = |e: io::Error| Error::io(&path, "write", e);
        let mut out = packer.finish().map_err(failed)?;
        out.flush().map_err(failed)?;
        self.written.bytes += self.bytes.get();
        Ok(())
    }
}

/// A file, and how many bytes were written to it.
struct TalliedFile {
    file: BufWriter<File>,
    bytes: Rc<Cell<u64>>,
}

impl Write for TalliedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes.set(self.bytes.get() + written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
