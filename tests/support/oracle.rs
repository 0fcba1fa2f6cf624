//! The obvious independent program: what `alike dedup` must answer, by counting every shared shingle of every pair.
//! It shares nothing with the library but the tokens; sets hold the shingles themselves, so no hash can collide.
//!
//! Contents are the distinct canonical texts, numbered in document order of their first documents.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use alike::config::Tokens;
use serde_json::{Value, json};

use crate::support::canonical::canonical_tokens;
use crate::support::output::label;

/// A document of the input, in document order.
#[derive(Clone, Debug)]
pub(crate) struct Doc {
    pub(crate) id: String,
    pub(crate) text: String,
    /// What `field:score:...` sees.
    pub(crate) score: Option<i64>,
}

impl Doc {
    /// Documents with ids d0, d1, ... and no score.
    pub(crate) fn all(texts: &[String]) -> Vec<Doc> {
        let doc = |(i, text): (usize, &String)| Doc { id: format!("d{i}"), text: text.clone(), score: None };
        texts.iter().enumerate().map(doc).collect()
    }

    /// The documents as JSONL.
    pub(crate) fn jsonl(docs: &[Doc]) -> String {
        docs.iter()
            .map(|doc| match doc.score {
                Some(score) => format!("{}\n", json!({"id": doc.id, "text": doc.text, "score": score})),
                None => format!("{}\n", json!({"id": doc.id, "text": doc.text})),
            })
            .collect()
    }
}

/// A decimal as a fraction of integers: "0.55" is (55, 100).
pub(crate) fn fraction(decimal: &str) -> (u64, u64) {
    let (whole, digits) = decimal.split_once('.').unwrap_or((decimal, ""));
    (format!("{whole}{digits}").parse().unwrap(), 10u64.pow(u32::try_from(digits.len()).unwrap()))
}

/// Two contents that share shingles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) a: usize,
    pub(crate) b: usize,
    shared: u64,
    union: u64,
    smaller: u64,
    first: u64,
}

impl Pair {
    /// Shared over all, as the float nearest to the true quotient.
    fn resemblance(&self) -> f64 {
        self.shared as f64 / self.union as f64
    }

    /// Whether the resemblance is at least the fraction.
    pub(crate) fn resembles(&self, (num, den): (u64, u64)) -> bool {
        self.shared * den >= self.union * num
    }

    /// Whether the containment in the smaller set is at least the fraction.
    pub(crate) fn contains(&self, (num, den): (u64, u64)) -> bool {
        self.shared * den >= self.smaller * num
    }

    /// Whether the containment of the set of `a` in the other one is at least the fraction.
    pub(crate) fn contains_first(&self, (num, den): (u64, u64)) -> bool {
        self.shared * den >= self.first * num
    }

    /// The containment of the smaller set, or of that of `a`, as the float nearest to the true quotient.
    pub(crate) fn containment(&self, of_first: bool) -> f64 {
        self.shared as f64 / if of_first { self.first } else { self.smaller } as f64
    }
}

/// The distinct canonical texts of a collection, their shingles, and every pair that shares one.
pub(crate) struct Contents {
    /// The documents of each content, ascending.
    pub(crate) holders: Vec<Vec<usize>>,
    /// Pairs of contents, a before b, as far as they were wanted.
    pub(crate) pairs: Vec<Pair>,
    sets: Vec<BTreeSet<u32>>,
}

impl Contents {
    /// Counts shared shingles of `ngram` tokens for all pairs and remembers those that `wanted` accepts.
    pub(crate) fn count(docs: &[Doc], ngram: usize, wanted: impl Fn(&Pair) -> bool) -> Contents {
        let mut words: HashMap<String, u32> = HashMap::new();
        let mut texts: Vec<Vec<u32>> = Vec::new();
        let mut holders: Vec<Vec<usize>> = Vec::new();
        let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
        for (position, doc) in docs.iter().enumerate() {
            let mut text = Vec::new();
            for word in canonical_tokens(&doc.text, Tokens::Words) {
                let next = u32::try_from(words.len()).unwrap();
                text.push(*words.entry(word).or_insert(next));
            }
            if text.is_empty() {
                continue;
            }
            let content = *known.entry(text.clone()).or_insert(texts.len());
            if content == texts.len() {
                texts.push(text);
                holders.push(Vec::new());
            }
            holders[content].push(position);
        }
        let sets = shingle_sets(&texts, ngram);
        Contents { holders, pairs: all_pairs(&sets, wanted), sets }
    }

    /// The pairs that a run must write, in order: first documents of equal texts with each copy, and the links between
    /// first documents.
    pub(crate) fn expected_pairs(&self, links: &[Pair]) -> Vec<(usize, usize, f64)> {
        let copies = self.holders.iter().flat_map(|h| h[1..].iter().map(|copy| (h[0], *copy, 1.0)));
        let near = links.iter().map(|l| (self.holders[l.a][0], self.holders[l.b][0], l.resemblance()));
        let mut all: Vec<(usize, usize, f64)> = copies.chain(near).collect();
        all.sort_unstable_by_key(|(a, b, _)| (*a, *b));
        all
    }

