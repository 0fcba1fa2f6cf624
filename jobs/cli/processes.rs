//! The command line of many processes; part of the one definition in `cli.rs`.

use std::path::PathBuf;

use clap::Args;

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
