//! PDF: the same documents as in other formats, kept files, and what damage, bombs and pages without an end cost.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use crate::support::cut_off::start;
use crate::support::job::done;
use crate::support::loads::whole;
use crate::support::output::{Output, jsonl, label};
use crate::support::pdfs::{LOCKED, TOOLS, file, joined, page, pdf, stream};
use crate::support::program::Dir;
use crate::support::tar::{Dialect, archive, member};
use crate::support::texts::{gzip, zst};

const LINES: &str = "Near-duplicate documents differ in a few words.\n\
    They are found by their shingles: runs of words.\n\
    Two sets of shingles resemble each other as far as\n\
    they share members. A fine, efficient, official affair:\n\
    what is alike is kept once, and the rest is listed.";

/// Some texts of the sample, with numbers for names.
fn documents() -> Vec<(String, String)> {
    let sample =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).unwrap();
    let texts = jsonl(sample.as_bytes()).into_iter().map(|row| joined(row["text"].as_str().unwrap()));
    texts.take(150).enumerate().map(|(at, text)| (format!("{at:05}"), text)).collect()
}

/// Which documents go, and for which, by the numbers that are their names.
fn decided(output: &Output) -> BTreeSet<(String, String)> {
    let number = |id: String| id.rsplit('/').next().unwrap()[..5].to_owned();
    let rows = output.duplicates.iter();
    rows.map(|row| (number(label(&row["id"])), number(label(&row["representative"])))).collect()
}

/// The text of a PDF as the program reads it, or why it does not.
fn read(bytes: &[u8], flags: &str) -> Result<String, String> {
    let dir = Dir::new();
    dir.write("a.pdf", bytes);
    let ran = dir.dedup(&format!("a.pdf --to jsonl --max-rejected 100% --out out {flags}"));
    if !dir.join("out").exists() {
        return Err(ran.stderr);
    }
    let found = Output::read(&dir.join("out"));
    match found.rejected.first() {
        Some(row) => Err(row["reason"].as_str().unwrap().to_owned()),
        None => Ok(jsonl(found.kept.values().next().unwrap())[0]["text"].as_str().unwrap().trim().to_owned()),
    }
}

#[test]
fn the_same_documents_are_the_same_clusters() {
    let dir = Dir::new();
    let mut lines = String::new();
    for (name, text) in documents() {
        dir.write(&format!("in/{name}.pdf"), pdf(&text, "A title", "20240102"));
        lines += &format!("{}\n", serde_json::json!({"id": name, "text": text}));
    }
    dir.write("a.jsonl", lines);
    let expected = decided(&dir.output("a.jsonl", "jsonl"));
    assert!(expected.len() > 20, "{}", expected.len());
    for workers in [1, 2, 3] {
        let found = dir.output(&format!("in -w {workers}"), &format!("out{workers}"));
        assert!(found.rejected.is_empty(), "{:?}", found.rejected);
        assert_eq!(decided(&found), expected, "{workers} workers");
        assert_eq!(found.kept.len(), documents().len() - expected.len());
        let same =
            |(name, bytes): (&String, &Vec<u8>)| std::fs::read(dir.join("in").join(name)).unwrap() == *bytes;
        assert!(found.kept.iter().all(same));
    }
    done(&dir, (2, 2), &format!("dedup {} --out two", dir.join("in").display()));
    assert_eq!(decided(&Output::read(&dir.join("two"))), expected);
}

#[test]
fn documents_of_any_tool_are_read() {
    let dir = Dir::new();
    for (tool, bytes) in TOOLS {
        assert_eq!(read(bytes, "").as_deref(), Ok(LINES), "{tool}");
        dir.write(&format!("in/{tool}.pdf"), bytes);
    }
    // As members of an archive they are what they are as files.
    let put = |(tool, bytes): &(&str, &[u8])| member(Dialect::Ustar, &format!("{tool}.pdf"), bytes);
    let packed = archive(&TOOLS.iter().map(put).collect::<Vec<_>>());
    dir.write("a.tar", &packed);
    dir.write("b.tar.gz", gzip(&packed, 999));
    for input in ["in", "a.tar", "b.tar.gz"] {
        let found = dir.output(&format!("{input} --method exact"), &format!("out-{input}"));
        assert_eq!((&found.summary["documents"], found.duplicates.len()), (&5.into(), 4), "{input}");
        assert!(found.rejected.is_empty(), "{:?}", found.rejected);
    }
}

