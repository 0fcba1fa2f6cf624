//! The watch over small shell scripts: who is asked, who is killed, and what is heard.

use std::ffi::OsString;

use super::super::child::start_all;
use super::super::command::ProcessCommand;
use super::super::ends::worst;
use super::*;

/// Something that is called with the lines heard so far.
type Act = Box<dyn FnMut(&[(usize, String)])>;

/// All that is heard.
#[derive(Default)]
struct Notes {
    lines: Vec<(usize, String)>,
    data: Vec<u8>,
    said: Vec<String>,
    /// Called at every tick.
    at_tick: Option<Act>,
}

impl LaunchObserver for Notes {
    fn receive(&mut self, event: Event) {
        match event {
            Event::Line(i, line) => self.lines.push((i, String::from_utf8(line).expect("UTF-8"))),
            Event::Data(bytes) => self.data.extend(bytes),
            other => panic!("{other:?}"),
        }
    }

    fn ended(&mut self, _: usize, _: ProcessEnd) {}

    fn note(&mut self, line: &str) {
        self.said.push(line.to_owned());
    }

    fn tick(&mut self) {
        if let Some(act) = &mut self.at_tick {
            act(&self.lines);
        }
    }
}

const SHORT: Patience = Patience {
    notice: Duration::from_millis(300),
    refusal: Duration::from_millis(300),
    end: Duration::from_millis(300),
    interrupt: Duration::from_millis(400),
    linger: Duration::from_millis(200),
};
/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(20);

fn script(text: &str) -> ProcessCommand {
    ProcessCommand {
        program: "sh".into(),
        args: ["-c", text].map(OsString::from).to_vec(),
        variables: Vec::new(),
        folder: None,
        secret: None,
        remote: false,
    }
}

fn scripts(texts: &[&str]) -> Vec<ProcessCommand> {
    texts.iter().map(|text| script(text)).collect()
}

/// Runs the lines to their end, which must come soon.
fn run(lines: &[ProcessCommand], interrupts: &AtomicUsize, notes: &mut Notes, patience: Patience) -> Ended {
    let begun = Instant::now();
    let (children, events) = start_all(lines, true).expect("started");
    let ended = watch(children, &events, interrupts, notes, patience).expect("watched");
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
    ended
}

fn codes(ended: &Ended) -> Vec<u8> {
    ended.ends.iter().map(|end| end.code).collect()
}

fn asked(ended: &Ended) -> Vec<bool> {
    ended.ends.iter().map(|end| end.asked).collect()
}

fn patient() -> Patience {
    Patience { notice: LONG, refusal: LONG, end: LONG, interrupt: LONG, linger: LONG }
}

#[test]
fn data_of_process_0_is_data_and_all_else_are_lines() {
    let lines = scripts(&["printf 'a\\0b\\nc'; echo one >&2", "echo two; echo three >&2", "printf four"]);
    let mut notes = Notes::default();
    let ended = run(&lines, &AtomicUsize::new(0), &mut notes, patient());
    assert_eq!((codes(&ended), ended.interrupted), (vec![0; 3], false));
    assert_eq!(notes.data, b"a\0b\nc");
    notes.lines.sort();
    let expected = [(0, "one"), (1, "three"), (1, "two"), (2, "four")];
    assert_eq!(notes.lines, expected.map(|(i, text)| (i, text.to_owned())));
    assert!(notes.said.is_empty(), "{:?}", notes.said);
}

#[test]
fn a_secret_is_the_first_line_and_the_stream_stays_open() {
    let mut line = script("IFS= read -r a; printf '%s\\n' \"$a\" >&2; if read -r b; then echo more >&2; fi");
    line.secret = Some(b" a 'secret' \\n\n".to_vec());
    let mut notes = Notes::default();
    let interrupts = AtomicUsize::new(0);
    // It waits for a second line that never comes, until it is asked to end.
    let patience = Patience { notice: Duration::ZERO, ..SHORT };
    let ended = run(&[line, script("sleep 0.5; exit 1")], &interrupts, &mut notes, patience);
    assert_eq!(notes.lines, [(0, " a 'secret' \\n".to_owned())]);
    assert_eq!((codes(&ended), asked(&ended)), (vec![143, 1], vec![true, false]));
}

#[test]
fn others_may_notice_a_failure_and_end_by_themselves() {
    let lines = scripts(&["sleep 0.3; exit 5", "exit 3", "sleep 0.2; exit 5"]);
    let mut notes = Notes::default();
    let ended = run(&lines, &AtomicUsize::new(0), &mut notes, Patience { linger: SHORT.linger, ..patient() });
    assert_eq!((codes(&ended), asked(&ended)), (vec![5, 3, 5], vec![false; 3]));
    assert_eq!(worst(&ended.ends, ended.interrupted), 3);
    assert_eq!(notes.said[0], "process 1 ended with 3");
}

