//! A job that several processes share: they meet, process 0 leads and the others take part, and all of them end alike.

use std::io::{self, Write};
use std::panic;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use alike::error::{Error, Result};
use alike::flow::Peers;
use alike::mesh::{Membership, Mesh, Secret};
use alike::progress::Progress;
use xxhash_rust::xxh3::xxh3_128;

use crate::cli::Command;
use crate::display::sanitize;
use crate::processes::{Member, environment};
use crate::{exit_code, message, warn};

/// Topic of the word that process 0 is done.
const DONE: u32 = 2;

/// The processes of a job, before they have met.
pub(crate) struct Team {
    member: Option<Member>,
    job: u128,
}

impl Team {
    /// Makes sense of options and environment. `again` is the same command, read a second time.
    pub(crate) fn new(command: &Command, again: Option<Command>) -> Result<Team> {
        let args = command.processes();
        let member = args.map(|args| Member::new(args, &environment, &warn)).transpose()?.flatten();
        let job = again.map_or(0, |mut command| {
            command.forget_machine();
            xxh3_128(format!("{command:?}").as_bytes())
        });
        if member.is_some() && command.reads_standard_input() {
            return Err(Error::config(
                "standard input is there for one process only; name files that all processes can read",
            ));
        }
        Ok(Team { member, job })
    }

    /// Whether there is only this process.
    pub(crate) fn is_alone(&self) -> bool {
        self.member.is_none()
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
        let Some(member) = &self.member else { return lead(None).map(Some) };
        let mesh = self.meet(member, workers)?;
        let stop = Arc::clone(progress);
        mesh.on_loss(Box::new(move |_| stop.stop()));
        let peers = Arc::new(Peers::new(Arc::clone(&mesh)));
        let done = match mesh.process() {
            0 => lead(Some(peers)).map(Some),
            _ => assist(&peers).and_then(|()| mesh.receive(0, DONE)).map(|_| None),
        };
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
                // A loss stops whatever is under way, and what is under way says that it was stopped.
                let error = match (&error, mesh.check()) {
                    (Error::Interrupted | Error::Paused { .. } | Error::Worker(_), Err(lost)) => lost,
                    _ => error,
                };
                mesh.give_up(exit_code(&error), &message(&error));
                Err(error)
            }
        }
    }

    fn meet(&self, member: &Member, workers: usize) -> Result<Arc<Mesh>> {
        quiet_communication();
        let membership = Membership {
            hosts: member.hosts.clone(),
            process: member.process,
            workers,
            secret: member.secret.as_deref().map(Secret::new).transpose()?,
            job: self.job,
            join_timeout: member.join_timeout,
            peer_timeout: member.peer_timeout,
        };
        let say = |line: &str| {
            let _ = writeln!(io::stderr().lock(), "alike: {}", sanitize(line));
        };
        Mesh::join(membership, Box::new(say))
    }
}

/// The end of a job of which this process only was a part: process 0 tells what came of it.
pub(crate) const PART_DONE: ExitCode = ExitCode::SUCCESS;

/// Timely's threads panic when a connection ends under them. Why it has ended is told in its place.
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
