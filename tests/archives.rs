//! Archives: the same documents as in a folder, kept members byte for byte, and what damage and lies cost.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use alike::document::Position;
use alike::read::{
    Extent, Fields, FormatHint, Input, Record, Refusal, Sink, UnitReader, discover_as, reread, units,
};
use serde_json::{Value, json};

use crate::support::job::done;
use crate::support::loads::whole;
use crate::support::members::documents;
use crate::support::output::{Output, jsonl, label};
use crate::support::program::Dir;
use crate::support::tar::{DIALECTS, Dialect, archive, filled, header, member, name, pax, signed};
use crate::support::texts::{gzip, unpack, zst};

/// The documents that a form has room for, as members.
fn members(dialect: Dialect) -> Vec<(String, Vec<u8>)> {
    let fits = |name: &String| dialect != Dialect::Old || name.len() < 100;
    let all = documents().into_iter().filter(|(name, _)| fits(name));
    all.map(|(name, content)| (name.clone(), member(dialect, &name, content.as_bytes()))).collect()
}

/// What is no document, before, among and behind the others.
fn others(dialect: Dialect) -> [Vec<u8>; 3] {
    let image = member(dialect, "image.png", b"\x89PNG\r\n\x1a\n\0\0");
    let hidden = member(dialect, "e/.hidden.txt", b"a text");
    let links = [name(dialect, "link", b'2', "a/00000.html"), name(dialect, "pipe", b'6', "")].concat();
    [[name(dialect, "a/", b'5', ""), image].concat(), hidden, links]
}

/// An archive of some members, with others around them.
fn tar(dialect: Dialect, members: &[Vec<u8>]) -> Vec<u8> {
    let [first, among, last] = others(dialect);
    let (before, behind) = members.split_at(members.len() / 2);
    archive(&[vec![first], before.to_vec(), vec![among], behind.to_vec(), vec![last]].concat())
}

/// Which documents go, and for which, by their names.
fn decided(output: &Output) -> BTreeSet<(String, String)> {
    let name = |id: &serde_json::Value| {
        let id = label(id);
        let id = id.split("tree/").last().unwrap();
        // In a collection the archive stands before it.
        ["a.tar/", "b.tar.gz/"].iter().find_map(|archive| id.strip_prefix(archive)).unwrap_or(id).to_owned()
    };
    output.duplicates.iter().map(|row| (name(&row["id"]), name(&row["representative"]))).collect()
}

/// The same of these documents in JSON Lines.
fn expected(dir: &Dir, dialect: Dialect) -> BTreeSet<(String, String)> {
    let texts = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).unwrap();
    let texts: Vec<String> =
        jsonl(texts.as_bytes()).iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect();
    let row = |(name, _): &(String, Vec<u8>)| {
        let number: usize = name.rsplit('/').next().unwrap()[..5].parse().unwrap();
        serde_json::json!({"id": name, "text": texts[number]}).to_string()
    };
    dir.write("a.jsonl", members(dialect).iter().map(row).collect::<Vec<_>>().join("\n"));
    decided(&dir.output("a.jsonl", &format!("lines-{dialect:?}")))
}

