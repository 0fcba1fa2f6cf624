//! Members as the bytes of an archive pass by: where each ends, and what it is.

use std::ops::Range;

use super::block::{BLOCK_BYTES, Extension, TarBlock, TarHeader, TarKind, goes_on};
use super::said::{MOST_SAID, SaidBefore};
use crate::read::head::wanted;

/// What a record of an archive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TarFound {
    /// A file with content.
    File,
    /// A link to another member.
    Link,
    /// Nothing that has text: a folder, what is said of the archive, its end.
    Nothing,
    /// A file that only stands whole where it is unpacked.
    Sparse,
    /// A member that cannot be read, and why.
    Refused(&'static str),
    /// No member at all.
    Lost,
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
enum TarNext {
    /// A header.
    Header,
    /// A block that says where the holes of a sparse file are.
    Holes,
    /// So many bytes of content, and so many behind them to the end of a block.
    Content(ContentOf, u64, u64),
    /// A header, or blocks that are none before one.
    AnyHeader,
    /// The next record.
    Record,
}

/// What content is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentOf {
    Extension(Extension),
    Global,
    Member,
}

/// A record of an archive as it passes by: a member, with what is said of it before its header. The blocks behind the last one,
/// up to a header, are one record, and so are blocks that should be a header and are none.
#[derive(Debug)]
pub(super) struct MemberScan {
    next: TarNext,
    /// Bytes of the record that have passed by.
    passed: u64,
    said: SaidBefore,
    /// What is being said, as far as it is wanted.
    content: Vec<u8>,
    /// What the record is, once it is known.
    pub(super) found: Option<TarFound>,
    /// What the member is called.
    pub(super) path: Vec<u8>,
    /// What it links to, if it does.
    pub(super) link: Vec<u8>,
    /// Where in the record its content stands.
    pub(super) place: Range<u64>,
    /// As much of its content as shows what it is, where anybody looks.
    pub(super) head: Vec<u8>,
    looks: bool,
    /// How many of the last bytes may be the beginning of the next record.
    pub(super) undecided: usize,
}

impl MemberScan {
    /// Before the first byte. `looks` says whether the heads of files are kept in mind.
    pub(super) fn new(looks: bool) -> MemberScan {
        MemberScan {
            next: TarNext::Header,
            passed: 0,
            said: SaidBefore::default(),
            content: Vec::new(),
            found: None,
            path: Vec::new(),
            link: Vec::new(),
            place: 0..0,
            head: Vec::new(),
            looks,
            undecided: 0,
        }
    }

