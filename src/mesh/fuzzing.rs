//! The way in for fuzzers (`fuzz/`): bytes as another process may send them, and what is made of them. Nothing else is
//! to use it, and it may change with any version.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use super::channel::Channel;
use super::frame::{HEAD_BYTES, Head};
use super::link::Link;
use super::meeting::hello::{HELLO_BYTES, Hello, PREFIX_BYTES, Reply, hello_prefix, may_be_hello};
use super::meeting::key_agreement::{Agreeing, answer};
use super::meeting::secret::Key;
use super::reader;
use super::state::{Lost, State};

/// Length of the head of a frame.
pub const FRAME_HEAD_BYTES: usize = HEAD_BYTES;

/// The head of a frame that `bytes` are, written again.
pub fn head(bytes: [u8; HEAD_BYTES]) -> Option<[u8; HEAD_BYTES]> {
    Head::decode(bytes).map(Head::encode)
}

/// The hello that `bytes` are, written again.
///
/// # Panics
/// If its beginning is taken for none.
pub fn hello(bytes: &[u8]) -> Option<Vec<u8>> {
    let hello = Hello::decode(bytes)?;
    assert!(may_be_hello(&bytes[..PREFIX_BYTES]) && hello_prefix(bytes).is_some());
    let encoded = hello.encode();
    assert_eq!((encoded.len(), Hello::decode(&encoded)), (HELLO_BYTES, Some(hello)));
    Some(encoded)
}

/// The reply to a hello that `bytes` are, written again, and whether its proof held.
pub fn reply(bytes: &[u8], hello: &[u8]) -> Option<(Vec<u8>, bool)> {
    let key = Key::new(None);
    let (reply, holds) = Reply::decode(bytes, hello, &key)?;
    Some((reply.encode(hello, &key), holds))
}

/// What process 0 makes of the bytes that process 1 of 2 sends over their control connection until it ends: the messages of
/// each of some topics, and who is lost then.
///
/// # Panics
/// If there is no more room for a socket, or the bytes do not fit into one.
pub fn control(bytes: &[u8], topics: &[u32]) -> (Vec<Vec<Vec<u8>>>, Option<Lost>) {
    let link = Link::new(Channel::new(sent(bytes), None), Arc::default());
    // Nobody writes, so nothing is to wait for it.
    link.break_off();
    let hosts = ["first:1", "second:1"].map(str::to_owned).to_vec();
    let state = State::new(0, hosts, vec![None, Some(link)]);
    reader::read_all(state.links[1].as_ref().expect("a link"), 1, &state);
    let mut said = state.said();
    let messages = |topic: &u32| std::iter::from_fn(|| said.fetch(1, *topic)).collect();
    let messages = topics.iter().map(messages).collect();
    let lost = said.lost();
    (messages, lost)
}

/// The records that carry `parts`, changed, and read by pieces of these lengths one after the other: what comes out, and how
/// that ends.
///
/// # Panics
/// If there is no more room for a socket, or the records do not fit into one.
pub fn encrypted(
    parts: &[&[u8]],
    change: impl FnOnce(&mut Vec<u8>),
    lengths: &[usize],
) -> (Vec<u8>, io::Result<()>) {
    let key = Key::new(None);
    let (agreeing, first) = Agreeing::begin(&key).expect("random numbers");
    let (theirs, second) = answer(&key, &first).expect("answered");
    let mine = agreeing.end(&second).expect("agreed");
    let (writer, mut reader) = UnixStream::pair().expect("a socket");
    let channel = Channel::new(TcpStream::from(OwnedFd::from(writer)), Some(mine));
    parts.iter().for_each(|part| (&channel).write_all(part).expect("written"));
    channel.shutdown(Shutdown::Write).expect("ended");
    let mut records = Vec::new();
    reader.read_to_end(&mut records).expect("read");
    change(&mut records);
    let (channel, mut all) = (Channel::new(sent(&records), Some(theirs)), Vec::new());
    let mut lengths = lengths.iter().copied().chain([64]).cycle();
    loop {
        let mut some = vec![0; lengths.next().unwrap_or(64).max(1)];
        match (&channel).read(&mut some) {
            Ok(0) => return (all, Ok(())),
            Ok(bytes) => all.extend_from_slice(&some[..bytes]),
            Err(error) => return (all, Err(error)),
        }
    }
}

/// A connection on which these bytes have come, and nothing after them.
fn sent(bytes: &[u8]) -> TcpStream {
    let (mut sender, receiver) = UnixStream::pair().expect("a socket");
    sender.set_nonblocking(true).and_then(|()| sender.write_all(bytes)).expect("as much as a socket holds");
    TcpStream::from(OwnedFd::from(receiver))
}