#[test]
fn an_archive_is_what_its_files_are() {
    for dialect in DIALECTS {
        let dir = Dir::new();
        let members = members(dialect);
        let expected = expected(&dir, dialect);
        assert!(expected.len() > 80);
        let parts: Vec<Vec<u8>> = members.iter().map(|(_, member)| member.clone()).collect();
        let file = tar(dialect, &parts);
        let gone: BTreeSet<&String> = expected.iter().map(|(gone, _)| gone).collect();
        let [first, among, last] = others(dialect);
        let (before, behind) = members.split_at(members.len() / 2);
        let stays = |members: &[(String, Vec<u8>)]| -> Vec<Vec<u8>> {
            let stays = members.iter().filter(|(name, _)| !gone.contains(name));
            stays.map(|(_, member)| member.clone()).collect()
        };
        let kept = archive(&[vec![first], stays(before), vec![among], stays(behind), vec![last]].concat());
        dir.write("a.tar", &file);
        dir.write("b.tgz", gzip(&file, 100_000));
        dir.write("c.txt", &file);
        dir.write("d.tar.zst", zst(&file, 50_000));
        dir.write("in/e", &file);
        for (at, name) in ["a.tar", "b.tgz", "c.txt", "d.tar.zst", "in"].into_iter().enumerate() {
            for workers in [1, 2, 3] {
                let found = dir.output(&format!("{name} -w {workers}"), &format!("out{at}-{workers}"));
                assert_eq!(decided(&found), expected, "{dialect:?} {name}, {workers} workers");
                let mut reasons: Vec<&str> =
                    found.rejected.iter().map(|row| row["reason"].as_str().unwrap()).collect();
                reasons.sort_unstable();
                assert_eq!(reasons, ["no text: PNG", "no text: a hidden file"], "{name}");
                let written = found.kept.values().next().unwrap();
                assert!(unpack(written) == kept, "{dialect:?} {name}, {workers} workers");
            }
        }
        let ran = dir.alike("dedup - --out piped -w 2", Some(&file)).ok().says("member 2: no text");
        assert!(ran.stderr.contains(&format!("removed {} of", expected.len())), "{}", ran.stderr);
        assert!(fs::read(dir.join("piped/kept/stdin.tar")).unwrap() == kept);
        let halves = dir.output("a.tar -w 2 --write-removed", "halves");
        let removed = members.iter().filter(|(name, _)| gone.contains(name)).map(|(_, member)| &**member);
        assert!(halves.kept == dir.output("a.tar", "again").kept);
        assert!(halves.removed["a.tar"] == removed.collect::<Vec<_>>().concat());
    }
}

#[test]
fn a_folder_and_its_archive_say_the_same() {
    let dir = Dir::new();
    for (name, content) in documents() {
        dir.write(&format!("tree/{name}"), content);
    }
    dir.write("tree/x/.git/a.txt", "hidden");
    dir.write("tree/x/image", [0; 9]);
    let parts = members(Dialect::Pax).into_iter().map(|(_, member)| member);
    let hidden = member(Dialect::Pax, "x/.git/a.txt", b"hidden");
    let image = member(Dialect::Pax, "x/image", &[0; 9]);
    dir.write("a.tar", archive(&parts.chain([hidden, image]).collect::<Vec<_>>()));
    // A mail without an id, a page and a text are called by their files.
    let unnumbered = |output: &Output| -> BTreeSet<(String, String)> {
        let bare = |name: &String| name.rsplit_once(':').map_or(name.clone(), |(name, _)| name.to_owned());
        decided(output).iter().map(|(a, b)| (bare(a), bare(b))).collect()
    };
    let folder = dir.output("tree -w 2", "folder");
    assert_eq!(unnumbered(&folder), decided(&dir.output("a.tar -w 2", "archive")));
}

#[test]
fn processes_and_collections_give_the_same() {
    let dir = Dir::new();
    let parts: Vec<Vec<u8>> = members(Dialect::Gnu).into_iter().map(|(_, member)| member).collect();
    dir.write("a.tar", tar(Dialect::Gnu, &parts));
    dir.write("b.tar.gz", gzip(&tar(Dialect::Gnu, &parts), usize::MAX >> 1));
    let expected = dir.output("a.tar", "one");
    let line = format!("dedup {} --out two", dir.join("a.tar").display());
    done(&dir, (2, 2), &line);
    assert!(Output::read(&dir.join("two")).kept == expected.kept);
    for name in ["a.tar", "b.tar.gz"] {
        for flags in ["", "--store-text"] {
            let collection = format!("c-{name}{flags}");
            dir.alike(&format!("load {collection} {name} {flags} -w 2 --clustering guarantee"), None).ok();
            whole(&dir, &collection);
            dir.alike(&format!("export {collection} --out out-{collection}"), None).ok();
            let found = Output::read(&dir.join(&format!("out-{collection}")));
            assert_eq!(decided(&found), decided(&expected), "{name} {flags}");
            // Members without content stay, but what is stored are documents.
            let gone: BTreeSet<String> = decided(&expected).into_iter().map(|(gone, _)| gone).collect();
            let stays = members(Dialect::Gnu).into_iter().filter(|(name, _)| !gone.contains(name));
            let mut stays: Vec<Vec<u8>> = stays.map(|(_, member)| member).collect();
            if flags.is_empty() {
                stays.insert(0, name_of_folder());
                stays.push(others(Dialect::Gnu)[2].clone());
            }
            assert!(unpack(&found.kept[name]) == archive(&stays), "{name} {flags}");
            dir.alike(&format!("load {collection} {name} -w 2"), None).ok();
            whole(&dir, &collection);
        }
    }
}

