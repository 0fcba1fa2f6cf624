//! Reading PDFs in a process of its own: the same program, called with a word that nobody types. It is no command of the command
//! line, so help, completions and manual pages do not know it.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use alike::read::{PdfProgram, read_pdfs_with, serve_pdfs};

use crate::exit::FAILED;

/// What the process is called with.
const WORD: &str = "read-pdfs";

/// The number of the process that has this one read PDFs, if it is one that does.
pub(crate) fn is_asked_for(words: &[OsString]) -> Option<u32> {
    match words {
        [_, word, parent] if word == WORD => parent.to_str()?.parse().ok(),
        _ => None,
    }
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

/// Reads PDFs until the process that asks is gone.
#[cfg_attr(not(unix), expect(unused_variables, reason = "only the end of the input tells it there"))]
pub(crate) fn serve(parent: u32) -> ExitCode {
    #[cfg(unix)]
    if std::thread::Builder::new().spawn(move || end_with(parent)).is_err() {
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

/// Ends this process when its parent is gone, which may be so already.
#[cfg(unix)]
#[expect(clippy::exit, reason = "a PDF that takes long does not look whether anybody still wants it")]
fn end_with(parent: u32) {
    use std::os::unix::process::parent_id;

    while parent_id() == parent {
        std::thread::sleep(LOOK);
    }
    std::process::exit(i32::from(FAILED));
}
