//! The command line of many processes; part of the one definition in `cli.rs`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::cli::{Command, MachineArgs, TalkArgs};
use crate::cli_collections::{ChangeArgs, PlaceArgs};
use crate::cli_lexicon::LexiconCommand;

pub(crate) const LAUNCH_EXAMPLES: &str = "\
Examples:
  alike launch -n 2 -- load archive crawl/ -w 4 --memory 8G
      Two processes on this machine, each with four workers and 8 GB. A secret is drawn for them.
  alike launch --hosts hosts --ssh --secret-file secret -- load archive crawl/
      A process on each machine of the file hosts, where archive and crawl/ lie on a folder that all have.

Exit codes: 0 if all processes ended with 0; 130 if it was interrupted; else the greatest code of those that failed by
themselves (128 and the signal of one that was killed); else 5: processes were lost, or had to be ended.";

/// Which processes there are, and what they know each other by.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct HostArgs {
    /// File with the address (host:port) of process i on line i; blank lines and # comments are passed over
    /// [env: ALIKE_HOSTS]
    #[arg(long, value_name = "FILE", help_heading = "Many processes")]
    pub(crate) hosts: Option<PathBuf>,
    /// How many processes [env: ALIKE_PROCESSES] [default: one a line of the file]
    ///
    /// Without a file they are on this machine, at the ports 2101, 2102 and so on.
    #[arg(short = 'n', long, value_name = "N", help_heading = "Many processes")]
    pub(crate) processes: Option<usize>,
    /// File with what only these processes know, 16 bytes or more; - is the first line of standard input
    /// [env: ALIKE_SECRET_FILE, or the secret itself in ALIKE_SECRET]
    #[arg(long, value_name = "FILE", help_heading = "Many processes")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Do without a secret: whoever reaches the ports can take part
    #[arg(long, conflicts_with = "secret_file", help_heading = "Many processes")]
    pub(crate) insecure: bool,
}

/// What one of many processes is told. The same command line serves all of them, if the environment has the index.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProcessArgs {
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    /// Which of them this one is, from 0 [env: ALIKE_PROCESS, SLURM_PROCID or JOB_COMPLETION_INDEX]
    #[arg(short, long, value_name = "I", help_heading = "Many processes")]
    pub(crate) process: Option<usize>,
    /// Seconds in which all must have come [default: 60]
    #[arg(long, value_name = "SECONDS", hide_short_help = true, help_heading = "Many processes")]
    pub(crate) join_timeout: Option<u64>,
    /// Seconds after which a silent process is taken for lost [default: 30]
    #[arg(long, value_name = "SECONDS", hide_short_help = true, help_heading = "Many processes")]
    pub(crate) peer_timeout: Option<u64>,
    #[command(flatten)]
    pub(crate) watch: WatchArgs,
}

/// How a process can be watched.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WatchArgs {
    /// Answer GET /metrics (as Prometheus reads it) and /healthz over HTTP at this host:port and no other
    /// [env: ALIKE_METRICS]
    ///
    /// Port 0 is any that is free; standard error says which. Who can reach the port can read the figures: none are
    /// texts or names. Under `alike launch` process i listens at the port plus i where all run on this machine, and
    /// with --ssh at the port plus the number of processes that have the same host and stand before it.
    #[arg(long, value_name = "ADDR", help_heading = "Watching")]
    pub(crate) metrics: Option<String>,
    /// At the end show where the time of the workers went, by stage and operator; or write it to FILE as JSON
    ///
    /// The table is on standard error; with --json-progress it is a line of JSON. FILE must not exist; of many
    /// processes the one with index i writes FILE.i.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        hide_short_help = true,
        help_heading = "Watching"
    )]
    #[expect(clippy::option_option, reason = "it is given or not, with a file or without")]
    pub(crate) profile: Option<Option<PathBuf>>,
}

#[derive(Debug, Args)]
pub(crate) struct LaunchArgs {
    #[command(flatten)]
    pub(crate) hosts: HostArgs,

