//! What becomes a cluster where the plain way is not taken: hot groups (key groups too large to be expanded into pairs) against
//! runs that expand everything and against the oracle; and the chain of Wang and Gemmell 2005, figure 3.

use serde_json::{Value, json};

use crate::support::corpora::stride;
use crate::support::oracle::{Contents, Doc, Pair, Rules, answer, comparable, fraction};
use crate::support::output::{Output, label, reread, sorted};
use crate::support::program::Dir;
use crate::support::texts::{Random, line, words};

/// Copies of each template: so many that more pairs meet under some keys than a group may have, however rare these are.
const COPIES: usize = 700;

/// The same for features: a feature is the same in fewer of the copies than a shingle is.
const FEATURED: usize = 760;

/// Words of a template.
const WORDS: usize = 200;

/// Two templates that share every other stretch of ten words, their copies in random order, so that most groups hold
/// both kinds. A copy has one to three words of its own: two copies differ in two to six places, and 0.8 lies between.
/// Some have many more, and are alone; a few lead from one template to the other by small steps.
fn interleaved(seed: u64, copies: usize, bridged: bool) -> Vec<Doc> {
    let mut random = Random(seed);
    let mut fresh =
        |count: usize| -> Vec<String> { (0..count).map(|_| format!("t{}", random.below(1 << 40))).collect() };
    let (one, own) = (fresh(WORDS), fresh(WORDS));
    let two: Vec<String> =
        (0..WORDS).map(|i| if i / 10 % 2 == 0 { one[i].clone() } else { own[i].clone() }).collect();
    let mut texts = Vec::new();
    for copy in 0..copies {
        for (kind, template) in [&one, &two].into_iter().enumerate() {
            let edits = if copy % 16 == 0 { 12 + random.below(8) } else { 1 + random.below(3) };
            let mut text = template.clone();
            for edit in 0..edits {
                text[random.below(WORDS)] = format!("e{kind}x{copy}x{edit}");
            }
            texts.push(text.join(" "));
            if copy % 50 == 0 {
                texts.push(text.join(", ").to_uppercase());
            }
        }
    }
    if bridged {
        let mut text = one.clone();
        for stretch in (10..WORDS).step_by(20) {
            for half in [stretch..stretch + 5, stretch + 5..stretch + 10] {
                text[half.clone()].clone_from_slice(&two[half]);
                texts.push(text.join(" "));
            }
        }
    }
    random.shuffle(&mut texts);
    let mut docs = Doc::all(&texts);
    for (i, doc) in docs.iter_mut().enumerate() {
        doc.score = (i % 5 != 0).then_some((i * 37 % 101) as i64);
    }
    docs
}

/// Everything but the pairs.
fn found(output: &Output) -> [Vec<Value>; 3] {
    let kept = output.kept_ids().into_iter().map(Value::from).collect();
    [sorted(comparable(&output.duplicates)), sorted(comparable(&output.clusters)), kept]
}

#[track_caller]
fn assert_found(want: &[Vec<Value>; 3], got: &[Vec<Value>; 3], what: &str) {
    for (kind, (want, got)) in ["duplicates", "clusters", "kept"].iter().zip(want.iter().zip(got)) {
        let differs = want.iter().zip(got).find(|(want, got)| want != got);
        assert!(differs.is_none(), "{kind} of {what}: (expected, found) {differs:?}");
        assert_eq!(want.len(), got.len(), "number of {kind} of {what}");
    }
}

fn hot_groups(output: &Output) -> u64 {
    output.summary["hot_groups"].as_u64().unwrap()
}

