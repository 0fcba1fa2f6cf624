//! A [`Summary`] for people.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use super::figures::{count, counted, percent, size};
use super::kinds::shown;
use super::summary::Summary;
use crate::config::{Config, Criterion, Tokens, Verify};
use crate::printable::printable;
use crate::read::NO_DOCUMENTS;

/// Most skipped files that are named.
const NAMED: usize = 5;
/// Documents that a warning names.
const FEW: usize = 3;

/// The summary in at most 30 lines, and eight more where kinds were asked for: what was found first, then the figures, then a line a warning. `out` is the
/// output folder, `None` in a dry run. Names are escaped, so that none of them can command a terminal.
pub fn render(summary: &Summary, out: Option<&Path>) -> String {
    let shown = shown_folder(out);
    let mut lines = vec![headline(summary, shown.as_deref())];
    let rows = rows(summary);
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    lines.extend(rows.iter().map(|(name, value)| format!("  {name:width$}  {value}")));
    lines.extend(warnings(summary, out).into_iter().map(|w| format!("warning: {w}")));
    lines.push(String::new());
    lines.join("\n")
}

fn shown_folder(out: Option<&Path>) -> Option<String> {
    out.map(|folder| printable(&folder.display().to_string()).into_owned())
}

fn headline(s: &Summary, out: Option<&str>) -> String {
    let annotated = s.form.filter(|form| form.annotate).map(|_| counted(s.documents, "document"));
    let written = if s.report.is_some() { "only the report" } else { "nothing" };
    let (verb, end) = match (out, annotated) {
        (Some(out), Some(all)) => ("found", format!("{all} annotated in {out}/annotated")),
        (Some(out), None) => ("removed", format!("{} kept in {out}/kept", count(s.kept))),
        (None, Some(all)) => ("found", format!("{all} would be annotated (dry run, {written} written)")),
        (None, None) => {
            ("would remove", format!("{} would be kept (dry run, {written} written)", count(s.kept)))
        }
    };
    let (exact, near) = (count(s.exact_duplicates), count(s.near_duplicates));
    let kinds = match s.linked {
        0 => format!("{exact} exact and {near} near"),
        linked => format!("{exact} exact, {near} near and {} linked", count(linked)),
    };
    let by = if s.against.is_empty() { "kept" } else { "protected or kept" };
    let (removed, share) = (count(s.removed), percent(s.removed as f64, s.documents as f64));
    let documents = counted(s.documents, "document");
    format!("{verb} {removed} of {documents} ({share}): {kinds} duplicates of {by} ones; {end}")
}

fn rows(s: &Summary) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("method", method(&s.configuration)),
        ("input", format!("{}, {}", counted(s.inputs.files, "file"), size(s.inputs.bytes))),
        (
            "text",
            format!(
                "{}, {}, {} of them (of {} documents)",
                size(s.inputs.text_bytes),
                counted(s.contents, "distinct text"),
                counted(s.copies, "repeat"),
                if s.against.is_empty() { "kept or removed" } else { "protected, kept or removed" }
            ),
        ),
    ];
    for set in &s.against {
        let name = printable(&set.set);
        let refused = match set.rejected {
            0 => String::new(),
            some => format!(", {} refused", counted(some, "record")),
        };
        let from = [(set.collections, "collection"), (set.files, "file")];
        let from: Vec<String> =
            from.into_iter().filter(|(many, _)| *many > 0).map(|(many, what)| counted(many, what)).collect();
        let files = format!("{}{refused}, {}", counted(set.documents, "document"), from.join(", "));
        rows.push((
            "against",
            format!("{name}: {files}, {}; removed {}", size(set.bytes), count(set.removed)),
        ));
    }
    let largest =
        if s.clusters > 0 { format!(", the largest of {}", count(s.largest_cluster)) } else { String::new() };
    let most = s
        .keep_per_cluster
        .map_or(String::new(), |most| format!(", up to {} kept of each", count(most as u64)));
    rows.push(("clusters", format!("{}{largest}{most}", count(s.clusters))));
    if !s.prefer.is_empty() {
        let preferred: Vec<_> = s.prefer.iter().map(|input| printable(input)).collect();
        rows.push(("prefer", preferred.join(", ")));
    }
    if let Some(pairs) = s.pairs {
        rows.push(("pairs", count(pairs)));
    }
    rows.extend(s.kinds.iter().flat_map(|table| shown(table, s.clusters)));
    if s.configuration.finds_pairs() {
        let hot_groups = if s.hot_groups > 0 {
            format!(", {}", counted(s.hot_groups, "hot group"))
        } else {
            String::new()
        };
        rows.push((
            "candidates",
            format!("{}, {} verified{hot_groups}", count(s.candidates), count(s.verified)),
        ));
    }
    if let Some(bytes) = s.kept_bytes {
        rows.push(("kept", size(bytes)));
    }
    if let Some(bytes) = s.removed_bytes {
        rows.push(("removed", size(bytes)));
    }
    if let Some(bytes) = s.annotated_bytes {
        rows.push(("annotated", size(bytes)));
    }
    if let Some(page) = &s.report {
        rows.push(("report", printable(page).into_owned()));
    }
    if let Some(form) = s.form {
        rows.push(("form", form.to_string()));
    }
    rows.extend(spent(s));
    rows
}

