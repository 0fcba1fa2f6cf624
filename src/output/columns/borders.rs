//! Where pages and row groups end: where rows say so.
//!
//! Stores that keep equal stretches of bytes once find the pages of yesterday's file again in today's, though rows before them came or
//! went. A page of so many bytes would end elsewhere in each of them.

use crate::limits::sized;

/// Least and most bytes of the rows of a page. Records are in two columns, as text and as JSON, so a page of either has a mebibyte on
/// average. With half of that files are 7 % longer.
const PAGE: (usize, usize) = sized((1 << 20, 4 << 20), (64, 256));
/// Most bytes of the rows of a row group. What is written must not depend on the machine.
const GROUP: usize = sized(16 << 20, 1 << 10);
/// Fewer are not worth what a row group says of itself, however small files are to be.
const LEAST_GROUP: usize = sized(256 << 10, 256);

/// Most bytes of the rows of a row group, where files may not be much larger than a limit.
pub(in crate::output) fn group_bytes(limit: Option<u64>) -> usize {
    limit.map_or(GROUP, |limit| usize::try_from(limit).unwrap_or(GROUP).clamp(LEAST_GROUP, GROUP))
}

/// What ends with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    Nothing,
    Page,
    Group,
}

/// The bytes of rows since the last borders.
pub(super) struct RowBorders {
    page: usize,
    group: usize,
    /// Most bytes of a row group.
    most: usize,
}

impl RowBorders {
    /// Borders before any row, with most bytes of a row group.
    pub(super) fn new(most: usize) -> RowBorders {
        RowBorders { page: 0, group: 0, most }
    }

    /// What ends with the next row, of a hash of its content and so many bytes.
    pub(super) fn ends(&mut self, mark: u64, bytes: usize) -> Ends {
        self.page += bytes;
        self.group += bytes;
        if is_end(self.group, (self.most / 2, self.most), mark.swap_bytes(), bytes) {
            *self = RowBorders::new(self.most);
            return Ends::Group;
        }
        if is_end(self.page, PAGE, mark, bytes) {
            self.page = 0;
            return Ends::Page;
        }
        Ends::Nothing
    }
}

/// Whether a row ends what is held. Beyond the least bytes it takes half of what is left on average, whether rows are long or short.
fn is_end(held: usize, (least, most): (usize, usize), mark: u64, bytes: usize) -> bool {
    let one_in = ((most - least) / 2 / bytes.max(1)).max(1) as u64;
    held >= most || held >= least && mark <= u64::MAX / one_in
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rows, counted from the last one, behind which a page or a row group ends.
    fn borders(rows: &[(u64, usize)]) -> Vec<(usize, Ends)> {
        let mut borders = RowBorders::new(GROUP);
        let ends =
            rows.iter().enumerate().map(|(at, (mark, bytes))| (rows.len() - at, borders.ends(*mark, *bytes)));
        ends.filter(|(_, ends)| *ends != Ends::Nothing).collect()
    }

    proptest! {
        #[test]
        fn borders_are_soon_the_same_behind_rows_that_came_or_went(
            rows in prop::collection::vec((any::<u64>(), 1_usize..=12), 4_000),
            before in prop::collection::vec((any::<u64>(), 1_usize..=12), 0..200),
        ) {
            let scale = PAGE.1 / 256;
            let scaled = |rows: &[(u64, usize)]| rows.iter().map(|(mark, bytes)| (*mark, bytes * scale)).collect::<Vec<_>>();
            let rows = scaled(&rows);
            let other = [scaled(&before), rows.clone()].concat();
            let (one, other) = (borders(&rows), borders(&other));
            let same = one.iter().filter(|border| other.contains(border)).count();
            prop_assert!(same * 4 >= one.len() * 3, "{same} of {}", one.len());
        }

        #[test]
        fn pages_and_groups_have_neither_too_few_nor_too_many_bytes(
            rows in prop::collection::vec((any::<u64>(), 1_usize..=1_000_000), 0..2_000),
        ) {
            let mut borders = RowBorders::new(GROUP);
            let (mut page, mut group) = (0, 0);
            for (mark, bytes) in rows {
                let (page_before, group_before) = (page, group);
                page += bytes;
                group += bytes;
                let ends = borders.ends(mark, bytes);
                prop_assert!(page_before < PAGE.1 && group_before < GROUP);
                match ends {
                    Ends::Nothing => prop_assert!(page < PAGE.1 && group < GROUP),
                    Ends::Page => {
                        prop_assert!(page >= PAGE.0);
                        page = 0;
                    }
                    Ends::Group => {
                        prop_assert!(group >= GROUP / 2);
                        (page, group) = (0, 0);
                    }
                }
            }
        }
    }
}
