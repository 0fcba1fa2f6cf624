//! Dictionaries: the values that the rows of a batch name.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use super::super::metadata::flat::damaged;
use super::super::metadata::layout::{ArrowFile, BatchPlace};
use super::super::metadata::message::{Brings, MessageHead};
use super::super::metadata::schema::ArrowField;
use super::batch::{BatchWalk, DictionaryValues, WantedField};
use super::buffers::no_room;
use crate::read::formats::parquet::Cell;

/// The dictionaries of a file as they are before a batch. Those that were read stay, as long as they stay the same.
#[derive(Default)]
pub(in crate::read::formats::arrow) struct HeldDictionaries {
    /// By number.
    held: HashMap<i64, HeldDictionary>,
}

/// A dictionary that was read.
struct HeldDictionary {
    /// The messages that it was made of.
    messages: Vec<u32>,
    values: Arc<Vec<Cell>>,
    /// Bytes that it takes.
    bytes: u64,
}

impl HeldDictionaries {
    /// Bytes that all of them take.
    pub(in crate::read::formats::arrow) fn bytes(&self) -> u64 {
        self.held.values().fold(0, |sum, held| sum.saturating_add(held.bytes))
    }
}

/// Those that a batch may name.
pub(in crate::read::formats::arrow) struct Dictionaries<'a> {
    pub(in crate::read::formats::arrow) file: &'a ArrowFile,
    pub(in crate::read::formats::arrow) batch: BatchPlace,
    pub(in crate::read::formats::arrow) held: &'a mut HeldDictionaries,
    /// Bytes that one may have.
    pub(in crate::read::formats::arrow) most: u64,
}

impl DictionaryValues for Dictionaries<'_> {
    fn values(&mut self, id: i64, field: &ArrowField) -> io::Result<Arc<Vec<Cell>>> {
        let messages = self.messages(id);
        if let Some(held) = self.held.held.get(&id).filter(|held| held.messages == messages) {
            return Ok(Arc::clone(&held.values));
        }
        self.held.held.remove(&id);
        let (mut values, mut bytes) = (Vec::new(), 0);
        for message in &messages {
            self.read(*message, field, &mut values, &mut bytes)?;
        }
        let values = Arc::new(values);
        self.held.held.insert(id, HeldDictionary { messages, values: Arc::clone(&values), bytes });
        Ok(values)
    }
}

impl Dictionaries<'_> {
    /// The messages that a dictionary is made of: the last one that brings all of it, and what was added since. In a file with
    /// a footer all are before all batches.
    fn messages(&self, id: i64) -> Vec<u32> {
        let layout = &self.file.layout;
        let before = match layout.footer {
            Some(_) => layout.dictionaries.len(),
            None => self.batch.dictionaries as usize,
        };
        let mut messages = Vec::new();
        for (number, place) in (0..).zip(&layout.dictionaries[..before]) {
            if place.id == id {
                if !place.delta {
                    messages.clear();
                }
                messages.push(number);
            }
        }
        messages
    }

    /// Appends the values that a message brings.
    fn read(
        &mut self,
        message: u32,
        field: &ArrowField,
        values: &mut Vec<Cell>,
        bytes: &mut u64,
    ) -> io::Result<()> {
        let block = self.file.layout.dictionaries[message as usize].block;
        let head = MessageHead::read(&self.file.file, block.at, block.end())?;
        let head = head.ok_or_else(|| damaged("no dictionary in its place"))?;
        let (Brings::Dictionary { batch: head, .. }, _) = head.brings()? else {
            return Err(damaged("no dictionary in its place"));
        };
        let of = ArrowField { dictionary: None, ..field.clone() };
        let mut walk = BatchWalk::new(&self.file.file, block, &head, self.most);
        let column = walk.column(&of, WantedField::Way(&[]), Some(head.rows), self)?;
        let mut column = column.ok_or_else(|| damaged("a dictionary without values"))?;
        while column.at < column.rows {
            let fit =
                column.fits(usize::try_from(column.rows - column.at).unwrap_or(usize::MAX).min(1024))?;
            *bytes += fit.bytes + (fit.rows * size_of::<Cell>()) as u64;
            if *bytes > self.most {
                return Err(no_room(*bytes));
            }
            column.cells(fit.rows, self.most, values)?;
        }
        Ok(())
    }
}
