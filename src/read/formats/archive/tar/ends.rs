//! Where members of an archive end.

use std::borrow::Cow;

use super::super::member::MemberFormats;
use super::scan::{MemberScan, TarFound};
use crate::read::codec::Boundaries;
use crate::read::record::Refusal;

/// Finds where members end.
pub(super) struct MemberEnds {
    scan: MemberScan,
    formats: MemberFormats,
}

impl MemberEnds {
    pub(super) fn new(formats: MemberFormats) -> MemberEnds {
        MemberEnds { scan: MemberScan::new(true), formats }
    }
}

/// What the blocks are with which an archive ends.
static END: [u8; 1024] = [0; 1024];

impl Boundaries for MemberEnds {
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.scan.end(bytes)
    }

    fn undecided(&self) -> usize {
        self.scan.undecided
    }

    fn is_blank(&self, _: &[u8]) -> bool {
        matches!(self.scan.found, None | Some(TarFound::Nothing | TarFound::Link))
    }

    fn has_header(&self) -> bool {
        false
    }

    fn line_end(&self) -> &'static [u8] {
        b""
    }

    fn follows_mark(&self) -> bool {
        false
    }

    fn refusal(&self) -> Option<Refusal> {
        fault(&self.scan).or_else(|| {
            let is_file = self.scan.found == Some(TarFound::File);
            let (place, head) = (&self.scan.place, &self.scan.head);
            let whole = place.end - place.start == head.len() as u64;
            let document = || self.formats.document(&shown_path(&self.scan.path), head, whole);
            is_file.then(document).and_then(Result::err)
        })
    }

    fn file_end(&self) -> &'static [u8] {
        &END
    }
}

/// What a member is called, as people read it.
pub(super) fn shown_path(path: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(path)
}

/// Why a record is no member that can be read, once it has passed by.
pub(super) fn fault(scan: &MemberScan) -> Option<Refusal> {
    let malformed = |what: &str| Some(Refusal::Malformed(what.to_owned()));
    match scan.found {
        Some(TarFound::Lost) => malformed("no header of a member, nor what follows up to the next one"),
        Some(TarFound::Refused(why)) => malformed(why),
        Some(TarFound::Sparse) => Some(Refusal::NotUnpacked("a sparse file".to_owned())),
        _ if scan.is_cut() => malformed("a member that is shorter than its header says"),
        _ => None,
    }
}
