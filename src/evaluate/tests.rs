//! Everything that is counted by formulas against all pairs one by one; labels in each form.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use super::grouping::Grouping;
use super::labels::{Form, LabelOptions, LabelRows, Labels};
use super::outcome::Found;
use super::score::{Estimate, Scores, score};
use super::sizes::{BOUNDS, SIZES, Sizes};
use super::truth::Truth;

/// A grouping of `count` documents, and the lengths of some.
fn grouping(count: usize) -> impl Strategy<Value = Grouping> {
    let of = prop::collection::vec(0..count as u32, count);
    let links = prop::collection::vec((0..count as u32, 0..count as u32), 0..count);
    (of, links).prop_map(|(of, links)| Grouping::new(of, links))
}

/// The obvious twin of [`Grouping::shared`]: each pair by itself.
fn one_by_one(a: &Grouping, b: &Grouping, sizes: &[u8]) -> Sizes {
    let mut counts = [0; SIZES];
    for x in 0..sizes.len() as u32 {
        for y in (0..x).filter(|y| a.has(x, *y) && b.has(x, *y)) {
            counts[sizes[x as usize].min(sizes[y as usize]) as usize] += 1;
        }
    }
    counts
}

fn shared(a: &Grouping, b: &Grouping, sizes: &[u8]) -> Sizes {
    let mut counts: Sizes = [0; SIZES];
    a.shared(b, sizes, |_, more| counts.iter_mut().zip(more).for_each(|(sum, more)| *sum += more));
    counts
}

fn value(estimate: Option<Estimate>) -> Option<f64> {
    estimate.map(|estimate| estimate.value)
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-9,
        (a, b) => a == b,
    }
}

/// Precision, recall and F1 of counts.
fn shares(both: f64, found: f64, truth: f64) -> [Option<f64>; 3] {
    let ratio = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    [ratio(both, found), ratio(both, truth), ratio(2.0 * both, found + truth)]
}

/// The obvious twin of [`score`] where the truth is clusters: members of a group of lengths, or all.
fn slow(found: &Found, truth: &[u32], sizes: &[u8], place: Option<u8>) -> Vec<Option<f64>> {
    let method = found.clusters.groups();
    let all: Vec<usize> = (0..sizes.len()).collect();
    let here: Vec<usize> =
        all.iter().copied().filter(|at| place.is_none_or(|place| sizes[*at] == place)).collect();
    let counted = |x: usize, y: usize| place.is_none_or(|place| sizes[x].min(sizes[y]) == place);
    let [mut both, mut of_method, mut of_truth] = [0.0; 3];
    for x in &all {
        for y in all[..*x].iter().filter(|y| counted(*x, **y)) {
            let (a, b) = (method[*x] == method[*y], truth[*x] == truth[*y]);
            both += f64::from(u8::from(a && b));
            of_method += f64::from(u8::from(a));
            of_truth += f64::from(u8::from(b));
        }
    }
    let mut values = shares(both, of_method, of_truth).to_vec();
    let members =
        |of: &[u32], at: usize| all.iter().copied().filter(|x| of[*x] == of[at]).collect::<Vec<_>>();
    let [mut precision, mut recall] = [0.0; 2];
    for at in &here {
        let (a, b) = (members(method, *at), members(truth, *at));
        let common = a.iter().filter(|x| b.contains(x)).count() as f64;
        precision += common / a.len() as f64 / here.len() as f64;
        recall += common / b.len() as f64 / here.len() as f64;
    }
    let harmonic = 2.0 * precision * recall / (precision + recall);
    values.extend([precision, recall, harmonic].map(|value| (!here.is_empty()).then_some(value)));
    let mut sets: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    all.iter().for_each(|at| sets.entry(truth[*at]).or_default().push(*at));
    sets.retain(|_, set| set.len() > 1);
    sets.retain(|_, set| place.is_none_or(|place| set.iter().map(|at| sizes[*at]).min() == Some(place)));
    let exact = sets.values().filter(|set| members(method, set[0]) == **set).count() as f64;
    values.push((!sets.is_empty()).then(|| exact / sets.len() as f64));
    values
}

