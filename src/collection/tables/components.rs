//! Components and links as they are stored: which contents a component has, and which contents a content is linked to.

use std::collections::{BTreeMap, BTreeSet};

use crate::collection::run::schema::{COMPONENTS, LINKS};
use crate::collection::tables::Tables;
use crate::collection::tables::rows::{StoredComponent, StoredLink};
use crate::document::Doc;
use crate::error::Result;

/// Contents of components, by label.
pub(in crate::collection) type Members = BTreeMap<u32, Vec<Doc>>;

/// The live contents of components.
pub(in crate::collection) fn components(tables: &Tables, labels: &BTreeSet<u32>) -> Result<Members> {
    let keys: Vec<u64> = labels.iter().map(|label| u64::from(*label)).collect();
    let mut members: Members = labels.iter().map(|label| (*label, Vec::new())).collect();
    tables.beginning(COMPONENTS, 1, &keys, &mut |_, row| {
        let row = StoredComponent::of_row(row);
        if row.is
            && let Some(members) = members.get_mut(&(row.component as u32))
        {
            members.push(row.content as Doc);
        }
        Ok(())
    })?;
    Ok(members)
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