    /// Start process i on the host of line i, through ssh; without it all run on this machine
    #[arg(long, help_heading = "Machines")]
    pub(crate) ssh: bool,
    /// What reaches a host: it gets the host, -- and a command for the shell there
    /// [default: ssh -o BatchMode=yes]
    #[arg(long, value_name = "COMMAND", requires = "ssh", help_heading = "Machines")]
    pub(crate) ssh_command: Option<String>,
    /// alike on the other machines [default: where this one is]
    #[arg(long, value_name = "PATH", requires = "ssh", help_heading = "Machines")]
    pub(crate) program: Option<PathBuf>,
    /// Folder to run in, on each machine [default: this one]
    #[arg(long, value_name = "DIR", help_heading = "Machines")]
    pub(crate) workdir: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    /// A subcommand of alike with its options, the same for all processes
    #[arg(value_name = "SUBCOMMAND", required = true, last = true)]
    pub(crate) command: Vec<OsString>,
}

/// What differs between the processes of a job.
type Common<'a> = (&'a mut ProcessArgs, Option<&'a mut MachineArgs>, &'a mut TalkArgs);

impl Command {
    /// Leaves what all processes of a job have in common.
    pub(crate) fn forget_machine(&mut self) {
        fn changing(change: &mut ChangeArgs) -> Common<'_> {
            (&mut change.processes, Some(&mut change.machine), &mut change.report.talk)
        }
        let (processes, machine, talk) = match self {
            Command::Dedup(args) => (&mut args.processes, Some(&mut args.machine), &mut args.talk),
            Command::Load(args) => changing(&mut args.change),
            Command::Delete(args) => changing(&mut args.change),
            Command::Compact(args) => (&mut args.processes, None, &mut args.report.talk),
            Command::Cluster(args) => (&mut args.processes, Some(&mut args.machine), &mut args.talk),
            Command::Lexicon(LexiconCommand::Build(args)) => {
                (&mut args.processes, Some(&mut args.machine), &mut args.report.talk)
            }
            _ => return,
        };
        (*processes, *talk) = Default::default();
        machine.into_iter().for_each(|machine| *machine = MachineArgs::default());
        // Whether each process keeps what it writes to itself is the same for all of them; where, need not be.
        let at = match self {
            Command::Load(args) => &mut args.at,
            Command::Delete(args) => &mut args.at,
            Command::Compact(args) => &mut args.at,
            Command::Cluster(args) => &mut args.at,
            _ => return,
        };
        at.local_state.iter_mut().for_each(|folder| *folder = PathBuf::new());
    }

    /// The collection of a command that runs as many processes.
    pub(crate) fn place(&self) -> Option<&PlaceArgs> {
        match self {
            Command::Load(args) => Some(&args.at),
            Command::Delete(args) => Some(&args.at),
            Command::Compact(args) => Some(&args.at),
            Command::Cluster(args) => Some(&args.at),
            _ => None,
        }
    }

    /// Which of many processes this is, for the commands that run as many.
    pub(crate) fn processes(&self) -> Option<&ProcessArgs> {
        match self {
            Command::Dedup(args) => Some(&args.processes),
            Command::Load(args) => Some(&args.change.processes),
            Command::Delete(args) => Some(&args.change.processes),
            Command::Compact(args) => Some(&args.processes),
            Command::Cluster(args) => Some(&args.processes),
            Command::Lexicon(LexiconCommand::Build(args)) => Some(&args.processes),
            _ => None,
        }
    }

    /// The name of a command that runs as many processes, and what is told on standard error.
    pub(crate) fn told(&self) -> Option<(&'static str, &TalkArgs)> {
        match self {
            Command::Dedup(args) => Some(("dedup", &args.talk)),
            Command::Load(args) => Some(("load", &args.change.report.talk)),
            Command::Delete(args) => Some(("delete", &args.change.report.talk)),
            Command::Compact(args) => Some(("compact", &args.report.talk)),
            Command::Cluster(args) => Some(("cluster", &args.talk)),
            Command::Lexicon(LexiconCommand::Build(args)) => Some(("lexicon build", &args.report.talk)),
            _ => None,
        }
    }

    /// Whether the commands that run as many processes read standard input.
    pub(crate) fn reads_standard_input(&self) -> bool {
        let standard = |path: &PathBuf| path.as_os_str() == "-";
        match self {
            Command::Dedup(args) => args.inputs.iter().any(standard),
            Command::Load(args) => args.inputs.iter().any(standard),
            Command::Delete(args) => standard(&args.ids),
            Command::Lexicon(LexiconCommand::Build(args)) => args.inputs.iter().any(standard),
            _ => false,
        }
    }
}
