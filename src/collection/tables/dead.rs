//! Contents that are dead: their postings stay until a compaction, and have to be passed over.

use crate::collection::run::rows::RowsReader;
use crate::collection::run::schema::DEAD;
use crate::collection::tables::Tables;
use crate::collection::tables::bits::Bits;
use crate::collection::tables::rows::dead_content;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::Posting;

/// The dead contents of some tables.
#[derive(Debug)]
pub enum Dead {
    /// There are none.
    None,
    /// A bit for each content.
    Known(Bits),
    /// Looked up each time: bits would take too much memory.
    LookedUp,
}

impl Dead {
    /// The dead contents, all below `next`; at most `bytes` of memory are taken for them.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`].
    pub fn of(tables: &Tables, next: Doc, bytes: u64) -> Result<Dead> {
        let sections = tables.runs.iter().filter_map(|run| run.rows(DEAD.kind));
        if sections.map(RowsReader::len).sum::<u64>() == 0 {
            return Ok(Dead::None);
        }
        if u64::from(next) / 8 > bytes {
            return Ok(Dead::LookedUp);
        }
        let mut dead = Bits::below(u64::from(next));
        let mut rows = tables.scan(DEAD);
        while let Some(row) = rows.next_row()? {
            dead.add(dead_content(row));
        }
        Ok(Dead::Known(dead))
    }

    /// Removes the postings of dead contents.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`].
    pub fn drop_from(&self, tables: &Tables, found: &mut Vec<Posting>) -> Result<()> {
        match self {
            Dead::None => {}
            Dead::Known(dead) => found.retain(|posting| !dead.has(u64::from(posting.doc))),
            Dead::LookedUp => {
                let mut contents: Vec<u64> = found.iter().map(|posting| u64::from(posting.doc)).collect();
                contents.sort_unstable();
                contents.dedup();
                let mut dead: Vec<Doc> = Vec::new();
                tables.newest(DEAD, &contents, &mut |_, _, row| {
                    dead.push(dead_content(row) as Doc);
                    Ok(())
                })?;
                dead.sort_unstable();
                found.retain(|posting| dead.binary_search(&posting.doc).is_err());
            }
        }
        Ok(())
    }
}