    /// The resemblance of any two contents, counted member by member.
    fn resemblance(&self, a: usize, b: usize) -> f64 {
        let shared = self.sets[a].intersection(&self.sets[b]).count();
        shared as f64 / (self.sets[a].len() + self.sets[b].len() - shared) as f64
    }
}

/// The set of shingles of each text, as numbers given to the distinct shingles.
fn shingle_sets(texts: &[Vec<u32>], ngram: usize) -> Vec<BTreeSet<u32>> {
    let mut numbers: HashMap<&[u32], u32> = HashMap::new();
    texts
        .iter()
        .map(|text| {
            text.windows(ngram.min(text.len()))
                .map(|shingle| {
                    let next = u32::try_from(numbers.len()).unwrap();
                    *numbers.entry(shingle).or_insert(next)
                })
                .collect()
        })
        .collect()
}

/// Every pair, by inverted lists: each set counts what it shares with the sets before it.
fn all_pairs(sets: &[BTreeSet<u32>], wanted: impl Fn(&Pair) -> bool) -> Vec<Pair> {
    let mut lists: Vec<Vec<u32>> = Vec::new();
    let mut counts = vec![0u32; sets.len()];
    let mut touched = Vec::new();
    let mut pairs = Vec::new();
    for (b, set) in sets.iter().enumerate() {
        for shingle in set {
            let shingle = *shingle as usize;
            lists.resize(lists.len().max(shingle + 1), Vec::new());
            for a in &lists[shingle] {
                if counts[*a as usize] == 0 {
                    touched.push(*a as usize);
                }
                counts[*a as usize] += 1;
            }
            lists[shingle].push(u32::try_from(b).unwrap());
        }
        for a in touched.drain(..) {
            let shared = u64::from(std::mem::take(&mut counts[a]));
            let (size_a, size_b) = (sets[a].len() as u64, set.len() as u64);
            let (union, smaller) = (size_a + size_b - shared, size_a.min(size_b));
            let pair = Pair { a, b, shared, union, smaller, first: size_a };
            if wanted(&pair) {
                pairs.push(pair);
            }
        }
    }
    pairs
}

/// What the answer is asked to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) keep: &'a str,
    pub(crate) transitive: bool,
}

/// The rows that a run must write, in document order of what they are about.
pub(crate) struct Answer {
    /// Documents not removed, ascending.
    pub(crate) kept: Vec<usize>,
    pub(crate) duplicates: Vec<Value>,
    pub(crate) clusters: Vec<Value>,
}

/// Which of two documents is the better one under a keep policy: `Less` is better.
fn compare(docs: &[Doc], keep: &str, a: usize, b: usize) -> Ordering {
    let (x, y) = (&docs[a], &docs[b]);
    let policy = |criterion: &str| match criterion {
        "first" => Ordering::Equal,
        "last" => b.cmp(&a),
        "longest" => y.text.len().cmp(&x.text.len()),
        "shortest" => x.text.len().cmp(&y.text.len()),
        "field:score:max" => y.score.cmp(&x.score),
        "field:score:min" => (x.score.is_none(), x.score).cmp(&(y.score.is_none(), y.score)),
        other => panic!("no such keep policy: {other}"),
    };
    let decided = keep.split(',').map(policy).find(|order| order.is_ne());
    decided.unwrap_or(Ordering::Equal).then(a.cmp(&b))
}

/// For each content the contents it is linked to, ascending, each with the resemblance.
struct Linked(Vec<Vec<(usize, f64)>>);

impl Linked {
    fn new(contents: usize, links: &[Pair]) -> Linked {
        let mut linked = vec![Vec::new(); contents];
        for link in links {
            linked[link.a].push((link.b, link.resemblance()));
            linked[link.b].push((link.a, link.resemblance()));
        }
        for others in &mut linked {
            others.sort_unstable_by_key(|(other, _)| *other);
        }
        Linked(linked)
    }

    fn of(&self, content: usize) -> impl Iterator<Item = usize> {
        self.0[content].iter().map(|(other, _)| *other)
    }

    fn resemblance(&self, a: usize, b: usize) -> Option<f64> {
        let at = self.0[a].binary_search_by_key(&b, |(other, _)| *other).ok()?;
        Some(self.0[a][at].1)
    }
}