fn fast(measures: &super::score::ScoreMeasures) -> Vec<Option<f64>> {
    let bcubed = measures.bcubed.expect("clusters");
    [measures.shares, bcubed]
        .iter()
        .flat_map(|shares| [shares.precision, shares.recall, shares.f1].map(value))
        .chain([value(measures.exact)])
        .collect()
}

fn found(clusters: Vec<u32>) -> Found {
    Found { clusters: Grouping::new(clusters, []), pairs: None, removed: Vec::new() }
}

fn clusters(truth: &[u32]) -> Truth {
    let clusters = Grouping::new(truth.to_vec(), []);
    Truth::Whole { pairs: clusters.clone(), clusters }
}

fn scored(method: &[u32], truth: &[u32], sizes: &[u8]) -> Scores {
    let documents: Vec<u32> = (0..sizes.len() as u32).collect();
    score(&found(method.to_vec()), false, &documents, &clusters(truth), sizes)
}

proptest! {
    #[test]
    fn shared_pairs_are_those_counted_one_by_one(
        a in grouping(14),
        b in grouping(14),
        sizes in prop::collection::vec(0u8..SIZES as u8, 14),
    ) {
        prop_assert_eq!(shared(&a, &b, &sizes), one_by_one(&a, &b, &sizes));
        prop_assert_eq!(shared(&b, &a, &sizes), one_by_one(&a, &b, &sizes));
        prop_assert_eq!(shared(&a, &a, &sizes), one_by_one(&a, &a, &sizes));
    }

    #[test]
    fn scores_are_those_of_the_obvious_twin(
        rows in prop::collection::vec((0u32..8, 0u32..8, 0u8..3), 1..30),
    ) {
        let method: Vec<u32> = rows.iter().map(|row| row.0).collect();
        let truth: Vec<u32> = rows.iter().map(|row| row.1).collect();
        let sizes: Vec<u8> = rows.iter().map(|row| row.2).collect();
        let scores = scored(&method, &truth, &sizes);
        let expected = slow(&found(method.clone()), &truth, &sizes, None);
        let got = fast(&scores.all);
        prop_assert!(got.iter().zip(&expected).all(|(a, b)| near(*a, *b)), "{got:?} {expected:?}");
        for of_size in &scores.by_size {
            let place = BOUNDS.iter().position(|bound| *bound == of_size.words_from).expect("a bound") as u8;
            let expected = slow(&found(method.clone()), &truth, &sizes, Some(place));
            let got = fast(&of_size.measures);
            prop_assert!(got.iter().zip(&expected).all(|(a, b)| near(*a, *b)), "{place} {got:?} {expected:?}");
        }
        let all = [scores.all.shares.precision, scores.all.shares.recall, scores.all.rand];
        for estimate in all.into_iter().flatten() {
            let [low, high] = estimate.interval.unwrap_or([estimate.value; 2]);
            prop_assert!(low <= high);
        }
    }

    /// Some documents only: as if there were no others.
    #[test]
    fn documents_that_do_not_count_change_nothing(
        rows in prop::collection::vec((0u32..5, 0u32..5, any::<bool>()), 1..25),
    ) {
        let documents: Vec<u32> = (0..).zip(&rows).filter(|(_, row)| row.2).map(|(number, _)| number).collect();
        let some = |of: fn(&(u32, u32, bool)) -> u32| rows.iter().filter(|row| row.2).map(of).collect::<Vec<_>>();
        let (method, truth) = (some(|row| row.0), some(|row| row.1));
        let all: Vec<u32> = rows.iter().map(|row| row.0).collect();
        let got = score(&found(all), false, &documents, &clusters(&truth), &vec![0; rows.len()]);
        prop_assert_eq!(got, scored(&method, &truth, &vec![0; truth.len()]));
    }
}

