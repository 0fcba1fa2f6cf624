//! Values of columns as JSON has them.

use std::io::{self, Write};
use std::ops::Range;

use super::super::columns::batch::has_plain_values;
use super::super::columns::column::{ArrowColumn, ColumnValues, find_run, keyed, truths};
use super::super::columns::fixed::{digits, integer, key, long_digits, real};
use super::super::metadata::flat::damaged;
use super::super::metadata::schema::{ArrowField, ArrowKind, FixedMeaning};
use super::room::{ObjectRoom, ROWS};
use crate::limits::sized;
use crate::read::bytes::CountedWrite;
use crate::read::date::{written_day, written_moment, written_time};
use crate::read::formats::parquet::Cell;

/// Bytes of a text of which it is counted beforehand how many they are as JSON.
const LONG: usize = sized(64 << 10, 16);
const HEX: &[u8; 16] = b"0123456789abcdef";

/// Refuses fields that have no form in JSON.
pub(super) fn has_form(field: &ArrowField) -> io::Result<()> {
    let what = match field.kind {
        _ if field.dictionary.is_some() && !is_plain(field) => {
            "a dictionary of other values than texts and numbers"
        }
        ArrowKind::Union { .. } => "a union",
        ArrowKind::ListView { .. } => "a list of views",
        ArrowKind::Fixed(_, FixedMeaning::Interval) => "an interval",
        ArrowKind::Runs if !has_plain_values(&field.children[1]) => "runs of lists or structs",
        _ => return field.children.iter().try_for_each(has_form),
    };
    Err(damaged(format!("the column {:.40} is {what}", field.name)))
}

/// Whether a cell has all that a value of a field has.
fn is_plain(field: &ArrowField) -> bool {
    use FixedMeaning::{Real, Signed, Unsigned};
    match field.kind {
        ArrowKind::Fixed(_, meaning) => matches!(meaning, Signed | Unsigned | Real),
        ArrowKind::Strings { .. } | ArrowKind::Views => true,
        _ => false,
    }
}

impl ArrowColumn {
    /// Appends the values of the next rows to what is written of each.
    pub(super) fn json(&mut self, out: &mut [Vec<u8>], within: ObjectRoom<'_>) -> io::Result<()> {
        if out.len() as u64 > self.rows - self.at {
            return Err(damaged("a column with fewer rows than it should have"));
        }
        let (at, present) = (self.at, self.present(out.len())?);
        let is_there = |row: usize| present.as_ref().is_none_or(|present| present[row]);
        let before: Vec<usize> = out.iter().map(Vec::len).collect();
        match &mut self.values {
            ColumnValues::Truths(bits) => {
                for (truth, out) in truths(bits, at, out.len())?.into_iter().zip(out.iter_mut()) {
                    write_json(&truth, out);
                }
            }
            ColumnValues::Fixed { bytes, width, meaning } => {
                let bytes = bytes.range(at * *width as u64, out.len() * *width)?;
                for (row, out) in out.iter_mut().enumerate() {
                    write_fixed(&bytes[row * *width..(row + 1) * *width], *meaning, out);
                }
            }
            ColumnValues::Struct(fields) => structs(fields, at, out, within)?,
            ColumnValues::List { offsets, of, is_map } => {
                let offsets = offsets.of(at, out.len())?;
                for ((row, ends), out) in offsets.windows(2).enumerate().zip(out.iter_mut()) {
                    if is_there(row) {
                        of.list(ends[0]..ends[1], *is_map, out, within)?;
                    }
                }
            }
            ColumnValues::Tuple { size, of } => {
                for (row, out) in (at..).zip(out.iter_mut()) {
                    let start = row.saturating_mul(*size);
                    of.list(start..start.saturating_add(*size), false, out, within)?;
                }
            }
            ColumnValues::Runs { ends, width, of, run } => {
                let mut last: Option<(u64, Vec<u8>)> = None;
                for (row, out) in (at..).zip(out.iter_mut()) {
                    let number = find_run(row, (&mut *ends, *width), run)?;
                    let value = match last.take_if(|(same, _)| *same == number) {
                        Some((_, value)) => value,
                        None => of.of_run(number, within)?,
                    };
                    out.extend_from_slice(&value);
                    last = Some((number, value));
                }
                of.back_to(last.map(|(number, _)| number));
            }
            ColumnValues::Keyed { keys, width, signed, values } => {
                let bytes = keys.range(at * *width as u64, out.len() * *width)?;
                let mut sum = 0;
                for ((row, name), out) in bytes.chunks_exact(*width).enumerate().zip(out.iter_mut()) {
                    if is_there(row) {
                        write_cell(&keyed(values, key(name, *signed))?, out, within)?;
                    }
                    sum += out.len();
                    within.allows(sum)?;
                }
            }
            _ => {
                let mut cells = Vec::new();
                self.cells(out.len(), within.most as u64, &mut cells)?;
                self.at = at;
                for (cell, out) in cells.iter().zip(out.iter_mut()) {
                    if let Cell::Long(bytes) = cell {
                        within.allows(usize::try_from(*bytes).unwrap_or(usize::MAX))?;
                    }
                    write_cell(cell, out, within)?;
                }
            }
        }
        for (row, (out, before)) in out.iter_mut().zip(before).enumerate() {
            if !is_there(row) {
                out.truncate(before);
            }
            if out.len() == before {
                out.extend_from_slice(b"null");
            }
        }
        within.allows(out.iter().map(Vec::len).sum())?;
        self.at = at + out.len() as u64;
        Ok(())
    }

