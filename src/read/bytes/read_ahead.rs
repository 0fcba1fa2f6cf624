//! How many bytes of objects may be under way, and what of the memory that takes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::limits::{BASE_MEMORY, WORKER_MEMORY, sized};
use crate::read::source::Source;
use crate::remote::ObjectSpool;

/// What a reader of an object may have under way and in hand where nobody has said how much memory there is.
pub(in crate::read) const USUAL_ROOM: u64 = sized(8 << 20, 4 << 10);
/// Most and least of it: four requests of 8 MiB, or two of one.
const MOST: u64 = sized(32 << 20, 16 << 10);
const LEAST: u64 = sized(2 << 20, 1 << 10);
/// Part of the memory that all readers may have together.
const PART: u64 = 8;

/// Notes with each object how far its reader may read ahead within the memory, what stops it, and that what is fetched of it
/// is kept in the folder `scratch`, if no other place was found before; how much all readers, one for each worker, take of
/// the memory.
pub fn admit_read_ahead(
    sources: &mut [Source],
    memory: Option<u64>,
    workers: usize,
    (stop, scratch): (&Arc<AtomicBool>, &Path),
) -> u64 {
    if !sources.iter().any(Source::is_remote) {
        return 0;
    }
    let workers = workers.max(1) as u64;
    let free = memory.map(|memory| memory.saturating_sub(BASE_MEMORY + WORKER_MEMORY * workers));
    let room = free.map_or(MOST, |free| (free / PART / workers).clamp(LEAST, MOST));
    // Without it all that is read again is fetched again.
    let spool = ObjectSpool::new(scratch).ok().map(Arc::new);
    for source in sources.iter_mut() {
        source.stopped_by(stop);
        if let Some(object) = &mut source.object {
            object.ahead = room;
            spool.iter().for_each(|spool| object.spooled_in(spool));
        }
    }
    // A reader of columns has a quarter for each of them.
    workers * (room + room / 4)
}
