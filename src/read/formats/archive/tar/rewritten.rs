//! An archive that is written again, some of whose members have another content: the header of such a one says the new length, and
//! all others stay byte for byte.

use std::fs::File;
use std::io::{self, Read, Write};

use super::super::rewritten::{MemberFate, NewContent};
use super::block::{BLOCK_BYTES, resize};
use super::scan::MemberScan;
use crate::progress::Progress;
use crate::read::BLOCK;
use crate::read::bytes::Window;
use crate::read::source::Source;
use crate::read::stretches::fault;
use crate::read::windowed::carries;

/// Writes an archive, decompressed, without the end of one that is put together; `fate` is asked for each record by its place, in
/// their order. Where there is an `end`, only what begins before it can be read.
///
/// # Errors
/// What the system says of either file; what `progress` stops for, within it.
pub fn rewrite_tar(
    source: &Source,
    end: Option<u64>,
    fate: &mut dyn FnMut(u64) -> MemberFate,
    out: &mut dyn Write,
    progress: &Progress,
) -> io::Result<()> {
    let mut fate =
        |place: u64| if end.is_some_and(|end| place >= end) { MemberFate::Goes } else { fate(place) };
    let (mut window, mut scan) = (Window::open(source, 0)?, MemberScan::new(false));
    let mut record = Rewriting::of(fate(0));
    loop {
        progress.check().map_err(io::Error::other)?;
        let read = match window.more(BLOCK).map_err(fault) {
            Err(error) if end.is_some() && !carries(&error) => 0,
            read => read?,
        };
        while let Some(end) = scan.end(window.pending()) {
            record.put(&window.pending()[..end], out)?;
            record.finish()?;
            window.consume(end);
            record = Rewriting::of(fate(window.offset()));
        }
        // Less than a block may stand at the end.
        let held = window.pending().len() - if read == 0 { 0 } else { scan.undecided };
        record.put(&window.pending()[..held], out)?;
        window.consume(held);
        if read == 0 {
            return Ok(());
        }
    }
}

/// A record that is being written.
enum Rewriting {
    /// As it is.
    Stays,
    /// Not at all, or no more of it.
    Goes,
    /// What stands before the content is being gathered.
    Gathered(NewContent, Vec<u8>),
}

impl Rewriting {
    fn of(fate: MemberFate) -> Rewriting {
        match fate {
            MemberFate::Stays => Rewriting::Stays,
            MemberFate::Goes => Rewriting::Goes,
            MemberFate::Replaced(content) => Rewriting::Gathered(content, Vec::new()),
        }
    }

    /// Takes the next bytes of the record as it was.
    fn put(&mut self, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
        match self {
            Rewriting::Stays => out.write_all(bytes),
            Rewriting::Goes => Ok(()),
            Rewriting::Gathered(content, head) => {
                let before = usize::try_from(content.before).unwrap_or(usize::MAX);
                let more = bytes.len().min(before - head.len());
                head.extend_from_slice(&bytes[..more]);
                if head.len() == before {
                    write_anew(head, content, out)?;
                    *self = Rewriting::Goes;
                }
                Ok(())
            }
        }
    }

    /// The record has ended.
    fn finish(self) -> io::Result<()> {
        match self {
            Rewriting::Gathered(..) => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// Writes a member with another content, and what fills its last block.
fn write_anew(head: &mut [u8], content: &NewContent, out: &mut dyn Write) -> io::Result<()> {
    let file = File::open(&content.path)?;
    let length = file.metadata()?.len();
    let header = head.last_chunk_mut::<BLOCK_BYTES>().ok_or(io::ErrorKind::InvalidData)?;
    resize(header, length);
    out.write_all(head)?;
    if io::copy(&mut file.take(length), out)? != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let fill = length.next_multiple_of(BLOCK_BYTES as u64) - length;
    io::copy(&mut io::repeat(0).take(fill), out).map(drop)
}
