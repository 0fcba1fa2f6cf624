//! Digests of input files, by which they are known again.

use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};

use xxhash_rust::xxh3::Xxh3Default;

use super::BLOCK;
use super::open::InputFile;
use super::source::Source;
use crate::error::{Error, Result};
use crate::progress::Progress;

/// The 128-bit XXH3 of a file as it lies on disk.
///
/// # Errors
/// [`Error::Changed`] if size or time of the last change are not those of the source, before or after it was read;
/// [`Error::Io`] and [`Error::Interrupted`].
pub fn file_digest(source: &Source, progress: &Progress) -> Result<u128> {
    source.unchanged()?;
    let failed = |error| Error::io(&source.path, "read", error);
    let mut file = InputFile::open(&source.path).map_err(failed)?;
    let (mut state, mut block) = (Xxh3Default::new(), vec![0; BLOCK]);
    loop {
        progress.check()?;
        match file.read(&mut block) {
            Ok(0) => break,
            Ok(read) => state.update(&block[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
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
    use xxhash_rust::xxh3::xxh3_128;

    use super::super::{Discovery, discover};
    use super::*;

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
}
