//! Small questions that wait at the same moment are answered together: to hand each to a thread and back by itself would cost a good
//! part of what answering it does.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::StatusCode;
use tokio::sync::oneshot;

use super::threads::Threads;
use crate::progress::Progress;
use crate::serve::http::answer::HttpError;

/// Questions that are answered together at most.
const TOGETHER: usize = 64;

/// What comes of a question.
pub type Answered<A> = Result<A, HttpError>;

/// Who answers several questions, each by itself whatever becomes of the others.
type Answering<Q, A> = dyn Fn(Vec<Q>, &Progress) -> Vec<Answered<A>> + Send + Sync;

/// Questions that wait, and who answers them.
pub struct QuestionQueue<Q, A> {
    line: Mutex<WaitingLine<Q, A>>,
    /// So many answer at a time.
    most: usize,
    answering: Box<Answering<Q, A>>,
}

/// Those who wait.
struct WaitingLine<Q, A> {
    questions: VecDeque<(Q, oneshot::Sender<Answered<A>>)>,
    /// How many are answering.
    busy: usize,
}

impl<Q: Send + 'static, A: Send + 'static> QuestionQueue<Q, A> {
    /// Nobody waits yet. `most` answer at a time, with `answering`.
    pub fn new(
        most: usize,
        answering: impl Fn(Vec<Q>, &Progress) -> Vec<Answered<A>> + Send + Sync + 'static,
    ) -> QuestionQueue<Q, A> {
        let line = WaitingLine { questions: VecDeque::new(), busy: 0 };
        QuestionQueue { line: Mutex::new(line), most: most.max(1), answering: Box::new(answering) }
    }

    /// Has a question answered on a quick thread, with others that wait.
    ///
    /// # Errors
    /// What comes of the question; 500 if whoever answers panics.
    pub async fn ask(self: &Arc<Self>, threads: &Arc<Threads>, question: Q) -> Answered<A> {
        let (tell, told) = oneshot::channel();
        let begins = {
            let mut line = self.line();
            line.questions.push_back((question, tell));
            let begins = line.busy < self.most;
            line.busy += usize::from(begins);
            begins
        };
        if begins {
            tokio::spawn(Arc::clone(self).answer(Arc::clone(threads)));
        }
        told.await.unwrap_or_else(|_| {
            let failed = HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed");
            Err(HttpError {
                within: Some("questions that were answered together panicked".to_owned()),
                ..failed
            })
        })
    }

    /// Answers until nobody waits. Each time anew for a thread, so that other questions have their turn.
    async fn answer(self: Arc<Self>, threads: Arc<Threads>) {
        loop {
            let here = Arc::clone(&self);
            // What fails is told to those who asked.
            let _ = threads
                .run_next(move |progress| {
                    let (questions, tell): (Vec<Q>, Vec<_>) = here.next().into_iter().unzip();
                    let answers = (here.answering)(questions, progress);
                    tell.into_iter().zip(answers).for_each(|(tell, answer)| drop(tell.send(answer)));
                    Ok(())
                })
                .await;
            let mut line = self.line();
            if line.questions.is_empty() {
                line.busy -= 1;
                return;
            }
        }
    }

    /// Those who have waited longest, but for those who have gone.
    fn next(&self) -> Vec<(Q, oneshot::Sender<Answered<A>>)> {
        let mut line = self.line();
        let count = line.questions.len().min(TOGETHER);
        line.questions.drain(..count).filter(|(_, tell)| !tell.is_closed()).collect()
    }

    fn line(&self) -> MutexGuard<'_, WaitingLine<Q, A>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::serve::state::threads::Lane;

    #[test]
    fn each_has_its_own_answer_and_a_panic_costs_only_those_it_meets() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let together = Arc::new(QuestionQueue::new(1, move |questions: Vec<u64>, _: &Progress| {
            counted.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(2));
            assert!(!questions.contains(&666), "a question that nobody should ask");
            let answer = |number: u64| {
                if number.is_multiple_of(5) { Err(HttpError::bad("no")) } else { Ok(number * 2) }
            };
            questions.into_iter().map(answer).collect()
        }));
        // Others fill all places to wait: questions have their turn all the same.
        let threads = Arc::new(Threads::new(1, 8));
        runtime.block_on(async {
            let page = |_: &Progress| {
                std::thread::sleep(Duration::from_millis(5));
                Ok(())
            };
            let pages: Vec<_> = (0..30)
                .map(|_| {
                    let threads = Arc::clone(&threads);
                    tokio::spawn(async move { threads.run(Lane::Quick, page).await })
                })
                .collect();
            assert!(together.ask(&threads, 666).await.is_err_and(|error| error.within.is_some()));
            let asked: Vec<_> = (1..=300_u64)
                .map(|number| {
                    let (together, threads) = (Arc::clone(&together), Arc::clone(&threads));
                    tokio::spawn(async move { together.ask(&threads, number).await })
                })
                .collect();
            for (number, asked) in (1_u64..).zip(asked) {
                let answer = asked.await.expect("a task");
                assert_eq!(answer.ok(), (!number.is_multiple_of(5)).then_some(number * 2), "{number}");
            }
            let mut refused = 0;
            for page in pages {
                refused += usize::from(page.await.expect("a task").is_err());
            }
            assert!((1..30).contains(&refused), "{refused} of 30 pages");
        });
        let calls = calls.load(Ordering::Relaxed);
        assert!((2..150).contains(&calls), "{calls} times for 300");
        // Whoever answers is done a moment after the last answer is there.
        let begun = Instant::now();
        while together.line().busy > 0 {
            assert!(begun.elapsed() < Duration::from_secs(10), "{} still answer", together.line().busy);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
