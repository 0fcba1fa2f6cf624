use std::sync::Arc;

use super::*;
use crate::collection::run::schema::CONTENTS;
use crate::collection::run::writer::RunWriter;
use crate::storage::{Simulated, Storage};

const WIDTH: usize = CONTENTS.shape.width;

/// Runs of rows of contents, of which the newer ones shadow some of the older.
fn runs(storage: &dyn Storage, rows: u64) -> Tables {
    let run = |number: u64| {
        let name = format!("run-{number}");
        let mut writer = RunWriter::create(storage, &name, 1, number).expect("created");
        writer.rows(CONTENTS.kind, CONTENTS.shape).expect("begun");
        for row in (0..rows).filter(|row| row % 3 != number % 3) {
            let words: Vec<u64> =
                (0..WIDTH as u64).map(|at| if at == 0 { row } else { number + at }).collect();
            writer.push(&words).expect("written");
        }
        writer.finish().expect("finished");
        Arc::new(RunReader::open(storage, &name, 1, number).expect("opened"))
    };
    Tables { runs: (0..3).map(run).collect() }
}

/// What is written of a row: as many words as its first one says, some of them more than are handed over.
fn value(row: &[u64]) -> Vec<u64> {
    // Of most rows nothing is written.
    let words = if row[0] % 1000 == 7 { LONG + 3 } else { (row[0] as usize % 40).saturating_sub(30) };
    vec![row[0] ^ row[1]; words]
}

fn reader() -> ReadValue {
    Box::new(|row, _, most, words| {
        let value = value(row);
        let fits = value.len() <= most;
        if fits {
            words.extend_from_slice(&value);
        }
        Ok(fits)
    })
}

#[test]
fn what_a_thread_reads_is_what_is_read_here() {
    for rows in [3, MANY, 3 * MANY] {
        let storage = Simulated::new();
        let tables = runs(&storage, rows);
        let progress = Progress::default();
        let merged =
            MergedRows { tables: &tables, range: Range::ALL, live: None, only: None, progress: &progress };
        let of: (Table, Stays) = (CONTENTS, |_, _| true);
        let (mut here, mut read) = (Vec::new(), Vec::new());
        merged
            .each(of, &mut |row, _| {
                here.push(value(row));
                Ok(())
            })
            .expect("read");
        merged
            .each_read(of, &reader, &mut |row| {
                read.push(match row {
                    MergedRow::Read(words) => words.to_vec(),
                    MergedRow::Found(row, _) => value(row),
                });
                Ok(())
            })
            .expect("read");
        assert_eq!(here.len(), rows as usize);
        assert!(here == read);
        let (mut here, mut beside) = (Vec::new(), Vec::new());
        merged
            .each(of, &mut |row, _| {
                here.extend_from_slice(row);
                Ok(())
            })
            .expect("read");
        merged
            .each_row(of, &mut |row| {
                beside.extend_from_slice(row);
                Ok(())
            })
            .expect("read");
        assert!(here == beside);
        // Whoever cannot write ends the reading, and what it says is what is told.
        let mut left = rows / 2;
        let failed = merged.each_read(of, &reader, &mut |_| {
            left = left.checked_sub(1).ok_or_else(|| Error::Worker("full".into()))?;
            Ok(())
        });
        assert!(matches!(failed, Err(Error::Worker(why)) if why == "full"));
        // And so does whoever cannot read.
        let broken = || -> ReadValue { Box::new(|_, _, _, _| Err(Error::Worker("gone".into()))) };
        let failed = merged.each_read(of, &broken, &mut |_| Ok(()));
        assert_eq!(failed.is_err(), rows > MANY / 2);
        // Whoever is stopped says so.
        progress.stop_flag().store(true, std::sync::atomic::Ordering::Relaxed);
        let stopped = merged.each_read(of, &reader, &mut |_| Ok(()));
        assert!(matches!(stopped, Err(Error::Interrupted)));
    }
}

#[test]
fn of_rows_that_stay_some_alone_are_handed_on() {
    let storage = Simulated::new();
    let (tables, progress) = (runs(&storage, 3 * MANY), Progress::default());
    let all = MergedRows { tables: &tables, range: Range::ALL, live: None, only: None, progress: &progress };
    let of: (Table, Stays) = (CONTENTS, |_, _| true);
    // Runs are counted from the newest on.
    let only = |source: usize, row: &[u64]| source == 1 && row[0].is_multiple_of(5);
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    all.each_of_source(of, &mut |row, source| {
        assert_eq!(row[1], 3 - source as u64, "the run numbered 2 is the newest");
        expected.extend(only(source, row).then_some(row[0]));
        Ok(())
    })
    .expect("read");
    let some = MergedRows { only: Some(&only), ..all };
    some.each_row(of, &mut |row| {
        found.push(row[0]);
        Ok(())
    })
    .expect("read");
    assert!(!found.is_empty() && found == expected);
}
