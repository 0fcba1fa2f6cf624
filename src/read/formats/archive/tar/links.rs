//! A link to a member that goes would lead to nothing, and whoever unpacks the archive be told of an error: it goes too.

use std::collections::HashSet;
use std::io;

use xxhash_rust::xxh3::xxh3_128;

use super::scan::{MemberScan, TarFound};
use crate::read::BLOCK;
use crate::read::bytes::Window;
use crate::read::source::Source;
use crate::read::stretches::fault;

/// A name as whoever unpacks an archive takes it: from the folder where it is unpacked.
fn plain(name: &[u8]) -> &[u8] {
    let mut name = name;
    while let Some(rest) = name.strip_prefix(b"./").or(name.strip_prefix(b"/")) {
        name = rest;
    }
    name
}

/// The offsets of the members that lead to one of those at the ascending offsets `removed`, those themselves among them;
/// ascending. Of several members of one name a link leads to the last one before it. Where there is an `end`, the file cannot be
/// read to its own.
pub(super) fn with_links(source: &Source, removed: &[u64], end: Option<u64>) -> io::Result<Vec<u64>> {
    let (mut gone, mut all) = (HashSet::new(), Vec::with_capacity(removed.len()));
    let (mut window, mut scan, mut start) = (Window::open(source, 0)?, MemberScan::new(false), 0);
    loop {
        let read = match window.more(BLOCK) {
            Ok(read) => read,
            // What is behind the last good byte is not written at all.
            Err(_) if end.is_some() => 0,
            Err(error) => return Err(fault(error)),
        };
        while let Some(end) = scan.end(window.pending()) {
            window.consume(end);
            let (path, link) = (xxh3_128(plain(&scan.path)), xxh3_128(plain(&scan.link)));
            let goes = removed.binary_search(&start).is_ok();
            let leads_nowhere = scan.found == Some(TarFound::Link) && gone.contains(&link);
            match goes {
                true => gone.insert(path),
                false => gone.remove(&path),
            };
            if !goes && leads_nowhere {
                all.push(start);
                // A link may lead to a link.
                gone.insert(path);
            }
            start = window.offset();
        }
        window.consume(window.pending().len() - scan.undecided);
        if read == 0 {
            break;
        }
    }
    all.extend(removed);
    all.sort_unstable();
    all.dedup();
    Ok(all)
}
