//! Hot groups: contents under one key, too many to be expanded into pairs. Which of them are linked is looked into only where
//! that can join components that are still apart.

use crate::collection::load::measure::Measuring;
use crate::components::Forest;
use crate::document::Doc;
use crate::error::Result;

/// Members of a hot group that are known to hang together: those that are stored, and those that are new.
#[derive(Default)]
struct SpannedPart {
    root: u32,
    stored: Vec<Doc>,
    new: Vec<Doc>,
}

impl SpannedPart {
    fn len(&self) -> usize {
        self.stored.len() + self.new.len()
    }
}

/// Joins the trees that some contents span wherever any two of them are linked: `members` are a tree and a content each.
/// Contents of one tree are never compared, and stored ones, those below `base`, not with each other: components of stored
/// contents that are linked are one component already. The links that joined two trees.
pub(super) fn span(
    members: Vec<(u32, Doc)>,
    base: Doc,
    forest: &mut Forest,
    measuring: &mut Measuring<'_>,
) -> Result<Vec<(Doc, Doc, u32)>> {
    let mut by_root: Vec<(u32, Doc)> =
        members.into_iter().map(|(node, doc)| (forest.find(node), doc)).collect();
    let (mut settled, mut links): (Vec<SpannedPart>, Vec<_>) = (Vec::new(), Vec::new());
    if by_root.iter().all(|(root, _)| *root == by_root[0].0) || by_root.iter().all(|(_, doc)| *doc < base) {
        return Ok(links);
    }
    by_root.sort_unstable();
    for part in by_root.chunk_by(|a, b| a.0 == b.0) {
        let (stored, new) = part.iter().map(|(_, doc)| *doc).partition(|doc| *doc < base);
        let mut joined = SpannedPart { root: part[0].0, stored, new };
        let root = joined.root;
        // Settled parts are known to be apart: what joins this one to the first is not compared with the second.
        let (stored, new) = (joined.stored.clone(), joined.new.clone());
        let mut apart = Vec::new();
        for mut other in settled {
            let link = match any_link(&new, &other.new, measuring)? {
                None => match any_link(&new, &other.stored, measuring)? {
                    None => any_link(&stored, &other.new, measuring)?,
                    found => found,
                },
                found => found,
            };
            match link {
                Some(link) => {
                    forest.union(root, other.root);
                    links.push(link);
                    // The longer lists take in the shorter ones: of near-copies in mass each would move all before it.
                    for (own, others) in
                        [(&mut joined.stored, &mut other.stored), (&mut joined.new, &mut other.new)]
                    {
                        if own.len() < others.len() {
                            std::mem::swap(own, others);
                        }
                        own.append(others);
                    }
                }
                None => apart.push(other),
            }
        }
        let at =
            apart.iter().position(|other: &SpannedPart| other.len() < joined.len()).unwrap_or(apart.len());
        apart.insert(at, joined);
        settled = apart;
    }
    Ok(links)
}

fn any_link(a: &[Doc], b: &[Doc], measuring: &mut Measuring<'_>) -> Result<Option<(Doc, Doc, u32)>> {
    for x in a {
        for y in b {
            if let Some(shared) = measuring.linked(*x, *y)? {
                return Ok(Some((*x, *y, shared)));
            }
        }
    }
    Ok(None)
}
