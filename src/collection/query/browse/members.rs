//! The members of one cluster, each held against its representative.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use serde::Serialize;

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::query::browse::clusters::IndexedCluster;
use crate::collection::query::measures::Measures;
use crate::collection::query::view::{DocumentView, with_clusters};
use crate::collection::tables::Tables;
use crate::collection::tables::clusters::{documents_of, places_of};
use crate::collection::tables::components::components;
use crate::collection::tables::document::Document;
use crate::collection::tables::lookup::stored_documents;
use crate::collection::tables::member::Member;
use crate::collection::tables::sets::each_set;
use crate::document::Doc;
use crate::error::Result;
use crate::progress::Progress;

/// A document of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemberView {
    /// The document.
    #[serde(flatten)]
    pub document: DocumentView,
    /// Bytes of its text.
    pub text_bytes: u64,
    /// Whether it stands for the cluster.
    pub representative: bool,
    /// Whether its canonical text is that of the representative.
    pub same_text: bool,
    /// How much it shares with the representative, which is the second; `None` where the method makes no sets.
    pub measures: Option<Measures>,
}

/// All members of a cluster, by the digests of their ids.
pub(super) fn stored_members(
    tables: &Tables,
    cluster: &IndexedCluster,
    progress: &Progress,
) -> Result<HashMap<u128, Member>> {
    let component = components(tables, &[cluster.at.component].into())?;
    let mut contents: Vec<Doc> = component.values().flatten().copied().collect();
    contents.sort_unstable();
    contents.dedup();
    progress.check()?;
    let places = places_of(tables, &contents)?;
    let mut members = documents_of(tables, &component, |doc| places.get(&doc).copied())?;
    let mut ids = members.remove(&cluster.at).unwrap_or_default();
    ids.sort_unstable();
    progress.check()?;
    stored_documents(tables, &ids)
}

impl Snapshot {
    /// The next members of a cluster behind `after`, ascending by id, at most `limit`, and whether there are others behind
    /// them.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Interrupted`].
    pub fn members_of(
        &self,
        cluster: &IndexedCluster,
        after: Option<&str>,
        limit: usize,
        progress: &Progress,
    ) -> Result<(Vec<MemberView>, bool)> {
        let tables = self.tables();
        let documents = stored_members(&tables, cluster, progress)?;
        let representative = documents.get(&cluster.representative).map(|member| member.document.clone());
        let mut named: Vec<(Document, String)> =
            documents.into_values().map(|member| (member.document, member.name)).collect();
        named.retain(|(_, name)| after.is_none_or(|after| name.as_str() > after));
        named.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        let more = named.len() > limit;
        named.truncate(limit);
        let mut views = Vec::with_capacity(named.len());
        with_clusters(&tables, named.clone(), &mut |view| {
            views.push(view);
            Ok(())
        })?;
        let measures = self.held_against(representative.as_ref(), &named, progress)?;
        let mut shown = Vec::with_capacity(views.len());
        for ((view, (document, _)), measures) in views.into_iter().zip(named).zip(measures) {
            let leader = representative.as_ref();
            shown.push(MemberView {
                document: view,
                text_bytes: document.text_bytes,
                representative: leader.is_some_and(|leader| leader.id == document.id),
                same_text: leader.is_some_and(|leader| leader.content == document.content),
                measures,
            });
        }
        Ok((shown, more))
    }

    /// What documents share with another one, which is the second.
    fn held_against(
        &self,
        leader: Option<&Document>,
        documents: &[(Document, String)],
        progress: &Progress,
    ) -> Result<Vec<Option<Measures>>> {
        let mut measures = vec![None; documents.len()];
        let (Some(rule), Some(leader)) = (self.manifest().config.rule(), leader) else { return Ok(measures) };
        let (tables, mut own) = (self.tables(), Vec::new());
        each_set(&tables, &[u64::from(leader.content)], &mut |_, set| {
            own.extend_from_slice(set);
            Ok(())
        })?;
        let mut contents: Vec<u64> =
            documents.iter().map(|(document, _)| u64::from(document.content)).collect();
        contents.sort_unstable();
        contents.dedup();
        let mut of_content = BTreeMap::new();
        each_set(&tables, &contents, &mut |at, set| {
            progress.check()?;
            let same = contents[at] == u64::from(leader.content);
            let shared =
                if same { Measures::same(rule.size(set)) } else { Measures::of_sketches(set, &own, rule) };
            of_content.insert(contents[at], shared);
            Ok(())
        })?;
        for (slot, (document, _)) in measures.iter_mut().zip(documents) {
            *slot = of_content.get(&u64::from(document.content)).copied();
        }
        Ok(measures)
    }
}
