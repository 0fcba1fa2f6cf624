//! `alike launch`: one command as many processes, on this machine or through ssh, watched until all have ended.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use alike::error::{Error, Result};

use crate::cli::definition;
use crate::cli::launch::LaunchArgs;
use crate::cli::line::CommandLine;
use crate::cli::processes::ProcessArgs;
use crate::cluster::launch::command::{LaunchPlan, Reach};
use crate::cluster::launch::output::LauncherOutput;
use crate::cluster::launch::watch::{Patience, watch};
use crate::cluster::launch::{child, ends};
use crate::cluster::processes::hosts;
use crate::cluster::secret;
use crate::environment::{ADDRESSES, HOSTS, METRICS, environment};
use crate::terminal::interrupt::{end_after, on_interrupt};
use crate::terminal::stderr::warn;
use crate::terminal::stdout::stdout_error;

/// How long this process takes at most to end once it was interrupted: its own patience with the others is less.
const PATIENCE: Duration = Duration::from_secs(4);

/// Starts all processes, and ends when they have.
pub(crate) fn run(args: &LaunchArgs) -> Result<ExitCode> {
    let plan = plan(args)?;
    let interrupts = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&interrupts);
    on_interrupt(move || {
        if count.fetch_add(1, Ordering::Relaxed) == 0 {
            // Nobody may read what this process says, which then does nothing any more. The others end when it has gone.
            let _ = thread::Builder::new().spawn(|| end_after(PATIENCE));
        }
    })?;
    let lines = (0..plan.hosts.len()).map(|i| plan.line(i)).collect::<Result<Vec<_>>>()?;
    let (children, events) = child::start_all(&lines, io::stdout().is_terminal())?;
    let mut output = LauncherOutput::new(children.len(), &args.talk);
    let ended = watch(children, &events, &interrupts, &mut output, Patience::default())?;
    match output.finish() {
        Some(error) => Err(stdout_error(error)),
        None => Ok(ExitCode::from(ends::worst(&ended.ends, ended.interrupted))),
    }
}

/// What is started where; everything that is wrong with it is found here.
fn plan(args: &LaunchArgs) -> Result<LaunchPlan> {
    let words = subcommand(args)?;
    let hosts = hosts(&args.hosts, &environment)?.ok_or_else(|| {
        Error::config("which processes? Give --hosts FILE with an address for each, or -n N for this machine")
    })?;
    let named = args.hosts.hosts.is_some() || environment(HOSTS).or(environment(ADDRESSES)).is_some();
    if args.ssh && !named {
        return Err(Error::config(
            "--ssh starts a process on each host of a file; name it with --hosts FILE",
        ));
    }
    // Another job of this machine may be about to take the usual ones.
    let hosts = if named || hosts.len() == 1 { hosts } else { free_addresses(hosts.len())? };
    let reach = if args.ssh { Some(Reach::new(args.ssh_command.as_deref())?) } else { None };
    let secret = match secret::find(&args.hosts, &environment, &warn)? {
        None if hosts.len() == 1 || args.hosts.insecure => None,
        None if args.ssh => {
            return Err(Error::config(
                "processes on several machines need a secret: give --secret-file FILE (made by: openssl rand -hex 32 > \
                 FILE; chmod 600 FILE), or --insecure where nobody else can reach their ports",
            ));
        }
        None => Some(fresh()?),
        found => found,
    };
    if secret.as_ref().is_some_and(|secret| secret.iter().any(|byte| b"\0\r\n".contains(byte))) {
        return Err(Error::config(
            "the secret has several lines; `alike launch` hands it over as one; make one with: openssl rand -hex 32",
        ));
    }
    let program = match &args.program {
        Some(program) => program.clone(),
        None => std::env::current_exe().map_err(|e| Error::io("alike".as_ref(), "find itself", e))?,
    };
    let folder = match &args.workdir {
        Some(folder) if args.ssh || folder.is_dir() => folder.clone(),
        Some(folder) => {
            return Err(Error::config(format!(
                "--workdir {}: is no folder on this machine",
                folder.display()
            )));
        }
        None => std::env::current_dir()
            .map_err(|e| Error::io(&PathBuf::from("."), "find the present folder", e))?,
    };
    if !args.ssh && hosts.len() > 1 {
        hosts.iter().try_for_each(|host| refuse_taken(host))?;
    }
    let (terminal, metrics) = (io::stdout().is_terminal(), environment(METRICS));
    Ok(LaunchPlan { hosts, secret, program, folder, words, reach, terminal, metrics })
}