/// `join`: with `--pairs` no group is a hot group, without it the templates' groups are, and both answer as the oracle does.
#[test]
fn hot_groups_answer_like_all_pairs_and_like_the_oracle() {
    let mut components = Vec::new();
    for (seed, bridged, threshold, keeps) in [
        (1, true, "0.8", ["first", "longest"]),
        (2, false, "0.8", ["field:score:max", "last"]),
        (3, true, "0.6", ["shortest", "field:score:min"]),
    ] {
        let docs = interleaved(seed, COPIES, bridged);
        let dir = Dir::new();
        dir.write("in.jsonl", Doc::jsonl(&docs));
        let least = fraction(threshold);
        let contents = Contents::count(&docs, 5, |pair| pair.resembles(least));
        let links: Vec<Pair> = contents.pairs.iter().filter(|pair| pair.resembles(least)).copied().collect();
        for (clustering, keep) in ["guarantee", "transitive"].into_iter().zip(keeps) {
            let transitive = clustering == "transitive";
            let want = answer(&docs, &contents, &links, Rules { keep, transitive });
            let kept: Vec<&str> = want.kept.iter().map(|position| docs[*position].id.as_str()).collect();
            let mut kept: Vec<Value> = kept.into_iter().map(Value::from).collect();
            kept.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            let want_found = [sorted(reread(&want.duplicates)), sorted(reread(&want.clusters)), kept];
            assert!(
                want_found[0].len() > COPIES && want_found[2].len() > 20,
                "seed {seed}: nothing to tell apart"
            );
            let flags = format!("in.jsonl --threshold {threshold} --clustering {clustering} --keep {keep}");
            let expanded = dir.output(&format!("{flags} --pairs -w 2"), &format!("{clustering}-pairs"));
            assert_eq!(
                (hot_groups(&expanded), expanded.pairs.len()),
                (0, contents.expected_pairs(&links).len()),
                "{flags} --pairs"
            );
            assert_found(&want_found, &found(&expanded), &format!("seed {seed}: {flags} --pairs"));
            let hot_members = dir.output(&format!("{flags} -w {seed}"), clustering);
            assert!(
                hot_groups(&hot_members) > 0,
                "seed {seed}: {flags}: no hot group, so this shows nothing"
            );
            assert_found(&want_found, &found(&hot_members), &format!("seed {seed}: {flags}"));
            if transitive {
                let size = |row: &Value| row["size"].as_u64().unwrap() as usize;
                components.push((bridged, want.clusters.iter().filter(|row| size(row) > COPIES / 2).count()));
            }
        }
    }
    // The collections are what they are meant to be: one large component where there is a bridge, else two.
    assert!(components.contains(&(true, 1)) && components.contains(&(false, 2)), "{components:?}");
}

/// The other methods whose groups may be hot groups, against themselves with every group expanded.
#[test]
fn hot_groups_of_the_other_methods_answer_like_all_pairs() {
    let configs = [
        ("minhash", "method = 'minhash'\n[minhash]\nk = 6\ns = 4\nr = 2"),
        ("bands", "method = 'minhash'\n[minhash]\nk = 8\ns = 3\nr = 1"),
        ("verified", "method = 'minhash'\nverify = 'resemblance'\n[minhash]\nk = 6\ns = 4\nr = 1"),
        // Of a hot group both is measured: what features are shared, and what resemblance there is.
        ("counted", "method = 'minhash'\nverify = 'resemblance'\n[minhash]\nk = 6\ns = 4\nr = 2"),
        (
            "smallest",
            "method = 'shingles'\n[shingles]\nsampling = 'smallest'\nper_document = 50\n[count]\ncommon_cap = 0",
        ),
        (
            "contained",
            "method = 'shingles'\n[shingles]\nsampling = 'none'\n[count]\ncommon_cap = 0\nrule = 'containment'",
        ),
    ];
    let docs = interleaved(5, FEATURED, true);
    let dir = Dir::new();
    dir.write("in.jsonl", Doc::jsonl(&docs));
    let half = stride(2);
    for (at, (name, config)) in configs.into_iter().enumerate() {
        dir.write(&format!("{name}.toml"), config);
        for clustering in ["guarantee", "transitive"].into_iter().skip(at % half).step_by(half) {
            let flags = format!("in.jsonl --config {name}.toml --clustering {clustering} -w 2");
            let expanded = dir.output(&format!("{flags} --pairs"), &format!("{name}-{clustering}-pairs"));
            let hot_members = dir.output(&flags, &format!("{name}-{clustering}"));
            assert!(
                hot_groups(&hot_members) > 0 && hot_groups(&expanded) == 0,
                "{flags}: no hot group, so this shows nothing"
            );
            let (removed, kept) = (expanded.duplicates.len(), expanded.kept_ids().len());
            assert!(removed > 100 && kept > 5, "{flags}: {removed} removed, {kept} kept");
            assert_found(&found(&expanded), &found(&hot_members), &flags);
        }
    }
}

