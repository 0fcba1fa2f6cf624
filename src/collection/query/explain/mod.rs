//! Why documents are together, or are not.

mod apart;
mod chain;
mod stays;
mod told;

pub use stays::{Compared, Preference};
pub use told::PROTECTED_CRITERION;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use stays::{next_best, preference};

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::query::diff::{WordDiff, word_diff, word_relation};
use crate::collection::query::measures::Measures;
use crate::collection::query::texts::Texts;
use crate::collection::tables::Tables;
use crate::collection::tables::cluster_changes::ClusterId;
use crate::collection::tables::clusters::cluster_rows;
use crate::collection::tables::document::Document;
use crate::collection::tables::lookup::{cluster_keys, clusters, find, members, stored_documents};
use crate::collection::tables::member::Member;
use crate::collection::tables::rows::ClusterKey;
use crate::collection::tables::sets::{each_set, salts};
use crate::collection::tables::sources::sources;
use crate::config::{Clustering, Fold, Keep};
use crate::document::{Doc, DocumentName, NO_DOC, Position};
use crate::error::{Error, Result};
use crate::printable::printable;
use crate::progress::Progress;
use crate::similarity::{AcceptanceRule, Kind, Relation, ReportedScores};

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "answer", rename_all = "lowercase")]
pub enum Explanation {
    /// Of one document.
    Document(Box<Alone>),
    /// Of two documents of one cluster.
    Together(Box<Together>),
    /// Of two documents that are not in one cluster.
    Apart(Box<Apart>),
}

/// The number of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ClusterNumber {
    /// That of a cluster of a collection.
    Stored(ClusterId),
    /// That in the lists of a run.
    Listed(u64),
}

impl From<ClusterId> for ClusterNumber {
    fn from(cluster: ClusterId) -> ClusterNumber {
        ClusterNumber::Stored(cluster)
    }
}

impl fmt::Display for ClusterNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClusterNumber::Stored(cluster) => cluster.fmt(f),
            ClusterNumber::Listed(number) => number.fmt(f),
        }
    }
}

/// A document and where it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// Its id.
    pub id: DocumentName<'static>,
    /// The cluster it is in, if it is in one.
    pub cluster: Option<ClusterNumber>,
    /// The file it was read from, as it was named.
    pub file: String,
    /// The line in the file, from 1.
    pub line: u64,
    /// Bytes of its text; `None` of a document that only the lists of a run know.
    pub text_bytes: Option<u64>,
    /// Whether its text has a token; one that has none is never in a cluster.
    pub has_tokens: bool,
    /// The protected set that it is of, if a run was asked and it is of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
}

/// Two documents that were compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// One of them.
    pub first: DocumentName<'static>,
    /// The other.
    pub second: DocumentName<'static>,
    /// Whether their canonical texts are the same.
    pub same_text: bool,
    /// How much they share; `None` where the method makes no sets, as equal texts are then all it links, and where a text
    /// cannot be had.
    pub measures: Option<Measures>,
    /// Why they are never compared, if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_apart: Option<KeptApart>,
    /// What the lists of a run say of the pair, where it cannot be measured again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<ReportedScores>,
    /// How their texts relate word by word, if that was looked at and they can be had.
    #[serde(flatten)]
    pub relation: Option<Relation>,
    /// How their texts differ, if that was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texts: Option<Comparison>,
}

/// Why two documents are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeptApart {
    /// They have not the same value of the field that documents must share, or are not of one file.
    Within,
    /// Both are protected.
    Protected,
}

/// Two texts side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Comparison {
    /// How they differ.
    Words(WordDiff),
    /// They cannot be had.
    Missing {
        /// Why.
        why: String,
    },
}

