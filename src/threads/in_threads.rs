//! A thread for each part of some work.

use std::any::Any;
use std::thread;

use crate::error::{Error, Result};

/// Does something with each value in a thread of its own; what comes of each, in their order, once all threads have ended.
///
/// # Errors
/// The first one of `work`; [`Error::Worker`] if it panics.
pub(crate) fn in_threads<T: Send, U: Send>(
    values: impl IntoIterator<Item = T>,
    work: impl Fn(T) -> Result<U> + Sync,
) -> Result<Vec<U>> {
    let work = &work;
    let done: Vec<Result<U>> = thread::scope(|scope| {
        let threads: Vec<_> = values.into_iter().map(|value| scope.spawn(move || work(value))).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| Err(panicked(&*panic)))).collect()
    });
    done.into_iter().collect()
}

/// Does two things, one after the other or, with two workers and more, at the same time.
///
/// # Errors
/// [`Error::Worker`] if the first one panics.
pub(crate) fn both<T: Send, U>(
    workers: usize,
    first: impl FnOnce() -> T + Send,
    second: impl FnOnce() -> U,
) -> Result<(T, U)> {
    if workers < 2 {
        return Ok((first(), second()));
    }
    thread::scope(|scope| {
        let thread = scope.spawn(first);
        let second = second();
        Ok((thread.join().map_err(|panic| panicked(&*panic))?, second))
    })
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    Error::Worker(text.unwrap_or("panic without a message").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_done_whatever_the_workers() {
        for workers in 1..3 {
            assert_eq!(both(workers, || 1, || "two").expect("results"), (1, "two"));
        }
        let message = both(2, || panic!("first of two"), || ()).expect_err("a panic").to_string();
        assert!(message.contains("first of two"), "{message}");
    }

    #[test]
    fn results_come_in_order() {
        assert_eq!(in_threads(0..5, |n| Ok(n * n)).expect("results"), [0, 1, 4, 9, 16]);
        assert!(in_threads(0..0, Ok).expect("results").is_empty());
    }

    #[test]
    fn the_first_error_comes_though_a_later_thread_panics() {
        let result = in_threads(0..3, |n| match n {
            0 => Ok(()),
            1 => Err(Error::Interrupted),
            _ => panic!("thread {n}"),
        });
        assert!(matches!(result, Err(Error::Interrupted)));
    }

    #[test]
    fn a_panic_is_an_error() {
        let result = in_threads(0..2, |n| if n == 1 { panic!("thread {n}") } else { Ok(()) });
        assert!(matches!(result, Err(Error::Worker(text)) if text == "thread 1"));
    }
}
