//! The memory that long records and wide windows take, held to `--memory`; and the caps of files that people write.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::job::done;
use crate::support::program::{Dir, Ran};
use crate::support::texts::{Random, gzip, line};

const MIB: u64 = 1 << 20;

/// So many words by chance, a few to a line, so that the text has escapes.
fn words(random: &mut Random, count: usize) -> String {
    let mut text = String::new();
    for at in 0..count {
        let end = if at % 16 == 0 { '\n' } else { ' ' };
        let _ = write!(text, "{:05x}{end}", random.below(1 << 20));
    }
    text
}

/// Records of about so many bytes; of each pair the second is like the first.
fn records(count: usize, bytes: usize) -> String {
    let mut random = Random(3);
    let mut lines = String::new();
    for at in 0..count / 2 {
        let text = words(&mut random, bytes / 6);
        lines.push_str(&line(&format!("a{at}"), &text));
        lines.push_str(&line(&format!("b{at}"), &format!("{text} {}", words(&mut random, 20))));
    }
    lines
}

/// At most a twentieth over the limit, or 32 MiB.
#[track_caller]
fn within(peak: u64, limit: u64, what: &str) {
    assert!(peak <= (limit + 32 * MIB).max(limit / 20 * 21), "{what}: {} MiB of {}", peak / MIB, limit / MIB);
}

/// The MiB that a refusal advises.
#[track_caller]
fn advised(ran: &Ran) -> u64 {
    let advice =
        ran.stderr.split_once("allow about ").unwrap_or_else(|| panic!("no advice: {}", ran.stderr)).1;
    advice.split(' ').next().unwrap().parse().unwrap()
}

/// What decodes for each worker, and what writes tables, is within what a worker has, or takes turns. The bound is that of records of usual
/// length.
#[test]
fn many_workers_keep_to_the_memory_as_they_unpack_and_write_tables() {
    let dir = Dir::new();
    let lines = records(800, 3400);
    for at in 0..8 {
        dir.write(&format!("plain/{at}.jsonl"), &lines);
        dir.write(&format!("gzip/{at}.jsonl.gz"), gzip(lines.as_bytes(), 1 << 20));
    }
    let forms = if cfg!(feature = "parquet") { &["jsonl", "parquet"][..] } else { &["jsonl"] };
    for input in ["plain", "gzip"] {
        for form in forms {
            let what = format!("{input} to {form}");
            let flags = format!("{input} -w 8 --memory 92M --to {form}");
            let peak =
                dir.output(&flags, &what.replace(' ', "-")).summary["peak_memory_bytes"].as_u64().unwrap();
            assert!(peak <= 92 * MIB, "{what}: {} MiB", peak / MIB);
        }
    }
}

