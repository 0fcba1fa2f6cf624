//! The arguments of `alike launch`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::common::TalkArgs;
use super::processes::HostArgs;

pub(crate) const LAUNCH_EXAMPLES: &str = "\
Examples:
  alike launch -n 2 -- load archive crawl/ -w 4 --memory 8G
      Two processes on this machine, each with four workers and 8 GB. A secret is drawn for them.
  alike launch --hosts hosts --ssh --secret-file secret -- load archive crawl/
      A process on each machine of the file hosts, where archive and crawl/ lie on a folder that all have.

Exit codes: 0 if all processes ended with 0; 130 if it was interrupted; else the greatest code of those that failed by
themselves (128 and the signal of one that was killed); else 5: processes were lost, or had to be ended.";

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
