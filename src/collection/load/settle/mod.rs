//! From what the dataflow of a load found to what it changes: documents, contents, components. What becomes of clusters is
//! worked out once a load, when all of it is settled: see `diff_clusters.rs`. Newcomers are settled by the workers that have read
//! them, the rest here.

mod components;
mod contents;
mod documents;
mod documents_by_id;
pub(in crate::collection) mod newcomers;
mod span;
mod split;

use hashbrown::{HashMap, HashSet};

use contents::{Content, TouchedContents};

use crate::collection::load::parts::Recollide;
use crate::collection::tables::Tables;
use crate::collection::tables::document::Document;
use crate::collection::tables::member::Member;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{Change, Contractor, HotGroup, Loaded, SizedMember};

/// What a load is settled with.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct LoadNumbers {
    /// The load's number.
    pub load: u32,
    /// The number of the load's first file.
    pub first_file: u32,
    /// The first label that was never used.
    pub next_label: u32,
}

/// What a load, or an epoch of it, changes: rows to write, each list ascending by key.
#[derive(Debug, Default)]
pub struct Delta {
    /// Documents, with id and value; by digest of the id.
    pub documents: Vec<(Document, String, String)>,
    /// Contents with their number of documents and label.
    pub contents: Vec<(Doc, (u32, u32))>,
    /// Contents that no document has any more.
    pub dead: Vec<Doc>,
    /// Contents by digest; [`crate::document::NO_DOC`] for what is gone.
    pub digests: Vec<(u128, Doc)>,
    /// Documents of contents.
    pub members: Vec<((Doc, u128), bool)>,
    /// Links, both ways.
    pub links: Vec<((Doc, Doc), u32)>,
    /// Contents of components.
    pub components: Vec<((u32, Doc), bool)>,
    /// Documents that an earlier epoch of the same load had changed already.
    pub superseded: u64,
    /// Contents that came, and that went.
    pub contents_changed: (u64, u64),
    /// The first label that is not used.
    pub next_label: u32,
}

/// A load being settled.
struct Settling<'a> {
    tables: &'a Tables,
    loaded: &'a Loaded,
    numbers: LoadNumbers,
    delta: Delta,
    /// The contents that gain or lose documents, each as often as it does.
    touched: Vec<Doc>,
    contents: TouchedContents,
    /// Labels that other contents have after splits and unions.
    relabelled: HashMap<Doc, u32>,
    /// Bytes that all of it takes, about.
    held: u64,
    /// All workers, if components are theirs.
    contractor: Option<&'a Contractor>,
}

/// Bytes of a document that changes: as it was and as it will be, its names, and what it does to two contents.
pub(in crate::collection) const CHANGE: usize = size_of::<Change>()
    + size_of::<Member>()
    + size_of::<(Document, String, String)>()
    + 2 * (size_of::<((Doc, u128), bool)>() + 2 * size_of::<(Doc, Content)>())
    + 128;
/// Bytes of a link, or of a member of a hot group, which leads to one: both ways, as these are sorted, and its two ends.
const LINK: usize = 4 * size_of::<((Doc, Doc), u32)>() + 2 * size_of::<Doc>();
/// Bytes of a content that the load touches or links to: its row, its node, and its place among all.
const TOUCHED: usize = 2 * size_of::<(Doc, Content)>() + 4 * size_of::<u32>();
/// Bytes of a content of a component that is taken apart or joined.
const MEMBER: usize = 3 * size_of::<((u32, Doc), bool)>() + 2 * size_of::<(Doc, Content)>() + 32;

/// Settles what a dataflow left, given the tables before the load and after its earlier epochs. `recollide` looks again at what seems to
/// fall apart; components are contracted by `contractor` if there is one, else found by union-find and searches here.
///
/// # Errors
/// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`], [`crate::error::Error::Interrupted`], and
/// [`crate::error::Error::Limit`] if what changes does not fit in the memory.
pub fn compute_delta(
    (before, tables): (&Tables, &Tables),
    loaded: &Loaded,
    numbers: LoadNumbers,
    contractor: Option<&Contractor>,
    recollide: &mut dyn Recollide,
) -> Result<Delta> {
    let mut settling = Settling::new(tables, loaded, numbers, contractor);
    let hot_members: usize = loaded.hot_groups.iter().map(HotGroup::len).sum();
    let largest = loaded.hot_groups.iter().map(HotGroup::len).max().unwrap_or(0);
    settling.hold(loaded.changes.len(), CHANGE)?;
    settling.hold(largest, 2 * size_of::<SizedMember>())?;
    settling.hold(hot_members, size_of::<(Doc, u32)>() + size_of::<(u32, Doc, u32)>())?;
    let members: HashSet<Doc> = loaded.hot_groups.iter().flat_map(HotGroup::docs).copied().collect();
    settling.hold(loaded.links.len() + members.len(), LINK)?;
    drop(members);
    settling.change_documents(before)?;
    settling.settle_contents(recollide)
}

/// Settles that documents go: those of these ascending digests of ids, which are there.
///
/// # Errors
/// Those of [`compute_delta`].
pub fn compute_removals(
    tables: &Tables,
    loaded: &Loaded,
    (numbers, contractor): (LoadNumbers, Option<&Contractor>),
    gone: &[u128],
    recollide: &mut dyn Recollide,
) -> Result<Delta> {
    let mut settling = Settling::new(tables, loaded, numbers, contractor);
    settling.hold(gone.len(), CHANGE)?;
    settling.remove_all(gone)?;
    settling.settle_contents(recollide)
}

impl<'a> Settling<'a> {
    fn new(
        tables: &'a Tables,
        loaded: &'a Loaded,
        numbers: LoadNumbers,
        contractor: Option<&'a Contractor>,
    ) -> Settling<'a> {
        let delta = Delta { next_label: numbers.next_label, ..Delta::default() };
        let (touched, contents, relabelled) = Default::default();
        Settling { tables, loaded, numbers, delta, touched, contents, relabelled, held: 0, contractor }
    }

    /// Notes that so many things of so many bytes are held from here on, and refuses what does not fit.
    fn hold(&mut self, count: usize, bytes: usize) -> Result<()> {
        self.held += (count * bytes) as u64;
        self.loaded.run.context.allow_settling(self.held)
    }

    /// What the changes of documents, which are known, do to contents and components.
    fn settle_contents(mut self, recollide: &mut dyn Recollide) -> Result<Delta> {
        self.find_contents()?;
        self.split(recollide)?;
        self.join()?;
        self.note_contents()?;
        let mut delta = self.delta;
        delta.documents.sort_unstable_by_key(|(document, ..)| document.id);
        delta.members.sort_unstable_by_key(|(key, _)| *key);
        last_of_each(&mut delta.links);
        last_of_each(&mut delta.components);
        Ok(delta)
    }
}

/// Sorts what was noted by its key; of several notes with one key the last one stays.
fn last_of_each<K: Ord + Copy, V: Copy>(notes: &mut Vec<(K, V)>) {
    notes.sort_by_key(|(key, _)| *key);
    notes.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 = later.1;
        }
        same
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_last_note_of_a_key_stays() {
        let mut notes = vec![(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd'), (3, 'e'), (2, 'f')];
        super::last_of_each(&mut notes);
        assert_eq!(notes, [(1, 'd'), (2, 'f'), (3, 'e')]);
    }
}
