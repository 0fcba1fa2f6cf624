//! zip archives: the same documents as in a folder, kept members byte for byte, and what damage and lies cost.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use alike::document::Position;
use alike::error::Error;
use alike::read::{
    Extent, Fields, FormatHint, Input, Record, Refusal, Sink, UnitReader, discover_as, reread, units,
};

use crate::support::job::done;
use crate::support::loads::whole;
use crate::support::members::documents;
use crate::support::output::{Output, jsonl, label};
use crate::support::program::Dir;
use crate::support::texts::gzip;
use crate::support::zips::{Sizes, Zipped, end, large_end, parts, zipped};

const SIZES: [Sizes; 3] = [Sizes::Before, Sizes::Behind, Sizes::Large];

/// All documents as members, stored or deflated, each saying in another way how long it is.
fn members() -> Vec<Zipped> {
    let made = |(at, (name, content)): (usize, (String, String))| {
        let member = match at % 2 {
            0 => Zipped::new(name, content),
            _ => Zipped::stored(name, content),
        };
        member.sized(SIZES[at % 3])
    };
    documents().into_iter().enumerate().map(made).collect()
}

/// What has no content: a folder, a link, a file of nothing.
fn blanks() -> Vec<Zipped> {
    let link = Zipped { attributes: (3, 0o12_0777 << 16), ..Zipped::stored("link", "a/00000.html") };
    vec![Zipped::stored("a/", ""), link, Zipped::new("empty.txt", "")]
}

/// What is no text.
fn others() -> [Zipped; 2] {
    [Zipped::new("image.png", b"\x89PNG\r\n\x1a\n\0\0"), Zipped::stored("e/.hidden.txt", "a text")]
}

/// Members with others around them.
fn among_others(members: &[Zipped]) -> Vec<Zipped> {
    let (before, behind) = members.split_at(members.len() / 2);
    let [image, hidden] = others();
    [blanks(), vec![image], before.to_vec(), vec![hidden], behind.to_vec(), blanks()].concat()
}

/// Which documents go, and for which, by their names.
fn decided(output: &Output) -> BTreeSet<(String, String)> {
    let name = |id: &serde_json::Value| {
        let id = label(id);
        // In a collection the archive stands before it.
        id.strip_prefix("a.zip/").unwrap_or(&id).to_owned()
    };
    output.duplicates.iter().map(|row| (name(&row["id"]), name(&row["representative"]))).collect()
}

/// The same of these documents in JSON Lines.
fn expected(dir: &Dir) -> BTreeSet<(String, String)> {
    let texts = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).unwrap();
    let texts: Vec<String> =
        jsonl(texts.as_bytes()).iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect();
    let row = |(name, _): (String, String)| {
        let number: usize = name.rsplit('/').next().unwrap()[..5].parse().unwrap();
        serde_json::json!({"id": name, "text": texts[number]}).to_string()
    };
    dir.write("a.jsonl", documents().into_iter().map(row).collect::<Vec<_>>().join("\n"));
    decided(&dir.output("a.jsonl", "lines"))
}

/// The members whose names are not among some.
fn without(members: &[Zipped], gone: &BTreeSet<String>) -> Vec<Zipped> {
    let stays = members.iter().filter(|member| !gone.contains(str::from_utf8(&member.name).unwrap()));
    stays.cloned().collect()
}

#[test]
fn an_archive_is_what_its_files_are() {
    let dir = Dir::new();
    let members = members();
    let expected = expected(&dir);
    assert!(expected.len() > 80);
    let file = zipped(&among_others(&members));
    let gone: BTreeSet<String> = expected.iter().map(|(gone, _)| gone.clone()).collect();
    let kept = zipped(&without(&among_others(&members), &gone));
    dir.write("a.zip", &file);
    dir.write("b.txt", &file);
    dir.write("in/c", &file);
    for (at, name) in ["a.zip", "b.txt", "in", "*.zip"].into_iter().enumerate() {
        for workers in [1, 2, 3] {
            let found = dir.output(&format!("{name} -w {workers}"), &format!("out{at}-{workers}"));
            assert_eq!(decided(&found), expected, "{name}, {workers} workers");
            let mut reasons: Vec<&str> =
                found.rejected.iter().map(|row| row["reason"].as_str().unwrap()).collect();
            reasons.sort_unstable();
            assert_eq!(reasons, ["no text: PNG", "no text: a hidden file"], "{name}");
            assert!(*found.kept.values().next().unwrap() == kept, "{name}, {workers} workers");
        }
    }
    let ran = dir.alike("dedup - --out piped -w 2", Some(&file)).ok().says("member 4: no text");
    assert!(ran.stderr.contains(&format!("removed {} of", expected.len())), "{}", ran.stderr);
    assert!(fs::read(dir.join("piped/kept/stdin.zip")).unwrap() == kept);
    let halves = dir.output("a.zip -w 2 --write-removed", "halves");
    let removed = members.iter().filter(|member| gone.contains(str::from_utf8(&member.name).unwrap()));
    assert!(halves.kept["a.zip"] == kept);
    assert!(halves.removed["a.zip"] == zipped(&removed.cloned().collect::<Vec<_>>()));
    // What was kept loses nothing more, and is the same file.
    dir.write("again.zip", &kept);
    assert!(dir.output("again.zip", "again").kept["again.zip"] == kept);
}