fn name_of_folder() -> Vec<u8> {
    name(Dialect::Gnu, "a/", b'5', "")
}

#[test]
fn outputs_answer_by_the_names_of_members() {
    let dir = Dir::new();
    let page = b"<!doctype html><title>A page</title><p>some words that are in both of them, and more";
    let text = b"A page\nsome words that are in both of them, and more";
    let members = [member(Dialect::Ustar, "x/page", page), member(Dialect::Ustar, "./y.txt", text)];
    dir.write("a.tar", archive(&members));
    let found = dir.output("a.tar --threshold 0.5", "out");
    assert_eq!(found.removed_ids(), ["./y.txt"]);
    let said = dir.alike("explain out x/page ./y.txt", None).ok().stdout;
    assert!(said.contains("\"file\":\"a.tar\",\"line\":1") && said.contains("\"line\":2"), "{said}");
    dir.alike("show out 1", None).ok();
    dir.alike("report out --out page.html", None).ok();
    assert!(fs::read_to_string(dir.join("page.html")).unwrap().contains("./y.txt"));
    let rows = dir.output("a.tar --threshold 0.5 --to jsonl", "rows");
    let row = &jsonl(&rows.kept("a.jsonl"))[0];
    assert_eq!((&row["path"], &row["title"]), (&"x/page".into(), &"A page".into()));
    let last = dir.output("a.tar --threshold 0.5 --keep field:path:max", "last");
    assert_eq!(last.removed_ids(), ["./y.txt"]);
    let first = dir.output("a.tar --threshold 0.5 --keep field:path:min --id-field path", "first");
    assert_eq!(first.removed_ids(), ["x/page"]);
    dir.dedup("a.tar --shard-size 1M --out x").code(3).says("--to jsonl");
}

#[test]
fn a_hard_link_goes_with_its_file() {
    let dir = Dir::new();
    let text = |name: &str| member(Dialect::Gnu, name, b"the same text in all");
    let link = |from: &str, to: &str| name(Dialect::Gnu, from, b'1', to);
    let parts = [
        text("a.txt"),
        link("to-a", "a.txt"),
        text("b.txt"),
        link("to-b", "b.txt"),
        link("to-to-b", "to-b"),
        name(Dialect::Gnu, "soft", b'2', "b.txt"),
        // What follows is called as what goes, and stays.
        member(Dialect::Gnu, "b.txt", b"another text than the others"),
        link("to-another", "b.txt"),
    ];
    dir.write("a.tar", archive(&parts));
    let kept = [0, 1, 5, 6, 7].map(|at| parts[at].clone());
    for workers in [1, 2] {
        let found = dir.output(&format!("a.tar -w {workers} --write-removed"), &format!("out{workers}"));
        assert!(found.kept("a.tar") == archive(&kept));
        assert!(found.removed["a.tar"] == [2, 3, 4].map(|at| parts[at].clone()).concat());
    }
}

/// Offsets, and names with texts, or kinds of refusals.
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

/// What is read of an archive in units of about `target` bytes; documents are the same when they are read again.
fn read(file: &[u8], target: u64, max_record_bytes: usize) -> Vec<(u64, String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tar");
    fs::write(&path, file).unwrap();
    // As several processes find it: the archive alone.
    let hint = FormatHint::default().shared_by(true);
    let source =
        discover_as(&[path.to_str().unwrap().to_owned()], folder.path(), hint).unwrap().sources.remove(0);
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
    found.0
}