/// A table takes something for each of its columns, however short its rows are.
#[test]
fn tables_of_many_columns_keep_to_the_memory_or_say_what_would_do() {
    let dir = Dir::new();
    let table =
        |columns: usize| format!("id,text{}\n1,a b c{}\n", ",k".repeat(columns), ",1".repeat(columns));
    dir.write("few.csv", table(150_000));
    dir.write("many.csv", table(1_000_000));
    for flags in ["", "--annotate", "--to jsonl"] {
        let name = flags.split(' ').next_back().unwrap_or_default().trim_start_matches('-');
        let name = if name.is_empty() { "plain" } else { name };
        let output = dir.output(&format!("few.csv -w 1 --memory 36M {flags}"), name);
        let peak = output.summary["peak_memory_bytes"].as_u64().unwrap();
        assert!(peak <= 64 * MIB, "{flags}: {} MiB", peak / MIB);
    }
    let refused = dir.alike("dedup many.csv --out many -w 1 --memory 36M", None);
    let advised = advised(&refused);
    assert!(refused.stderr.contains("the header has 1000002 columns"), "{}", refused.stderr);
    let flags = format!("many.csv -w 1 --memory {advised}M --annotate");
    let peak = dir.output(&flags, "advised").summary["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak <= advised * MIB, "{} MiB of {advised}", peak / MIB);
}

#[test]
fn long_records_keep_to_the_memory_and_change_nothing() {
    let dir = Dir::new();
    dir.write("in.jsonl", records(8, 7_000_000));
    let want = dir.output("in.jsonl -w 1", "want");
    assert_eq!(want.duplicates.len(), 4);
    for (name, workers) in [("one", 1), ("two", 2)] {
        let output = dir.output(&format!("in.jsonl -w {workers} --memory 64M"), name);
        within(output.summary["peak_memory_bytes"].as_u64().unwrap(), 64 * MIB, name);
        assert_eq!(output.duplicates, want.duplicates);
        assert_eq!(output.kept("in.jsonl"), want.kept("in.jsonl"));
    }
}

#[test]
fn loads_of_long_records_keep_to_the_memory() {
    let dir = Dir::new();
    // Each is an epoch, and the next one may take no more.
    dir.write("in.jsonl", records(8, 8_000_000));
    for workers in [1, 2] {
        let flags = format!("-w {workers} --memory 64M --json-progress");
        let ran = dir.alike(&format!("load c{workers} in.jsonl {flags}"), None).ok();
        let peaks = ran.stderr.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let peaks: Vec<u64> = peaks.filter_map(|line| line["memory_peak_bytes"].as_u64()).collect();
        within(*peaks.iter().max().expect("epochs"), 64 * MIB, &flags);
        let clusters = dir.alike(&format!("clusters c{workers} --json"), None).ok();
        assert_eq!(clusters.stdout.lines().count(), 4, "{}", clusters.stdout);
    }
}

/// Both commands end before they have worked long, and what they advise is enough.
#[test]
fn a_record_that_does_not_fit_is_named_with_what_would_do() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("small", "a few words") + &records(2, 15_000_000));
    for command in ["dedup --out out", "load c"] {
        let run = |memory: u64| dir.alike(&format!("{command} in.jsonl -w 2 --memory {memory}M"), None);
        let refused = run(64).code(3).says("in.jsonl, line 2: has 15").says("2 of 3 records refused");
        let enough = advised(&refused);
        assert!(enough < 1024, "{enough}");
        run(enough).ok();
    }
    dir.write("small.toml", "[input]\nmax_record_bytes = 1000000");
    let few = dir.dedup("in.jsonl --config small.toml --memory 64M --out few").code(3);
    few.says("2 of 3 records refused");
}

/// A crawl of responses whose bodies are compressed as the server sent them.
fn coded(texts: &[String]) -> Vec<u8> {
    let response = |(at, text): (usize, &String)| {
        let body = gzip(text.as_bytes(), text.len());
        let http = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let head = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:a:{at}>\r\nContent-Type: application/http\r\n\
             Content-Length: {}\r\n\r\n",
            http.len() + body.len()
        );
        [head.as_bytes(), http.as_bytes(), &body, b"\r\n\r\n"].concat()
    };
    texts.iter().enumerate().flat_map(response).collect()
}

/// What a record takes is what it becomes, however little of the file it is.
#[test]
fn bodies_of_crawls_keep_to_the_memory_as_they_are_unpacked() {
    let (dir, mut random) = (Dir::new(), Random(5));
    let mut text = |times: usize| words(&mut random, 500).repeat(6 * times);
    let mut texts: Vec<String> = (0..4).map(|_| text(400)).collect();
    texts.push(texts[1].clone());
    let crawl = coded(&texts);
    assert!(crawl.len() * 20 < texts.iter().map(String::len).sum(), "{}", crawl.len());
    dir.write("in.warc", crawl);
    let want = dir.output("in.warc -w 1", "want");
    assert_eq!(want.duplicates.len(), 1);
    for workers in [1, 2] {
        let output = dir.output(&format!("in.warc -w {workers} --memory 64M"), &format!("out{workers}"));
        within(output.summary["peak_memory_bytes"].as_u64().unwrap(), 64 * MIB, "bodies");
        assert_eq!(output.duplicates, want.duplicates);
        assert_eq!(output.kept("in.warc"), want.kept("in.warc"));
    }
    dir.write("long.warc", coded(&[text(3), text(800)]));
    let refused =
        dir.dedup("long.warc -w 2 --memory 64M --out no").code(3).says("record 2: has 14400000 bytes");
    let enough = advised(&refused);
    let output = dir.output(&format!("long.warc -w 2 --memory {enough}M"), "enough");
    within(output.summary["peak_memory_bytes"].as_u64().unwrap(), enough * MIB, "what is advised");
    dir.write("small.toml", "[input]\nmax_record_bytes = 1000000");
    let few = dir.dedup("long.warc --config small.toml --memory 64M --out few").code(3);
    few.says("1 of 2 records refused");
}

