//! The bytes of an object on its way, within the memory.

use std::io::{self, Write};

use super::super::pages::UnitMemory;
use crate::limits::{MAX_VALUE_BYTES, sized};

/// Bytes of an object for which there is always room.
const KEPT: usize = sized(1 << 20, 64);

/// The bytes of an object, unless they are more than may be: then how many they would be, as far as anybody wants to know.
pub(super) struct ObjectBytes<'a> {
    bytes: Vec<u8>,
    length: usize,
    /// Up to how many there is known to be room.
    room: usize,
    is_over: bool,
    memory: &'a UnitMemory,
}

impl<'a> ObjectBytes<'a> {
    /// None yet, of objects made of pages that take some memory.
    pub(super) fn new(memory: &'a UnitMemory) -> ObjectBytes<'a> {
        ObjectBytes { bytes: Vec::new(), length: 0, room: KEPT, is_over: false, memory }
    }

    /// None yet, of what becomes a part of these.
    pub(super) fn apart(&self) -> ObjectBytes<'a> {
        ObjectBytes::new(self.memory)
    }

    /// Ends with a part for which there is no room.
    pub(super) fn end_with(&mut self, part: &ObjectBytes<'_>) {
        self.length = self.length.saturating_add(part.length);
        self.is_over = true;
    }

    /// The object, or why there is no room for it.
    pub(super) fn made(&self) -> Result<&[u8], String> {
        if self.is_over { Err(self.memory.refusal_of_object(self.length)) } else { Ok(&self.bytes) }
    }

    /// Begins with the next one.
    pub(super) fn end(&mut self) {
        self.bytes.clear();
        if self.length > KEPT {
            self.bytes.shrink_to(KEPT);
            self.memory.end_object();
        }
        (self.length, self.room, self.is_over) = (0, KEPT, false);
    }

    /// Whether nothing of what follows is wanted.
    pub(super) fn is_ended(&self) -> bool {
        self.is_over && self.length > MAX_VALUE_BYTES
    }

    pub(super) fn push(&mut self, byte: u8) {
        self.extend_from_slice(&[byte]);
    }

    pub(super) fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.length = self.length.saturating_add(bytes.len());
        if self.length > self.room && !self.is_over {
            self.room = self.length.next_multiple_of(KEPT);
            self.is_over = !self.memory.has_room_for_object(self.room);
        }
        if !self.is_over {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

impl Write for ObjectBytes<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.extend_from_slice(bytes);
        if self.is_ended() { Err(io::ErrorKind::OutOfMemory.into()) } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::read::bytes::{RecordCost, RecordRoom};
    use crate::read::formats::parquet::pages::PageUse;

    #[test]
    fn objects_are_whole_or_refused_and_stop_where_nobody_wants_more() {
        let room = RecordRoom::new(
            Some(28 << 20),
            0,
            1,
            RecordCost { token: 1, bytes_of_token: 1 },
            &Arc::default(),
        );
        let bounded = UnitMemory::used_for(PageUse::Objects, &room, MAX_VALUE_BYTES);
        let free = UnitMemory::used_for(PageUse::Objects, &RecordRoom::default(), MAX_VALUE_BYTES);
        let block = vec![b'a'; 1 << 20];
        for (memory, most) in [(&bounded, 20), (&free, usize::MAX)] {
            let mut object = ObjectBytes::new(memory);
            for blocks in [1, 20, 21, 100, 2] {
                (0..blocks).for_each(|_| object.extend_from_slice(&block));
                let length = blocks << 20;
                match object.made() {
                    Ok(bytes) => assert!(blocks <= most && bytes.len() == length, "{blocks}"),
                    Err(why) => {
                        assert!(blocks > most && why.contains(&format!("{length} bytes as JSON")), "{why}");
                    }
                }
                object.end();
            }
        }
        let mut object = ObjectBytes::new(&bounded);
        let written = (0..1_000).take_while(|_| object.write_all(&block).is_ok()).count();
        assert_eq!(written, MAX_VALUE_BYTES >> 20);
    }
}
