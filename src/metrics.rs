//! What is measured of a process while it works: every metric once, with its name, its type and its meaning; the counters
//! that a run adds to; and all of it as Prometheus reads it.
//!
//! The text format is a dozen lines, so there is no crate for it here: those there are bring a registry with locks and
//! handles of their own, where a run has one array of numbers.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// What becomes of a value over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// It only grows while the process lives.
    Counter,
    /// It goes up and down.
    Gauge,
}

/// The one table: variant, type, name, meaning.
macro_rules! metrics {
    ($($metric:ident $kind:ident $name:literal $help:literal)*) => {
        /// Something that is measured, of one process.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Metric {
            $(#[doc = $help] $metric,)*
        }

        impl Metric {
            /// All metrics, in the order of the answer.
            pub const ALL: &'static [Metric] = &[$(Metric::$metric,)*];

            /// What becomes of it, its name, and what it means.
            fn told(self) -> (MetricKind, &'static str, &'static str) {
                match self {
                    $(Metric::$metric => (MetricKind::$kind, $name, $help),)*
                }
            }
        }
    };
}

metrics! {
    Documents Counter "alike_documents_total" "Documents read, those without a token included."
    Unchanged Counter "alike_unchanged_documents_total" "Documents read that the collection already had, unchanged."
    Refused Counter "alike_refused_records_total" "Records refused."
    ReadBytes Counter "alike_read_bytes_total" "Bytes of the inputs read, as they are on disk; of stored documents bytes of their sets."
    TextBytes Counter "alike_text_bytes_total" "Bytes of text in the documents read."
    Units Counter "alike_units_total" "Stretches of the inputs taken to be read."
    Postings Counter "alike_postings_total" "Postings of distinct texts that were collided."
    Candidates Counter "alike_candidates_total" "Pairs that shared enough keys to be looked at."
    Verified Counter "alike_verified_candidates_total" "Candidates decided on their sets."
    HotGroups Counter "alike_hot_groups_total" "Groups under one key that were too large to be expanded."
    Links Counter "alike_links_total" "Pairs found linked; what clustering measures within hot groups, or need not ask for, is not counted."
    Epochs Counter "alike_epochs_total" "Epochs of a load that are done."
    Commits Counter "alike_commits_total" "Commits published."
    StageSeconds Counter "alike_stage_seconds_total" "Seconds spent in each stage."
    WireSent Counter "alike_wire_sent_bytes_total" "Bytes sent to another process, by its number: data of the dataflow, or control."
    WireReceived Counter "alike_wire_received_bytes_total" "Bytes received from another process, by its number: data of the dataflow, or control."
    Stage Gauge "alike_stage" "1 for the stage the process is in, 0 for the others."
    StageDone Gauge "alike_stage_work_done" "Work done in the present stage: bytes where it reads or writes, else items."
    StageWork Gauge "alike_stage_work" "All work of the present stage; 0 if it is not known."
    Workers Gauge "alike_workers" "Worker threads."
    MemoryResident Gauge "alike_memory_resident_bytes" "Memory that the process holds."
    MemoryPeak Gauge "alike_memory_peak_bytes" "Most memory that the process has held at once."
    Peers Gauge "alike_peers" "Other processes that the job was begun with."
    PeersAlive Gauge "alike_peers_alive" "Other processes whose connection stands."
    PeerSilence Gauge "alike_peer_silence_seconds" "Seconds since anything came from another process, by its number."
    Uptime Gauge "alike_uptime_seconds" "Seconds since the process was started."
    Info Gauge "alike_info" "1; which version this is."
}

impl Metric {
    /// What becomes of it over time.
    pub fn kind(self) -> MetricKind {
        self.told().0
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.told().1
    }

    /// What it means, in a sentence.
    pub fn help(self) -> &'static str {
        self.told().2
    }
}

/// The counters that a run adds to: what was done, also for an epoch that did not fit and was done again.
#[derive(Debug)]
pub struct Metrics {
    counts: [AtomicU64; Metric::ALL.len()],
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics { counts: [const { AtomicU64::new(0) }; Metric::ALL.len()] }
    }
}