#[test]
fn a_load_that_fails_leaves_no_file() {
    let dir = Dir::new();
    dir.write("first.jsonl", line("small", "a few words"));
    dir.write("long.jsonl", records(2, 15_000_000));
    dir.alike("load c first.jsonl", None).ok();
    let files = || {
        let entries = std::fs::read_dir(dir.join("c")).unwrap().map(|entry| entry.unwrap().file_name());
        entries.collect::<std::collections::BTreeSet<_>>()
    };
    let before = files();
    dir.alike("load c long.jsonl -w 2 --memory 64M", None).code(3);
    assert_eq!(files(), before);
}

/// Many short tokens take more memory than a text of the same length has otherwise.
#[test]
fn a_record_of_many_tokens_is_refused_when_they_are_counted() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", &"x y ".repeat(1_800_000)));
    let run = |memory: u64| {
        dir.dedup(&format!("in.jsonl -w 1 --max-record-bytes 32M --memory {memory}M --dry-run"))
    };
    let refused = run(64).code(3).says("allow about");
    run(advised(&refused)).ok();
}

/// Their number is bounded, too, whatever the memory.
#[test]
fn a_record_of_too_many_words_is_refused_and_the_others_are_read() {
    let dir = Dir::new();
    let (many, few) = ("x y ".repeat(1_800_000), "x y ".repeat(130_000));
    dir.write("in.jsonl", line("a", &many) + &line("b", "a few words") + &line("c", &few));
    dir.write("many.html", format!("<p>{many}</p>"));
    for (flags, refused) in [
        ("-w 1", 2),
        ("-w 2 --memory 268M", 2),
        ("-w 1 --memory 64M --max-record-bytes 8M", 2),
        ("-w 2 --max-record-bytes 32M", 0),
        ("-w 2 --max-record-bytes 1M", 2),
    ] {
        let ran = dir.dedup(&format!("in.jsonl many.html --dry-run --max-rejected 80% {flags}")).ok();
        match refused {
            0 => assert!(!ran.stderr.contains("refused"), "{flags}: {}", ran.stderr),
            _ => drop(ran.says(&format!("{refused} records"))),
        }
    }
    let ran = dir.dedup("in.jsonl --dry-run --max-rejected 80%").ok();
    ran.says("line 1: more than the 2796202 words allowed of a record");
}

#[test]
fn texts_and_rows_that_do_not_fit_are_named_and_longer_ones_refused() {
    let dir = Dir::new();
    let text = words(&mut Random(7), 2_000_000);
    dir.write("long.txt", &text);
    dir.write("long.csv", format!("id,text\n1,a few words\n2,\"{text}\"\n3,more words\n"));
    dir.write("small.toml", "[input]\nmax_record_bytes = 6000000");
    for name in ["long.txt", "long.csv"] {
        let refused = dir.dedup(&format!("{name} -w 1 --memory 48M --dry-run")).code(3).says(name);
        let enough = advised(&refused);
        dir.dedup(&format!("{name} -w 1 --memory {enough}M --dry-run")).ok();
        let run = dir.dedup(&format!("{name} --config small.toml -w 1 --memory 48M --dry-run")).code(3);
        run.says("refused").says("6000000");
    }
}

