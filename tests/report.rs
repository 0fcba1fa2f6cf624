//! `--report` and `alike report`: the page says what the lists say, and what other runs find; it is whole or not there; and
//! whatever documents hold stands on it as text.

use std::collections::BTreeMap;
use std::fs;

use crate::support::corpora::stride;
use crate::support::job::done;
use crate::support::page::{number, rows, tables, without_command};
use crate::support::program::Dir;
use crate::support::texts::{Random, line, near_copies_among, pages, words};

fn read(dir: &Dir, name: &str) -> String {
    String::from_utf8(fs::read(dir.join(name)).unwrap()).unwrap()
}

/// Three files: near-copies of a template, families of pages, and exact copies among them.
fn corpus(dir: &Dir) -> Vec<(String, String)> {
    let mut random = Random(19);
    let mut texts = near_copies_among(pages(3).into_iter().take(600).collect(), &mut random);
    let copies: Vec<String> = texts.iter().step_by(50).cloned().collect();
    texts.extend(copies);
    let docs: Vec<(String, String)> = (0..).zip(texts).map(|(n, text)| (format!("d{n}"), text)).collect();
    for (n, some) in docs.chunks(docs.len().div_ceil(3)).enumerate() {
        dir.write(&format!("in/{n}.jsonl"), some.iter().map(|(id, text)| line(id, text)).collect::<String>());
    }
    docs
}

#[test]
fn pairs_of_the_page_have_a_kept_and_a_removed_document() {
    let dir = Dir::new();
    corpus(&dir);
    let output = dir.output("in --keep-per-cluster 2 --report out/look.html -q", "out");
    let removed: Vec<&str> = output.duplicates.iter().map(|row| row["id"].as_str().unwrap()).collect();
    let page = read(&dir, "out/look.html");
    let pairs: Vec<&str> = page.split("<div class=\"pair\">").skip(1).collect();
    assert!(pairs.len() > 2, "{}", pairs.len());
    for pair in pairs {
        let ids: Vec<&str> =
            pair.split("<p><bdi>").skip(1).map(|named| named.split('<').next().unwrap()).collect();
        let [kept, gone, ..] = ids[..] else { panic!("{pair}") };
        assert!(removed.contains(&gone) && !removed.contains(&kept), "{kept} {gone}");
    }
}

#[test]
fn the_page_says_what_the_lists_say() {
    let dir = Dir::new();
    corpus(&dir);
    dir.write("in/2.jsonl", read(&dir, "in/2.jsonl") + "no JSON\n");
    let output = dir.output("in --kinds --report out/look.html -q", "out");
    let page = read(&dir, "out/look.html");
    let tables = tables(&page);
    let removed = output.duplicates.len() as u64;
    assert!(removed > 150 && output.clusters.len() > 20, "{removed} in {}", output.clusters.len());
    let because =
        |reason: &str| output.duplicates.iter().filter(|row| row["reason"] == reason).count() as u64;
    for (reason, row) in rows(&tables, "Removed documents by reason") {
        assert_eq!(number(&row[0]), because(reason), "{reason}");
    }
    for (kind, row) in rows(&tables, "Removed documents by how they differ") {
        let of_kind = output.duplicates.iter().filter(|row| row["kind"] == kind).count() as u64;
        assert_eq!(number(&row[0]), of_kind, "{kind}");
    }
    // Bins by the obvious program: in thousandths, of which a bin has twenty.
    let mut bins: BTreeMap<String, u64> = BTreeMap::new();
    for row in output.duplicates.iter().filter(|row| row["reason"] != "exact") {
        let bin = ((row["resemblance"].as_f64().unwrap() * 1e6).round() as u64 / 20_000).min(49);
        *bins.entry(format!("{:.2} to {:.2}", bin as f64 / 50.0, (bin + 1) as f64 / 50.0)).or_default() += 1;
    }
    let shown = rows(&tables, "Removed documents by what they share with");
    let shown = shown.into_iter().map(|(bin, row)| (bin.to_owned(), number(&row[0]))).filter(|(_, n)| *n > 0);
    assert_eq!(shown.collect::<BTreeMap<_, _>>(), bins);
    for (source, row) in rows(&tables, "What each source loses") {
        let lost = output.duplicates.iter().filter(|row| row["file"] == source).count() as u64;
        let all = read(&dir, source).lines().filter(|line| line.starts_with('{')).count() as u64;
        assert_eq!((number(&row[0]), number(&row[1])), (all, lost), "{source}");
    }
    let matrix = rows(&tables, "Removed documents by their source");
    assert_eq!(matrix.len(), 3);
    let sum = matrix.values().flat_map(|row| row.iter()).filter(|cell| *cell != "-").map(|cell| number(cell));
    assert_eq!(sum.sum::<u64>(), removed);
    let sizes: Vec<u64> = output.clusters.iter().map(|row| row["size"].as_u64().unwrap()).collect();
    for (name, row) in rows(&tables, "Clusters by size") {
        let (from, to) = name.split_once(" to ").unwrap_or((name, name));
        let within = sizes.iter().filter(|size| (number(from)..=number(to)).contains(*size)).count() as u64;
        assert_eq!(number(&row[0]), within, "{name}");
    }
    let largest = &tables["The clusters with most documents"];
    assert_eq!(number(&largest[1][1]), *sizes.iter().max().unwrap());
    let loosest = tables.iter().find(|(name, _)| name.starts_with("The clusters in which")).unwrap().1;
    let least = output.duplicates.iter().filter_map(|row| row["resemblance"].as_f64()).fold(1.0, f64::min);
    assert_eq!(loosest[1][2], format!("{least:.4}"));
    assert_eq!(loosest.len(), 21);
    let refused = rows(&tables, "Records that could not be read");
    assert_eq!(refused.values().map(|row| number(&row[0])).sum::<u64>(), 1);
    assert!(refused["not JSON"][1].starts_with("in/2.jsonl:"), "{refused:?}");
    // Ten pairs, each with what differs; and the command that does it again.
    assert_eq!(page.matches("<div class=\"pair\">").count(), 10);
    assert!(page.contains("<ins>") && page.contains("<del>"));
    assert!(page.contains("alike dedup in --kinds --report out/look.html -q --out out"), "no command");
}