#[test]
fn wherever_it_is_met_it_is_the_same() {
    let dir = Dir::new();
    let bytes = pdf("Some <text> &\ncaf\u{e9} \u{1f600}", "A & \u{df}", "20240102030405+01'30'");
    for (name, bytes) in [
        ("a.pdf", bytes.clone()),
        ("no-name", bytes.clone()),
        ("c.txt", bytes.clone()),
        ("b.pdf.gz", gzip(&bytes, 99)),
        ("d.zst", zst(&bytes, 99)),
        ("junk.pdf", [b"HTTP/1.0 200\r\n\r\n", &bytes[..]].concat()),
    ] {
        dir.write(&format!("{name}/{name}"), bytes);
        for input in [name.to_owned(), format!("{name}/{name}"), format!("{name}/*")] {
            let out = format!("out-{}", input.replace(['/', '*'], "-"));
            let found = dir.output(&format!("{input} --to jsonl"), &out);
            let written = jsonl(found.kept.values().next().unwrap());
            let [title, date, text] =
                ["title", "date", "text"].map(|name| written[0][name].as_str().unwrap());
            assert_eq!(
                (title, date, text.trim()),
                ("A & \u{df}", "2024-01-02T03:04:05+01:30", "Some <text> &\ncaf\u{e9} \u{1f600}"),
                "{input}"
            );
        }
    }
    for flag in ["", "--input-format pdf"] {
        let out = format!("piped{}", flag.len());
        dir.alike(&format!("dedup - {flag} --to jsonl --out {out}"), Some(&bytes)).ok();
        let found = Output::read(&dir.join(&out));
        assert_eq!(jsonl(found.kept.values().next().unwrap())[0]["title"], "A & \u{df}");
    }
    dir.write("about.txt", "%PDF-1.7 is how a PDF begins");
    let found = dir.output("about.txt", "out-about");
    assert_eq!(found.summary["documents"], 1);
}

#[test]
fn what_has_no_text_is_refused_by_its_reason() {
    let dir = Dir::new();
    let scan = file(&page(b"0 0 m 9 9 l S"));
    dir.write("in/scan.pdf", &scan);
    let table = scan.windows(4).rposition(|bytes| bytes == b"xref").unwrap() - "start".len();
    dir.write("in/cut.pdf", &scan[..table]);
    // What is left of it has pages with texts.
    let long = pdf(&"a line\n".repeat(600), "T", "2024");
    dir.write("in/half.pdf", &long[..long.len() * 7 / 10]);
    let cut = "malformed: a PDF that is cut: its end is missing; get the file again";
    let said = |objects: &[u8]| String::from_utf8_lossy(objects).replace("/Count 1", "/Count 2").into_bytes();
    let objects: Vec<Vec<u8>> = page(b"BT /F 9 Tf (text) Tj ET");
    let fewer = [&objects[..2], &[said(&objects[2])], &objects[3..]].concat();
    dir.write("in/fewer.pdf", file(&fewer));
    dir.write("in/locked.pdf", LOCKED);
    dir.write("in/none.pdf", "a page of something else");
    dir.write("in/good.pdf", pdf("a text", "T", "2024"));
    dir.write("in/strange.pdf", file(&[&page(b"BT /F 9 Tf <0102030405> Tj ET")[..5], &[
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [1 0 0 1 0 0] /CharProcs << >> /FirstChar 0 \
          /LastChar 5 /Widths [1 1 1 1 1 1] /Encoding << /Differences [0 /a /b /c /d /e /f] >> >>"
            .to_vec(),
    ]].concat()));
    for workers in [1, 2] {
        let found = dir.output(&format!("in -w {workers} --max-rejected 90%"), &format!("out{workers}"));
        let mut told: Vec<(String, String)> =
            found.rejected.iter().map(|row| (label(&row["file"]), label(&row["reason"]))).collect();
        told.sort();
        let row = |file: &str, reason: &str| (format!("in/{file}.pdf"), reason.to_owned());
        assert_eq!(
            told,
            [
                row("cut", cut),
                row("fewer", "malformed: a PDF that says it has more pages than can be found"),
                row("half", cut),
                row("locked", "malformed: a PDF that opens with a password only"),
                row("none", "malformed: no PDF, or one whose pages cannot be found"),
                row("scan", "no text: scanned pages?"),
                row("strange", "no text: fonts that name no characters"),
            ]
        );
        // Nothing is known against files without a text.
        let kept: Vec<&str> = found.kept.keys().map(String::as_str).collect();
        assert_eq!(kept, ["good.pdf", "scan.pdf", "strange.pdf"]);
    }
}