    /// The value of a run.
    fn of_run(&mut self, number: u64, within: ObjectRoom<'_>) -> io::Result<Vec<u8>> {
        self.go_to(number)?;
        let mut value = vec![Vec::new()];
        self.json(&mut value, within)?;
        Ok(value.pop().unwrap_or_default())
    }

    /// Stands before a value again that was read last: the next rows may be of the same run.
    fn back_to(&mut self, number: Option<u64>) {
        self.at = number.unwrap_or(self.at);
    }

    /// Appends some values as a list, or as an object of pairs.
    fn list(
        &mut self,
        values: Range<u64>,
        is_map: bool,
        out: &mut Vec<u8>,
        within: ObjectRoom<'_>,
    ) -> io::Result<()> {
        if values.end > self.rows {
            return Err(damaged("a list that ends behind its values"));
        }
        self.go_to(values.start)?;
        let (open, close) = if is_map { (b'{', b'}') } else { (b'[', b']') };
        out.push(open);
        while self.at < values.end {
            let fit = self.fits(((values.end - self.at) as usize).min(ROWS))?;
            let mut texts = vec![Vec::new(); fit.rows];
            let first = self.at;
            if is_map {
                self.pairs(&mut texts, within)?;
            } else {
                self.json(&mut texts, within)?;
            }
            for (at, text) in (first..).zip(texts) {
                if at > values.start {
                    out.push(b',');
                }
                out.extend_from_slice(&text);
            }
            within.allows(out.len())?;
        }
        out.push(close);
        Ok(())
    }

    /// Appends keys and values of a map, as members of objects.
    fn pairs(&mut self, out: &mut [Vec<u8>], within: ObjectRoom<'_>) -> io::Result<()> {
        let at = self.at;
        let ColumnValues::Struct(fields) = &mut self.values else {
            return Err(damaged("a map without pairs"));
        };
        let [(_, keys), (_, values)] = &mut fields[..] else { return Err(damaged("a map without pairs")) };
        let mut names = vec![Vec::new(); out.len()];
        keys.go_to(at)?;
        keys.json(&mut names, within)?;
        for (name, out) in names.iter().zip(out.iter_mut()) {
            if name.first() == Some(&b'"') {
                out.extend_from_slice(name);
            } else {
                write_json(&String::from_utf8_lossy(name), out);
            }
            out.push(b':');
        }
        values.go_to(at)?;
        values.json(out, within)?;
        self.at = at + out.len() as u64;
        Ok(())
    }
}

/// Appends objects with a member for each field.
fn structs(
    fields: &mut [(String, ArrowColumn)],
    at: u64,
    out: &mut [Vec<u8>],
    within: ObjectRoom<'_>,
) -> io::Result<()> {
    out.iter_mut().for_each(|out| out.push(b'{'));
    for (number, (name, field)) in fields.iter_mut().enumerate() {
        for out in out.iter_mut() {
            if number > 0 {
                out.push(b',');
            }
            write_json(name, out);
            out.push(b':');
        }
        field.go_to(at)?;
        field.json(out, within)?;
    }
    out.iter_mut().for_each(|out| out.push(b'}'));
    Ok(())
}

/// Appends a value of a fixed size.
fn write_fixed(bytes: &[u8], meaning: FixedMeaning, out: &mut Vec<u8>) {
    match meaning {
        FixedMeaning::Signed => write_json(&integer(bytes, true), out),
        FixedMeaning::Unsigned => write_json(&integer(bytes, false), out),
        FixedMeaning::Duration => write_json(&integer(bytes, true), out),
        // As many digits as it has, and no more.
        FixedMeaning::Real if bytes.len() <= 4 => write_json(&(real(bytes) as f32), out),
        FixedMeaning::Real => write_json(&real(bytes), out),
        FixedMeaning::Days => match i32::try_from(integer(bytes, true)) {
            Ok(day) => write_json(&written_day(day), out),
            Err(_) => write_json(&integer(bytes, true), out),
        },
        FixedMeaning::Moments { second, utc } => {
            write_moment(integer(bytes, true), (second.into(), utc), out);
        }
        FixedMeaning::Times(second) => write_time(integer(bytes, true), second.into(), out),
        FixedMeaning::Decimal(scale) => match digits(bytes) {
            Some(digits) => {
                let number = decimal(digits < 0, &digits.unsigned_abs().to_string(), scale);
                out.extend_from_slice(number.as_bytes());
            }
            None => {
                let (is_negative, digits) = long_digits(bytes);
                out.extend_from_slice(decimal(is_negative, &digits, scale).as_bytes());
            }
        },
        FixedMeaning::Bytes | FixedMeaning::Interval | FixedMeaning::Encoded => write_bytes(bytes, out),
    }
}

