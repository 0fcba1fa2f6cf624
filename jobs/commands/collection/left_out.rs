//! What `load --against` leaves out: found before the load, listed when it is accepted.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use alike::collection::{LeaveOutRequest, StoredSource, Writer, find_left_out};
use alike::config::JoinMeasure;
use alike::error::{Error, Result};
use alike::flow::{LeftOutPositions, Outcome, ProtectedSet};
use alike::lexicon::Lexicon;
use alike::output::{AgainstFigures, LeftOutRow, Lists, Rows, against_figures};
use alike::progress::Progress;
use alike::read::{Discovery, FormatHint, Source};
use alike::resources::Resources;

use crate::cli::collections::LoadArgs;
use crate::cli::values::MeasureArg;
use crate::session::against::{ProtectedCollection, find_protected, refuse_unprotected};
use crate::session::load_report::{AgainstReport, AgainstSet};

/// Whether records are held against protected documents by what they have of these, whatever the collection measures.
pub(super) fn holds_one_sided(args: &LoadArgs) -> bool {
    !args.against.is_empty() && args.choices.measure == Some(MeasureArg::ContainmentOfProtected)
}

/// The list, while it is not known whether the load is accepted.
const LIST: &str = "left-out.jsonl";

/// The protected documents of a load, found.
pub(super) struct Protected {
    sets: Vec<ProtectedSet>,
    stored: Vec<StoredSource>,
    /// Their inputs, then those of the load.
    sources: Vec<Source>,
}

impl Protected {
    /// Finds them beside the inputs of the load.
    pub(super) fn find(
        args: &LoadArgs,
        collections: &[ProtectedCollection],
        discovery: &mut Discovery,
        found_as: (FormatHint, &Path, &Progress),
    ) -> Result<Protected> {
        let (sets, stored) = find_protected(&args.against, collections, discovery, found_as)?;
        let sources = discovery.sources.clone();
        discovery.sources.drain(..ProtectedSet::sources_of(&sets));
        Ok(Protected { sets, stored, sources })
    }

    /// Holds the records of the load against them.
    pub(super) fn hold(
        self,
        args: &LoadArgs,
        writer: &Writer,
        lexicon: Option<Arc<Lexicon>>,
        resources: Resources,
        progress: &Arc<Progress>,
    ) -> Result<LeftOutFound> {
        let Protected { sets: protected, stored, sources } = self;
        if protected.is_empty() {
            return Ok(LeftOutFound::default());
        }
        let scratch = resources.scratch.clone();
        let measure = holds_one_sided(args).then_some(JoinMeasure::ContainmentOfProtected);
        let request = LeaveOutRequest { sources, protected, stored, measure, lexicon, resources };
        let outcome = find_left_out(writer, request, progress)?;
        refuse_unprotected(args.refusals, &outcome)?;
        let list = args.left_out.as_ref().map(|_| list(&outcome, &scratch)).transpose()?;
        Ok(LeftOutFound { records: outcome.left_out(), told: told(&outcome), list })
    }
}

/// Records that are left out, and what is told of them.
#[derive(Default)]
pub(super) struct LeftOutFound {
    pub(super) records: LeftOutPositions,
    pub(super) told: AgainstReport,
    /// A file that goes with the scratch folder.
    list: Option<PathBuf>,
}

impl LeftOutFound {
    /// Writes the list to a new file.
    pub(super) fn write(&self, to: &Path) -> Result<()> {
        let Some(from) = &self.list else { return Ok(()) };
        let mut written = File::create_new(to).map_err(|e| Error::io(to, "create", e))?;
        let mut list = File::open(from).map_err(|e| Error::io(from, "read", e))?;
        io::copy(&mut list, &mut written).map_err(|e| Error::io(to, "write", e)).map(drop)
    }
}

/// Lists what protected documents represent in a file of a folder.
fn list(outcome: &Outcome, folder: &Path) -> Result<PathBuf> {
    let mut rows = Rows::create(folder, LIST)?;
    Lists::new(outcome).each_left_out(&mut |row: &LeftOutRow<'_>| rows.write(row))?;
    rows.finish()?;
    Ok(folder.join(LIST))
}

/// What each set came to.
fn told(outcome: &Outcome) -> AgainstReport {
    let set = |figures: AgainstFigures| {
        let AgainstFigures { set, documents, rejected, removed: left_out, .. } = figures;
        AgainstSet { set, documents, rejected, left_out }
    };
    let sets = against_figures(outcome).into_iter().map(set).collect();
    AgainstReport { sets, ignored_keys: outcome.common.keys() }
}
