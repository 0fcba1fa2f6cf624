//! Input files as they lie on disk: their bytes, their digests, and whether they are what they were.

use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use super::open::FileState;
use super::read_ahead::USUAL_ROOM;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::read::BLOCK;
use crate::read::source::Source;
use crate::remote::{ObjectState, ObjectUrl, StopFlag, look};

impl Source {
    /// Hands the bytes of a range of the file, as it lies on disk, to `each`, block by block.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Changed`] if the file ends before; what `each` gives, which ends it.
    pub fn bytes_of(&self, range: Range<u64>, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let failed = |error| Error::io(&self.path, "read", error);
        let mut file = self.open().map_err(failed)?.expect(range.clone());
        file.seek(SeekFrom::Start(range.start)).map_err(failed)?;
        let (mut left, mut block) = (range.end - range.start, vec![0; BLOCK]);
        while left > 0 {
            let part = &mut block[..left.min(BLOCK as u64) as usize];
            match file.read_exact(part) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    return Err(Error::Changed(self.path.clone()));
                }
                read => read.map_err(failed)?,
            }
            left -= part.len() as u64;
            each(part)?;
        }
        Ok(())
    }

    /// Whether the file is still as it was found.
    ///
    /// # Errors
    /// [`Error::Changed`] if size or time of the last change are no longer those of [`discover`](crate::read::discover());
    /// [`Error::Io`].
    pub fn unchanged(&self) -> Result<()> {
        if let Some(object) = &self.object {
            // Whatever is read of a version that has a name is of that version.
            let same = |now: ObjectState| now.bytes == object.bytes && now.version == object.version;
            return match object.version.is_some() || same(self.looked_at_again(&object.stop)?) {
                true => Ok(()),
                false => Err(Error::Changed(self.path.clone())),
            };
        }
        let now = FileState::of(&self.path).map_err(|error| Error::io(&self.path, "read", error))?;
        if now == (FileState { bytes: self.bytes, modified: self.modified }) {
            Ok(())
        } else {
            Err(Error::Changed(self.path.clone()))
        }
    }

    /// This source, given as an earlier run found it, to be read again: the file must still have its size, and the
    /// digest that [`file_digest`] gave then.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no such file any more, [`Error::Changed`] if it is another one, [`Error::Io`] if it
    /// cannot be read, and [`Error::Interrupted`].
    pub fn again(mut self, digest: u128, progress: &Progress) -> Result<Source> {
        if ObjectUrl::of(&self.path).is_some() {
            self.object = Some(self.looked_at_again(&StopFlag::new(Arc::clone(progress.stop_flag())))?);
        } else {
            let now = FileState::of(&self.path).map_err(|error| match error.kind() {
                ErrorKind::NotFound => {
                    Error::input(&self.path, "the file that was loaded is gone; put it back")
                }
                _ => Error::io(&self.path, "read", error),
            })?;
            self.modified = now.modified;
        }
        if file_digest(&self, progress)? != digest {
            return Err(Error::Changed(self.path));
        }
        Ok(self)
    }

    /// What is known of the object by now.
    fn looked_at_again(&self, stop: &StopFlag) -> Result<ObjectState> {
        let gone = || Error::input(&self.path, "the object that was read is gone; put it back");
        let now = ObjectUrl::of(&self.path).map(|url| look(&url, stop)).transpose()?;
        let mut now = now.flatten().ok_or_else(gone)?.with_room(USUAL_ROOM);
        if now.bytes != self.bytes {
            return Err(Error::Changed(self.path.clone()));
        }
        now.stop = stop.clone();
        Ok(now)
    }

    /// A digest of the name of its version, if it is an object of which the store tells one: then nothing of it need be read
    /// again.
    pub fn version_digest(&self) -> Option<u128> {
        Some(xxh3_128(self.object.as_ref()?.version.as_ref()?.as_bytes()))
    }
}