    /// Where the present record ends, as [`Boundaries::end`](crate::read::codec::Boundaries::end) has it.
    pub(super) fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        if self.next == TarNext::Record {
            let head = std::mem::take(&mut self.head);
            *self = MemberScan { head, ..MemberScan::new(self.looks) };
            self.head.clear();
        }
        let mut at = 0;
        self.undecided = 0;
        while self.next != TarNext::Record {
            if let TarNext::Content(of, content, behind) = self.next {
                let taken = self.take_content(of, content, behind, &bytes[at..]);
                at += taken;
                self.passed += taken as u64;
                if matches!(self.next, TarNext::Content(..)) {
                    return None;
                }
                continue;
            }
            let Some(block) = bytes[at..].first_chunk() else {
                self.undecided = bytes.len() - at;
                return None;
            };
            if self.is_next_record(block) {
                self.next = TarNext::Record;
                break;
            }
            at += BLOCK_BYTES;
            self.passed += BLOCK_BYTES as u64;
            self.take_block(block);
        }
        Some(at)
    }

    /// Whether the record ends before a block.
    fn is_next_record(&mut self, block: &[u8; BLOCK_BYTES]) -> bool {
        match self.next {
            TarNext::AnyHeader => matches!(TarBlock::of(block), TarBlock::Header(_)),
            TarNext::Header if self.said.any => {
                let is_other = match TarBlock::of(block) {
                    TarBlock::Zeros => true,
                    TarBlock::Header(header) => header.kind() == TarKind::Global,
                    TarBlock::Unknown => false,
                };
                if is_other {
                    self.found = Some(TarFound::Refused("an extended header without a member"));
                }
                is_other
            }
            _ => false,
        }
    }

    /// Takes a block that is no content.
    fn take_block(&mut self, block: &[u8; BLOCK_BYTES]) {
        match (&self.next, TarBlock::of(block)) {
            (TarNext::Holes, _) if goes_on(block) => {}
            (TarNext::Holes, _) => self.begin_content(ContentOf::Member, self.place.end),
            (TarNext::AnyHeader, _) => {}
            (_, TarBlock::Header(header)) => self.take_header(&header),
            (_, TarBlock::Zeros) => {
                self.found = Some(TarFound::Nothing);
                self.next = TarNext::AnyHeader;
            }
            (_, TarBlock::Unknown) => {
                self.found = Some(TarFound::Lost);
                self.next = TarNext::AnyHeader;
            }
        }
    }

    fn take_header(&mut self, header: &TarHeader<'_>) {
        let (kind, size) = (header.kind(), header.size());
        match kind {
            TarKind::Extended(extension) => return self.begin_content(ContentOf::Extension(extension), size),
            TarKind::Global => return self.begin_content(ContentOf::Global, size),
            _ => {}
        }
        self.path = self.said.path.take().unwrap_or_else(|| header.path());
        self.link = self.said.link.take().unwrap_or_else(|| header.link().to_vec());
        let size = match kind {
            // What has no content may have a size all the same.
            TarKind::Link | TarKind::Name => 0,
            _ => self.said.size.unwrap_or(size),
        };
        self.found = Some(match (kind, self.said.fault) {
            (_, Some(fault)) => TarFound::Refused(fault),
            (TarKind::Sparse(_), _) => TarFound::Sparse,
            (TarKind::File, _) if self.said.sparse => TarFound::Sparse,
            (TarKind::Rest, _) => TarFound::Refused("the rest of a file that begins in another archive"),
            // Before there was a kind for them, folders were names with a slash.
            (TarKind::File, _) if size > 0 && !self.path.ends_with(b"/") => TarFound::File,
            (TarKind::Link, _) => TarFound::Link,
            _ => TarFound::Nothing,
        });
        if kind == TarKind::Sparse(true) {
            self.place = 0..size;
            self.next = TarNext::Holes;
        } else {
            self.begin_content(ContentOf::Member, size);
        }
    }

    /// Content of so many bytes comes next.
    fn begin_content(&mut self, of: ContentOf, bytes: u64) {
        if of == ContentOf::Member {
            self.place = self.passed..self.passed + bytes;
        }
        self.content.clear();
        self.next = TarNext::Content(of, bytes, bytes.next_multiple_of(BLOCK_BYTES as u64) - bytes);
    }

    /// Takes bytes of content, and of what is behind it to the end of a block; how many.
    fn take_content(&mut self, of: ContentOf, content: u64, behind: u64, bytes: &[u8]) -> usize {
        let part = |most: u64, bytes: &[u8]| bytes.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        let (taken, rest) = bytes.split_at(part(content, bytes));
        let passed = part(behind, rest);
        self.note(of, taken);
        let (content, behind) = (content - taken.len() as u64, behind - passed as u64);
        self.next = TarNext::Content(of, content, behind);
        if content == 0 && behind == 0 {
            self.end_content(of);
        }
        taken.len() + passed
    }

    /// Keeps in mind what is wanted of content.
    fn note(&mut self, of: ContentOf, bytes: &[u8]) {
        if of != ContentOf::Member {
            let room = usize::try_from(MOST_SAID).unwrap_or(usize::MAX).saturating_sub(self.content.len());
            if bytes.len() > room {
                self.said.fault = Some("an extended header that is too long");
            }
            return self.content.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        let mut bytes = bytes;
        while self.looks && self.found == Some(TarFound::File) && !bytes.is_empty() {
            let (more, rest) = bytes.split_at(wanted(&self.head).min(bytes.len()));
            if more.is_empty() {
                break;
            }
            self.head.extend_from_slice(more);
            bytes = rest;
        }
    }

    /// The content has passed by.
    fn end_content(&mut self, of: ContentOf) {
        self.next = TarNext::Record;
        let content = std::mem::take(&mut self.content);
        match of {
            ContentOf::Member => {}
            ContentOf::Extension(extension) => {
                if self.said.fault.is_none() {
                    self.said.take(extension, &content);
                }
                self.said.any = true;
                self.next = TarNext::Header;
            }
            ContentOf::Global => {
                self.said.take(Extension::Pax, &content);
                let fault = "a header for all members that says what one member is called, or how long it is";
                let fault = self.said.fault.or(self.said.is_of_one().then_some(fault));
                self.found = Some(fault.map_or(TarFound::Nothing, TarFound::Refused));
            }
        }
    }

    /// Whether the size of the member stands before its header.
    pub(super) fn is_size_said(&self) -> bool {
        self.said.size.is_some()
    }

    /// Whether bytes are missing of the content, or of what stands before it.
    pub(super) fn is_cut(&self) -> bool {
        match self.next {
            TarNext::Header | TarNext::Holes => true,
            // What is said of a member is followed by it.
            TarNext::Content(of, content, _) => content > 0 || matches!(of, ContentOf::Extension(_)),
            TarNext::AnyHeader | TarNext::Record => false,
        }
    }
}
