//! Reading Arrow: the same rows from units of any size, by every way in, and typed errors for what is damaged. Good files are
//! those of another writer, pyarrow.

use alike::error::{Error, Result};
use alike::output::{Chosen, Hands, Side, write_kept};
use alike::progress::Progress;
use alike::read::{ArrowSource, ArrowTable, FormatHint, RecordRoom, Source, column_names, row_objects};
use tempfile::TempDir;

use crate::reading::{Seen, check, fields, put, with_places};
use crate::{good, take};

thread_local! {
    /// Reused from input to input.
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder");
}

/// Rows of a good file.
const ROWS: usize = 23;
/// Good files: with a footer and streams, with dictionaries, views and runs, compressed.
const GOOD: [&[u8]; 6] = [
    include_bytes!("../good/file.arrow"),
    include_bytes!("../good/stream.arrow"),
    include_bytes!("../good/views.arrow"),
    include_bytes!("../good/runs.arrow"),
    include_bytes!("../good/zstd.arrow"),
    include_bytes!("../good/lz4.arrow"),
];

/// The first bytes say what fields are wanted and how long a record may be, how large units and stretches are, how a file is
/// made and which good one; the rest is a file, its footer and what is before it, or changes of a good file.
pub fn arrow(mut data: &[u8]) {
    let [wanted, max, unit, apart, how, which] = take(&mut data);
    let good = GOOD[usize::from(which) % GOOD.len()];
    let content = match how % 4 {
        0 => [&[0xff; 4], data].concat(),
        1 => with_footer(data),
        2 => good::changed(good.to_vec(), data),
        _ => {
            let mut file = good.to_vec();
            good::overwritten(&mut file, data);
            file
        }
    };
    let is_good = how & 2 != 0 && data.is_empty();
    let fields = fields(wanted, max);
    FOLDER.with(|folder| {
        let Some(source) = put(folder.path(), "a.arrow", &content, FormatHint::default()) else {
            assert!(!is_good, "a good file");
            return;
        };
        let whole = check(&source, u64::MAX, &fields);
        for target in [1, u64::from(unit) << 4] {
            assert_eq!(check(&source, target, &fields), whole, "units of {target}");
        }
        let file = settled(&source, ArrowSource::open(&source));
        // Where batches begin, units may begin in any case.
        let batches: Vec<_> =
            file.iter().flat_map(ArrowSource::batches).filter(|rows| !rows.is_empty()).collect();
        let apart = usize::from(apart) + 1;
        let last = batches.last().map_or(0, |rows| rows.end).min(64);
        let mut places: Vec<u64> =
            (0..last).step_by(apart).chain(batches.iter().map(|rows| rows.start)).collect();
        places.sort_unstable();
        places.dedup();
        let cut = with_places(&source, &places);
        let stretches = check(&cut, u64::MAX, &fields);
        assert_eq!(check(&cut, 1, &fields), stretches, "units of {apart} rows");
        if is_good {
            assert_eq!(stretches, whole, "stretches of {apart} rows");
            assert_eq!(whole.as_ref().map(Vec::len), Some(ROWS), "all rows");
        }
        objects(&source, whole.as_deref().filter(|_| is_good));
        tabled(&source, apart as u64, is_good);
        rewritten(&source, apart as u64, is_good);
    });
}

/// What succeeded; what did not has to name the file.
fn settled<T>(source: &Source, result: Result<T>) -> Option<T> {
    let typed = |error: Error| {
        let is_typed = matches!(error, Error::Input { .. } | Error::Undecodable { .. } | Error::Changed(_));
        assert!(is_typed && error.to_string().contains(&source.shown), "{error}");
    };
    result.map_err(typed).ok()
}

/// All rows as JSON, as far as they can be read.
fn objects(source: &Source, good: Option<&[Seen]>) {
    settled(source, column_names(source));
    let mut count = 0;
    let outcome = row_objects(source, &RecordRoom::default(), &mut |row, object| {
        assert_eq!(row, count);
        let object: serde_json::Value = serde_json::from_slice(object).expect("JSON");
        assert!(object.is_object());
        count += 1;
        Ok(())
    });
    assert!(settled(source, outcome).is_none() || good.is_none_or(|seen| seen.len() as u64 == count));
    assert!(good.is_none() || count == ROWS as u64);
}

/// All rows but every so manieth as those of a table, as far as they can be read: each leaf has a level for each row at least, and a
/// value for each level that says so.
fn tabled(source: &Source, apart: u64, is_good: bool) {
    let Some(mut table) = settled(source, ArrowTable::open(source, &RecordRoom::default())) else {
        assert!(!is_good, "a good file");
        return;
    };
    let mut taken = 0;
    for batch in table.batches() {
        let mut row = batch.start;
        while row < batch.end.min(batch.start + 1000) {
            if row % apart == apart - 1 {
                row += 1;
                continue;
            }
            let Some(count) = settled(source, table.take(&(row..batch.end.min(row + apart)))) else {
                assert!(!is_good, "a good file");
                return;
            };
            (row, taken) = (row + count, taken + count as usize);
        }
    }
    for leaf in table.leaves() {
        let (levels, defined) = (&leaf.definition.0, leaf.definition.1);
        let begins = leaf.repetition.as_ref().map_or(levels.len(), |repetition| {
            assert_eq!(repetition.len(), levels.len());
            repetition.iter().filter(|level| **level == 0).count()
        });
        let there = levels.iter().filter(|level| **level == defined).count();
        assert_eq!((begins, leaf.values.len()), (taken, there));
        assert!(levels.iter().all(|level| (0..=defined).contains(level)));
    }
}

/// A file without every so manieth row has the others.
fn rewritten(source: &Source, apart: u64, is_good: bool) {
    let Some(file) = settled(source, ArrowSource::open(source)) else { return };
    let rows = file.batches().last().map_or(0, |rows| rows.end);
    let gone = vec![(0..rows.min(1000)).step_by(apart as usize).collect::<Vec<u64>>()];
    let folder = tempfile::tempdir().expect("a folder");
    let hands = Hands { workers: 1, peers: None };
    let chosen = Chosen { side: Side::Kept, removed: &gone, ends: &[None] };
    let sources = std::slice::from_ref(source);
    let written =
        write_kept(folder.path(), sources, chosen, (hands, &RecordRoom::default()), &Progress::default());
    if settled(source, written).is_none() {
        assert!(!is_good, "a good file");
        return;
    }
    let path = folder.path().join("kept").join(&source.name);
    let made = std::fs::read(path).expect("written");
    let made = put(folder.path(), "b.arrow", &made, FormatHint::default()).expect("a file that can be read");
    let left: u64 =
        ArrowSource::open(&made).expect("the same").batches().map(|rows| rows.end - rows.start).sum();
    assert_eq!(left, rows - gone[0].len() as u64);
}

/// A file of some messages and a footer: its length is in the first byte.
fn with_footer(mut data: &[u8]) -> Vec<u8> {
    let [length] = take(&mut data);
    let (footer, messages) = data.split_at(usize::from(length).min(data.len()));
    let length = u32::try_from(footer.len()).expect("a short footer").to_le_bytes();
    [b"ARROW1\0\0", messages, footer, &length, b"ARROW1"].concat()
}
