//! The members of a gzip file, one after the other. Archives of crawls have one a record, so that damage in one is no reason to
//! lose the others.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::mem;
use std::ops::Range;

use flate2::bufread::GzDecoder;
use memchr::memmem;

use super::member::PackedMember;
use crate::limits::sized;
use crate::read::format::Format;
use crate::read::source::Source;
use crate::system_memory::reserve_apart;

/// Most bytes that a member is decompressed to before any of it is handed on: so much of a damaged one can be passed over.
const MOST_AHEAD: usize = sized(2 << 20, 300);
/// Bytes read from a file at once.
const INPUT: usize = sized(128 << 10, 100);
/// Bytes decoded at once.
const OUTPUT: usize = sized(64 << 10, 100);
/// Most places behind damage that are tried as beginnings of a member, in all of a file.
const MOST_TRIED: usize = 1024;
/// How a member begins (RFC 1952, section 2.3): what it is, and that it is deflated. Bits of the next byte that are zero.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const RESERVED: u8 = 0xe0;

/// What becomes of damage behind which members are whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum Damage {
    /// It ends the file.
    Ends,
    /// It is an error, [`PassedOver`], behind which reading may go on.
    Told,
    /// It is passed over: it was told before.
    PassedOver,
}

impl Damage {
    /// What becomes of it in a source that is read for the first time, or again. Records of crawls show by their beginnings what they
    /// are, and have a member each: there reading goes on.
    pub(in crate::read) fn of(source: &Source, is_again: bool) -> Damage {
        match source.format {
            Format::Warc | Format::Arc if is_again => Damage::PassedOver,
            Format::Warc | Format::Arc => Damage::Told,
            _ => Damage::Ends,
        }
    }
}

/// Damage that was passed over.
#[derive(Debug)]
pub(in crate::read) struct PassedOver {
    why: String,
    packed: Range<u64>,
}

impl PassedOver {
    /// Whether an error says no more than that.
    pub(in crate::read) fn is_it(error: &io::Error) -> bool {
        error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<PassedOver>)
    }
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PassedOver { why, packed: Range { start, end } } = self;
        write!(f, "{why}, in the {} compressed bytes from byte {start} on", end - start)
    }
}

impl std::error::Error for PassedOver {}

/// What is read next.
enum MemberStep {
    /// A member, from its beginning.
    Member,
    /// The rest of the member, of which so much was decompressed that it is handed on whatever comes.
    Rest,
    /// What is behind a member.
    Behind,
    /// Nothing, because of this.
    Fault(io::Error),
    /// Nothing.
    End,
}

/// A file, or none while a decoder gets another one.
struct PackedFile<R>(Option<BufReader<R>>);

impl<R> Default for PackedFile<R> {
    fn default() -> PackedFile<R> {
        PackedFile(None)
    }
}

impl<R: Read> Read for PackedFile<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.as_mut().map_or(Ok(0), |file| file.read(into))
    }
}

impl<R: Read> BufRead for PackedFile<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.as_mut().map_or(Ok(&[]), BufRead::fill_buf)
    }

    fn consume(&mut self, count: usize) {
        if let Some(file) = &mut self.0 {
            file.consume(count);
        }
    }
}

/// The members of a gzip file, by one decoder. Zeros behind the last member are padding, as gzip has it; anything else that is no
/// member is damage. (flate2's own multi-member decoder knows no padding, and reads on behind nothing.)
///
/// What a damaged member was decompressed to before the damage is not handed on where reading goes on behind it: how much that is
/// depends on how the file is read. A member of more than [`MOST_AHEAD`] bytes is handed on up to the damage, which then ends the file.
pub(in crate::read) struct GzipMembers<R> {
    decoder: GzDecoder<PackedFile<R>>,
    /// The file before its first member: a decoder reads a header as soon as it has one.
    unopened: PackedFile<R>,
    next: MemberStep,
    damage: Damage,
    /// What was decompressed and not handed on.
    ahead: Vec<u8>,
    taken: usize,
    /// The member that is read, as far as it was decompressed.
    member: PackedMember,
    /// Those that were read to their ends, if anyone asks.
    read: Option<Vec<PackedMember>>,
    /// Places that may still be tried.
    tries: usize,
}

