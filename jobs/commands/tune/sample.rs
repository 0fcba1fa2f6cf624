//! `alike tune sample`: what would go at several thresholds, and pairs near each to look at.

use std::process::ExitCode;
use std::sync::Arc;

use alike::config::{Config, Fold, Text, parse_size};
use alike::error::{Error, Result};
use alike::flow::{Part, RaisedCounts};
use alike::printable::counted;
use alike::progress::Progress;
use alike::read::{Extent, Source};
use alike::threshold::Threshold;
use alike::tune::{AtThreshold, Example, Measured, thresholds};
use serde::Serialize;

use super::bench::{TrialRuns, input, refuse_few};
use crate::cli::tune::SampleArgs;
use crate::session::inputs::{find_inputs, refuse};
use crate::session::options::{Machine, asked_fold};
use crate::session::run_folder::RunFolder;
use crate::session::watched::watched;
use crate::terminal::data::object::print_rows;
use crate::terminal::data::table::TextTable;
use crate::terminal::stdout::{OutputLines, Style};
use crate::terminal::words::piece;

/// Thresholds that are measured where none is given.
const USUAL: [&str; 5] = ["0.5", "0.6", "0.7", "0.8", "0.9"];

/// All that is reported.
#[derive(Serialize)]
struct SampleReport {
    version: &'static str,
    /// Documents measured.
    documents: u64,
    ngram: usize,
    fold: Fold,
    /// Bytes of the inputs as they lie on disk, and how many of them were measured.
    bytes: u64,
    measured_bytes: u64,
    /// Whether that is all of them; else what goes in the whole input is a lower bound.
    whole: bool,
    thresholds: Vec<ThresholdRow>,
}

#[derive(Serialize)]
struct ThresholdRow {
    #[serde(flatten)]
    found: AtThreshold,
    /// Documents that go, and their share.
    removed: u64,
    share: f64,
    /// Documents of all of the input that go at least, if the rest is like what was measured.
    removed_of_all: u64,
}

pub(super) fn run(args: &SampleArgs) -> Result<ExitCode> {
    let machine = Machine::new(&args.machine)?;
    let usual = Text::default();
    let fold = asked_fold(&args.fold)?.unwrap_or(usual.fold);
    let text = Text { ngram: args.ngram.unwrap_or(usual.ngram), fold, ..usual };
    let config = Config { input: input(&args.records), text, ..Config::default() };
    config.validate()?;
    let usual = || USUAL.map(str::to_owned).to_vec();
    let asked = if args.threshold.is_empty() { usual() } else { args.threshold.clone() };
    let asked: Vec<Threshold> =
        asked.iter().map(|text| text.parse().map_err(Error::Config)).collect::<Result<_>>()?;
    let bytes = match parse_size(&args.sample).map_err(|e| Error::config(format!("--sample: {e}")))? {
        0 => return Err(Error::config("--sample 0: there is nothing to measure on; 256MiB are usual")),
        bytes => bytes,
    };
    let told = watched(&args.talk, |progress| measure(args, (&asked, &config), bytes, machine, progress))?;
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let written =
        print_rows(&mut lines, form, &told, ("thresholds", &["threshold"], &["over", "under"]), |lines| {
            tell(&told, lines)
        });
    lines.finish(written)
}

fn measure(
    args: &SampleArgs,
    (asked, config): (&[Threshold], &Config),
    bytes: u64,
    machine: Machine,
    progress: &Arc<Progress>,
) -> Result<SampleReport> {
    let place = RunFolder::new(None)?;
    let found = find_inputs(&args.inputs, args.records.form.hint(&config.input), place.path(), progress)?;
    let sources = &found.sources;
    let extent = Extent::next(sources, (0, 0), bytes);
    let part = Part { extent, ..Part::ALL };
    let bench = TrialRuns { sources, part, scratch: place.path(), machine, progress };
    let Measured { thresholds, lowest } =
        thresholds(asked, config, &|config, pairs| bench.run(config, pairs), progress)?;
    let refused = found.rejected(lowest.run.documents.inputs.rejected(&lowest.refused));
    let documents = lowest.tally.documents;
    refuse(args.records.refusals, &refused, documents)?;
    let all: u64 = sources.iter().map(|source| source.bytes).sum();
    let measured = measured_bytes(sources, extent);
    let part = if measured == all { "" } else { "only the beginning was measured: give a larger --sample" };
    refuse_few(&args.inputs, (documents, documents - lowest.tally.empty), 1, part)?;
    let row = |found: AtThreshold| {
        let removed = found.removed();
        let removed_of_all = (removed as f64 * all as f64 / measured.max(1) as f64).round() as u64;
        ThresholdRow { removed, share: removed as f64 / documents.max(1) as f64, removed_of_all, found }
    };
    Ok(SampleReport {
        version: env!("CARGO_PKG_VERSION"),
        documents,
        ngram: config.text.ngram,
        fold: config.text.fold,
        bytes: all,
        measured_bytes: measured,
        whole: measured == all,
        thresholds: thresholds.into_iter().map(row).collect(),
    })
}

/// Bytes of the inputs that are in a part of them, as they lie on disk.
fn measured_bytes(sources: &[Source], extent: Extent) -> u64 {
    (0..).zip(sources).map(|(file, source)| extent.bytes_of(file, source)).sum()
}

/// For people.
fn tell(told: &SampleReport, lines: &mut OutputLines) -> Result<()> {
    table(told).text().lines().try_for_each(|line| lines.text(line))?;
    lines.text("")?;
    let documents = counted(told.documents, "document");
    lines.text(&match told.whole {
        true => format!("Measured: the whole input, {documents}. PAIRS are of distinct texts."),
        false => format!(
            "Measured: the first {} of {} bytes, {documents}. PAIRS are of distinct texts. What goes of all \
             is a lower bound, if the rest is like the beginning: in a beginning only pairs are seen that stand in it with \
             both documents.",
            told.measured_bytes, told.bytes
        ),
    })?;
    for ThresholdRow { found, .. } in &told.thresholds {
        let AtThreshold { threshold, over, under, .. } = found;
        for (side, examples) in [("at or over", over), ("under", under)] {
            lines.text("")?;
            lines.text(&match examples.is_empty() {
                true => format!("No pair is just {side} {threshold}."),
                false => format!("Just {side} {threshold}:"),
            })?;
            examples.iter().try_for_each(|example| show(example, lines))?;
        }
    }
    Ok(())
}

fn table(told: &SampleReport) -> TextTable {
    let mut heading = vec!["THRESHOLD", "PAIRS", "COPIES", "NEAR", "GO", "SHARE"];
    if !told.whole {
        heading.push("OF ALL AT LEAST");
    }
    let row = |row: &ThresholdRow| {
        let AtThreshold { threshold, counts: RaisedCounts { copies, near, pairs, .. }, .. } = &row.found;
        let counts = [pairs, copies, near, &row.removed].map(u64::to_string);
        let share = format!("{:.2} %", 100.0 * row.share);
        let of_all = (!told.whole).then(|| row.removed_of_all.to_string());
        [threshold.to_string()].into_iter().chain(counts).chain([share]).chain(of_all).collect()
    };
    TextTable { rows: told.thresholds.iter().map(row).collect(), heading }
}

fn show(example: &Example, lines: &mut OutputLines) -> Result<()> {
    let Example { first, second, resemblance, differ } = example;
    lines.text(&format!("  {resemblance:.4}  {first}  {second}"))?;
    let pieces: Vec<(Style, String)> = differ.iter().map(piece).collect();
    if pieces.is_empty() { lines.text("    the words are the same") } else { lines.styled("    ", &pieces) }
}
