//! What `alike tune threshold` suggests and what to think of it, or why it suggests nothing, in words.

use std::path::Path;

use alike::config::{Fold, Tokens};
use alike::error::Error;
use alike::evaluate::Form;
use alike::flow::RaisedCounts;
use alike::printable::counted;
use alike::threshold::Threshold;
use alike::tune::{BestThreshold, Inseparable, LEAST_F1, ResemblanceGap, Sweep};
use serde::Serialize;

use super::bench::toml_fold;
use crate::session::labels::LabelsReport;

/// What goes with a threshold.
#[derive(Clone, Copy, Serialize)]
pub(super) struct WouldGo {
    removed: u64,
    /// Documents of the largest cluster.
    largest: u64,
}

impl WouldGo {
    pub(super) fn of(counts: &RaisedCounts) -> WouldGo {
        WouldGo { removed: counts.copies + counts.near, largest: counts.largest }
    }

    /// What goes, and whether that is too much to trust the suggestion.
    fn told(self, measured: usize) -> String {
        let WouldGo { removed, largest } = self;
        let documents = counted(measured as u64, "document");
        let told = format!("With it {removed} of {documents} would go; the largest cluster has {largest}.");
        if removed * 2 > measured as u64 {
            return format!(
                "{told} That is most of them: pages of one family may lie above the gap, and not near-duplicates alone. Look at \
                 pairs before you use it (alike tune sample)."
            );
        }
        told
    }
}

/// What suits the documents.
#[derive(Serialize)]
pub(super) struct Suggestion {
    pub(super) tokens: Tokens,
    pub(super) ngram: usize,
    pub(super) fold: Fold,
    pub(super) threshold: Threshold,
    /// On the labels; none without labels.
    pub(super) f1: Option<f64>,
    /// Of the documents that were measured; none with labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) would_go: Option<WouldGo>,
    /// What speaks against it.
    pub(super) cautions: Vec<String>,
}

impl Suggestion {
    /// The flags that are the same.
    pub(super) fn flags(&self) -> String {
        let Suggestion { tokens, ngram, fold, threshold, .. } = self;
        let fold = match *fold == Fold::default() {
            true => String::new(),
            false => format!(" --fold {fold}"),
        };
        format!("--tokens {} --ngram {ngram} --threshold {threshold}{fold}", tokens_name(*tokens))
    }

    /// The keys of a configuration that are the same.
    pub(super) fn toml(&self) -> String {
        let Suggestion { tokens, ngram, fold, threshold, .. } = self;
        format!(
            "method = \"join\"\nthreshold = {threshold}\n\n[text]\ntokens = \"{}\"\nngram = {ngram}\n{}",
            tokens_name(*tokens),
            toml_fold(*fold)
        )
    }

    /// What to know before it is used, line by line.
    pub(super) fn notes(&self, measured: usize) -> impl Iterator<Item = String> {
        self.would_go.map(|go| go.told(measured)).into_iter().chain(self.cautions.iter().cloned())
    }
}

/// Why there is no suggestion.
#[derive(Serialize)]
pub(super) struct NoSuggestion {
    reason: NoneBecause,
    /// The greatest F1 of all shingles; none without labels, or if no threshold finds a duplicate.
    best_f1: Option<f64>,
    /// The same for people, with what to do.
    why: String,
}

/// The same in a word.
#[derive(Serialize)]
#[serde(untagged)]
enum NoneBecause {
    Labels(Inseparable),
    Distribution(&'static str),
}

impl NoSuggestion {
    /// Without labels.
    pub(super) fn no_gap() -> NoSuggestion {
        let why = "There is no gap in the distribution of resemblances, so it says nothing of a threshold. Judge some pairs, and \
                   give them with --labels; `alike tune sample` shows pairs near several thresholds.";
        NoSuggestion { reason: NoneBecause::Distribution("no-gap"), best_f1: None, why: why.to_owned() }
    }

    /// With labels, of which one kind of shingle makes most.
    pub(super) fn of_labels(
        reason: Inseparable,
        labels: &LabelsReport,
        best: &BestOfLabels<'_>,
    ) -> NoSuggestion {
        let best_f1 = best.best.and_then(|best| best.score.f1);
        NoSuggestion { reason: NoneBecause::Labels(reason), best_f1, why: best.why_not(reason, labels) }
    }