/// Letters of a chain in which each resembles only its neighbours: windows of 100 words that move by 8 share 88 of
/// 104 5-grams (0.846), the next but one 80 of 112 (0.714).
const CHAIN: [&str; 7] = ["A", "B", "C", "D", "E", "F", "G"];

fn link_of_the_chain(letter: &str) -> String {
    let step = CHAIN.iter().position(|other| *other == letter).unwrap();
    words(step * 8, 100)
}

/// Wang and Gemmell 2005, section 3.2: conservative clustering cuts the chain A-B-...-G, connected components do not.
#[test]
fn a_chain_is_cut_under_guarantee_only() {
    let dir = Dir::new();
    dir.write("in.jsonl", CHAIN.map(|letter| line(letter, &link_of_the_chain(letter))).concat());
    for flags in ["in.jsonl", "in.jsonl --pairs"] {
        let output = dir.output(flags, "guarantee");
        assert_eq!(output.partition(), [["A", "B"], ["C", "D"], ["E", "F"]], "{flags}");
        assert_eq!(output.kept_ids(), ["A", "C", "E", "G"], "{flags}");
        assert!(
            output.duplicates.iter().all(|row| row["reason"] == json!("near")),
            "{:?}",
            output.duplicates
        );
        let output = dir.output(&format!("{flags} --clustering transitive"), "transitive");
        assert_eq!(output.partition(), [CHAIN], "{flags}");
        let chain: Vec<[String; 3]> = output
            .duplicates
            .iter()
            .map(|row| [label(&row["id"]), label(&row["reason"]), label(&row["parent"])])
            .collect();
        for (row, pair) in chain.iter().zip(CHAIN.windows(2)) {
            let [before, this] = pair else { unreachable!() };
            let (reason, parent) = if *before == "A" { ("near", "null") } else { ("linked", *before) };
            assert_eq!(row, &[*this, reason, parent], "{flags}");
        }
        for name in ["guarantee", "transitive"] {
            std::fs::remove_dir_all(dir.join(name)).unwrap();
        }
    }
}

/// The same chain in any order and under any policy: three clusters or more (a lone document is one), and whatever is
/// removed resembles what is kept for it.
#[test]
fn a_chain_in_any_order_gives_three_clusters_or_more() {
    let keeps = ["first", "last", "field:rank:max", "field:rank:min"];
    let mut random = Random(9);
    let mut sizes = std::collections::BTreeSet::new();
    for run in 0..24 {
        let mut letters = CHAIN;
        random.shuffle(&mut letters);
        let record =
            |letter: &str, rank| json!({"id": letter, "text": link_of_the_chain(letter), "rank": rank});
        let lines = letters.map(|letter| format!("{}\n", record(letter, random.below(100))));
        let dir = Dir::new();
        dir.write("in.jsonl", lines.concat());
        let output = dir.output(&format!("in.jsonl --keep {} -w 2", keeps[run % keeps.len()]), "out");
        sizes.insert(output.kept_ids().len());
        assert!((3..=4).contains(&output.kept_ids().len()), "{letters:?}: {:?}", output.kept_ids());
        assert_eq!(output.kept_ids().len() + output.duplicates.len(), CHAIN.len());
        for row in &output.duplicates {
            let at = |key: &str| CHAIN.iter().position(|letter| *letter == label(&row[key])).unwrap();
            assert_eq!(at("id").abs_diff(at("representative")), 1, "{letters:?}: {row}");
            assert!(row["resemblance"].as_f64() >= Some(0.8), "{row}");
        }
    }
    assert_eq!(sizes.len(), 2, "both sizes that are possible occur: {sizes:?}");
}
