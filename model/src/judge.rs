//! What must hold in every state.

use crate::State;
use crate::folder::{Manifest, Name};
use crate::opening::runs_are_whole;
use crate::writer::Said;

/// Notes who has published the newest commit. A power cut may take one back, and another then takes its place.
pub fn note_published(state: &mut State) {
    let Some(newest) = state.folder.newest() else { return };
    if let Some(Ok(manifest)) = state.folder.manifest(Name::Manifest(newest)) {
        let by = manifest.by;
        if newest >= 1 {
            state.published.resize(usize::from(newest), by);
            state.published[usize::from(newest) - 1] = by;
        }
    }
}

/// Judges what a writer says.
pub fn hear(state: &mut State, said: Said) {
    let acknowledged = state.acknowledged.commit;
    match said {
        Said::Nothing | Said::GaveUp => {}
        Said::Acknowledged(manifest)
            if state.published.get(usize::from(manifest.commit) - 1) != Some(&manifest.by) =>
        {
            state.wrong = Some("a commit is acknowledged whose place another has taken");
        }
        // Somebody may have built on it before it was acknowledged.
        Said::Acknowledged(manifest) if manifest.commit < acknowledged => {}
        Said::Acknowledged(manifest) => state.acknowledged = manifest,
        Said::Opened(last)
            if last.commit < acknowledged || last.commit == acknowledged && last != state.acknowledged =>
        {
            state.wrong = Some("a writer takes an older commit for the last one");
        }
        Said::Opened(_) => {}
        Said::Damaged if !state.lost => state.wrong = Some("a writer finds damage that nobody did"),
        Said::Damaged => {}
        // A late writer is refused rightly.
        Said::Refused(last) if Some(last) == state.folder.newest() && !state.lost => {
            state.wrong = Some("a follower refuses the last commit");
        }
        Said::Refused(_) => {}
    }
}

/// The newest commit, if its manifest can be read.
fn newest(state: &State) -> Option<&Manifest> {
    let newest = state.folder.newest()?;
    state.folder.manifest(Name::Manifest(newest))?.ok()
}

fn is_whole(state: &State, manifest: &Manifest) -> bool {
    runs_are_whole(&state.folder, &state.kept.folder, manifest)
}

/// Whether all runs of the newest commit are there, those of followers too, and it is the acknowledged one or a later
/// one.
pub fn newest_is_whole(state: &State) -> bool {
    newest(state).is_some_and(|newest| {
        is_whole(state, newest)
            && (newest.commit > state.acknowledged.commit || *newest == state.acknowledged)
    })
}

/// Whether the commits before the newest one are there that it says stay, with all of their runs: somebody may be reading them.
pub fn older_are_whole(state: &State) -> bool {
    let Some(newest) = newest(state) else { return true };
    let whole = |commit| match state.folder.manifest(Name::Manifest(commit)) {
        Some(Ok(older)) => is_whole(state, older),
        Some(Err(())) | None => false,
    };
    (newest.from..newest.commit).all(whole)
}

/// Whether all runs are there of a load that can be resumed: that of the last checkpoint that is whole.
pub fn checkpoint_is_whole(state: &State) -> bool {
    let Some(newest) = newest(state) else { return true };
    let checkpoint = |epoch| state.folder.manifest(Name::Checkpoint(newest.commit + 1, epoch))?.ok();
    let pending = state.folder.epochs(newest.commit + 1).into_iter().find_map(checkpoint);
    pending.is_none_or(|pending| !pending.runs.starts_with(&newest.runs) || is_whole(state, pending))
}

/// Whether what the last commit has superseded is gone.
pub fn is_tidy(state: &State) -> bool {
    let last = &state.acknowledged;
    let older = |commit| state.folder.manifest(Name::Manifest(commit)).and_then(Result::ok);
    let older: Vec<&Manifest> = (last.from..last.commit).filter_map(older).collect();
    let belongs = |name| {
        last.names(name)
            || older.iter().any(|older| older.names(name))
            || older.is_empty() && matches!(name, Name::Unfinished(of, _) if of == last.commit)
    };
    state.folder.newest() == Some(last.commit)
        && state.folder.names().all(belongs)
        && state.folder.undecided().is_empty()
}