impl<R: Read + Seek> GzipMembers<R> {
    pub(in crate::read) fn new(file: R, damage: Damage) -> GzipMembers<R> {
        GzipMembers {
            decoder: GzDecoder::new(PackedFile(None)),
            unopened: PackedFile(Some(BufReader::with_capacity(INPUT, file))),
            next: MemberStep::Member,
            damage,
            ahead: Vec::new(),
            taken: 0,
            member: PackedMember { packed: 0..0, bytes: 0..0 },
            read: None,
            tries: MOST_TRIED,
        }
    }

    /// The same, which keeps in mind what members it has read.
    pub(in crate::read::bytes) fn listed(file: R, damage: Damage) -> GzipMembers<R> {
        GzipMembers { read: Some(Vec::new()), ..GzipMembers::new(file, damage) }
    }

    /// The members that were read to their ends, and the bytes of the present one so far.
    pub(in crate::read::bytes) fn list(&self) -> (&[PackedMember], u64) {
        let Range { start, end } = self.member.bytes;
        (self.read.as_deref().unwrap_or_default(), end - start)
    }

    fn file(&mut self) -> io::Result<&mut BufReader<R>> {
        let opened = self.decoder.get_mut().0.as_mut();
        self.unopened.0.as_mut().or(opened).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn position(&mut self) -> io::Result<u64> {
        self.file()?.stream_position()
    }

    /// Begins with a member.
    fn begin(&mut self) -> io::Result<()> {
        let at = self.position()?;
        let file = match mem::take(&mut self.unopened) {
            PackedFile(None) => mem::take(self.decoder.get_mut()),
            file => file,
        };
        self.decoder.reset(file);
        self.ahead.clear();
        self.taken = 0;
        match unpack_ahead(&mut self.decoder, &mut self.ahead) {
            Ok(is_whole) => self.begun(at, is_whole),
            Err(error) if is_damage(&error) => self.pass_over(at, at + 1, error),
            Err(error) => Err(error),
        }
    }

    /// Some of the member that begins at a byte of the file was decompressed, or all of it.
    fn begun(&mut self, at: u64, is_whole: bool) -> io::Result<()> {
        let start = self.member.bytes.end;
        self.member = PackedMember { packed: at..at, bytes: start..start + self.ahead.len() as u64 };
        self.next = MemberStep::Rest;
        if is_whole { self.ended() } else { Ok(()) }
    }

    /// All of the member was decompressed.
    fn ended(&mut self) -> io::Result<()> {
        self.member.packed.end = self.position()?;
        if let Some(read) = &mut self.read {
            read.push(self.member.clone());
        }
        self.next = MemberStep::Behind;
        Ok(())
    }

    /// Goes on behind what is damaged from a byte of the file on, with a member that begins at another one or behind it. If none is
    /// whole there, the error comes behind what could be decompressed.
    fn pass_over(&mut self, from: u64, next: u64, error: io::Error) -> io::Result<()> {
        let before_damage = mem::take(&mut self.ahead);
        let (mut ahead, mut tries) = (Vec::new(), self.tries);
        let found = match self.damage {
            Damage::Ends => None,
            _ => next_whole(self.file()?, next, &mut tries, &mut ahead)?,
        };
        self.tries = tries;
        let Some(at) = found else {
            self.ahead = before_damage;
            self.next = MemberStep::Fault(error);
            return Ok(());
        };
        self.ahead = ahead;
        self.begun(at, true)?;
        match self.damage {
            Damage::Ends | Damage::PassedOver => Ok(()),
            Damage::Told => {
                let passed = PassedOver { why: error.to_string(), packed: from..at };
                Err(io::Error::new(io::ErrorKind::InvalidData, passed))
            }
        }
    }

    /// Looks at what is behind a member.
    fn look_behind(&mut self) -> io::Result<()> {
        let padded = skip_zeros(self.file()?)?;
        match self.file()?.fill_buf()?.first() {
            None => {
                self.next = MemberStep::End;
                Ok(())
            }
            Some(first) if *first == MAGIC[0] && !padded => {
                self.next = MemberStep::Member;
                Ok(())
            }
            Some(_) => {
                self.ahead.clear();
                self.taken = 0;
                let (at, what) = (self.position()?, "something that is not gzip follows the compressed data");
                self.pass_over(at, at, io::Error::new(io::ErrorKind::InvalidData, what))
            }
        }
    }
}

impl<R: Read + Seek> Read for GzipMembers<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.taken < self.ahead.len() {
                let count = into.len().min(self.ahead.len() - self.taken);
                into[..count].copy_from_slice(&self.ahead[self.taken..self.taken + count]);
                self.taken += count;
                return Ok(count);
            }
            match mem::replace(&mut self.next, MemberStep::End) {
                MemberStep::Member => self.begin()?,
                MemberStep::Rest => {
                    // It may be long, and what it needs nobody else gets.
                    (self.ahead, self.taken) = (Vec::new(), 0);
                    let read = self.decoder.read(into)?;
                    self.member.bytes.end += read as u64;
                    self.next = MemberStep::Rest;
                    if read > 0 || into.is_empty() {
                        return Ok(read);
                    }
                    self.ended()?;
                }
                MemberStep::Behind => self.look_behind()?,
                MemberStep::Fault(error) => return Err(error),
                MemberStep::End => return Ok(0),
            }
        }
    }
}

