//! A reader: it takes no lock, and others go on between any two of its steps.

use crate::folder::{Manifest, Name, Small};
use crate::opening::{check_last, open_run};
use crate::{READS, State};

/// Where a reader is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reader {
    Away,
    Listed { commit: Small, floor: Small },
    Opening { manifest: Manifest, opened: usize, floor: Small },
}

/// A step of the reader.
pub fn read(state: &mut State) {
    let newest = state.folder.newest();
    let relisted = |commit: Small, floor: Small| match newest {
        Some(newest) if newest != commit => Ok(Reader::Listed { commit: newest, floor }),
        _ => Err("a reader finds damage that nobody did"),
    };
    let next = match state.reader.clone() {
        Reader::Away => {
            state.left[READS] -= 1;
            let floor = state.acknowledged.commit;
            newest.map(|commit| Reader::Listed { commit, floor }).ok_or("a reader finds no collection")
        }
        Reader::Listed { commit, floor } => match state.folder.manifest(Name::Manifest(commit)) {
            None => relisted(commit, floor),
            Some(Err(())) => Err("a reader finds a manifest that is not whole"),
            Some(Ok(manifest)) => Ok(Reader::Opening { manifest: manifest.clone(), opened: 0, floor }),
        },
        Reader::Opening { manifest, opened, floor } => match manifest.runs.get(opened) {
            Some(run) => match open_run(&state.folder, &state.kept.folder, run) {
                None => relisted(manifest.commit, floor),
                Some(true) => Ok(Reader::Opening { manifest, opened: opened + 1, floor }),
                Some(false) => Err("a reader finds a run that is another's"),
            },
            None => match check_last(&state.folder, &manifest) {
                Err(()) => relisted(manifest.commit, floor),
                Ok(()) if manifest.commit < floor => {
                    state.wrong = Some("a reader takes an older commit for the last one");
                    Ok(Reader::Away)
                }
                Ok(()) => {
                    state.has_read = true;
                    Ok(Reader::Away)
                }
            },
        },
    };
    state.reader = next.unwrap_or_else(|what| {
        if !state.lost {
            state.wrong = Some(what);
        }
        Reader::Away
    });
}
