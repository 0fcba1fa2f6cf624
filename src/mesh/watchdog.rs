//! Heartbeats, and silence.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::state::State;

/// Sends every process a sign of life four times per `timeout`, at least each second, and finds those that give none
/// for that long. Ends with the job.
pub(super) fn watch(state: &Arc<State>, timeout: Duration) -> std::io::Result<()> {
    let state = Arc::downgrade(state);
    let pause = (timeout / 4).min(Duration::from_secs(1));
    thread::Builder::new().name("mesh:watch".into()).spawn(move || look(&state, timeout, pause))?;
    Ok(())
}

fn look(state: &Weak<State>, timeout: Duration, pause: Duration) {
    let limit = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    let mut last = Instant::now();
    while let Some(state) = state.upgrade() {
        // When this process itself was stopped, silence says nothing of the others.
        let stopped = last.elapsed() > pause * 2 + Duration::from_millis(500);
        last = Instant::now();
        for (process, link) in state.peers() {
            if stopped {
                link.forgive();
            }
            link.beat();
            let silent = link.silence().is_some_and(|silence| silence > limit);
            if silent && !state.said().has_ended(process) {
                state.lose(process, &format!("no word from it for {:.1} s", timeout.as_secs_f64()));
            }
        }
        state.catch_up();
        drop(state);
        thread::sleep(pause);
    }
}
