//! `alike tune sampling`: how thinly shingles may be sampled, by the length of documents.

use std::process::ExitCode;
use std::sync::Arc;

use alike::config::{Config, Fold};
use alike::error::{Error, Result};
use alike::evaluate::{Documents, size_name};
use alike::flow::Part;
use alike::lexicon::{ONLY_SURVEY, Survey};
use alike::output::Chart;
use alike::printable::counted;
use alike::progress::Progress;
use alike::read::{FormatHint, Source};
use alike::tune::{
    Accuracy, Floors, LengthGroup, MOST_RESIDUES, Plan, SamplingGoal, plan, some_of, write_part,
};
use serde::Serialize;

use super::bench::{TrialRuns, input, refuse_few, toml_fold};
use crate::cli::tune::SamplingArgs;
use crate::session::inputs::{find_inputs, refuse};
use crate::session::options::{Machine, asked_fold};
use crate::session::run_folder::RunFolder;
use crate::session::watched::watched;
use crate::terminal::data::object::print_rows;
use crate::terminal::data::table::TextTable;
use crate::terminal::new_file::NewFile;
use crate::terminal::stdout::{OutputLines, print};

/// Pairs of a group below which its measures are chance.
const FEW: u64 = 30;

/// All that is reported.
#[derive(Serialize)]
struct SamplingReport {
    version: &'static str,
    /// Of the inputs.
    documents: usize,
    /// Documents that the plan was made of.
    measured: usize,
    threshold: String,
    ngram: usize,
    fold: Fold,
    floors: Floors,
    #[serde(flatten)]
    plan: Plan,
}

pub(super) fn run(args: &SamplingArgs) -> Result<ExitCode> {
    let machine = Machine::new(&args.machine)?;
    let wish = wish(args)?;
    let svg = NewFile::if_named("--svg", args.svg.as_ref())?;
    let told = watched(&args.talk, |progress| measure(args, wish, machine, progress))?;
    svg.map_or(Ok(()), |svg| svg.write(&chart(&told).to_svg()))?;
    if args.toml {
        return print(toml(&told).as_bytes());
    }
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let written =
        print_rows(&mut lines, form, &told, ("groups", &["words_from", "words_to"], &[]), |lines| {
            lines.texts(&text(&told))
        });
    lines.finish(written)
}

/// What was asked for, if it can be.
fn wish(args: &SamplingArgs) -> Result<SamplingGoal> {
    for (name, floor) in [("--precision", args.precision), ("--recall", args.recall)] {
        if !(0.0..=1.0).contains(&floor) {
            return Err(Error::config(format!("{name} {floor}: expected 0 to 1")));
        }
    }
    if args.documents == 0 {
        return Err(Error::config("--documents 0: there is nothing to measure on; 20000 are usual"));
    }
    let mut config = Config { input: input(&args.records), ..Config::default() };
    if let Some(threshold) = &args.threshold {
        config.threshold = threshold.parse().map_err(Error::Config)?;
    }
    args.ngram.iter().for_each(|ngram| config.text.ngram = *ngram);
    config.text.fold = asked_fold(&args.fold)?.unwrap_or_default();
    config.validate()?;
    let Config { threshold, text, input, .. } = config;
    let floors = Floors { precision: args.precision, recall: args.recall };
    Ok(SamplingGoal { threshold, ngram: text.ngram, fold: text.fold, floors, input })
}

/// Reads the documents, chooses some if there are too many, and has the plan made.
fn measure(
    args: &SamplingArgs,
    mut wish: SamplingGoal,
    machine: Machine,
    progress: &Arc<Progress>,
) -> Result<SamplingReport> {
    let place = RunFolder::new(None)?;
    let read = |sources: &[Source], wish: &SamplingGoal| {
        let survey = Survey {
            sources,
            input: &wish.input,
            workers: machine.workers,
            memory: machine.memory,
            mesh: None,
            counter: ONLY_SURVEY,
        };
        Documents::read(&survey, machine.simd, progress)
    };
    let mut found = find_inputs(&args.inputs, args.records.form.hint(&wish.input), place.path(), progress)?;
    let mut documents = read(&found.sources, &wish)?;
    refuse(args.records.refusals, &found.rejected(documents.refused.clone()), documents.len() as u64)?;
    refuse_few(&args.inputs, documents.counts(), 1, "")?;
    let all = documents.len();
    if all > args.documents {
        let path = place.path().join("measured.jsonl");
        let all: Vec<u32> = (0..all as u32).collect();
        let chosen = some_of(&documents, &all, args.documents);
        wish.input = write_part((&documents, &found.sources), &chosen, (&wish.input, &path), progress)?;
        found = find_inputs(&[path], FormatHint::default(), place.path(), progress)?;
        documents = read(&found.sources, &wish)?;
    }
    let sources = &found.sources;
    let bench = TrialRuns { sources, part: Part::ALL, scratch: place.path(), machine, progress };
    Ok(SamplingReport {
        version: env!("CARGO_PKG_VERSION"),
        documents: all,
        measured: documents.len(),
        threshold: wish.threshold.to_string(),
        ngram: wish.ngram,
        fold: wish.fold,
        floors: wish.floors,
        plan: plan(&documents, &wish, &|config, pairs| bench.run(config, pairs))?,
    })
}