#[test]
fn processes_and_collections_give_the_same() {
    let dir = Dir::new();
    let members = members();
    dir.write("a.zip", zipped(&among_others(&members)));
    let expected = dir.output("a.zip", "one");
    let line = format!("dedup {} --out two", dir.join("a.zip").display());
    done(&dir, (2, 2), &line);
    assert!(Output::read(&dir.join("two")).kept == expected.kept);
    dir.alike("load c a.zip -w 2 --clustering guarantee", None).ok();
    whole(&dir, "c");
    dir.alike("export c --out exported", None).ok();
    let found = Output::read(&dir.join("exported"));
    assert_eq!(decided(&found), decided(&expected));
    // Members without content stay; of the others a collection has the documents alone.
    let gone: BTreeSet<String> = decided(&expected).into_iter().map(|(gone, _)| gone).collect();
    let stays = [blanks(), without(&members, &gone), blanks()].concat();
    assert!(found.kept["a.zip"] == zipped(&stays));
    let said = dir.alike("load c a.zip -w 2", None).ok();
    assert!(said.stderr.contains("0 added, 0 replaced"), "{}", said.stderr);
    dir.alike("load c a.zip --epoch 100kB -w 1", None).ok();
    whole(&dir, "c");
    dir.alike("load stored a.zip --store-text", None).code(3).says("an archive can be unpacked");
}

#[test]
fn outputs_answer_by_the_names_of_members() {
    let dir = Dir::new();
    let page = "<!doctype html><title>A page</title><p>some words that are in both of them, and more";
    let text = "A page\nsome words that are in both of them, and more";
    dir.write("a.zip", zipped(&[Zipped::new("x/page", page), Zipped::stored("./y.txt", text)]));
    let found = dir.output("a.zip --threshold 0.5", "out");
    assert_eq!(found.removed_ids(), ["./y.txt"]);
    let said = dir.alike("explain out x/page ./y.txt", None).ok().stdout;
    assert!(said.contains("\"file\":\"a.zip\",\"line\":1") && said.contains("\"line\":2"), "{said}");
    dir.alike("show out 1", None).ok();
    dir.alike("report out --out page.html", None).ok();
    assert!(fs::read_to_string(dir.join("page.html")).unwrap().contains("./y.txt"));
    let rows = dir.output("a.zip --threshold 0.5 --to jsonl", "rows");
    let row = &jsonl(&rows.kept("a.jsonl"))[0];
    assert_eq!((&row["path"], &row["title"]), (&"x/page".into(), &"A page".into()));
    let last = dir.output("a.zip --threshold 0.5 --keep field:path:max", "last");
    assert_eq!(last.removed_ids(), ["./y.txt"]);
    let first = dir.output("a.zip --threshold 0.5 --keep field:path:min --id-field path", "first");
    assert_eq!(first.removed_ids(), ["x/page"]);
    dir.dedup("a.zip --shard-size 1M --out x").code(3).says("--to jsonl");
    dir.alike("load c a.zip", None).ok();
    let said = dir.alike("documents c --json", None).ok().stdout;
    assert!(said.contains("a.zip/x/page") && said.contains("a.zip/./y.txt"), "{said}");
}

/// Numbers of members, and names with texts, or kinds of refusals.
#[derive(Debug, Default, PartialEq)]
struct Collected(Vec<(u64, String, String)>);

impl Sink for Collected {
    fn document(&mut self, record: &Record<'_>) {
        let name = record.id.as_deref().unwrap_or_default().to_owned();
        self.0.push((record.position.offset(), name, record.text.to_owned()));
    }

