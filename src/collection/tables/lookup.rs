//! Documents by their ids, clusters of contents, documents of contents: many at a time.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use crate::collection::run::heap::HeapCursor;
use crate::collection::run::schema::{CONTENTS, DOCUMENTS, MEMBERS};
use crate::collection::tables::Tables;
use crate::collection::tables::cluster_changes::ClusterId;
use crate::collection::tables::clusters::cluster_rows;
use crate::collection::tables::document::Document;
use crate::collection::tables::member::Member;
use crate::collection::tables::rows::{ClusterKey, StoredContent, StoredMember, halves};
use crate::document::{Doc, NO_DOC};
use crate::error::Result;
use crate::flow::id_digest;

/// The live documents of ids, which may repeat; `None` for what is not there.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
pub fn find(tables: &Tables, ids: &[String]) -> Result<Vec<Option<Document>>> {
    let digests: Vec<u128> = ids.iter().map(|id| id_digest(id)).collect();
    let distinct: BTreeSet<u128> = digests.iter().copied().collect();
    let keys: Vec<u64> = distinct.iter().copied().flat_map(halves).collect();
    let mut documents = BTreeMap::new();
    tables.newest(DOCUMENTS, &keys, &mut |_, _, row| {
        let document = Document::of_row(row);
        if document.live {
            documents.insert(document.id, document);
        }
        Ok(())
    })?;
    Ok(digests.iter().map(|id| documents.get(id).cloned()).collect())
}

/// Where live contents are.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
pub fn cluster_keys(
    tables: &Tables,
    contents: impl Iterator<Item = Doc>,
) -> Result<BTreeMap<Doc, ClusterKey>> {
    let contents: BTreeSet<u64> = contents.filter(|content| *content != NO_DOC).map(u64::from).collect();
    let mut places = BTreeMap::new();
    tables.newest(CONTENTS, &contents.into_iter().collect::<Vec<_>>(), &mut |_, _, row| {
        let content = StoredContent::of_row(row);
        places.extend(content.is_live().then_some((content.content as Doc, content.at)));
        Ok(())
    })?;
    Ok(places)
}

/// The clusters that contents are in; contents of documents alone are in none.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
pub fn clusters(tables: &Tables, contents: impl Iterator<Item = Doc>) -> Result<BTreeMap<Doc, ClusterId>> {
    let places = cluster_keys(tables, contents)?;
    let labels: BTreeSet<u32> = places.values().map(|at| at.component).collect();
    let rows = cluster_rows(tables, &labels.into_iter().collect::<Vec<_>>())?;
    let cluster =
        |(content, at): (Doc, ClusterKey)| rows.get(&at).map(|row| (content, ClusterId(row.number)));
    Ok(places.into_iter().filter_map(cluster).collect())
}

/// The documents of contents, ascending by id.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
pub fn members(tables: &Tables, contents: impl Iterator<Item = Doc>) -> Result<BTreeMap<Doc, Vec<Member>>> {
    let keys: BTreeSet<u64> = contents.map(u64::from).collect();
    let mut of_content: BTreeMap<Doc, Vec<u128>> = BTreeMap::new();
    tables.beginning(MEMBERS, 1, &keys.into_iter().collect::<Vec<_>>(), &mut |_, row| {
        let member = StoredMember::of_row(row);
        if member.is {
            of_content.entry(member.content as Doc).or_default().push(member.id);
        }
        Ok(())
    })?;
    let ids: BTreeSet<u128> = of_content.values().flatten().copied().collect();
    let documents = stored_documents(tables, &ids.into_iter().collect::<Vec<_>>())?;
    let named = |(content, ids): (Doc, Vec<u128>)| {
        let mut members: Vec<Member> = ids.iter().filter_map(|id| documents.get(id)).cloned().collect();
        members.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        (content, members)
    };
    Ok(of_content.into_iter().map(named).collect())
}

/// The documents of ascending digests of ids, those that are gone too; with their names, if asked for.
pub(in crate::collection) fn newest_documents(
    tables: &Tables,
    ids: &[u128],
    named: bool,
) -> Result<HashMap<u128, Member>> {
    let keys: Vec<u64> = ids.iter().copied().flat_map(halves).collect();
    let (mut documents, mut cursor) = (HashMap::with_capacity(ids.len()), HeapCursor::default());
    tables.newest(DOCUMENTS, &keys, &mut |_, run, row| {
        let document = Document::of_row(row);
        let (name, value) = if named { document.names(run, &mut cursor)? } else { Default::default() };
        documents.insert(document.id, Member { document, name, value });
        Ok(())
    })?;
    Ok(documents)
}

/// The live documents of ascending digests of ids, with their names.
pub(in crate::collection) fn stored_documents(
    tables: &Tables,
    ids: &[u128],
) -> Result<HashMap<u128, Member>> {
    let mut documents = newest_documents(tables, ids, true)?;
    documents.retain(|_, member| member.document.live);
    Ok(documents)
}
