//! Dictionaries: the values that the rows of a batch name.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::super::metadata::flat::damaged;
use super::super::metadata::layout::{ArrowFile, BatchPlace, DictionaryPlace};
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
#[derive(Default)]
struct HeldDictionary {
    /// How many of the messages with dictionaries were looked at for it.
    before: usize,
    values: Arc<Vec<Cell>>,
    /// Bytes that it takes.
    bytes: u64,
}

/// What changes a dictionary.
#[derive(Debug, Default, PartialEq, Eq)]
struct DictionaryChange {
    /// Whether nothing stays of what was there.
    is_new: bool,
    /// The messages whose values are appended.
    messages: Vec<u32>,
}

impl DictionaryChange {
    /// What some of the messages change of a dictionary. One that brings all of it makes those before it needless.
    fn of(id: i64, dictionaries: &[DictionaryPlace], range: Range<usize>) -> DictionaryChange {
        let mut change = DictionaryChange::default();
        let first = u32::try_from(range.start).unwrap_or(u32::MAX);
        // What is before is not passed over one by one.
        let some = dictionaries.get(range).unwrap_or_default();
        for (number, place) in (first..=u32::MAX).zip(some) {
            if place.id == id {
                if !place.delta {
                    change = DictionaryChange { is_new: true, messages: Vec::new() };
                }
                change.messages.push(number);
            }
        }
        change
    }
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
    /// Bytes that all may have.
    pub(in crate::read::formats::arrow) of_all: u64,
}

impl DictionaryValues for Dictionaries<'_> {
    fn values(&mut self, id: i64, field: &ArrowField) -> io::Result<Arc<Vec<Cell>>> {
        let before = self.count_before();
        // Of an earlier batch nothing is known any more.
        let held = self.held.held.remove(&id).filter(|held| held.before <= before);
        let mut held = held.unwrap_or_default();
        let change = DictionaryChange::of(id, &self.file.layout.dictionaries, held.before..before);
        if change.is_new {
            held = HeldDictionary::default();
        }
        held.before = before;
        if !change.messages.is_empty() {
            // It is copied only if columns of a batch before still name it.
            let values = Arc::make_mut(&mut held.values);
            for message in change.messages {
                self.read(message, field, values, &mut held.bytes)?;
            }
        }
        let values = Arc::clone(&held.values);
        self.held.held.insert(id, held);
        Ok(values)
    }
}

impl Dictionaries<'_> {
    /// How many of the messages with dictionaries are before the batch. In a file with a footer all are before all batches.
    fn count_before(&self) -> usize {
        let layout = &self.file.layout;
        match layout.footer {
            Some(_) => layout.dictionaries.len(),
            None => self.batch.dictionaries as usize,
        }
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
            let all = bytes.saturating_add(self.held.bytes());
            if *bytes > self.most || all > self.of_all {
                return Err(no_room(all));
            }
            column.cells(fit.rows, self.most, values)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::metadata::message::MessagePlace;
    use super::*;

    #[test]
    fn dictionaries_that_grow_are_what_they_are_when_they_are_read_afresh() {
        let block = MessagePlace { at: 0, metadata: 0, body: 0 };
        let kinds =
            [(1, false), (2, false), (1, true), (1, true), (2, true), (1, false), (1, true), (1, true)];
        let places: Vec<_> = kinds.map(|(id, delta)| DictionaryPlace { id, delta, block }).into();
        for id in [1, 2, 3] {
            let mut grown = Vec::new();
            for before in 0..places.len() {
                let change = DictionaryChange::of(id, &places, before..before + 1);
                assert!(change.messages.len() <= 1, "only what is new is read");
                if change.is_new {
                    grown.clear();
                }
                grown.extend(change.messages);
                let afresh = DictionaryChange::of(id, &places, 0..before + 1);
                assert_eq!(grown, afresh.messages, "dictionary {id} before message {before}");
            }
        }
        let change = DictionaryChange::of(1, &places, 1..4);
        assert_eq!(change, DictionaryChange { is_new: false, messages: vec![2, 3] });
        let change = DictionaryChange::of(1, &places, 2..8);
        assert_eq!(change, DictionaryChange { is_new: true, messages: vec![5, 6, 7] });
    }
}
