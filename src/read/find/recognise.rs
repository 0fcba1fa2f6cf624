//! What a file is, by its content first and its name second.

use std::io;
use std::path::{Path, PathBuf};

use super::foreign::{Foreign, SUMMARY, WITH_DICTIONARY};
use crate::read::bytes::{InputFile, USUAL_ROOM, compression_of, first_window};
use crate::read::format::{Compression, Format, FormatHint};
use crate::read::formats;
use crate::read::head::{FileHead, FoundBy, says_compressed};
use crate::read::source::Source;
use crate::remote::{ObjectState, ObjectUrl};

/// How names of files end, in lower case, that have bytes even without a document.
const NEVER_EMPTY: [&str; 12] =
    ["parquet", "arrow", "arrows", "feather", "docx", "docm", "dotx", "odt", "ott", "epub", "pdf", "rtf"];

/// What a file is.
#[expect(
    clippy::large_enum_variant,
    reason = "a box of each would stay in the memory that decoders use, from file to file"
)]
#[derive(Debug)]
pub(super) enum Recognised {
    /// A file that may hold documents.
    Source {
        /// The file.
        source: Source,
        /// Whether it is of another format than named files are said to have, and was found in a folder.
        differs: bool,
    },
    /// A file that is not read, and what to do instead.
    Foreign(Foreign),
    /// A file without documents.
    Nothing,
}

impl Recognised {
    /// The same without the names of the file, which take memory.
    pub(super) fn without_names(self) -> Recognised {
        match self {
            Recognised::Source { source, differs } => {
                let source = Source { path: PathBuf::new(), shown: String::new(), ..source };
                Recognised::Source { source, differs }
            }
            other => other,
        }
    }
}

/// Finds out format and compression of the file at `path`, or of the object of that name.
pub(super) fn recognise(
    path: &Path,
    object: Option<ObjectState>,
    found: FoundBy,
    hint: FormatHint,
) -> io::Result<Recognised> {
    let mut file = InputFile::open(path, object.as_ref())?;
    let state = file.state()?;
    let compression = compression_of(&mut file)?;
    let mut source = Source {
        shown: shown(path),
        modified: state.modified,
        object,
        ..Source::new(path.to_path_buf(), Format::JsonLines, compression, state.bytes)
    };
    if source.compression == Compression::Zstd && begins_with_dictionary(&file)? {
        return Ok(Recognised::Foreign(WITH_DICTIONARY));
    }
    source.window = first_window(source.compression, &mut file)?;
    drop(file);
    let head = FileHead::read(&source, found, hint)?;
    check_length(&head, path)?;
    let format = formats::recognise(&head);
    if let Some(foreign) = formats::foreign(&head, format) {
        return Ok(Recognised::Foreign(foreign));
    }
    let Some(format) = format else { return Ok(Recognised::Nothing) };
    source.format = format;
    let codec = formats::codec(format);
    check_layout(codec.memory_of_layout(&source)?, hint.memory)?;
    if codec.is_summary(&source)? {
        return Ok(Recognised::Foreign(SUMMARY));
    }
    // An object is not read to its end to find out where it may be cut.
    if source.compression == Compression::None && (!source.is_remote() || codec.rereader().is_some()) {
        source.cuts = codec.cuts(&source)?;
    }
    source.object = source.object.map(|object| object.with_room(USUAL_ROOM));
    Ok(Recognised::Source { source, differs: formats::differs_from_named(&head, format) })
}

/// Whether a file begins with what its frames of Zstandard are packed with.
fn begins_with_dictionary(file: &InputFile) -> io::Result<bool> {
    let mut begin = [0; WITH_DICTIONARY.magic().len()];
    let read = file.read_at(&mut begin, 0)?;
    Ok(begin[..read] == *WITH_DICTIONARY.magic())
}

/// Refuses a file without a byte whose name says what none can be: whoever wrote or copied it has not ended.
fn check_length(head: &FileHead, path: &Path) -> io::Result<()> {
    let is_called_so = || head.extension().is_some_and(|end| NEVER_EMPTY.contains(&end));
    let is_never_empty = || says_compressed(path) || head.said().is_none() && is_called_so();
    if !head.is_empty() || head.is_compressed() || !is_never_empty() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty, which none of its kind is"))
}

