//! Contents that are dead: their postings stay until a compaction, and have to be passed over.

use crate::collection::run::rows::RowsReader;
use crate::collection::run::schema::DEAD;
use crate::collection::tables::Tables;
use crate::collection::tables::bits::Bits;
use crate::collection::tables::rows::dead_content;
use crate::document::Doc;
use crate::error::Result;

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

    /// Whether a content is known to be dead. One that would have to be looked up is not.
    pub fn is_known(&self, content: Doc) -> bool {
        matches!(self, Dead::Known(dead) if dead.has(u64::from(content)))
    }

    /// Removes what stands for dead contents.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`].
    pub fn drop_from<T>(
        &self,
        tables: &Tables,
        found: &mut Vec<T>,
        content: impl Fn(&T) -> Doc,
    ) -> Result<()> {
        match self {
            Dead::None => {}
            Dead::Known(dead) => found.retain(|one| !dead.has(u64::from(content(one)))),
            Dead::LookedUp => {
                let mut contents: Vec<u64> = found.iter().map(|one| u64::from(content(one))).collect();
                contents.sort_unstable();
                contents.dedup();
                let mut dead: Vec<Doc> = Vec::new();
                tables.newest(DEAD, &contents, &mut |_, _, row| {
                    dead.push(dead_content(row) as Doc);
                    Ok(())
                })?;
                dead.sort_unstable();
                found.retain(|one| dead.binary_search(&content(one)).is_err());
            }
        }
        Ok(())
    }
}
