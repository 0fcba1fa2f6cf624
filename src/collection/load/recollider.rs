//! Colliding a stored content again: which other contents it is linked to.

use crate::collection::load::load_base::LoadBase;
use crate::collection::load::parts::{Others, Recollide};
use crate::collection::query::resembling::{AskedSet, Resembling};
use crate::collection::tables::Tables;
use crate::collection::tables::sets::{SetCursor, read_set, salts};
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{Loaded, Stored};
use crate::progress::Progress;

/// Looks again at contents that seem to have come apart.
pub(in crate::collection) struct Recollider<'a> {
    tables: &'a Tables,
    resembling: Resembling,
    progress: &'a Progress,
    cursor: SetCursor,
    set: Vec<u64>,
}

impl<'a> Recollider<'a> {
    /// Looks among the contents of `base`, with what `loaded` was found with.
    ///
    /// # Errors
    /// Those of [`Resembling::new`].
    pub(in crate::collection) fn new(base: &'a LoadBase, loaded: &'a Loaded) -> Result<Recollider<'a>> {
        let (tables, run) = (base.tables(), &loaded.run);
        let resembling =
            Resembling::new(tables, base.next(), &run.context.config, &run.context.frozen_tables)?;
        let progress = &run.context.status.progress;
        Ok(Recollider { tables, resembling, progress, cursor: SetCursor::default(), set: Vec::new() })
    }
}

impl Recollide for Recollider<'_> {
    fn linked(&mut self, content: Doc, others: Others<'_>) -> Result<Vec<(Doc, u32)>> {
        read_set(self.tables, &mut self.cursor, content, &mut self.set)?;
        let salt = salts(self.tables, &[u64::from(content)])?[0];
        let asked = AskedSet { words: &self.set, salt };
        let linked = match others {
            Others::Few(few) => self.resembling.among(asked, few, self.progress)?,
            Others::Many(are) => self.resembling.to(&[asked], are, self.progress)?.concat(),
        };
        Ok(linked.into_iter().map(|(other, measure)| (other, measure.shared)).collect())
    }
}
