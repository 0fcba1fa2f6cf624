//! The processes that read PDFs, seen from the one that asks them.
//!
//! What reads a PDF may fail in any way, take all memory, or never end. So it does that in a process of its own, which answers one
//! question after the other and is kept from file to file. One that fails, or takes too long, is ended, and another takes its place.

use std::ffi::OsString;
use std::io::{self, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_128;

use super::frames::{PdfFault, PdfQuestion, PdfRequest, PdfText, read_head, read_text, write_request};

/// Most questions that one process answers: what it has left behind by then goes with it.
const MOST_ANSWERED: u32 = 256;

/// How much longer than it may compute a process may take on the clock, where the machine does other things.
const SLACK: u32 = 10;

/// How often it is looked whether a process has answered.
const LOOK: Duration = Duration::from_millis(100);

/// How a process is started that reads PDFs. An installed `alike` is such a program with `read-pdfs` for an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PdfProgram {
    /// The program, which calls [`serve_pdfs`](super::serve_pdfs) with standard input and output.
    pub program: PathBuf,
    /// What it is called with. Behind that stands the number of the process that starts it, and that it should end with.
    pub arguments: Vec<OsString>,
}

static PROGRAM: OnceLock<PdfProgram> = OnceLock::new();

/// The processes that nobody asks at the moment.
static IDLE: Mutex<Vec<PdfProcess>> = Mutex::new(Vec::new());

/// Most PDFs of which it is known that they take too long.
const MOST_SLOW: usize = 1 << 12;

/// The PDFs that took too long, by their digests, with what was asked and how long they had. Some are asked for twice in a run.
static SLOW: Mutex<Vec<(u128, PdfQuestion, Duration)>> = Mutex::new(Vec::new());

/// Says which program reads PDFs for this one. Without one, each PDF is refused; what was said first stays.
pub fn read_pdfs_with(program: PdfProgram) {
    PROGRAM.get_or_init(|| program);
}

/// Why a process gave no answer.
#[derive(Debug)]
pub(super) enum PdfFailure {
    /// No program is known that reads PDFs.
    NoProgram,
    /// It cannot be started.
    NotStarted(io::Error),
    /// It ended, or said what is no answer.
    Ended,
    /// It took longer than that.
    TooSlow(Duration),
}

/// What a process said of a PDF.
#[derive(Debug)]
pub(super) enum PdfReply {
    /// What it says.
    Said(PdfText),
    /// Why it says nothing.
    Refused(PdfFault),
    /// Its text has so many bytes, more than were to be held.
    Long(u64),
}

/// What is asked of a PDF.
#[derive(Clone, Copy)]
pub(super) struct PdfInquiry<'a> {
    pub(super) pdf: &'a [u8],
    pub(super) question: PdfQuestion,
    /// Most bytes of text that it may have.
    pub(super) most: usize,
    /// Most bytes of text that are taken over.
    pub(super) held: usize,
    /// How long it may compute.
    pub(super) patience: Duration,
}

/// A process that reads PDFs. It ends when this is dropped.
struct PdfProcess {
    process: Mutex<Child>,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    answered: u32,
}

