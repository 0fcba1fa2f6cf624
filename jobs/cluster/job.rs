//! A job that several processes share: they meet, process 0 leads and the others take part, and all of them end alike.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::panic;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use alike::collection::answer_about_runs;
use alike::error::{Error, Result};
use alike::mesh::{Membership, Mesh, Secret};
use alike::peers::Peers;
use alike::progress::Progress;
use xxhash_rust::xxh3::xxh3_128;

use crate::cli::line::CommandLine;
use crate::cli::processes::WatchArgs;
use crate::cluster::metrics::ProcessMetrics;
use crate::cluster::processes::JobMember;
use crate::cluster::profile::Profiled;
use crate::environment::{METRICS, METRICS_ABOVE, environment, number};
use crate::exit::{INTERRUPTED, exit_code};
use crate::terminal::escape::sanitize;
use crate::terminal::interrupt::{unless_stopped, wait_if_ending};
use crate::terminal::stderr::{message, warn};

/// How long a process that was asked to stop may take to do so in order, and how often that is looked at. Then the others are
/// told, before it ends anyway.
const IN_ORDER: Duration = Duration::from_millis(400);
const GLANCE: Duration = Duration::from_millis(50);
/// Topic of the word that process 0 is done.
const DONE: u32 = 2;

/// The processes of a job, before they have met.
pub(crate) struct DistributedJob {
    member: Option<JobMember>,
    /// Processes meet only those with the same one: a digest of what their command lines have in common.
    id: u128,
    metrics: Option<Arc<ProcessMetrics>>,
    profiled: Option<Profiled>,
    /// The collection, and where this process keeps what it writes of it to itself, if each does.
    state: Option<(PathBuf, PathBuf)>,
}

impl DistributedJob {
    /// Makes sense of options and environment.
    pub(crate) fn new(line: &CommandLine) -> Result<DistributedJob> {
        let command = &line.command;
        let args = command.processes();
        let member = args.map(|args| JobMember::new(args, &environment, &warn)).transpose()?.flatten();
        if member.is_some() && command.reads_standard_input() {
            return Err(Error::config(
                "standard input is there for one process only; name files that all processes can read",
            ));
        }
        let id = if member.is_some() { xxh3_128(&line.common_words()) } else { 0 };
        let state = command.place().and_then(|at| Some((at.collection.clone(), at.local_state.clone()?)));
        let mut job = DistributedJob { member, id, metrics: None, profiled: None, state };
        if let (Some(args), Some((name, talk))) = (args, command.name_and_talk()) {
            job.watch(&args.watch, name, talk.json_progress)?;
        }
        Ok(job)
    }

    /// Opens what was asked for to be watched.
    fn watch(&mut self, args: &WatchArgs, command: &'static str, json: bool) -> Result<()> {
        let (process, several) = self.member.as_ref().map_or((0, false), |member| (member.process, true));
        let variable = || environment(METRICS).map(|value| value.to_string_lossy().into_owned());
        if let Some(address) = args.metrics.clone().or_else(variable) {
            let above = number(METRICS_ABOVE, &environment)?.unwrap_or(0);
            let metrics = ProcessMetrics::new(command, process);
            let chosen = metrics.open(&address, above)?;
            chosen.into_iter().for_each(|address| print_address(address, process, json));
            self.metrics = Some(metrics);
        }
        let profiled = args.profile.as_ref();
        let profiled = profiled.map(|file| Profiled::new(file.as_deref(), (command, process, several), json));
        self.profiled = profiled.transpose()?;
        Ok(())
    }

    /// Tells at the end where the time went, if that was asked for, whatever came of the job. What is done is done, even if this
    /// cannot be told.
    pub(crate) fn print_profile<T>(&self, done: Result<T>) -> Result<T> {
        if let Some(Err(error)) = self.profiled.as_ref().map(Profiled::print) {
            warn(&message(&error));
        }
        done
    }

    /// Whether there is only this process.
    pub(crate) fn is_alone(&self) -> bool {
        self.member.is_none()
    }

    /// Whether this process leads: there is no other, or it is process 0.
    pub(crate) fn leads(&self) -> bool {
        self.member.as_ref().is_none_or(|member| member.process == 0)
    }

    /// Does the job: where this process is alone, or process 0, what `lead` does, elsewhere what `assist` does, until process
    /// 0 is done. `None` elsewhere than in process 0. Whoever fails tells the others, and they fail too.
    pub(crate) fn work<T>(
        &self,
        workers: usize,
        progress: &Arc<Progress>,
        lead: impl FnOnce(Option<Arc<Peers>>) -> Result<T>,
        assist: impl FnOnce(&Arc<Peers>) -> Result<()>,
    ) -> Result<Option<T>> {
        self.metrics.iter().for_each(|metrics| metrics.begin(progress, workers));
        self.profiled.iter().for_each(|profiled| profiled.begin(progress));
        let Some(member) = &self.member else { return lead(None).map(Some) };
        let mesh = self.meet(member, workers, progress)?;
        self.metrics.iter().for_each(|metrics| metrics.meet(&mesh));
        let stop = Arc::clone(progress);
        mesh.on_loss(Box::new(move |_| stop.stop()));
        if let Some((collection, state)) = &self.state {
            let folder = Some(&**collection).filter(|_| mesh.process() == 0);
            answer_about_runs(&mesh, folder, state)?;
        }
        let state = self.state.as_ref().map(|(_, state)| state.clone());
        let peers = Arc::new(Peers::new(Arc::clone(&mesh), state));
        let watchdog = StopWatchdog::watch(&mesh, progress);
        let done = match mesh.process() {
            0 => lead(Some(peers)).map(Some),
            _ => assist(&peers).and_then(|()| mesh.receive(0, DONE)).map(|_| None),
        };
        let done = if watchdog.gave_up() { done.map_err(|_| Error::Interrupted) } else { part(&mesh, done) };
        self.metrics.iter().for_each(|metrics| metrics.leave(&mesh));
        done
    }

