//! The process that reads PDFs: it answers one question after the other, within limits that it sets itself.

use std::io::{self, BufReader, BufWriter, Read, Write};
use std::thread;

use super::document::pdf_text;
use super::frames::{PdfFault, read_pdf, read_request, write_answer};
use super::process_limits::{limit_process, limit_time};

/// Bytes of stack: objects that are nested deeply are read by functions that call themselves.
const STACK: usize = 32 << 20;

/// Answers questions about PDFs until there are no more. What this process may take is limited before the first, so it can
/// do nothing else from then on. It ends with the process that asks, which holds the other end of `input`.
///
/// # Errors
/// What the system says of input and output, and of limits that cannot be set.
pub fn serve_pdfs(input: impl Read + Send, output: impl Write + Send) -> io::Result<()> {
    thread::scope(|scope| {
        let serve = || answer_all(BufReader::new(input), BufWriter::new(output));
        let served = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, serve)?;
        served.join().unwrap_or_else(|_| Err(io::Error::other("the reader of PDFs panicked")))
    })
}

fn answer_all(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut is_first = true;
    while let Some(request) = read_request(&mut input)? {
        if std::mem::take(&mut is_first) {
            limit_process()?;
        }
        limit_time(request.seconds)?;
        let most = usize::try_from(request.most_text).unwrap_or(usize::MAX);
        let answer = match read_pdf(&mut input, request.length)? {
            Some(pdf) => pdf_text(pdf, request.question, most),
            None => Err(PdfFault::TooLarge),
        };
        write_answer(&mut output, &answer)?;
    }
    Ok(())
}