/// So many addresses of this machine that nobody has.
fn free_addresses(count: usize) -> Result<Vec<String>> {
    let free = || -> io::Result<Vec<String>> {
        // All are held until the last is known, so that none is given twice.
        let held: Vec<TcpListener> =
            (0..count).map(|_| TcpListener::bind(("localhost", 0))).collect::<io::Result<_>>()?;
        held.iter().map(|held| Ok(format!("localhost:{}", held.local_addr()?.port()))).collect()
    };
    free().map_err(|error| Error::config(format!("no ports of this machine for {count} processes: {error}")))
}

/// How long an address that is taken is tried again: whoever had it may be ending.
const ENDING: Duration = Duration::from_secs(1);

/// Refuses an address of this machine that another program has: the process of that address would find out late, and the
/// others wait for it. Whatever else is wrong with an address, its process says.
fn refuse_taken(host: &str) -> Result<()> {
    let begun = Instant::now();
    loop {
        match TcpListener::bind(host) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && begun.elapsed() < ENDING => {
                thread::sleep(Duration::from_millis(50));
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                let what = format!(
                    "cannot listen on {host}: {error}; end the program that uses it, or name other addresses with --hosts FILE"
                );
                return Err(Error::Join { refused: true, what });
            }
            Ok(_) | Err(_) => return Ok(()),
        }
    }
}

/// The words behind `--`, which must be a subcommand that runs as many processes and leaves it to the launcher which;
/// with what the launcher was told to pass on.
pub(crate) fn subcommand(args: &LaunchArgs) -> Result<Vec<OsString>> {
    let mut words = args.command.clone();
    let passed = [
        ("--quiet", args.talk.quiet),
        ("--json-progress", args.talk.json_progress),
        ("--insecure", args.hosts.insecure),
    ];
    // Options stand behind all names of a command.
    let command = definition();
    let named = words.first().and_then(|name| command.find_subcommand(name));
    let names = if named.is_some_and(clap::Command::has_subcommands) { 2 } else { 1 }.min(words.len());
    let within = named.and_then(|named| words.get(1).and_then(|name| named.find_subcommand(name)));
    // What a command does not take is no reason that it cannot run so.
    let takes = |flag: &str| {
        let mut options = within.or(named).into_iter().flat_map(clap::Command::get_arguments);
        options.any(|option| option.get_long() == flag.strip_prefix("--"))
    };
    let passed = passed.iter().filter(|(flag, given)| *given && takes(flag));
    let passed: Vec<OsString> = passed.map(|(flag, _)| OsString::from(flag)).collect();
    words.splice(names..names, passed);
    let line = [OsString::from("alike")].into_iter().chain(words.iter().cloned());
    let line = CommandLine::parse(&line.collect::<Vec<_>>()).map_err(|error| {
        let told = error.to_string();
        let told = told.trim_end();
        Error::config(format!("behind --: {}", told.strip_prefix("error: ").unwrap_or(told)))
    })?;
    let name = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let Some(processes) = line.command.processes() else {
        return Err(Error::config(format!(
            "alike {name} does not run as many processes; dedup, passages, repetition, decontaminate, load, delete, \
             compact, rollback, recluster and lexicon build do"
        )));
    };
    if let Some(flag) = of_the_launcher(processes, args.hosts.insecure) {
        return Err(Error::config(format!(
            "{flag} stands behind --; the launcher tells its processes: put it in front, or leave it out"
        )));
    }
    if line.command.reads_standard_input() {
        return Err(Error::config(format!(
            "alike {name} cannot read standard input as many processes; write it to a file that all of them can read"
        )));
    }
    Ok(words)
}

