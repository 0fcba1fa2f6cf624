//! Writing what a load changes: a run for each epoch, one for its clusters, one change log.

use crate::collection::load::clusters::diff_clusters::ClusterDiff;
use crate::collection::load::settle::Delta;
use crate::collection::run::schema::{
    CLUSTERS, COMPONENTS, CONTENTS, DEAD, DIGESTS, DOCUMENTS, LABELS, LEXICON, LINKS, MEMBERS, RARITY, SEEN,
    SOURCES,
};
use crate::collection::run::writer::{RunSummary, RunWriter};
use crate::collection::tables::Tables;
use crate::collection::tables::document::{Document, words_of};
use crate::collection::tables::frozen::packed_rarity;
use crate::collection::tables::rows::{
    ClusterKey, SeenId, StoredComponent, StoredContent, StoredDigest, StoredLink, StoredMember,
};
use crate::collection::tables::sources::SourceEntry;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::Loaded;
use crate::method::FrozenTables;

/// Writes what an epoch changes into a run; the frozen tables too, if the collection has none yet.
///
/// # Errors
/// [`crate::error::Error::Io`].
pub fn write_delta(
    mut run: RunWriter,
    delta: &mut Delta,
    frozen_tables: Option<&FrozenTables>,
) -> Result<RunSummary> {
    if let Some(frozen_tables) = frozen_tables {
        run.heap(RARITY)?;
        run.push(&packed_rarity(&frozen_tables.rarity)?)?;
        if let Some(lexicon) = &frozen_tables.lexicon {
            run.heap(LEXICON)?;
            let bytes = lexicon.as_bytes();
            run.push(&[bytes.len() as u64])?;
            run.push(&words_of(bytes).collect::<Vec<_>>())?;
        }
    }
    run.heap(LABELS)?;
    let (mut bytes, mut words) = (Vec::new(), Vec::new());
    for (document, name, value) in &mut delta.documents {
        document.label = run.position();
        bytes.clear();
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(value.as_bytes());
        words.clear();
        words.extend(words_of(&bytes));
        run.push(&words)?;
    }
    run.table(DOCUMENTS, delta.documents.iter().map(|(document, ..)| document.to_row()))?;
    let contents = delta.contents.iter();
    let content = |(content, (documents, component)): &(Doc, (u32, u32))| {
        let at = ClusterKey { component: *component, place: 0 };
        StoredContent { content: u64::from(*content), documents: *documents, at }.to_row()
    };
    run.table(CONTENTS, contents.map(content))?;
    run.table(DEAD, delta.dead.iter().map(|content| [u64::from(*content)]))?;
    let digests = delta.digests.iter();
    let digest = |(digest, content): &(u128, Doc)| {
        StoredDigest { digest: *digest, content: u64::from(*content) }.to_row()
    };
    run.table(DIGESTS, digests.map(digest))?;
    let member = |((content, id), is): &((Doc, u128), bool)| {
        StoredMember { content: u64::from(*content), id: *id, is: *is }.to_row()
    };
    run.table(MEMBERS, delta.members.iter().map(member))?;
    let links = delta.links.iter();
    let link = |((content, other), shared): &((Doc, Doc), u32)| {
        let [content, other, shared] = [*content, *other, *shared].map(u64::from);
        StoredLink { content, other, shared }.to_row()
    };
    run.table(LINKS, links.map(link))?;
    let component = |((label, content), is): &((u32, Doc), bool)| {
        StoredComponent { component: u64::from(*label), content: u64::from(*content), is: *is }.to_row()
    };
    run.table(COMPONENTS, delta.components.iter().map(component))?;
    run.finish()
}

/// Digests of all ids that an epoch mentions, ascending.
pub fn seen(loaded: &Loaded) -> Vec<u128> {
    let mut seen: Vec<u128> = loaded.changes.iter().map(|change| change.id).collect();
    seen.sort_unstable();
    seen
}

/// Writes the ids that an epoch of load `load` mentions into a run.
///
/// # Errors
/// [`crate::error::Error::Io`].
pub fn write_seen(run: &mut RunWriter, seen: &[u128], load: u32) -> Result<()> {
    run.table(SEEN, seen.iter().map(|id| SeenId { id: *id, load: u64::from(load) }.to_row()))
}

/// Digests of the ids of live documents that load `load` has not mentioned, ascending.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
pub fn missing(tables: &Tables, load: u32) -> Result<Vec<u128>> {
    let (mut documents, mut seen) = (tables.scan(DOCUMENTS), tables.scan(SEEN));
    let mut missing = Vec::new();
    let mut next = |id: u128| -> Result<Option<SeenId>> {
        loop {
            match seen.next_row()?.map(SeenId::of_row) {
                Some(other) if other.id < id => {}
                found => return Ok(found),
            }
        }
    };
    let mut mentioned = next(0)?;
    while let Some(row) = documents.next_row()? {
        let document = Document::of_row(row);
        if mentioned.is_some_and(|seen| seen.id < document.id) {
            mentioned = next(document.id)?;
        }
        let is = |seen: SeenId| (seen.id, seen.load) == (document.id, u64::from(load));
        if document.live && !mentioned.is_some_and(is) {
            missing.push(document.id);
        }
    }
    Ok(missing)
}

/// Writes what becomes of clusters into a run: of contents whose cluster is at another place of their component, and of
/// clusters. The load's sources stand there, too.
///
/// # Errors
/// [`crate::error::Error::Io`].
pub fn write_clusters(
    mut run: RunWriter,
    outcome: &ClusterDiff,
    sources: &[SourceEntry],
) -> Result<RunSummary> {
    run.heap(LABELS)?;
    let names = sources.iter().map(|source| source.write_names(&mut run));
    let names: Vec<u64> = names.collect::<Result<_>>()?;
    run.table(CONTENTS, outcome.contents.iter().map(|content| content.to_row()))?;
    run.table(CLUSTERS, outcome.clusters.iter().map(|(at, cluster)| cluster.to_row(*at)))?;
    run.table(SOURCES, sources.iter().zip(names).map(|(source, start)| source.to_row(start)))?;
    run.finish()
}
