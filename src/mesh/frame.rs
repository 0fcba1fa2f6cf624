//! The frames of a control connection, as bytes: kind, topic and length, 4 bytes each, little-endian, then as many
//! bytes as the length says.

use std::io::{self, Read};

use crate::limits::{MAX_WORD_BYTES, MESSAGE_PIECE_BYTES};

/// Length of what comes before the bytes of a frame.
pub(super) const HEAD_BYTES: usize = 12;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// A sign of life.
    Beat,
    /// A piece of a message, which goes on.
    Piece,
    /// The last piece of a message.
    Last,
    /// A request for the next number of a counter: request and counter, 8 bytes each.
    Take,
    /// The answer: request and number.
    Number,
    /// The process whose number is the topic was lost; how that was noticed.
    Lost,
    /// The process whose number is the topic gave up: its exit code, one byte, and why.
    GiveUp,
    /// The sender is done.
    Leave,
}

impl FrameKind {
    const ALL: [FrameKind; 8] = [
        FrameKind::Beat,
        FrameKind::Piece,
        FrameKind::Last,
        FrameKind::Take,
        FrameKind::Number,
        FrameKind::Lost,
        FrameKind::GiveUp,
        FrameKind::Leave,
    ];

    /// Whether a frame of this kind may have that many bytes.
    fn takes(self, length: usize) -> bool {
        match self {
            FrameKind::Beat | FrameKind::Leave => length == 0,
            FrameKind::Piece | FrameKind::Last => length <= MESSAGE_PIECE_BYTES,
            FrameKind::Take | FrameKind::Number => length == 16,
            FrameKind::Lost => length <= MAX_WORD_BYTES,
            FrameKind::GiveUp => (1..=MAX_WORD_BYTES + 1).contains(&length),
        }
    }
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) kind: FrameKind,
    pub(super) topic: u32,
    pub(super) length: usize,
}

impl Head {
    /// Its bytes.
    pub(super) fn encode(self) -> [u8; HEAD_BYTES] {
        let length = u32::try_from(self.length).expect("pieces and words are short");
        let mut bytes = [0; HEAD_BYTES];
        for (field, number) in bytes.chunks_exact_mut(4).zip([self.kind as u32, self.topic, length]) {
            field.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// The head that `bytes` are, if they are one.
    pub(super) fn decode(bytes: [u8; HEAD_BYTES]) -> Option<Head> {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let kind = FrameKind::ALL.get(usize::try_from(number(0)).ok()?).copied()?;
        let length = usize::try_from(number(8)).ok()?;
        kind.takes(length).then_some(Head { kind, topic: number(4), length })
    }

    /// Reads a head; `None` at the end of the connection, an error for what is none.
    pub(super) fn read(from: &mut impl Read) -> io::Result<Option<Head>> {
        let mut bytes = [0; HEAD_BYTES];
        let mut filled = 0;
        while filled < HEAD_BYTES {
            match from.read(&mut bytes[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let none = || io::Error::new(io::ErrorKind::InvalidData, "what it sends is no frame");
        Head::decode(bytes).map(Some).ok_or_else(none)
    }
}

/// A whole frame of a kind that fits into one.
pub(super) fn frame(kind: FrameKind, topic: u32, bytes: &[u8]) -> Vec<u8> {
    [&Head { kind, topic, length: bytes.len() }.encode(), bytes].concat()
}

/// Two numbers as the bytes of a request or an answer.
pub(super) fn pair(first: u64, second: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..].copy_from_slice(&second.to_le_bytes());
    bytes
}

/// The two numbers of a request or an answer.
pub(super) fn read_pair(bytes: &[u8]) -> Option<(u64, u64)> {
    let (first, second) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*first), u64::from_le_bytes(second.try_into().ok()?)))
}

/// What a process told of an end, as one line without control characters.
pub(super) fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The frame that says that process `process` was lost, or gave up with an exit code, and how or why.
pub(super) fn end(process: u32, code: Option<u8>, what: &str) -> Vec<u8> {
    match code {
        None => frame(FrameKind::Lost, process, cut(what).as_bytes()),
        Some(code) => frame(FrameKind::GiveUp, process, &[&[code], cut(what).as_bytes()].concat()),
    }
}

/// A line cut to what a frame takes, at the border of a character.
fn cut(line: &str) -> &str {
    let mut end = line.len().min(MAX_WORD_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_come_back_and_nothing_else_is_one() {
        for kind in FrameKind::ALL {
            for length in [0, 1, 16, MAX_WORD_BYTES, MESSAGE_PIECE_BYTES, MESSAGE_PIECE_BYTES + 1] {
                let head = Head { kind, topic: 7, length };
                assert_eq!(Head::decode(head.encode()), kind.takes(length).then_some(head), "{head:?}");
            }
        }
        assert_eq!(Head::decode([255; HEAD_BYTES]), None);
        assert_eq!(Head::decode(*b"GET / HTTP/1"), None);
        assert!(Head::read(&mut &[][..]).expect("an end").is_none());
        assert!(Head::read(&mut &[0; 11][..]).is_err());
    }

    #[test]
    fn pairs_and_lines() {
        assert_eq!(read_pair(&pair(3, u64::MAX)), Some((3, u64::MAX)));
        assert_eq!(read_pair(&[0; 15]), None);
        assert_eq!(plain(b"a\x1b[2J\nb"), "a [2J b");
        let long = "\u{e4}".repeat(MAX_WORD_BYTES);
        assert_eq!(cut(&long).len(), MAX_WORD_BYTES);
        assert_eq!(cut(&format!("a{long}")).len(), MAX_WORD_BYTES - 1);
        for code in [None, Some(3)] {
            let end = end(9, code, &long);
            let head = Head::read(&mut &end[..]).expect("a head").expect("one");
            assert_eq!((head.topic, head.length), (9, end.len() - HEAD_BYTES));
        }
    }
}
