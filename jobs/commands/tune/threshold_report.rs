//! What `alike tune threshold` tells.

use std::fmt::Write as _;

use alike::config::{Text, Tokens};
use alike::error::{Error, Result};
use alike::flow::RaisedCounts;
use alike::printable::counted;
use alike::threshold::Threshold;
use alike::tune::{BestThreshold, LabelScore, Nearest, ResemblanceGap, Sweep};
use serde::Serialize;

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
    shingles: Vec<MeasuredShingle>,
    suggestion: Option<Suggestion>,
}

/// What came of a kind of shingle.
#[derive(Serialize)]
pub(super) struct MeasuredShingle {
    tokens: Tokens,
    ngram: usize,
    #[serde(flatten)]
    result: ShingleResult,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ShingleResult {
    /// By labels.
    Labelled {
        /// Pairs that the labels say to be duplicates.
        duplicates: u64,
        /// Nothing where no threshold finds a duplicate.
        best: Option<BestThreshold>,
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

/// What goes with a threshold.
#[derive(Clone, Copy, Serialize)]
struct WouldGo {
    removed: u64,
    /// Documents of the largest cluster.
    largest: u64,
}

/// What suits the documents.
#[derive(Clone, Copy, Serialize)]
struct Suggestion {
    tokens: Tokens,
    ngram: usize,
    threshold: Threshold,
    /// On the labels; none without labels.
    f1: Option<f64>,
    /// Of the documents that were measured; none with labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_go: Option<WouldGo>,
}

impl MeasuredShingle {
    pub(super) fn labelled(text: &Text, sweep: &Sweep) -> MeasuredShingle {
        let tenths = SHOWN.filter_map(|tenths| Threshold::from_millionths(100_000 * tenths));
        let by_threshold = tenths.map(|threshold| sweep.at(threshold)).collect();
        let result =
            ShingleResult::Labelled { duplicates: sweep.duplicates(), best: sweep.best(), by_threshold };
        MeasuredShingle { tokens: text.tokens, ngram: text.ngram, result }
    }

    /// By the distribution; `counts` says what goes with a threshold.
    pub(super) fn unlabelled(
        text: &Text,
        nearest: Nearest,
        counts: impl FnOnce(Threshold) -> Result<RaisedCounts>,
    ) -> Result<MeasuredShingle> {
        let gap = nearest.gap();
        let counts = gap.map(|gap| counts(gap.threshold)).transpose()?;
        let would_go =
            counts.map(|counts| WouldGo { removed: counts.copies + counts.near, largest: counts.largest });
        let result = ShingleResult::Unlabelled { nearest, gap, would_go };
        Ok(MeasuredShingle { tokens: text.tokens, ngram: text.ngram, result })
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

    /// How well it tells duplicates and others apart, and how much room the threshold has; then the threshold.
    fn worth(&self) -> Option<(f64, u32, Threshold)> {
        let room = |from: Threshold, to: Threshold| to.millionths() - from.millionths();
        match &self.result {
            ShingleResult::Labelled { best, .. } => best
                .map(|best| (best.score.f1.unwrap_or(0.0), room(best.from, best.to), best.score.threshold)),
            ShingleResult::Unlabelled { gap, .. } => {
                gap.map(|gap| (0.0, room(gap.from, gap.to), gap.threshold))
            }
        }
    }
}

impl ThresholdReport {
    pub(super) fn new(
        (documents, measured): (usize, usize),
        labels: Option<LabelsReport>,
        floor: Threshold,
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
            threshold,
            f1: labels.is_some().then_some(f1),
            would_go: shingle.would_go(),
        });
        let version = env!("CARGO_PKG_VERSION");
        ThresholdReport { version, documents, measured, labels, floor, shingles, suggestion }
    }

    /// A configuration with the suggestion.
    pub(super) fn toml(&self) -> Result<String> {
        let Some(Suggestion { tokens, ngram, threshold, f1, would_go }) = self.suggestion else {
            return Err(Error::config(format!("{} Leave out --toml to see the figures", self.nothing())));
        };
        let why = match f1 {
            Some(f1) => {
                format!("F1 {f1:.4} on {} labels", self.labels.as_ref().map_or(0, |labels| labels.used))
            }
            None => format!("the gap in the resemblances of {}", counted(self.measured as u64, "document")),
        };
        Ok(format!(
            "# Chosen by `alike tune threshold`: {why}.\n{}method = \"join\"\nthreshold = {threshold}\n\n\
             [text]\ntokens = \"{}\"\nngram = {ngram}\n",
            would_go.iter().map(|go| format!("# {}\n", self.told(*go))).collect::<String>(),
            tokens_name(tokens)
        ))
    }

    /// What goes with the suggestion, and whether that is too much to trust it.
    fn told(&self, would_go: WouldGo) -> String {
        let WouldGo { removed, largest } = would_go;
        let measured = counted(self.measured as u64, "document");
        let told = format!("With it {removed} of {measured} would go; the largest cluster has {largest}.");
        if removed * 2 > self.measured as u64 {
            return format!(
                "{told} That is most of them: pages of one family may lie above the gap, and not near-duplicates alone. Look at \
                 pairs before you use it (alike tune sample)."
            );
        }
        told
    }

    /// Why nothing is suggested.
    fn nothing(&self) -> &'static str {
        match self.labels {
            Some(_) => "No threshold finds a pair that the labels say to be duplicates.",
            None => {
                "There is no gap in the distribution of resemblances, so it says nothing of a threshold. Judge some \
                 pairs, and give them with --labels; `alike tune sample` shows pairs near several thresholds."
            }
        }
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
        match self.suggestion {
            None => {
                let _ = write!(text, "\n{}\n", self.nothing());
            }
            Some(Suggestion { tokens, ngram, threshold, would_go, .. }) => {
                let tokens = tokens_name(tokens);
                let _ =
                    write!(text, "\nSuggested: --tokens {tokens} --ngram {ngram} --threshold {threshold}\n");
                would_go.iter().for_each(|go| text += &format!("{}\n", self.told(*go)));
            }
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
                Some(BestThreshold { score, from, to }) => [
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

fn tokens_name(tokens: Tokens) -> &'static str {
    match tokens {
        Tokens::Words => "words",
        Tokens::Chars => "chars",
    }
}
