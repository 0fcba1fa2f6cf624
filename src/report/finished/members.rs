//! A cluster with its members, each held against the representative: of a finished run, or of a collection.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::FinishedQuestions;
use crate::collection::{
    ClusterId, ClusterIndex, ClusterNumber, Comparison, Measures, MemberView, Snapshot, word_diff,
};
use crate::document::DocumentName;
use crate::error::{Error, Result};
use crate::output::{FinishedDocument, FinishedMember};
use crate::printable::printable;
use crate::progress::Progress;
use crate::similarity::ReportedScores;

/// Which members of a cluster are shown.
#[derive(Clone, Copy, Debug)]
pub struct MemberAsked<'a> {
    /// At most so many, beside the representative.
    pub limit: usize,
    /// Only this one, by its id or its file and line.
    pub member: Option<&'a str>,
}

/// A cluster, and some of its members.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterMembers {
    /// Its number.
    pub cluster: ClusterNumber,
    /// Its documents.
    pub size: u64,
    /// What stands for it.
    pub representative: MemberPage,
    /// Others, each with how it differs.
    pub members: Vec<MemberPage>,
    /// Members that are not shown.
    pub not_shown: u64,
}

/// A member of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemberPage {
    /// Its id, or its file and line.
    pub id: DocumentName<'static>,
    /// The file it was read from, as it was named.
    pub file: Option<String>,
    /// Its line there, from 1.
    pub line: Option<u64>,
    /// Bytes of its text.
    pub text_bytes: Option<u64>,
    /// Why it was removed, if a run removed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether its canonical text is that of the representative.
    pub same_text: bool,
    /// What it shares with the representative, which is the second; none of that one itself, and where the method makes no sets.
    pub measures: Option<Measures>,
    /// What the lists of a run say of that, where it cannot be measured again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<ReportedScores>,
    /// How the text of the representative, which is the first, and its own differ; none of the representative itself.
    pub texts: Option<Comparison>,
}

impl FinishedQuestions<'_> {
    /// A cluster of the run.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no such cluster or member; those of [`FinishedQuestions::explain`].
    pub fn cluster(&self, number: u64, asked: MemberAsked<'_>) -> Result<ClusterMembers> {
        let mut clusters = self.run().clusters(&BTreeSet::from([number]), self.progress)?;
        let cluster = clusters.remove(&number).ok_or_else(|| no_cluster(&number.to_string()))?;
        let is_at = |member: &FinishedMember, asked: &str| {
            member.place.as_ref().is_some_and(|place| place.to_string() == asked)
        };
        // A place is one of one document; an id that looks like one may be of others.
        let by_place =
            asked.member.is_some_and(|asked| cluster.others.iter().any(|member| is_at(member, asked)));
        let is_asked = |member: &&FinishedMember| {
            asked
                .member
                .is_none_or(|asked| if by_place { is_at(member, asked) } else { *member.name == *asked })
        };
        let chosen: Vec<&FinishedMember> = cluster.others.iter().filter(is_asked).take(asked.limit).collect();
        if let Some(member) = asked.member.filter(|_| chosen.is_empty()) {
            return Err(no_member(member, &number.to_string()));
        }
        let (mut ids, mut places) = (BTreeSet::new(), BTreeMap::new());
        for member in std::iter::once(&cluster.representative).chain(chosen.iter().copied()) {
            match member.place.clone().or_else(|| self.run().place(&member.name)) {
                Some(place) if !place.at.is_at_hand() => {}
                Some(place) => drop(places.insert(place, true)),
                None => drop(ids.insert(member.name.to_string())),
            }
        }
        let documents = self.find.find(&ids, &places, self.progress)?;
        let find = |member: &FinishedMember| {
            documents.iter().find(|document| match &member.place {
                Some(place) => document.place == *place,
                None => *document.name() == *member.name,
            })
        };
        let leader = find(&cluster.representative);
        let mut sketcher = self.sketcher();
        let members = chosen.iter().map(|member| {
            self.progress.check()?;
            let found = find(member);
            let (measures, texts) = match found.zip(leader) {
                Some((document, leader)) => {
                    (self.measures((document, leader), &mut sketcher), Some(texts(leader, document)))
                }
                None => (None, Some(Comparison::Missing { why: gone(&[*member, &cluster.representative]) })),
            };
            let same = |document: &FinishedDocument| {
                document.digest.is_some() && leader.is_some_and(|leader| leader.digest == document.digest)
            };
            let listed = member.scores.filter(|_| measures.is_none());
            let same_text = found.is_some_and(same);
            Ok(MemberPage { same_text, measures, listed, texts, ..page(member, found) })
        });
        let members = members.collect::<Result<Vec<_>>>()?;
        Ok(ClusterMembers {
            cluster: ClusterNumber::Listed(number),
            size: cluster.size,
            not_shown: cluster.size.saturating_sub(1 + members.len() as u64),
            representative: MemberPage { same_text: true, ..page(&cluster.representative, leader) },
            members,
        })
    }
}