/// A file of lines that asks for a window of so many bytes as a power of two.
fn zst(lines: &str, window: u32) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(window).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.write_all(lines.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn windows_that_do_not_fit_are_refused_before_any_work() {
    let dir = Dir::new();
    let lines: String = (0..50).map(|at| line(&format!("{at}"), &format!("text number {at}"))).collect();
    for name in ["a", "b"] {
        dir.write(&format!("{name}.jsonl.zst"), zst(&lines, 28));
    }
    dir.write("usual.jsonl.zst", zst(&lines, 22));
    dir.dedup("usual.jsonl.zst -w 2 --memory 44M --dry-run").ok();
    for (command, files, mib) in
        [("dedup --dry-run", "a.jsonl.zst", 256), ("load c", "a.jsonl.zst b.jsonl.zst", 512)]
    {
        let run = |memory: u64| dir.alike(&format!("{command} {files} -w 2 --memory {memory}M"), None);
        let refused =
            run(64).code(3).says("a.jsonl.zst").says("window of 256 MiB").says(&format!("{mib} MiB"));
        let enough = advised(&refused);
        assert!((mib..3 * mib).contains(&enough), "{enough}");
        run(enough).ok();
    }
}

/// Whatever reads records, and whichever file is read first.
#[test]
fn windows_are_held_to_the_memory_by_all_that_read() {
    let dir = Dir::new();
    let text = |at: usize| format!("the text number {at} of some that have ten words");
    let lines: String = (0..50).map(|at| line(&format!("{at}"), &text(at))).collect();
    dir.write("in.jsonl", &lines);
    dir.write("wide.jsonl.zst", zst(&lines, 28));
    for command in [
        "passages wide.jsonl.zst --dry-run",
        "repetition wide.jsonl.zst --dry-run",
        "decontaminate wide.jsonl.zst --benchmarks in.jsonl --dry-run",
        "decontaminate in.jsonl --benchmarks wide.jsonl.zst --dry-run",
        "lexicon build wide.jsonl.zst --out lexicon --min-df 1",
        "evaluate wide.jsonl.zst --preset broder1997",
        "tune threshold wide.jsonl.zst",
        "tune sampling wide.jsonl.zst --threshold 0.8 --precision 0.8",
        "tune sample wide.jsonl.zst",
        "dedup wide.jsonl.zst --dry-run --method imatch",
    ] {
        let refused = dir.alike(&format!("{command} -w 1 --memory 64M"), None).code(3);
        refused.says("wide.jsonl.zst: to decompress it takes a window of 256 MiB").says("with --memory");
    }
}

/// Terms of a long record are counted beside its line and its text.
#[test]
fn a_lexicon_of_long_records_keeps_to_the_memory() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("small", "a few words") + &records(2, 15_000_000));
    let run = |memory: u64| {
        let ran = dir
            .alike(&format!("lexicon build in.jsonl --out lexicon --min-df 1 -w 2 --memory {memory}M"), None);
        std::fs::remove_file(dir.join("lexicon")).ok();
        ran
    };
    let refused = run(64).code(3).says("in.jsonl, line 2: has 15").says("--memory");
    run(advised(&refused)).ok();
}

/// Which windows a file asks for behind its first frame shows when it is read.
#[test]
fn a_later_frame_that_does_not_fit_ends_its_file() {
    let dir = Dir::new();
    let lines = |from: usize| -> String {
        (from..from + 50).map(|at| line(&format!("{at}"), &format!("text number {at}"))).collect()
    };
    dir.write("in.jsonl.zst", [zst(&lines(0), 20), zst(&lines(50), 27)].concat());
    let run = |memory: &str| dir.dedup(&format!("in.jsonl.zst -w 1 --dry-run --memory {memory}"));
    run("64M --max-rejected 0%").code(3).says("takes a larger window than the memory allows");
    for (memory, documents) in [("64M", " of 50 documents"), ("2G", " of 100 documents")] {
        let Ran { stdout, stderr, .. } = run(memory).ok();
        assert!((stdout + &stderr).contains(documents), "{memory}");
    }
}

