//! Which processes a job has and which of them this one is, from options and the environment.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use alike::error::{Error, Result};
use alike::limits::{MAX_HOSTS_BYTES, MAX_PROCESSES};
use alike::mesh::{addresses_of_file, addresses_of_list};
use alike::read::read_short;

use crate::cli::processes::{HostArgs, ProcessArgs};
use crate::cli::values::EncryptionArg;
use crate::cluster::secret;
use crate::environment::{ADDRESSES, HOSTS, LISTEN, PROCESS, PROCESSES, Variables, number};

/// What batch systems call the index of a process: a task of Slurm's `srun`, a pod of an indexed Kubernetes Job. They
/// are there for commands of one process, too.
const BATCH: [&str; 2] = ["SLURM_PROCID", "JOB_COMPLETION_INDEX"];

/// Port of process 0 where there is no file of hosts; process i is i above it.
const FIRST_PORT: usize = 2101;
/// Seconds in which all must have come, unless said otherwise.
const JOIN_SECONDS: u64 = 60;
/// Seconds after which a silent process is taken for lost, unless said otherwise.
const PEER_SECONDS: u64 = 30;
/// Most seconds of either: a day.
const MOST_SECONDS: u64 = 24 * 60 * 60;

/// What one of many processes knows of all.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct JobMember {
    /// The address of each process, `host:port`, in order; two or more.
    pub(crate) hosts: Vec<String>,
    /// Which of them this one is.
    pub(crate) process: usize,
    /// Where this process listens, if not at its address.
    pub(crate) listen: Option<String>,
    /// What only these processes know, 16 bytes or more; `None` only where the user said that there is none.
    pub(crate) secret: Option<Vec<u8>>,
    /// Whether what crosses between processes is encrypted.
    pub(crate) encrypted: bool,
    /// How long the others are awaited.
    pub(crate) join_timeout: Duration,
    /// How long another process may be silent.
    pub(crate) peer_timeout: Duration,
}

impl fmt::Debug for JobMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobMember")
            .field("hosts", &self.hosts)
            .field("process", &self.process)
            .field("listen", &self.listen)
            .field("secret", &self.secret.as_ref().map(|_| "..."))
            .field("encrypted", &self.encrypted)
            .field("join_timeout", &self.join_timeout)
            .field("peer_timeout", &self.peer_timeout)
            .finish()
    }
}

impl JobMember {
    /// What the options and the environment come to; `None` is a job of one process. `warn` receives what is doubtful.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] where they contradict each other, and [`Error::Io`] where a file cannot be read.
    pub(crate) fn new(
        args: &ProcessArgs,
        variables: Variables<'_>,
        warn: &dyn Fn(&str),
    ) -> Result<Option<JobMember>> {
        let Some(hosts) = hosts(&args.hosts, variables)? else {
            refuse_idle(args, variables)?;
            return Ok(None);
        };
        let process = process(args, hosts.len(), variables)?;
        let listen = listen(args, variables)?;
        let join_timeout = seconds("--join-timeout", args.join_timeout, JOIN_SECONDS, 1)?;
        let peer_timeout = seconds("--peer-timeout", args.peer_timeout, PEER_SECONDS, 2)?;
        if hosts.len() == 1 {
            return Ok(None);
        }
        let secret = secret::find(&args.hosts, variables, warn)?;
        if secret.is_none() && !args.hosts.insecure {
            return Err(Error::config(format!(
                "{} processes need a secret, or whoever reaches their ports can take part and send them anything; give \
                 all of them the same --secret-file (made by: openssl rand -hex 32 > FILE; chmod 600 FILE), or \
                 --insecure where nobody else can reach them",
                hosts.len()
            )));
        }
        let encrypted = encrypted(args.encryption, &hosts, secret.is_some())?;
        Ok(Some(JobMember { hosts, process, listen, secret, encrypted, join_timeout, peer_timeout }))
    }
}

/// Whether what crosses between processes is encrypted.
fn encrypted(asked: EncryptionArg, hosts: &[String], has_secret: bool) -> Result<bool> {
    match asked {
        EncryptionArg::On if !has_secret => Err(Error::config(
            "--encryption on needs a secret: without one, nobody knows whom keys are agreed on with; give --secret-file \
             instead of --insecure",
        )),
        EncryptionArg::On => Ok(true),
        EncryptionArg::Off => Ok(false),
        EncryptionArg::Auto => Ok(has_secret && !hosts.iter().all(|host| is_of_this_machine(host))),
    }
}

/// Whether an address (`host:port`) never leaves this machine, as it is written: all processes must find the same.
fn is_of_this_machine(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or_else(|_| name.eq_ignore_ascii_case("localhost"), |address| address.is_loopback())
}

