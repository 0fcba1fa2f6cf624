//! Questions that processes ask each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use alike::error::Error;
use alike::mesh::{Answer, Mesh};

use crate::support::meeting::{level, together};

const PROCESSES: usize = 3;

const THREADS: usize = 4;

const QUESTIONS: usize = 60;

/// Longer than a piece of a message.
const LONG: usize = 1 << 20;

/// What a process answers: who it is, who asked, and the question, over and over where that is to be long.
fn answer(own: usize, from: usize, question: &[u8]) -> Vec<u8> {
    let answer = [&[own as u8, from as u8], question].concat();
    match question.first() {
        Some(0) => answer.into_iter().cycle().take(LONG).collect(),
        _ => answer,
    }
}

/// Has a process answer from now on.
fn answer_with(mesh: &Mesh, answer: impl Fn(usize, &[u8]) -> Vec<u8> + Send + Sync + 'static) {
    let answer: Arc<Answer> = Arc::new(answer);
    mesh.answer(&answer).unwrap();
}

#[test]
fn mesh_questions_of_many_threads_get_each_its_own_answer() {
    let answered = together(PROCESSES, |mesh| {
        let (own, count) = (mesh.process(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&count);
        let answering = move |from: usize, question: &[u8]| {
            // Answers overtake questions that others ask.
            let number = counted.fetch_add(1, Ordering::Relaxed);
            thread::sleep(Duration::from_micros((number % 5 * 300) as u64));
            answer(own, from, question)
        };
        answer_with(&mesh, answering);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let mesh = &mesh;
                scope.spawn(move || {
                    for number in 0..QUESTIONS {
                        let other = (own + 1 + (thread + number) % (PROCESSES - 1)) % PROCESSES;
                        let question = [(number % 20) as u8, thread as u8, number as u8];
                        let got = mesh.ask(other, &question).unwrap();
                        assert!(got == answer(other, own, &question), "{question:?} of {other}");
                    }
                });
            }
        });
        // Words and messages pass as ever.
        mesh.take(1).unwrap();
        assert!(mesh.ask((own + 1) % PROCESSES, &[]).unwrap().len() == 2);
        level(&mesh);
        mesh.leave().unwrap();
        count.load(Ordering::Relaxed)
    });
    assert_eq!(answered.iter().sum::<usize>(), PROCESSES * (THREADS * QUESTIONS + 1));
}

/// A question comes before there is anybody to answer it.
#[test]
fn mesh_questions_wait_for_who_will_answer() {
    let answers = together(2, |mesh| {
        let got = match mesh.process() {
            0 => mesh.ask(1, b"who").unwrap(),
            _ => {
                thread::sleep(Duration::from_millis(300));
                answer_with(&mesh, |from, question| [question, &[from as u8]].concat());
                Vec::new()
            }
        };
        level(&mesh);
        mesh.leave().unwrap();
        got
    });
    assert_eq!(answers, [b"who\0".to_vec(), Vec::new()]);
}

/// Who asks one that leaves, gives up or vanishes hears of it, in all threads that wait.
#[test]
fn mesh_questions_to_one_that_goes_fail() {
    for end in ["leaves", "gives up", "vanishes"] {
        let failed = together(3, |mesh| {
            level(&mesh);
            if mesh.process() == 1 {
                thread::sleep(Duration::from_millis(200));
                match end {
                    "leaves" => mesh.leave().unwrap(),
                    "gives up" => mesh.give_up(3, "no such file"),
                    _ => drop(mesh),
                }
                return Vec::new();
            }
            let ask = || mesh.ask(1, b"are you there").unwrap_err();
            let errors: Vec<Error> = thread::scope(|scope| {
                let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(ask)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            // Once it has left, too.
            let errors = errors.into_iter().chain([ask()]).collect();
            if end == "leaves" {
                mesh.leave().unwrap();
            }
            errors
        });
        for error in failed.into_iter().flatten() {
            match (end, &error) {
                ("gives up", Error::GaveUp { process: 1, code: 3, .. }) => {}
                ("leaves" | "vanishes", Error::Lost { process: 1, .. }) => {}
                _ => panic!("{end}: {error}"),
            }
        }
    }
}

/// One that answers is lost to those who ask it while it is at work on an answer.
#[test]
fn mesh_questions_under_way_end_with_a_loss_elsewhere() {
    let failed = together(3, |mesh| {
        let slow = |_: usize, _: &[u8]| {
            thread::sleep(Duration::from_millis(900));
            Vec::new()
        };
        answer_with(&mesh, slow);
        level(&mesh);
        match mesh.process() {
            0 => mesh.ask(1, b"take your time").err(),
            1 => mesh.receive(2, 1).err(),
            _ => {
                thread::sleep(Duration::from_millis(200));
                None
            }
        }
    });
    for error in failed.into_iter().take(2) {
        assert!(matches!(error, Some(Error::Lost { process: 2, .. })), "{error:?}");
    }
}

/// Who cannot answer ends the job, and nobody waits for ever.
#[test]
fn mesh_questions_that_break_who_answers_end_the_job() {
    let failed = together(3, |mesh| {
        let own = mesh.process();
        answer_with(
            &mesh,
            move |_, _| if own == 1 { panic!("a bug, as the test wants it") } else { Vec::new() },
        );
        level(&mesh);
        match own {
            0 => mesh.ask(1, b"whatever").unwrap_err(),
            1 => mesh.receive(0, 1).unwrap_err(),
            _ => mesh.receive(1, 1).unwrap_err(),
        }
    });
    for error in failed {
        assert!(matches!(error, Error::GaveUp { process: 1, code: 1, .. }), "{error}");
    }
}