/// Refuses a table of which it takes more than half of the memory to know where its rows stand.
fn check_layout(bytes: u64, memory: Option<u64>) -> io::Result<()> {
    let Some(memory) = memory.filter(|memory| bytes > memory / 2) else { return Ok(()) };
    let what = format!(
        "to know where its rows stand takes {} MiB, and half of the memory allowed is {} MiB: allow {} MiB with --memory, or \
         write it with fewer columns or row groups",
        bytes.div_ceil(1 << 20),
        memory >> 21,
        (2 * bytes).div_ceil(1 << 20)
    );
    Err(io::Error::new(io::ErrorKind::OutOfMemory, what))
}

/// How a path is shown to people: what lets others in is no part of that.
pub(super) fn shown(path: &Path) -> String {
    ObjectUrl::of(path).map_or_else(|| path.display().to_string(), |url| url.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::format::Delimiter;
    use crate::read::head::HEAD_BYTES;

    fn format(name: &str, content: &[u8], found: FoundBy) -> Option<(Format, Compression)> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        match recognise(&path, None, found, FormatHint::default()).expect("readable") {
            Recognised::Source { source, .. } => Some((source.format, source.compression)),
            Recognised::Foreign(_) | Recognised::Nothing => None,
        }
    }

    fn plain(name: &str, content: &[u8], found: FoundBy) -> Option<Format> {
        let (format, compression) = format(name, content, found)?;
        assert_eq!(compression, Compression::None);
        Some(format)
    }

    #[test]
    fn names_count_where_content_does_not_speak() {
        use Format::{JsonLines, Text};
        for found in [FoundBy::Named, FoundBy::Walked] {
            assert_eq!(plain("a.jsonl", b"hello", found), Some(JsonLines));
            assert_eq!(plain("a.JSON", b"", found), Some(JsonLines));
            assert_eq!(plain("a.jsonl.gz", b"{}", found), Some(JsonLines));
            assert_eq!(plain("a.txt", b"hello", found), Some(Text));
            assert_eq!(plain("a.txt", b"", found), Some(Text));
            assert_eq!(plain("a.md", b"{curly} words", found), Some(Text));
            assert_eq!(plain("a.txt", b"\xef\xbb\xbf\n{\"a\": 1}\r\n{}", found), Some(JsonLines));
            assert_eq!(plain("a.txt", b"{\"a\": 1", found), Some(Text));
            assert_eq!(plain("data", b" \n{\"a\": 1}", found), Some(JsonLines));
        }
        assert_eq!(plain("data", b"hello", FoundBy::Named), Some(Text));
        assert_eq!(plain("data", b"hello", FoundBy::Walked), None);
        assert_eq!(plain("data", b"Obj\x01\0", FoundBy::Named), None);
        assert_eq!(plain("data", b"\xff\xfeh", FoundBy::Named), None);
        assert_eq!(plain("data", b"", FoundBy::Named), Some(JsonLines));
        assert_eq!(plain("data", b"", FoundBy::Walked), None);
    }

    #[test]
    fn what_is_never_empty_cannot_be_read_if_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        for found in [FoundBy::Named, FoundBy::Walked] {
            let compressed = Compression::ALL.map(|(_, end)| format!("a.jsonl{end}"));
            let compressed = compressed.into_iter().filter(|name| name != "a.jsonl");
            for name in NEVER_EMPTY.map(|end| format!("a.{end}")).into_iter().chain(compressed) {
                let path = folder.path().join(&name);
                std::fs::write(&path, "").expect("written");
                let error = recognise(&path, None, found, FormatHint::default()).expect_err(&name);
                assert!(error.to_string().contains("empty"), "{name}: {error}");
            }
        }
    }

    #[test]
    fn a_long_first_line_is_read_to_its_end() {
        let line = format!("{{\"text\": \"{}\"}}", "x".repeat(100_000));
        assert_eq!(plain("a.txt", line.as_bytes(), FoundBy::Walked), Some(Format::JsonLines));
        assert_eq!(plain("a.txt", &line.as_bytes()[..90_000], FoundBy::Walked), Some(Format::Text));
        assert_eq!(plain("data", "\u{e9}".repeat(HEAD_BYTES).as_bytes(), FoundBy::Named), Some(Format::Text));
        let odd = format!("x{}", "\u{e9}".repeat(HEAD_BYTES));
        assert_eq!(plain("data", odd.as_bytes(), FoundBy::Named), Some(Format::Text));
    }

    #[test]
    fn records_between_tags_are_known_by_their_beginning() {
        for name in ["a", "a.txt", "a.xml", "a.jsonl"] {
            let found = |content: &str| plain(name, content.as_bytes(), FoundBy::Walked);
            for trec in [
                "<DOC>",
                "\u{feff}\n<DOC id=x>",
                "<!-- c --><doc id=\"1\">",
                "<?xml version='1.0'?><DOC>",
                "<docs>\n<DOC>",
                "\u{feff}<?xml version='1.0'?>\n<!DOCTYPE a [<!ELEMENT a ANY>]>\n<a b='c'>\n  <DOC>",
                "<doc>\n<docno>1</docno>",
                "<docs>\n<!-- c -->\n<doc>\n<DOCNO>1",
            ] {
                assert_eq!(found(trec), Some(Format::Trec), "{name}: {trec}");
            }
            let dump = "<?xml version=\"1.0\"?>\n<!-- c -->\n<mediawiki xmlns=\"x\">";
            for wiki in ["<mediawiki>", "<mediawiki\n>\n <page>", dump, "<page>\n<title>a</title><revision>"]
            {
                assert_eq!(found(wiki), Some(Format::MediaWiki), "{name}: {wiki}");
            }
        }
        for other in [
            "<DOCS>",
            "<doc>",
            "text <DOC>",
            "<page><title>a</title></page>",
            "<?xml version='1.0'?><a/>",
            "<add>\n<doc>\n<field name='id'>1</field>",
            "<a><b>\n<DOC>",
            "<docs/>\n<DOC>",
            "<mediawiki> is the root element of a dump",
            "<mediawikis>\n<a>",
        ] {
            assert_eq!(plain("a", other.as_bytes(), FoundBy::Walked), None, "{other}");
        }
    }

    #[test]
    fn what_begins_at_length_is_known_by_what_follows() {
        let seals = "ARC-Seal: i=1; a=rsa-sha256; t=12345;\r\n\td=b.c; s=s\r\n".repeat(HEAD_BYTES / 40);
        let mail = format!("{seals}From: a@b\r\nSubject: s\r\nDate: d\r\nTo: c@d\r\n\r\ntext\r\n");
        let remark = format!("<!--\n{}\n-->\n", "c ".repeat(HEAD_BYTES));
        let blanks = " \n".repeat(HEAD_BYTES);
        let names: Vec<String> = (0..HEAD_BYTES / 4).map(|at| format!("c{at}")).collect();
        let table = format!("{},text\n{}a b\n", names.join(","), "1,".repeat(names.len()));
        let csv = Format::Csv { delimiter: Delimiter::COMMA };
        for (content, format) in [
            (mail, Format::Message),
            (format!("{remark}<html><p>a"), Format::Html),
            (format!("{blanks}<!DOCTYPE html>\n<p>a"), Format::Html),
            (format!("{blanks}{{\"text\": \"a\"}}\n"), Format::JsonLines),
            (table, csv),
        ] {
            for found in [FoundBy::Named, FoundBy::Walked] {
                assert_eq!(plain("a", content.as_bytes(), found), Some(format), "{found:?}");
            }
        }
    }

    #[test]
    fn records_of_json_between_other_marks_are_none() {
        for other in ["[{\"a\": 1}]\n[{\"a\": 2}]\n", "\x1e{\"a\": 1}\n\x1e{\"a\": 2}\n"] {
            assert_eq!(plain("a", other.as_bytes(), FoundBy::Named), None, "{other}");
        }
        for text in [
            "[{1}] is a note\n[{2}] another one",
            "[\"a\"] [\"b\"] stand in brackets",
            "[\"a\"] [1] some\n[2] more\n",
        ] {
            assert_eq!(plain("a", text.as_bytes(), FoundBy::Named), Some(Format::Text), "{text}");
        }
    }

    #[test]
    fn a_mail_is_known_by_its_headers() {
        let found = |headers: &str| plain("a", format!("{headers}\n\ntext\n").as_bytes(), FoundBy::Walked);
        let media = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x";
        for mail in [
            format!("From: a@b\nMessage-ID: <1@b>\n{media}"),
            format!("From: a@b\nDate: Tue, 5 Jan 2021 10:00:00 +0000\n{media}"),
            format!("{media}\nReceived: from a\n by b"),
            "Subject: s\nDate: d\nTo: a@b".to_owned(),
        ] {
            assert_eq!(found(&mail), Some(Format::Message), "{mail}");
        }
        for other in [
            // As old servers answer, without the line that says how it went.
            format!("Date: d\nServer: CERN/3.0\n{media}"),
            format!("HTTP/1.0 200 OK\nFrom: a\n{media}"),
            format!("Title: t\nSubject: s\n{media}"),
            "From: a\nContent-Type: text/plain".to_owned(),
            format!("From: a\na text\n{media}"),
        ] {
            assert_eq!(found(&other), None, "{other}");
        }
    }

    #[test]
    fn what_is_called_a_text_is_one_unless_there_is_no_doubt() {
        let tabs = Format::Csv { delimiter: Delimiter::TAB };
        let mail = "From: a@b\nSubject: s\nDate: d\n";
        for found in [FoundBy::Named, FoundBy::Walked] {
            for name in ["a.txt", "a.md", "a.text"] {
                for (content, format) in [
                    ("id\ttext\n1\ta b\n".to_owned(), tabs),
                    ("id\tbody\n1\ta b\n".to_owned(), Format::Text),
                    ("id|text\n---|---\n1|a b\n".to_owned(), Format::Text),
                    (format!("{mail}Message-ID: <1@b>\n\ntext\n"), Format::Message),
                    (format!("{mail}MIME-Version: 1.0\n\ntext\n"), Format::Text),
                    (format!("{mail}\ntext\n"), Format::Text),
                ] {
                    assert_eq!(plain(name, content.as_bytes(), found), Some(format), "{name}: {content}");
                }
            }
            let message = "From: a@b\n\ntext\n";
            let counted = format!("{}\n{message}<?xml version=\"1.0\"?>\n<plist/>\n", message.len());
            for name in ["a", "a.emlx"] {
                assert_eq!(plain(name, counted.as_bytes(), found), Some(Format::Message), "{name}");
            }
        }
    }

    #[test]
    fn mails_may_follow_a_mark_and_blank_lines_or_end_lines_in_another_way() {
        let mail = "From: a@b\nSubject: s\nDate: d\n\ntext\n";
        let mbox = format!("From a@b Mon Jan  5 10:00:00 2021\n{mail}");
        for found in [FoundBy::Named, FoundBy::Walked] {
            for name in ["a", "a.mbox", "a.eml"] {
                for end in ["\n", "\r\n", "\r"] {
                    for mark in ["", "\u{feff}"] {
                        let bytes = format!("{mark}{mail}").replace('\n', end);
                        assert_eq!(plain(name, bytes.as_bytes(), found), Some(Format::Message), "{bytes:?}");
                    }
                }
                for begin in ["", "\u{feff}", "\n", "\r\n\r\n", "\u{feff}\n"] {
                    let bytes = format!("{begin}{mbox}");
                    assert_eq!(plain(name, bytes.as_bytes(), found), Some(Format::Mbox), "{bytes:?}");
                }
            }
        }
    }

    #[test]
    fn a_file_of_a_maildir_is_a_mail() {
        let folder = tempfile::tempdir().expect("a folder");
        let found = |name: &str, content: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("created");
            std::fs::write(&path, content).expect("written");
            match recognise(&path, None, FoundBy::Walked, FormatHint::default()).expect("readable") {
                Recognised::Source { source, .. } => Some(source.format),
                Recognised::Foreign(_) | Recognised::Nothing => None,
            }
        };
        let mail = "X-Note: one\nSubject: s\n\ntext\n";
        assert_eq!((found("m/cur/1:2,S", mail), found("m/new/2", mail)), (None, None));
        std::fs::create_dir(folder.path().join("m/tmp")).expect("created");
        for name in ["m/cur/1:2,S", "m/new/2", "m/cur/3.txt"] {
            assert_eq!(found(name, mail), Some(Format::Message), "{name}");
        }
        assert_eq!((found("m/3", mail), found("m/cur/x/4", mail)), (None, None));
        for other in ["", "\ntext", "a text\nSubject: s\n\n"] {
            assert_eq!(found("m/new/5", other), None, "{other}");
        }
    }

    #[test]
    fn a_name_does_not_hide_a_format_that_is_not_read() {
        for name in ["a.txt", "a.jsonl", "a.avro"] {
            assert_eq!(plain(name, b"Obj\x01\x15\0", FoundBy::Walked), None);
        }
        assert_eq!(plain("a.txt", b"PAR1 is how Parquet begins", FoundBy::Walked), Some(Format::Text));
        let zst = zstd::encode_all(&b"BZh91AY&SY\xff"[..], 1).expect("compressed");
        assert_eq!(format("a.txt.zst", &zst, FoundBy::Named), None);
    }

    #[test]
    fn markup_is_no_text_and_words_about_it_are() {
        let named = |name: &str, content: &str| plain(name, content.as_bytes(), FoundBy::Named);
        for xml in [
            "<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><text>a</text></TEI>",
            "<!-- c -->\n<a:b xmlns:a='c'>",
            "<!DOCTYPE article SYSTEM 'a.dtd'>\n<article>a</article>",
            "<!doctype lewis>\n<REUTERS>",
        ] {
            assert_eq!((named("a", xml), named("a.xml", xml)), (None, None), "{xml}");
        }
        assert_eq!(named("a.xml", "<!-- c -->\n<rows>"), None);
        for text in [
            "<rows> are an element",
            "a <b xmlns='c'>",
            "<- see how xmlns is used",
            "<b xmlns hello>",
            "<< a text, of xmlns= things",
            "filedesc: what a file is about",
            "BZh9 is how bzip2 begins",
        ] {
            assert_eq!(named("a", text), Some(Format::Text), "{text}");
        }
        assert_eq!(named("a.txt", "<!DOCTYPE a> and more"), Some(Format::Text));
    }

    #[test]
    fn what_cannot_be_unpacked_at_all_is_counted_if_it_is_called_a_format() {
        let bzip2 = b"BZh91AY&SY\x01\x02\x03\x04 and nothing that follows from it";
        let [lines, text] =
            [Format::JsonLines, Format::Text].map(|format| Some((format, Compression::Bzip2)));
        for (name, expected) in
            [("a.mbox.bz2", lines), ("a.txt.bz2", text), ("a.png.bz2", None), ("a.bz2", None)]
        {
            assert_eq!(format(name, bzip2, FoundBy::Walked), expected, "{name}");
        }
    }

    #[test]
    fn compression_is_seen_through() {
        let zst = zstd::encode_all(&b"{\"a\": 1}\n"[..], 1).expect("compressed");
        let expected = Some((Format::JsonLines, Compression::Zstd));
        assert_eq!(format("data", &zst, FoundBy::Walked), expected);
        assert_eq!(format("a.txt.zst", &zst, FoundBy::Walked), expected);
        assert_eq!(format("a.jsonl.zst", &zst[..5], FoundBy::Walked), expected);
        assert_eq!(
            format("a.jsonl.gz", b"\x1f\x8b", FoundBy::Walked),
            Some((Format::JsonLines, Compression::Gzip))
        );
        assert_eq!(format("data.gz", b"\x1f\x8b", FoundBy::Walked), None);
    }
}