/// The addresses of all processes, in order; `None` where nothing asks for more than one.
pub(crate) fn hosts(args: &HostArgs, variables: Variables<'_>) -> Result<Option<Vec<String>>> {
    let asked = match args.processes {
        Some(count) => Some((count, "-n")),
        None => number(PROCESSES, variables)?.map(|count| (count, PROCESSES)),
    };
    if let Some((count, name)) = asked.filter(|(count, _)| !(1..=MAX_PROCESSES).contains(count)) {
        return Err(Error::config(format!("{name} {count}: expected 1 to {MAX_PROCESSES} processes")));
    }
    let Some((mut hosts, place)) = listed(args, variables)? else {
        return Ok(
            asked.map(|(count, _)| (0..count).map(|i| format!("localhost:{}", FIRST_PORT + i)).collect())
        );
    };
    if let Some((count, name)) = asked {
        if hosts.len() < count {
            return Err(Error::config(format!(
                "{name} {count}: {place} has {} addresses only; add the others, or take fewer processes",
                hosts.len()
            )));
        }
        hosts.truncate(count);
    }
    match hosts.len() {
        0 => {
            Err(Error::config(format!("{place} has no address; write one, like host:2101, for each process")))
        }
        count if count > MAX_PROCESSES => {
            Err(Error::config(format!("{place} has {count} addresses; expected 1 to {MAX_PROCESSES}")))
        }
        _ => Ok(Some(hosts)),
    }
}

/// The addresses of a file or of the environment, and where they stand; `None` where there are none.
fn listed(args: &HostArgs, variables: Variables<'_>) -> Result<Option<(Vec<String>, String)>> {
    let (file, addresses) = match &args.hosts {
        Some(file) => (Some(file.clone()), None),
        None => (variables(HOSTS).map(PathBuf::from), variables(ADDRESSES)),
    };
    match (file, addresses) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(Error::config(format!(
            "{HOSTS} and {ADDRESSES} are both set; unset one, or say --hosts FILE"
        ))),
        (Some(file), None) => {
            let text =
                read_short(&file, MAX_HOSTS_BYTES).map_err(|e| Error::io(&file, "read the hosts from", e))?;
            let place = file.display().to_string();
            Ok(Some((addresses_of_file(&place, &text)?, place)))
        }
        (None, Some(addresses)) => {
            let text = addresses.into_string().map_err(|_| {
                Error::config(format!("{ADDRESSES} is not UTF-8; expected addresses like host:2101"))
            })?;
            Ok(Some((addresses_of_list(ADDRESSES, &text)?, ADDRESSES.to_owned())))
        }
    }
}

/// Which of `count` processes this one is.
fn process(args: &ProcessArgs, count: usize, variables: Variables<'_>) -> Result<usize> {
    let mut found = args.process.map(|process| (process, "-p"));
    for name in [PROCESS].into_iter().chain(BATCH) {
        if found.is_none() {
            found = number(name, variables)?.map(|process| (process, name));
        }
    }
    match found {
        Some((process, name)) if process >= count => Err(Error::config(format!(
            "{name} {process}: there are {count} processes, 0 to {}; give another index, or more addresses",
            count - 1
        ))),
        Some((process, _)) => Ok(process),
        None if count == 1 => Ok(0),
        None => Err(Error::config(format!(
            "which of the {count} processes is this? Give each its own -p or {PROCESS}, 0 to {}; srun and indexed Jobs of \
             Kubernetes set one by themselves, and `alike launch` starts all",
            count - 1
        ))),
    }
}

/// Refuses what only means something for many processes.
fn refuse_idle(args: &ProcessArgs, variables: Variables<'_>) -> Result<()> {
    let idle = [
        ("-p", args.process.is_some()),
        (PROCESS, variables(PROCESS).is_some()),
        ("--listen", args.listen.is_some()),
        ("--secret-file", args.hosts.secret_file.is_some()),
        ("--insecure", args.hosts.insecure),
        ("--encryption", args.encryption != EncryptionArg::Auto),
        ("--join-timeout", args.join_timeout.is_some()),
        ("--peer-timeout", args.peer_timeout.is_some()),
    ];
    match idle.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Error::config(format!(
            "{name} is for one of many processes; say which there are with --hosts FILE or -n, or leave it out"
        ))),
        None => Ok(()),
    }
}

/// Where this process listens, if that was said.
fn listen(args: &ProcessArgs, variables: Variables<'_>) -> Result<Option<String>> {
    let variable = || variables(LISTEN).map(|value| (value.to_string_lossy().into_owned(), LISTEN));
    let Some((address, name)) = args.listen.clone().map(|address| (address, "--listen")).or_else(variable)
    else {
        return Ok(None);
    };
    let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    match port.is_some_and(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0)) {
        true => Ok(Some(address)),
        false => Err(Error::config(format!("{name} {address}: expected host:port, as in 0.0.0.0:2101"))),
    }
}

fn seconds(name: &str, asked: Option<u64>, usual: u64, least: u64) -> Result<Duration> {
    match asked.unwrap_or(usual) {
        count if (least..=MOST_SECONDS).contains(&count) => Ok(Duration::from_secs(count)),
        count => Err(Error::config(format!("{name} {count}: expected {least} to {MOST_SECONDS} seconds"))),
    }
}

#[cfg(test)]
#[path = "processes_tests.rs"]
mod tests;
