//! Meeting all others, or saying who did not come.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::mesh::meeting::arrivals::{Arrivals, Book, Met};
use crate::mesh::meeting::call::{Called, Identity};
use crate::mesh::meeting::hello::Purpose;
use crate::mesh::meeting::socket;

/// How often the connections that are there are looked at while others are awaited.
const LOOK: Duration = Duration::from_millis(100);
/// The first and the longest pause between two attempts to reach a process.
pub(in crate::mesh) const PAUSES: (Duration, Duration) =
    (Duration::from_millis(20), Duration::from_millis(500));
/// After how long a message says who is awaited, and how often after that.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(10));

/// Addresses that were taken for less than this are not worth a word.
const TAKEN: Duration = Duration::from_secs(1);

/// Connects to all processes with lower numbers and awaits all with higher ones. Returns the control connection of
/// each, none at the own number. This process has begun at some moment, listens since another one, and waits until a third.
pub(in crate::mesh) fn meet(
    identity: &Arc<Identity>,
    arrivals: &Arc<Arrivals>,
    (begun, listens, deadline): (Instant, Instant, Instant),
) -> Result<Vec<Option<Met>>> {
    let own = identity.process as usize;
    for to in 0..own {
        let (identity, arrivals) = (Arc::clone(identity), Arc::clone(arrivals));
        let name = format!("mesh:call-{to}");
        let spawned = thread::Builder::new().name(name).spawn(move || keep_calling(&identity, &arrivals, to));
        spawned.map_err(|error| Error::config(format!("cannot start a thread: {error}")))?;
    }
    let mut tell_at = listens + PATIENCE.0;
    let mut book = arrivals.book();
    loop {
        if let Some(error) = book.fatal.take() {
            return Err(error);
        }
        drop_dead(&mut book);
        let missing: Vec<usize> =
            (0..book.control.len()).filter(|&p| p != own && book.control[p].is_none()).collect();
        if missing.is_empty() {
            return Ok(begin(identity, &mut book));
        }
        let now = Instant::now();
        if now >= deadline {
            let what = absent(identity, &book, &missing, (now - begun, listens - begun));
            return Err(Error::Join { refused: false, what });
        }
        if now >= tell_at {
            tell_at = now + PATIENCE.1;
            let line = format!("waiting for {}", names(identity, &book, &missing));
            drop(book);
            arrivals.say(&line);
            book = arrivals.book();
        }
        book = arrivals.wait(book, deadline.min(now + LOOK));
    }
}

/// Lets go of connections whose other side has gone while others were awaited: it may come again.
fn drop_dead(book: &mut Book) {
    for met in &mut book.control {
        if met.as_ref().is_some_and(|met| !socket::is_open(met.channel.stream())) {
            *met = None;
        }
    }
}

/// The job is under way: from now on every process is the one that it was when it came.
fn begin(identity: &Identity, book: &mut Book) -> Vec<Option<Met>> {
    let lives = book.control.iter().map(|met| met.as_ref().map_or(identity.life, |met| met.life));
    book.lives = Some(lives.collect());
    book.control.iter_mut().map(Option::take).collect()
}

/// Calls process `to` until all have met, and again if it goes before that.
fn keep_calling(identity: &Identity, arrivals: &Arrivals, to: usize) {
    let mut pause = PAUSES.0;
    loop {
        let book = arrivals.book();
        if book.closed || book.fatal.is_some() || book.lives.is_some() {
            return;
        }
        if book.control[to].is_some() {
            drop(arrivals.wait(book, Instant::now() + LOOK));
            continue;
        }
        drop(book);
        let called = identity.call(to, Purpose::Control, &|| false);
        let mut book = arrivals.book();
        if book.closed {
            return;
        }
        match called {
            Ok(Called::Met(channel, life)) => {
                book.control[to] = Some(Met { channel, life });
                pause = PAUSES.0;
            }
            Ok(Called::Later(why)) => {
                book.trouble.insert(to, why);
                drop(book);
                thread::sleep(pause);
                pause = (pause * 2).min(PAUSES.1);
            }
            Ok(Called::Refused(why)) => book.fatal = Some(refused(identity, to, &why)),
            Err(error) => book.fatal = Some(error),
        }
        arrivals.changed();
    }
}

/// What a process that refuses this one makes of it.
pub(in crate::mesh) fn refused(identity: &Identity, by: usize, why: &str) -> Error {
    Error::Join { refused: true, what: format!("{} refuses this process: {why}", identity.name(by)) }
}

fn absent(
    identity: &Identity,
    book: &Book,
    missing: &[usize],
    (waited, taken): (Duration, Duration),
) -> String {
    let own = match taken > TAKEN {
        true => format!(
            "; the address of this one was taken for {:.1} s, perhaps by another process of its number",
            taken.as_secs_f64()
        ),
        false => String::new(),
    };
    format!(
        "not all processes came within {:.1} s: there is no {}{}{own}; start all processes, each with its number",
        waited.as_secs_f64(),
        names(identity, book, missing),
        book.refusals()
    )
}

/// Some processes as people know them, with what kept them from being reached.
fn names(identity: &Identity, book: &Book, processes: &[usize]) -> String {
    const NAMED: usize = 8;
    let named = processes.iter().take(NAMED).map(|&process| match book.trouble.get(&process) {
        Some(why) => format!("{}: {why}", identity.name(process)),
        None => identity.name(process),
    });
    let mut text = named.collect::<Vec<_>>().join(", ");
    if processes.len() > NAMED {
        text = format!("{text}, and {} more", processes.len() - NAMED);
    }
    text
}