/// Why the text of one of these is not there.
fn gone(members: &[&FinishedMember]) -> String {
    let places = members.iter().filter_map(|member| member.place.as_ref());
    places.filter_map(|place| place.at.gone()).next().unwrap_or(LOST).to_owned()
}

/// What is said of a text of the inputs that is not found there again.
const LOST: &str = "it is not in the inputs any more";

/// How two texts of the inputs differ.
fn texts(leader: &FinishedDocument, document: &FinishedDocument) -> Comparison {
    match leader.text.as_deref().zip(document.text.as_deref()) {
        Some((first, second)) => Comparison::Words(word_diff(first, second)),
        None => Comparison::Missing { why: LOST.to_owned() },
    }
}

/// A member that was found in the inputs, or was not.
fn page(member: &FinishedMember, found: Option<&FinishedDocument>) -> MemberPage {
    let place = found.map(|found| &found.place).or(member.place.as_ref());
    MemberPage {
        id: found.map_or_else(|| member.name.clone(), FinishedDocument::name),
        file: place.map(|place| place.file.clone()),
        line: place.map(|place| place.line),
        text_bytes: found.map(|found| found.text_bytes),
        reason: member.reason.clone(),
        same_text: false,
        measures: None,
        listed: None,
        texts: None,
    }
}

pub(super) fn no_cluster(number: &str) -> Error {
    Error::config(format!(
        "there is no cluster {number}; clusters.jsonl of an output has the numbers, `alike clusters` those of a collection"
    ))
}

fn no_member(member: &str, number: &str) -> Error {
    Error::config(format!(
        "--member {member}: no such document in cluster {number} beside its representative"
    ))
}

impl ClusterMembers {
    /// A cluster of a collection.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no such cluster or member, and those of the collection.
    pub fn of_collection(
        snapshot: &Snapshot,
        number: &str,
        asked: MemberAsked<'_>,
        progress: &Progress,
    ) -> Result<ClusterMembers> {
        let cluster: ClusterId = number.parse().map_err(|_| no_cluster(number))?;
        let index = ClusterIndex::new(snapshot, progress)?;
        let indexed = index.get(cluster).ok_or_else(|| no_cluster(number))?;
        let (all, _) = snapshot.members_of(indexed, None, usize::MAX, progress)?;
        let (leaders, others): (Vec<MemberView>, Vec<MemberView>) =
            all.into_iter().partition(|member| member.representative);
        let leader = leaders.into_iter().next().ok_or_else(|| no_cluster(number))?;
        let is_asked = |member: &&MemberView| {
            let document = &member.document;
            let place = || format!("{}:{}", document.file, document.line);
            asked.member.is_none_or(|asked| document.id == asked || place() == asked)
        };
        let chosen: Vec<&MemberView> = others.iter().filter(is_asked).take(asked.limit).collect();
        if let Some(member) = asked.member.filter(|_| chosen.is_empty()) {
            return Err(no_member(member, number));
        }
        let text = |member: &MemberView| -> Result<std::result::Result<String, String>> {
            let found = snapshot.text_of(&member.document.id, progress)?;
            let found = found.unwrap_or_else(|| Err("there is no such document".to_owned()));
            Ok(found.map_err(|why| format!("the text of {}: {why}", printable(&member.document.id))))
        };
        let first = text(&leader)?;
        let mut members = Vec::new();
        for member in chosen {
            progress.check()?;
            let texts = match (&first, text(member)?) {
                (Ok(first), Ok(second)) => Comparison::Words(word_diff(first, &second)),
                (Err(why), _) => Comparison::Missing { why: why.clone() },
                (_, Err(why)) => Comparison::Missing { why },
            };
            members.push(MemberPage { texts: Some(texts), ..stored(member) });
        }
        Ok(ClusterMembers {
            cluster: ClusterNumber::Stored(cluster),
            size: indexed.size,
            not_shown: indexed.size.saturating_sub(1 + members.len() as u64),
            representative: MemberPage { measures: None, ..stored(&leader) },
            members,
        })
    }
}

/// A member of a collection's cluster.
fn stored(member: &MemberView) -> MemberPage {
    let MemberView { document, text_bytes, same_text, measures, .. } = member;
    MemberPage {
        id: document.id.clone().into(),
        file: Some(document.file.clone()),
        line: Some(u64::from(document.line)),
        text_bytes: Some(*text_bytes),
        reason: None,
        same_text: *same_text,
        measures: *measures,
        listed: None,
        texts: None,
    }
}