/// Precision by ratio, of each group that has a pair and of all; of all shingles it is 1.
fn chart(told: &SamplingReport) -> Chart {
    let plan = &told.plan;
    let curve = |of: &dyn Fn(usize) -> Option<f64>| {
        let points = plan.by_ratio.iter().enumerate();
        let points = points.filter_map(|(at, ratio)| Some((f64::from(ratio.ratio.ilog2()), of(at)?)));
        [(0.0, 1.0)].into_iter().chain(points).collect::<Vec<_>>()
    };
    let group = |(number, group): (usize, &LengthGroup)| {
        let of = |at: usize| plan.by_ratio[at].by_size[number].precision;
        (group.pairs > 0).then(|| (format!("{} words", size_name(number)), curve(&of)))
    };
    let all = ("all".to_owned(), curve(&|at| plan.by_ratio[at].all.precision));
    let most = plan.by_ratio.iter().map(|at| at.ratio.ilog2()).max().unwrap_or(1);
    Chart {
        title: format!("Precision of sampled resemblance at {}", told.threshold),
        across: "x, where one shingle in 2^x is kept".to_owned(),
        up: "precision".to_owned(),
        range: (0.0, f64::from(most)),
        curves: [all].into_iter().chain(plan.groups.iter().enumerate().filter_map(group)).collect(),
    }
}

/// A configuration with the plan.
fn toml(told: &SamplingReport) -> String {
    let SamplingReport { threshold, ngram, fold, floors, plan, .. } = told;
    let ratios: Vec<String> = plan.ratios.iter().map(u64::to_string).collect();
    format!(
        "# Chosen by `alike tune sampling` for a precision of {}: keeps {:.2} % of the shingles of {} texts.\n\
         method = \"shingles\"\nthreshold = {threshold}\n\n[text]\nngram = {ngram}\n{}\n[shingles]\nsampling = \"adaptive\"\n\
         ratios = [{}]\n\n[count]\ncommon_cap = 0\n",
        floors.precision,
        100.0 * plan.adaptive.share,
        plan.texts,
        toml_fold(*fold),
        ratios.join(", ")
    )
}

/// For people.
fn text(told: &SamplingReport) -> String {
    let SamplingReport { plan, floors, .. } = told;
    let part = match told.measured == told.documents {
        true => "all".to_owned(),
        false => told.measured.to_string(),
    };
    let heading = format!(
        "{part} of {}: {}, {} of {}, {} at or over {}.\n\n",
        counted(told.documents as u64, "document"),
        counted(plan.texts, "text"),
        counted(plan.shingles, "shingle"),
        counted(told.ngram as u64, "word"),
        counted(plan.pairs, "pair"),
        told.threshold
    );
    let most = format!(
        "PRECISION / RECALL by group are means over up to {MOST_RESIDUES} samples of a ratio; PLAN keeps a precision of {}{}.\n",
        floors.precision,
        if floors.recall > 0.0 { format!(" and a recall of {}", floors.recall) } else { String::new() }
    );
    let few = match plan.groups.iter().any(|group| (1..FEW).contains(&group.pairs)) {
        true => format!("Of groups with fewer than {FEW} pairs that says little: more documents would.\n"),
        false => String::new(),
    };
    let all = &plan.adaptive.all;
    let result = format!(
        "With the plan: precision {}, recall {}, {:.2} % of the shingles (planned {:.2} %).\n\n",
        share(all.precision),
        share(all.recall),
        100.0 * plan.adaptive.share,
        100.0 * plan.planned_share
    );
    heading + &table(plan).text() + "\n" + &most + &few + &result + &toml(told)
}

/// A line for each group that has texts, and one for all.
fn table(plan: &Plan) -> TextTable {
    const RATIOS: [&str; 6] = ["1/2", "1/4", "1/8", "1/16", "1/32", "1/64"];
    let mut heading = vec!["WORDS", "TEXTS", "PAIRS"];
    heading.extend(&RATIOS[..plan.by_ratio.len()]);
    heading.extend(["PLAN", "WITH PLAN"]);
    let row = |name: String, counts: [u64; 2], cells: Vec<Accuracy>, kept: String, with_plan: &Accuracy| {
        let counts = counts.map(|count| count.to_string());
        let cells = cells.iter().map(both);
        [name].into_iter().chain(counts).chain(cells).chain([kept, both(with_plan)]).collect::<Vec<_>>()
    };
    let groups = plan.groups.iter().enumerate().filter(|(_, group)| group.texts > 0);
    let mut rows: Vec<Vec<String>> = groups
        .map(|(number, group)| {
            let cells = plan.by_ratio.iter().map(|at| at.by_size[number]).collect();
            let counts = [group.texts, group.pairs];
            let kept = format!("1/{}", group.ratio);
            row(size_name(number), counts, cells, kept, &plan.adaptive.by_size[number])
        })
        .collect();
    let cells = plan.by_ratio.iter().map(|at| at.all).collect();
    let share = format!("{:.2} %", 100.0 * plan.adaptive.share);
    rows.push(row("all".into(), [plan.texts, plan.pairs], cells, share, &plan.adaptive.all));
    TextTable { heading, rows }
}

fn both(accuracy: &Accuracy) -> String {
    format!("{}/{}", share(accuracy.precision), share(accuracy.recall))
}

/// A share; none is a dash.
fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{share:.2}"))
}
