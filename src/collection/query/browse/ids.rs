//! The ids of a commit in order: pages of documents, and those whose ids begin with something.

use std::collections::BTreeMap;

use crate::collection::HeapCursor;
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::query::view::{DocumentView, with_clusters};
use crate::collection::run::schema::DOCUMENTS;
use crate::collection::tables::document::Document;
use crate::collection::tables::lookup::find;
use crate::error::Result;
use crate::progress::Progress;
use crate::text::TypedWords;

/// Rows read between two looks at whether to stop.
const CHECKED: usize = 1024;

/// All ids of a commit, ascending: the bytes of each and eight more.
#[derive(Debug, Default)]
pub struct IdIndex {
    text: String,
    /// Where each begins in the text.
    starts: Vec<usize>,
}

impl IdIndex {
    /// Reads the ids of a commit, and sorts them.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Interrupted`].
    pub fn new(snapshot: &Snapshot, progress: &Progress) -> Result<IdIndex> {
        let tables = snapshot.tables();
        let runs: Vec<_> = tables.having(DOCUMENTS).collect();
        let mut rows = tables.scan(DOCUMENTS);
        let (mut read, mut cursor) = (IdIndex::default(), HeapCursor::default());
        while let Some(document) = rows.next_row()?.map(Document::of_row) {
            if document.live {
                let name = document.names(runs[rows.source()], &mut cursor)?.0;
                read.starts.push(read.text.len());
                read.text.push_str(&name);
            }
            if read.starts.len().is_multiple_of(CHECKED) {
                progress.check()?;
            }
        }
        let mut order: Vec<usize> = (0..read.starts.len()).collect();
        order.sort_unstable_by(|a, b| read.id(*a).cmp(read.id(*b)));
        progress.check()?;
        let mut sorted = IdIndex { text: String::with_capacity(read.text.len()), starts: Vec::new() };
        sorted.starts.reserve_exact(order.len());
        for at in order {
            sorted.starts.push(sorted.text.len());
            sorted.text.push_str(read.id(at));
        }
        Ok(sorted)
    }

    fn id(&self, at: usize) -> &str {
        let end = self.starts.get(at + 1).copied().unwrap_or(self.text.len());
        &self.text[self.starts[at]..end]
    }

    /// The first place whose id is not `before`.
    fn first(&self, before: impl Fn(&str) -> bool) -> usize {
        let (mut low, mut high) = (0, self.starts.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if before(self.id(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The next ids behind `after`, at most `limit`, of those that begin with `prefix` and have all `words`, and whether there
    /// are others behind them. For words the ids of the prefix are gone through, one after the other.
    ///
    /// # Errors
    /// [`crate::error::Error::Interrupted`].
    pub fn page(
        &self,
        (prefix, words): (&str, &TypedWords),
        after: Option<&str>,
        limit: usize,
        progress: &Progress,
    ) -> Result<(Vec<String>, bool)> {
        let begin = self.first(|id| id < prefix).max(after.map_or(0, |after| self.first(|id| id <= after)));
        let rest = (begin..self.starts.len()).map(|at| self.id(at));
        let mut page: Vec<String> = Vec::new();
        for (passed, id) in rest.take_while(|id| id.starts_with(prefix)).enumerate() {
            if passed.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            if words.are_in(id) {
                page.push(id.to_owned());
            }
            if page.len() > limit {
                break;
            }
        }
        let more = page.len() > limit;
        page.truncate(limit);
        Ok((page, more))
    }
}

impl Snapshot {
    /// The documents of ids, which may repeat, in the order of these; `None` for what is not there.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn documents_of(&self, ids: &[String]) -> Result<Vec<Option<DocumentView>>> {
        let tables = self.tables();
        let found = find(&tables, ids)?;
        let named: Vec<(Document, String)> =
            found.into_iter().zip(ids).filter_map(|(found, id)| Some((found?, id.clone()))).collect();
        let mut views = BTreeMap::new();
        with_clusters(&tables, named, &mut |view| {
            views.insert(view.id.clone(), view);
            Ok(())
        })?;
        Ok(ids.iter().map(|id| views.get(id).cloned()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_the_ids_that_begin_so() {
        let ids = ["", "a", "a/b", "ab", "b", "\u{e9}", "\u{10ffff}x"];
        let mut index = IdIndex::default();
        for id in ids {
            index.starts.push(index.text.len());
            index.text.push_str(id);
        }
        let asked =
            |prefix| ["", "B", "a B", "\u{c9}", "x", "nothing"].map(|words| (prefix, TypedWords::of(words)));
        for (prefix, words) in ["", "a", "ab", "c", "\u{e9}", "\u{10ffff}"].into_iter().flat_map(asked) {
            let fits = |id: &&str| id.starts_with(prefix) && words.are_in(id);
            let plain: Vec<&str> = ids.into_iter().filter(fits).collect();
            for limit in [1, 2, 100] {
                let (mut found, mut after) = (Vec::new(), None::<String>);
                loop {
                    let page = index.page((prefix, &words), after.as_deref(), limit, &Progress::default());
                    let (page, more) = page.expect("a page");
                    after = page.last().cloned();
                    found.extend(page);
                    if !more {
                        break;
                    }
                }
                assert_eq!(found, plain, "{prefix:?}, {limit}");
            }
        }
        let none = IdIndex::default().page(("", &TypedWords::default()), None, 5, &Progress::default());
        assert_eq!(none.expect("a page"), (Vec::new(), false));
    }
}