/// A small archive of every form, and where its members begin.
fn small() -> (Vec<u8>, Vec<usize>) {
    let long = format!("{}/{}.txt", "f".repeat(60), "g".repeat(60));
    let mut parts: Vec<Vec<u8>> =
        DIALECTS.iter().map(|dialect| member(*dialect, &format!("{dialect:?}.txt"), b"a text")).collect();
    for dialect in &DIALECTS[1..] {
        parts.push(member(*dialect, &long, format!("{dialect:?}").repeat(100).as_bytes()));
    }
    parts.push(name(Dialect::Ustar, "a/", b'5', ""));
    parts.push(member(Dialect::Pax, "last.txt", b"the last one"));
    let starts = parts.iter().scan(0, |at, part| {
        let start = *at;
        *at += part.len();
        Some(start)
    });
    (archive(&parts), starts.collect())
}

const MOST: usize = 1 << 20;

#[test]
fn a_cut_costs_the_member_that_it_cuts() {
    let (file, _) = small();
    let whole = read(&file, u64::MAX, MOST);
    assert_eq!(whole.iter().filter(|(_, name, _)| !name.is_empty()).count(), 8);
    for length in 0..file.len() {
        let cut = read(&file[..length], u64::MAX, MOST);
        let good = cut.iter().take_while(|row| whole.contains(row)).count();
        assert!(cut.len() - good <= 1, "{length}: {cut:?}");
        assert!(cut[good..].iter().all(|(_, name, kind)| name.is_empty() && kind == "malformed"), "{length}");
        // What ends before the cut is there.
        let before = whole.windows(2).filter(|two| two[1].0 <= length as u64).count();
        assert!(good >= before, "{length}: {cut:?}");
    }
}