/// What the memory has no room for is refused, counted and told, and costs nothing else: whatever reads it.
#[test]
fn what_does_not_fit_is_refused_beside_what_does() {
    let dir = Dir::new();
    let text = |at: usize| format!("the text number {at} of some that have ten words");
    let lines: String = (0..50).map(|at| line(&format!("{at}"), &text(at))).collect();
    dir.write("in.jsonl", &lines);
    dir.write("long.jsonl", records(2, 15_000_000));
    // What comes behind the first frame is known when it is met.
    dir.write("wide.jsonl.zst", [zst(&line("narrow", &text(99)), 20), zst(&lines, 28)].concat());
    let memory = "-w 2 --memory 64M";
    let output = dir.output(&format!("in.jsonl long.jsonl wide.jsonl.zst {memory}"), "out");
    assert_eq!((&output.summary["documents"], &output.summary["rejected"]), (&json!(51), &json!(3)));
    let rejected = std::fs::read_to_string(dir.join("out/rejected.jsonl")).unwrap();
    let rejected: Vec<Value> = rejected.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |at: usize, file: &str, why: &str| {
        assert_eq!(rejected[at]["file"], file);
        let reason = rejected[at]["reason"].as_str().unwrap();
        assert!(reason.contains(why) && reason.contains("with --memory"), "{reason}");
    };
    told(0, "long.jsonl", "may take of the memory allowed, 64 MiB");
    told(2, "wide.jsonl.zst", "takes a larger window than the memory allows");
    // All that was read is as it would be without them.
    let alone = dir.output(&format!("in.jsonl {memory}"), "alone");
    assert_eq!(output.kept("in.jsonl"), alone.kept("in.jsonl"));
    for command in [
        "load c",
        "passages",
        "repetition",
        "decontaminate --benchmarks few.jsonl",
        "lexicon build --out lexicon --min-df 1",
    ] {
        dir.write("few.jsonl", line("few", &text(3)));
        let dry = if command.starts_with("l") { "" } else { "--dry-run" };
        let ran =
            dir.alike(&format!("{command} in.jsonl long.jsonl wide.jsonl.zst {memory} {dry}"), None).ok();
        let said = ran.stdout + &ran.stderr;
        assert!(said.contains("long.jsonl, line 1: has 15"), "{command}: {said}");
    }
    // What was read of such a file is there as any other.
    let exported = dir.alike("export c --out exported", None).ok();
    assert!(dir.join("exported/kept").join("wide.jsonl.zst").exists(), "{}", exported.stderr);
    dir.dedup(&format!("in.jsonl long.jsonl {memory} --dry-run --strict")).code(3).says("--strict");
}

#[test]
fn files_that_people_write_have_caps() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", "a few words of text"));
    dir.alike("load c in.jsonl", None).ok();
    dir.write("large.toml", vec![b'#'; 17 << 20]);
    dir.dedup("in.jsonl --config large.toml --dry-run").code(2).says("more than 16777216 bytes");
    dir.write("hosts", vec![b'#'; 2 << 20]);
    dir.dedup("in.jsonl --hosts hosts --process 0 --dry-run").says("more than 1048576 bytes");
    dir.write("ids", vec![b'x'; 2 << 20]);
    dir.alike("group c ids", None).code(3).says("line 1 has more than 1048576 bytes");
}

/// The system would end the program without a word.
#[cfg(unix)]
#[test]
fn a_file_beyond_the_limit_of_the_system_is_an_error() {
    let dir = Dir::new();
    dir.write("in.jsonl", records(2, 300_000));
    for command in ["dedup in.jsonl --out out", "load c in.jsonl"] {
        let line = format!("ulimit -f 64; exec {} {command}", env!("CARGO_BIN_EXE_alike"));
        let ran = Command::new("sh").args(["-c", &line]).current_dir(dir.path()).output().unwrap();
        let told = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(1), "{command}: {told}");
        assert!(told.contains("cannot") && told.contains("large"), "{command}: {told}");
    }
}

/// What is known of all candidates and their sets does not fit: they are measured part by part, and the answer is the same.
#[test]
fn candidates_that_do_not_fit_are_measured_part_by_part() {
    const PAIRS: usize = 10_000;
    let dir = Dir::new();
    let mut random = Random(7);
    let texts: Vec<String> = (0..PAIRS).map(|_| words(&mut random, 90)).collect();
    // Long between the two of a pair, so that sets are held for long.
    let mut lines: String = (0..).zip(&texts).map(|(at, text)| line(&format!("a{at}"), text)).collect();
    (0..80_000).for_each(|at| lines += &line(&format!("c{at}"), &words(&mut random, 8)));
    (0..).zip(&texts).for_each(|(at, text)| lines += &line(&format!("b{at}"), &format!("{text} more")));
    dir.write("in.jsonl", lines);
    let want = dir.output("in.jsonl -w 2", "want");
    assert_eq!(want.duplicates.len(), PAIRS);
    for (name, flags) in [("one", "-w 1 --memory 56M"), ("two", "-w 2 --memory 64M")] {
        let output = dir.output(&format!("in.jsonl {flags}"), name);
        within(output.summary["peak_memory_bytes"].as_u64().unwrap(), 64 * MIB, name);
        assert_eq!(output.duplicates, want.duplicates, "{flags}");
        // The operator of rounds has nothing to do.
        let ran = dir.dedup(&format!("in.jsonl {flags} --dry-run --profile")).ok();
        assert!(ran.stderr.contains("Count") && !ran.stderr.contains("Verify"), "{flags}: {}", ran.stderr);
    }
    // A first load keeps all links.
    for (name, flags) in [("all", "-w 2"), ("few", "-w 2 --memory 96M --epoch 1G")] {
        dir.alike(&format!("load {name} in.jsonl {flags} --clustering guarantee"), None).ok();
    }
    let clusters = |name| dir.alike(&format!("clusters {name} --json"), None).ok().stdout;
    assert_eq!(clusters("few"), clusters("all"));
}

