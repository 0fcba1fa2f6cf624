//! What is measured of the server, as Prometheus reads it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::system_memory::resident_memory;

/// Upper bounds of the buckets of times, in seconds.
const BUCKETS: [f64; 14] =
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];

/// The times of the answers of a route.
#[derive(Clone, Debug, Default)]
struct AnswerTimes {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
}

#[derive(Debug, Default)]
struct AnswerCounts {
    /// By route and status.
    answers: BTreeMap<(&'static str, u16), u64>,
    times: BTreeMap<&'static str, AnswerTimes>,
}

/// Counts of answers.
#[derive(Debug, Default)]
pub(super) struct ServerMetrics(Mutex<AnswerCounts>);

/// Values at the moment.
pub(super) struct Gauges {
    pub(super) connections: usize,
    pub(super) commit: u64,
    pub(super) documents: u64,
    pub(super) clusters: u64,
    pub(super) ready: bool,
}

impl ServerMetrics {
    /// Counts an answer.
    pub(super) fn add(&self, route: &'static str, status: u16, time: Duration) {
        let seconds = time.as_secs_f64();
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.answers.entry((route, status)).or_default() += 1;
        let times = counts.times.entry(route).or_default();
        (times.count, times.seconds) = (times.count + 1, times.seconds + seconds);
        for (bucket, bound) in times.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= bound);
        }
    }

    /// All of it as text.
    pub(super) fn text(&self, gauges: &Gauges) -> String {
        let mut text = String::new();
        let Gauges { connections, commit, documents, clusters, ready } = *gauges;
        for (name, help, value) in [
            ("alike_serve_connections", "Open connections.", connections as f64),
            ("alike_collection_commit", "Number of the commit that is served.", commit as f64),
            ("alike_collection_documents", "Documents of that commit.", documents as f64),
            ("alike_collection_clusters", "Clusters of that commit.", clusters as f64),
            (
                "alike_serve_ready",
                "1 if that is the newest commit and can be read.",
                f64::from(u8::from(ready)),
            ),
            (
                "alike_serve_memory_resident_bytes",
                "Memory of the process.",
                resident_memory().unwrap_or(0) as f64,
            ),
        ] {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
        }
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = "alike_http_requests_total";
        let _ = writeln!(text, "# HELP {name} Answers by route and status.\n# TYPE {name} counter");
        for ((route, status), count) in &counts.answers {
            let _ = writeln!(text, "{name}{{route=\"{route}\",status=\"{status}\"}} {count}");
        }
        let name = "alike_http_request_seconds";
        let _ = writeln!(
            text,
            "# HELP {name} Time from the head of a request to its answer.\n# TYPE {name} histogram"
        );
        for (route, times) in &counts.times {
            for (bound, count) in BUCKETS.iter().zip(times.buckets) {
                let _ = writeln!(text, "{name}_bucket{{route=\"{route}\",le=\"{bound}\"}} {count}");
            }
            let AnswerTimes { count, seconds, .. } = times;
            let _ = writeln!(text, "{name}_bucket{{route=\"{route}\",le=\"+Inf\"}} {count}");
            let _ = writeln!(text, "{name}_sum{{route=\"{route}\"}} {seconds}");
            let _ = writeln!(text, "{name}_count{{route=\"{route}\"}} {count}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted() {
        let measured = ServerMetrics::default();
        measured.add("/check", 200, Duration::from_millis(3));
        measured.add("/check", 200, Duration::from_secs(20));
        measured.add("none", 404, Duration::ZERO);
        let gauges = Gauges { connections: 1, commit: 2, documents: 3, clusters: 4, ready: false };
        let text = measured.text(&gauges);
        for line in [
            "alike_collection_commit 2",
            "alike_serve_ready 0",
            "alike_http_requests_total{route=\"/check\",status=\"200\"} 2",
            "alike_http_requests_total{route=\"none\",status=\"404\"} 1",
            "alike_http_request_seconds_bucket{route=\"/check\",le=\"0.002\"} 0",
            "alike_http_request_seconds_bucket{route=\"/check\",le=\"0.005\"} 1",
            "alike_http_request_seconds_bucket{route=\"/check\",le=\"10\"} 1",
            "alike_http_request_seconds_bucket{route=\"/check\",le=\"+Inf\"} 2",
            "alike_http_request_seconds_sum{route=\"/check\"} 20.003",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
    }
}