/// The 128-bit XXH3 of a file as it lies on disk, or of the name of its version in a store.
///
/// # Errors
/// [`Error::Changed`] if size or time of the last change are not those of the source, before or after it was read;
/// [`Error::Io`] and [`Error::Interrupted`].
pub fn file_digest(source: &Source, progress: &Progress) -> Result<u128> {
    source.unchanged()?;
    if let Some(digest) = source.version_digest() {
        return Ok(digest);
    }
    let failed = |error| Error::io(&source.path, "read", error);
    let mut file = source.open().map_err(failed)?.expect(0..source.bytes);
    let (mut state, mut block) = (Xxh3Default::new(), vec![0; BLOCK]);
    loop {
        progress.check()?;
        match file.read(&mut block) {
            Ok(0) => break,
            Ok(read) => state.update(&block[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    source.unchanged()?;
    Ok(state.digest128())
}

/// The digests of several files, which `threads` threads share; of those that are not `wanted` none.
///
/// # Errors
/// Those of [`file_digest`].
pub fn file_digests(
    sources: &[Source],
    threads: usize,
    wanted: &(dyn Fn(usize) -> bool + Sync),
    progress: &Progress,
) -> Result<Vec<Option<u128>>> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, u128)>> {
        let mut digests = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            match sources.get(at) {
                Some(source) if wanted(at) => digests.push((at, file_digest(source, progress)?)),
                Some(_) => {}
                None => return Ok(digests),
            }
        }
    };
    let mut digests = vec![None; sources.len()];
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(sources.len())).map(|_| scope.spawn(work)).collect();
        let panicked = |_| Err(Error::Worker("a thread that reads files again panicked".into()));
        let parts = others.into_iter().map(|thread| thread.join().unwrap_or_else(panicked));
        std::iter::once(work()).chain(parts.collect::<Vec<_>>()).try_for_each(|part| {
            part?.into_iter().for_each(|(at, digest)| digests[at] = Some(digest));
            Ok(())
        })
    })?;
    Ok(digests)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::read::{Compression, Discovery, Format, discover};

    fn found(folder: &tempfile::TempDir, files: usize) -> Discovery {
        for at in 0..files {
            std::fs::write(folder.path().join(format!("{at}.txt")), vec![b'a'; at * BLOCK / 2])
                .expect("written");
        }
        let name = folder.path().to_str().expect("UTF-8").to_owned();
        discover(&[name], folder.path()).expect("found")
    }

    #[test]
    fn digests_are_those_of_the_bytes_whoever_reads_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let sources = found(&folder, 7).sources;
        let of = |source: &Source| xxh3_128(&std::fs::read(&source.path).expect("read"));
        let expected: Vec<Option<u128>> =
            sources.iter().enumerate().map(|(at, source)| (at != 3).then(|| of(source))).collect();
        for threads in [1, 2, 20] {
            let digests = file_digests(&sources, threads, &|at| at != 3, &Progress::default()).expect("read");
            assert_eq!(digests, expected);
        }
    }

    #[test]
    fn a_file_that_changed_and_a_stop_are_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        let sources = found(&folder, 3).sources;
        let digest = file_digest(&sources[2], &Progress::default()).expect("read");
        let stopped = Progress::default();
        stopped.stop();
        assert!(matches!(file_digests(&sources, 2, &|_| true, &stopped), Err(Error::Interrupted)));
        let again = |digest| sources[2].clone().again(digest, &Progress::default());
        assert_eq!(again(digest).expect("the same"), sources[2]);
        assert!(matches!(again(digest + 1), Err(Error::Changed(_))));
        std::fs::write(&sources[2].path, vec![b'b'; BLOCK]).expect("written");
        assert!(matches!(again(digest), Err(Error::Changed(_))));
        std::fs::write(&sources[2].path, "longer").expect("written");
        assert!(matches!(again(digest), Err(Error::Changed(_))));
        std::fs::remove_file(&sources[2].path).expect("removed");
        assert!(matches!(again(digest), Err(Error::Input { .. })));
    }

    fn source(bytes: u64, format: Format, compression: Compression) -> Source {
        Source { name: "x".into(), ..Source::new("x".into(), format, compression, bytes) }
    }

    #[test]
    fn a_change_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "one").expect("written");
        let mut source = source(3, Format::JsonLines, Compression::None);
        source.modified = fs::metadata(&path).expect("metadata").modified().ok();
        source.path = path.clone();
        assert!(source.unchanged().is_ok());
        fs::write(&path, "three").expect("written");
        assert!(matches!(source.unchanged(), Err(Error::Changed(_))));
        fs::remove_file(&path).expect("removed");
        assert!(matches!(source.unchanged(), Err(Error::Io { .. })));
    }
}