#[test]
fn damage_costs_a_file_and_no_run() {
    let dir = Dir::new();
    let written = pdf("Some text\nin lines", "T", "2024");
    let mut files = 0;
    for (name, bytes) in [("written", &written[..]), TOOLS[0], TOOLS[4]] {
        for part in 0..40 {
            let mut put = |kind: &str, bytes: &[u8]| {
                dir.write(&format!("in/{name}-{kind}-{part}.pdf"), bytes);
                files += 1;
            };
            put("cut", &bytes[..(bytes.len() * part / 40).max(1)]);
            let mut flipped = bytes.to_vec();
            flipped[bytes.len() * part / 40] ^= 0x15;
            put("flipped", &flipped);
        }
    }
    let mut rejected = None;
    for workers in [1, 2] {
        let line = format!("in --max-rejected 100% --method exact -w {workers}");
        let found = dir.output(&line, &format!("out{workers}"));
        let documents = found.summary["documents"].as_u64().unwrap() as usize;
        assert_eq!(documents + found.rejected.len(), files, "{}", found.summary);
        assert!(documents > 20, "many are as good as before: {documents}");
        assert_eq!(*rejected.get_or_insert_with(|| found.rejected.clone()), found.rejected);
    }
}

#[test]
fn bombs_are_refused() {
    // A thousand bytes a byte, and once more in another filter.
    let long = page(format!("BT /F 9 Tf 9 TL {} ET", "(aaaaaaaaaaaaaaaa) Tj T* ".repeat(100_000)).as_bytes());
    let why = read(&file(&long), "--max-record-bytes 1MiB").expect_err("too long");
    assert!(why.contains("longer than the 1048576 bytes allowed"), "{why}");
    let mut spaces = page(b"");
    spaces[4] = stream("", &vec![b' '; 400 << 20]);
    let why = read(&file(&spaces), "").expect_err("too large");
    assert!(why.contains("no text"), "{why}");
    let why = read(&file(&page(b"BT /F 9 Tf (a) Tj ET")), "--memory 256MiB -w 2").expect_err("no room");
    assert!(why.contains("allow about 580 MiB with --memory"), "{why}");
    assert_eq!(read(&file(&page(b"BT /F 9 Tf (a b) Tj ET")), "--memory 600MiB -w 2").as_deref(), Ok("a b"));
}

#[test]
fn loops_and_depths_end() {
    let mut tree = page(b"BT /F 9 Tf (text) Tj ET");
    tree[2] = b"<< /Type /Pages /Kids [3 0 R 4 0 R 3 0 R] /Count 3 /MediaBox [0 0 612 792] >>".to_vec();
    let mut drawn = page(b"BT /F 9 Tf (text) Tj ET /X Do");
    drawn.push(stream(
        "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 7 0 R >> >>",
        b"/X Do",
    ));
    let mut length = page(b"BT /F 9 Tf (text) Tj ET");
    length[4] = b"<< /Length 5 0 R >>\nstream\nBT /F 9 Tf (text) Tj ET\nendstream".to_vec();
    let mut inherited = page(b"BT /F 9 Tf (text) Tj ET");
    inherited[3] = b"<< /Type /Page /Parent 4 0 R /Contents 5 0 R >>".to_vec();
    for (name, objects) in [("tree", tree), ("drawn", drawn), ("length", length), ("inherited", inherited)] {
        let found = read(&file(&objects), "");
        let told = found.as_ref().map_or_else(
            |why| why.contains("malformed") || why.contains("no text"),
            |text| text.contains("text"),
        );
        assert!(told, "{name}: {found:?}");
    }
    for (open, close) in [("[", "]"), ("<< /A ", " >>"), ("q ", "Q ")] {
        for depth in [1000, 300_000] {
            let nested = format!("{}{} BT /F 9 Tf (text) Tj ET", open.repeat(depth), close.repeat(depth));
            let mut objects = page(nested.as_bytes());
            objects
                .extend([b"null".to_vec(), format!("{}{}", open.repeat(depth), close.repeat(depth)).into()]);
            objects[1] = b"<< /Title 8 0 R >>".to_vec();
            let found = read(&file(&objects), "");
            let told = found.as_ref().map_or_else(
                |why| why.contains("no text") || why.contains("malformed"),
                |text| text == "text",
            );
            assert!(told, "{open}{depth}: {found:?}");
        }
    }
}

/// A page that draws a form that draws another one ten times, and so on.
fn endless() -> Vec<u8> {
    let mut objects = page(b"/X Do");
    for at in 0..40 {
        let next = format!(
            "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {} 0 R >> >>",
            at + 8
        );
        objects.push(stream(&next, "/X Do ".repeat(10).as_bytes()));
    }
    file(&objects)
}

#[test]
fn a_pdf_without_an_end_costs_a_file_and_no_run() {
    let dir = Dir::new();
    dir.write("in/a.pdf", pdf("a text", "T", "2024"));
    dir.write("in/b.pdf", endless());
    dir.write("in/c.pdf", pdf("another text", "T", "2024"));
    let begun = Instant::now();
    let found = dir.output("in -w 1 --method exact --max-rejected 50%", "out");
    // Twenty seconds of computing are more where others compute, too; without an end it is for ever.
    assert!(begun.elapsed() < Duration::from_secs(300), "{:?}", begun.elapsed());
    assert_eq!(found.summary["documents"], 2);
    let reasons: Vec<String> = found.rejected.iter().map(|row| label(&row["reason"])).collect();
    assert_eq!(reasons, ["no text was extracted: reading it took more than 5 seconds of computing"]);
    // Nothing is known against it.
    assert_eq!(found.kept.keys().collect::<Vec<_>>(), ["a.pdf", "b.pdf", "c.pdf"]);
}

