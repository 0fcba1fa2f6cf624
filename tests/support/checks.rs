//! Texts checked against a collection, and the brute-force answer.

use alike::collection::{AskedText, Checker, Snapshot};
use alike::config::{Config, Method};
use alike::method::FrozenTables;
use alike::progress::Progress;
use alike::read::Day;
use alike::simd::Simd;
use alike::similarity::Measure;
use alike::sketcher::Sketcher;

use crate::support::history::{Bench, Load, Op};

/// What a text is to a sketcher: its digest, its set, its features or other keys.
type Sketched = (Option<u128>, Vec<u64>, Vec<u64>);

pub(crate) fn sketch(sketcher: &mut Sketcher, config: &Config, (text, day): (&str, Day)) -> Sketched {
    let digest = sketcher.read(text, day);
    if digest.is_none() || !config.finds_pairs() {
        return (digest, Vec::new(), Vec::new());
    }
    let mut keys = sketcher.keys().0.to_vec();
    keys.sort_unstable();
    keys.dedup();
    (digest, sketcher.words().to_vec(), keys)
}

/// Ids of what resembles a text, best first, and whether the text is the same: every stored text looked at.
fn brute_force(bench: &Bench, config: &Config, asked: &AskedText<'_>) -> Vec<(String, bool)> {
    let text = asked.text;
    let frozen_tables = FrozenTables { lexicon: bench.lexicon.clone(), ..FrozenTables::default() };
    let mut sketcher = Sketcher::new(config, &frozen_tables, Simd::Scalar);
    let (digest, set, keys) = sketch(&mut sketcher, config, (text, Day::None));
    let mut found: Vec<(bool, Measure, String)> = Vec::new();
    let is_within = !config.input.within_field.is_empty();
    let compared = |id: usize, other: &str| !is_within || Op::site(id, other) == asked.within;
    for (id, other) in bench.live.iter().filter(|(id, other)| compared(**id, other)) {
        let (other_digest, other_set, other_keys) =
            sketch(&mut sketcher, config, (other, Op::day(*id, other)));
        let measure = config.rule().map_or(Measure::equal(1), |rule| rule.full(&set, &other_set));
        let same = digest.is_some() && digest == other_digest;
        let keyed = config.method != Method::Minhash
            || Measure::of(&keys, &other_keys).shared as usize >= config.minhash.r;
        let linked = keyed && config.rule().is_some_and(|rule| rule.measure(&set, &other_set).is_some());
        if same || (linked && digest.is_some() && other_digest.is_some()) {
            found.push((!same, measure, format!("d{id}")));
        }
    }
    found.sort_by(|a, b| {
        let closer = config.rule().filter(|_| a.0).map(|rule| rule.closer(a.1, b.1));
        a.0.cmp(&b.0).then_with(|| closer.unwrap_or(std::cmp::Ordering::Equal)).then_with(|| a.2.cmp(&b.2))
    });
    found.into_iter().map(|(other, _, id)| (id, !other)).collect()
}

pub(crate) fn checks_on(mut bench: Bench, history: &[Load], texts: &[String]) {
    let config = &bench.config.clone();
    for load in history {
        bench.load(load);
    }
    let mut checker = Checker::new(&Snapshot::open(&bench.storage).unwrap()).unwrap();
    let asked = |(at, text)| AskedText { text, day: Day::None, within: Op::site(at, text) };
    let texts: Vec<AskedText<'_>> = texts.iter().map(String::as_str).enumerate().map(asked).collect();
    let together = checker.check(&texts, &Progress::default()).unwrap();
    for (text, found) in texts.iter().zip(&together) {
        let alone = checker.check(&[*text], &Progress::default()).unwrap();
        assert_eq!(&alone[0], found, "{text:?}");
        let seen: Vec<(String, bool)> =
            found.iter().map(|found| (found.id.clone(), found.same_text)).collect();
        assert_eq!(seen, brute_force(&bench, config, text), "{:?} {text:?}", config.method);
    }
    // Every text of a cluster knows where it is.
    let mut clusters = std::collections::BTreeMap::new();
    let snapshot = Snapshot::open(&bench.storage).unwrap();
    let read = snapshot.documents(&mut |document| {
        clusters.insert(document.id, document.cluster);
        Ok(())
    });
    read.unwrap();
    assert!(together.iter().flatten().all(|found| clusters[&found.id] == found.cluster));
}
