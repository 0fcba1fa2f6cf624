//! The secret that the processes of a job share: where it comes from, and whether others can read it there.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use alike::error::{Error, Result};
use alike::limits::LEAST_SECRET;

use crate::cli::processes::HostArgs;
#[cfg(feature = "serve")]
use crate::environment::TOKEN;
use crate::environment::{SECRET, SECRET_FILE, Variables};

/// Most bytes of a secret: what is longer is another file.
const MOST: usize = 4096;

/// The secret that the options or the environment name; `None` where they name none. `warn` is called if a file that
/// belongs to another user can be read by everybody.
pub(crate) fn find(
    args: &HostArgs,
    variables: Variables<'_>,
    warn: &dyn Fn(&str),
) -> Result<Option<Vec<u8>>> {
    let (file, value) = match &args.secret_file {
        Some(file) => (Some(file.clone()), None),
        None => (variables(SECRET_FILE).map(PathBuf::from), variables(SECRET)),
    };
    if args.insecure {
        return match file.map(|_| SECRET_FILE).or(value.map(|_| SECRET)) {
            Some(name) => Err(Error::config(format!(
                "--insecure is to do without a secret, and {name} gives one; leave one of them out"
            ))),
            None => Ok(None),
        };
    }
    match (file, value) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(Error::config(format!(
            "{SECRET_FILE} and {SECRET} are both set; unset one, or say --secret-file FILE"
        ))),
        (None, Some(value)) => proper(value.into_encoded_bytes(), SECRET).map(Some),
        (Some(file), None) if file.as_os_str() == "-" => {
            proper(first_line(&mut io::stdin().lock())?, "the first line of standard input").map(Some)
        }
        (Some(file), None) => read(&file, warn).map(Some),
    }
}

/// The token of a server, from a file or the environment; `None` where there is none. `warn` is as above.
#[cfg(feature = "serve")]
pub(crate) fn token(
    file: Option<&Path>,
    variables: Variables<'_>,
    warn: &dyn Fn(&str),
) -> Result<Option<Vec<u8>>> {
    match (file, variables(TOKEN)) {
        (Some(file), _) => read(file, warn).map(Some),
        (None, Some(value)) => proper(value.into_encoded_bytes(), TOKEN).map(Some),
        (None, None) => Ok(None),
    }
}

/// The secret in a file.
fn read(file: &Path, warn: &dyn Fn(&str)) -> Result<Vec<u8>> {
    let failed = |e| Error::io(file, "read the secret from", e);
    let opened = File::open(file).map_err(failed)?;
    refuse_readable(file, &opened, warn)?;
    let mut secret = Vec::new();
    opened.take(MOST as u64 + 2).read_to_end(&mut secret).map_err(failed)?;
    proper(secret, &file.display().to_string())
}

/// A line, however much follows it.
fn first_line(input: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    let read = input.take(MOST as u64 + 2).read_until(b'\n', &mut line);
    read.map_err(|e| Error::io(Path::new("standard input"), "read the secret from", e))?;
    Ok(line)
}

/// A secret without the end of its line, if it is one.
fn proper(mut secret: Vec<u8>, place: &str) -> Result<Vec<u8>> {
    for end in [b'\n', b'\r'] {
        if secret.last() == Some(&end) {
            secret.pop();
        }
    }
    match secret.len() {
        LEAST_SECRET..=MOST => Ok(secret),
        length => Err(Error::config(format!(
            "{place}: a secret has {LEAST_SECRET} to {MOST} bytes, and this one {}; make one with: openssl rand -hex 32",
            if length > MOST { "more".to_owned() } else { length.to_string() }
        ))),
    }
}

/// Refuses a file of the user that others can read; of a file of somebody else, such as those that Kubernetes makes of
/// its secrets, it only tells.
#[cfg(unix)]
fn refuse_readable(path: &Path, file: &File, warn: &dyn Fn(&str)) -> Result<()> {
    use std::os::unix::fs::MetadataExt;

    let told = file.metadata().map_err(|e| Error::io(path, "ask for the mode of", e))?;
    judge(path, told.mode() & 0o777, told.uid() == rustix::process::geteuid().as_raw(), warn)
}

