//! Reading PDFs in a process of its own: the same program, called with a word that nobody types. It is no command of the command
//! line, so help, completions and manual pages do not know it.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use alike::read::{PdfProgram, read_pdfs_with, serve_pdfs};

use crate::exit::FAILED;

/// What the process is called with.
const WORD: &str = "read-pdfs";

/// Whether this process is one that reads PDFs.
pub(crate) fn is_asked_for(words: &[OsString]) -> bool {
    matches!(words, [_, word] if word == WORD)
}

/// Has PDFs read by this program.
pub(crate) fn name_program() {
    // What the name leads to may be another version by the time it is started.
    let program =
        if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() };
    if let Ok(program) = program {
        read_pdfs_with(PdfProgram { program, arguments: vec![WORD.into()] });
    }
}

/// Reads PDFs until whoever asks is gone.
pub(crate) fn serve() -> ExitCode {
    #[cfg(unix)]
    if std::thread::Builder::new().spawn(end_with_parent).is_err() {
        return ExitCode::from(FAILED);
    }
    match serve_pdfs(io::stdin(), io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody is there to be told.
        Err(_) => ExitCode::from(FAILED),
    }
}

/// How often a process looks whether the one that asks is still there: the end of its input shows between PDFs only.
#[cfg(unix)]
const LOOK: std::time::Duration = std::time::Duration::from_millis(200);

/// Ends this process when its parent is gone.
#[cfg(unix)]
#[expect(clippy::exit, reason = "a PDF that takes long does not look whether anybody still wants it")]
fn end_with_parent() {
    use std::os::unix::process::parent_id;

    let parent = parent_id();
    while parent_id() == parent {
        std::thread::sleep(LOOK);
    }
    std::process::exit(i32::from(FAILED));
}
