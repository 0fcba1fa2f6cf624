//! What another process may send: hellos, the frames of a control connection, and the records of an encrypted one.

use std::collections::BTreeMap;

use alike::mesh::fuzzing::{self, FRAME_HEAD_BYTES};

use crate::take;

/// Most bytes that are sent: what a socket holds at once.
const MOST: usize = 32 << 10;
/// The greatest length of a piece of a message, and of a word.
const PIECE: usize = 256 << 10;
const WORD: usize = 4 << 10;
/// The topic of replies, which are kept elsewhere.
const REPLIES: u32 = u32::MAX - 5;

/// The first byte says what the rest is: hello and reply; the bytes of a control connection; or lengths and changes of
/// records.
pub fn frames(mut data: &[u8]) {
    let [what] = take(&mut data);
    let data = &data[..data.len().min(MOST)];
    match what % 3 {
        0 => hellos(data),
        1 => control(data),
        _ => records(data),
    }
}

fn hellos(data: &[u8]) {
    if let Some(written) = fuzzing::hello(data) {
        assert_eq!(fuzzing::hello(&written), Some(written));
    }
    let hello = &data[..data.len() / 2];
    for bytes in [data, &data[hello.len()..]] {
        if let Some((written, _)) = fuzzing::reply(bytes, hello) {
            assert_eq!(fuzzing::reply(&written, hello), Some((written.clone(), true)));
            // Nobody can say the same of another hello.
            let other = [hello, b"x"].concat();
            assert!(fuzzing::reply(&written, &other).is_some_and(|(_, holds)| !holds));
        }
    }
}

/// What a plain reader makes of a control connection.
#[derive(Default)]
struct Read {
    messages: BTreeMap<u32, Vec<Vec<u8>>>,
    /// Somebody was said to be lost or to have given up, and with which code.
    told: Option<Option<u8>>,
    left: bool,
}

fn control(data: &[u8]) {
    let read = read(data);
    let topics: Vec<u32> = read.messages.keys().copied().chain([0, 1, 7]).collect();
    let (messages, lost) = fuzzing::control(data, &topics);
    for (topic, found) in topics.iter().zip(messages) {
        // What was fetched once is gone.
        if let Some(expected) = read.messages.get(topic).filter(|_| !found.is_empty()) {
            assert_eq!(found, *expected, "topic {topic}");
        }
    }
    assert_eq!(lost.is_some(), read.told.is_some() || !read.left, "{lost:?}");
    if let Some(lost) = lost {
        assert!(lost.process == 1 && !lost.what.chars().any(char::is_control), "{lost:?}");
        assert!(lost.code.is_none() || read.told == Some(lost.code), "{lost:?}");
    }
}

/// Frame by frame, as `src/mesh/frame.rs` describes them.
fn read(mut data: &[u8]) -> Read {
    let (mut read, mut message, mut begun) = (Read::default(), Vec::new(), None);
    while let Some((head, rest)) = data.split_first_chunk::<FRAME_HEAD_BYTES>() {
        let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        let (kind, topic, length) = (number(0), number(4), number(8) as usize);
        let fits = match kind {
            0 | 7 => length == 0,
            1 | 2 => length <= PIECE,
            3 | 4 => length == 16,
            5 => length <= WORD,
            6 => (1..=WORD + 1).contains(&length),
            _ => false,
        };
        assert_eq!(fuzzing::head(*head), fits.then_some(*head));
        if !fits
            || (matches!(kind, 1 | 2) && begun.is_some_and(|begun| begun != topic))
            || rest.len() < length
        {
            break;
        }
        let (bytes, behind) = rest.split_at(length);
        match kind {
            1 | 2 => {
                begun = Some(topic);
                message.extend_from_slice(bytes);
                if kind == 2 {
                    begun = None;
                    let whole = std::mem::take(&mut message);
                    if topic != REPLIES {
                        read.messages.entry(topic).or_default().push(whole);
                    }
                }
            }
            5 | 6 => drop(read.told.get_or_insert((kind == 6).then(|| bytes[0]))),
            7 => read.left = true,
            _ => {}
        }
        data = behind;
    }
    read
}

/// Lengths of what is carried, then of what is asked for, then changes: a place, and what becomes of it.
fn records(mut data: &[u8]) {
    let [parts, rooms] = take(&mut data);
    let carried: Vec<Vec<u8>> = (0..parts % 6)
        .map(|part| {
            let [low, high] = take(&mut data);
            vec![part + 1; 1 + (usize::from(low) | usize::from(high) << 8) % 9000]
        })
        .collect();
    let rooms: Vec<usize> = (0..rooms % 4)
        .map(|_| {
            let [low, high] = take(&mut data);
            usize::from(low) | usize::from(high) << 8
        })
        .collect();
    let carried: Vec<&[u8]> = carried.iter().map(Vec::as_slice).collect();
    let mut same = false;
    let (read, end) = fuzzing::encrypted(
        &carried,
        |records| {
            let before = records.clone();
            while !data.is_empty() && !records.is_empty() {
                let [how, low, high, byte] = take(&mut data);
                let at = (usize::from(low) | usize::from(high) << 8) % records.len();
                match how % 4 {
                    0 => records[at] ^= byte,
                    1 => records.truncate(at),
                    2 => drop(records.splice(at..at, [byte])),
                    _ => drop(records.drain(at..records.len().min(at + usize::from(byte)))),
                }
            }
            same = before == *records;
        },
        &rooms,
    );
    let sent = carried.concat();
    assert!(sent.starts_with(&read), "{} bytes of {}", read.len(), sent.len());
    assert_eq!(end.is_ok(), same, "{end:?}");
    assert!(!same || read == sent);
}