#[test]
fn who_does_not_end_is_asked_and_then_killed() {
    let lines = scripts(&[
        "trap 'exit 9' TERM; while :; do sleep 0.05; done",
        "trap '' TERM; while :; do sleep 0.05; done",
        "kill -9 $$",
        "exit 0",
    ]);
    let mut notes = Notes::default();
    let ended = run(&lines, &AtomicUsize::new(0), &mut notes, SHORT);
    assert_eq!((codes(&ended), asked(&ended)), (vec![9, 137, 137, 0], vec![true, true, false, false]));
    assert_eq!(worst(&ended.ends, ended.interrupted), 137);
    let said = notes.said.join("\n");
    assert!(said.contains("asked to end: 0, 1") && said.contains("killed: 1"), "{said}");
}

#[test]
fn who_waits_for_one_that_refuses_is_asked_soon() {
    let mut notes = Notes::default();
    let patience = Patience { refusal: SHORT.refusal, linger: SHORT.linger, ..patient() };
    let ended = run(&scripts(&["exec sleep 30", "exit 2"]), &AtomicUsize::new(0), &mut notes, patience);
    assert_eq!((codes(&ended), asked(&ended)), (vec![143, 2], vec![true, false]));
    assert_eq!(worst(&ended.ends, ended.interrupted), 2);
}

#[test]
fn an_interrupt_is_passed_on_once() {
    static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);
    let text =
        "trap 'echo asked >&2; sleep 0.3; exit 130' TERM; echo ready >&2; while :; do sleep 0.05; done";
    let ready = |lines: &[(usize, String)]| {
        if lines.iter().filter(|(_, line)| line == "ready").count() == 2 {
            INTERRUPTS.store(1, Ordering::Relaxed);
        }
    };
    let mut notes = Notes { at_tick: Some(Box::new(ready)), ..Notes::default() };
    let ended = run(&scripts(&[text, text]), &INTERRUPTS, &mut notes, patient());
    assert_eq!((codes(&ended), ended.interrupted), (vec![130; 2], true));
    assert_eq!(notes.lines.iter().filter(|(_, line)| line == "asked").count(), 2);
    assert_eq!(worst(&ended.ends, ended.interrupted), 130);
}

#[test]
fn a_second_interrupt_and_impatience_kill() {
    let stubborn = scripts(&["trap '' TERM; while :; do sleep 0.05; done"]);
    for (count, interrupt) in [(2, LONG), (1, SHORT.interrupt)] {
        let interrupts = AtomicUsize::new(1);
        let mut notes = Notes::default();
        let (children, events) = start_all(&stubborn, true).expect("started");
        let patience = Patience { interrupt, ..patient() };
        let ended = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(5 * TICK);
                interrupts.store(count, Ordering::Relaxed);
            });
            watch(children, &events, &interrupts, &mut notes, patience).expect("watched")
        });
        assert_eq!((codes(&ended), ended.interrupted), (vec![137], true));
    }
}

#[test]
fn a_process_elsewhere_is_asked_by_closing_its_input() {
    let mut line = script("trap '' TERM; cat; exit 130");
    line.remote = true;
    let mut notes = Notes::default();
    let ended = run(&[line], &AtomicUsize::new(1), &mut notes, patient());
    assert_eq!(codes(&ended), [130]);
}

#[test]
fn what_a_process_leaves_behind_is_not_waited_for() {
    let begun = Instant::now();
    let mut notes = Notes::default();
    let patience = Patience { linger: SHORT.linger, ..patient() };
    let ended = run(&scripts(&["sleep 8 >/dev/null & exit 0"]), &AtomicUsize::new(0), &mut notes, patience);
    assert_eq!(codes(&ended), [0]);
    assert!(begun.elapsed() < Duration::from_secs(6));
}

#[test]
fn all_are_started_or_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("mark");
    let first = script(&format!("sleep 1; touch {}", mark.display()));
    let mut second = script("true");
    second.program = "/nowhere/alike".into();
    let error = start_all(&[first, second], true).expect_err("no such program").to_string();
    assert!(error.contains("/nowhere/alike: cannot start"), "{error}");
    thread::sleep(Duration::from_millis(1300));
    assert!(!mark.exists());
}

#[test]
fn much_is_heard_and_nothing_is_lost() {
    let text = "i=0; while [ $i -lt 3000 ]; do echo $i >&2; i=$((i+1)); done";
    let mut notes = Notes::default();
    run(&scripts(&[text, text, text]), &AtomicUsize::new(0), &mut notes, patient());
    for process in 0..3 {
        let told = notes.lines.iter().filter(|(i, _)| *i == process).map(|(_, line)| line.as_str());
        assert!(told.eq((0..3000).map(|i| i.to_string()).collect::<Vec<_>>()));
    }
}