/// The processes that read PDFs below a process.
#[cfg(target_os = "linux")]
fn readers(parent: u32) -> Vec<u32> {
    let listed = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_reader = |id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let command = std::fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let above = stat.rsplit(')').next().unwrap_or_default().split_whitespace().nth(1).map(str::to_owned);
        command.contains("\0read-pdfs\0") && above == Some(parent.to_string())
    };
    listed.filter(is_reader).collect()
}

/// Waits until something is there.
#[cfg(target_os = "linux")]
fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn who_reads_ends_with_who_asks_and_another_takes_its_place() {
    use rustix::process::{Pid, Signal, kill_process};

    let gone = |reader: u32| {
        until("the reader ends", || {
            (!std::path::Path::new(&format!("/proc/{reader}/exe")).exists()).then_some(())
        });
    };
    let kill = |id: u32, signal| kill_process(Pid::from_raw(id as i32).unwrap(), signal).unwrap();
    for signal in [Signal::KILL, Signal::INT, Signal::TERM] {
        let dir = Dir::new();
        dir.write("in/a.pdf", endless());
        let mut child = start(&dir, "dedup in --out out -w 1");
        let reader = until("a reader", || readers(child.id()).first().copied());
        let begun = Instant::now();
        kill(child.id(), signal);
        child.wait().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(3), "{signal:?}: {:?}", begun.elapsed());
        gone(reader);
        // What is killed cannot remove what it has begun to write.
        assert!(signal == Signal::KILL || dir.names() == ["in"], "{:?}", dir.names());
    }
    // One that is killed costs nothing if it has read others before, and else the file.
    let dir = Dir::new();
    dir.write("in/a.pdf", pdf("a text", "T", "2024"));
    dir.write("in/b.pdf", endless());
    let child = start(&dir, "dedup in --out out -w 1 --method exact --max-rejected 100%");
    let mut killed = BTreeSet::new();
    while killed.len() < 2 {
        let reader =
            until("a reader", || readers(child.id()).into_iter().find(|reader| !killed.contains(reader)));
        // It may be at work on the first one.
        std::thread::sleep(Duration::from_millis(500));
        kill(reader, Signal::KILL);
        gone(reader);
        killed.insert(reader);
    }
    assert!(child.wait_with_output().unwrap().status.success());
    let found = Output::read(&dir.join("out"));
    assert_eq!(found.summary["documents"], 1);
    assert!(
        label(&found.rejected[0]["reason"]).contains("the process that read it broke"),
        "{:?}",
        found.rejected
    );
}

#[test]
fn titles_and_dates_are_fields() {
    let dir = Dir::new();
    for (title, date) in [("one", "20240102"), ("two", "20250102"), ("three", "20230102")] {
        dir.write(&format!("in/{title}.pdf"), pdf("the same text in all of them", title, date));
    }
    let newest = dir.output("in --keep field:date:max --id-field title", "newest");
    let removed: BTreeSet<String> = newest.removed_ids().into_iter().collect();
    assert_eq!(removed, ["one", "three"].map(str::to_owned).into());
}

#[test]
fn collections_keep_the_files_and_read_them_again() {
    let dir = Dir::new();
    for (name, text) in documents().into_iter().filter(|(name, _)| name < &"00080".to_owned()) {
        dir.write(&format!("in/{name}.pdf"), pdf(&text, "T", "2024"));
    }
    let direct = dir.output("in", "out");
    let expected = decided(&direct);
    let (gone, stays) = expected.first().unwrap();
    let told = dir.alike(&format!("explain out in/{gone}.pdf:1 in/{stays}.pdf:1"), None).ok();
    assert!(told.stdout.contains("resemblance") || told.stdout.contains("similarity"), "{}", told.stdout);
    dir.alike("show out 1", None).ok();
    for (flags, name) in [("", "pointed"), ("--store-text", "stored")] {
        dir.alike(&format!("load {name} in {flags} -w 2 --clustering guarantee"), None).ok();
        whole(&dir, name);
        dir.alike(&format!("export {name} --out out-{name}"), None).ok();
        let found = Output::read(&dir.join(&format!("out-{name}")));
        assert_eq!(decided(&found), expected, "{name}");
        assert!(found.kept == direct.kept, "{name}");
        dir.alike(&format!("explain {name} {gone}.pdf {stays}.pdf"), None).ok();
    }
}
