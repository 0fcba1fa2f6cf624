//! Reading files of each kind whose records are stretches of bytes, or that are one record: CSV, crawls, pages, mail,
//! documents, archives, and what stands between tags.

use alike::read::{Compression, Delimiter, FormatHint, Source, boundaries, with_companions};
use tempfile::TempDir;

use crate::packed::pack;
use crate::reading::{Seen, check, ends, fields, put, with_places};
use crate::{good, take, zipped};

thread_local! {
    /// Reused from input to input.
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder");
}

/// A kind of file.
struct Kind {
    /// What people call it, and how names of such files end.
    name: &'static str,
    good: fn() -> Vec<u8>,
    /// A file whose parts are pieces of some bytes, put together as such files are.
    joined: fn(&[u8]) -> Vec<u8>,
}

/// The bytes as they are, for kinds without counts or sums.
fn as_they_are(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

/// Tables, with any delimiter.
pub fn csv(data: &[u8]) {
    let good = || good::CSV.into();
    hold(&Kind { name: "csv", good, joined: |bytes| [b"id,text,v\n", bytes].concat() }, data);
}

/// Tables with tabs.
pub fn tsv(data: &[u8]) {
    let good = || good::TSV.into();
    hold(&Kind { name: "tsv", good, joined: |bytes| [b"text\tid\n", bytes].concat() }, data);
}

/// Crawls, texts of them among these.
pub fn warc(data: &[u8]) {
    hold(&Kind { name: "warc", good: good::warc, joined: |bytes| good::crawl(true, bytes) }, data);
}

/// Crawls in the earlier form.
pub fn arc(data: &[u8]) {
    hold(&Kind { name: "arc", good: good::arc, joined: |bytes| good::crawl(false, bytes) }, data);
}

/// Pages.
pub fn html(data: &[u8]) {
    let good = || good::HTML.into();
    hold(&Kind { name: "html", good, joined: as_they_are }, data);
}

/// Messages, one a file.
pub fn eml(data: &[u8]) {
    let good = || good::MAIL.into();
    hold(&Kind { name: "eml", good, joined: |bytes| [b"Subject: s\n", bytes].concat() }, data);
}

/// Messages, one behind the other.
pub fn mbox(data: &[u8]) {
    let joined = |bytes: &[u8]| [b"From a\nSubject: s\n\n", bytes].concat();
    hold(&Kind { name: "mbox", good: good::mbox, joined }, data);
}

/// Records of TREC.
pub fn trec(data: &[u8]) {
    let joined = |bytes: &[u8]| [b"<DOC>\n<DOCNO>1</DOCNO>\n", bytes].concat();
    hold(&Kind { name: "trec", good: || good::TREC.into(), joined }, data);
}

/// Dumps of wikis.
pub fn mediawiki(data: &[u8]) {
    let joined = |bytes: &[u8]| [b"<mediawiki>\n<page><id>1</id><revision>", bytes].concat();
    hold(&Kind { name: "mediawiki", good: || good::WIKI.into(), joined }, data);
}

/// Archives.
pub fn tar(data: &[u8]) {
    hold(&Kind { name: "tar", good: good::tar, joined: good::archive }, data);
}

/// Documents of Word.
pub fn docx(data: &[u8]) {
    let good = || zipped::docx(good::WORD.as_bytes());
    hold(&Kind { name: "docx", good, joined: zipped::docx }, data);
}

/// Texts in the OpenDocument format.
pub fn odt(data: &[u8]) {
    let good = || zipped::odt(good::OPEN_TEXT.as_bytes());
    hold(&Kind { name: "odt", good, joined: zipped::odt }, data);
}

/// Books.
pub fn epub(data: &[u8]) {
    let good = || zipped::epub(good::BOOK.as_bytes());
    hold(&Kind { name: "epub", good, joined: zipped::epub }, data);
}

/// RTF.
pub fn rtf(data: &[u8]) {
    let good = || good::RTF.into();
    hold(&Kind { name: "rtf", good, joined: |bytes| [b"{\\rtf1\\ansi ", bytes, b"}"].concat() }, data);
}

/// The first bytes say what fields are wanted and how long a record may be, how large units are, whether and how the file is
/// compressed, what is done to it, and what is known of it; the rest is the file, its parts, or changes of a good one.
fn hold(kind: &Kind, mut data: &[u8]) {
    let [wanted, max, unit, packing, how, known] = take(&mut data);
    let content = match how % 4 {
        0 => data.to_vec(),
        1 => (kind.joined)(data),
        _ => good::changed((kind.good)(), data),
    };
    let hint = FormatHint {
        format: (known & 1 == 0).then(|| kind.name.parse().expect("a format")),
        delimiter: Some([b',', b';', b'\t', b'|'][usize::from(known >> 2 & 3)])
            .filter(|_| known & 2 != 0)
            .and_then(Delimiter::of),
        shared: false,
        memory: None,
    };
    let fields = fields(wanted, max);
    FOLDER.with(|folder| {
        let put = |name: &str, content: &[u8]| put(folder.path(), name, content, hint);
        let name = format!("a.{}", kind.name);
        let Some(source) = put(&name, &content) else { return };
        let whole = check(&source, u64::MAX, &fields);
        if source.compression != Compression::None {
            return;
        }
        let size = source.bytes;
        let places = places(&source, &content);
        let cut = with_places(&source, &places);
        for target in [1, u64::from(unit) + 1, size / 2] {
            assert_eq!(check(&source, target, &fields), whole, "units of {target}");
            assert_eq!(check(&cut, target, &fields), whole, "units of {target} at {places:?}");
        }
        companions(&source, whole.as_deref().unwrap_or_default());
        if packing >= 128 {
            return;
        }
        let (end, mut bytes) = pack(packing, &content);
        // Without a hint a packed file may be taken for another kind: its name counts otherwise.
        let name = format!("{name}.{end}");
        if let Some(packed) = put(&name, &bytes).filter(|packed| packed.format == source.format) {
            // A file is a change under its own name, and has another one here.
            if fields.op.is_none() {
                assert_eq!(check(&packed, 1, &fields), whole, "{name}");
            }
            good::overwritten(&mut bytes, data);
            if let Some(damaged) = put(&name, &bytes) {
                check(&damaged, 1, &fields);
            }
        }
    });
}

/// Where units of a file may begin: behind its records, wherever these are looked for in how many steps.
fn places(source: &Source, content: &[u8]) -> Vec<u64> {
    let follows_mark = boundaries(source.format).is_some_and(|found| found.follows_mark());
    let bom = if follows_mark && content.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let Some(all) = ends(source.format, &content[bom..], usize::MAX >> 1) else { return Vec::new() };
    for step in [1, 2, 7, 64] {
        assert_eq!(ends(source.format, &content[bom..], step).as_ref(), Some(&all), "in steps of {step}");
    }
    // None begins before the end of a header.
    let found = boundaries(source.format).filter(|found| found.has_header());
    let starts = [0].into_iter().chain(all.iter().copied());
    let blank = |(start, end): &(u64, &u64)| {
        found.as_ref().is_some_and(|found| found.is_blank(&content[bom..][*start as usize..**end as usize]))
    };
    let before = starts.zip(&all).take_while(blank).count();
    all[before..].iter().map(|end| end + bom as u64).collect()
}

/// What goes with every second document is these, and more.
fn companions(source: &Source, seen: &[Seen]) {
    let documents = seen.iter().filter(|seen| matches!(seen, Seen::Document { .. }));
    let removed: Vec<u64> = documents.step_by(2).map(|seen| seen.place().1).collect();
    let all = with_companions(source, &removed, None).expect("readable");
    assert!(all.is_sorted_by(|a, b| a < b) && removed.iter().all(|offset| all.contains(offset)), "{all:?}");
}
