//! Runs of `dedup` that have ended: what their folders keep of how they were asked, and asking again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use alike::collection::is_collection;
use alike::error::{Error, Result};
use alike::method::FrozenTables;
use alike::output::{FinishedFind, FinishedRun, FormChoice, ListChoice, ProtectedInput, RunRecord};
use alike::progress::Progress;
use alike::read::{Discovery, FormatHint, Source};
use alike::report::FinishedQuestions;
use alike::resources::Resources;
use alike::run_lexicon;
use alike::scratch::private_folder;

use crate::cli::common::{EitherArgs, MachineArgs, RefusalArgs, TalkArgs};
use crate::cli::dedup::ProtectedPath;
use crate::cli::values::Percent;
use crate::session::against::ProtectedCollection;
use crate::session::inputs::{find_inputs, set_preferences};
use crate::session::options::{DedupOptions, Machine};
use crate::session::watched::watched;

/// What was named, where a collection or an output of `dedup` may be: the output, if it is one.
pub(crate) fn finished_run(at: &EitherArgs) -> Result<Option<FinishedRun>> {
    let place = at.folder.as_path();
    if is_collection(place) {
        return Ok(None);
    }
    if !place.is_dir() {
        let what = if place.exists() { "it is no folder" } else { "there is no such folder" };
        let advice =
            "name a collection, as `alike load` makes it, or the folder that `alike dedup --out` named";
        return Err(Error::input(place, format!("{what}; {advice}")));
    }
    FinishedRun::refuse_others(place)?;
    if !FinishedRun::is_at(place) {
        return Ok(None);
    }
    if at.when.at.is_some() {
        return Err(Error::config(format!(
            "--at is for collections: {} is an output of dedup, which has no commits",
            place.display()
        )));
    }
    FinishedRun::open(place).map(Some)
}

/// What an output keeps of how its run was asked.
pub(crate) fn record(
    options: &DedupOptions,
    preferred: &[String],
    collections: &[ProtectedCollection],
) -> RunRecord {
    let text = |path: &Path| RunRecord::kept_name(&path.to_string_lossy());
    let protected = |set: &ProtectedPath| {
        let collection = collections.iter().find(|collection| collection.is_at(&set.path));
        ProtectedInput {
            set: set.name.clone(),
            path: text(&set.path),
            collection: collection.is_some(),
            commit: collection.map(ProtectedCollection::commit),
        }
    };
    RunRecord {
        folder: std::env::current_dir().ok().and_then(|folder| folder.into_os_string().into_string().ok()),
        command: options.command.clone(),
        inputs: options.inputs.iter().map(|path| text(path)).collect(),
        input_format: options.hint.format.map(|format| format.as_str().to_owned()),
        delimiter: options.hint.delimiter,
        against: options.against.iter().map(protected).collect(),
        prefer: preferred.iter().map(|name| RunRecord::kept_name(name)).collect(),
        keep_per_cluster: options.keep_per_cluster,
        kinds: options.kinds,
        report_from: options.report_from,
        report_by: options.report_by.clone(),
        lexicon: options.lexicon.as_deref().map(text),
        max_rejected: options.refusals.percent() as u8,
        ..RunRecord::new()
    }
}

/// Goes to the folder in which a run was asked, as names of its inputs may start from there; stays where that is gone.
pub(crate) fn go_to_inputs(run: &FinishedRun) {
    if let Some(folder) = &run.record.folder {
        // Elsewhere the inputs are looked for from here, and told by their names if they are not there.
        let _ = std::env::set_current_dir(folder);
    }
}

/// The run of an output once more, without an output but the page.
pub(crate) fn again(
    run: FinishedRun,
    page: &Path,
    machine: Machine,
    talk: &TalkArgs,
) -> Result<DedupOptions> {
    run.require_this_version()?;
    run.require_no_stream()?;
    run.require_names()?;
    let record = &run.record;
    let hint = record.hint()?;
    let mut config = run.config.clone();
    if record.lexicon.is_none() && !record.against.iter().any(|set| set.collection) {
        // It was counted from the inputs, and is counted again.
        config.lexicon.clear();
    }
    let against = record.against.iter();
    let against = against.map(|set| ProtectedPath { name: set.set.clone(), path: set.path.clone().into() });
    Ok(DedupOptions {
        inputs: record.inputs.iter().map(PathBuf::from).collect(),
        against: against.collect(),
        prefer: record.prefer.clone(),
        hint,
        out: None,
        config,
        lexicon: record.lexicon.as_ref().map(PathBuf::from),
        machine,
        pairs: false,
        kinds: record.kinds,
        keep_per_cluster: record.keep_per_cluster,
        lists: ListChoice::default(),
        form: FormChoice::default(),
        write_removed: false,
        dry_run: true,
        report: Some(page.to_path_buf()),
        report_from: record.report_from,
        report_by: record.report_by.clone(),
        refusals: RefusalArgs { strict: false, max_rejected: Percent(record.max_rejected) },
        quiet: talk.quiet,
        json_progress: talk.json_progress,
        command: record.command.clone(),
        again: Some(run),
    })
}