/// Clusters the contents by those pairs that are links, and says what becomes of each document.
pub(crate) fn answer(docs: &[Doc], contents: &Contents, links: &[Pair], rules: Rules<'_>) -> Answer {
    let better = |a: &usize, b: &usize| compare(docs, rules.keep, *a, *b);
    let linked = Linked::new(contents.holders.len(), links);
    let best: Vec<usize> =
        contents.holders.iter().map(|holders| *holders.iter().min_by(|a, b| better(a, b)).unwrap()).collect();
    let mut ranked: Vec<usize> = (0..best.len()).collect();
    ranked.sort_by(|a, b| better(&best[*a], &best[*b]));
    let leaders = if rules.transitive { transitive(&linked, &ranked) } else { guarantee(&linked, &ranked) };

    // The documents under each leading content, in the order of the first of them.
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut content_of = BTreeMap::new();
    for (content, holders) in contents.holders.iter().enumerate() {
        groups.entry(leaders[content]).or_default().extend(holders);
        content_of.extend(holders.iter().map(|holder| (*holder, content)));
    }
    for members in groups.values_mut() {
        members.sort_unstable();
    }
    let mut groups: Vec<(usize, Vec<usize>)> =
        groups.into_iter().filter(|(_, members)| members.len() > 1).collect();
    groups.sort_by_key(|(_, members)| members[0]);

    let id = |position: usize| &docs[position].id;
    let mut answer = Answer { kept: Vec::new(), duplicates: Vec::new(), clusters: Vec::new() };
    let mut removed = BTreeSet::new();
    for (number, (leader, members)) in groups.iter().enumerate() {
        let representative = best[*leader];
        let ids: Vec<&String> = members.iter().map(|member| id(*member)).collect();
        answer.clusters.push(json!({
            "cluster": number + 1, "size": members.len(), "representative": id(representative), "members": ids,
        }));
        let parents = if rules.transitive { search(&linked, *leader) } else { BTreeMap::new() };
        for member in members.iter().filter(|member| **member != representative) {
            removed.insert(*member);
            let content = content_of[member];
            let mut row = json!({
                "id": id(*member), "cluster": number + 1, "representative": id(representative), "line": member + 1,
                "representative_line": representative + 1,
            });
            if content == *leader {
                row["reason"] = json!("exact");
                row["resemblance"] = json!(1.0);
            } else if let Some(resemblance) = linked.resemblance(*leader, content) {
                row["reason"] = json!("near");
                row["resemblance"] = json!(resemblance);
            } else {
                row["reason"] = json!("linked");
                row["resemblance"] = json!(contents.resemblance(content, *leader));
                row["parent"] = json!(id(contents.holders[parents[&content]][0]));
            }
            answer.duplicates.push(row);
        }
    }
    answer.kept = (0..docs.len()).filter(|position| !removed.contains(position)).collect();
    answer
}

/// Conservative clustering: the leading content of each content. In ranked order each joins the first in rank of the
/// representatives it is linked to, or becomes one.
fn guarantee(linked: &Linked, ranked: &[usize]) -> Vec<usize> {
    let mut leaders: Vec<usize> = (0..ranked.len()).collect();
    let mut rank = vec![0; ranked.len()];
    let mut is_representative = vec![false; ranked.len()];
    for (place, content) in ranked.iter().enumerate() {
        rank[*content] = place;
        match linked.of(*content).filter(|other| is_representative[*other]).min_by_key(|other| rank[*other]) {
            Some(earlier) => leaders[*content] = earlier,
            None => is_representative[*content] = true,
        }
    }
    leaders
}

/// Connected components: each led by its best content.
fn transitive(linked: &Linked, ranked: &[usize]) -> Vec<usize> {
    let mut leaders: Vec<Option<usize>> = vec![None; ranked.len()];
    for content in ranked {
        if leaders[*content].is_none() {
            leaders[*content] = Some(*content);
            for reached in search(linked, *content).keys() {
                leaders[*reached] = Some(*content);
            }
        }
    }
    leaders.into_iter().map(|leader| leader.unwrap()).collect()
}

/// Breadth-first search from a content over the links, a level at a time: the parent of each content reached is the
/// earliest content of the level before that is linked to it.
fn search(linked: &Linked, start: usize) -> BTreeMap<usize, usize> {
    let mut parents = BTreeMap::new();
    let mut level = vec![start];
    while !level.is_empty() {
        let mut next = BTreeSet::new();
        for content in level {
            for neighbour in linked.of(content).filter(|neighbour| *neighbour != start) {
                parents.entry(neighbour).or_insert_with(|| {
                    next.insert(neighbour);
                    content
                });
            }
        }
        level = next.into_iter().collect();
    }
    parents
}

/// The rows of a run without what the oracle does not know (files), ids as labels, resemblances as floats.
pub(crate) fn comparable(rows: &[Value]) -> Vec<Value> {
    rows.iter()
        .map(|row| {
            let mut row = row.as_object().unwrap().clone();
            row.remove("file");
            row.remove("representative_file");
            if row.get("parent").is_some_and(Value::is_null) {
                row.remove("parent");
            }
            for key in ["id", "a", "b", "representative", "parent"] {
                if let Some(id) = row.get_mut(key) {
                    *id = json!(label(id));
                }
            }
            if let Some(resemblance) = row.get_mut("resemblance").filter(|value| value.is_number()) {
                *resemblance = json!(resemblance.as_f64());
            }
            Value::Object(row)
        })
        .collect()
}