/// One document explained.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alone {
    /// The document.
    pub document: Place,
    /// The document that stands for its cluster.
    pub representative: Option<DocumentName<'static>>,
    /// Why that one stands for it, and not this document; of the representative itself, and not the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stays: Option<Preference>,
    /// The links that lead there: none if it stands there itself, one in a collection that clusters with a guarantee.
    pub chain: Vec<Step>,
    /// Other documents of the same text, ascending by id.
    pub same_text: Vec<DocumentName<'static>>,
    /// Links of its text that are stored: they hold the cluster together, and need not be all there are. The closest
    /// first; of documents of one text the one with the least id.
    pub links: Vec<Step>,
}

/// Two documents of one cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Together {
    /// One of them.
    pub first: Place,
    /// The other.
    pub second: Place,
    /// Which of them is kept before the other, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stays: Option<Preference>,
    /// The shortest chain of stored links between them; in a collection that clusters with a guarantee that by way of the
    /// representative.
    pub chain: Vec<Step>,
    /// Both ends compared with each other, if the chain has more than one step.
    pub ends: Option<Step>,
}

/// Two documents that are not in one cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Apart {
    /// One of them.
    pub first: Place,
    /// The other.
    pub second: Place,
    /// Both compared with each other; `None` if one of them has no token.
    pub ends: Option<Step>,
    /// The documents that stand for their clusters, as far as they are others, each compared with what is on the other side:
    /// a document is with the first that it is linked to. Only of a collection that clusters with a guarantee.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub representatives: Vec<Step>,
    /// The closest pair of documents that would have joined them; `None` if no two share anything, or if the collection
    /// clusters with a guarantee.
    pub best: Option<Step>,
    /// Pairs of texts that the closest one was chosen of.
    pub compared: u64,
    /// Whether these are all pairs of a text of one cluster with one of the other; if not, they are those of either document
    /// with the other's cluster.
    pub all_pairs: bool,
    /// Whether some of these would be linked, had their documents met: loads ignored keys of theirs as common.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub capped: bool,
}

/// Steps of a chain whose texts are compared.
const COMPARED: usize = 10;

impl Snapshot {
    /// Explains one document, or two.
    ///
    /// # Errors
    /// [`Error::Config`] if an id is not there or both are the same; [`Error::Damaged`], [`Error::Io`] and
    /// [`Error::Interrupted`].
    pub fn explain(&self, first: &str, second: Option<&str>, progress: &Progress) -> Result<Explanation> {
        if second == Some(first) {
            return Err(Error::config(format!("{first:?} is named twice; name two documents, or one")));
        }
        let ids: Vec<String> = [Some(first), second].into_iter().flatten().map(str::to_owned).collect();
        let mut documents = Vec::new();
        for (id, document) in ids.iter().zip(find(&self.tables(), &ids)?) {
            let unknown = || {
                Error::config(format!("no document {id:?} in the collection; `alike documents` lists all"))
            };
            documents.push(document.ok_or_else(unknown)?);
        }
        let mut explaining = Explaining::new(self, &ids, &documents, progress)?;
        match &documents[..] {
            [first, second] => explaining.two(first, second),
            [first, ..] => explaining.one(first).map(|alone| Explanation::Document(Box::new(alone))),
            [] => Err(Error::config("no document is named")),
        }
    }
}

/// What explaining takes.
struct Explaining<'a> {
    tables: Tables,
    rule: Option<AcceptanceRule>,
    texts: Texts<'a>,
    progress: &'a Progress,
    /// The documents asked for, by digest of the id.
    places: BTreeMap<u128, Place>,
    at: BTreeMap<Doc, ClusterKey>,
    /// Whether clusters are parts of components, each of which its representative holds together.
    guarantee: bool,
    /// Whether a load ever ignored keys as common.
    capped: bool,
    /// Which spellings are one.
    fold: Fold,
    /// Which document of a cluster is kept.
    keep: Keep,
}

