//! What `alike tune threshold` tells.

use std::path::Path;

use alike::config::{Fold, Text, Tokens};
use alike::error::Result;
use alike::flow::RaisedCounts;
use alike::printable::counted;
use alike::threshold::Threshold;
use alike::tune::{BestThreshold, Inseparable, LabelScore, Nearest, ResemblanceGap, Sweep};
use serde::Serialize;

use super::suggestion::{BestOfLabels, NoSuggestion, Suggestion, WouldGo, caution_of_gap, caution_of_labels};
use crate::session::labels::LabelsReport;
use crate::terminal::data::table::TextTable;

/// Thresholds at which every shingle is shown, in tenths.
const SHOWN: std::ops::RangeInclusive<u32> = 3..=9;
/// Parts of the distribution that are shown, in hundredths each.
const BAND: usize = 10;

/// All that is reported.
#[derive(Serialize)]
pub(super) struct ThresholdReport {
    version: &'static str,
    /// Of the inputs.
    documents: usize,
    /// Documents that were measured.
    measured: usize,
    labels: Option<LabelsReport>,
    /// The least resemblance that was looked for where not every pair was measured.
    floor: Threshold,
    /// Which spellings were one.
    fold: Fold,
    shingles: Vec<MeasuredShingle>,
    suggestion: Option<Suggestion>,
    /// Why there is none.
    no_suggestion: Option<NoSuggestion>,
}

/// What came of a kind of shingle.
#[derive(Serialize)]
pub(super) struct MeasuredShingle {
    tokens: Tokens,
    ngram: usize,
    #[serde(flatten)]
    result: ShingleResult,
    /// What speaks against its threshold, if it is suggested.
    #[serde(skip)]
    caution: Option<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ShingleResult {
    /// By labels.
    Labelled {
        /// Pairs that the labels say to be duplicates.
        duplicates: u64,
        /// Pairs that they say to be none.
        others: u64,
        /// Nothing where no threshold finds a duplicate.
        best: Option<BestThreshold>,
        /// Labelled pairs of which the best threshold says the wrong thing.
        mistakes: Option<u64>,
        /// Why the best threshold is worth nothing.
        inseparable: Option<Inseparable>,
        by_threshold: Vec<LabelScore>,
    },
    /// By the distribution.
    Unlabelled {
        nearest: Nearest,
        gap: Option<ResemblanceGap>,
        /// What goes of the documents that were measured with the threshold of the gap.
        #[serde(skip_serializing_if = "Option::is_none")]
        would_go: Option<WouldGo>,
    },
}

impl MeasuredShingle {
    pub(super) fn labelled(text: &Text, sweep: &Sweep) -> MeasuredShingle {
        let tenths = SHOWN.filter_map(|tenths| Threshold::from_millionths(100_000 * tenths));
        let best = sweep.best();
        let result = ShingleResult::Labelled {
            duplicates: sweep.duplicates(),
            others: sweep.others(),
            best,
            mistakes: best.map(|best| sweep.mistakes(&best.score)),
            inseparable: sweep.inseparable(),
            by_threshold: tenths.map(|threshold| sweep.at(threshold)).collect(),
        };
        let caution = best.and_then(|best| caution_of_labels(&best, sweep));
        MeasuredShingle { tokens: text.tokens, ngram: text.ngram, result, caution }
    }

    /// By the distribution; `counts` says what goes with a threshold.
    pub(super) fn unlabelled(
        text: &Text,
        nearest: Nearest,
        counts: impl FnOnce(Threshold) -> Result<RaisedCounts>,
    ) -> Result<MeasuredShingle> {
        let gap = nearest.gap();
        let counts = gap.map(|gap| counts(gap.threshold)).transpose()?;
        let would_go = counts.as_ref().map(WouldGo::of);
        let result = ShingleResult::Unlabelled { nearest, gap, would_go };
        let caution = gap.as_ref().and_then(caution_of_gap);
        Ok(MeasuredShingle { tokens: text.tokens, ngram: text.ngram, result, caution })
    }

