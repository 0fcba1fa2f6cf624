//! Which lines a run gives, and that the display stops.

use serde_json::Value;

use super::*;

/// The JSON lines of a watch over what `work` does to the counters.
fn lines(work: impl FnOnce(&Progress)) -> Vec<Value> {
    let progress = Arc::new(Progress::default());
    let (stop, stopped) = mpsc::channel();
    let watched = Arc::clone(&progress);
    let watcher = thread::spawn(move || {
        let mut lines = JsonProgress { out: Vec::new(), last: Duration::ZERO };
        watch(&watched, &mut lines, &stopped);
        lines.out
    });
    work(&progress);
    drop(stop);
    let text = String::from_utf8(watcher.join().expect("no panic")).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_stage_has_a_first_and_a_last_line_and_one_a_second() {
    let lines = lines(|progress| {
        progress.enter(Stage::Read, 1000);
        thread::sleep(3 * TICK);
        progress.add_documents(7);
        progress.advance(400);
        thread::sleep(LINE_EVERY + 2 * TICK);
        progress.enter(Stage::Cluster, 0);
        thread::sleep(3 * TICK);
        progress.advance(5);
    });
    let told: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| (line["event"].as_str().expect("an event"), line["stage"].as_str().expect("a stage")))
        .filter(|(_, stage)| *stage != "open")
        .collect();
    assert_eq!(
        told,
        [("start", "read"), ("progress", "read"), ("end", "read"), ("start", "cluster"), ("end", "cluster")]
    );
    let read_end = &lines[lines.len() - 3];
    assert_eq!((&read_end["done"], &read_end["total"]), (&Value::from(1000), &Value::from(1000)));
    assert_eq!(read_end["documents"], 7);
    let last = &lines[lines.len() - 1];
    assert_eq!((&last["done"], &last["total"]), (&Value::from(5), &Value::Null));
    assert!(last["seconds"].as_f64().expect("seconds") > 1.0);
}

#[test]
fn a_run_that_ends_at_once_still_closes_its_stage() {
    let lines = lines(|_| {});
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[0]["event"], &lines[1]["event"]), (&Value::from("start"), &Value::from("end")));
}

#[test]
fn every_epoch_is_told_once() {
    let lines = lines(|progress| {
        for epoch in 1..4 {
            progress.tell_epoch(EpochDone { epoch, last: epoch == 3, ..EpochDone::default() });
            thread::sleep(2 * TICK);
        }
    });
    let told = lines.iter().filter(|line| line["event"] == "epoch");
    assert_eq!(told.map(|line| line["epoch"].as_u64().expect("a number")).collect::<Vec<_>>(), [1, 2, 3]);
    let mut plain = Plain { out: Vec::new() };
    for (epoch, last) in [(1, true), (1, false), (2, true)] {
        plain.epoch(&EpochDone { epoch, last, ..EpochDone::default() });
    }
    assert_eq!(String::from_utf8(plain.out).expect("text").lines().count(), 2);
}

#[test]
fn the_display_stops_promptly() {
    let begun = Instant::now();
    for mode in [Mode::Hidden, Mode::Plain, Mode::Bars] {
        let progress = Arc::new(Progress::default());
        progress.enter(Stage::Write, 10);
        Display::start(Arc::clone(&progress), mode).finish();
        drop(Display::start(progress, mode));
    }
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn quiet_is_quiet_and_json_needs_no_terminal() {
    assert_eq!(Mode::choose(true, false), Mode::Hidden);
    assert_eq!(Mode::choose(false, true), Mode::Json);
}

#[test]
fn bars_take_every_stage_with_and_without_a_total() {
    for stage in Stage::ALL {
        for total in [0, 100] {
            let mut bars = Bars { bar: ProgressBar::hidden() };
            let mut now = ProgressSnapshot { stage, done: 0, total, documents: 3, elapsed: Duration::ZERO };
            bars.begin(now);
            now.done = 50;
            bars.advance(now);
            bars.end(now);
            assert_eq!(bars.bar.position(), 50);
        }
    }
}