impl<'a> Explaining<'a> {
    fn new(
        snapshot: &Snapshot,
        ids: &[String],
        documents: &[Document],
        progress: &'a Progress,
    ) -> Result<Explaining<'a>> {
        let tables = snapshot.tables();
        let file = |document: &Document| Position::from_bits(document.position).file();
        let mut files: Vec<u64> = documents.iter().map(|document| u64::from(file(document))).collect();
        files.sort_unstable();
        files.dedup();
        let sources = sources(&tables, &files)?;
        let contents = || documents.iter().map(|document| document.content);
        let clusters = clusters(&tables, contents())?;
        let place = |(id, document): (&String, &Document)| {
            let place = Place {
                id: id.clone().into(),
                cluster: clusters.get(&document.content).copied().map(ClusterNumber::from),
                file: sources.get(&file(document)).map(|source| source.shown.clone()).unwrap_or_default(),
                line: u64::from(document.line),
                text_bytes: Some(document.text_bytes),
                has_tokens: document.has_content(),
                against: None,
            };
            (document.id, place)
        };
        Ok(Explaining {
            rule: snapshot.manifest().config.rule(),
            texts: Texts::new(snapshot, progress)?,
            progress,
            places: ids.iter().zip(documents).map(place).collect(),
            at: cluster_keys(&tables, contents())?,
            fold: snapshot.manifest().config.text.fold,
            keep: snapshot.manifest().config.cluster.keep.clone(),
            capped: snapshot.manifest().counts.ignored_keys > 0,
            guarantee: snapshot.manifest().config.cluster.clustering == Clustering::Guarantee,
            tables,
        })
    }

    fn place(&self, document: &Document) -> Place {
        self.places[&document.id].clone()
    }

    fn one(&mut self, document: &Document) -> Result<Alone> {
        let place = self.place(document);
        let mut alone = Alone {
            document: place,
            representative: None,
            stays: None,
            chain: Vec::new(),
            same_text: Vec::new(),
            links: Vec::new(),
        };
        if !document.has_content() {
            return Ok(alone);
        }
        let mut same = members(&self.tables, std::iter::once(document.content))?;
        let same = same.remove(&document.content).unwrap_or_default();
        let others = same.iter().filter(|member| member.document.id != document.id);
        alone.same_text = others.map(|member| member.name.clone().into()).collect();
        alone.links = self.links(document.content, &alone.document.id)?;
        if let Some(representative) = self.representative(document.content)? {
            if representative.document.id != document.id {
                let from = Member {
                    document: document.clone(),
                    name: alone.document.id.to_string(),
                    value: String::new(),
                };
                alone.chain = self.between(&from, &representative)?;
                alone.stays = preference(&self.tables, &self.keep, document, &representative.document)?;
            } else {
                alone.stays = self
                    .at
                    .get(&document.content)
                    .map_or(Ok(None), |at| next_best(&self.tables, &self.keep, &representative, at))?;
            }
            alone.representative = Some(representative.name.into());
        }
        Ok(alone)
    }

    /// The document that stands for the cluster of a content.
    fn representative(&self, content: Doc) -> Result<Option<Member>> {
        let Some(at) = self.at.get(&content) else { return Ok(None) };
        let rows = cluster_rows(&self.tables, &[at.component])?;
        let id = rows.get(at).map(|row| row.representative);
        let Some(id) = id else { return Ok(None) };
        Ok(stored_documents(&self.tables, &[id])?.remove(&id))
    }

    fn two(&mut self, first: &Document, second: &Document) -> Result<Explanation> {
        let member = |document: &Document, place: &Place| Member {
            document: document.clone(),
            name: place.id.to_string(),
            value: String::new(),
        };
        let (place, other) = (self.place(first), self.place(second));
        let (a, b) = (member(first, &place), member(second, &other));
        let together = first.has_content()
            && second.has_content()
            && self.at.get(&first.content) == self.at.get(&second.content);
        if !together {
            let apart = self.apart(&a, &b, place, other)?;
            return Ok(Explanation::Apart(Box::new(apart)));
        }
        let chain = self.between(&a, &b)?;
        let ends = (chain.len() > 1).then(|| self.compare(&a, &b)).transpose()?;
        let stays = preference(&self.tables, &self.keep, first, second)?;
        let together = Together { first: place, second: other, stays, chain, ends };
        Ok(Explanation::Together(Box::new(together)))
    }

    /// What holds two documents of one cluster together.
    fn between(&mut self, a: &Member, b: &Member) -> Result<Vec<Step>> {
        if !self.guarantee {
            return self.chain(a, b);
        }
        let content = |member: &Member| member.document.content;
        match self.representative(content(a))? {
            Some(leader) if ![a, b].map(content).contains(&content(&leader)) && content(a) != content(b) => {
                Ok(vec![self.compare(a, &leader)?, self.compare(&leader, b)?])
            }
            _ => Ok(vec![self.compare(a, b)?]),
        }
    }

    /// Compares two documents, their texts too.
    fn compare(&mut self, a: &Member, b: &Member) -> Result<Step> {
        let mut step = self.measure(a, b)?;
        self.compare_texts(a, b, &mut step)?;
        Ok(step)
    }

    /// Measures two documents on their sets.
    fn measure(&self, a: &Member, b: &Member) -> Result<Step> {
        let (left, right) = (a.document.content, b.document.content);
        let same_text = left == right && left != NO_DOC;
        let measures = if same_text && self.rule.is_some() {
            self.same_text(left)?
        } else {
            self.measure_sets(left, right)?
        };
        let kept_apart = self.are_kept_apart(left, right)?.then_some(KeptApart::Within);
        Ok(Step {
            first: a.name.clone().into(),
            second: b.name.clone().into(),
            same_text,
            measures: measures
                .map(|measures| Measures { linked: measures.linked && kept_apart.is_none(), ..measures }),
            kept_apart,
            listed: None,
            relation: None,
            texts: None,
        })
    }

    /// Whether two contents are not to be compared.
    pub(super) fn are_kept_apart(&self, left: Doc, right: Doc) -> Result<bool> {
        if left == right || [left, right].contains(&NO_DOC) {
            return Ok(false);
        }
        let salts = salts(&self.tables, &[left.min(right), left.max(right)].map(u64::from))?;
        Ok(salts[0] != salts[1])
    }

    /// What is to be said of equal texts.
    fn same_text(&self, content: Doc) -> Result<Option<Measures>> {
        let Some(rule) = self.rule else { return Ok(None) };
        let mut same = None;
        each_set(&self.tables, &[u64::from(content)], &mut |_, words| {
            same = Some(Measures::same(rule.size(words)));
            Ok(())
        })?;
        Ok(same)
    }

    /// Measures the sets of two contents.
    fn measure_sets(&self, left: Doc, right: Doc) -> Result<Option<Measures>> {
        let Some(rule) = self.rule else { return Ok(None) };
        let mut sets: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut contents = [u64::from(left), u64::from(right)];
        contents.sort_unstable();
        each_set(&self.tables, &contents, &mut |at, set| {
            sets.insert(contents[at], set.to_vec());
            Ok(())
        })?;
        let set = |content: Doc| sets.get(&u64::from(content)).map(Vec::as_slice).unwrap_or_default();
        Ok(Some(Measures::of_sketches(set(left), set(right), rule)))
    }

    fn compare_texts(&mut self, a: &Member, b: &Member, step: &mut Step) -> Result<()> {
        self.progress.check()?;
        let (first, second) = (self.texts.text(&a.document)?, self.texts.text(&b.document)?);
        step.texts = Some(match (first, second) {
            (Ok(first), Ok(second)) => {
                let relation = word_relation(&first, &second, self.fold);
                // A text is another content for each value.
                step.same_text |= step.kept_apart.is_some() && relation.kind == Kind::Exact;
                step.relation = Some(relation);
                Comparison::Words(word_diff(&first, &second))
            }
            (Err(why), _) => {
                Comparison::Missing { why: format!("the text of {}: {why}", printable(&a.name)) }
            }
            (_, Err(why)) => {
                Comparison::Missing { why: format!("the text of {}: {why}", printable(&b.name)) }
            }
        });
        Ok(())
    }
}