impl Metrics {
    /// Counts.
    pub fn add(&self, metric: Metric, count: u64) {
        self.counts[metric as usize].fetch_add(count, Ordering::Relaxed);
    }

    /// What was counted so far.
    pub fn get(&self, metric: Metric) -> u64 {
        self.counts[metric as usize].load(Ordering::Relaxed)
    }
}

/// Labels: names, which are words, and values, which may be anything.
type Labels<'a> = &'a [(&'a str, &'a str)];

/// Values at one moment, in the text format of Prometheus (version 0.0.4).
#[derive(Debug)]
pub struct MetricsPage {
    /// The labels that all values have, written.
    common: String,
    /// The lines of each metric.
    lines: Vec<String>,
}

impl MetricsPage {
    /// No values yet; `common` are labels that all of them get.
    pub fn new(common: Labels<'_>) -> MetricsPage {
        MetricsPage { common: written(common), lines: vec![String::new(); Metric::ALL.len()] }
    }

    /// Adds a value. Those of one metric differ in their labels.
    pub fn add(&mut self, metric: Metric, labels: Labels<'_>, value: f64) {
        let (name, own) = (metric.name(), written(labels));
        let comma = if own.is_empty() || self.common.is_empty() { "" } else { "," };
        let line = &mut self.lines[metric as usize];
        // A string takes all that is written.
        let _ = writeln!(line, "{name}{{{}{comma}{own}}} {value}", self.common);
    }

    /// The page: each metric that has values once, with what it means.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for metric in Metric::ALL {
            let lines = &self.lines[*metric as usize];
            let kind = match metric.kind() {
                MetricKind::Counter => "counter",
                MetricKind::Gauge => "gauge",
            };
            if !lines.is_empty() {
                let (name, help) = (metric.name(), metric.help());
                let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{lines}");
            }
        }
        text
    }
}

/// Labels as they stand between braces.
fn written(labels: Labels<'_>) -> String {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    labels.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_say_what_is_counted_and_in_which_unit() {
        let names: BTreeSet<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        assert_eq!(names.len(), Metric::ALL.len(), "a name stands there twice");
        for metric in Metric::ALL {
            let (name, help) = (metric.name(), metric.help());
            assert!(name.starts_with("alike_") && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
            assert_eq!(name.ends_with("_total"), metric.kind() == MetricKind::Counter, "{name}");
            assert!(help.ends_with('.') && !help.contains(['\\', '\n']), "{name}: {help}");
            for (word, unit) in [("Bytes ", "_bytes"), ("Seconds ", "_seconds")] {
                assert!(!help.starts_with(word) || name.contains(unit), "{name}: {help}");
            }
        }
    }

    #[test]
    fn what_is_added_is_counted() {
        let metrics = Metrics::default();
        for (metric, count) in Metric::ALL.iter().zip(1..) {
            metrics.add(*metric, count);
            metrics.add(*metric, 2 * count);
        }
        for (metric, count) in Metric::ALL.iter().zip(1..) {
            assert_eq!(metrics.get(*metric), 3 * count);
        }
    }

    #[test]
    fn a_page_has_each_metric_once_and_escapes_labels() {
        let mut page = MetricsPage::new(&[("process", "3")]);
        page.add(Metric::StageSeconds, &[("stage", "read")], 0.25);
        page.add(Metric::Documents, &[], 18_446_744_073.0);
        page.add(Metric::StageSeconds, &[("stage", "a\"b\\c\nd")], 3.0);
        let expected = "# HELP alike_documents_total Documents read, those without a token included.\n\
             # TYPE alike_documents_total counter\n\
             alike_documents_total{process=\"3\"} 18446744073\n\
             # HELP alike_stage_seconds_total Seconds spent in each stage.\n\
             # TYPE alike_stage_seconds_total counter\n\
             alike_stage_seconds_total{process=\"3\",stage=\"read\"} 0.25\n\
             alike_stage_seconds_total{process=\"3\",stage=\"a\\\"b\\\\c\\nd\"} 3\n";
        assert_eq!(page.text(), expected);
        let mut page = MetricsPage::new(&[]);
        page.add(Metric::Workers, &[], 2.0);
        assert!(page.text().ends_with("\nalike_workers{} 2\n"));
    }
}
