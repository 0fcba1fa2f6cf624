//! What a report says of parts of the inputs: what values of fields and months lose, and which lines most documents have; held
//! against a plain count.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::support::job::done;
use crate::support::output::{Output, label};
use crate::support::page::{number, rows, tables, without_command};
use crate::support::program::Dir;
use crate::support::texts::{Random, gzip, line, near_copies_among, pages};

/// A document as the test knows it.
struct Doc {
    id: String,
    text: String,
    language: Option<&'static str>,
    date: Option<String>,
}

impl Doc {
    fn json(&self) -> Value {
        let Doc { id, text, language, date } = self;
        let mut row = json!({"id": id, "text": text, "meta": {"date": date}});
        if let Some(language) = language {
            // A number is a value, too.
            row["language"] = language.parse::<u64>().map_or(json!(language), |number| json!(number));
        }
        row
    }

    fn month(&self) -> Option<&str> {
        self.date.as_deref().map(|date| if date.starts_with("20") { &date[..7] } else { "no date" })
    }
}

/// Lines that so many documents have: every second, third and fifth.
const LINES: [(usize, &str); 3] = [
    (2, "All rights reserved, whoever reads this page."),
    (3, "Accept the cookies  of this\tsite & <b>go on</b>"),
    (5, "Share this page with your friends"),
];

/// Documents with fields, near-copies and copies among them, and lines that many have.
fn documents() -> Vec<Doc> {
    let mut random = Random(23);
    let mut texts = near_copies_among(pages(3).into_iter().take(500).collect(), &mut random);
    let copies: Vec<String> = texts.iter().step_by(40).cloned().collect();
    texts.extend(copies);
    let languages = [Some("de"), Some("en"), None, Some("fr"), Some("7"), Some("")];
    let document = |(n, text): (usize, String)| {
        let lines = LINES.iter().filter(|(every, _)| n % every == 0).map(|(_, line)| format!("\n  {line}  "));
        let (month, day) = (random.below(14), random.below(28));
        let date = format!("20{}-{:02}-{:02}T12:{:02}:00Z", 23 + month / 12, month % 12 + 1, day + 1, n % 60);
        Doc {
            id: format!("d{n:04}"),
            text: format!("{text}{}", lines.collect::<String>().repeat(1 + n % 2)),
            language: languages[random.below(languages.len())],
            date: match n % 17 {
                0 => None,
                1 => Some("soon".into()),
                _ => Some(date),
            },
        }
    };
    texts.into_iter().enumerate().map(document).collect()
}

fn write(dir: &Dir, docs: &[Doc]) {
    for (n, some) in docs.chunks(docs.len().div_ceil(3)).enumerate() {
        let lines: String = some.iter().map(|doc| format!("{}\n", doc.json())).collect();
        dir.write(&format!("in/{n}.jsonl"), lines);
    }
}

fn page(dir: &Dir, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap()
}

/// By a plain count: documents of each group, and removed ones.
fn counted(docs: &[Doc], output: &Output, group: impl Fn(&Doc) -> String) -> BTreeMap<String, (u64, u64)> {
    let removed: BTreeSet<String> = output.duplicates.iter().map(|row| label(&row["id"])).collect();
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for doc in docs {
        let count = counts.entry(group(doc)).or_default();
        *count = (count.0 + 1, count.1 + u64::from(removed.contains(&doc.id)));
    }
    counts
}

/// The rows of a table of losses.
fn told(page: &str, caption: &str) -> BTreeMap<String, (u64, u64)> {
    let tables = tables(page);
    let rows = rows(&tables, caption).into_iter();
    rows.map(|(name, row)| (name.to_owned(), (number(&row[0]), number(&row[1])))).collect()
}

