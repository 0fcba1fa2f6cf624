//! Questions that one process asks another. Any thread may ask, and waits for its answer; a thread for each other process
//! answers what that one asks.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use super::Mesh;
use super::state::State;
use super::topic::{ASK, NUMBER, REPLY, numbered};
use crate::error::Result;

/// Gives the answer to a question that a process asks.
pub type Answer = dyn Fn(usize, &[u8]) -> Vec<u8> + Send + Sync;

/// The exit code of a process that breaks off because of a bug.
const BROKEN: u8 = 1;

impl Mesh {
    /// What process `process` answers to a question; waits for it. That one must [`Mesh::answer`] some time.
    ///
    /// # Errors
    /// [`crate::error::Error::Lost`] and [`crate::error::Error::GaveUp`] once a process is lost;
    /// [`crate::error::Error::Limit`] if the question is longer than a message.
    pub fn ask(&self, process: usize, question: &[u8]) -> Result<Vec<u8>> {
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        self.send_any(process, ASK, Arc::new(numbered(request, question)))?;
        let reply = self.state.wait(None, |said| said.replied(request).map(Ok).or(said.left(process)))?;
        reply.unwrap_or(Err(())).map_err(|()| self.departed(process))
    }

    /// Answers from now on what other processes ask, until the job ends. Called once.
    ///
    /// # Errors
    /// What the system says if it starts no thread.
    pub fn answer(&self, answer: &Arc<Answer>) -> io::Result<()> {
        for from in self.state.peers().map(|(process, _)| process) {
            let (state, answer) = (Arc::clone(&self.state), Arc::clone(answer));
            let named = thread::Builder::new().name(format!("mesh:answer-{from}"));
            named.spawn(move || answer_all(&state, from, &*answer))?;
        }
        Ok(())
    }
}

/// Answers what one process asks, until it asks no more or nobody can.
fn answer_all(state: &State, from: usize, answer: &Answer) {
    let Some(link) = &state.links[from] else { return };
    loop {
        let asked = state.wait_for_question(from, |said| said.fetch(from, ASK).map(Ok).or(said.silent(from)));
        let Ok(Some(Ok(question))) = asked else { return };
        let answered = question.split_first_chunk::<NUMBER>().and_then(|(number, question)| {
            let answer = catch_unwind(AssertUnwindSafe(|| answer(from, question)));
            Some(numbered(u64::from_le_bytes(*number), &answer.ok()?))
        });
        // Who asks would wait for ever.
        let Some(reply) = answered else { return state.give_up(BROKEN, "a question could not be answered") };
        if !link.send(REPLY, Arc::new(reply), || state.check()).unwrap_or(false) {
            return;
        }
    }
}
