//! Rows on their way to another process.

use std::borrow::Cow;
use std::ops::Range;

use super::{Segment, Worth};
use crate::document::Position;
use crate::error::Result;
use crate::read::Value;

/// Rows of a worker on their way to another process. What was not asked for is empty.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Rows {
    positions: Vec<u64>,
    lines: Vec<u32>,
    sizes: Vec<u32>,
    labels: Vec<Option<String>>,
    lengths: Vec<u32>,
    values: Vec<Option<Value>>,
}

impl Segment {
    /// Some of the rows, for another process: all that is known of them but their signatures, or their sizes alone.
    pub fn rows(&self, range: Range<usize>, whole: bool) -> Result<Rows> {
        let mut rows = Rows { sizes: self.sizes[range.clone()].to_vec(), ..Rows::default() };
        if !whole {
            return Ok(rows);
        }
        rows.positions = self.positions[range.clone()].iter().map(|position| position.to_bits()).collect();
        rows.lines = self.lines[range.clone()].to_vec();
        rows.lengths = self.lengths.as_ref().map_or_else(Vec::new, |lengths| lengths[range.clone()].to_vec());
        if let Worth::Field(values) = &self.worth {
            rows.values = values[range.clone()].to_vec();
        }
        for row in range {
            let label = self.label(row)?;
            rows.labels.push(label.map(Cow::into_owned));
        }
        Ok(rows)
    }

    /// Adds rows that another process has sent.
    pub fn take_in(&mut self, rows: Rows) -> Result<()> {
        if rows.positions.is_empty() {
            self.sizes.extend_from_slice(&rows.sizes);
            return Ok(());
        }
        if let Some(lengths) = &mut self.lengths {
            lengths.extend_from_slice(&rows.lengths);
        }
        if let Worth::Field(values) = &mut self.worth {
            values.extend(rows.values);
        }
        let places = rows.positions.iter().zip(&rows.lines).zip(&rows.labels);
        for (((position, line), label), size) in places.zip(rows.sizes) {
            self.push_place(Position::from_bits(*position), *line, label.as_deref())?;
            self.set_last_size(size);
        }
        Ok(())
    }
}