    fn refuse(&mut self, position: Position, _: u32, refusal: Refusal) {
        self.0.push((position.offset(), String::new(), refusal.kind().to_owned()));
    }
}

/// What is read of an archive in units of about `target` bytes, or why it is refused; documents are the same when they are read
/// again.
fn read(file: &[u8], target: u64, max_record_bytes: usize) -> Result<Vec<(u64, String, String)>, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    fs::write(&path, file).unwrap();
    // As several processes find it: the archive alone.
    let hint = FormatHint::default().shared_by(true);
    let source = discover_as(&[path.to_str().unwrap().to_owned()], folder.path(), hint)?.sources.remove(0);
    let fields = Arc::new(Fields { max_record_bytes, ..Fields::of(&Input::default()).unwrap() });
    let mut found = Collected::default();
    for unit in units(std::slice::from_ref(&source), Extent::ALL, target) {
        let mut reader = UnitReader::open(0, &source, &unit, Arc::clone(&fields));
        while reader.advance(&mut found).unwrap() {}
    }
    let documents: Vec<_> = found.0.iter().filter(|(_, name, _)| !name.is_empty()).collect();
    let offsets: Vec<u64> = documents.iter().map(|(offset, ..)| *offset).collect();
    reread(&source, 0, &offsets, &fields, &mut |at, text, _| {
        assert_eq!(text, documents[at].2);
        Ok(())
    })
    .unwrap();
    Ok(found.0)
}

/// The same of an archive that is read.
fn found(file: &[u8], target: u64) -> Vec<(u64, String, String)> {
    read(file, target, MOST).unwrap()
}

/// Why an archive is refused.
fn refusal(file: &[u8]) -> String {
    read(file, u64::MAX, MOST).unwrap_err().to_string()
}

const MOST: usize = 1 << 20;

/// A small archive of every form.
fn small() -> Vec<Zipped> {
    let mut members: Vec<Zipped> = Vec::new();
    for sizes in SIZES {
        members.push(Zipped::new(format!("{sizes:?}.txt"), format!("{sizes:?} ").repeat(30)).sized(sizes));
        members
            .push(Zipped::stored(format!("{sizes:?}-stored.txt"), format!("{sizes:?}, stored")).sized(sizes));
    }
    members[1].comment = b"a comment on it".to_vec();
    [members, vec![Zipped::stored("a/", ""), Zipped::new("last.md", "the last one")]].concat()
}

#[test]
fn an_archive_that_is_cut_off_is_refused() {
    let file = zipped(&small());
    assert_eq!(found(&file, u64::MAX).len(), 7);
    for length in 0..file.len() {
        assert!(read(&file[..length], u64::MAX, MOST).is_err(), "{length}");
    }
    for more in ["x", "\n", "PK\x05\x06"] {
        let longer = [&file[..], more.as_bytes()].concat();
        assert!(refusal(&longer).contains("something follows it, or it was cut off"));
    }
    assert!(refusal(&file[1..]).contains("bytes of it are missing"));
}

#[test]
fn a_damaged_byte_costs_a_member_or_the_archive() {
    let file = zipped(&small());
    let whole = found(&file, u64::MAX);
    let (mut read_still, mut lost) = (0, 0);
    for at in 0..file.len() {
        for bit in [1, 0x80] {
            let mut changed = file.clone();
            changed[at] ^= bit;
            let Ok(rows) = read(&changed, 1, MOST) else { continue };
            // No text is another one, whatever was changed.
            let good = rows.iter().filter(|row| whole.contains(row)).count();
            let documents = rows.iter().filter(|(_, name, _)| !name.is_empty()).count();
            assert!(good == documents && good + 2 >= whole.len(), "byte {at}: {rows:?}");
            (read_still, lost) = (read_still + good, lost + whole.len() - good);
        }
    }
    assert!(read_still > 3 * lost && lost > file.len() / 4, "{read_still} {lost} {}", file.len());
}

