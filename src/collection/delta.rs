//! Writing what a load changes: one run, one change log.

use std::collections::BTreeMap;

use super::changes::ChangesWriter;
use super::directory::SectionKind;
use super::row::words_of;
use super::settle::Delta;
use super::sources::SourceEntry;
use super::tables::{
    CLUSTERS, COMPONENTS, CONTENTS, DIGESTS, DOCUMENTS, LABELS, LINKS, MEMBERS, RARITY, RAW, SETS, SOURCES,
    TABLES, Table,
};
use super::writer::{RunSummary, RunWriter};
use crate::error::{Error, Result};
use crate::sketch::Rarity;

/// Writes a load's changes and sources into a run; the rarity table too, if the collection has none yet.
pub fn write_delta(
    mut run: RunWriter,
    delta: &mut Delta,
    sources: &[SourceEntry],
    rarity: Option<&Rarity>,
) -> Result<RunSummary> {
    if let Some(rarity) = rarity {
        run.heap(RARITY)?;
        // What is missing counts as rarest, so tables that know nothing, those of most methods, take no room.
        let bytes = rarity.as_bytes();
        let known = bytes.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        run.push(&words_of(&bytes[..known]).collect::<Vec<_>>())?;
    }
    run.heap(LABELS)?;
    for (document, name, value) in &mut delta.documents {
        document.label = run.position();
        let words: Vec<u64> = words_of(format!("{name}{value}").as_bytes()).collect();
        run.push(&words)?;
    }
    let names = sources.iter().map(|source| source.write_names(&mut run));
    let names: Vec<u64> = names.collect::<Result<_>>()?;
    rows(&mut run, DOCUMENTS, delta.documents.iter().map(|(document, ..)| document.to_row()))?;
    let contents = delta.contents.iter();
    rows(&mut run, CONTENTS, contents.map(|(c, (count, label))| [c, count, label].map(|n| u64::from(*n))))?;
    let digests = delta.digests.iter();
    rows(&mut run, DIGESTS, digests.map(|(d, content)| [(d >> 64) as u64, *d as u64, u64::from(*content)]))?;
    let member = |((content, id), is): (&(u32, u128), &bool)| {
        [u64::from(*content), (id >> 64) as u64, *id as u64, u64::from(*is)]
    };
    rows(&mut run, MEMBERS, delta.members.iter().map(member))?;
    let links = delta.links.iter();
    rows(&mut run, LINKS, links.map(|((a, b), shared)| [a, b, shared].map(|n| u64::from(*n))))?;
    let component = |((label, content), is): (&(u32, u32), &bool)| {
        [u64::from(*label), u64::from(*content), u64::from(*is)]
    };
    rows(&mut run, COMPONENTS, delta.components.iter().map(component))?;
    let cluster = |(label, (number, documents, id)): (&u32, &(u64, u64, u128))| {
        [u64::from(*label), *number, *documents, (id >> 64) as u64, *id as u64]
    };
    rows(&mut run, CLUSTERS, delta.clusters.iter().map(cluster))?;
    rows(&mut run, SOURCES, sources.iter().zip(names).map(|(source, start)| source.to_row(start)))?;
    run.finish()
}

/// Writes a section of rows.
fn rows<const N: usize>(
    run: &mut RunWriter,
    table: Table,
    mut rows: impl Iterator<Item = [u64; N]>,
) -> Result<()> {
    run.rows(table.kind, table.shape)?;
    rows.try_for_each(|row| run.push(&row))
}

/// Writes the lines about clusters into a change log.
pub fn write_lines(log: &mut ChangesWriter, delta: &Delta) -> Result<()> {
    let mut bytes = Vec::new();
    for line in &delta.lines {
        serde_json::to_writer(&mut bytes, line).map_err(|e| Error::Worker(format!("a change log: {e}")))?;
        bytes.push(b'\n');
        if bytes.len() > BLOCK {
            log.append(&bytes)?;
            bytes.clear();
        }
    }
    log.append(&bytes)
}

/// Bytes of lines written at once.
const BLOCK: usize = 1 << 20;

/// The rows or words of each section, by name.
pub fn by_name(summary: &RunSummary) -> BTreeMap<String, u64> {
    summary.sections.iter().map(|(kind, rows)| (name(*kind), *rows)).collect()
}

/// The name of a section.
pub fn name(kind: SectionKind) -> String {
    let heaps = [(LABELS, "labels"), (SETS, "sets"), (RARITY, "rarity"), (RAW, "raw")];
    let table = TABLES.iter().find(|table| table.kind == kind).map(|table| table.name);
    let heap = heaps.into_iter().find(|(heap, _)| *heap == kind).map(|(_, name)| name);
    table.or(heap).map_or_else(|| kind.0.to_string(), str::to_owned)
}
