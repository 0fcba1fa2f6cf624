//! Every method as a command line, and documents that all of them find something in.

use crate::support::corpora::sample;
use crate::support::oracle::Doc;
use crate::support::texts::{Random, families};

/// Near copies of one template: more than the 512 contents that a key group may have before it is handled as a hot group.
pub(crate) const HOT_GROUP: usize = 900;

/// A collection of everything that is handled in a way of its own: a hot group, chains in which only neighbours resemble
/// each other, exact copies, short and empty texts, and ordinary ones.
pub(crate) fn collection() -> Vec<Doc> {
    collection_with(families(sample(), 3))
}

/// The same with other ordinary texts.
pub(crate) fn collection_with(ordinary: Vec<String>) -> Vec<Doc> {
    let mut random = Random(2026);
    let mut texts = Vec::new();
    let mut words = |count: usize, vocabulary: usize| -> Vec<String> {
        (0..count).map(|_| format!("v{}", random.below(vocabulary))).collect()
    };
    let template = words(120, 5000);
    for copy in 0..HOT_GROUP {
        let mut text = template.clone();
        text[copy % 120] = format!("x{copy}");
        if copy % 3 == 0 {
            text[(copy * 7 + 50) % 120] = format!("y{copy}");
        }
        texts.push(text.join(" "));
    }
    for _ in 0..40 {
        let mut text = words(80, 5000);
        for step in 0..12 {
            texts.push(text.join(" "));
            let place = step * 6;
            text.splice(place..place + 2, words(2, 5000));
        }
    }
    for size in [3, 8, 30, 60] {
        for _ in 0..250 {
            let text = words(size, if size < 10 { 12 } else { 3000 }).join(" ");
            texts.push(text.clone());
            if size != 60 {
                texts.push(format!("<< {} >>", text.to_uppercase()));
            }
        }
    }
    texts.extend(["", " ", "...", "!", ""].map(str::to_owned));
    texts.extend(ordinary);
    let mut random = Random(7);
    random.shuffle(&mut texts);
    Doc::all(&texts)
}

/// Configuration files for every method; the cap on common shingles is below the size of the hot group.
pub(crate) const METHODS: [(&str, &str); 9] = [
    ("join", "method = 'join'"),
    ("containment", "method = 'join'\n[join]\nmeasure = 'containment'"),
    ("exact", "method = 'exact'"),
    ("minhash", "method = 'minhash'"),
    ("bands", "method = 'minhash'\n[minhash]\nk = 14\ns = 8\nr = 1"),
    ("verified", "method = 'minhash'\nverify = 'resemblance'"),
    ("mod", "method = 'shingles'\n[shingles]\nsampling = 'mod'\nmodulus = 4\nper_document = 40"),
    ("smallest", "method = 'shingles'\n[shingles]\nsampling = 'smallest'\nper_document = 50"),
    ("none", "method = 'shingles'\n[shingles]\nsampling = 'none'\n[count]\ncommon_cap = 600"),
];