#[test]
fn other_thresholds_are_what_other_runs_find() {
    for flags in ["", "--clustering transitive", "--keep longest", "--against old.jsonl", "--against archive"]
    {
        let dir = Dir::new();
        let docs = corpus(&dir);
        let old = docs.iter().step_by(9).map(|(id, text)| line(&format!("o{id}"), &format!("{text} end")));
        dir.write("old.jsonl", old.collect::<String>());
        dir.alike("load archive old.jsonl -q", None).ok();
        dir.dedup(&format!("in {flags} --dry-run -q --report look.html --report-from 0.63")).ok();
        let page = read(&dir, "look.html");
        let tables = tables(&page);
        let told = rows(&tables, "Threshold by threshold");
        let names: Vec<&str> = told.keys().copied().collect();
        assert_eq!(names, ["0.63", "0.65", "0.7", "0.75", "0.8 (this run)", "0.85", "0.9", "0.95"]);
        for (name, row) in told.into_iter().skip(flags.len() % stride(2)).step_by(stride(2)) {
            let threshold = name.split(' ').next().unwrap();
            let output = dir
                .output(&format!("in {flags} --threshold {threshold} --pairs -q"), &format!("at{threshold}"));
            let copies = output.summary["copies"].as_u64().unwrap();
            let removed = output.duplicates.len() as u64;
            let pairs = output.pairs.len() as u64 - copies;
            let largest = output.summary["largest_cluster"].as_u64().unwrap();
            let row: Vec<u64> = row.iter().map(|cell| number(cell)).collect();
            assert_eq!(row, [pairs, copies, removed - copies, removed, largest], "{flags} {threshold}");
        }
        let other = flags.replace("--clustering transitive", "");
        let transitive = dir.output(&format!("in {other} --clustering transitive -q"), "chained");
        let told = format!("would remove {} documents at the threshold", transitive.duplicates.len());
        assert!(page.contains(&told), "{flags}: {told}");
    }
}

#[test]
fn the_page_is_the_same_in_every_shape() {
    let dir = Dir::new();
    corpus(&dir);
    // The command stands on the page, and names of shapes do not stand in it: they are in the environment.
    let flags = "in --dry-run -q --report look.html --report-from 0.7";
    done(&dir, (1, 1), &format!("dedup {flags}"));
    let want = without_command(&read(&dir, "look.html"));
    for shape in [(1, 3), (2, 1), (3, 2)] {
        fs::remove_file(dir.join("look.html")).unwrap();
        done(&dir, shape, &format!("dedup {flags}"));
        let got = without_command(&read(&dir, "look.html"));
        assert!(want == got, "{shape:?}: {:?}", want.lines().zip(got.lines()).find(|(a, b)| a != b));
    }
}

#[test]
fn the_report_of_the_gallery_is_what_is_written() {
    let dir = Dir::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    dir.write("samples/licences.jsonl", fs::read(root.join("samples/licences.jsonl")).unwrap());
    let shown = fs::read_to_string(root.join("docs/src/gallery/licences.html")).unwrap();
    let flags = "--dry-run -q --report-from 0.6 --kinds --report-by source --report look.html";
    dir.alike(&format!("dedup samples/licences.jsonl {flags}"), None).ok();
    assert!(read(&dir, "look.html") == shown, "another page: look at it, and run docs/pictures.py");
}