/// Families of pages in which each is a candidate of each, beside one of so many that its common keys are hot: ten times as many links as
/// the memory has room for.
#[test]
fn families_of_more_links_than_fit_are_clustered_within_the_memory() {
    let dir = Dir::new();
    let mut random = Random(11);
    let mut lines = String::new();
    for (family, pages) in [240; 60].into_iter().chain([700]).enumerate() {
        let template = words(&mut random, 60);
        for at in 0..pages {
            lines += &line(&format!("{family}-{at}"), &format!("{template} {}", words(&mut random, at % 40)));
        }
    }
    dir.write("in.jsonl", lines);
    let flags = "in.jsonl --threshold 0.6";
    let want = dir.output(&format!("{flags} -w 2"), "want");
    let links = 60 * 240 * 239 / 2;
    assert!(want.summary["candidates"].as_u64().unwrap() > links * 2 / 5, "{}", want.summary);
    for (name, workers) in [("one", 1), ("two", 2)] {
        let output = dir.output(&format!("{flags} -w {workers} --memory 64M"), name);
        within(output.summary["peak_memory_bytes"].as_u64().unwrap(), 64 * MIB, name);
        assert_eq!((&output.duplicates, &output.kept), (&want.duplicates, &want.kept), "{workers}");
    }
    // Several processes leave them to the first.
    done(&dir, (2, 1), &format!("dedup {flags} --memory 160M --out processes"));
    let list = std::fs::read(dir.join("processes/duplicates.jsonl")).unwrap();
    assert_eq!(list, std::fs::read(dir.join("want/duplicates.jsonl")).unwrap());
    // Connected components ask for all links, in any order.
    dir.dedup(&format!("{flags} -w 2 --memory 64M --clustering transitive --out no"))
        .code(3)
        .says("the links between documents");
}

/// A first load in which most documents are in clusters, and one of them has very many: little is held of each.
#[test]
fn clusters_of_a_first_load_keep_to_the_memory() {
    let dir = Dir::new();
    let mut random = Random(5);
    let mut lines = String::new();
    for at in 0..35_000 {
        let text = words(&mut random, 8).replace('\n', " ");
        lines += &line(&format!("a{at}"), &text);
        lines += &line(&format!("b{at}"), &text);
        lines += &line(&format!("c{at}"), if at < 10_000 { "the same words in each of them" } else { &text });
    }
    dir.write("in.jsonl", lines);
    for (name, flags) in [("all", "-w 2"), ("few", "-w 2 --memory 64M")] {
        dir.alike(&format!("load {name} in.jsonl {flags}"), None).ok();
    }
    let told = |name: &str| {
        let log = std::fs::read_to_string(dir.join(&format!("{name}/changes-00000001.jsonl"))).unwrap();
        log.lines().filter(|line| line.contains("\"change\"")).map(str::to_owned).collect::<Vec<_>>()
    };
    let lines = told("few");
    assert!(lines.len() > 105_000, "{}", lines.len());
    assert_eq!(lines, told("all"));
}