#[test]
fn judged_pairs_and_marks_by_hand() {
    let found = Found { removed: vec![1, 3], ..found(vec![0, 0, 2, 2, 4]) };
    let documents = [0, 1, 2, 3, 4];
    let judged = Truth::Judged(vec![(0, 1, true), (1, 2, true), (2, 3, false), (3, 4, false)]);
    let scores = score(&found, false, &documents, &judged, &[0, 0, 1, 1, 0]);
    let all = scores.all;
    assert_eq!((all.found, all.truth, all.both, all.removed), (2, 2, 1, 2));
    assert_eq!(value(all.shares.f1), Some(0.5));
    assert!(
        all.rand.is_none() && all.bcubed.is_none() && all.exact.is_none() && scores.truth_removed.is_none()
    );
    // The pair (2, 3) is the only one of two longer documents.
    let longer = scores.by_size[1].measures;
    assert_eq!((longer.documents, longer.found, longer.truth), (2, 1, 0));
    assert_eq!((value(longer.shares.precision), value(longer.shares.recall)), (Some(0.0), None));
    let marks = Truth::Marks(vec![false, true, true, false, false]);
    let scores = score(&found, false, &documents, &marks, &[0; 5]);
    assert_eq!((scores.all.found, scores.all.truth, scores.all.both), (2, 2, 1));
    assert_eq!(scores.truth_removed, Some(2));
}

#[test]
fn clusters_by_hand() {
    // {a b c}{d}{e f} against {a b}{c d}{e f}.
    let scores = scored(&[0, 0, 0, 3, 4, 4], &[0, 0, 1, 1, 2, 2], &[0; 6]);
    let all = scores.all;
    assert_eq!((all.found, all.truth, all.both), (4, 3, 2));
    assert_eq!((all.truth_sets, all.exact_sets, scores.truth_removed), (Some(3), Some(1), Some(3)));
    let bcubed = all.bcubed.expect("clusters");
    // Precision 2/3 2/3 1/3 1 1 1, recall 1 1 1/2 1/2 1 1.
    assert!(near(value(bcubed.precision), Some(14.0 / 18.0)) && near(value(bcubed.recall), Some(5.0 / 6.0)));
    // 15 pairs: expected 4 * 3 / 15 = 0.8; (2 - 0.8) / (3.5 - 0.8).
    assert!(near(value(all.rand), Some(1.2 / 2.7)));
}

#[test]
fn what_is_all_right_has_the_interval_of_its_blocks() {
    // Ten clusters of two, all found.
    let of: Vec<u32> = (0..20).map(|document| document / 2).collect();
    let precision = scored(&of, &of, &[0; 20]).all.shares.precision.expect("pairs");
    let [low, high] = precision.interval.expect("an interval");
    assert!(precision.value == 1.0 && high == 1.0 && (low - 0.7225).abs() < 1e-3, "{low}");
}

fn parse(text: &str, wish: &LabelOptions) -> Result<Labels, String> {
    Labels::parse(Path::new("labels"), text, wish).map_err(|error| error.to_string())
}

#[test]
fn labels_of_each_form() {
    let wish = LabelOptions::default();
    let pair = |a: &str, b: &str, is| (a.to_owned(), b.to_owned(), is);
    let pairs = LabelRows::Pairs(vec![pair("x", "y", true), pair("x", "z", false)]);
    for text in [
        "id_a\tid_b\tgrade\nx\ty\t2\n\nx\tz\t0\n",
        "\u{feff}A\tB\tjudgement\r\nx\ty\t1\r\nx\tz\t0.5\r\n",
        "{\"a\":\"x\",\"b\":\"y\",\"grade\":3}\n{\"a\":\"x\",\"b\":\"z\",\"grade\":false}\n",
    ] {
        let labels = parse(text, &wish).expect(text);
        assert_eq!((labels.form(), &labels.rows), (Form::Pairs, &pairs), "{text}");
    }
    let clusters = |text, wish: &LabelOptions| parse(text, wish).expect("labels").rows;
    let expected = LabelRows::Clusters(vec![("1".into(), "p".into()), ("3".into(), "q".into())]);
    assert_eq!(clusters("id\tcluster\n1\tp\n2\t\n3\tq\n", &wish), expected);
    assert_eq!(clusters("{\"id\":1,\"cluster\":\"p\"}\n{\"id\":3,\"cluster\":\"q\"}", &wish), expected);
    let column =
        LabelOptions { column: Some("page".into()), form: Some(Form::Clusters), ..LabelOptions::default() };
    assert_eq!(clusters("id\tlabel\tpage\n1\tr\tp\n3\tr\tq\n", &column), expected);
    let positional = LabelOptions { form: Some(Form::Clusters), ..LabelOptions::default() };
    assert_eq!(clusters("1\tp\n3\tq\n", &positional), expected);
    let words = LabelOptions { duplicate: vec!["copy".into()], ..LabelOptions::default() };
    let marks = LabelRows::Marks(vec![("1".into(), true), ("2".into(), false)]);
    assert_eq!(parse("id\tmark\n1\tcopy\n2\tother\n", &words).expect("labels").rows, marks);
    assert_eq!(parse("id\tremoved\n1\t1\n2\t0\n", &wish).expect("labels").rows, marks);
}

