//! What is known of texts that are not stored: the documents they resemble.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::query::measures::Measures;
use crate::collection::query::met::AskedSet;
use crate::collection::query::resembling::Resembling;
use crate::collection::run::schema::DIGESTS;
use crate::collection::tables::Tables;
use crate::collection::tables::cluster_changes::ClusterId;
use crate::collection::tables::frozen::frozen;
use crate::collection::tables::lookup::{clusters, find, members};
use crate::collection::tables::rows::{StoredDigest, halves};
use crate::collection::tables::sets::{each_set, salts};
use crate::document::{Doc, NO_DOC};
use crate::error::Result;
use crate::flow::{salted, value_salt};
use crate::limits::sized;
use crate::progress::Progress;
use crate::read::Day;
use crate::simd::Simd;
use crate::similarity::{AcceptanceRule, Measure};
use crate::sketcher::Sketcher;

/// Contents that texts are linked to, behind which the documents of others are looked up by themselves.
const NAMED: usize = sized(1 << 14, 3);

/// A stored document that a text resembles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resembled {
    /// Its id.
    pub id: String,
    /// The cluster it is in, if it is in one.
    pub cluster: Option<ClusterId>,
    /// Whether its canonical text is the same.
    pub same_text: bool,
    /// How much is shared: the text's set is the first.
    #[serde(flatten)]
    pub measures: Measures,
}

/// A text that is held against a commit.
#[derive(Clone, Copy, Debug, Default)]
pub struct AskedText<'a> {
    /// The text.
    pub text: &'a str,
    /// Its day, where documents are compared by it.
    pub day: Day,
    /// Its value of the field that documents must share, where there is one: without a value it is compared with documents that have
    /// none.
    pub within: Option<&'a str>,
}

/// Holds texts against a commit. It stores nothing.
pub struct Checker {
    tables: Tables,
    /// Whether only documents of one value of a field are compared.
    is_within: bool,
    exact: bool,
    sketcher: Sketcher,
    rule: Option<AcceptanceRule>,
    resembling: Resembling,
}

/// What a text was found to be.
struct FoundContents {
    /// The content of the same text.
    same: Option<Doc>,
    linked: Vec<(Doc, Measure)>,
}

impl Checker {
    /// What checks texts against a commit, by its collection's method.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`].
    pub fn new(snapshot: &Snapshot) -> Result<Checker> {
        let (tables, config) = (snapshot.tables(), &snapshot.manifest().config);
        let frozen_tables = frozen(&tables)?.unwrap_or_default();
        Ok(Checker {
            is_within: !config.input.within_field.is_empty(),
            exact: !config.finds_pairs(),
            sketcher: Sketcher::new(config, &frozen_tables, Simd::Scalar),
            rule: config.rule(),
            resembling: Resembling::new(&tables, snapshot.manifest().next_content, config, &frozen_tables)?,
            tables,
        })
    }