#[test]
fn what_cannot_be_read_is_refused_where_it_stands() {
    let good = |name: &str| Zipped::new(name, format!("the text of {name}"));
    let text = || Zipped::new("b.txt", "a text that is packed, that is packed");
    let by = |method: u16| Zipped { method, ..text() };
    let rows: Vec<(Zipped, &str)> = vec![
        (text(), ""),
        (by(12), "not unpacked"),
        (by(9), "not unpacked"),
        (by(77), "not unpacked"),
        (by(0), "malformed"),
        (Zipped { flags: 1, ..text() }, "not unpacked"),
        (by(99), "not unpacked"),
        (Zipped { sum: 7, ..text() }, "malformed"),
        (Zipped { unpacked: 36, ..text() }, "malformed"),
        (Zipped { unpacked: 38, ..text() }, "malformed"),
        (Zipped { unpacked: 1 << 31, ..text() }, "malformed"),
        (Zipped { packed: [text().packed, vec![0]].concat(), ..text() }, "malformed"),
        (Zipped { packed: text().packed[1..].to_vec(), ..text() }, "malformed"),
        (Zipped { packed: text().packed[..9].to_vec(), ..text() }, "malformed"),
        (Zipped { packed: vec![], method: 0, ..text() }, "malformed"),
        (Zipped::new("a.jsonl", "{\"text\": \"a\"}\n"), "not unpacked"),
        (Zipped::new("row.txt", "{\"text\": \"one line is a text\"}\n"), ""),
        (Zipped::new("rows.txt", "{\"text\": \"a\"}\n{\"text\": \"b\"}\n"), "not unpacked"),
        (Zipped::stored("a.zip", zipped(&small())), "not unpacked"),
        (Zipped::new("a.gz", gzip(b"a text", 100)), "not unpacked"),
        (Zipped::new("a.png", b"\x89PNG\r\n\x1a\n\0"), "not a text"),
        (Zipped::new("a.jar", zipped(&small())), "not a text"),
        (Zipped::new("data.txt", b"\xff\xfe\xfd text"), "not UTF-8"),
        (Zipped::new("../../up.txt", "only a name"), ""),
        (Zipped::new("/etc/passwd.txt", "only a name, too"), ""),
        (Zipped::new("mark.txt", b"\xef\xbb\xbfa text behind a mark"), ""),
        (Zipped { flags: 0, ..Zipped::new(b"caf\x82.txt", "a name of DOS") }, ""),
        (Zipped::new("", "a text without a name"), ""),
    ];
    for (at, (part, kind)) in rows.into_iter().enumerate() {
        for sizes in SIZES {
            let part = part.clone().sized(sizes);
            for order in [
                [good("first.txt"), part.clone(), good("last.txt")],
                [part.clone(), good("first.txt"), good("last.txt")],
            ] {
                let rows = found(&zipped(&order), u64::MAX);
                assert_eq!(found(&zipped(&order), 1), rows, "{at}");
                let kinds: Vec<&str> =
                    rows.iter().filter(|(_, name, _)| name.is_empty()).map(|(.., kind)| &**kind).collect();
                match kind {
                    "" if part.name.is_empty() => assert_eq!(rows.len(), 3, "{at}"),
                    "" => assert_eq!((kinds.len(), rows.len()), (0, 3), "{at}: {rows:?}"),
                    kind => assert_eq!((kinds, rows.len()), (vec![kind], 3), "{at}"),
                }
            }
        }
    }
}

#[test]
fn names_are_as_they_were_written() {
    let plain = |name: &[u8]| Zipped { flags: 0, ..Zipped::new(name, "a text") };
    let names =
        [plain(b"caf\x82.txt"), plain("caf\u{e9}.txt".as_bytes()), Zipped::new("caf\u{e9}.txt", "a text")];
    let rows = found(&zipped(&names), 1);
    assert!(rows.iter().all(|(_, name, _)| name == "caf\u{e9}.txt") && rows.len() == 3, "{rows:?}");
}

/// An archive whose directory says of its members what `change` makes of it.
fn lying(members: &[Zipped], change: impl FnOnce(&mut Vec<(Zipped, u64)>)) -> Vec<u8> {
    let (file, _) = parts(members);
    let mut at = 0;
    let mut entries: Vec<(Zipped, u64)> = Vec::new();
    for member in members {
        entries.push((member.clone(), at));
        at += member.bytes().len() as u64;
    }
    change(&mut entries);
    let directory: Vec<u8> = entries.iter().flat_map(|(member, at)| member.entry(*at)).collect();
    let end = end(entries.len(), directory.len(), file.len(), b"");
    [file, directory, end].concat()
}

/// How many are documents, and how many are malformed.
fn counts(file: &[u8]) -> (usize, usize) {
    let rows = found(file, u64::MAX);
    let bad = rows.iter().filter(|(.., kind)| kind == "malformed").count();
    (rows.len() - bad, bad)
}

