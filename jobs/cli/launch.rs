//! The arguments of `alike launch`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::common::TalkArgs;
use super::processes::HostArgs;

pub(crate) const LAUNCH_EXAMPLES: &str = "\
Examples:
  alike launch -n 2 -- load archive crawl/ -w 4 --memory 8G
      Start two processes on this machine, each with four workers and 8 GB, and a random secret.
  alike launch --hosts hosts --ssh --secret-file secret -- load archive crawl/
      Start a process on each machine of the file hosts; archive and crawl/ lie on a shared file system.

Exit codes: 0 if all processes ended with 0; 130 if interrupted; otherwise the greatest code of the processes that
failed by themselves (128 plus the signal of a killed one); otherwise 5: processes were lost, or had to be ended.";

#[derive(Debug, Args)]
pub(crate) struct LaunchArgs {
    #[command(flatten)]
    pub(crate) hosts: HostArgs,

    /// Start each process on its host through ssh [default: all on this machine]
    #[arg(long, help_heading = "Machines")]
    pub(crate) ssh: bool,
    /// Command that reaches a host; it gets the host, --, and a shell command [default: ssh -o BatchMode=yes]
    #[arg(long, value_name = "COMMAND", requires = "ssh", help_heading = "Machines")]
    pub(crate) ssh_command: Option<String>,
    /// Path of alike on the other machines [default: the path of this one]
    #[arg(long, value_name = "PATH", requires = "ssh", help_heading = "Machines")]
    pub(crate) program: Option<PathBuf>,
    /// Working folder on each machine [default: this one]
    #[arg(long, value_name = "DIR", help_heading = "Machines")]
    pub(crate) workdir: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    /// Command of alike with its options, the same for all processes
    #[arg(value_name = "SUBCOMMAND", required = true, last = true)]
    pub(crate) command: Vec<OsString>,
}
