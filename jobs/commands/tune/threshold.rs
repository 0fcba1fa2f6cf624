//! `alike tune threshold`: n-gram and threshold, from labels or from the gap in the distribution of resemblances.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use alike::config::{Clustering, Config, Fold, Input, Text, Tokens};
use alike::error::{Error, Result};
use alike::evaluate::{Documents, Form, Grouping, Resolved, Truth};
use alike::flow::{Part, RaisedCounts};
use alike::lexicon::{ONLY_SURVEY, Survey};
use alike::progress::Progress;
use alike::read::{FormatHint, Source};
use alike::threshold::Threshold;
use alike::tune::{Nearest, join, some_of, sweep_joined, sweep_judged, write_part};

use super::bench::{TrialRuns, input, refuse_few};
use super::threshold_report::{MeasuredShingle, ThresholdReport};
use crate::cli::tune::TuneThresholdArgs;
use crate::session::inputs::{find_inputs, refuse, shown};
use crate::session::labels::{GivenLabels, LabelsReport, labelled, load_labels};
use crate::session::options::{Machine, asked_fold};
use crate::session::run_folder::RunFolder;
use crate::session::watched::watched;
use crate::terminal::data::object::print_rows;
use crate::terminal::stdout::{OutputLines, print};

/// Documents that are measured if nothing is said of it.
const USUAL: usize = 20_000;
/// Documents without which there is no pair.
const LEAST: u64 = 2;
/// Documents that say how many pairs there are.
const FEW: usize = 1_000;
/// Most pairs of a kind of shingle, about, and bytes of memory for each: it is a pair that was found, then a link of a graph.
const MOST_PAIRS: usize = 2_000_000;
const OF_PAIR: u64 = 256;

/// What was asked for, if it can be.
struct ThresholdGoal {
    /// The shingles to measure, in the order of the report.
    texts: Vec<Text>,
    floor: Threshold,
    /// Which spellings are one, in all of them.
    fold: Fold,
    input: Input,
}

pub(super) fn run(args: &TuneThresholdArgs) -> Result<ExitCode> {
    let machine = Machine::new(&args.machine)?;
    let goal = ThresholdGoal::new(args)?;
    let labels = load_labels(&args.truth)?;
    let told = watched(&args.talk, |progress| measure(args, labels.as_ref(), goal, machine, progress))?;
    if args.toml {
        return print(told.toml(Path::new(&shown(&args.inputs)))?.as_bytes());
    }
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let rows = ("shingles", &["tokens", "ngram"][..], &["by_threshold", "nearest.hundredths"][..]);
    let written = print_rows(&mut lines, form, &told, rows, |lines| lines.texts(&told.text()));
    lines.finish(written)
}

impl ThresholdGoal {
    fn new(args: &TuneThresholdArgs) -> Result<ThresholdGoal> {
        let floor = args.floor.parse().map_err(|e| Error::config(format!("--floor: {e}")))?;
        if let Some(few) = args.documents.filter(|most| (*most as u64) < LEAST) {
            return Err(Error::config(format!(
                "--documents {few}: a threshold is about pairs, and takes {LEAST} documents at least; 20000 are usual"
            )));
        }
        let fold = asked_fold(&args.fold)?.unwrap_or_default();
        let of = |tokens: Tokens, sizes: &[usize]| -> Vec<Text> {
            let sizes: BTreeSet<usize> = sizes.iter().copied().filter(|ngram| *ngram > 0).collect();
            sizes.into_iter().map(|ngram| Text { tokens, ngram, fold, ..Text::default() }).collect()
        };
        let texts = [of(Tokens::Words, &args.words), of(Tokens::Chars, &args.chars)].concat();
        if texts.is_empty() {
            return Err(Error::config(
                "--words 0 --chars 0: there is no shingle to measure; give a size of one",
            ));
        }
        let input = input(&args.records);
        for text in &texts {
            Config { input: input.clone(), text: text.clone(), ..Config::default() }.validate()?;
        }
        Ok(ThresholdGoal { texts, floor, fold, input })
    }
}

/// What labels say of the documents that are measured.
enum Labelled {
    /// Pairs that were judged.
    Judged(Vec<(u32, u32, bool)>),
    /// All pairs of them.
    Whole(Grouping),
    /// Nothing.
    No,
}

impl Labelled {
    fn new(labels: Option<(Form, Resolved)>, count: usize) -> Result<(Labelled, Vec<u32>)> {
        let all = || (0..count as u32).collect();
        Ok(match labels.map(|(_, resolved)| (resolved.truth, resolved.documents)) {
            None => (Labelled::No, all()),
            Some((Truth::Judged(pairs), _)) => (Labelled::Judged(pairs), all()),
            Some((Truth::Whole { pairs, .. }, documents)) => (Labelled::Whole(pairs), documents),
            Some((Truth::Marks(_), _)) => {
                return Err(Error::config(
                    "the labels are marks, which do not say of which document one is a duplicate; a threshold needs \
                     labels that are pairs or clusters",
                ));
            }
        })
    }
}

