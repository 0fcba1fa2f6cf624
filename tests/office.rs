//! DOCX, ODT and EPUB: the same documents as in other formats, kept files, damage, bombs and lies.

use std::collections::BTreeSet;

use crate::support::job::done;
use crate::support::loads::whole;
use crate::support::output::{Output, jsonl, label};
use crate::support::packages::{Member, docx_members, epub_members, odt_members, zip};
use crate::support::program::Dir;
use crate::support::texts::{gzip, zst};

/// Makes the members of a document of a text, a title and a date.
type Make = fn(&str, &str, &str) -> Vec<Member>;

const KINDS: [(&str, Make); 3] = [("docx", docx_members), ("odt", odt_members), ("epub", epub_members)];

/// The texts of the sample, with numbers for names.
fn documents() -> Vec<(String, String)> {
    let sample =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).unwrap();
    let texts = jsonl(sample.as_bytes()).into_iter().map(|row| row["text"].as_str().unwrap().to_owned());
    texts.enumerate().map(|(at, text)| (format!("{at:05}"), text)).collect()
}

/// Which documents go, and for which, by the numbers that are their names.
fn decided(output: &Output) -> BTreeSet<(String, String)> {
    let number = |id: String| id.rsplit('/').next().unwrap()[..5].to_owned();
    let rows = output.duplicates.iter();
    rows.map(|row| (number(label(&row["id"])), number(label(&row["representative"])))).collect()
}

#[test]
fn the_same_documents_are_the_same_clusters() {
    let dir = Dir::new();
    let mut lines = String::new();
    for (name, text) in documents() {
        for (kind, members) in KINDS {
            dir.write(&format!("{kind}/{name}.{kind}"), zip(&members(&text, "A title", "2024-01-02")));
        }
        lines += &format!("{}\n", serde_json::json!({"id": name, "text": text}));
    }
    dir.write("a.jsonl", lines);
    let expected = decided(&dir.output("a.jsonl", "jsonl"));
    assert!(expected.len() > 100);
    for (kind, _) in KINDS {
        for workers in [1, 2, 3] {
            let found = dir.output(&format!("{kind} -w {workers}"), &format!("out-{kind}{workers}"));
            assert!(found.rejected.is_empty(), "{kind}: {:?}", found.rejected);
            assert_eq!(decided(&found), expected, "{kind} on {workers} workers");
            assert_eq!(found.kept.len(), documents().len() - expected.len());
            let same = |(name, bytes): (&String, &Vec<u8>)| {
                std::fs::read(dir.join(kind).join(name)).unwrap() == *bytes
            };
            assert!(found.kept.iter().all(same), "{kind}");
        }
        done(&dir, (2, 2), &format!("dedup {} --out two-{kind}", dir.join(kind).display()));
        assert_eq!(decided(&Output::read(&dir.join(&format!("two-{kind}")))), expected, "{kind}");
    }
}

#[test]
fn wherever_they_are_met_they_are_the_same() {
    let dir = Dir::new();
    for (kind, members) in KINDS {
        let file = zip(&members("Some <text> &\ncaf\u{e9}", "A & b", "2024-01-02"));
        for (name, bytes) in [
            (format!("a.{kind}"), file.clone()),
            (format!("{kind}-no-name"), file.clone()),
            (format!("{kind}.txt"), file.clone()),
            (format!("b.{kind}.gz"), gzip(&file, 99)),
            (format!("{kind}.zst"), zst(&file, 99)),
        ] {
            dir.write(&format!("{name}/{name}"), bytes);
            for input in [name.clone(), format!("{name}/{name}"), format!("{name}/*")] {
                let out = format!("out-{}", input.replace(['/', '*'], "-"));
                let ran = dir.output(&format!("{input} --to jsonl"), &out);
                let written = jsonl(ran.kept.values().next().unwrap());
                let [title, date, text] =
                    ["title", "date", "text"].map(|name| written[0][name].as_str().unwrap());
                assert_eq!(
                    (title, &date[..10], text.trim()),
                    ("A & b", "2024-01-02", "Some <text> &\ncaf\u{e9}"),
                    "{input}"
                );
            }
        }
        for flag in [String::new(), format!("--input-format {kind}")] {
            let out = format!("piped-{kind}{}", flag.len());
            dir.alike(&format!("dedup - {flag} --to jsonl --out {out}"), Some(&file)).ok();
            let found = Output::read(&dir.join(&out));
            assert_eq!(jsonl(found.kept.values().next().unwrap())[0]["title"], "A & b");
        }
    }
}