/// A first load of texts that are like no other, but for a few that a later epoch brings again: nothing is held of the others when the
/// clusters are worked out.
#[test]
fn new_texts_that_are_like_no_other_keep_to_the_memory() {
    let dir = Dir::new();
    let text = |at: usize| (8 * at..8 * at + 8).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    let mut lines: String = (0..300_000).map(|at| line(&format!("a{at}"), &text(at))).collect();
    lines.extend((0..100).map(|at| line(&format!("b{at}"), &text(at * 3000))));
    dir.write("in.jsonl", lines);
    let clusters = |name: &str, flags: &str| {
        let ran = dir.alike(&format!("load {name} in.jsonl -w 2 --json {flags}"), None).ok();
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(report["documents"], 300_100, "{report}");
        (report["epochs"].as_u64().unwrap(), dir.alike(&format!("clusters {name} --json"), None).ok().stdout)
    };
    let (epochs, few) = clusters("few", "--memory 48M");
    assert!(epochs > 1 && few.lines().count() == 100, "{epochs} epochs, {few}");
    assert_eq!(few, clusters("all", "").1);
}

/// Families of which each page is linked to each, that go whole or but for a few pages: links are many more than contents.
#[test]
fn families_go_within_the_memory() {
    let dir = Dir::new();
    let (mut lines, mut all, mut most) = (String::new(), String::new(), String::new());
    for (family, page) in (0..8).flat_map(|family| (0..500).map(move |page| (family, page))) {
        let word = |at: usize| {
            if at == page % 80 { format!("q{family}x{page}") } else { format!("f{family}w{at}") }
        };
        let text = (0..80).map(word).collect::<Vec<_>>().join(" ");
        lines += &line(&format!("{family}-{page}"), &text);
        for ids in [Some(&mut all), Some(&mut most).filter(|_| page % 100 > 2)].into_iter().flatten() {
            let _ = writeln!(ids, "{family}-{page}");
        }
    }
    for (name, text) in [("in.jsonl", lines), ("all", all), ("most", most)] {
        dir.write(name, text);
    }
    for (ids, components) in [("all", "forest"), ("most", "forest"), ("most", "differential")] {
        let name = format!("{ids}-{components}");
        dir.alike(&format!("load {name} in.jsonl --threshold 0.6 -w 2"), None).ok();
        let flags = "--max-delete 100% -w 1 --memory 40M --json-progress";
        let ran =
            dir.alike(&format!("delete {name} --ids {ids} --components {components} {flags}"), None).ok();
        let peaks = ran.stderr.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let peaks: Vec<u64> = peaks.filter_map(|line| line["memory_peak_bytes"].as_u64()).collect();
        within(*peaks.iter().max().expect("epochs"), 40 * MIB, &name);
        let left = if ids == "all" { 0 } else { 8 };
        let clusters = dir.alike(&format!("clusters {name} --json"), None).ok().stdout;
        assert_eq!(clusters.lines().count(), left, "{clusters}");
    }
}

/// A megabyte has half a million records that are none: what is told of them has a bound, too.
#[test]
fn refused_records_keep_to_the_memory() {
    let dir = Dir::new();
    dir.write("in.jsonl", "{\n".repeat(500_000));
    for command in ["dedup --dry-run", "load c", "passages --dry-run", "lexicon build --out lexicon"] {
        let ran = dir.alike(&format!("{command} in.jsonl -w 2 --memory 64M --max-rejected 100"), None);
        ran.code(3).says("16256 records are refused").says("in.jsonl: not JSON");
    }
}

/// What a run has no room for it says nothing of: that is no zero.
#[test]
fn methods_are_measured_on_whole_inputs_or_not_at_all() {
    let dir = Dir::new();
    let mut random = Random(3);
    let long = words(&mut random, 2_600_000);
    dir.write(
        "in.jsonl",
        [line("a", &long), line("b", &long[..long.len() - 40]), line("c", "a short text")].concat(),
    );
    dir.write("labels.tsv", "id_a\tid_b\tgrade\na\tb\t1\na\tc\t0\n");
    for command in ["evaluate in.jsonl --preset web", "tune threshold in.jsonl --words 5 --chars 0"] {
        let command = format!("{command} --labels labels.tsv -w 1");
        let told = dir.alike(&format!("{command} --memory 64M"), None);
        let refused = told.stderr.contains("may take of the memory allowed");
        assert!(refused && told.code != Some(0), "{}", told.stderr);
        dir.alike(&command, None).ok();
    }
}