#[test]
fn a_changed_byte_costs_the_member_that_it_is_in() {
    let (file, starts) = small();
    let whole = read(&file, u64::MAX, MOST);
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 0x15;
        let member = starts.partition_point(|start| *start <= at) - 1;
        let range = starts[member] as u64..starts.get(member + 1).map_or(u64::MAX, |start| *start as u64);
        let others = |rows: &[(u64, String, String)]| -> Vec<(u64, String, String)> {
            rows.iter().filter(|(offset, ..)| !range.contains(offset)).cloned().collect()
        };
        let found = read(&changed, 1, MOST);
        assert_eq!(others(&found), others(&whole), "byte {at}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_where_it_stands() {
    let good = |name: &str| member(Dialect::Ustar, name, format!("the text of {name}").as_bytes());
    let lie = header(Dialect::Ustar, ("", "lie.txt"), b'0', 1 << 33, "");
    let said = |content: &str| {
        let header = header(Dialect::Pax, ("", "said"), b'x', content.len() as u64, "");
        [header, filled(content.as_bytes()), good("said.txt")].concat()
    };
    let global = [
        header(Dialect::Pax, ("", "g"), b'g', pax("size", "1").len() as u64, ""),
        filled(pax("size", "1").as_bytes()),
    ];
    let mut binary = header(Dialect::Gnu, ("", "binary.txt"), b'0', 0, "");
    binary[124..136].copy_from_slice(b"\x80\0\0\0\0\0\0\0\0\0\0\x06");
    let mut huge = header(Dialect::Gnu, ("", "huge.txt"), b'0', 0, "");
    huge[124..136].copy_from_slice(b"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff");
    let rows: Vec<(Vec<u8>, &str)> = vec![
        ([signed(binary), filled(b"a text")].concat(), ""),
        (said(&pax("GNU.sparse.major", "1")), "not unpacked"),
        (said(&pax("size", "99999999999999999999")), "malformed"),
        (said(&pax("size", "9999999999999")), "malformed"),
        (said(&pax("size", "20")), ""),
        (said("no keys and values"), "malformed"),
        (global.concat(), "malformed"),
        (header(Dialect::Gnu, ("", "sparse"), b'S', 0, ""), "not unpacked"),
        (header(Dialect::Gnu, ("", "rest"), b'M', 0, ""), "malformed"),
        (signed(huge), "malformed"),
        (vec![b'x'; 512], "malformed"),
        (member(Dialect::Gnu, "rows.jsonl", b"{\"text\": \"a\"}\n"), "not unpacked"),
        (member(Dialect::Gnu, "row.txt", b"{\"text\": \"one line is a text\"}\n"), ""),
        (member(Dialect::Gnu, "row", b"{\"text\": \"nobody calls it a text\"}\n"), "not unpacked"),
        (member(Dialect::Gnu, "rows.txt", &b"{\"text\": \"a\"}\n".repeat(2)), "not unpacked"),
        (member(Dialect::Gnu, "rows.csv", b"id,text\n1,a\n"), "not unpacked"),
        (member(Dialect::Gnu, "a.txt.gz", &gzip(b"a text", 100)), "not unpacked"),
        (member(Dialect::Gnu, "a.tar", &archive(&[good("inner.txt")])), "not unpacked"),
        (member(Dialect::Gnu, "mails", b"From a\nSubject: s\nFrom: a\n\nb\n"), "not unpacked"),
        (member(Dialect::Gnu, "a.avro", b"Obj\x01\x15"), "not a text"),
        (member(Dialect::Gnu, "data.txt", b"\xff\xfe\xfd text"), "not UTF-8"),
        (member(Dialect::Gnu, &format!("{}x.txt", "long/".repeat(20)), b"a slash where the header ends"), ""),
        (member(Dialect::Pax, &format!("{}x.txt", "long/".repeat(20)), b"a slash where the header ends"), ""),
        (member(Dialect::Gnu, "../../up.txt", b"only a name"), ""),
        (member(Dialect::Gnu, "/etc/passwd.txt", b"only a name, too"), ""),
        (member(Dialect::Gnu, "\u{feff}mark.txt", b"a name with a mark"), ""),
    ];
    for (at, (part, kind)) in rows.iter().enumerate() {
        for order in [
            [good("first.txt"), part.clone(), good("last.txt")],
            [part.clone(), good("first.txt"), good("last.txt")],
        ] {
            let file = archive(&order);
            let found = read(&file, u64::MAX, MOST);
            assert_eq!(read(&file, 1, MOST), found, "{at}");
            let kinds: Vec<&str> =
                found.iter().filter(|(_, name, _)| name.is_empty()).map(|(.., kind)| &**kind).collect();
            let documents = found.len() - kinds.len();
            assert_eq!(kinds, if kind.is_empty() { vec![] } else { vec![*kind] }, "{at}");
            assert_eq!(documents, if kind.is_empty() { 3 } else { 2 }, "{at}: {found:?}");
        }
    }
    // A length that is too large costs all that is behind it.
    let found = read(&archive(&[good("a.txt"), lie, good("b.txt")]), u64::MAX, MOST);
    assert_eq!(
        found.iter().map(|(.., text)| &**text).collect::<Vec<_>>(),
        ["the text of a.txt", "malformed"]
    );
    // Archives may stand one behind the other, and anything behind the last of them.
    let two = [archive(&[good("a.txt")]), archive(&[good("b.txt")]), vec![b'x'; 700]].concat();
    assert_eq!(read(&two, u64::MAX, MOST).len(), 2);
}

#[test]
fn what_is_not_unpacked_stays_and_archives_may_share_names() {
    let dir = Dir::new();
    let text = |name: &str, word: &str| {
        let words: String = (0..30).map(|at| format!("{word}{at} ")).collect();
        member(Dialect::Gnu, name, words.as_bytes())
    };
    let rows = member(Dialect::Gnu, "rows.tar", &archive(&[text("1.txt", "a")]));
    dir.write("p.tar", archive(&[text("1.txt", "a"), rows.clone(), text("2.txt", "a"), text("3.txt", "b")]));
    dir.write("q.tar", archive(&[text("1.txt", "c"), text("2.txt", "a")]));
    let output = dir.output("p.tar q.tar --max-rejected 50%", "out");
    assert!(output.kept["p.tar"] == archive(&[text("1.txt", "a"), rows, text("3.txt", "b")]));
    assert!(output.kept["q.tar"] == archive(&[text("1.txt", "c")]));
    // It is told all the same.
    dir.alike("dedup p.tar q.tar --dry-run --strict", None)
        .code(3)
        .says("unpack the archive, and name its folder");
    for line in ["load c p.tar q.tar -w 2", "load c q.tar -w 1", "load c p.tar -w 1"] {
        dir.alike(&format!("{line} --max-rejected 50%"), None).ok();
        let documents = dir.alike("documents c --json", None).ok().stdout;
        let ids: BTreeSet<String> =
            jsonl(documents.as_bytes()).iter().map(|row| label(&row["id"]).to_owned()).collect();
        assert!(
            ids.iter().eq(["p.tar/1.txt", "p.tar/2.txt", "p.tar/3.txt", "q.tar/1.txt", "q.tar/2.txt"]),
            "{ids:?}"
        );
    }
    // What is shown of a member has the id that the collection knows it by.
    let shown = dir.alike("clusters c --fields id,path --json", None).ok().stdout;
    let records = |row: &Value| row["records"].as_array().unwrap().clone();
    let members: Vec<Value> = jsonl(shown.as_bytes()).iter().flat_map(records).collect();
    let want = ["p.tar/1.txt", "p.tar/2.txt", "q.tar/2.txt"].map(|id| json!({"id": id, "path": &id[6..]}));
    assert!(members.len() == 3 && want.iter().all(|row| members.contains(row)), "{shown}");
}

#[test]
fn long_members_are_passed_over() {
    let good = |name: &str| member(Dialect::Ustar, name, format!("the text of {name}").as_bytes());
    let image = [&b"\x89PNG\0"[..], &[7; 5000]].concat();
    let parts = [
        good("a.txt"),
        member(Dialect::Gnu, "long.txt", "words ".repeat(800).as_bytes()),
        member(Dialect::Gnu, "long", &image),
        member(Dialect::Gnu, "long.jsonl", "{\"text\": \"a\"}\n".repeat(400).as_bytes()),
        member(Dialect::Pax, &format!("{}.txt", "n".repeat(3000)), b"a name that is long"),
        good("b.txt"),
    ];
    for target in [1, u64::MAX] {
        let found = read(&archive(&parts), target, 2000);
        let said: Vec<&str> = found.iter().map(|(.., text)| &**text).collect();
        assert_eq!(
            said,
            ["the text of a.txt", "too long", "not a text", "not unpacked", "too long", "the text of b.txt"]
        );
    }
}

#[test]
fn archives_of_nothing_are_no_error() {
    let dir = Dir::new();
    dir.write("a.tar", archive(&[]));
    dir.write("b.tar", "");
    dir.write("c.tar", archive(&[name(Dialect::Ustar, "a/", b'5', "")]));
    for file in ["a.tar", "b.tar", "c.tar"] {
        assert_eq!(dir.output(file, &format!("out-{file}")).summary["documents"], 0, "{file}");
    }
    dir.alike("dedup - --out piped", Some(&archive(&[]))).ok();
    dir.alike("dedup - --out as-tar-writes", Some(&[0; 10_240])).ok();
    // Zeros are none, whatever is beside them, and whatever they are called.
    for (name, bytes) in [("a.parquet", 10_240), ("a.bin", 1024), ("nameless", 3072)] {
        dir.write(name, vec![0; bytes]);
        dir.dedup(&format!("{name} --dry-run")).code(3).says("not recognised");
    }
    dir.write("zeros", [0; 20_480]);
    dir.write("in.jsonl", "{\"text\": \"a few words\"}\n");
    dir.dedup("zeros in.jsonl --dry-run").code(3).says("zeros: not recognised");
    assert_eq!(dir.output("zero* in.jsonl", "beside").summary["skipped"].as_array().unwrap().len(), 1);
    dir.alike("dedup - --dry-run", Some(&[0; 20_480])).code(3).says("of no kind that is read");
    dir.write("d.tar", member(Dialect::Ustar, "a.tar", &archive(&[])));
    dir.dedup("d.tar --out many").code(3).says("unpack the archive, and name its folder");
}