#[test]
fn a_package_that_says_late_what_it_is_goes_by_its_content_and_else_by_its_name() {
    let dir = Dir::new();
    let mut late = docx_members("a text", "t", "2024-01-02");
    late.rotate_left(1);
    late.insert(0, Member { stored: true, ..Member::new("docProps/thumbnail.jpeg", vec![7; 100_000]) });
    dir.write("late", zip(&late));
    assert_eq!(dir.output("late", "out-late").summary["documents"], 1);
    late[0].content = vec![7; 1 << 20];
    dir.write("later", zip(&late));
    dir.dedup("later --out no").code(3).says("a package of a document").says("unpack it");
    dir.write("later.docx", zip(&late));
    assert_eq!(dir.output("later.docx", "out-later").summary["documents"], 1);
    dir.write("a.docx", zip(&epub_members("a book", "t", "2024")));
    assert_eq!(dir.output("a.docx", "out-book").summary["documents"], 1);
}

#[test]
fn other_documents_are_refused_by_their_names() {
    let dir = Dir::new();
    let typed = |main: &str| {
        let types = format!("<Types><Override ContentType=\"application/vnd.{main}.main+xml\"/></Types>");
        zip(&[Member::new("[Content_Types].xml", types), Member::new("x/y.xml", "<y/>")])
    };
    let open = |kind: &str| {
        zip(&[
            Member::new("mimetype", format!("application/vnd.oasis.opendocument.{kind}")),
            Member::new("content.xml", "<x/>"),
        ])
    };
    for (name, bytes, says, advice) in [
        ("a.xlsx", typed("openxmlformats-officedocument.spreadsheetml.sheet"), "spreadsheet", "as CSV"),
        (
            "a.pptx",
            typed("openxmlformats-officedocument.presentationml.presentation"),
            "presentation",
            "extract its text",
        ),
        ("a.ods", open("spreadsheet"), "spreadsheet", "as CSV"),
        ("a.odp", open("presentation"), "presentation", "extract its text"),
        ("a.odg", open("graphics"), "OpenDocument other than a text", "extract its text"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(), "Microsoft Office", "as DOCX"),
        // What is encrypted is such a file, whatever it is called.
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(), "Microsoft Office", "without a password"),
        ("a.jar", zip(&[Member::new("META-INF/MANIFEST.MF", "text")]), "zip", "unpack it"),
    ] {
        dir.write(&format!("in-{name}/{name}"), &bytes);
        for input in [format!("in-{name}"), format!("in-{name}/{name}"), format!("in-{name}/*")] {
            dir.dedup(&format!("{input} --out no")).code(3).says(&format!("format {says},")).says(advice);
        }
        let piped = dir.alike("dedup - --out no", Some(&bytes)).code(3);
        assert!(piped.stderr.contains(&format!("format {says},")), "{}", piped.stderr);
    }
}

#[test]
fn damage_costs_a_file_and_no_run() {
    let dir = Dir::new();
    for (kind, members) in KINDS {
        let file = zip(&members("Some text\nin lines", "T", "2024-01-02"));
        for length in 1..file.len() {
            dir.write(&format!("cut-{kind}/{length:05}.{kind}"), &file[..length]);
        }
        let ran = dir.output(&format!("cut-{kind} --max-rejected 100%"), &format!("out-cut-{kind}"));
        assert_eq!((&ran.summary["documents"], ran.rejected.len()), (&0.into(), file.len() - 1), "{kind}");
        for at in 0..file.len() {
            let mut bytes = file.clone();
            bytes[at] ^= 0x15;
            dir.write(&format!("flipped-{kind}/{at:05}.{kind}"), bytes);
        }
        let line = format!("flipped-{kind} --max-rejected 100% --method exact -w 2");
        let ran = dir.output(&line, &format!("out-flipped-{kind}"));
        let documents = ran.summary["documents"].as_u64().unwrap() as usize;
        let skipped = ran.summary["skipped"].as_array().map_or(0, Vec::len);
        assert!(documents + ran.rejected.len() + skipped >= file.len() - 4, "{kind}: {documents}");
        // What was changed within a part is found out by its sum.
        let texts: BTreeSet<&Vec<u8>> = ran.kept.values().collect();
        assert!(texts.len() < 40, "{kind}: {} texts", texts.len());
    }
}