#[test]
fn a_directory_that_lies_costs_what_it_lies_about() {
    let members: Vec<Zipped> =
        (0..4).map(|at| Zipped::stored(format!("{at}.txt"), format!("text {at}"))).collect();
    assert_eq!(counts(&lying(&members, |_| {})), (4, 0));
    // In another order, the documents are in that of the directory.
    let turned = found(&lying(&members, |entries| entries.reverse()), 1);
    assert_eq!(
        turned.iter().map(|(.., text)| &**text).collect::<Vec<_>>(),
        ["text 3", "text 2", "text 1", "text 0"]
    );
    assert_eq!(counts(&lying(&members, |entries| entries[1].0.name = b"x.txt".to_vec())), (3, 1));
    assert_eq!(counts(&lying(&members, |entries| entries[1].0.sum ^= 1)), (3, 1));
    assert_eq!(counts(&lying(&members, |entries| entries[1].0.method = 8)), (3, 1));
    assert_eq!(counts(&lying(&members, |entries| entries[1].0.packed.push(0))), (3, 1));
    // Two members in one place: neither is read, and so is none that goes on into the next one.
    assert_eq!(counts(&lying(&members, |entries| entries.push(entries[0].clone()))), (3, 2));
    assert_eq!(counts(&lying(&members, |entries| entries[2].1 = 3)), (2, 2));
    assert_eq!(counts(&lying(&members, |entries| entries[2].1 = u64::from(u32::MAX) - 1)), (3, 1));
    // Members that are left out are no members.
    assert_eq!(counts(&lying(&members, |entries| drop(entries.remove(1)))), (3, 0));
    // What goes behind such members goes all the same.
    let same = [("0.txt", "text 0"), ("1.txt", "text 1"), ("2.txt", "text 1")];
    let same = same.map(|(name, text)| Zipped::stored(name, text));
    let dir = Dir::new();
    dir.write("a.zip", lying(&same, |entries| entries.insert(1, entries[0].clone())));
    let kept = dir.output("a.zip --method exact --max-rejected 90%", "out");
    assert_eq!(kept.removed_ids(), ["2.txt"]);
    assert!(found(&kept.kept["a.zip"], 1) == [(0, "1.txt".to_owned(), "text 1".to_owned())]);
    let (file, directory) = parts(&members);
    let ended = |members: usize, length: usize, at: usize| {
        [&file[..], &directory, &end(members, length, at, b"")].concat()
    };
    let (length, at) = (directory.len(), file.len());
    assert_eq!(counts(&ended(4, length, at)), (4, 0));
    assert!(refusal(&ended(3, length, at)).contains("a directory of 4 members, of which its end says 3"));
    assert!(refusal(&ended(5, length, at)).contains("of which its end says 5"));
    assert!(refusal(&ended(4, length - 1, at)).contains("its directory is damaged at byte"));
    assert!(refusal(&ended(4, length, at + 1)).contains("bytes of it are missing"));
    assert!(refusal(&ended(60_000, length, at)).contains("for 60000 members"));
    assert!(refusal(&ended(4, length * 99, at)).contains("longer than the file"));
    let mut parted = ended(4, length, at);
    let place = parted.len() - 18;
    parted[place] = 1;
    assert!(refusal(&parted).contains("join its parts"));
}

#[test]
fn large_archives_and_those_behind_something_are_read() {
    let members = small();
    let (file, directory) = parts(&members);
    let end = large_end(members.len() as u64, directory.len() as u64, file.len() as u64, b"large");
    let large = [&file[..], &directory, &end].concat();
    let whole = found(&zipped(&members), 1);
    assert_eq!(found(&large, 1), whole);
    for length in 0..large.len() {
        assert!(read(&large[..length], u64::MAX, MOST).is_err(), "{length}");
    }
    // A program before it that unpacks it: it is named, and goes where members go.
    let dir = Dir::new();
    for (name, archive) in [("a.zip", zipped(&members)), ("b.zip", large)] {
        let program = [&b"MZ is a program\0\x01"[..], &archive].concat();
        assert_eq!(found(&program, 1), whole, "{name}");
        let twice =
            [&b"MZ"[..], &zipped(&[members.clone(), vec![Zipped::new("copy.md", "the last one")]].concat())]
                .concat();
        dir.write(name, twice);
        assert!(dir.output(name, &format!("out-{name}")).kept[name] == zipped(&members), "{name}");
    }
    dir.write("c.zip", [&file[..], &directory, &large_end(8, 1 << 40, 1 << 50, b"")].concat());
    dir.dedup("c.zip --out no").code(3).says("is longer than the file");
}

