//! Hot groups: contents under one key, too many to be expanded into pairs. Which of them are linked is looked into only where
//! that can join components that are still apart.

use crate::collection::load::measure::Measuring;
use crate::components::Forest;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{BySize, HangingTogether, SizedMember, join_part};

/// Members of a hot group that are known to hang together: those that are stored, and those that are new.
#[derive(Default)]
struct SpannedPart {
    root: u32,
    stored: BySize,
    new: BySize,
}

impl HangingTogether for SpannedPart {
    fn members(&self) -> usize {
        self.stored.len() + self.new.len()
    }

    fn join(&mut self, other: SpannedPart) {
        self.stored.merge(other.stored);
        self.new.merge(other.new);
    }
}

/// Joins the trees that some contents span wherever any two of them are linked: `members` are a tree, a content, and the size of
/// the largest set that it can be linked with here.
/// Contents of one tree are never compared, and stored ones, those below `base`, not with each other: components of stored
/// contents that are linked are one component already. The links that joined two trees.
pub(super) fn span(
    members: Vec<(u32, Doc, u32)>,
    base: Doc,
    forest: &mut Forest,
    measuring: &mut Measuring<'_>,
) -> Result<Vec<(Doc, Doc, u32)>> {
    let mut by_root: Vec<(u32, Doc, u32)> =
        members.into_iter().map(|(node, doc, limit)| (forest.find(node), doc, limit)).collect();
    let (mut settled, mut links): (Vec<SpannedPart>, Vec<_>) = (Vec::new(), Vec::new());
    if by_root.iter().all(|(root, ..)| *root == by_root[0].0) || by_root.iter().all(|(_, doc, _)| *doc < base)
    {
        return Ok(links);
    }
    by_root.sort_unstable();
    for part in by_root.chunk_by(|a, b| a.0 == b.0) {
        let root = part[0].0;
        let mut joined = SpannedPart { root, ..SpannedPart::default() };
        for (_, doc, limit) in part {
            let side = if *doc < base { &mut joined.stored } else { &mut joined.new };
            side.push(SizedMember { number: *doc, order: *doc, size: measuring.size(*doc), limit: *limit });
        }
        let (stored, new) = (joined.stored.clone(), joined.new.clone());
        settled = join_part(settled, joined, |other| {
            let link = match any_link(&new, &other.new, measuring)? {
                None => match any_link(&new, &other.stored, measuring)? {
                    None => any_link(&stored, &other.new, measuring)?,
                    found => found,
                },
                found => found,
            };
            link.inspect(|_| _ = forest.union(root, other.root));
            links.extend(link);
            Ok(link.is_some())
        })?;
    }
    Ok(links)
}

fn any_link(new: &BySize, others: &BySize, measuring: &mut Measuring<'_>) -> Result<Option<(Doc, Doc, u32)>> {
    others.any_linked(new, |x, y| Ok(measuring.linked(x, y)?.map(|shared| (x, y, shared))))
}
