//! Records between tags, as TREC and dumps of Wikipedia have them: the same clusters as of lines, and kept files byte for byte.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use crate::support::job::done;
use crate::support::loads::whole;
use crate::support::output::{Output, jsonl, label};
use crate::support::program::Dir;
use crate::support::texts::{gzip, text, unpack, words, zst};

/// The sample: a JSON object a line.
fn sample() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).unwrap()
}

/// Ids and texts of the sample.
fn documents() -> Vec<(String, String)> {
    let rows = jsonl(sample().as_bytes()).into_iter();
    rows.map(|row| (label(&row["id"]), row["text"].as_str().unwrap().to_owned())).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A kind of file: what stands before its records, these, and what stands behind them.
struct Kind {
    name: &'static str,
    before: String,
    record: fn(&str, &str) -> String,
    after: &'static str,
}

impl Kind {
    /// The records of the sample but for some.
    fn records(&self, gone: &BTreeSet<String>) -> Vec<String> {
        let all = documents().into_iter().filter(|(id, _)| !gone.contains(id));
        all.map(|(id, text)| (self.record)(&id, &text)).collect()
    }

    /// The file of the sample without some records.
    fn file(&self, gone: &BTreeSet<String>) -> String {
        [&self.before, &*self.records(gone).concat(), self.after].concat()
    }

    /// The same in members of gzip, one for a few records.
    fn members(&self, gone: &BTreeSet<String>) -> Vec<Vec<u8>> {
        let whole = documents();
        let parts = whole.chunks(2).map(|part| {
            let kept = part.iter().filter(|(id, _)| !gone.contains(id));
            let records: String = kept.map(|(id, text)| (self.record)(id, text)).collect();
            gzip(records.as_bytes(), usize::MAX >> 1)
        });
        [self.before.as_bytes()]
            .into_iter()
            .filter(|before| !before.is_empty())
            .map(|before| gzip(before, usize::MAX >> 1))
            .chain(parts)
            .chain(
                Some(self.after)
                    .filter(|after| !after.is_empty())
                    .map(|after| gzip(after.as_bytes(), 1 << 20)),
            )
            .collect()
    }
}

fn kinds() -> Vec<Kind> {
    vec![
        Kind {
            name: "trec",
            before: String::new(),
            record: |id, text| {
                let text = escaped(text);
                format!("<DOC>\n<DOCNO> {id} </DOCNO>\n<DATE>x</DATE>\n<TEXT>\n{text}\n</TEXT>\n</DOC>\n")
            },
            after: "",
        },
        // A page of the web collections, and what stands before all records.
        Kind {
            name: "web.trec",
            before: "<?xml version=\"1.0\"?>\n<!-- web -->\n".to_owned(),
            record: |id, text| {
                let text = escaped(text);
                format!(
                    "<DOC>\n<DOCNO>{id}</DOCNO>\n<DOCHDR>\nhttp://a.example/{id} 1.2.3.4 19970101000000 text/html 1\n\
                     HTTP/1.0 200 OK\nContent-Type: text/html\n</DOCHDR>\n<html><script>{id}</script><pre>{text}</pre>\
                     </html>\n</DOC>\n"
                )
            },
            after: "",
        },
        // Lower case within a root.
        Kind {
            name: "root.trec",
            before: "<?xml version=\"1.0\"?>\n<docs>\n".to_owned(),
            record: |id, text| {
                let text = escaped(text);
                format!("<doc>\n<docno>{id}</docno>\n<text>\n{text}\n</text>\n</doc>\n")
            },
            after: "</docs>\n",
        },
        Kind {
            name: "wiki.xml",
            before: format!("{WIKI}{}", redirect("A", "B")),
            record: page,
            after: "</mediawiki>\n",
        },
    ]
}

/// What stands before the pages of a dump.
const WIKI: &str = "<mediawiki xmlns=\"http://www.mediawiki.org/xml/export-0.11/\" version=\"0.11\" xml:lang=\"en\">\n  \
    <siteinfo>\n    <sitename>W</sitename>\n    <namespaces>\n      <namespace key=\"0\" />\n    </namespaces>\n  \
    </siteinfo>\n  ";

/// A page of a dump with two revisions.
fn page(id: &str, text: &str) -> String {
    let text = escaped(text);
    format!(
        "<page>\n    <title>T {id}</title>\n    <ns>0</ns>\n    <id>{id}</id>\n    <revision>\n      <id>1</id>\n      \
         <text bytes=\"3\">old</text>\n    </revision>\n    <revision>\n      <id>2</id>\n      \
         <timestamp>2024-01-01T00:00:00Z</timestamp>\n      <text bytes=\"1\" xml:space=\"preserve\">{text}</text>\n    \
         </revision>\n  </page>\n  "
    )
}

/// A page that leads to another one.
fn redirect(title: &str, to: &str) -> String {
    format!(
        "<page>\n    <title>{title}</title>\n    <id>{title}</id>\n    <redirect title=\"{to}\" />\n    <revision>\n      \
         <text bytes=\"1\">#REDIRECT [[{to}]]</text>\n    </revision>\n  </page>\n  "
    )
}

/// Which documents go, and for which.
fn decided(output: &Output) -> BTreeSet<(String, String)> {
    output.duplicates.iter().map(|row| (label(&row["id"]), label(&row["representative"]))).collect()
}

/// What is decided of the sample as it is, and which ids go.
fn expected(dir: &Dir) -> (BTreeSet<(String, String)>, BTreeSet<String>) {
    dir.write("a.jsonl", sample());
    let decided = decided(&dir.output("a.jsonl -w 2", "jsonl"));
    assert!(decided.len() > 100);
    let gone = decided.iter().map(|(id, _)| id.clone()).collect();
    (decided, gone)
}

#[test]
fn the_same_documents_are_the_same_clusters_between_tags() {
    let dir = Dir::new();
    let (expected, gone) = expected(&dir);
    let none = BTreeSet::new();
    for kind in kinds() {
        let (file, kept) = (kind.file(&none), kind.file(&gone));
        // What it is does not hang on what it is called.
        let names = ["a", "b.txt", "c.gz", "d.zst", "in/e.x"]
            .map(|name| format!("{}-{name}", kind.name.replace('.', "")));
        for name in &names {
            match name.rsplit('.').next() {
                Some("gz") => dir.write(name, gzip(file.as_bytes(), 100_000)),
                Some("zst") => dir.write(name, zst(file.as_bytes(), 100_000)),
                _ => dir.write(name, &file),
            };
            for workers in [1, 2, 3] {
                let out = format!("{}-{workers}", name.replace('/', "-"));
                let found = dir.output(&format!("{name} -w {workers}"), &format!("out-{out}"));
                assert!(found.rejected.is_empty(), "{name}: {:?}", found.rejected);
                assert_eq!(decided(&found), expected, "{name} on {workers} workers");
                assert!(unpack(found.kept.values().next().unwrap()) == kept.as_bytes(), "{name}");
            }
        }
        let said = if kind.name.ends_with("xml") { "mediawiki" } else { "trec" };
        let found =
            dir.output(&format!("{} --input-format {said}", names[0]), &format!("said-{}", kind.name));
        assert!(found.kept.values().next().unwrap() == kept.as_bytes());
        let piped = dir.alike(&format!("dedup - --out piped-{}", kind.name), Some(file.as_bytes())).ok();
        assert!(piped.stderr.contains(&format!("removed {} of", expected.len())), "{}", piped.stderr);
        // Of several processes the same.
        let line = format!("dedup {} --out two-{}", dir.join(&names[0]).display(), kind.name);
        done(&dir, (2, 2), &line);
        let two = Output::read(&dir.join(&format!("two-{}", kind.name)));
        assert!(two.kept.values().next().unwrap() == kept.as_bytes(), "{}: two processes", kind.name);
    }
}

#[test]
fn members_that_lose_nothing_are_copied_between_tags() {
    let dir = Dir::new();
    let (_, gone) = expected(&dir);
    let none = BTreeSet::new();
    for kind in kinds() {
        let name = format!("{}.gz", kind.name);
        let before = kind.members(&none);
        dir.write(&name, before.concat());
        let found = dir.output(&format!("{name} -w 2"), &format!("out-{name}"));
        assert!(found.kept(&name) == kind.file(&gone).as_bytes(), "{name}");
        let untouched = before.iter().filter(|member| kind.members(&gone).contains(member)).count();
        assert!(untouched > 5, "{untouched}");
        let copied = |member: &&Vec<u8>| {
            let kept = &found.kept[&name];
            kept.windows(member.len()).any(|bytes| bytes == **member)
        };
        assert_eq!(before.iter().filter(copied).count(), untouched, "{name}");
        // The other half has the other records.
        let halves = dir.output(&format!("{name} -w 2 --write-removed"), &format!("halves-{name}"));
        let removed: String = documents()
            .iter()
            .filter(|(id, _)| gone.contains(id))
            .map(|(id, text)| (kind.record)(id, text))
            .collect();
        assert!(unpack(&halves.removed[&name]) == removed.into_bytes(), "{name}");
    }
}

#[test]
fn collections_of_tagged_records_are_exported_as_they_were() {
    let dir = Dir::new();
    dir.write("a.jsonl", sample());
    let exported = |name: &str, flags: &str| {
        let collection = format!("c-{name}{}", flags.replace(' ', ""));
        dir.alike(&format!("load {collection} {name} {flags} -w 2 --clustering guarantee"), None).ok();
        whole(&dir, &collection);
        dir.alike(&format!("export {collection} --out out-{collection}"), None).ok();
        Output::read(&dir.join(&format!("out-{collection}")))
    };
    let expected = decided(&exported("a.jsonl", ""));
    let gone: BTreeSet<String> = expected.iter().map(|(id, _)| id.clone()).collect();
    for kind in kinds() {
        dir.write(kind.name, kind.file(&BTreeSet::new()));
        let (pointed, stored) = (exported(kind.name, ""), exported(kind.name, "--store-text"));
        assert_eq!(decided(&pointed), expected, "{}", kind.name);
        assert_eq!(decided(&stored), expected, "{}", kind.name);
        assert!(text(pointed.kept(kind.name)) == kind.file(&gone), "{}", kind.name);
        // Only documents are stored.
        assert!(text(stored.kept(kind.name)) == kind.records(&gone).concat(), "{}", kind.name);
        // What is exported is read again.
        dir.write(&format!("again-{}", kind.name), stored.kept(kind.name));
        let again =
            dir.output(&format!("again-{} --method exact", kind.name), &format!("out-again-{}", kind.name));
        assert_eq!(again.summary["documents"], documents().len() - gone.len(), "{}", kind.name);
    }
}

#[test]
fn outputs_of_tagged_records_are_asked_afterwards() {
    let dir = Dir::new();
    let (expected, _) = expected(&dir);
    let (gone, kept) = expected.iter().next().unwrap();
    for kind in kinds() {
        dir.write(kind.name, kind.file(&BTreeSet::new()));
        let out = format!("out-{}", kind.name);
        dir.output(kind.name, &out);
        dir.alike(&format!("explain {out} {gone} {kept}"), None).ok();
        let place = documents().iter().position(|(id, _)| id == gone).unwrap() + 1;
        let by_line = dir.alike(&format!("explain {out} {}:{place} {kept}", kind.name), None).ok().stdout;
        assert!(by_line.contains(gone.as_str()), "{}: {by_line}", kind.name);
        dir.alike(&format!("show {out} 1"), None).ok();
        dir.alike(&format!("report {out} --out {out}.html"), None).ok();
        let lines = dir.output(&format!("{} --to jsonl", kind.name), &format!("lines-{}", kind.name));
        assert_eq!(lines.kept_lines().len(), documents().len() - expected.len());
    }
}

#[test]
fn fields_of_trec_have_names() {
    let dir = Dir::new();
    let record = |id: &str, date: &str, page: &str| {
        format!(
            "<DOC><DOCNO>{id}</DOCNO><DATE>{date}</DATE><PAGE>{page}</PAGE><TEXT>the same text in all of them</TEXT></DOC>\n"
        )
    };
    dir.write(
        "a",
        [record("a", "2020-01-01", "9"), record("b", "2021-01-01", "10"), record("c", "2019-01-01", "8")]
            .concat(),
    );
    assert_eq!(dir.output("a --keep field:date:max", "newest").removed_ids(), ["a", "c"]);
    assert_eq!(dir.output("a --keep field:page:max", "page").removed_ids(), ["a", "c"]);
    assert_eq!(dir.output("a --keep field:PAGE:min --id-field page", "first").removed_ids(), ["10", "9"]);
    assert_eq!(dir.output("a --within date", "apart").removed_ids(), [""; 0]);
}

#[test]
fn records_of_trec_that_are_not_closed_cost_no_others() {
    let dir = Dir::new();
    let record = |id: usize| format!("<DOC>\n<DOCNO>{id}</DOCNO>\n<TEXT>text number {id}</TEXT>\n</DOC>\n");
    let good: Vec<String> = (0..40).map(record).collect();
    let open = "<DOC>\n<DOCNO>open</DOCNO>\n<TEXT>a text without an end\n";
    dir.write("a", [&good[..20].concat(), open, &good[20..].concat(), "<DOC>\n<DOCNO>cut</DOC"].concat());
    let found = dir.output("a -w 2", "out");
    assert_eq!((&found.summary["documents"], found.rejected.len()), (&40.into(), 2));
    assert!(found.rejected.iter().all(|row| row["reason"] == "malformed: a <DOC> without its </DOC>"));
    let lines: Vec<u64> = found.rejected.iter().map(|row| row["line"].as_u64().unwrap()).collect();
    assert_eq!(BTreeSet::from_iter(lines), BTreeSet::from([21, 42]));
    assert!(found.kept("a") == good.concat().into_bytes());
}

/// The bytes as one bzip2 stream.
fn bz2(bytes: &str) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(bytes.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn unpack_bz2(bytes: &[u8]) -> String {
    let mut text = String::new();
    bzip2::read::MultiBzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn streams_of_a_dump_that_lose_nothing_are_copied() {
    let dir = Dir::new();
    let kind = kinds().pop().unwrap();
    let same = page("20", &words(0, 40));
    let parts: Vec<String> = (0..6).map(|at| page(&format!("{at}"), &words(100 * at, 50))).collect();
    let ends = [kind.before.as_str(), kind.after];
    // The fourth stream loses its second page, the fifth all it has.
    let streams = [
        bz2(ends[0]),
        bz2(&[&same, &*parts[0]].concat()),
        bz2(&parts[1]),
        bz2(&[&parts[2], &*same.replace("<id>20", "<id>21"), &parts[3]].concat()),
        bz2(&same.replace("<id>20", "<id>22")),
        bz2(&[&parts[4], &*parts[5]].concat()),
        bz2(ends[1]),
    ];
    dir.write("dump.xml.bz2", streams.concat());
    let found = dir.output("dump.xml.bz2 -w 2", "out");
    assert_eq!(found.removed_ids(), ["21", "22"]);
    let kept = &found.kept["dump.xml.bz2"];
    let expected = [ends[0], &*same, &parts.concat(), ends[1]].concat();
    assert!(unpack_bz2(kept) == expected, "{}", unpack_bz2(kept));
    let copied = |stream: &Vec<u8>| kept.windows(stream.len()).any(|bytes| bytes == *stream);
    assert_eq!(streams.each_ref().map(copied), [true, true, true, false, false, true, true]);
    // As one stream it is packed anew as a whole.
    dir.write("one.xml.bz2", bz2(&unpack_bz2(&streams.concat())));
    assert!(unpack_bz2(&dir.output("one.xml.bz2", "one").kept["one.xml.bz2"]) == expected);
}

#[test]
fn pages_without_a_text_are_told_and_pages_that_lead_to_others_stay() {
    let dir = Dir::new();
    let texts: Vec<String> = (0..30).map(|at| page(&format!("{at}"), &words(100 * at, 50))).collect();
    let without = |text: &str| {
        let page = page("x", "-");
        let at = page.rfind("<text").unwrap()..page.rfind("</text>").unwrap() + "</text>".len();
        [&page[..at.start], text, &page[at.end..]].concat()
    };
    let hidden = without("<text bytes=\"9\" deleted=\"deleted\" />");
    let empty = without("<text bytes=\"0\" xml:space=\"preserve\" />");
    let redirects = [redirect("A", "T 0"), redirect("B", "T 0"), redirect("C", "T 0")];
    let file =
        [WIKI, &redirects[0], &texts.concat(), &redirects[1], &hidden, &empty, &redirects[2], "</mediawiki>"];
    dir.write("a", file.concat());
    let found = dir.output("a -w 2", "out");
    assert_eq!((&found.summary["documents"], found.rejected.len()), (&31.into(), 1));
    assert_eq!(found.rejected[0]["line"], 31);
    assert!(
        found.rejected[0]["reason"].as_str().unwrap().starts_with("no field text"),
        "{:?}",
        found.rejected
    );
    assert!(text(found.kept("a")) == file.concat().replace(&hidden, ""));
    let kept = dir.output("a -w 2 --missing-text keep", "kept");
    assert_eq!((&kept.summary["documents"], kept.rejected.len()), (&32.into(), 0));
    assert!(text(kept.kept("a")) == file.concat());
}

#[test]
fn fields_of_pages_have_names() {
    let dir = Dir::new();
    let at = |id: &str, year: &str| page(id, "the same text in all of them").replace("2024", year);
    dir.write("a", [WIKI, &at("1", "2020"), &at("2", "2021"), &at("3", "2019"), "</mediawiki>"].concat());
    assert_eq!(dir.output("a --keep field:date:max", "newest").removed_ids(), ["1", "3"]);
    assert_eq!(dir.output("a --keep field:id:max --id-field title", "last").removed_ids(), ["T 1", "T 2"]);
    dir.dedup("a --shard-size 1M --out x").code(3).says("--to jsonl");
}

#[test]
fn pages_that_are_not_closed_cost_no_others() {
    let dir = Dir::new();
    let pages: Vec<String> = (0..40).map(|at| page(&format!("{at}"), &words(100 * at, 50))).collect();
    let open = "<page>\n    <title>open</title>\n    <id>9</id>\n    <revision>\n      <text>a text with";
    let file = [WIKI, &pages[..20].concat(), open, &pages[20..].concat(), "<page>\n    <title>cut"].concat();
    dir.write("a", &file);
    let found = dir.output("a -w 2", "out");
    assert_eq!((&found.summary["documents"], found.rejected.len()), (&40.into(), 2));
    assert!(found.rejected.iter().all(|row| row["reason"] == "malformed: a <page> without its </page>"));
    assert!(text(found.kept("a")) == [WIKI, &pages.concat()].concat());
}