    fn would_go(&self) -> Option<WouldGo> {
        match self.result {
            ShingleResult::Labelled { .. } => None,
            ShingleResult::Unlabelled { would_go, .. } => would_go,
        }
    }

    fn name(&self) -> String {
        let unit = match self.tokens {
            Tokens::Words => "word",
            Tokens::Chars => "character",
        };
        counted(self.ngram as u64, unit)
    }

    /// How well it tells duplicates and others apart, and how much room the threshold has; then the threshold. Nothing if there is
    /// none, or none that is worth something.
    fn worth(&self) -> Option<(f64, u32, Threshold)> {
        let room = |from: Threshold, to: Threshold| to.millionths() - from.millionths();
        match &self.result {
            ShingleResult::Labelled { inseparable: Some(_), .. } => None,
            ShingleResult::Labelled { best, .. } => best
                .map(|best| (best.score.f1.unwrap_or(0.0), room(best.from, best.to), best.score.threshold)),
            ShingleResult::Unlabelled { gap, .. } => {
                gap.map(|gap| (0.0, room(gap.from, gap.to), gap.threshold))
            }
        }
    }

    /// The greatest F1 on labels, whatever it is worth.
    fn best_f1(&self) -> f64 {
        match &self.result {
            ShingleResult::Labelled { best, .. } => best.and_then(|best| best.score.f1).unwrap_or(0.0),
            ShingleResult::Unlabelled { .. } => 0.0,
        }
    }
}

impl ThresholdReport {
    pub(super) fn new(
        (documents, measured): (usize, usize),
        labels: Option<LabelsReport>,
        (floor, fold): (Threshold, Fold),
        shingles: Vec<MeasuredShingle>,
    ) -> ThresholdReport {
        let mut best: Option<(&MeasuredShingle, (f64, u32, Threshold))> = None;
        for shingle in &shingles {
            if let Some(worth) = shingle.worth()
                && best.is_none_or(|(_, other)| (other.0, other.1) < (worth.0, worth.1))
            {
                best = Some((shingle, worth));
            }
        }
        let suggestion = best.map(|(shingle, (f1, _, threshold))| Suggestion {
            tokens: shingle.tokens,
            ngram: shingle.ngram,
            fold,
            threshold,
            f1: labels.is_some().then_some(f1),
            would_go: shingle.would_go(),
            cautions: shingle.caution.iter().cloned().collect(),
        });
        let no_suggestion = suggestion.is_none().then(|| why_none(labels.as_ref(), floor, &shingles));
        let version = env!("CARGO_PKG_VERSION");
        ThresholdReport {
            version,
            documents,
            measured,
            labels,
            floor,
            fold,
            shingles,
            suggestion,
            no_suggestion,
        }
    }

    /// A configuration with the suggestion; `input` is what was measured.
    pub(super) fn toml(&self, input: &Path) -> Result<String> {
        let Some(suggestion) = &self.suggestion else {
            let place = self.labels.as_ref().map_or(input, |labels| Path::new(&labels.file));
            let none = self.no_suggestion.as_ref().map(|none| none.error(place));
            return Err(none.unwrap_or_else(|| NoSuggestion::no_gap().error(place)));
        };
        let why = match suggestion.f1 {
            Some(f1) => {
                format!("F1 {f1:.4} on {} labels", self.labels.as_ref().map_or(0, |labels| labels.used))
            }
            None => format!("the gap in the resemblances of {}", counted(self.measured as u64, "document")),
        };
        let notes: String = suggestion.notes(self.measured).map(|note| format!("# {note}\n")).collect();
        Ok(format!("# Chosen by `alike tune threshold`: {why}.\n{notes}{}", suggestion.toml()))
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let measured = match self.measured == self.documents {
            true => "all measured".to_owned(),
            false => format!("{} measured", self.measured),
        };
        let mut text = format!("{}, {measured}\n", counted(self.documents as u64, "document"));
        for note in self.labels.iter().flat_map(LabelsReport::notes) {
            text += &format!("{note}\n");
        }
        text += "\n";
        text += &self.table().text();
        text += &match self.labels {
            Some(_) => "\nThe columns of tenths are F1 at these thresholds. THRESHOLD has the greatest F1; so has any in RANGE.\n"
                .to_owned(),
            None => format!(
                "\nThe columns of tenths count distinct texts by the resemblance of the nearest other one; BELOW {} there is \
                 none or it was not looked for.\n",
                self.floor
            ),
        };
        if let Some(suggestion) = &self.suggestion {
            text += &format!("\nSuggested: {}\n", suggestion.flags());
            suggestion.notes(self.measured).for_each(|note| text += &format!("{note}\n"));
        }
        if let Some(none) = &self.no_suggestion {
            text += &format!("\nNothing is suggested. {}\n", none.told());
        }
        text
    }

