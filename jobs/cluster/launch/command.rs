//! The command line of each process, as a value.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use alike::error::{Error, Result};
use alike::mesh::split_address;

use crate::environment::{
    ADDRESSES, HOSTS, LAUNCHED, METRICS, METRICS_ABOVE, PIPE, PROCESS, PROCESSES, SECRET, SECRET_FILE,
    TERMINAL,
};

/// What reaches another machine, unless another command is named. Nobody can answer a question for a password.
const SSH: &str = "ssh -o BatchMode=yes";

/// What is started where.
pub(crate) struct LaunchPlan {
    /// The address of each process.
    pub(crate) hosts: Vec<String>,
    /// What only these processes know: one line.
    pub(crate) secret: Option<Vec<u8>>,
    /// alike, where the processes are.
    pub(crate) program: PathBuf,
    /// The folder that they work in.
    pub(crate) folder: PathBuf,
    /// The subcommand with its options.
    pub(crate) words: Vec<OsString>,
    /// How their machines are reached; `None` is this machine.
    pub(crate) reach: Option<Reach>,
    /// Whether standard output is a terminal.
    pub(crate) terminal: bool,
    /// Where the environment has the metrics.
    pub(crate) metrics: Option<OsString>,
}

/// A command that is given a host, `--` and a command for the shell there.
pub(crate) struct Reach(Vec<String>);

impl Reach {
    /// The command of this text, or ssh.
    pub(crate) fn new(text: Option<&str>) -> Result<Reach> {
        let text = text.unwrap_or(SSH);
        match shlex::split(text) {
            Some(words) if !words.is_empty() => Ok(Reach(words)),
            _ => Err(Error::config(format!(
                "--ssh-command {text}: expected a program and its options, quoted as for a shell"
            ))),
        }
    }
}

/// A process to start.
#[derive(Debug)]
pub(crate) struct ProcessCommand {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    /// Laid over the environment of the launcher.
    pub(crate) variables: Vec<(&'static str, OsString)>,
    /// `None` is the launcher's.
    pub(crate) folder: Option<PathBuf>,
    /// Written to its standard input, which stays open.
    pub(crate) secret: Option<Vec<u8>>,
    /// Whether it only stands for a process on another machine, which signals do not reach: that one is stopped by
    /// closing the standard input.
    pub(crate) remote: bool,
}

impl LaunchPlan {
    /// How process `i` is started.
    pub(crate) fn line(&self, i: usize) -> Result<ProcessCommand> {
        match &self.reach {
            None => Ok(ProcessCommand {
                program: self.program.clone().into(),
                args: self.words.clone(),
                variables: self.variables(i),
                folder: Some(self.folder.clone()),
                secret: self.line_of_secret(),
                remote: false,
            }),
            Some(Reach(reach)) => {
                let host = split_address(&self.hosts[i])
                    .map_err(|what| Error::config(format!("{}: {what}", self.hosts[i])))?;
                let mut words = reach.iter().map(OsString::from);
                let program = words.next().unwrap_or_default();
                let args = words.chain([host.0.into(), "--".into(), self.script(i)?.into()]).collect();
                let secret = self.line_of_secret();
                Ok(ProcessCommand {
                    program,
                    args,
                    variables: Vec::new(),
                    folder: None,
                    secret,
                    remote: true,
                })
            }
        }
    }

    /// What process `i` finds in its environment. The secret is not there but comes through standard input: arguments
    /// are shown to everybody on a machine, the environment of ssh does not reach the other side, and a file would
    /// have to be there and stay. What the environment may have of such settings is made empty, which is as none.
    fn variables(&self, i: usize) -> Vec<(&'static str, OsString)> {
        let secret = if self.secret.is_some() { "-" } else { "" };
        vec![
            (ADDRESSES, self.hosts.join(",").into()),
            (HOSTS, OsString::new()),
            (PROCESSES, self.hosts.len().to_string().into()),
            (PROCESS, i.to_string().into()),
            (SECRET, OsString::new()),
            (SECRET_FILE, secret.into()),
            (METRICS_ABOVE, self.before_on_its_machine(i).to_string().into()),
            (METRICS, self.metrics.clone().unwrap_or_default()),
            (LAUNCHED, if self.terminal && i == 0 { TERMINAL } else { PIPE }.into()),
        ]
    }

    /// How many processes on the machine of process `i` stand before it.
    fn before_on_its_machine(&self, i: usize) -> usize {
        let host = |address: &String| split_address(address).map(|(host, _)| host.to_owned()).ok();
        match self.reach {
            None => i,
            Some(_) => self.hosts[..i].iter().filter(|other| host(other) == host(&self.hosts[i])).count(),
        }
    }

    fn line_of_secret(&self) -> Option<Vec<u8>> {
        self.secret.as_ref().map(|secret| [secret.as_slice(), b"\n"].concat())
    }

