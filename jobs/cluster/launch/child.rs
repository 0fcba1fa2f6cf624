//! A process that was started: what it writes as events, asking it to end, and how it ended.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{self, ChildStdin, Command};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

use alike::error::{Error, Result};

use super::command::ProcessCommand;
use super::ends::ProcessEnd;

/// Most bytes of a line that is waited for; a longer one comes in pieces.
const MOST: usize = 64 << 10;
/// The same of an object of JSON, which is read by programs: a summary names each input that was skipped.
const MOST_OF_JSON: usize = 1 << 30;
/// Events that may wait before whoever writes them has to.
const WAITING: usize = 1024;

/// What processes write.
#[derive(Debug)]
pub(crate) enum Event {
    /// A line on standard error, or on the standard output of any but process 0; without its end.
    Line(usize, Vec<u8>),
    /// What process 0 writes to standard output, where that is a terminal.
    Data(Vec<u8>),
    /// Standard output does not take what process 0 writes.
    Broken(io::Error),
    /// What process 0 wrote to standard output has all been taken.
    Drained,
}

/// A process, until it has ended and after.
#[derive(Debug)]
pub(crate) struct Child {
    process: process::Child,
    /// Open for as long as the launcher lives, so that the process notices when it is gone.
    lifeline: Option<ChildStdin>,
    remote: bool,
    asked: bool,
    end: Option<ProcessEnd>,
}

/// Starts all processes, or none. What they write comes out of the receiver, which ends when none can write any more;
/// if standard output is no `terminal`, what process 0 writes there goes there directly.
pub(crate) fn start_all(lines: &[ProcessCommand], terminal: bool) -> Result<(Vec<Child>, Receiver<Event>)> {
    let (send, events) = mpsc::sync_channel(WAITING);
    let mut children: Vec<Child> = Vec::with_capacity(lines.len());
    for (i, line) in lines.iter().enumerate() {
        match Child::start(i, line.command(), line.secret.as_deref(), line.remote, terminal, &send) {
            Ok(child) => children.push(child),
            Err(source) => {
                for child in &mut children {
                    child.kill();
                    child.wait();
                }
                return Err(Error::io(Path::new(&line.program), "start", source));
            }
        }
    }
    Ok((children, events))
}

impl Child {
    /// Starts `command` as process `i`.
    fn start(
        i: usize,
        mut command: Command,
        secret: Option<&[u8]>,
        remote: bool,
        terminal: bool,
        events: &SyncSender<Event>,
    ) -> io::Result<Child> {
        let mut process = command.spawn()?;
        let mut lifeline = process.stdin.take();
        if let (Some(lifeline), Some(secret)) = (&mut lifeline, secret) {
            // One that has ended already says itself why.
            let _ = lifeline.write_all(secret);
        }
        let (out, err) = (process.stdout.take(), process.stderr.take());
        let mut child = Child { process, lifeline, remote, asked: false, end: None };
        let reading = [out.map(|out| read_output(i, out, terminal, events.clone())), {
            let events = events.clone();
            err.map(|err| spawn(move || lines(i, err, &events)))
        }];
        for started in reading.into_iter().flatten() {
            started.inspect_err(|_| {
                child.kill();
                child.wait();
            })?;
        }
        Ok(child)
    }

    /// How it ended, once it has.
    pub(crate) fn end(&mut self) -> io::Result<Option<ProcessEnd>> {
        if self.end.is_none() {
            self.end = self.process.try_wait()?.map(|status| ProcessEnd::new(status, self.asked));
        }
        Ok(self.end)
    }

    /// Asks it to end in order.
    pub(crate) fn ask(&mut self) {
        if self.end.is_some() {
            return;
        }
        self.asked = true;
        if self.remote {
            self.lifeline = None;
        } else {
            self.signal(false);
        }
    }

