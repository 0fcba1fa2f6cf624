//! The reading end of a control connection: what a process sends, taken in.

use std::io::{self, BufReader, Read};

use super::frame::{FrameKind, Head, frame, pair, plain, read_pair};
use super::link::Link;
use super::state::State;
use crate::limits::{MAX_MESSAGE_BYTES, MESSAGE_PIECE_BYTES};

/// Reads what process `from` sends over its link into `state`, until its connection ends.
pub(super) fn read_all(link: &Link, from: usize, state: &State) {
    let mut input = BufReader::with_capacity(MESSAGE_PIECE_BYTES, LinkReader(link));
    let end = match read_frames(&mut input, link, from, state) {
        Ok(()) => "its connection ended".to_string(),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => "its connection ended".to_string(),
        Err(error) => format!("its connection broke: {error}"),
    };
    link.break_off();
    state.ended(from, &end);
}

/// Any byte from a process is a sign of life.
struct LinkReader<'a>(&'a Link);

impl Read for LinkReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = (&self.0.channel).read(into)?;
        self.0.hear();
        self.0.counts.receive(count);
        Ok(count)
    }
}

fn read_frames(input: &mut impl Read, link: &Link, from: usize, state: &State) -> io::Result<()> {
    let none = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_string());
    let (mut message, mut topic) = (Vec::new(), None);
    while let Some(head) = Head::read(input)? {
        if matches!(head.kind, FrameKind::Piece | FrameKind::Last) {
            let begun = *topic.get_or_insert(head.topic);
            if begun != head.topic || message.len() + head.length > MAX_MESSAGE_BYTES {
                return Err(none("what it sends is no message"));
            }
            append(input, head.length, &mut message)?;
            if head.kind == FrameKind::Last {
                let whole = std::mem::take(&mut message);
                topic = None;
                state.deliver(from, begun, whole);
            }
            continue;
        }
        let mut bytes = Vec::new();
        append(input, head.length, &mut bytes)?;
        let numbers = read_pair(&bytes).unwrap_or_default();
        match head.kind {
            FrameKind::Beat | FrameKind::Piece | FrameKind::Last => {}
            FrameKind::Take => {
                link.urge(frame(FrameKind::Number, 0, &pair(numbers.0, state.count(numbers.1))));
            }
            FrameKind::Number => state.note(|said| said.answer(numbers.0, numbers.1)),
            FrameKind::Lost | FrameKind::GiveUp => {
                let process = usize::try_from(head.topic).unwrap_or(usize::MAX);
                let code = if head.kind == FrameKind::GiveUp { bytes.first().copied() } else { None };
                let what = &bytes[usize::from(code.is_some())..];
                state.told(from, process, code, &plain(what));
            }
            FrameKind::Leave => state.note(|said| said.leaves(from)),
        }
    }
    Ok(())
}

/// Reads `length` bytes to the end of `into`, which grows with what has come.
fn append(input: &mut impl Read, length: usize, into: &mut Vec<u8>) -> io::Result<()> {
    let count = input.take(length as u64).read_to_end(into)?;
    if count < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}
