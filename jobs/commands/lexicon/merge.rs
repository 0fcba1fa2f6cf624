//! `alike lexicon merge`: one lexicon of several.

use std::path::PathBuf;
use std::process::ExitCode;

use alike::error::{Error, Result};
use alike::lexicon::{Lexicon, merge, refuse_existing};
use alike::progress::Progress;

use super::description::describe_new;
use crate::cli::lexicon::MergeArgs;
use crate::session::watched::watched;
use crate::terminal::reporter::Reporter;

pub(super) fn merge_all(args: &MergeArgs) -> Result<ExitCode> {
    let reporter = Reporter::new(&args.report);
    refuse_existing(&args.out)?;
    let frozen = watched(&args.report.talk, |progress| {
        let lexicons = open_all(&args.lexicons, progress)?;
        merge(&lexicons, &args.out, args.min_df, progress)
    })?;
    let report = describe_new(&args.out, &frozen, &reporter);
    reporter.object(&report)
}

/// Opens lexicons, and refuses one that is named twice: its documents would count twice.
fn open_all(paths: &[PathBuf], progress: &Progress) -> Result<Vec<Lexicon>> {
    let mut lexicons: Vec<Lexicon> = Vec::new();
    for path in paths {
        progress.check()?;
        let lexicon = Lexicon::open(path)?;
        if let Some(same) = lexicons.iter().find(|other| other.digest() == lexicon.digest()) {
            return Err(Error::config(format!(
                "{} and {} are the same lexicon, whose documents would count twice; leave one out",
                same.path().display(),
                path.display()
            )));
        }
        lexicons.push(lexicon);
    }
    Ok(lexicons)
}