#[test]
fn whatever_documents_hold_is_text() {
    let dir = Dir::new();
    let hostile = "<script>alert(1)</script> \u{202e}gpj.exe \u{1b}[31m \u{0} & \"quoted\" 'single' </bdi></table><img src=x>";
    let long = "x".repeat(1 << 20);
    let body = |n: usize| format!("{hostile} {} {long} word{n}", words(0, 60));
    let docs: String = (0..30).map(|n| line(&format!("<b>{n}</b>\u{202e}"), &body(n % 3))).collect();
    dir.write("<i>in.jsonl", docs);
    dir.dedup("<i>in.jsonl --dry-run -q --report look.html --report-from 0.5").ok();
    let page = read(&dir, "look.html");
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    for tag in
        ["<script", "<img", "<b>", "<i>in", "</bdi></table>", "javascript:", "http://", "https://", "url("]
    {
        assert!(!page.contains(tag), "{tag}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(!page.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'));
}

#[test]
fn a_page_is_whole_or_not_there() {
    let dir = Dir::new();
    corpus(&dir);
    dir.write("look.html", "as it was");
    dir.write("wrong.jsonl", "no JSON\n");
    dir.dedup("in --dry-run -q --report look.html").code(2).says("it is no report");
    assert_eq!(read(&dir, "look.html"), "as it was");
    dir.write("look.html", "");
    dir.dedup("in --dry-run -q --threshold 0.9 --report look.html").ok();
    let before = read(&dir, "look.html");
    dir.dedup("wrong.jsonl --dry-run -q --report look.html").code(3);
    assert_eq!(read(&dir, "look.html"), before);
    dir.dedup("in --dry-run -q --report no/such/look.html").code(2).says("there is no folder no/such");
    dir.dedup("in --dry-run -q --report in").code(1).says("directory");
    dir.dedup("in --out out -q --report out/summary.json").code(2).says("out/report.html");
    assert_eq!(dir.names(), ["in", "look.html", "wrong.jsonl"]);
    dir.dedup("in --dry-run --report look.html").ok().says("only the report written").says("look.html");
    assert!(read(&dir, "look.html").ends_with("</html>") && read(&dir, "look.html") != before);
    assert_eq!(dir.names(), ["in", "look.html", "wrong.jsonl"]);
    for (flags, says) in [
        ("--report-from 0.5", "--report"),
        ("--report look.html --report-from 0.9", "above the threshold"),
        ("--report look.html --report-from 0.5 --method minhash", "join"),
        ("--report look.html --report-from 0.5 --measure containment", "this one measures containment"),
        ("--report look.html --report-from none", "threshold"),
    ] {
        dir.dedup(&format!("in --dry-run -q {flags}")).code(2).says(says);
    }
}

#[test]
fn methods_without_a_share_have_a_page_too() {
    let dir = Dir::new();
    corpus(&dir);
    for flags in [
        "--preset fetterly2003",
        "--method exact",
        "--method simhash",
        "--measure containment",
        "--preset web --pairs",
    ] {
        dir.dedup(&format!("in {flags} --dry-run -q --report look.html")).ok();
        let page = read(&dir, "look.html");
        assert!(page.contains("<h2 id=\"result\">") && page.ends_with("</html>"), "{flags}");
    }
    // Nothing goes, and nothing is there at all.
    dir.write("one.jsonl", line("a", "one two three"));
    dir.dedup("one.jsonl --dry-run -q --report look.html").ok();
    assert!(!read(&dir, "look.html").contains("Why documents go"));
}

#[test]
fn collections_have_a_page() {
    let dir = Dir::new();
    let docs = corpus(&dir);
    dir.alike("load archive in -q", None).ok();
    dir.alike("report archive --out look.html", None).ok().says("look.html: a page about");
    let page = read(&dir, "look.html");
    // Documents of a collection are in the order of their ids.
    let mut sorted: Vec<_> = docs.iter().collect();
    sorted.sort();
    dir.write("sorted.jsonl", sorted.iter().map(|(id, text)| line(id, text)).collect::<String>());
    dir.dedup("sorted.jsonl --clustering transitive --dry-run -q --report sorted.html").ok();
    let (of_collection, of_run) = (tables(&page), tables(&read(&dir, "sorted.html")));
    for table in ["Removed documents by reason", "Removed documents by what they share", "Clusters by size"] {
        assert_eq!(rows(&of_collection, table), rows(&of_run, table), "{table}");
    }
    assert_eq!(rows(&of_collection, "What each source loses").len(), 3);
    assert!(page.contains("<ins>"));
    dir.alike("report archive --out look.html -q --threshold 0.9 --from 0.85", None).ok();
    let at: Vec<String> = rows(&tables(&read(&dir, "look.html")), "Threshold by threshold")
        .keys()
        .map(|at| (*at).to_owned())
        .collect();
    assert_eq!(at, ["0.85", "0.9 (this run)", "0.95"]);
    dir.alike("report archive --out look.html -q --from 0.5", None).code(2).says("0.8");
    // The texts are gone: the page has none, and says so.
    fs::remove_file(dir.join("in/1.jsonl")).unwrap();
    dir.alike("report archive --out look.html", None).ok().says("no texts");
    let page = read(&dir, "look.html");
    assert!(!page.contains("<ins>"));
    assert_eq!(rows(&tables(&page), "Clusters by size"), rows(&of_collection, "Clusters by size"));
    // The page of an output is about its run: no other threshold.
    dir.output("in/0.jsonl -q", "out");
    dir.alike("report out --out look.html --threshold 0.9", None).code(2).says("--report");
    dir.alike("report in --out look.html", None).code(4);
}