/// What it took.
fn spent(s: &Summary) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if let Some(peak) = s.peak_memory_bytes {
        let limit = s.memory_limit_bytes.map_or(String::new(), |l| format!(", limit {}", size(l)));
        rows.push(("memory", format!("{} at most{limit}", size(peak))));
    }
    if let (Some(processes), Some(bytes)) = (s.processes, s.wire_bytes) {
        rows.push(("processes", format!("{processes}, which sent each other {}", size(bytes))));
    }
    if let Some(fetched) = s.fetched {
        rows.push((
            "fetched",
            format!("{} in {}", size(fetched.bytes), counted(fetched.requests, "request")),
        ));
    }
    let stages: Vec<String> = s.stages.iter().map(|t| format!("{} {:.2}", t.name, t.seconds)).collect();
    let stages = if stages.is_empty() { String::new() } else { format!(": {}", stages.join(", ")) };
    rows.push(("seconds", format!("{:.2} with {}{stages}", s.seconds, counted(s.workers as u64, "worker"))));
    let rate =
        format!("{} documents/s, {:.1} MB/s", count(s.documents_per_second as u64), s.megabytes_per_second);
    rows.push(("rate", rate));
    rows
}

fn method(c: &Config) -> String {
    let unit = match c.text.tokens {
        Tokens::Words => "words",
        Tokens::Chars => "characters",
    };
    let shingles = format!("shingles of {} {unit}", c.text.ngram);
    let verified = match c.verify {
        Verify::None => String::new(),
        Verify::Resemblance => format!(" and resemblance at least {}", c.threshold),
        Verify::Containment => format!(" and containment at least {}", c.threshold),
        Verify::Edits => format!(" and at least {} of the longer text unedited", c.threshold),
    };
    let shingles = if c.needs().shingles { format!(", {shingles}") } else { String::new() };
    format!("{}: {}{verified}{shingles}", c.method, c.description().sentence)
}

/// What is doubtful about a run, a line each; `out` as for [`render`].
pub fn warnings(s: &Summary, out: Option<&Path>) -> Vec<String> {
    let (mut warnings, out) = (Vec::new(), shown_folder(out));
    if s.rejected > 0 {
        let share = percent(s.rejected as f64, (s.rejected + s.documents) as f64);
        let place = out.as_ref().map_or(String::new(), |out| format!("; see {out}/rejected.jsonl"));
        warnings.push(format!("{} ({share}) refused{place}", counted(s.rejected, "record")));
        warnings.extend(s.first_rejected.as_ref().map(|first| format!("the first: {}", printable(first))));
    }
    if s.unread_files > 0 {
        let files = counted(s.unread_files, "file");
        warnings.push(format!("{files} could not be read to the end; how much is missing is not known"));
    }
    if let (Some(peak), Some(limit)) = (s.peak_memory_bytes, s.memory_limit_bytes)
        && peak > limit
    {
        warnings.push(format!("{} of memory were needed, more than the {} allowed", size(peak), size(limit)));
    }
    if s.larger_removed > 0 {
        let verb = if s.larger_removed == 1 { "is" } else { "are" };
        warnings.push(format!(
            "{} {verb} larger than what was kept: a text that stands in another one came first; --keep longest keeps the whole",
            counted(s.larger_removed, "removed document")
        ));
    }
    if s.common_shingles.keys > 0 {
        let share = percent(s.common_shingles.fraction_of_postings, 1.0);
        let keys = counted(s.common_shingles.keys, "common key");
        warnings.push(format!(
            "{keys} left out when shared ones were counted: {}, {share} of all; pairs that share little \
             else may be missing",
            counted(s.common_shingles.postings, "posting")
        ));
    }
    if s.documents + s.rejected == 0 {
        warnings.push("the input holds no documents; check its files".to_owned());
    }
    if s.empty > 0 {
        let documents = counted(s.empty, "document");
        let all = if s.empty == s.documents { "; is the text field right (--text-field)?" } else { "" };
        warnings.push(format!("{documents} without any word: kept, compared with nothing{all}"));
    }
    if s.too_few_terms > 0 {
        let texts = counted(s.too_few_terms, "text");
        let named = examples(&s.first_too_few_terms, s.too_few_terms);
        warnings.push(format!(
            "{texts} with too few terms for the method: compared with equal texts only{named}"
        ));
    }
    warnings.extend(missing(s));
    let skipped = s.skipped.iter().map(|skipped| (&*skipped.file, &*skipped.reason)).collect::<Vec<_>>();
    warnings.extend(skipped_files(&skipped, if out.is_some() { "; see summary.json" } else { "" }));
    warnings
}

