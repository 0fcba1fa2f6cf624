//! The line of an epoch: as JSON for programs, short for people.

use alike::printable::counted;
use alike::progress::EpochDone;
use serde_json::Value;

/// What `event` is in such a line.
const EVENT: &str = "epoch";

/// The line for programs.
pub(crate) fn json(done: &EpochDone) -> String {
    let mut line = serde_json::to_value(done).unwrap_or_default();
    line["event"] = EVENT.into();
    line.to_string()
}

/// The epoch of a line for programs, if it is one.
pub(crate) fn parse(line: &[u8]) -> Option<EpochDone> {
    // Most lines are no JSON.
    let value: Value = line.starts_with(b"{").then(|| serde_json::from_slice(line).ok()).flatten()?;
    (value["event"] == EVENT).then(|| serde_json::from_value(value).ok()).flatten()
}

/// The line for people; none for the only epoch of a load, of which the report says all.
pub(crate) fn line(done: &EpochDone) -> Option<String> {
    if done.last && done.epoch == 1 {
        return None;
    }
    let EpochDone { load, epoch, records, links, seconds, .. } = done;
    let stages = done.stages.iter().filter(|(_, seconds)| **seconds >= 0.05);
    let mut stages: Vec<(&String, &f64)> = stages.collect();
    stages.sort_by(|a, b| b.1.total_cmp(a.1));
    let longest: Vec<String> =
        stages.iter().take(2).map(|(name, seconds)| format!("{name} {seconds:.1}")).collect();
    let longest = if longest.is_empty() { String::new() } else { format!(" ({})", longest.join(", ")) };
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let memory = done.memory_peak_bytes.map(|bytes| format!(", {:.0} MB of memory", megabytes(bytes)));
    let wire = done.wire_sent_bytes + done.wire_received_bytes;
    let wire = (wire > 0).then(|| format!(", {:.1} MB over the wire", megabytes(wire)));
    Some(format!(
        "load {load}, epoch {epoch}{}: {}, {:.1} MB, {}, {seconds:.1} s{longest}{}{}",
        if done.last { " (the last)" } else { "" },
        counted(*records, "record"),
        megabytes(done.bytes),
        counted(*links, "link"),
        memory.unwrap_or_default(),
        wire.unwrap_or_default(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(epoch: u32, last: bool) -> EpochDone {
        let stages = [("read", 1.26), ("write", 0.01), ("collide", 2.5), ("open", 0.2)];
        EpochDone {
            load: 3,
            epoch,
            last,
            process: 1,
            records: 1000,
            bytes: 2_500_000,
            links: 7,
            seconds: 3.97,
            stages: stages.map(|(name, seconds)| (name.to_owned(), seconds)).into(),
            memory_peak_bytes: Some(64 << 20),
            ..EpochDone::default()
        }
    }

    #[test]
    fn people_get_a_short_line_where_there_is_more_than_one() {
        assert_eq!(line(&done(1, true)), None);
        let told =
            "load 3, epoch 1: 1000 records, 2.5 MB, 7 links, 4.0 s (collide 2.5, read 1.3), 67 MB of memory";
        assert_eq!(line(&done(1, false)).as_deref(), Some(told));
        let wired = EpochDone { wire_sent_bytes: 1_000_000, wire_received_bytes: 50_000, ..done(2, true) };
        let told = line(&wired).expect("a line");
        assert!(
            told.starts_with("load 3, epoch 2 (the last): ") && told.ends_with(", 1.1 MB over the wire"),
            "{told}"
        );
    }

    #[test]
    fn a_line_for_programs_is_read_again() {
        let wrote = done(2, true);
        assert_eq!(parse(json(&wrote).as_bytes()), Some(wrote));
        for other in ["", "x", "{}", "{", r#"{"event":"start","stage":"read"}"#, r#"{"event":"epoch"}"#] {
            assert_eq!(parse(other.as_bytes()), None, "{other}");
        }
    }
}
