//! What a crawl says about a record goes with it: its request, and metadata about it.

use std::collections::HashSet;
use std::io;

use xxhash_rust::xxh3::xxh3_128;

use super::ends::StretchEnds;
use super::head::{MOST_HEAD, RecordHead, WarcHead};
use crate::read::BLOCK;
use crate::read::bytes::Window;
use crate::read::codec::Boundaries;
use crate::read::source::Source;
use crate::read::stretches::{fault, skip_bom};

/// The offsets of the records that belong to one of those at the ascending offsets `removed`, those themselves among them;
/// ascending. Either names the other: some crawlers write it with the page, and some with what speaks of it. Metadata that were
/// written later refer to the page. Where there is an `end`, the file cannot be read to its own. (WARC 1.1, sections 5.7 and 5.11,
/// WARC-Concurrent-To and WARC-Refers-To.)
pub(super) fn with_companions(source: &Source, removed: &[u64], end: Option<u64>) -> io::Result<Vec<u64>> {
    let (mut gone, mut named, mut companions) = (HashSet::new(), HashSet::new(), Vec::new());
    each_head(source, end, &mut |offset, head| {
        let Some(end) = WarcHead::end(head) else { return };
        let Some(headers) = WarcHead::read(&head[..end]).ok().and_then(|head| head.headers) else { return };
        let digest = |id: &str| xxh3_128(id.as_bytes());
        let id = headers.get("WARC-Record-ID").map(digest);
        let others = headers.all("WARC-Concurrent-To").map(digest);
        let is = |kind: &str| headers.get("WARC-Type").is_some_and(|said| said.eq_ignore_ascii_case(kind));
        if removed.binary_search(&offset).is_ok() {
            gone.extend(id);
            named.extend(others);
        } else if is("request") || is("metadata") {
            let referred = headers.get("WARC-Refers-To").filter(|_| is("metadata")).map(digest);
            companions.extend(others.chain(referred).map(|other| (id, Some(other), offset)));
            companions.push((id, None, offset));
        }
    })?;
    let goes = |id: &Option<u128>, other: &Option<u128>| {
        id.is_some_and(|id| named.contains(&id)) || other.is_some_and(|other| gone.contains(&other))
    };
    let mut all = removed.to_vec();
    all.extend(companions.iter().filter(|(id, other, _)| goes(id, other)).map(|(.., offset)| *offset));
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// Hands on where each record begins, and its first bytes, the head among them.
fn each_head(source: &Source, end: Option<u64>, each: &mut dyn FnMut(u64, &[u8])) -> io::Result<()> {
    let (mut window, mut ends) = (Window::open_again(source, 0)?, StretchEnds::<WarcHead>::default());
    let (mut searched, mut within) = (0, false);
    loop {
        let read = match window.more(BLOCK) {
            Ok(read) => read,
            // What is behind the last good byte is not written at all.
            Err(_) if end.is_some() => {
                // The last record that is good may be all there is.
                if !within && end.is_some_and(|end| window.offset() < end) {
                    each(window.offset(), window.pending());
                }
                return Ok(());
            }
            Err(error) => return Err(fault(error)),
        };
        skip_bom(&mut window);
        loop {
            let pending = window.pending();
            let end = ends.end(&pending[searched..]);
            let length = searched + end.unwrap_or_else(|| pending.len() - searched - ends.undecided());
            // Of a long record the head is enough.
            if end.is_none() && length <= MOST_HEAD && read > 0 {
                searched = length;
                break;
            }
            if !within {
                each(window.offset(), &pending[..length]);
            }
            window.consume(length);
            (searched, within) = (0, end.is_none());
            if end.is_none() {
                break;
            }
        }
        if read == 0 {
            return Ok(());
        }
    }
}
