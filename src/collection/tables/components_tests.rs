use std::sync::Arc;

use super::*;
use crate::collection::run::reader::RunReader;
use crate::collection::run::writer::RunWriter;
use crate::storage::{Simulated, Storage};

/// How many links a content has in all runs: most few, one more than are held at once, some as many as fill up what is.
fn links_of(content: u64) -> u64 {
    match content % 50 {
        7 => 2 * AT_ONCE as u64 + 5,
        8..12 => AT_ONCE as u64 / 3,
        few => few % 4,
    }
}

/// Two runs: the second has some links of the first again.
fn runs(storage: &dyn Storage, contents: u64) -> Tables {
    let run = |number: u64| {
        let name = format!("run-{number}");
        let mut writer = RunWriter::create(storage, &name, 1, number).expect("created");
        writer.rows(LINKS.kind, LINKS.shape).expect("begun");
        for content in 0..contents {
            for other in (0..links_of(content)).filter(|other| !(other + number).is_multiple_of(3)) {
                writer.push(&[content, 1000 + other, 1]).expect("written");
            }
        }
        writer.finish().expect("finished");
        Arc::new(RunReader::open(storage, &name, 1, number).expect("opened"))
    };
    Tables { runs: (0..2).map(run).collect() }
}

#[test]
fn links_are_handed_on_once_each_however_many_there_are() {
    let storage = Simulated::new();
    let tables = runs(&storage, 60);
    for asked in [vec![], vec![7], (0..60).collect::<Vec<Doc>>(), (0..80).filter(|at| at % 2 == 1).collect()]
    {
        let mut found = Vec::new();
        each_link(&tables, &asked, &mut |content, other| found.push((content, other))).expect("read");
        found.sort_unstable();
        assert_eq!(found, neighbours(&tables, &asked).expect("read"));
        let all: u64 = asked.iter().filter(|content| **content < 60).map(|at| links_of(u64::from(*at))).sum();
        assert_eq!(found.len() as u64, all);
    }
}

#[test]
fn more_rows_than_are_wanted_are_not_handed_on() {
    let storage = Simulated::new();
    let tables = runs(&storage, 3);
    for (most, expected) in [(0, false), (3, false), (4, true), (100, true)] {
        let mut found = 0;
        let read = tables.beginning_within(LINKS, (1, most), &[0, 1, 2], &mut |_, _| {
            found += 1;
            Ok(())
        });
        assert_eq!((read.expect("read"), found), (expected, if expected { 3 } else { 0 }), "{most}");
    }
}