/// What the mode of a file says, which may be the user's own.
#[cfg(unix)]
fn judge(path: &Path, mode: u32, own: bool, warn: &dyn Fn(&str)) -> Result<()> {
    let shown = path.display();
    if own && mode & 0o077 != 0 {
        return Err(Error::config(format!(
            "{shown}: others can read this secret (mode {mode:03o}); run: chmod 600 {shown} (in Kubernetes: defaultMode: \
             0400)"
        )));
    }
    // Somebody else's file can be read through its group without being open to all: that is how it must be.
    if !own && mode & 0o007 != 0 {
        warn(&format!("{shown}: everybody on this machine can read this secret (mode {mode:03o})"));
    }
    Ok(())
}

/// Elsewhere a mode does not tell who can read a file.
#[cfg(not(unix))]
fn refuse_readable(_path: &Path, _file: &File, _warn: &dyn Fn(&str)) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn message(outcome: Result<impl std::fmt::Debug>) -> String {
        match outcome {
            Err(Error::Config(message)) => message,
            other => panic!("expected a refusal, got {other:?}"),
        }
    }

    #[test]
    fn a_secret_has_sixteen_bytes_and_no_end_of_line() {
        for end in ["", "\n", "\r\n"] {
            let text = format!("{}{end}", "x".repeat(16));
            assert_eq!(proper(text.into_bytes(), "here").expect("long enough"), [b'x'; 16]);
        }
        assert!(message(proper(b"fifteen bytes..\n".to_vec(), "here")).contains("and this one 15"));
        assert!(message(proper(vec![b'x'; MOST + 2], "here")).contains("and this one more"));
        assert!(proper(vec![b'x'; MOST], "here").is_ok());
        // Only one end of line goes.
        assert_eq!(proper(b"sixteen bytes...\n\n".to_vec(), "here").expect("good").len(), 17);
    }

    #[test]
    fn of_standard_input_only_the_first_line_is_taken() {
        let mut input: &[u8] = b"a secret of one line\nwhat follows";
        assert_eq!(first_line(&mut input).expect("read"), b"a secret of one line\n");
        assert_eq!(input, b"what follows");
    }

    #[cfg(unix)]
    #[test]
    fn whoever_can_read_a_secret_is_told_apart() {
        let path = Path::new("secret");
        let warned = RefCell::new(Vec::new());
        let judged = |mode, own| judge(path, mode, own, &|line| warned.borrow_mut().push(line.to_owned()));
        for mode in [0o600, 0o400] {
            judged(mode, true).expect("only the user can read it");
        }
        for mode in [0o640, 0o644, 0o604, 0o620, 0o777] {
            let text = message(judged(mode, true));
            assert!(text.contains("chmod 600 secret") && text.contains(&format!("{mode:03o}")), "{text}");
        }
        for mode in [0o400, 0o440] {
            judged(mode, false).expect("read through its group");
        }
        assert!(warned.borrow().is_empty());
        judged(0o644, false).expect("somebody else's");
        assert!(warned.borrow()[0].contains("everybody"), "{warned:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_the_user_is_read_if_nobody_else_can() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret");
        std::fs::write(&path, "0123456789abcdef\n").expect("written");
        let mode =
            |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("set");
        let silent = |line: &str| panic!("{line}");
        mode(0o644);
        assert!(message(read(&path, &silent)).contains("chmod 600"));
        mode(0o600);
        assert_eq!(read(&path, &silent).expect("read"), b"0123456789abcdef");
        let link = folder.path().join("link");
        symlink(&path, &link).expect("linked");
        assert_eq!(read(&link, &silent).expect("read"), b"0123456789abcdef");
        assert!(matches!(read(&folder.path().join("none"), &silent), Err(Error::Io { .. })));
    }
}