/// The text of a package, changed by `change`, as the program reads it; or why it does not.
fn read(kind: &str, change: impl FnOnce(&mut Vec<Member>), flags: &str) -> Result<String, String> {
    let dir = Dir::new();
    let (_, members) = KINDS.into_iter().find(|(known, _)| *known == kind).unwrap();
    let mut members = members("first\nsecond", "T", "2024-01-02");
    change(&mut members);
    dir.write("a.bin", zip(&members));
    let ran =
        dir.dedup(&format!("a.bin --input-format {kind} --to jsonl --max-rejected 100% --out out {flags}"));
    if !dir.join("out").exists() {
        return Err(ran.stderr);
    }
    let found = Output::read(&dir.join("out"));
    match found.rejected.first() {
        Some(row) => Err(row["reason"].as_str().unwrap().to_owned()),
        None => Ok(jsonl(found.kept.values().next().unwrap())[0]["text"].as_str().unwrap().trim().to_owned()),
    }
}

fn part<'a>(members: &'a mut [Member], name: &str) -> &'a mut Member {
    members.iter_mut().find(|member| member.name == name).unwrap()
}

#[test]
fn bombs_and_lies_are_refused() {
    let main = |kind: &str| match kind {
        "docx" => "word/document.xml",
        "odt" => "content.xml",
        _ => "OPS/a.xhtml",
    };
    for (kind, _) in KINDS {
        assert_eq!(read(kind, |_| {}, ""), Ok("first\nsecond".to_owned()));
        // Pictures are no text, however large they are.
        let picture = || Member { stored: true, ..Member::new("media/a.png", vec![0xff; 3 << 20]) };
        let with_picture = read(kind, |members| members.push(picture()), "--max-record-bytes 1MiB");
        assert_eq!(with_picture, Ok("first\nsecond".to_owned()), "{kind}");
        let three =
            read(kind, |members| members.extend([(); 3].map(|()| picture())), "--max-record-bytes 1MiB");
        assert!(
            three.unwrap_err().contains("longer than the 8388608 bytes allowed of a file with pictures"),
            "{kind}"
        );
        let refused = |change: &dyn Fn(&mut Member), flags: &str, says: &str| {
            let why = read(kind, |members| change(part(members, main(kind))), flags).expect_err(says);
            assert!(why.contains(says), "{kind}: {why} does not say {says}");
        };
        let bomb = |member: &mut Member| member.content = vec![b' '; 40 << 20];
        refused(&bomb, "--max-record-bytes 1MiB", "longer than the 8388608 bytes allowed");
        refused(&bomb, "--max-record-bytes 6MiB", "longer than the 6291456 bytes allowed");
        refused(&bomb, "", "longer than the 16777216 bytes allowed");
        refused(&bomb, "--max-record-bytes 64M --memory 64M -w 1", "may take of the memory allowed");
        for said in [0, 10, 9999, u32::MAX - 1] {
            let why =
                read(kind, |members| part(members, main(kind)).said = Some(said), "").expect_err("refused");
            let says =
                ["longer than the", "declared uncompressed size", "is not as long as the package says"];
            assert!(says.iter().any(|says| why.contains(says)), "{kind} of {said} bytes: {why}");
        }
        let deep = |member: &mut Member| {
            member.content = format!("{}{}", "<a>".repeat(9000), "</a>".repeat(9000)).into();
        };
        if kind != "epub" {
            refused(&deep, "", "4096 elements within each other");
            refused(&|member| member.content.truncate(80), "", "is no XML at byte");
        }
        let missing = read(kind, |members| members.retain(|member| member.name != main(kind)), "");
        match kind {
            // A book goes on at the next page.
            "epub" => assert_eq!(missing, Ok("second".to_owned())),
            _ => assert!(missing.unwrap_err().contains("lacks the part"), "{kind}"),
        }
    }
    let pages = read("epub", |members| members.retain(|member| !member.name.ends_with(".xhtml")), "");
    assert!(pages.unwrap_err().contains("lacks the part OPS/a.xhtml"));
    // Nothing that a document declares is expanded, nor fetched.
    let laughs = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\"><!ENTITY c SYSTEM \"/etc/passwd\">]>";
    let declared = |members: &mut Vec<Member>| {
        part(members, "content.xml").content = format!("{laughs}<x><p>a&b;&c;&amp;&#98;</p></x>").into();
    };
    assert_eq!(read("odt", declared, ""), Ok("a\u{fffd}\u{fffd}&b".to_owned()));
    let spaces = |members: &mut Vec<Member>| {
        part(members, "content.xml").content = b"<x><p>a<s c=\"4000000000\"/></p></x>".to_vec();
    };
    assert_eq!(read("odt", spaces, ""), Ok("a".to_owned()));
    // A part that is named again and again is unpacked once.
    let again = |members: &mut Vec<Member>| {
        let named = |kind| format!("<Relationship Type=\"x/{kind}\" Target=\"document.xml\"/>");
        let list = format!("<Relationships>{}{}</Relationships>", named("header"), named("footer"));
        part(members, "word/_rels/document.xml.rels").content = list.into();
    };
    assert!(read("docx", again, "").unwrap_err().contains("is named twice"));
}

