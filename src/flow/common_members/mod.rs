//! Members that more contents have than the cap allows, where a join stands for what counts all members.
//!
//! A join posts only the first members of each set, so no group tells in how many contents a member is. While texts are read, each
//! worker counts members in slots. Whatever is in more contents than the cap is in a slot that says so; what else is in such a slot
//! is told apart by counting the members of these slots again, one by one.

pub mod apart;
pub mod search;
pub mod slots;
pub mod tally;

use std::sync::Arc;

use timely::worker::Worker;

use crate::document::Doc;
use crate::error::Result;
use crate::flow::common_members::apart::CommonMembers;
use crate::flow::common_members::slots::Suspects;
use crate::flow::common_members::tally::MemberTally;
use crate::flow::context::RunContext;
use crate::flow::distributed::exchange_all::wait_for_all;
use crate::flow::memory::budget::Share;
use crate::flow::memory::document_bits::{DocumentBits, is_set};
use crate::flow::results::gathered::Collided;
use crate::flow::run::RunParts;
use crate::flow::status::lock;
use crate::sketch::spread;

/// Members that a worker counts before it adds them to what all have counted.
const BATCH: usize = 1 << 14;

/// Finds the members that are too common, once all texts are read and copies are known. From then on they are no members that two
/// sets share. Every worker calls it at the same place.
///
/// # Errors
/// Those of reading texts again.
pub fn find_common(worker: &mut Worker, run: &RunParts, collided: &mut Collided) -> Result<()> {
    let (context, search) = (&run.context, &run.common_search);
    if !context.joins_instead() {
        return Ok(());
    }
    let contents = contents(run, worker.index(), &collided.copied);
    let catalogue = &run.documents.catalogue;
    collided.postings = contents.iter().map(|doc| u64::from(catalogue.size(*doc))).sum();
    let Some(counting) = context.member_counting else { return Ok(()) };
    wait_for_all(worker, context);
    let suspects = search
        .suspects
        .get_or_init(|| Suspects::of(&std::mem::take(&mut *lock(&search.slots)), counting.cap));
    let having = search.having.get_or_init(|| DocumentBits::new(catalogue.doc_limit()));
    let most = most_counted(context);
    while !suspects.is_empty() && !context.status.failed() {
        count(run, &contents, suspects, having, most)?;
        wait_for_all(worker, context);
        if worker.index() == 0 {
            lock(&search.tally).turn(counting.cap);
        }
        wait_for_all(worker, context);
        if lock(&search.tally).is_done() {
            break;
        }
    }
    if worker.index() == 0 {
        let found = lock(&search.tally).take();
        for (member, contents) in &found {
            collided.common.ignore(spread(*member), u64::from(*contents), u64::from(*contents));
        }
        let members = found.into_iter().map(|(member, _)| member);
        run.documents.ignore(CommonMembers::new(members, having.words()));
    }
    wait_for_all(worker, context);
    Ok(())
}

/// The contents that a worker has read.
fn contents(run: &RunParts, worker: usize, copied: &[u64]) -> Vec<Doc> {
    let (catalogue, workers) = (&run.documents.catalogue, run.context.topology.all());
    let docs = (0..catalogue.rows(worker)).map(|row| catalogue.base() + (row * workers + worker) as Doc);
    docs.filter(|doc| !is_set(copied, *doc) && catalogue.size(*doc) > 0).collect()
}

/// Members that are counted one by one at a time, of all workers.
fn most_counted(context: &Arc<RunContext>) -> usize {
    usize::try_from(context.memory.budget.whole(Share::Members)).unwrap_or(usize::MAX) / MemberTally::MEMBER
}

/// Counts those members of some contents that are in suspected slots.
fn count(
    run: &RunParts,
    contents: &[Doc],
    suspects: &Suspects,
    having: &DocumentBits,
    most: usize,
) -> Result<()> {
    let (context, tally) = (&run.context, &run.common_search.tally);
    let (mut sketcher, mut of_one, mut counted) = (context.sketcher(), Vec::new(), Vec::new());
    run.documents.each_text(contents, &context.status.progress, &mut |doc, text, day| {
        sketcher.read(text, day);
        of_one.clear();
        suspects.among(sketcher.shingles(), &mut of_one);
        if of_one.is_empty() {
            return Ok(());
        }
        of_one.sort_unstable();
        of_one.dedup();
        having.insert(doc);
        counted.extend_from_slice(&of_one);
        if counted.len() > BATCH {
            lock(tally).add(&mut counted, most);
        }
        if run.documents.inputs.fields.room.is_long(text.len()) {
            sketcher.rest();
        }
        Ok(())
    })?;
    lock(tally).add(&mut counted, most);
    Ok(())
}