#[test]
fn values_and_months_lose_what_a_plain_count_says() {
    let dir = Dir::new();
    let docs = documents();
    write(&dir, &docs);
    let output = dir.output(
        "in --report-by language --report-by meta.date --report-by id --report out/look.html -q",
        "out",
    );
    let page = page(&dir, "out/look.html");
    let language = |doc: &Doc| doc.language.filter(|name| !name.is_empty()).unwrap_or("no value").to_owned();
    let expected = counted(&docs, &output, language);
    assert!(expected.len() == 5 && expected.values().all(|(_, removed)| *removed > 10), "{expected:?}");
    assert_eq!(told(&page, "What each value of the field language loses"), expected);
    let month = |doc: &Doc| doc.month().unwrap_or("no value").to_owned();
    assert_eq!(told(&page, "What each month of the field meta.date loses"), counted(&docs, &output, month));
    // In order of time, what is no month behind it; and the chart has a bar of each month that loses any.
    let tables = tables(&page);
    let months: Vec<&str> =
        tables["What each month of the field meta.date loses"].iter().skip(1).map(|row| &*row[0]).collect();
    assert!(months.is_sorted() && months[14..] == ["no date", "no value"], "{months:?}");
    assert_eq!(page.matches("rect class=\"goes\"").count() - bars_of_scores(&page), 14);
    // All ids are values of their own: those that lose most, and the rest.
    let ids = told(&page, "What each value of the field id loses");
    assert_eq!((ids.len(), ids["all other values"].0), (40, docs.len() as u64 - 39));
    assert_eq!(ids.values().map(|(_, removed)| removed).sum::<u64>(), output.duplicates.len() as u64);
    let section = page.split("id=\"fields\"").nth(1).unwrap().split("</section>").next().unwrap();
    let at = |caption: &str| section.find(caption).unwrap();
    assert!(at("field language") < at("field meta.date") && at("field meta.date") < at("field id"));
}

/// Bars of what goes in the chart of scores.
fn bars_of_scores(page: &str) -> usize {
    let section = page.split("id=\"scores\"").nth(1).unwrap().split("</section>").next().unwrap();
    section.matches("rect class=\"goes\"").count()
}

#[test]
fn the_fields_that_are_usual_are_told_unasked() {
    let dir = Dir::new();
    let docs = documents();
    write(&dir, &docs);
    dir.dedup("in --dry-run --report look.html -q").ok();
    let unasked = page(&dir, "look.html");
    assert!(
        unasked.contains("What each value of the field language loses") && !unasked.contains("field lang ")
    );
    assert!(!unasked.contains("meta.date"));
    dir.dedup("in --dry-run --report look.html --within meta.date -q").ok();
    let within = page(&dir, "look.html");
    assert!(within.contains("What each month of the field meta.date loses"));
    // Nobody has any of them: no such part.
    dir.write("plain.jsonl", line("a", "one two three") + &line("b", "one two three"));
    dir.dedup("plain.jsonl --dry-run --report look.html -q").ok();
    assert!(!page(&dir, "look.html").contains("id=\"fields\""));
}

