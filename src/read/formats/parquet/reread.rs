//! Reading single rows a second time.

use std::sync::Arc;

use super::fields::{FieldColumns, Leaves, StepCells};
use super::footer::ParquetFile;
use super::guard::between;
use super::pages::UnitMemory;
use super::rows::{no_room, record};
use crate::document::Position;
use crate::error::{Error, Result};
use crate::read::date::Day;
use crate::read::field::Fields;
use crate::read::source::Source;

/// Rows between wanted ones that are read rather than passed over.
const GAP: u64 = 4;

/// Hands on the rows at `offsets`, as [`reread`](crate::read::reread()) does. Those that stand close are read together.
pub(super) fn reread(
    source: &Source,
    file: u32,
    offsets: &[u64],
    fields: &Fields,
    each: &mut dyn FnMut(usize, &str, Day) -> Result<()>,
) -> Result<()> {
    let changed = || Error::Changed(source.path.clone());
    // Whether it was a change, and of what, was settled the first time.
    let fields = &Fields { op: None, ..fields.clone() };
    let otherwise = |error| between(&source.path, error).unwrap_or_else(|_| changed());
    let opened = ParquetFile::open(source).map_err(otherwise)?;
    let leaves = Leaves::find(&opened, fields).map_err(|_| changed())?;
    let leaves = leaves.date_only();
    let memory = Arc::new(UnitMemory::new(&fields.room, fields.max_record_bytes));
    let (layout, mut present): (_, Option<(usize, u64, FieldColumns)>) = (&opened.layout, None);
    let mut at = 0;
    while let Some(&first) = offsets.get(at) {
        let group = layout.group_of(first).ok_or_else(changed)?;
        let end = layout.groups[group].first + layout.groups[group].rows;
        let failed = |error| match memory.unfit() {
            Some(bytes) => Error::input(&source.path, no_room(first, bytes)),
            None => otherwise(error),
        };
        let (next, columns) = match &mut present {
            Some((same, next, columns)) if *same == group && *next <= first => (next, columns),
            none => {
                let from = first - layout.groups[group].first;
                let columns = FieldColumns::open(&opened, group, from, leaves, &memory).map_err(failed)?;
                let (_, next, columns) = none.insert((group, first, columns));
                (next, columns)
            }
        };
        columns.skip(first - *next).map_err(failed)?;
        // Rows that follow each other closely.
        let close = offsets[at..]
            .windows(2)
            .take_while(|two| two[1] > two[0] && two[1] - two[0] <= GAP && two[1] < end);
        let last = offsets[at + close.count()];
        let mut cells = StepCells::default();
        columns.step(last + 1 - first, &mut cells).map_err(failed)?;
        *next = first + cells.texts.len() as u64;
        while let Some(&offset) = offsets.get(at).filter(|offset| **offset < *next && **offset >= first) {
            let row = (offset - first) as usize;
            let others = cells.others.each_ref().map(|cells| cells.get(row));
            let record = record(fields, Position::new(file, offset), 1, &cells.texts[row], others);
            let record = record.map_err(|_| changed())?;
            each(at, record.text, record.day)?;
            at += 1;
        }
        if !columns.is_long() {
            memory.give_back();
        }
    }
    Ok(())
}