    /// Ends it.
    pub(crate) fn kill(&mut self) {
        if self.end.is_some() {
            return;
        }
        self.asked = true;
        self.lifeline = None;
        self.signal(true);
    }

    /// Waits for one that was killed, so that nothing is left of it.
    fn wait(&mut self) {
        // It was killed; if the system cannot line so, there is nothing to be done about it.
        let _ = self.process.wait();
    }

    /// Sends it, and whatever it has started, SIGKILL or SIGTERM. It was not waited for yet, so the number is its own.
    #[cfg(unix)]
    fn signal(&mut self, kill: bool) {
        use rustix::process::{Pid, Signal, kill_process_group};

        let signal = if kill { Signal::KILL } else { Signal::TERM };
        let id = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        // One that has just ended needs no signal.
        let _ = id.map(|id| kill_process_group(id, signal));
    }

    /// Ends it: there is nothing milder here.
    #[cfg(not(unix))]
    fn signal(&mut self, _kill: bool) {
        let _ = self.process.kill();
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("reader".into()).spawn(work).map(drop)
}

/// Takes the standard output of process `i` where it belongs.
fn read_output(
    i: usize,
    out: impl Read + Send + 'static,
    terminal: bool,
    events: SyncSender<Event>,
) -> io::Result<()> {
    match (i, terminal) {
        (0, true) => spawn(move || {
            data(out, &events);
            // Once the launcher has gone nobody needs to know.
            let _ = events.send(Event::Drained);
        }),
        (0, false) => spawn(move || {
            // A reader that has seen enough ends the process as it would end it without a launcher.
            if let Err(error) = copy(out, &mut io::stdout().lock())
                && error.kind() != io::ErrorKind::BrokenPipe
            {
                let _ = events.send(Event::Broken(error));
            }
            let _ = events.send(Event::Drained);
        }),
        _ => spawn(move || lines(i, out, &events)),
    }
}

/// Copies piece by piece as it comes. `io::copy` has the system do so, which takes the place to write at before it waits for a piece:
/// in a file that takes standard error, too, that would be written over by then.
fn copy(mut from: impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut piece = vec![0; MOST];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return to.flush(),
            Ok(read) => to.write_all(&piece[..read]).and_then(|()| to.flush())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Sends what is read, until nobody takes it.
fn data(mut from: impl Read, events: &SyncSender<Event>) {
    let mut piece = vec![0; MOST];
    while let Ok(read @ 1..) = from.read(&mut piece) {
        if events.send(Event::Data(piece[..read].to_vec())).is_err() {
            return;
        }
    }
}

/// Sends line by line what process `i` writes, until nobody takes it.
fn lines(i: usize, from: impl Read, events: &SyncSender<Event>) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while let Ok(1..) = from.by_ref().take(MOST as u64).read_until(b'\n', &mut line) {
        if line.starts_with(b"{") && !line.ends_with(b"\n") {
            // What cannot be read to its end comes as far as it was read.
            let _ = from.by_ref().take((MOST_OF_JSON - MOST) as u64).read_until(b'\n', &mut line);
        }
        if line.pop_if(|end| *end == b'\n').is_some() {
            line.pop_if(|end| *end == b'\r');
        }
        if events.send(Event::Line(i, std::mem::take(&mut line))).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_without_their_ends_and_long_ones_in_pieces() {
        let (send, events) = mpsc::sync_channel(10);
        let long = [&[b'x'; MOST - 1][..], b"\rxxx\n"].concat();
        let text = [b"one\r\n\ntwo\n".as_slice(), &long, b"{", &[b' '; 3 * MOST], b"}\r\n{"].concat();
        lines(4, &text[..], &send);
        drop(send);
        let told: Vec<(usize, usize)> = events
            .iter()
            .map(|event| match event {
                Event::Line(i, line) => (i, line.len()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(told, [(4, 3), (4, 0), (4, 3), (4, MOST), (4, 3), (4, 3 * MOST + 2), (4, 1)]);
    }
}