    /// For people.
    pub(super) fn told(&self) -> &str {
        &self.why
    }

    /// Where a configuration was asked for; `place` is the input that does not give one.
    pub(super) fn error(&self, place: &Path) -> Error {
        Error::input(place, format!("no configuration: {} Leave out --toml to see the figures", self.why))
    }
}

/// The kind of shingle by which labels are told apart best, and how far that goes.
pub(super) struct BestOfLabels<'a> {
    /// What it is called.
    pub(super) name: &'a str,
    pub(super) best: Option<BestThreshold>,
    pub(super) mistakes: Option<u64>,
    /// Pairs that the labels say to be no duplicates.
    pub(super) others: u64,
    pub(super) floor: Threshold,
}

impl BestOfLabels<'_> {
    /// A sentence or two, and what to do.
    fn why_not(&self, reason: Inseparable, labels: &LabelsReport) -> String {
        match reason {
            Inseparable::NoDuplicates => {
                "The labels say of no measured pair that it is a duplicate. Label some that are.".to_owned()
            }
            Inseparable::NoOthers => {
                let complete = match labels.form == Form::Pairs && !labels.is_complete() {
                    true => " If the list is complete, say so: --unlisted distinct.",
                    false => "",
                };
                format!(
                    "The labels say of no measured pair that it is no duplicate, so any low threshold agrees with them. Label \
                     some that are none.{complete}"
                )
            }
            Inseparable::NoneFound => format!(
                "No threshold{} finds a pair that the labels say to be duplicates. Measure shorter shingles (--words, --chars){}.",
                if labels.is_complete() { format!(" from --floor {} on", self.floor) } else { String::new() },
                if labels.is_complete() { ", or give a lower --floor" } else { "" },
            ),
            Inseparable::LowF1 => {
                self.does_not_separate(&format!("; below {LEAST_F1} a threshold is worth nothing"))
            }
            Inseparable::NoBetterThanAll => {
                let (mistakes, others) = (self.mistakes.unwrap_or(0), self.others);
                let mistakes = counted(mistakes, "mistake");
                self.does_not_separate(&format!(
                    ", with {mistakes}; to take every labelled pair for a duplicate makes {others}, so label more pairs that are none"
                ))
            }
        }
    }

    /// The same where there is a best threshold; `what` is said of its F1.
    fn does_not_separate(&self, what: &str) -> String {
        let best = self.best.map(|best| {
            let f1 = best.score.f1.unwrap_or(0.0);
            format!(": the best F1 is {f1:.4} ({} at {}){what}", self.name, best.score.threshold)
        });
        let floor = if self.best.is_some_and(|best| best.at_floor) { ", give a lower --floor" } else { "" };
        format!(
            "The labels do not separate with these shingles{}. Measure other shingles (--words, --chars){floor}, look at \
             pairs (alike tune sample), or check the labels.",
            best.unwrap_or_default()
        )
    }
}

/// What speaks against the threshold of a gap.
pub(super) fn caution_of_gap(gap: &ResemblanceGap) -> Option<String> {
    let all = gap.within + gap.above + gap.below;
    (gap.within > 0).then(|| {
        let (texts, lie) = (counted(gap.within, "text"), if gap.within == 1 { "lies" } else { "lie" });
        let share = 100.0 * gap.within as f64 / all as f64;
        format!("{texts} of {all} {lie} in the gap ({share:.2} %): which of them are duplicates only labels can say.")
    })
}

/// What speaks against the best threshold of labels.
pub(super) fn caution_of_labels(best: &BestThreshold, sweep: &Sweep) -> Option<String> {
    best.at_floor.then(|| {
        let (missed, all) = (sweep.duplicates() - best.score.both, sweep.duplicates());
        format!(
            "The range begins at --floor {}, and {missed} of {} are below that: a lower --floor may give a better one.",
            best.from,
            counted(all, "labelled duplicate")
        )
    })
}

/// How flags and configurations call tokens.
fn tokens_name(tokens: Tokens) -> &'static str {
    match tokens {
        Tokens::Words => "words",
        Tokens::Chars => "chars",
    }
}