#[test]
fn a_directory_of_too_many_members_is_not_read() {
    let heads = b"PK\x01\x02".repeat(70_000);
    let many = |members: &mut Vec<Member>| {
        members.push(Member { stored: true, ..Member::new("x.bin", heads) });
    };
    assert!(read("docx", many, "").unwrap_err().contains("more than 16384 members"));
}

#[test]
fn protected_books_are_refused_and_obfuscated_fonts_are_none_of_them() {
    let encryption = |uri: &str| {
        let list =
            format!("<encryption><CipherData><CipherReference URI=\"{uri}\"/></CipherData></encryption>");
        move |members: &mut Vec<Member>| members.push(Member::new("META-INF/encryption.xml", list))
    };
    assert!(read("epub", encryption("OPS/b%20c.xhtml"), "").unwrap_err().contains("is encrypted"));
    assert_eq!(read("epub", encryption("OPS/font.otf"), ""), Ok("first\nsecond".to_owned()));
}

#[test]
fn titles_and_dates_are_fields() {
    for (kind, members) in KINDS {
        let dir = Dir::new();
        for (title, date) in [("one", "2024-01-02"), ("two", "2025-01-02"), ("three", "2023-01-02")] {
            dir.write(
                &format!("in/{title}.{kind}"),
                zip(&members("the same text in all of them", title, date)),
            );
        }
        let newest = dir.output("in --keep field:date:max --id-field title", "newest");
        let removed: BTreeSet<String> = newest.removed_ids().into_iter().collect();
        assert_eq!(removed, ["one", "three"].map(str::to_owned).into(), "{kind}");
    }
}

#[test]
fn collections_keep_the_files_and_read_them_again() {
    let dir = Dir::new();
    for (kind, members) in KINDS {
        for (at, (name, text)) in documents().into_iter().enumerate().filter(|(at, _)| at % 3 == 0) {
            dir.write(
                &format!("{kind}/{name}.{kind}"),
                zip(&members(&text, &format!("T{at}"), "2024-01-02")),
            );
        }
        let direct = dir.output(kind, &format!("out-{kind}"));
        let expected = decided(&direct);
        let (gone, stays) = expected.first().unwrap();
        let [gone, stays] = [gone, stays].map(|number| format!("{kind}/{number}.{kind}"));
        let told = dir.alike(&format!("explain out-{kind} {gone}:1 {stays}:1"), None).ok();
        assert!(told.stdout.contains("resemblance") || told.stdout.contains("similarity"), "{}", told.stdout);
        for (flags, name) in [("", "pointed"), ("--store-text", "stored")] {
            let collection = format!("c-{kind}-{name}");
            dir.alike(&format!("load {collection} {kind} {flags} -w 2 --clustering guarantee"), None).ok();
            whole(&dir, &collection);
            dir.alike(&format!("export {collection} --out out-{collection}"), None).ok();
            let found = Output::read(&dir.join(&format!("out-{collection}")));
            assert_eq!(decided(&found), expected, "{collection}");
            assert!(found.kept == direct.kept, "{collection}");
            let [gone, stays] = [&gone, &stays].map(|path| path.rsplit('/').next().unwrap());
            dir.alike(&format!("explain {collection} {gone} {stays}"), None).ok();
        }
    }
}