    fn table(&self) -> TextTable {
        let labelled = self.labels.is_some();
        let mut heading = vec!["SHINGLE"];
        match labelled {
            true => {
                heading.extend(["0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"]);
                heading.extend(["THRESHOLD", "RANGE", "PRECISION", "RECALL", "F1"]);
            }
            false => {
                heading.extend(["BELOW", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"]);
                heading.extend(["GAP", "IN IT", "THRESHOLD"]);
            }
        }
        TextTable { heading, rows: self.shingles.iter().map(row).collect() }
    }
}

/// Why nothing is suggested: with labels by the kind of shingle that comes nearest to it.
fn why_none(labels: Option<&LabelsReport>, floor: Threshold, shingles: &[MeasuredShingle]) -> NoSuggestion {
    let nearest = shingles.iter().max_by(|a, b| a.best_f1().total_cmp(&b.best_f1()));
    match (labels, nearest.map(|shingle| (shingle, &shingle.result))) {
        (
            Some(labels),
            Some((
                shingle,
                ShingleResult::Labelled { inseparable: Some(reason), best, mistakes, others, .. },
            )),
        ) => {
            let (name, best, mistakes, others) = (&*shingle.name(), *best, *mistakes, *others);
            NoSuggestion::of_labels(*reason, labels, &BestOfLabels { name, best, mistakes, others, floor })
        }
        _ => NoSuggestion::no_gap(),
    }
}

fn row(shingle: &MeasuredShingle) -> Vec<String> {
    let dash = || "-".to_owned();
    let share = |share: Option<f64>| share.map_or_else(dash, |share| format!("{share:.4}"));
    let range = |from: Threshold, to: Threshold| format!("{:.3}-{:.3}", from.to_f64(), to.to_f64());
    let mut cells = vec![shingle.name()];
    match &shingle.result {
        ShingleResult::Labelled { best, by_threshold, .. } => {
            let short = |score: &LabelScore| score.f1.map_or_else(dash, |f1| format!("{f1:.2}"));
            cells.extend(by_threshold.iter().map(short));
            cells.extend(match best {
                None => std::array::from_fn(|_| dash()),
                Some(BestThreshold { score, from, to, .. }) => [
                    score.threshold.to_string(),
                    range(*from, *to),
                    share(score.precision),
                    share(score.recall),
                    share(score.f1),
                ],
            });
        }
        ShingleResult::Unlabelled { nearest, gap, .. } => {
            cells.push(nearest.alone.to_string());
            let bands = nearest.hundredths.chunks(BAND).skip(1);
            let mut bands: Vec<u64> = bands.map(|band| band.iter().sum()).collect();
            // Equal shingles are the upper end of the last band.
            let last = bands.pop().unwrap_or(0);
            bands.iter_mut().rev().take(1).for_each(|band| *band += last);
            cells.extend(bands.iter().map(u64::to_string));
            cells.extend(match gap {
                None => [dash(), dash(), dash()],
                Some(gap) => [range(gap.from, gap.to), gap.within.to_string(), gap.threshold.to_string()],
            });
        }
    }
    cells
}