fn measure(
    args: &TuneThresholdArgs,
    given: Option<&GivenLabels<'_>>,
    mut goal: ThresholdGoal,
    machine: Machine,
    progress: &Arc<Progress>,
) -> Result<ThresholdReport> {
    let place = RunFolder::new(None)?;
    let read = |sources: &[Source], input: &Input| {
        let Machine { workers, memory, simd, .. } = machine;
        let survey = Survey { sources, input, workers, memory, mesh: None, counter: ONLY_SURVEY };
        Documents::read(&survey, simd, progress)
    };
    let mut found = find_inputs(&args.inputs, args.records.form.hint(&goal.input), place.path(), progress)?;
    let mut documents = read(&found.sources, &goal.input)?;
    let all = documents.len();
    refuse(args.records.refusals, &found.rejected(documents.refused.clone()), all as u64)?;
    let enough =
        |documents: &Documents, part: &str| refuse_few(&args.inputs, documents.counts(), LEAST, part);
    enough(&documents, "")?;
    let labels = given.map(|given| labelled(given, &args.truth, &documents)).transpose()?;
    let told = labels.as_ref().zip(given);
    let told = told.map(|(labels, (path, _))| LabelsReport::new(path, &args.truth, labels));
    let (mut truth, among) = Labelled::new(labels, all)?;
    let chosen = match &truth {
        Labelled::Judged(_) => among.clone(),
        _ => {
            let inputs = (&documents, &*found.sources, place.path());
            let usual = || affordable(&goal, inputs, &among, machine, progress);
            some_of(&documents, &among, args.documents.map_or_else(usual, Ok)?)
        }
    };
    if let Labelled::Whole(pairs) = &mut truth {
        // Labelled documents are numbered among themselves.
        let place = |document: &u32| among.partition_point(|other| other < document) as u32;
        *pairs = pairs.of_some(&chosen.iter().map(place).collect::<Vec<_>>());
    }
    if chosen.len() < all {
        let path: PathBuf = place.path().join("measured.jsonl");
        goal.input = write_part((&documents, &found.sources), &chosen, (&goal.input, &path), progress)?;
        found = find_inputs(&[path], FormatHint::default(), place.path(), progress)?;
        documents = read(&found.sources, &goal.input)?;
    }
    // Of labels the report says more.
    if matches!(truth, Labelled::No) {
        enough(&documents, "only some were measured: give more --documents")?;
    }
    let bench = (&documents, &*found.sources, place.path());
    let shingles = shingles(&truth, &goal, bench, machine, progress)?;
    Ok(ThresholdReport::new((all, documents.len()), told, (goal.floor, goal.fold), shingles))
}

/// How many documents can be measured without more pairs than there is time and memory for: in a family of pages all are pairs.
/// A few documents say how many there are.
fn affordable(
    goal: &ThresholdGoal,
    (documents, sources, folder): (&Documents, &[Source], &Path),
    among: &[u32],
    machine: Machine,
    progress: &Arc<Progress>,
) -> Result<usize> {
    if among.len() <= FEW {
        return Ok(USUAL);
    }
    let path = folder.join("few.jsonl");
    let few = some_of(documents, among, FEW);
    let input = write_part((documents, sources), &few, (&goal.input, &path), progress)?;
    let found = find_inputs(&[path], FormatHint::default(), folder, progress)?;
    let bench = TrialRuns { sources: &found.sources, part: Part::ALL, scratch: folder, machine, progress };
    let mut most = 1;
    for text in &goal.texts {
        let outcome = bench.run(join(text, goal.floor, &input), true)?;
        most = most.max(outcome.findings.pairs.as_ref().map_or(0, Vec::len));
    }
    // Pairs grow with the square of the documents.
    let room = machine.memory.map_or(MOST_PAIRS, |memory| MOST_PAIRS.min((memory / OF_PAIR) as usize));
    let times = (room as f64 / most as f64).sqrt();
    Ok(((FEW as f64 * times) as usize).clamp(FEW, USUAL))
}

/// Every kind of shingle, measured.
fn shingles(
    truth: &Labelled,
    goal: &ThresholdGoal,
    (documents, sources, scratch): (&Documents, &[Source], &Path),
    machine: Machine,
    progress: &Arc<Progress>,
) -> Result<Vec<MeasuredShingle>> {
    let ThresholdGoal { texts, floor, input, .. } = goal;
    let bench = TrialRuns { sources, part: Part::ALL, scratch, machine, progress };
    let joined = |text: &Text| {
        let outcome = bench.run(join(text, *floor, input), true)?;
        documents.refuse_gaps(&outcome).map(|()| outcome)
    };
    let measure = |text: &Text| -> Result<MeasuredShingle> {
        progress.check()?;
        Ok(match truth {
            Labelled::Judged(pairs) => {
                let sweep = sweep_judged(pairs, text, (documents, sources, input), (machine.simd, progress))?;
                MeasuredShingle::labelled(text, &sweep)
            }
            Labelled::Whole(pairs) => {
                let sweep = sweep_joined(&joined(text)?, documents, pairs, *floor, progress)?;
                MeasuredShingle::labelled(text, &sweep)
            }
            Labelled::No => {
                let outcome = joined(text)?;
                progress.check()?;
                let nearest = Nearest::new(&outcome, *floor)?;
                MeasuredShingle::unlabelled(text, nearest, |threshold| {
                    progress.check()?;
                    let (sets, findings) = (&outcome.run.sets, &outcome.findings);
                    RaisedCounts::of(sets, findings, threshold, Clustering::Guarantee)
                })?
            }
        })
    };
    texts.iter().map(measure).collect()
}