#[test]
fn the_most_shared_lines_are_those_of_a_plain_count() {
    let dir = Dir::new();
    let docs = documents();
    write(&dir, &docs);
    let output = dir.output("in --report out/look.html -q", "out");
    let page = page(&dir, "out/look.html");
    let removed: BTreeSet<String> = output.duplicates.iter().map(|row| label(&row["id"])).collect();
    let all: usize = docs.iter().map(|doc| doc.text.len()).sum();
    // Lines by their words: how many documents have each, how many of these are kept, and its bytes.
    let mut plain: BTreeMap<String, (u64, u64, usize)> = BTreeMap::new();
    for doc in &docs {
        let lines = doc.text.lines().map(str::trim).filter(|line| line.len() >= 20);
        let mut once = BTreeSet::new();
        for line in lines {
            let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
            let count = plain.entry(words.clone()).or_default();
            count.2 += line.len();
            if once.insert(words) {
                (count.0, count.1) = (count.0 + 1, count.1 + u64::from(!removed.contains(&doc.id)));
            }
        }
    }
    let tables = tables(&page);
    let told = &tables["The passages that most documents share"][1..];
    assert_eq!(told.len(), 20);
    assert!(page.contains("All documents were looked at."));
    let counts: Vec<u64> = told.iter().map(|row| number(&row[1])).collect();
    let mut expected: Vec<u64> = plain.values().map(|count| count.0).collect();
    expected.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(counts, expected[..20]);
    for row in told {
        let text = row[0].strip_suffix("...").unwrap_or(&row[0]);
        let mut same = plain.range(text.to_owned()..).take_while(|(line, _)| line.starts_with(text));
        let share = |bytes: usize| format!("{:.1} %", bytes as f64 / all as f64 * 100.0);
        let is_told = same.any(|(_, (documents, kept, bytes))| {
            let share = if *bytes * 2000 < all { "< 0.1 %".to_owned() } else { share(*bytes) };
            (number(&row[1]), number(&row[4]), &*row[5]) == (*documents, *kept, &*share)
        });
        assert!(is_told, "{row:?}");
    }
    for (at, (every, line)) in LINES.iter().enumerate() {
        assert_eq!(told[at][0], line.split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!(number(&told[at][1]), docs.len().div_ceil(*every) as u64);
    }
}

#[test]
fn shapes_and_kinds_of_files_change_nothing() {
    let dir = Dir::new();
    let docs = documents();
    write(&dir, &docs);
    let flags = "--dry-run -q --report look.html --report-by language --report-by date";
    let look = |shape, input: &str| {
        done(&dir, shape, &format!("dedup {input} {flags}"));
        page(&dir, "look.html")
    };
    // Protected documents are none of those that are told.
    dir.write("old.jsonl", docs.iter().step_by(7).map(|doc| format!("{}\n", doc.json())).collect::<String>());
    let want = without_command(&look((1, 1), "in --against old.jsonl"));
    for shape in [(1, 3), (2, 2), (3, 1)] {
        assert!(want == without_command(&look(shape, "in --against old.jsonl")), "{shape:?}");
    }
    // The same records in one file of lines, packed, and as CSV.
    let (mut lines, mut table) = (String::new(), String::from("id,text,language,date\n"));
    for Doc { id, text, language, date } in &docs {
        let row = json!({"id": id, "text": text, "language": language, "date": date});
        writeln!(lines, "{row}").unwrap();
        let (language, date) = (language.unwrap_or_default(), date.as_deref().unwrap_or_default());
        writeln!(table, "{id},\"{text}\",{language},{date}").unwrap();
    }
    dir.write("a.jsonl", &lines);
    dir.write("b.jsonl.gz", gzip(lines.as_bytes(), 1 << 20));
    dir.write("c.csv", table);
    let want = parts(&look((1, 2), "a.jsonl"));
    for input in ["b.jsonl.gz", "c.csv"] {
        assert_eq!(parts(&look((1, 2), input)), want, "{input}");
    }
}

/// The parts of a page about fields and passages.
fn parts(page: &str) -> [String; 2] {
    ["fields", "passages"].map(|id| {
        let behind = page.split(&format!("<h2 id=\"{id}\"")).nth(1).expect("a part");
        behind.split("</section>").next().unwrap().to_owned()
    })
}

#[cfg(feature = "parquet")]
#[test]
fn columns_have_the_values_that_lines_have() {
    use crate::support::columns::{Columns, Made};

    let dir = Dir::new();
    let row = |(n, doc): (usize, Doc)| Columns {
        id: doc.id,
        text: Some(doc.text),
        n: (n % 3 > 0).then_some(n as i64 % 5 - 2),
        score: (n % 4 > 0).then_some((n % 7) as f64 / 2.0),
        ..Columns::default()
    };
    let rows: Vec<Columns> = documents().into_iter().enumerate().map(row).collect();
    dir.write("a.jsonl", rows.iter().map(Columns::line).collect::<String>());
    dir.write("b.parquet", Made::plain(&[300, 200]).file(&rows));
    let [lines, columns] = ["a.jsonl", "b.parquet"].map(|input| {
        dir.dedup(&format!("{input} --dry-run -q --report look.html --report-by n --report-by meta.score"))
            .ok();
        page(&dir, "look.html")
    });
    assert_eq!(parts(&columns), parts(&lines));
    let scores = told(&columns, "What each value of the field meta.score loses");
    assert_eq!(
        scores.keys().collect::<Vec<_>>(),
        ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0", "no value"]
    );
}

#[test]
fn values_and_fields_are_text_whatever_they_hold() {
    let dir = Dir::new();
    let hostile = "<script>alert(1)</script> \u{202e}gpj.exe \u{1b}[31m </bdi></table><img src=x>";
    let body = format!("{hostile} and a line that all documents have");
    let record = |n: usize| {
        let odd = [Value::Null, json!({"a": 1}), json!(true)][n % 3].clone();
        json!({"id": n.to_string(), "text": format!("{body}\n{}", "x".repeat(n % 3 * 50_000)), "<b>": hostile,
               "l": format!("{}{}", "long ".repeat(10_000), n % 3), "odd": odd})
    };
    dir.write("in.jsonl", (0..30).map(|n| format!("{}\n", record(n))).collect::<String>());
    // Escapes that mean no character: nothing is refused for a field that is only told.
    dir.write("bad.jsonl", "{\"id\": \"x\", \"text\": \"so it is\", \"l\": \"\\ud800\"}\n");
    dir.dedup("in.jsonl bad.jsonl --strict --dry-run -q --report look.html --report-by <b> --report-by l --report-by odd")
        .ok();
    let page = page(&dir, "look.html");
    assert!(page.len() < 200_000, "{} bytes", page.len());
    for tag in ["<script", "<img", "<b>", "</bdi></table>"] {
        assert!(!page.contains(tag), "{tag}");
    }
    assert!(!page.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'));
    let values = told(&page, "What each value of the field <b> loses");
    assert_eq!(values.values().copied().collect::<Vec<_>>(), [(30, 29), (1, 0)]);
    // Values that begin alike are one.
    assert_eq!(told(&page, "What each value of the field l loses").len(), 2);
    assert!(page.contains("No document has a value in the field <bdi>odd</bdi>."));
    assert!(page.contains("and a line that all documents have"));
}

#[test]
fn of_too_many_values_only_dates_are_told() {
    let dir = Dir::new();
    let lines = (0..12_000).map(|n| {
        let date = format!(
            "2024-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            n % 3 + 1,
            n % 28 + 1,
            n / 3600,
            n / 60 % 60,
            n % 60
        );
        format!(
            "{}\n",
            json!({"id": n, "text": format!("text {}", n % 11_000), "at": date, "url": format!("/{n}")})
        )
    });
    dir.write("in.jsonl", lines.collect::<String>());
    for workers in [1, 3] {
        dir.dedup(&format!(
            "in.jsonl --dry-run -q --report look.html --report-by at --report-by url -w {workers}"
        ))
        .ok();
        let page = page(&dir, "look.html");
        let months = told(&page, "What each month of the field at loses");
        assert_eq!(months.keys().collect::<Vec<_>>(), ["2024-01", "2024-02", "2024-03"]);
        assert_eq!(months["2024-01"], (4000, 333));
        assert!(page.contains("The field <bdi>url</bdi> has more than 10,000 different values"));
    }
}

#[test]
fn of_many_texts_a_part_is_looked_at_that_is_always_the_same() {
    let dir = Dir::new();
    let mut random = Random(5);
    for file in 0..4 {
        let docs = (0..100).map(|n| {
            let mut text =
                format!("Share this page with your friends, please\nDocument {n} of file {file} says this\n");
            (0..2000).for_each(|_| write!(text, "word{} and more of it ", random.below(1 << 30)).unwrap());
            (0..2000)
                .for_each(|_| writeln!(text, "word{} and more of these", random.below(1 << 30)).unwrap());
            line(&format!("{file}-{n}"), &text)
        });
        dir.write(&format!("in/{file}.jsonl"), docs.collect::<String>());
    }
    let flags = "dedup in --method exact --dry-run -q --report look.html";
    done(&dir, (1, 1), flags);
    let want = page(&dir, "look.html");
    let looked = want.split("documents were looked at").next().unwrap();
    let looked = looked.rsplit("<p>").next().unwrap().trim().to_owned();
    assert!(looked.ends_with("of 400"), "{looked}");
    let shared = &tables(&want)["The passages that most documents share"][1];
    assert_eq!((&*shared[0], &*shared[2]), ("Share this page with your friends, please", "100.0 %"));
    for shape in [(1, 4), (2, 2)] {
        done(&dir, shape, flags);
        assert!(without_command(&page(&dir, "look.html")) == without_command(&want), "{shape:?}");
    }
}

#[test]
fn a_field_that_no_record_has_is_said() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", "one two three") + &line("b", "one two three"));
    let flags = "in.jsonl --dry-run --report look.html";
    dir.dedup(&format!("{flags} --report-by langauge"))
        .ok()
        .says("--report-by: no document has a number or a string in the field langauge; the first record has: id, text");
    assert!(page(&dir, "look.html").contains("No document has a value in the field"));
    let many = " --report-by a --report-by b --report-by c --report-by d --report-by e";
    dir.dedup(&format!("{flags}{many}")).code(2).says("4 fields at most");
    dir.dedup(&format!("{flags} --report-by a..b")).code(2).says("a..b");
    dir.dedup("in.jsonl --dry-run --report-by id").code(2).says("--report");
    dir.output("in.jsonl -q", "out");
    dir.alike("report out --out look.html --by id -q", None).ok();
    assert!(page(&dir, "look.html").contains("What each value of the field id loses"));
    dir.alike("report out --out look.html --by a..b", None).code(2).says("--by");
    dir.alike("load archive in.jsonl -q", None).ok();
    dir.alike("report archive --out look.html --by id", None).code(2).says("keeps no values of fields");
}