/// Refuses collections that are at other commits than when a run held inputs against them.
pub(crate) fn check_commits(run: &FinishedRun, collections: &[ProtectedCollection]) -> Result<()> {
    for set in run.record.against.iter().filter(|set| set.collection) {
        let path = Path::new(&set.path);
        let at =
            collections.iter().find(|collection| collection.is_at(path)).map(ProtectedCollection::commit);
        if at != set.commit {
            let why = match at {
                Some(at) => {
                    format!("is a collection at commit {at} by now; put back a copy of the earlier one")
                }
                None => "is no collection any more; put it back".to_owned(),
            };
            return Err(Error::InputGone { path: path.to_path_buf(), output: run.path.clone(), why });
        }
    }
    Ok(())
}

/// Asks something about a run, with its inputs found again. Progress is shown, and Ctrl-C stops it.
pub(crate) fn questions<T>(
    run: &FinishedRun,
    ask: impl FnOnce(&FinishedQuestions<'_>) -> Result<T>,
) -> Result<T> {
    let machine = Machine::new(&MachineArgs::default())?;
    go_to_inputs(run);
    watched(&TalkArgs::default(), |progress| {
        let spool = private_folder(&std::env::temp_dir())?;
        let sources = inputs_again(run, spool.path(), progress)?;
        let tables = tables_again(run, &sources, &machine.resources(spool.path(), None), progress)?;
        let Machine { workers, simd, .. } = machine;
        let find = FinishedFind { run, sources: &sources, tables: &tables, workers, simd, known: None };
        ask(&FinishedQuestions { find, progress })
    })
}

/// All that questions about a run take, for whoever has many of them answered.
#[cfg(feature = "serve")]
pub(crate) fn served_inputs(
    run: FinishedRun,
    machine: Machine,
    progress: &Arc<Progress>,
) -> Result<alike::serve::ServedInputs> {
    go_to_inputs(&run);
    let spool = private_folder(&std::env::temp_dir())?;
    let sources = inputs_again(&run, spool.path(), progress)?;
    let tables = tables_again(&run, &sources, &machine.resources(spool.path(), None), progress)?;
    let Machine { workers, simd, .. } = machine;
    Ok(alike::serve::ServedInputs { run, sources, tables, spool, workers, simd })
}

/// What texts of a run are sketched by: its lexicon is counted again where none was named.
fn tables_again(
    run: &FinishedRun,
    sources: &[Source],
    resources: &Resources,
    progress: &Arc<Progress>,
) -> Result<FrozenTables> {
    let mut config = run.config.clone();
    if run.record.lexicon.is_none() {
        config.lexicon.clear();
    }
    let named = run.record.lexicon.as_deref().map(Path::new);
    let lexicon = run_lexicon(&mut config, named, sources, resources, progress)?;
    if lexicon.is_some() && config.lexicon != run.config.lexicon {
        let why = "it was counted from standard input, too, or is that of a collection, and is not at hand";
        let (path, why) = (PathBuf::from("the lexicon"), why.to_owned());
        return Err(Error::InputGone { path, output: run.path.clone(), why });
    }
    Ok(FrozenTables { lexicon, ..FrozenTables::default() })
}

/// The inputs of a run, protected ones first, as they were; streams and collections are not among them.
pub(crate) fn inputs_again(run: &FinishedRun, spool: &Path, progress: &Progress) -> Result<Vec<Source>> {
    run.require_names()?;
    let record = &run.record;
    // Archives are not looked through for what the run has not read.
    let hint = record.hint()?.shared_by(!run.has_members());
    let mut sources = Vec::new();
    let sets = record.against.iter().filter(|set| !set.collection && set.path != "-");
    for set in sets {
        sources.extend(found(run, &[PathBuf::from(&set.path)], (hint, spool, progress))?.sources);
    }
    let inputs: Vec<PathBuf> =
        record.inputs.iter().filter(|input| *input != "-").map(PathBuf::from).collect();
    if !inputs.is_empty() {
        let mut own = found(run, &inputs, (hint, spool, progress))?;
        let prefer: Vec<String> = record.prefer.iter().filter(|name| *name != "-").cloned().collect();
        set_preferences(&prefer, &inputs, &mut own)?;
        sources.append(&mut own.sources);
    }
    run.check_inputs(&mut sources, false)?;
    Ok(sources)
}

/// Inputs of a run found again; what is not there is told as such.
fn found(
    run: &FinishedRun,
    inputs: &[PathBuf],
    (hint, spool, progress): (FormatHint, &Path, &Progress),
) -> Result<Discovery> {
    find_inputs(inputs, hint, spool, progress).map_err(|error| gone(run, error))
}

/// An input that cannot be found again, told with the output that it is read for.
pub(crate) fn gone(run: &FinishedRun, error: Error) -> Error {
    match error {
        Error::Input { path, reason } => {
            Error::InputGone { path, output: run.path.clone(), why: format!("{reason}; put it back") }
        }
        error => error,
    }
}