    /// What the shell of the other machine is given for process `i`.
    fn script(&self, i: usize) -> Result<String> {
        let variables = self.variables(i);
        let variables = variables.iter().map(|(name, value)| {
            let mut word = OsString::from(name);
            word.push("=");
            word.push(value);
            word
        });
        let words = [OsString::from("env")].into_iter().chain(variables);
        let words = words.chain([self.program.clone().into()]).chain(self.words.iter().cloned());
        let words = words.map(|word| quoted(&word)).collect::<Result<Vec<_>>>()?;
        Ok(format!("cd {} && exec {}", quoted(self.folder.as_os_str())?, words.join(" ")))
    }
}

/// A word as the shell of another machine takes it for one.
fn quoted(word: &OsStr) -> Result<String> {
    let text = word.to_str().ok_or_else(|| {
        Error::config(format!("{}: is not UTF-8 and may be another name on another machine", word.display()))
    })?;
    match shlex::try_quote(text) {
        Ok(quoted) => Ok(quoted.into_owned()),
        Err(_) => Err(Error::config(format!("{}: no word of a command", text.escape_debug()))),
    }
}

impl ProcessCommand {
    /// The command, its streams connected with the launcher. It is in a group of its own: Ctrl-C on the terminal is for
    /// the launcher, which passes it on once; a second one would end a process at once.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(reach: Option<&str>) -> LaunchPlan {
        LaunchPlan {
            hosts: ["a:2101", "[fd00::1]:2101"].map(str::to_owned).to_vec(),
            secret: Some(b"a secret of one line".to_vec()),
            program: "/opt/a b/alike".into(),
            folder: "/data/it's".into(),
            words: ["load", "c", "in $HOME", "", "*", "a'b\"c\\", "--keep", "x;y"]
                .map(OsString::from)
                .to_vec(),
            reach: reach.map(|text| Reach::new(Some(text)).expect("a command")),
            terminal: true,
            metrics: Some("localhost:9100".into()),
        }
    }

    #[test]
    fn processes_of_one_machine_have_ports_of_their_own() {
        let above = |plan: &LaunchPlan| -> Vec<usize> {
            (0..plan.hosts.len()).map(|i| plan.before_on_its_machine(i)).collect()
        };
        let mut of = plan(None);
        of.hosts = ["a:1", "b:1", "[::1]:1", "a:2", "[::1]:2", "a:3"].map(str::to_owned).to_vec();
        assert_eq!(above(&of), [0, 1, 2, 3, 4, 5]);
        of.reach = plan(Some("ssh")).reach;
        assert_eq!(above(&of), [0, 0, 0, 1, 1, 2]);
        assert!(of.variables(3).contains(&(METRICS_ABOVE, "1".into())));
        assert!(of.variables(3).contains(&(METRICS, "localhost:9100".into())));
    }

    #[test]
    fn the_secret_is_in_no_argument_and_no_variable() {
        for reach in [None, Some("ssh -o BatchMode=yes")] {
            for i in 0..2 {
                let line = plan(reach).line(i).expect("a line");
                assert!(!format!("{:?} {:?}", line.args, line.variables).contains("secret of one line"));
                assert_eq!(line.secret.as_deref(), Some(b"a secret of one line\n".as_slice()));
            }
        }
    }

    #[test]
    fn a_process_here_has_all_in_its_environment() {
        let line = plan(None).line(1).expect("a line");
        let value = |name| line.variables.iter().find(|(known, _)| *known == name).expect("set").1.clone();
        assert_eq!(value(ADDRESSES), "a:2101,[fd00::1]:2101");
        assert_eq!((value(PROCESSES), value(PROCESS)), ("2".into(), "1".into()));
        assert_eq!((value(SECRET_FILE), value(SECRET), value(HOSTS)), ("-".into(), "".into(), "".into()));
        // Only what process 0 writes reaches the terminal as it is.
        assert_eq!(value(LAUNCHED), PIPE);
        let first = plan(None).line(0).expect("a line");
        assert!(first.variables.contains(&(LAUNCHED, TERMINAL.into())));
        assert!(!line.remote);
    }

    #[test]
    fn another_machine_is_given_one_word_for_its_shell() {
        let line = plan(Some("ssh -p '2 2' -l me")).line(1).expect("a line");
        assert_eq!(line.program, "ssh");
        assert_eq!(line.args[..6], ["-p", "2 2", "-l", "me", "fd00::1", "--"].map(OsString::from));
        assert_eq!(line.args.len(), 7);
        assert!(line.remote && line.variables.is_empty());
        for wrong in ["", "  ", "ssh 'x"] {
            assert!(matches!(Reach::new(Some(wrong)), Err(Error::Config(_))), "{wrong}");
        }
        assert_eq!(Reach::new(None).expect("a command").0, ["ssh", "-o", "BatchMode=yes"]);
    }

    /// The words that a shell makes of the script are those that were meant.
    #[cfg(unix)]
    #[test]
    fn a_shell_takes_every_word_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut plan = plan(Some("ssh"));
        plan.folder = folder.path().join("it's a \"folder\" $(x)");
        std::fs::create_dir(&plan.folder).expect("made");
        plan.program = "printf".into();
        plan.words.insert(0, "%s|".into());
        plan.words.push("\u{e9}\n!`x`".into());
        let script = plan.script(0).expect("quoted");
        let output = Command::new("sh").args(["-c", &script]).output().expect("sh");
        let expected: String = plan.words[1..].iter().map(|word| format!("{}|", word.display())).collect();
        assert_eq!(String::from_utf8(output.stdout).expect("UTF-8"), expected, "{script}");
        plan.program = "sh".into();
        plan.words = ["-c", "pwd; echo $ALIKE_ADDRESSES $ALIKE_PROCESS"].map(OsString::from).to_vec();
        let script = plan.script(1).expect("quoted");
        let output = Command::new("sh").args(["-c", &script]).output().expect("sh");
        let told = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(told.ends_with("folder\" $(x)\na:2101,[fd00::1]:2101 1\n"), "{told}");
    }
}
