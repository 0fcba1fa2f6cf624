//! Reading single rows a second time.

use std::io;

use super::columns::dictionary::HeldDictionaries;
use super::fields::{BatchColumns, FieldWays};
use super::metadata::layout::ArrowFile;
use super::rows::{PART, no_damage};
use crate::document::Position;
use crate::error::{Error, Result};
use crate::read::codec::TakeAgain;
use crate::read::field::Fields;
use crate::read::formats::parquet::row_record;
use crate::read::source::Source;

/// Hands on the rows at `offsets`, as [`reread`](crate::read::reread()) does. Rows that follow each other are read together.
pub(super) fn reread(
    source: &Source,
    file_number: u32,
    offsets: &[u64],
    fields: &Fields,
    each: &mut TakeAgain<'_>,
) -> Result<()> {
    let changed = || Error::Changed(source.path.clone());
    // Whether it was a change, and of what, was settled the first time.
    let fields = &Fields { op: None, ..fields.clone() };
    // What had room when it was read first has it again.
    let otherwise = |error| match no_damage(source, error) {
        Ok(error) if error.kind() == io::ErrorKind::OutOfMemory => {
            Error::input(&source.path, error.to_string())
        }
        Ok(_) => changed(),
        Err(error) => error,
    };
    let file = ArrowFile::open(source).map_err(otherwise)?;
    if file.layout.has_many_batches() {
        file.keep(source);
    }
    let ways = FieldWays::find(&file.layout.schema, fields).map_err(|_| changed())?.date_only();
    let (mut held, most) = (HeldDictionaries::default(), fields.room.most() as u64);
    let mut present: Option<(usize, BatchColumns)> = None;
    let (mut at, mut turn) = (0, None);
    while let Some(&first) = offsets.get(at) {
        let batch = file.layout.batch_of(first).ok_or_else(changed)?;
        let place = file.layout.batches[batch];
        let row = first - place.first;
        let mut is_new = false;
        let columns = match &mut present {
            Some((same, columns)) if *same == batch => columns,
            none => {
                // A dictionary that grows would be copied for what names it.
                *none = None;
                is_new = true;
                let opened = BatchColumns::open(&file, batch, row, &ways, &mut held, most);
                &mut none.insert((batch, opened.map_err(otherwise)?)).1
            }
        };
        // In one stretch, so that what is damaged in the next one is no matter.
        let stretch = |row: u64| source.cuts.places.partition_point(|place| *place <= row);
        let follow = offsets[at..].windows(2).take_while(|two| {
            two[1] == two[0] + 1 && two[1] < place.rows().end && stretch(two[1]) == stretch(first)
        });
        let longest = fields.max_record_bytes.min(fields.room.most()) as u64;
        columns.hold_within(most);
        // What lies between is read rather than all brought into memory again.
        let follow = match columns.has_long_steps() {
            true => {
                let is_near = |row: &&u64| **row < place.rows().end && stretch(**row) == stretch(first);
                offsets[at..].iter().take_while(is_near).last().map_or(0, |last| last - first)
            }
            false => follow.count() as u64,
        };
        let is_long = |bytes: u64| fields.room.is_long(usize::try_from(bytes).unwrap_or(usize::MAX));
        let holds = is_long(columns.most_held() / PART);
        let fit = columns.go_to(row).and_then(|()| columns.fits(1 + follow));
        if turn.is_none() && (holds || fit.as_ref().is_ok_and(|fit| is_long(fit.bytes))) {
            turn = fields.room.turn()?;
        }
        let cells = match fit.and_then(|fit| columns.read(fit.rows, longest)) {
            Ok(cells) => cells,
            // Behind a damaged row, values may stand before those of the rows before it: they were read anew the first time.
            Err(_) if !is_new => {
                present = None;
                continue;
            }
            Err(error) => return Err(otherwise(error)),
        };
        for (row, text) in cells.texts.iter().enumerate() {
            let offset = first + row as u64;
            if offsets.get(at) != Some(&offset) {
                continue;
            }
            let others = cells.others.each_ref().map(|cells| cells.get(row));
            let record = row_record(fields, Position::new(file_number, offset), 1, text, others);
            let record = record.map_err(|_| changed())?;
            while offsets.get(at) == Some(&offset) {
                each(at, &record)?;
                at += 1;
            }
        }
        if !holds {
            turn = None;
        }
    }
    Ok(())
}
