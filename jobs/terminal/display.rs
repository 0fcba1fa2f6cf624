//! What is shown while a run works: bars on a terminal, JSON lines when asked for, and what each epoch came to. It only reads
//! counters, so a run is not slower or different for being watched.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use alike::printable::counted;
use alike::progress::{EpochDone, Progress, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::{epochs, launched};

/// How often the counters are read. A stage that is shorter than this may pass unseen.
const TICK: Duration = Duration::from_millis(100);
/// How often a JSON line is written within a stage.
const LINE_EVERY: Duration = Duration::from_secs(1);

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Not at all.
    Hidden,
    /// A line an epoch.
    Plain,
    /// A bar a stage.
    Bars,
    /// JSON lines.
    Json,
}

impl Mode {
    /// The mode for standard error as it is: bars only where someone can watch them move. `alike launch` reads lines
    /// of its children, and draws bars for all of them.
    pub(crate) fn choose(quiet: bool, json: bool) -> Mode {
        match (quiet, json) {
            (true, _) => Mode::Hidden,
            (false, true) => Mode::Json,
            (false, false) if launched::launched() => Mode::Json,
            (false, false) if io::stderr().is_terminal() => Mode::Bars,
            (false, false) => Mode::Plain,
        }
    }
}

/// A thread that shows a [`Progress`] on standard error until it is finished or dropped.
pub(crate) struct Display {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Display {
    /// Starts to show `progress`.
    pub(crate) fn start(progress: Arc<Progress>, mode: Mode) -> Display {
        let Some(mut screen) = screen(mode) else { return Display { running: None } };
        let (stop, stopped) = mpsc::channel();
        let watcher = thread::Builder::new().name("display".into());
        // A run that cannot be shown is still worth having.
        let thread = watcher.spawn(move || watch(&progress, &mut *screen, &stopped)).ok();
        Display { running: thread.map(|thread| (stop, thread)) }
    }

    /// Shows the last state and stops; nothing is written to standard error after this returns.
    pub(crate) fn finish(self) {
        drop(self);
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            // The closed channel is the signal; a watcher that panicked has said so itself.
            drop(stop);
            let _ = thread.join();
        }
    }
}

/// What shows a run in this mode.
fn screen(mode: Mode) -> Option<Box<dyn Screen + Send>> {
    match mode {
        Mode::Hidden => None,
        Mode::Plain => Some(Box::new(Plain { out: io::stderr() })),
        Mode::Bars => Some(Box::new(Bars { bar: ProgressBar::hidden() })),
        Mode::Json => Some(Box::new(JsonProgress { out: io::stderr(), last: Duration::ZERO })),
    }
}

/// A display that shows what each call says, and nothing between two calls.
pub(crate) struct Show {
    screen: Option<Box<dyn Screen + Send>>,
    last: Option<ProgressSnapshot>,
}

impl Show {
    pub(crate) fn new(mode: Mode) -> Show {
        Show { screen: screen(mode), last: None }
    }

    /// Shows the present state.
    pub(crate) fn see(&mut self, now: ProgressSnapshot) {
        if let Some(screen) = &mut self.screen {
            turn(&mut **screen, self.last.replace(now), now);
        }
    }

    /// Does what writes on the terminal while nothing is drawn there.
    pub(crate) fn aside(&mut self, write: &mut dyn FnMut()) {
        match &mut self.screen {
            Some(screen) => screen.aside(write),
            None => write(),
        }
    }

    /// Shows the last state and stops.
    pub(crate) fn finish(&mut self) {
        if let (Some(mut screen), Some(last)) = (self.screen.take(), self.last) {
            screen.end(last);
        }
    }
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProgressSnapshot {
    pub(crate) stage: Stage,
    pub(crate) done: u64,
    /// 0 is unknown.
    pub(crate) total: u64,
    pub(crate) documents: u64,
    /// Since the display was started.
    pub(crate) elapsed: Duration,
}

impl ProgressSnapshot {
    fn of(progress: &Progress, begun: Instant) -> ProgressSnapshot {
        let (stage, done, total) = progress.now();
        ProgressSnapshot { stage, done, total, documents: progress.documents(), elapsed: begun.elapsed() }
    }

    /// The stage of this snapshot as it was when it gave way to that of `next`. Its counters are gone by then, but a
    /// stage is left only when its work is done.
    fn left_for(self, next: ProgressSnapshot) -> ProgressSnapshot {
        ProgressSnapshot {
            done: self.done.max(self.total),
            documents: next.documents,
            elapsed: next.elapsed,
            ..self
        }
    }
}

/// Something that shows stages begin, advance and end.
trait Screen {
    fn begin(&mut self, now: ProgressSnapshot);
    fn advance(&mut self, now: ProgressSnapshot);
    fn end(&mut self, now: ProgressSnapshot);
    /// An epoch is done.
    fn epoch(&mut self, done: &EpochDone);

