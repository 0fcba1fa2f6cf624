//! The processes of a job, started without a launcher: addresses, number and secret stand in the environment.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::NamedTempFile;

use crate::support::meeting::free;
use crate::support::program::{Dir, Ran};

/// What the processes of the tests share.
pub(crate) const SECRET: &str = "a secret that only tests know";

/// Longer than anything here takes, on a machine that is busy with other tests: who is not done by then hangs.
const HANG: Duration = Duration::from_secs(180);

/// How a job is run: processes, and workers of each.
pub(crate) type Shape = (usize, usize);

/// Process `index` of those at `hosts`, with the arguments of `line`. Where there is a folder `tmp`, that is the system's
/// temporary folder to it.
pub(crate) fn command(dir: &Dir, hosts: &[String], index: usize, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alike"));
    command
        .args(line.split_whitespace())
        .env("ALIKE_ADDRESSES", hosts.join(","))
        .env("ALIKE_PROCESS", index.to_string())
        .env("ALIKE_SECRET", SECRET)
        .current_dir(dir.path());
    if dir.join("tmp").is_dir() {
        command.env("TMPDIR", dir.join("tmp"));
    }
    command
}

/// A process under way. Dropping it kills it.
pub(crate) struct Process {
    child: Child,
    line: String,
    stdout: NamedTempFile,
    stderr: NamedTempFile,
}

impl Process {
    /// Starts a command; `line` is what a failed test calls it.
    pub(crate) fn start(mut command: Command, line: &str) -> Process {
        let (stdout, stderr) = (NamedTempFile::new().unwrap(), NamedTempFile::new().unwrap());
        let child = command
            .stdin(Stdio::null())
            .stdout(stdout.reopen().unwrap())
            .stderr(stderr.reopen().unwrap())
            .spawn()
            .unwrap();
        Process { child, line: line.to_owned(), stdout, stderr }
    }

    /// What it has written to standard error so far.
    pub(crate) fn said(&self) -> String {
        read(&self.stderr)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has not ended.
    pub(crate) fn at_work(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Sends a signal, if the process is still there.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// How it ended, which must be within a time.
    #[track_caller]
    pub(crate) fn ended_within(&mut self, patience: Duration) -> Ran {
        let begun = Instant::now();
        while self.at_work() {
            if begun.elapsed() > patience {
                let said = self.said();
                panic!("alike {}: still at work after {patience:?}\n{said}", self.line);
            }
            thread::sleep(Duration::from_millis(5));
        }
        let code = self.child.wait().unwrap().code();
        Ran { line: self.line.clone(), code, stdout: read(&self.stdout), stderr: self.said() }
    }

    /// How it ended.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> Ran {
        self.ended_within(HANG)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(file: &NamedTempFile) -> String {
    std::io::read_to_string(File::open(file.path()).unwrap()).unwrap()
}

/// Starts the processes of a job at free ports, all with one command line.
pub(crate) fn start(dir: &Dir, processes: usize, line: &str) -> Vec<Process> {
    let hosts = free(processes);
    (0..processes).map(|index| Process::start(command(dir, &hosts, index, line), line)).collect()
}

/// How all ended.
#[track_caller]
pub(crate) fn all(processes: &mut [Process]) -> Vec<Ran> {
    processes.iter_mut().map(Process::ended).collect()
}

/// Whether a port that was free had been taken before its process listened there.
pub(crate) fn clashed(ended: &[Ran]) -> bool {
    ended.iter().any(|ran| ran.stderr.contains("cannot listen on"))
}

/// Runs a job: how all of its processes ended, process 0 first. One process is run as without any of this.
#[track_caller]
pub(crate) fn together(dir: &Dir, (processes, workers): Shape, line: &str) -> Vec<Ran> {
    let line = format!("{line} -w {workers}");
    if processes == 1 {
        return vec![dir.alike(&line, None)];
    }
    at_free_ports(processes, |hosts, index| Process::start(command(dir, hosts, index, &line), &line))
}

/// How all of so many processes ended that `start` starts, given all addresses and the number of one; started again where
/// a port was taken.
#[track_caller]
pub(crate) fn at_free_ports(processes: usize, start: impl Fn(&[String], usize) -> Process) -> Vec<Ran> {
    for _ in 0..4 {
        let hosts = free(processes);
        // Nothing is begun before all have met, so that a clash leaves nothing behind.
        let ended = all(&mut (0..processes).map(|index| start(&hosts, index)).collect::<Vec<_>>());
        if !clashed(&ended) {
            return ended;
        }
    }
    panic!("the ports were taken four times");
}

/// Runs a job that must succeed in all of its processes: what process 0 wrote.
#[track_caller]
pub(crate) fn done(dir: &Dir, shape: Shape, line: &str) -> Ran {
    let mut all = together(dir, shape, line).into_iter().map(Ran::ok);
    all.next().unwrap_or_else(|| unreachable!("a job has a process"))
}
