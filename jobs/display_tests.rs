//! Which lines a run gives, that the display stops, and what is escaped.

use serde_json::Value;

use super::*;

/// The JSON lines of a watch over what `work` does to the counters.
fn lines(work: impl FnOnce(&Progress)) -> Vec<Value> {
    let progress = Arc::new(Progress::default());
    let (stop, stopped) = mpsc::channel();
    let watched = Arc::clone(&progress);
    let watcher = thread::spawn(move || {
        let mut lines = Lines { out: Vec::new(), last: Duration::ZERO };
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
fn the_display_stops_promptly() {
    let begun = Instant::now();
    for mode in [Mode::Hidden, Mode::Bars] {
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
            let mut now = Snapshot { stage, done: 0, total, documents: 3, elapsed: Duration::ZERO };
            bars.begin(now);
            now.done = 50;
            bars.advance(now);
            bars.end(now);
            assert_eq!(bars.bar.position(), 50);
        }
    }
}

#[test]
fn plain_text_is_shown_as_it_is() {
    for text in ["", "a plain name.txt", "\u{e9}\u{4e2d}\u{6587} \u{1f600}", "C:\\files"] {
        assert!(matches!(sanitize(text), Cow::Borrowed(same) if same == text));
    }
}

#[test]
fn what_acts_on_a_terminal_is_escaped() {
    for (text, safe) in [
        ("a\u{1b}[31mred", "a\\u{1b}[31mred"),
        ("line\nbreak\ttab\r", "line\\nbreak\\ttab\\r"),
        ("bell\u{7} del\u{7f} c1\u{9b}", "bell\\u{7} del\\u{7f} c1\\u{9b}"),
        ("gpj.\u{202e}exe", "gpj.\\u{202e}exe"),
        ("zero\u{200b}width\u{feff}\u{2066}", "zero\\u{200b}width\\u{feff}\\u{2066}"),
        ("tag\u{e0041}", "tag\\u{e0041}"),
    ] {
        assert_eq!(sanitize(text), safe);
        assert!(!sanitize(text).chars().any(acts));
    }
}

#[test]
fn escaped_json_means_the_same() {
    let line = "{\"a\":\"x\u{202e}\u{9b}\u{e0041}\"}";
    let safe = json_escaped(line);
    assert_eq!(safe, r#"{"a":"x\u202e\u009b\udb40\udc41"}"#);
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    assert_eq!(value(&safe), value(line));
    assert!(matches!(json_escaped("{}"), std::borrow::Cow::Borrowed("{}")));
}
