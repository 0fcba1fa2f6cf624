//! The arguments of commands that run as many processes.

use std::path::PathBuf;

use clap::Args;

use crate::cli::values::EncryptionArg;

/// Which processes there are, and what they know each other by.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct HostArgs {
    /// File with one address (host:port) a line, for process 0, 1 and so on; # begins a comment [env: ALIKE_HOSTS]
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = "Many processes")]
    pub(crate) hosts: Option<PathBuf>,
    /// Number of processes [env: ALIKE_PROCESSES] [default: all addresses of the file]
    ///
    /// Without a file all processes run on this machine, at the ports 2101, 2102 and so on; `alike launch` takes free ones.
    #[arg(short = 'n', long, value_name = "N", hide_short_help = true, help_heading = "Many processes")]
    pub(crate) processes: Option<usize>,
    /// File with the shared secret of the processes, at least 16 bytes; - reads a line of standard input
    /// [env: ALIKE_SECRET_FILE, or the secret itself in ALIKE_SECRET]
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = "Many processes")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Use no secret: anybody who reaches the ports can take part
    #[arg(long, conflicts_with = "secret_file", hide_short_help = true, help_heading = "Many processes")]
    pub(crate) insecure: bool,
}

/// What options say to one of many processes. The same command line serves all of them, if the environment has the index.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProcessArgs {
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    /// Number of this process, from 0 [env: ALIKE_PROCESS, SLURM_PROCID or JOB_COMPLETION_INDEX]
    #[arg(short, long, value_name = "I", hide_short_help = true, help_heading = "Many processes")]
    pub(crate) process: Option<usize>,
    /// Address that this process listens on, where the hosts name another one that leads to it: --listen 0.0.0.0:2101
    /// [env: ALIKE_LISTEN]
    ///
    /// For containers and address translation. The others call the address of the hosts.
    #[arg(long, value_name = "HOST:PORT", hide_short_help = true, help_heading = "Many processes")]
    pub(crate) listen: Option<String>,
    /// Seconds to wait until all processes have connected [default: 60]
    #[arg(long, value_name = "SECONDS", hide_short_help = true, help_heading = "Many processes")]
    pub(crate) join_timeout: Option<u64>,
    /// Seconds of silence after which a process counts as lost [default: 30]
    #[arg(long, value_name = "SECONDS", hide_short_help = true, help_heading = "Many processes")]
    pub(crate) peer_timeout: Option<u64>,
    /// Whether what processes send each other is encrypted and authenticated: beyond this machine, always, or never
    ///
    /// By default it is, if there is a secret and any process has an address that is not of this machine. All processes
    /// need the same.
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true,
        help_heading = "Many processes"
    )]
    pub(crate) encryption: EncryptionArg,
    #[command(flatten)]
    pub(crate) watch: WatchArgs,
}

/// How a process can be watched.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WatchArgs {
    /// Serve /metrics (Prometheus) and /healthz over HTTP at this host:port [env: ALIKE_METRICS]
    ///
    /// A port alone is one of localhost. Port 0 takes a free one and prints it on standard error. The figures contain no
    /// texts and no names, and anybody who reaches the port can read them. Under `alike launch` each process of a machine
    /// gets a port of its own: the given one, the next one, and so on.
    #[arg(long, value_name = "[HOST:]PORT", hide_short_help = true, help_heading = "Watching")]
    pub(crate) metrics: Option<String>,
    /// Print the time of the workers by stage and operator at the end, or write it to FILE as JSON
    ///
    /// The table goes to standard error, with --json-progress as a line of JSON. FILE must not exist. With several
    /// processes, process i writes FILE.i.
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