    /// Meets the other processes, on a thread that can be left behind: they may never come.
    fn meet(&self, member: &JobMember, workers: usize, progress: &Progress) -> Result<Arc<Mesh>> {
        quiet_communication();
        let membership = Membership {
            hosts: member.hosts.clone(),
            process: member.process,
            listen: member.listen.clone(),
            workers,
            secret: member.secret.as_deref().map(Secret::new).transpose()?,
            encrypted: member.encrypted,
            job: self.id,
            join_timeout: member.join_timeout,
            peer_timeout: member.peer_timeout,
        };
        let say = |line: &str| {
            let _ = writeln!(io::stderr().lock(), "alike: {}", sanitize(line));
        };
        unless_stopped(progress, "the meeting of processes", move || Mesh::join(membership, Box::new(say)))
    }
}

/// Sees to it that a process that is asked to stop does so while it waits for another one, which may take long.
struct StopWatchdog(Arc<AtomicBool>, Arc<AtomicBool>);

impl StopWatchdog {
    fn watch(mesh: &Arc<Mesh>, progress: &Arc<Progress>) -> StopWatchdog {
        let (over, gave_up) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let watchdog = StopWatchdog(Arc::clone(&over), Arc::clone(&gave_up));
        let (mesh, progress) = (Arc::clone(mesh), Arc::clone(progress));
        thread::spawn(move || {
            let mut stopped = Duration::ZERO;
            while !over.load(Ordering::Relaxed) && mesh.check().is_ok() {
                if stopped > IN_ORDER {
                    gave_up.store(true, Ordering::Relaxed);
                    return mesh.give_up(INTERRUPTED, "it was asked to stop");
                }
                thread::sleep(GLANCE);
                stopped += if progress.stopped() { GLANCE } else { Duration::ZERO };
            }
        });
        watchdog
    }

    /// Ends the watch: whether it has told the others that this process is gone.
    fn gave_up(self) -> bool {
        self.0.store(true, Ordering::Relaxed);
        self.1.load(Ordering::Relaxed)
    }
}

/// Leaves the others, or tells them what failed.
fn part<T>(mesh: &Mesh, done: Result<Option<T>>) -> Result<Option<T>> {
    match done {
        Ok(done) => {
            let mut told = (1..mesh.processes()).filter(|_| mesh.process() == 0);
            let left = told.try_for_each(|peer| mesh.send(peer, DONE, Vec::new()));
            if let Err(error) = left.and_then(|()| mesh.leave()) {
                // What was to be done is done.
                warn(&error.to_string());
            }
            Ok(done)
        }
        Err(error) => {
            wait_if_ending();
            // A loss stops whatever is under way, and what is under way says that it was stopped; and what of it is safe.
            if let (Error::Paused { .. }, Err(_)) = (&error, mesh.check()) {
                let _ = writeln!(io::stderr().lock(), "alike: {}", message(&error));
            }
            let error = match (&error, mesh.check()) {
                // In process 0 an error may be its own; elsewhere it is what the loss has led to.
                (Error::Interrupted | Error::Paused { .. } | Error::Worker(_), Err(lost)) => lost,
                (_, Err(lost)) if mesh.process() != 0 => lost,
                _ => error,
            };
            mesh.give_up(exit_code(&error), &message(&error));
            Err(error)
        }
    }
}

/// Tells where the metrics are, if it was left to the system.
fn print_address(address: SocketAddr, process: usize, json: bool) {
    let line = match json {
        true => serde_json::json!({ "event": "metrics", "process": process, "address": address }).to_string(),
        false => format!("alike: metrics at http://{address}/metrics"),
    };
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// The end of a job of which this process only was a part: process 0 tells what came of it.
pub(crate) const PART_DONE: ExitCode = ExitCode::SUCCESS;

/// Timely's threads panic when a connection ends under them. The reason why it has ended replaces the panic.
fn quiet_communication() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let timely = thread::current().name().is_some_and(|name| name.starts_with("timely:"));
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
        let ended = [
            "timely communication error",
            "MergeQueue poisoned",
            "Clean shutdown",
            "Failed to receive MergeQueue",
        ];
        if !(timely && ended.iter().any(|known| text.contains(known))) {
            usual(info);
        }
    }));
}