#[test]
fn many_members_are_one_each() {
    // More than a count of two bytes holds.
    let count = 66_000;
    let names: Vec<String> = (0..count).map(|at| format!("{at}.txt")).collect();
    let members: Vec<Zipped> =
        names.iter().map(|name| Zipped::stored(name.as_str(), format!("the text of {name}"))).collect();
    let (file, directory) = parts(&members);
    let end = large_end(members.len() as u64, directory.len() as u64, file.len() as u64, b"");
    let whole = [&file[..], &directory, &end].concat();
    let rows = found(&whole, 100_000);
    assert!(rows.iter().map(|(at, ..)| *at).eq(0..count) && rows.iter().all(|(_, name, _)| !name.is_empty()));
    // Some programs write no larger numbers.
    let wrapped = [
        b"PK\x05\x06\0\0\0\0",
        &u16::try_from(count - 65_536).unwrap().to_le_bytes().repeat(2)[..],
        &u32::try_from(directory.len()).unwrap().to_le_bytes(),
        &u32::try_from(file.len()).unwrap().to_le_bytes(),
        &[0, 0],
    ]
    .concat();
    assert!(found(&[&file[..], &directory, &wrapped].concat(), u64::MAX) == rows);
    // What is kept of them is as large.
    let dir = Dir::new();
    let (file, directory) =
        parts(&[&members[..], &[Zipped::stored("copy.txt", "the text of 9.txt")]].concat());
    let ended = large_end(count + 1, directory.len() as u64, file.len() as u64, b"");
    dir.write("a.zip", [file, directory, ended].concat());
    let kept = dir.output("a.zip --method exact -w 2", "out");
    assert_eq!(kept.removed_ids(), ["copy.txt"]);
    assert!(kept.kept["a.zip"] == whole);
}

#[test]
fn bombs_are_bounded() {
    let bomb = vec![b'a'; 3 << 20];
    let packed = Zipped::new("bomb.txt", &bomb);
    assert!(packed.packed.len() * 100 < bomb.len());
    let liar = Zipped { unpacked: 1000, ..packed.clone() };
    let inner = zipped(&[packed.clone(), packed.clone()]);
    let image = Zipped::new("image", [&b"\x89PNG\0"[..], &bomb].concat());
    let members = [packed, liar, Zipped::new("nested.zip", &inner), image];
    for target in [1, u64::MAX] {
        let rows = found(&zipped(&members), target);
        let kinds: Vec<&str> = rows.iter().map(|(.., kind)| &**kind).collect();
        assert_eq!(kinds, ["too long", "malformed", "not unpacked", "not a text"]);
    }
}

#[test]
fn packages_and_what_is_compressed_stay_what_they_were() {
    let dir = Dir::new();
    let program =
        [Zipped::new("META-INF/MANIFEST.MF", "Manifest-Version: 1.0"), Zipped::new("a.txt", "a text")];
    let file = zipped(&small());
    for (name, content, says) in [
        ("a.jar", zipped(&small()), "format zip,"),
        ("a", zipped(&program), "unpack it, and name its folder"),
        ("a.zip.gz", gzip(&file, 1000), "decompress it: what is in it stands at its end"),
        ("b.zip", b"no archive".to_vec(), "the end is not that of a zip file"),
        ("c.zip", Vec::new(), "the end is not that of a zip file"),
    ] {
        dir.write(name, content);
        dir.dedup(&format!("{name} --out no")).code(3).says(says);
    }
    dir.dedup("a.zip.gz --input-format zip --out no").code(3).says("decompress it");
    assert_eq!(dir.output("a.jar --input-format zip", "said").summary["documents"], 7);
    dir.write("in/a.zip", &file);
    dir.write("in/b.zip", b"PK\x03\x04 and nothing more");
    let found = dir.output("in --max-rejected 50%", "out");
    assert_eq!((&found.summary["documents"], found.rejected.len()), (&7.into(), 1));
    // An archive of nothing is no error.
    dir.write("none.zip", zipped(&[]));
    assert_eq!(dir.output("none.zip", "none").summary["documents"], 0);
    dir.alike("dedup - --out piped", Some(&zipped(&[]))).ok();
    dir.write("blank.zip", zipped(&blanks()));
    assert_eq!(dir.output("blank.zip", "blank").summary["documents"], 0);
    // What goes altogether leaves one.
    dir.write("one.zip", zipped(&[Zipped::new("a.txt", "a text")]));
    dir.write("two.zip", zipped(&[Zipped::new("a.txt", "a text")]));
    let both = dir.output("one.zip two.zip --method exact", "both");
    assert!(both.kept["two.zip"] == zipped(&[]));
}