#[test]
fn labels_that_are_none_are_refused_with_their_line() {
    let wish = LabelOptions::default();
    for (text, part) in [
        ("", "no label"),
        ("id\tcluster\n", "no label"),
        ("x\ty\t1\n", "--labels-form"),
        ("id\tcluster\tmark\n1\tp\t0\n", "--labels-form"),
        ("id_a\tid_b\tgrade\nx\ty\tcopy\n", "line 2: \"copy\" is no grade"),
        ("id_a\tid_b\tgrade\nx\ty\t\n", "line 2 has no grade"),
        ("id_a\tid_b\nx\t\n", "line 2 has no id"),
        ("id_a\tid_b\nx\ty\tz\n", "line 2 has 3 columns"),
        ("{\"id\":1,\"mark\":1}\n[]\n", "line 2 is no object"),
    ] {
        let message = parse(text, &wish).expect_err(text);
        assert!(message.contains(part), "{text:?}: {message}");
    }
    let column =
        LabelOptions { column: Some("page".into()), form: Some(Form::Clusters), ..LabelOptions::default() };
    assert!(parse("id\tlabel\n1\tp\n", &column).expect_err("no column").contains("no column \"page\""));
}

/// Of a log of verdicts the last of each pair counts, whichever id comes first; without the column it is no log.
#[test]
fn of_a_log_of_verdicts_the_last_counts() {
    let parse = |text: &str, duplicate: &[&str]| {
        let duplicate = duplicate.iter().map(|word| (*word).to_owned()).collect();
        Labels::parse(Path::new("x"), text, &LabelOptions { duplicate, ..LabelOptions::default() })
    };
    let line = |a: &str, b: &str, grade: &str, log: bool| {
        let at = if log { ",\"judged_at\":\"2026-01-01T00:00:00Z\"" } else { "" };
        format!("{{\"id_a\":\"{a}\",\"id_b\":\"{b}\",\"grade\":{grade}{at}}}\n")
    };
    let rows = [("a", "b", "1"), ("c", "d", "0"), ("e", "f", "1"), ("b", "a", "0"), ("f", "e", "\"unsure\"")];
    let text = |log| rows.map(|(a, b, grade)| line(a, b, grade, log)).concat();
    let log = parse(&text(true), &[]).expect("a log");
    let expected = [("c".to_owned(), "d".to_owned(), false), ("b".to_owned(), "a".to_owned(), false)];
    assert_eq!((&log.rows, &log.lines[..]), (&LabelRows::Pairs(expected.to_vec()), &[2, 4][..]));
    assert_eq!((log.replaced, log.unsure), (2, 1));
    // Columns between tabulators say the same.
    let table = "id_a\tid_b\tgrade\tjudged_at\na\tb\tunsure\t1\nb\ta\t2\t2\n";
    let table = parse(table, &[]).expect("a log");
    assert_eq!(table.rows, LabelRows::Pairs(vec![("b".to_owned(), "a".to_owned(), true)]));
    assert_eq!((table.replaced, table.unsure), (1, 0));
    // Without the column all lines are labels, which are refused later if they contradict each other.
    let plain = parse(&text(false), &[]).expect("labels");
    assert_eq!((plain.lines.len(), plain.replaced, plain.unsure), (4, 0, 1));
    // What a line says is looked at even where a later one replaces it.
    let wrong = line("a", "b", "\"maybe\"", true) + &line("a", "b", "1", true);
    assert!(parse(&wrong, &[]).expect_err("no grade").to_string().contains("line 1"));
    // Of words that mean a duplicate it may be one.
    let said = parse(&line("a", "b", "\"unsure\"", false), &["unsure"]).expect("labels");
    assert_eq!((said.lines.len(), said.unsure), (1, 0));
    let none = parse(&line("a", "b", "\"unsure\"", true), &[]).expect_err("nothing is said");
    assert!(none.to_string().contains("unsure"), "{none}");
}