/// A flag of `processes` that only the launcher may give.
fn of_the_launcher(processes: &ProcessArgs, insecure: bool) -> Option<&'static str> {
    let flags = [
        ("--hosts", processes.hosts.hosts.is_some()),
        ("-n", processes.hosts.processes.is_some()),
        ("-p", processes.process.is_some()),
        ("--secret-file", processes.hosts.secret_file.is_some()),
        ("--insecure", processes.hosts.insecure && !insecure),
    ];
    flags.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
}

/// A secret that nobody knows.
fn fresh() -> Result<Vec<u8>> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::io("random numbers".as_ref(), "draw a secret from", io::Error::other(error.to_string()))
    })?;
    Ok(bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    /// What `alike launch LINE` would pass on.
    fn passed(line: &str) -> Result<Vec<OsString>> {
        let line = ["alike", "launch"].into_iter().chain(line.split_whitespace());
        match Cli::try_parse_from(line).expect("a line that clap accepts").command {
            Command::Launch(args) => subcommand(&args),
            other => panic!("not launch: {other:?}"),
        }
    }

    #[test]
    fn a_subcommand_is_passed_on_with_the_flags_of_all() {
        for (line, expected) in [
            ("-n 2 -- load c in -w 2", "load c in -w 2"),
            ("-n 2 -q --insecure -- delete c --ids f", "delete --quiet --insecure c --ids f"),
            ("-n 2 --json-progress -- compact c", "compact --json-progress c"),
            ("-n 2 -- recluster c --peer-timeout 5", "recluster c --peer-timeout 5"),
            ("-n 2 -q -- lexicon build in --out l", "lexicon build --quiet in --out l"),
        ] {
            let words = passed(line).expect("good");
            assert_eq!(words, expected.split(' ').map(OsString::from).collect::<Vec<_>>(), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_launched_is_refused_by_name() {
        for (line, parts) in [
            ("-n 2 -- info c", ["alike info", "load"]),
            ("-n 2 -- presets", ["alike presets", "dedup"]),
            ("-n 2 -- lexicon show l", ["alike lexicon", "lexicon build"]),
            ("-n 2 -- lexicon build - --out l", ["alike lexicon", "standard input"]),
            ("-n 2 -- launch -n 2 -- load c in", ["alike launch", "load"]),
            ("-n 2 -- load c", ["behind --", "INPUT"]),
            ("-n 2 -- lode c in", ["behind --", "lode"]),
            ("-n 2 -- load c in -p 1", ["-p", "in front"]),
            ("-n 2 -- load c in --hosts f", ["--hosts", "in front"]),
            ("-n 2 -- load c in -n 3", ["-n", "in front"]),
            ("-n 2 -- load c in --insecure", ["--insecure", "in front"]),
            ("-n 2 -- load c in --secret-file f", ["--secret-file", "in front"]),
            ("-n 2 -- load c -", ["alike load", "standard input"]),
            ("-n 2 -- delete c --ids -", ["alike delete", "standard input"]),
        ] {
            match passed(line) {
                Err(Error::Config(message)) => {
                    assert!(parts.iter().all(|part| message.contains(part)), "{line}: {message}");
                }
                other => panic!("{line}: expected a refusal, got {other:?}"),
            }
        }
    }

    #[test]
    fn a_fresh_secret_is_long_and_another_each_time() {
        let (a, b) = (fresh().expect("random"), fresh().expect("random"));
        assert!(a.len() == 64 && a.iter().all(u8::is_ascii_hexdigit) && a != b);
    }
}
