//! The topics of the mesh itself, and the number before a question and its answer.

/// Topics from here on are the mesh's own.
pub const FIRST_OWN_TOPIC: u32 = u32::MAX - 15;
pub(super) const GATHER: u32 = u32::MAX;
pub(super) const BROADCAST: u32 = u32::MAX - 1;
pub(super) const READY: u32 = u32::MAX - 2;
pub(super) const GO: u32 = u32::MAX - 3;
pub(super) const ASK: u32 = u32::MAX - 4;
pub(super) const REPLY: u32 = u32::MAX - 5;

/// Bytes before a question and before its answer: the number of the request.
pub(super) const NUMBER: usize = size_of::<u64>();

/// A question or its answer, with the number of the request before it.
pub(super) fn numbered(request: u64, bytes: &[u8]) -> Vec<u8> {
    [&request.to_le_bytes(), bytes].concat()
}

/// The number of the request that a message answers, and the answer.
pub(super) fn reply(mut message: Vec<u8>) -> Option<(u64, Vec<u8>)> {
    let number = u64::from_le_bytes(*message.first_chunk::<NUMBER>()?);
    message.drain(..NUMBER);
    Some((number, message))
}