#[cfg(feature = "office")]
mod packaged {
    use std::io::{Cursor, Read};

    use proptest::prelude::*;

    use super::*;
    use crate::support::packages::{docx_members, zip};

    #[test]
    fn a_package_in_an_archive_is_a_document() {
        let dir = Dir::new();
        let package = zip(&docx_members("a text\nin two lines", "T", "2024-01-02"));
        dir.write(
            "a.zip",
            zipped(&[Zipped::new("a.docx", &package), Zipped::new("b.txt", "a text\nin two lines")]),
        );
        assert_eq!(dir.output("a.zip --method exact", "out").removed_ids(), ["b.txt"]);
    }

    /// Names and contents of what the crate for zip reads.
    fn by_crate(file: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut archive = zip::ZipArchive::new(Cursor::new(file)).unwrap();
        let members = 0..archive.len();
        let member = |at| {
            let mut member = archive.by_index(at).unwrap();
            let mut content = Vec::new();
            member.read_to_end(&mut content).unwrap();
            (member.name().unwrap().into_owned(), content)
        };
        members.map(member).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
        #[test]
        fn members_are_what_another_reader_finds(
            members in prop::collection::vec((0_usize..6, "[a-z ]{0,300}", any::<bool>()), 0..9),
            before in prop::collection::vec(any::<u8>(), 0..9),
        ) {
            let made = |(at, (kind, text, repeats)): (usize, &(usize, String, bool))| {
                let text = if *repeats { text.repeat(100) } else { text.clone() };
                let (name, sizes) = (format!("{at}.txt"), SIZES[kind % 3]);
                if *kind < 3 { Zipped::new(name, text).sized(sizes) } else { Zipped::stored(name, text).sized(sizes) }
            };
            let members: Vec<Zipped> = members.iter().enumerate().map(made).collect();
            let (file, directory) = parts(&members);
            let end = end(members.len(), directory.len(), file.len(), b"c");
            let file = [&before[..], &file, &directory, &end].concat();
            let expected: Vec<(String, String)> = by_crate(&file)
                .into_iter()
                .filter(|(_, content)| !content.is_empty())
                .map(|(name, content)| (name, String::from_utf8(content).unwrap()))
                .collect();
            let rows: Vec<(String, String)> =
                found(&file, 1).into_iter().map(|(_, name, text)| (name, text)).collect();
            prop_assert_eq!(rows, expected);
        }
    }

    #[test]
    fn what_is_kept_is_read_by_another_reader() {
        let dir = Dir::new();
        let members = among_others(&members());
        dir.write("a.zip", zipped(&members));
        let kept = dir.output("a.zip -w 2", "out").kept["a.zip"].clone();
        let all = by_crate(&zipped(&members));
        let stays = by_crate(&kept);
        assert!(stays.len() < all.len() && stays.iter().all(|member| all.contains(member)));
    }
}

#[cfg(all(feature = "remote", feature = "parquet"))]
#[test]
fn an_archive_in_a_store_is_read_where_its_members_stand() {
    use crate::support::server::Server;

    let dir = Dir::new();
    let image = Zipped::stored("large.png", [b"\x89PNG\0".to_vec(), vec![7; 3 << 20]].concat());
    let file = zipped(&[vec![image], among_others(&members())].concat());
    dir.write("a.zip", &file);
    let server = Server::new(&[("bucket/a.zip", file)]);
    for workers in [1, 2] {
        let expected = dir.output(&format!("a.zip -w {workers}"), &format!("files-{workers}"));
        let line = format!("dedup s3://bucket/a.zip --out out-{workers} -w {workers}");
        dir.alike_with(&line, None, &server.variables()).ok();
        let found = Output::read(&dir.join(&format!("out-{workers}")));
        assert!(found.kept == expected.kept && decided(&found) == decided(&expected), "{workers} workers");
    }
}