impl PdfProcess {
    fn start() -> Result<PdfProcess, PdfFailure> {
        let PdfProgram { program, arguments } = PROGRAM.get().ok_or(PdfFailure::NoProgram)?;
        let mut command = Command::new(program);
        command.args(arguments).arg(std::process::id().to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Secrets are none of its business. Each thread would take addresses for memory of its own.
        command.env_clear().env("MALLOC_ARENA_MAX", "1");
        #[cfg(unix)]
        {
            // Ctrl-C on a terminal is for this process, which ends the others.
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            command.current_dir("/");
        }
        let mut process = command.spawn().map_err(PdfFailure::NotStarted)?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let process = Mutex::new(process);
        match input.zip(output) {
            Some((input, output)) => {
                Ok(PdfProcess { process, input, output: BufReader::new(output), answered: 0 })
            }
            None => Err(PdfFailure::Ended),
        }
    }

    /// Asks once; any failure leaves the process useless.
    fn ask(&mut self, inquiry: &PdfInquiry<'_>) -> Result<PdfReply, PdfFailure> {
        let PdfProcess { process, input, output, answered } = self;
        *answered += 1;
        let exchange = || {
            let (most_text, length) = (inquiry.most as u64, inquiry.pdf.len() as u64);
            let (question, seconds) = (inquiry.question, inquiry.patience.as_secs());
            write_request(input, &PdfRequest { question, most_text, seconds, length }, inquiry.pdf)?;
            match read_head(output, most_text)? {
                Err(fault) => Ok(PdfReply::Refused(fault)),
                Ok(head) if head.length > inquiry.held as u64 => Ok(PdfReply::Long(head.length)),
                Ok(head) => read_text(output, head).map(PdfReply::Said),
            }
        };
        let (reply, too_slow) =
            within(process, SLACK * inquiry.patience, exchange).map_err(PdfFailure::NotStarted)?;
        match reply {
            Ok(reply) => Ok(reply),
            Err(_) if too_slow || ran_out_of_time(process) => Err(PdfFailure::TooSlow(inquiry.patience)),
            Err(_) => Err(PdfFailure::Ended),
        }
    }
}

impl Drop for PdfProcess {
    fn drop(&mut self) {
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        // It may be gone already. None is left as a dead one that nobody has asked for.
        let _ = process.kill();
        let _ = process.wait();
    }
}

/// Whether a process that gives no answer has computed for longer than it may. It is waited for.
fn ran_out_of_time(process: &Mutex<Child>) -> bool {
    let mut process = process.lock().unwrap_or_else(PoisonError::into_inner);
    // One that says what is no answer may still be there.
    let _ = process.kill();
    let status = process.wait();
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;

        let signal = rustix::process::Signal::XCPU.as_raw();
        status.is_ok_and(|status| status.signal() == Some(signal))
    }
    #[cfg(not(unix))]
    {
        drop(status);
        false
    }
}

/// What `work` gives, and whether it took too long: the process is then ended, and with it what `work` waits for.
fn within<T>(
    process: &Mutex<Child>,
    patience: Duration,
    work: impl FnOnce() -> io::Result<T>,
) -> io::Result<(io::Result<T>, bool)> {
    let (done, is_done) = mpsc::channel::<()>();
    let watch = move || {
        // Time in which this process was stopped does not count.
        let waits = patience.as_millis() / LOOK.as_millis();
        let too_slow = (0..waits).all(|_| is_done.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout));
        if too_slow {
            // It may have ended by itself at this moment.
            let _ = process.lock().unwrap_or_else(PoisonError::into_inner).kill();
        }
        too_slow
    };
    thread::scope(|scope| {
        let watch = thread::Builder::new().name("pdf-watch".into()).spawn_scoped(scope, watch)?;
        let outcome = work();
        drop(done);
        Ok((outcome, watch.join().unwrap_or(true)))
    })
}

/// Asks about a PDF, unless it has taken longer before than it may take now.
///
/// # Errors
/// The failure of a process that has read nothing else.
pub(super) fn ask(inquiry: &PdfInquiry<'_>) -> Result<PdfReply, PdfFailure> {
    let slow = || SLOW.lock().unwrap_or_else(PoisonError::into_inner);
    let (digest, PdfInquiry { question, patience, .. }) = (xxh3_128(inquiry.pdf), *inquiry);
    let is_known = |(of, asked, had): &(u128, PdfQuestion, Duration)| {
        *of == digest && *asked == question && *had >= patience
    };
    if slow().iter().any(is_known) {
        return Err(PdfFailure::TooSlow(patience));
    }
    let reply = ask_process(inquiry);
    if matches!(reply, Err(PdfFailure::TooSlow(_))) {
        let mut slow = slow();
        if slow.len() < MOST_SLOW {
            slow.push((digest, question, patience));
        }
    }
    reply
}

/// Asks a process about a PDF. If one fails that has read others before, or has no memory left, a new one is asked, so the answer
/// does not hang on what was read before.
fn ask_process(inquiry: &PdfInquiry<'_>) -> Result<PdfReply, PdfFailure> {
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = idle().pop();
    let mut process = match kept {
        Some(process) => process,
        None => PdfProcess::start()?,
    };
    let mut reply = process.ask(inquiry);
    let may_be_others = matches!(
        reply,
        Err(PdfFailure::Ended) | Ok(PdfReply::Refused(PdfFault::TooLarge | PdfFault::Unforeseen))
    );
    if may_be_others && process.answered > 1 {
        process = PdfProcess::start()?;
        reply = process.ask(inquiry);
    }
    // Of a long text nothing was read, so the next answer is not the next one in the pipe.
    if matches!(reply, Ok(PdfReply::Said(_) | PdfReply::Refused(_))) && process.answered < MOST_ANSWERED {
        idle().push(process);
    }
    reply
}