/// Decompresses a member from its beginning; whether all of it, and not only as much as may be held.
fn unpack_ahead(decoder: &mut impl Read, out: &mut Vec<u8>) -> io::Result<bool> {
    while out.len() < MOST_AHEAD {
        let before = out.len();
        if before >= 4 * OUTPUT {
            // Of a long member it goes back to the system when the member is handed on.
            reserve_apart(out, MOST_AHEAD + OUTPUT - before);
        }
        out.resize(before + OUTPUT, 0);
        let read = decoder.read(&mut out[before..]);
        out.truncate(before + *read.as_ref().unwrap_or(&0));
        if read? == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Where the next member begins at a byte of the file or behind it that is whole and not long: it is decompressed, and the file
/// stands behind it.
fn next_whole<R: Read + Seek>(
    file: &mut BufReader<R>,
    mut from: u64,
    tries: &mut usize,
    out: &mut Vec<u8>,
) -> io::Result<Option<u64>> {
    while *tries > 0 {
        let Some(at) = find_magic(file, from)? else { return Ok(None) };
        file.seek(SeekFrom::Start(at))?;
        out.clear();
        match unpack_ahead(&mut GzDecoder::new(&mut *file), out) {
            Ok(true) => return Ok(Some(at)),
            Err(error) if !is_damage(&error) => return Err(error),
            _ => (from, *tries) = (at + 1, *tries - 1),
        }
    }
    Ok(None)
}

/// Where a member may begin, at a byte of the file or behind it.
fn find_magic<R: Read + Seek>(file: &mut BufReader<R>, from: u64) -> io::Result<Option<u64>> {
    file.seek(SeekFrom::Start(from))?;
    let (mut at, mut held) = (from, Vec::new());
    loop {
        let ready = file.fill_buf()?;
        let read = ready.len();
        held.extend_from_slice(ready);
        file.consume(read);
        let may_begin =
            |found: &usize| held.get(found + MAGIC.len()).is_none_or(|flags| flags & RESERVED == 0);
        if let Some(found) = memmem::find_iter(&held, &MAGIC).find(may_begin) {
            return Ok(Some(at + found as u64));
        }
        if read == 0 {
            return Ok(None);
        }
        let passed = held.len().saturating_sub(MAGIC.len() - 1);
        held.drain(..passed);
        at += passed as u64;
    }
}

/// Whether an error is one of what is in the file, and not of reading it.
fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    error.raw_os_error().is_none() && matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

/// Passes over zeros; whether there were any.
fn skip_zeros(input: &mut impl BufRead) -> io::Result<bool> {
    let mut any = false;
    loop {
        let ready = input.fill_buf()?;
        let zeros = ready.iter().take_while(|&&byte| byte == 0).count();
        let all = zeros == ready.len();
        any |= zeros > 0;
        input.consume(zeros);
        if zeros == 0 || !all {
            return Ok(any);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("compressed");
        encoder.finish().expect("compressed")
    }

    /// What is read before an error that is not passed over, and whether there is none.
    fn members(bytes: &[u8]) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        let read = GzipMembers::new(io::Cursor::new(bytes), Damage::PassedOver).read_to_end(&mut out);
        (out, read.is_ok())
    }

    #[test]
    fn members_follow_each_other_and_zeros_may_end_them() {
        let two = [gzip(b"one"), gzip(b""), gzip(b"two")].concat();
        assert_eq!(members(&two), (b"onetwo".to_vec(), true));
        let padded = [&two[..], &[0; 512]].concat();
        assert_eq!(members(&padded), (b"onetwo".to_vec(), true));
        let garbage = [&two[..], b"garbage"].concat();
        assert_eq!(members(&garbage), (b"onetwo".to_vec(), false));
        assert_eq!(members(&two[..two.len() - 1]), (b"onetwo".to_vec(), false));
        assert_eq!(members(b""), (Vec::new(), false));
    }

    #[test]
    fn what_is_between_members_is_passed_over() {
        let two = [gzip(b"one"), gzip(b"two")].concat();
        for between in [&[0; 512][..], b"garbage", &MAGIC, &gzip(b"three")[..15]] {
            let file = [&two[..], between, &two].concat();
            assert_eq!(members(&file), (b"onetwoonetwo".to_vec(), true), "{between:?}");
        }
    }

    #[test]
    fn long_members_end_a_file_where_they_are_damaged() {
        let long: Vec<u8> = (0..3 * MOST_AHEAD).map(|at| (at * at / 7) as u8).collect();
        let mut file = gzip(&long);
        let check = file.len() - 8;
        file[check] ^= 1;
        file.extend(gzip(b"two"));
        let (read, good) = members(&file);
        assert!(!good && read.len() > MOST_AHEAD && long.starts_with(&read));
    }

    proptest! {
        /// A changed byte costs its member, and no other; and where members are is what is read.
        #[test]
        fn damage_costs_one_member(
            texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 2..8),
            at in any::<prop::sample::Index>(),
            by in 1u8..,
        ) {
            let packed: Vec<Vec<u8>> = texts.iter().map(|text| gzip(text)).collect();
            let mut file = packed.concat();
            let last = file.len() - packed.last().expect("two").len();
            let at = at.index(last);
            file[at] ^= by;
            let mut end = 0;
            let hit = packed.iter().position(|member| {
                end += member.len();
                at < end
            }).expect("a member");
            let mut told = GzipMembers::listed(io::Cursor::new(&file), Damage::Told);
            let (mut out, mut passed) = (Vec::new(), 0);
            while let Err(error) = told.read_to_end(&mut out) {
                if !PassedOver::is_it(&error) {
                    // What it was changed to unfolds to a long member, which is handed on up to the damage.
                    prop_assert!(out.len() >= MOST_AHEAD);
                    return Ok(());
                }
                passed += 1;
            }
            // What is not looked at, as the time of the file is, may be anything.
            let others: Vec<u8> = (0..texts.len()).filter(|at| *at != hit || passed == 0).flat_map(|at| &texts[at]).copied().collect();
            prop_assert!(passed <= 1);
            prop_assert_eq!(&out, &others);
            prop_assert_eq!(members(&file), (others, true));
            for member in told.list().0 {
                let mut again = Vec::new();
                let Range { start, end } = member.packed.clone();
                member.unpack(&file[start as usize..end as usize], &mut again).expect("whole");
                prop_assert_eq!(&again, &out[member.bytes.start as usize..member.bytes.end as usize]);
            }
        }
    }
}