/// What is said of files that were passed over, each with the reason, a line each: of the first ones, and how many more there are, behind
/// which `place` stands.
pub fn skipped_files(skipped: &[(&str, &str)], place: &str) -> Vec<String> {
    let name = |(file, why): &(&str, &str)| format!("{} skipped: {}", printable(file), printable(why));
    let mut lines: Vec<String> = skipped.iter().take(NAMED).map(name).collect();
    if let Some(more) = skipped.len().checked_sub(NAMED).filter(|more| *more > 0) {
        lines.push(format!("{} skipped{place}", counted(more as u64, "more file")));
    }
    let unknown = skipped.iter().filter(|(_, why)| *why == NO_DOCUMENTS);
    let mut of_extensions: BTreeMap<&OsStr, usize> = BTreeMap::new();
    for extension in unknown.filter_map(|(file, _)| Path::new(file).extension()) {
        *of_extensions.entry(extension).or_default() += 1;
    }
    // Of equally many the first.
    if let Some((extension, _)) = of_extensions.into_iter().rev().max_by_key(|(_, files)| *files) {
        let pattern = printable(&format!("FOLDER/**/*.{}", extension.display())).into_owned();
        lines.push(format!("a pattern reads files as texts that a folder skips: '{pattern}'"));
    }
    lines
}

/// What documents lack that others have, a line each.
fn missing(s: &Summary) -> Vec<String> {
    let mut warnings = Vec::new();
    if s.missing_date > 0 {
        let documents = counted(s.missing_date, "document");
        let named = examples(&s.first_missing_date, s.missing_date);
        warnings.push(format!(
            "{documents} without a date that is understood: compared with each other only{named}"
        ));
    }
    let Config { input, cluster, .. } = &s.configuration;
    // Records of which none has an `id` are usual, if nobody asked for one.
    if s.missing_id > 0 && (s.missing_id < s.documents || input.id_field != Config::default().input.id_field)
    {
        let (documents, field) = (counted(s.missing_id, "document"), printable(&input.id_field));
        warnings.push(format!("{documents} without an id in the field {field}: named by file and line"));
    }
    if let Some(field) = cluster.keep.field().filter(|_| s.missing_value > 0) {
        let (documents, field) = (counted(s.missing_value, "document"), printable(field));
        let before = match cluster.keep.criteria() {
            [Criterion::Field { .. }, ..] => "",
            _ => ", where what comes before it does not decide",
        };
        warnings.push(format!(
            "{documents} without a number or a string in the field {field}: of duplicates those that have one \
             are kept first{before}"
        ));
    }
    if s.missing_within > 0 {
        let (documents, field) = (counted(s.missing_within, "document"), printable(&input.within_field));
        warnings.push(format!(
            "{documents} without a number or a string in the field {field}: compared with each other only"
        ));
    }
    if s.protected_missing_within > 0 {
        let documents = counted(s.protected_missing_within, "protected document");
        let field = printable(&input.within_field);
        warnings.push(format!(
            "{documents} without a number or a string in the field {field}: compared only with documents that have none"
        ));
    }
    warnings
}