    /// Does what writes on the terminal while nothing is drawn there.
    fn aside(&mut self, write: &mut dyn FnMut()) {
        write();
    }
}

/// Brings a screen from the last state, if there was one, to the present one.
fn turn(screen: &mut dyn Screen, last: Option<ProgressSnapshot>, now: ProgressSnapshot) {
    if let Some(last) = last.filter(|last| last.stage != now.stage) {
        screen.end(last.left_for(now));
    }
    if last.is_none_or(|last| last.stage != now.stage) {
        screen.begin(now);
    }
    screen.advance(now);
}

/// Shows `progress` on `screen` until the other side of `stopped` closes.
fn watch(progress: &Progress, screen: &mut dyn Screen, stopped: &Receiver<()>) {
    let begun = Instant::now();
    let mut last = ProgressSnapshot::of(progress, begun);
    screen.begin(last);
    loop {
        let over = stopped.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout);
        let now = ProgressSnapshot::of(progress, begun);
        progress.take_epochs().iter().for_each(|done| screen.epoch(done));
        turn(screen, Some(last), now);
        last = now;
        if over {
            screen.end(last);
            return;
        }
    }
}

/// A line of indicatif a stage; the finished ones stay above.
struct Bars {
    bar: ProgressBar,
}

impl Bars {
    fn update(&self, now: ProgressSnapshot) {
        if now.total > 0 && self.bar.length() != Some(now.total) {
            self.bar.set_length(now.total);
            self.bar.set_style(style(now.stage, true));
        }
        self.bar.set_position(now.done);
        if now.stage == Stage::Read {
            self.bar.set_message(counted(now.documents, "document"));
        }
    }
}

impl Screen for Bars {
    fn begin(&mut self, now: ProgressSnapshot) {
        // The watcher's own rhythm is the limit; indicatif's would drop the last update of a stage.
        self.bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(20));
        self.bar.set_style(style(now.stage, false));
        self.bar.set_prefix(now.stage.name());
        self.update(now);
    }

    fn advance(&mut self, now: ProgressSnapshot) {
        self.update(now);
        self.bar.tick();
    }

    fn end(&mut self, now: ProgressSnapshot) {
        self.update(now);
        if now.done == 0 {
            self.bar.finish_and_clear();
        } else {
            self.bar.abandon();
        }
    }

    fn epoch(&mut self, done: &EpochDone) {
        self.bar.suspend(|| tell(&mut io::stderr(), done));
    }

    fn aside(&mut self, write: &mut dyn FnMut()) {
        self.bar.suspend(write);
    }
}

/// Tells people of an epoch. Nobody listening is no failure.
fn tell(out: &mut impl Write, done: &EpochDone) {
    if let Some(line) = epochs::line(done) {
        let _ = writeln!(out, "{line}");
    }
}

/// Nothing but a line an epoch.
struct Plain<W> {
    out: W,
}

impl<W: Write> Screen for Plain<W> {
    fn begin(&mut self, _: ProgressSnapshot) {}

    fn advance(&mut self, _: ProgressSnapshot) {}

    fn end(&mut self, _: ProgressSnapshot) {}

    fn epoch(&mut self, done: &EpochDone) {
        tell(&mut self.out, done);
    }
}

/// Whether the units of a stage are bytes.
fn counts_bytes(stage: Stage) -> bool {
    matches!(stage, Stage::Read | Stage::Write)
}

/// The look of a stage's line, with a bar and an estimate only when the total is known.
fn style(stage: Stage, total_known: bool) -> ProgressStyle {
    let template = match (counts_bytes(stage), total_known) {
        (true, true) => {
            "{prefix:>8} [{bar:30}] {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} eta {eta} {msg}"
        }
        (true, false) => "{prefix:>8} {spinner} {decimal_bytes} {decimal_bytes_per_sec} {elapsed} {msg}",
        (false, true) => "{prefix:>8} [{bar:30}] {human_pos}/{human_len} {per_sec:0} eta {eta}",
        (false, false) => "{prefix:>8} {spinner} {human_pos} {elapsed}",
    };
    let style = ProgressStyle::with_template(template).expect("a fixed template, covered by a test");
    style.progress_chars("=> ").tick_chars("|/-\\ ")
}

/// One JSON object a line.
struct JsonProgress<W> {
    out: W,
    /// When the last line was written, since the start.
    last: Duration,
}

impl<W: Write> JsonProgress<W> {
    fn write(&mut self, event: &str, now: ProgressSnapshot) {
        self.last = now.elapsed;
        let line = serde_json::json!({
            "event": event,
            "stage": now.stage,
            "done": now.done,
            "total": (now.total > 0).then_some(now.total),
            "documents": now.documents,
            "seconds": now.elapsed.as_millis() as f64 / 1000.0,
        });
        // Whoever closed the stream does not want the lines; the run goes on.
        let _ = writeln!(self.out, "{line}");
    }
}

impl<W: Write> Screen for JsonProgress<W> {
    fn begin(&mut self, now: ProgressSnapshot) {
        self.write("start", now);
    }

    fn advance(&mut self, now: ProgressSnapshot) {
        if now.elapsed >= self.last + LINE_EVERY {
            self.write("progress", now);
        }
    }

    fn end(&mut self, now: ProgressSnapshot) {
        self.write("end", now);
    }

    fn epoch(&mut self, done: &EpochDone) {
        let _ = writeln!(self.out, "{}", epochs::json(done));
    }
}

#[cfg(test)]
#[path = "display_tests.rs"]
mod tests;