    /// The documents that each text resembles: those of the same text first, then the closest; of documents that are
    /// equally close the lesser id first. A text without a token resembles none. Texts given together are looked up
    /// together.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`], [`crate::error::Error::Io`] and [`crate::error::Error::Interrupted`].
    pub fn check(&mut self, texts: &[AskedText<'_>], progress: &Progress) -> Result<Vec<Vec<Resembled>>> {
        let mut checked = Vec::with_capacity(texts.len());
        self.check_each(texts, progress, &mut |resembled| {
            checked.push(resembled);
            Ok(())
        })?;
        Ok(checked)
    }

    /// The same, text by text in their order: what all of them resemble may be more than fits in memory.
    ///
    /// # Errors
    /// Those of [`Checker::check`], and of `each`.
    pub fn check_each(
        &mut self,
        texts: &[AskedText<'_>],
        progress: &Progress,
        each: &mut dyn FnMut(Vec<Resembled>) -> Result<()>,
    ) -> Result<()> {
        let (mut digests, mut sets) = (Vec::new(), Vec::new());
        for AskedText { text, day, within } in texts {
            let digest = self.sketcher.read(text, *day);
            let sketched = digest.is_some() && !self.exact;
            let salt = self.is_within.then(|| value_salt(*within));
            sets.push((
                if sketched { self.sketcher.words().to_vec() } else { Vec::new() },
                salt.unwrap_or(0),
            ));
            digests.push(digest.map(|digest| salt.map_or(digest, |salt| salted(digest, salt))));
        }
        let sets: Vec<AskedSet<'_>> =
            sets.iter().map(|(words, salt)| AskedSet { words, salt: *salt }).collect();
        let mut same = self.same(&digests)?.into_iter();
        let (tables, rule) = (&self.tables, self.rule);
        self.resembling.each(&sets, &|_| true, progress, &mut |linked| {
            let (mut some, mut contents) = (Vec::new(), 0);
            for (linked, same) in linked.into_iter().zip(same.by_ref()) {
                contents += linked.len();
                some.push(FoundContents { same, linked });
                if contents >= NAMED {
                    name(tables, rule, std::mem::take(&mut some), each)?;
                    contents = 0;
                }
            }
            if some.is_empty() { Ok(()) } else { name(tables, rule, some, each) }
        })
    }

    /// Of the stored documents that the collection's method links to the one of an id, the closest that is not in its cluster, of
    /// equally close ones that of the least id; none if there is none. That one is the first of the pair.
    ///
    /// # Errors
    /// Those of [`Checker::check`].
    pub fn nearest_outside(&mut self, id: &str, progress: &Progress) -> Result<Option<Resembled>> {
        let document = find(&self.tables, &[id.to_owned()])?.pop().flatten();
        // A text without a token is linked to none.
        let document = document.filter(|document| document.content != NO_DOC);
        let (Some(document), Some(rule)) = (document, self.rule) else { return Ok(None) };
        let (own, mut words) = ([u64::from(document.content)], Vec::new());
        each_set(&self.tables, &own, &mut |_, set| {
            words.extend_from_slice(set);
            Ok(())
        })?;
        let salt = salts(&self.tables, &own)?.first().copied().unwrap_or(0);
        let asked = AskedSet { words: &words, salt };
        let linked = self.resembling.to(&[asked], &|content| content != document.content, progress)?;
        let mut linked = linked.into_iter().next().unwrap_or_default();
        let contents = linked.iter().map(|(content, _)| *content).chain([document.content]);
        let clusters = clusters(&self.tables, contents)?;
        let cluster = clusters.get(&document.content);
        linked.retain(|(content, _)| cluster.is_none() || clusters.get(content) != cluster);
        // Only the closest are named.
        let closest = linked.iter().map(|(_, measure)| *measure).min_by(|a, b| rule.closer(*a, *b));
        linked.retain(|(_, measure)| closest.is_some_and(|closest| rule.closer(closest, *measure).is_eq()));
        let mut nearest = None;
        name(&self.tables, self.rule, vec![FoundContents { same: None, linked }], &mut |named| {
            nearest = named.into_iter().next();
            Ok(())
        })?;
        Ok(nearest)
    }

    /// The live contents of digests.
    fn same(&self, digests: &[Option<u128>]) -> Result<Vec<Option<Doc>>> {
        let mut keys: Vec<u128> = digests.iter().copied().flatten().collect();
        keys.sort_unstable();
        keys.dedup();
        let words: Vec<u64> = keys.iter().copied().flat_map(halves).collect();
        let mut contents: BTreeMap<u128, Doc> = BTreeMap::new();
        self.tables.newest(DIGESTS, &words, &mut |at, _, row| {
            let found = StoredDigest::of_row(row);
            if found.is_live() {
                contents.insert(keys[at], found.content as Doc);
            }
            Ok(())
        })?;
        Ok(digests.iter().map(|digest| digest.and_then(|digest| contents.get(&digest)).copied()).collect())
    }
}

/// Hands on the documents of what was found, text by text.
fn name(
    tables: &Tables,
    rule: Option<AcceptanceRule>,
    found: Vec<FoundContents>,
    each: &mut dyn FnMut(Vec<Resembled>) -> Result<()>,
) -> Result<()> {
    let all =
        || found.iter().flat_map(|found| found.linked.iter().map(|(content, _)| *content).chain(found.same));
    let (members, clusters) = (members(tables, all())?, clusters(tables, all())?);
    let mut sizes: BTreeMap<Doc, u32> = BTreeMap::new();
    let mut same: Vec<u64> = found.iter().filter_map(|found| found.same).map(u64::from).collect();
    same.sort_unstable();
    same.dedup();
    each_set(tables, &same, &mut |at, words| {
        sizes.insert(same[at] as Doc, rule.map_or(0, |rule| rule.size(words)));
        Ok(())
    })?;
    let documents = |content: Doc, same_text: bool, measures: Measures| {
        let cluster = clusters.get(&content).copied();
        let members = members.get(&content).into_iter().flatten();
        members.map(move |member| Resembled { id: member.name.clone(), cluster, same_text, measures })
    };
    let of_text = |FoundContents { same, mut linked }: FoundContents| {
        let mut list: Vec<Resembled> = Vec::new();
        if let Some(content) = same {
            let size = sizes.get(&content).copied().unwrap_or(0);
            list.extend(documents(content, true, Measures::same(size)));
        }
        let Some(rule) = rule else { return list };
        linked.retain(|(content, _)| Some(*content) != same);
        linked.sort_by(|a, b| rule.closer(a.1, b.1));
        for equal in linked.chunk_by(|a, b| rule.closer(a.1, b.1) == Ordering::Equal) {
            let start = list.len();
            for (content, measure) in equal {
                list.extend(documents(*content, false, Measures::new(*measure, rule, true)));
            }
            list[start..].sort_unstable_by(|a, b| a.id.cmp(&b.id));
        }
        list
    };
    found.into_iter().try_for_each(|found| each(of_text(found)))
}