/// Behind what is said of so many documents the names of a few, in parentheses.
pub fn examples(first: &[String], all: u64) -> String {
    let names: Vec<String> = first.iter().take(FEW).map(|name| printable(name).into_owned()).collect();
    let more = if all > names.len() as u64 { ", ..." } else { "" };
    if names.is_empty() { String::new() } else { format!(" ({}{more})", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::super::summary::{CommonShingles, InputFigures, Skipped, StageSeconds};
    use super::*;
    use crate::config::{Method, Rule};

    fn example() -> Summary {
        Summary {
            inputs: InputFigures { files: 3, bytes: 123_949_999, text_bytes: 1_118_000_000 },
            documents: 56_789,
            contents: 55_989,
            exact_duplicates: 800,
            near_duplicates: 434,
            removed: 1_234,
            kept: 55_555,
            clusters: 612,
            largest_cluster: 97,
            candidates: 15_784,
            verified: 10_093,
            kept_bytes: Some(121_000_000),
            workers: 2,
            memory_limit_bytes: Some(12_000_000_000),
            peak_memory_bytes: Some(210_000_000),
            stages: vec![
                StageSeconds { name: "read", seconds: 0.8 },
                StageSeconds { name: "write", seconds: 0.043 },
            ],
            seconds: 1.23,
            documents_per_second: 46_170.4,
            megabytes_per_second: 100.77,
            ..Summary::new(Config::default())
        }
    }

    #[test]
    fn is_readable() {
        let expected = "\
removed 1,234 of 56,789 documents (2.2 %): 800 exact and 434 near duplicates of kept ones; 55,555 kept in OUT/kept
  method      join: resemblance at least 0.8, shingles of 5 words
  input       3 files, 123.9 MB
  text        1,118.0 MB, 55,989 distinct texts, 0 repeats of them (of kept or removed documents)
  clusters    612, the largest of 97
  candidates  15,784, 10,093 verified
  kept        121.0 MB
  memory      210.0 MB at most, limit 12,000.0 MB
  seconds     1.23 with 2 workers: read 0.80, write 0.04
  rate        46,170 documents/s, 100.8 MB/s
";
        assert_eq!(render(&example(), Some(Path::new("OUT"))), expected);
    }

    #[test]
    fn warns() {
        let mut summary = example();
        summary.rejected = 1;
        summary.empty = 2;
        (summary.too_few_terms, summary.missing_date) = (5, 2);
        summary.first_too_few_terms = ["a", "b\u{1b}", "c", "d"].map(String::from).to_vec();
        summary.first_missing_date = vec!["in:1".into(), "in:2".into()];
        summary.linked = 5;
        summary.pairs = Some(1_000_000);
        summary.hot_groups = 1;
        summary.common_shingles =
            CommonShingles { keys: 12, postings: 34_567, fraction_of_postings: 0.0321, most: Vec::new() };
        let skipped = |i| Skipped { file: format!("odd\u{1b}[2J{i}"), reason: "not text".into() };
        summary.skipped = (0..7).map(skipped).collect();
        let text = render(&summary, Some(Path::new("OUT")));
        for part in [
            "800 exact, 434 near and 5 linked duplicates of kept ones;",
            "  pairs       1,000,000\n",
            "10,093 verified, 1 hot group\n",
            "warning: 1 record (< 0.1 %) refused; see OUT/rejected.jsonl\n",
            "warning: 12 common keys left out when shared ones were counted: 34,567 postings, 3.2 % of all;",
            "warning: 5 texts with too few terms for the method: compared with equal texts only (a, b\\u{1b}, c, ...)\n",
            "warning: 2 documents without a date that is understood: compared with each other only (in:1, in:2)\n",
            "warning: 2 documents without any word: kept, compared with nothing\n",
            "warning: odd\\u{1b}[2J4 skipped: not text\nwarning: 2 more files skipped; see summary.json\n",
        ] {
            assert!(text.contains(part), "{part}\nin\n{text}");
        }
        assert!(text.lines().count() <= 30 && !text.contains('\u{1b}'));
    }

    #[test]
    fn a_dry_run_and_an_empty_one() {
        let text = render(&example(), None);
        assert!(text.starts_with(
            "would remove 1,234 of 56,789 documents (2.2 %): 800 exact and 434 near duplicates of kept ones; 55,555 would"
        ));
        let text = render(&Summary::default(), None);
        assert!(text.starts_with("would remove 0 of 0 documents (0.0 %): 0 exact and 0 near "), "{text}");
        assert!(text.ends_with("\nwarning: the input holds no documents; check its files\n"), "{text}");
    }

    #[test]
    fn methods_are_told() {
        let mut config = Config::default();
        config.text.tokens = Tokens::Chars;
        config.method = Method::Minhash;
        config.verify = Verify::Resemblance;
        let features = "minhash: 2 of 6 features of 14 values agree and resemblance at least 0.8, shingles of 5 characters";
        assert_eq!(method(&config), features);
        config.method = Method::Shingles;
        config.verify = Verify::None;
        config.count.rule = Rule::Containment;
        assert_eq!(method(&config), "shingles: containment at least 0.8, shingles of 5 characters");
        config.method = Method::Exact;
        assert_eq!(method(&config), "exact: equal canonical text");
    }

    #[test]
    fn numbers() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([1, 99_999, 100_000, 1_250_000].map(size), ["1 byte", "99,999 bytes", "0.1 MB", "1.3 MB"]);
        assert_eq!(size(u64::MAX), "18,446,744,073,709.6 MB");
        assert_eq!(percent(1.0, 100_000.0), "< 0.1 %");
    }
}
