//! `alike compact`: all runs of a collection become one.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{Compaction, Writer, compact};
use alike::error::Result;
use alike::progress::Progress;

use crate::load::warn;
use crate::shown::folder;
use crate::{interrupt, print};

pub(crate) fn run(collection: &Path) -> Result<ExitCode> {
    let progress = Arc::new(Progress::default());
    interrupt::stop_on_interrupt(Arc::clone(&progress))?;
    let mut writer = Writer::open(&folder(collection)?)?;
    warn(&writer);
    let report = compact(&mut writer, Compaction::Full, &progress)?;
    let ((runs, to), (bytes, left)) = (report.runs, report.bytes);
    print(format!("{runs} runs of {bytes} bytes became {to} of {left} bytes\n").as_bytes())
}
