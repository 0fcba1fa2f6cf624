//! Components and links as they are stored: which contents a component has, and which contents a content is linked to.

use std::collections::{BTreeMap, BTreeSet};

use crate::collection::run::schema::{COMPONENTS, LINKS};
use crate::collection::tables::Tables;
use crate::collection::tables::rows::{StoredComponent, StoredLink};
use crate::document::Doc;
use crate::error::Result;
use crate::limits::sized;

/// Contents of components, by label.
pub(in crate::collection) type Members = BTreeMap<u32, Vec<Doc>>;

/// The live contents of components.
pub(in crate::collection) fn components(tables: &Tables, labels: &BTreeSet<u32>) -> Result<Members> {
    let mut members: Members = labels.iter().map(|label| (*label, Vec::new())).collect();
    let labels: Vec<u32> = labels.iter().copied().collect();
    each_component(tables, &labels, &mut |label, contents| {
        members.insert(label, contents.to_vec());
    })?;
    Ok(members)
}

/// Hands on the live contents of components, ascending labels, one component after the other; those that have none are passed
/// over.
pub(in crate::collection) fn each_component(
    tables: &Tables,
    labels: &[u32],
    each: &mut dyn FnMut(u32, &[Doc]),
) -> Result<()> {
    let keys: Vec<u64> = labels.iter().map(|label| u64::from(*label)).collect();
    let (mut of, mut contents) = (0, Vec::new());
    tables.beginning(COMPONENTS, 1, &keys, &mut |at, row| {
        if at != of && !contents.is_empty() {
            each(labels[of], &contents);
            contents.clear();
        }
        of = at;
        let row = StoredComponent::of_row(row);
        contents.extend(row.is.then_some(row.content as Doc));
        Ok(())
    })?;
    if !contents.is_empty() {
        each(labels[of], &contents);
    }
    Ok(())
}

/// The stored links of some contents.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
pub fn neighbours(tables: &Tables, contents: &[Doc]) -> Result<Vec<(Doc, Doc)>> {
    let mut keys: Vec<u64> = contents.iter().map(|content| u64::from(*content)).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut links = Vec::new();
    tables.beginning(LINKS, 1, &keys, &mut |_, row| {
        let link = StoredLink::of_row(row);
        links.push((link.content as Doc, link.other as Doc));
        Ok(())
    })?;
    Ok(links)
}

/// Rows of links that are held at once, unless one content alone has more of them.
const AT_ONCE: usize = sized(1 << 15, 8);

/// Hands on the stored links of ascending, distinct contents, each with the content first; however many there are, few are held
/// at once.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
pub fn each_link(tables: &Tables, contents: &[Doc], each: &mut dyn FnMut(Doc, Doc)) -> Result<()> {
    let keys: Vec<u64> = contents.iter().map(|content| u64::from(*content)).collect();
    let (mut rest, mut some, mut found) = (&keys[..], keys.len(), 0);
    let mut link = |row: &[u64]| {
        let link = StoredLink::of_row(row);
        each(link.content as Doc, link.other as Doc);
        found += 1;
        Ok(())
    };
    while let [first, behind @ ..] = rest {
        some = some.min(rest.len());
        if tables.beginning_within(LINKS, (1, AT_ONCE), &rest[..some], &mut |_, row| link(row))? {
            rest = &rest[some..];
            some = some.saturating_mul(2);
        } else if some > 1 {
            some /= 2;
        } else {
            let mut rows = tables.scan_between(LINKS, &[*first], Some(&[first + 1]));
            while let Some(row) = rows.next_row()? {
                link(row)?;
            }
            rest = behind;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "components_tests.rs"]
mod tests;
