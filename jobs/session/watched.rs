//! Work with its progress on the terminal, which Ctrl-C stops.

use std::sync::Arc;

use alike::error::Result;
use alike::progress::Progress;

use crate::cli::common::TalkArgs;
use crate::terminal::display::{Display, Mode};
use crate::terminal::interrupt::stop_on_interrupt;

/// Does a load while its progress is shown and Ctrl-C stops it.
pub(crate) fn watched<T>(talk: &TalkArgs, work: impl FnOnce(&Arc<Progress>) -> Result<T>) -> Result<T> {
    let progress = Arc::new(Progress::default());
    stop_on_interrupt(Arc::clone(&progress))?;
    let display = Display::start(Arc::clone(&progress), Mode::choose(talk.quiet, talk.json_progress));
    let done = work(&progress);
    display.finish();
    done
}