/// Appends the value of a cell.
fn write_cell(cell: &Cell, out: &mut Vec<u8>, within: ObjectRoom<'_>) -> io::Result<()> {
    match cell {
        Cell::Text(text) => {
            if text.len() > LONG {
                within.allows(out.len() + written_length(text.data()))?;
            }
            write_bytes(text.data(), out);
        }
        Cell::Integer(number) => write_json(number, out),
        Cell::Real(number) => write_json(number, out),
        _ => out.extend_from_slice(b"null"),
    }
    Ok(())
}

/// How many bytes a text is as JSON.
fn written_length(bytes: &[u8]) -> usize {
    let Ok(text) = str::from_utf8(bytes) else { return 2 * bytes.len() + 2 };
    let mut counted = CountedWrite::new(io::sink());
    let _ = serde_json::to_writer(&mut counted, text);
    usize::try_from(counted.bytes()).unwrap_or(usize::MAX)
}

/// A moment, or what stands for it where it is beyond all years.
fn write_moment(at: i128, (second, utc): (i128, bool), out: &mut Vec<u8>) {
    match written_moment(at.saturating_mul(1_000_000_000 / second), utc) {
        Some(time) => write_json(&time, out),
        None => write_json(&at, out),
    }
}

/// A time of a day, or what stands for it where it is beyond the day.
fn write_time(at: i128, second: i128, out: &mut Vec<u8>) {
    match written_time(at.saturating_mul(1_000_000_000 / second)) {
        Some(time) => write_json(&time, out),
        None => write_json(&at, out),
    }
}

/// A number with its point in the right place.
fn decimal(is_negative: bool, digits: &str, scale: i32) -> String {
    let sign = if is_negative { "-" } else { "" };
    match usize::try_from(scale) {
        Ok(0) => format!("{sign}{digits}"),
        Ok(scale) if scale <= 1_000 => {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, part) = digits.split_at(digits.len() - scale);
            format!("{sign}{whole}.{part}")
        }
        Ok(scale) => format!("{sign}{digits}e-{scale}"),
        Err(_) => format!("{sign}{digits}e{}", scale.unsigned_abs()),
    }
}

/// Bytes as text, if they are UTF-8, and else as hexadecimal digits.
fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => write_json(text, out),
        Err(_) => {
            out.push(b'"');
            out.extend(
                bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| HEX[usize::from(digit)]),
            );
            out.push(b'"');
        }
    }
}

/// Writing to memory never fails.
fn write_json<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out.by_ref(), value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(bytes: &[u8], meaning: FixedMeaning) -> String {
        let mut out = Vec::new();
        write_fixed(bytes, meaning, &mut out);
        String::from_utf8(out).expect("JSON")
    }

    #[test]
    fn values_have_the_form_that_json_has_for_them() {
        assert_eq!(written(&[0xff; 8], FixedMeaning::Unsigned), u64::MAX.to_string());
        assert_eq!(written(&(-1205i64).to_le_bytes(), FixedMeaning::Decimal(3)), "-1.205");
        assert_eq!(written(&7i32.to_le_bytes(), FixedMeaning::Decimal(2)), "0.07");
        assert_eq!(written(&7i32.to_le_bytes(), FixedMeaning::Decimal(-2)), "7e2");
        assert_eq!(written(&0.1f32.to_le_bytes(), FixedMeaning::Real), "0.1");
        assert_eq!(written(&f64::NAN.to_le_bytes(), FixedMeaning::Real), "null");
        assert_eq!(written(&19_723i32.to_le_bytes(), FixedMeaning::Days), "\"2024-01-01\"");
        let moment = 1_704_067_200_000_000_001i64.to_le_bytes();
        for (utc, mark) in [(true, "Z"), (false, "")] {
            let written = written(&moment, FixedMeaning::Moments { second: 1_000_000_000, utc });
            assert_eq!(written, format!("\"2024-01-01T00:00:00.000000001{mark}\""));
        }
        assert_eq!(written(&61i32.to_le_bytes(), FixedMeaning::Times(1)), "\"00:01:01\"");
        assert_eq!(written(&90_000i32.to_le_bytes(), FixedMeaning::Times(1)), "90000");
        assert_eq!(written(&[0xff, 0], FixedMeaning::Bytes), "\"ff00\"");
        // As many digits as half a number has, as of Parquet.
        assert_eq!(written(&[0x66, 0x2e], FixedMeaning::Real), "0.099975586");
        assert_eq!(written(b"ab", FixedMeaning::Bytes), "\"ab\"");
    }
}
