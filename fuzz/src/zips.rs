//! Reading zip archives: the same members from units of any size, by every way in, and what is kept of them.

use alike::error::{Error, Result};
use alike::output::{Chosen, Hands, Side, write_kept};
use alike::progress::Progress;
use alike::read::{FormatHint, RecordRoom, Source};
use tempfile::TempDir;

use crate::reading::{Seen, check, fields, put, with_places};
use crate::{good, take, zipped};

thread_local! {
    /// Reused from input to input.
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder");
}

/// Members of a good archive.
fn good_archive() -> Vec<u8> {
    zipped::zip(&[
        ("a/text.txt", b"a b c"),
        ("a/page.html", good::HTML.as_bytes()),
        ("a/", b""),
        ("mail", good::MAIL.as_bytes()),
        ("rows.csv", good::CSV.as_bytes()),
        ("image", b"\x89PNG\0"),
        ("d.docx", &zipped::docx(good::WORD.as_bytes())),
        ("last.md", b"d e f"),
    ])
}

/// An archive whose members are pieces of `data`.
fn joined(mut data: &[u8]) -> Vec<u8> {
    let mut members: Vec<(&str, &[u8])> = Vec::new();
    while !data.is_empty() {
        let [name, length] = take(&mut data);
        let (content, rest) = data.split_at(usize::from(length).min(data.len()));
        data = rest;
        let names = ["a.txt", "a.html", "a", "a.eml", ".a.txt", "a.csv", "b/", ""];
        members.push((names[usize::from(name & 7)], content));
    }
    zipped::zip(&members)
}

/// The first bytes say what fields are wanted and how long a record may be, how large units are, which members go, and how a file
/// is made; the rest is a file, its members, or changes of a good file.
pub fn zip(mut data: &[u8]) {
    let [wanted, max, unit, apart, how] = take(&mut data);
    let content = match how % 4 {
        0 => [b"PK\x03\x04", data].concat(),
        1 => joined(data),
        2 => good::changed(good_archive(), data),
        _ => {
            let mut file = good_archive();
            good::overwritten(&mut file, data);
            file
        }
    };
    let is_good = how & 2 != 0 && data.is_empty();
    let fields = fields(wanted, max);
    FOLDER.with(|folder| {
        let hint = FormatHint { format: Some("zip".parse().expect("a format")), ..FormatHint::default() };
        let Some(source) = put(folder.path(), "a.zip", &content, hint) else {
            assert!(!is_good, "a good file");
            return;
        };
        let whole = check(&source, u64::MAX, &fields);
        let places: Vec<u64> = (0..64).step_by(usize::from(apart) + 1).collect();
        let cut = with_places(&source, &places);
        for target in [1, u64::from(unit) << 4] {
            assert_eq!(check(&source, target, &fields), whole, "units of {target}");
            assert_eq!(check(&cut, target, &fields), whole, "units of {target} at {places:?}");
        }
        rewritten(&source, whole.as_deref().unwrap_or_default(), u64::from(apart) + 1, (wanted, max));
    });
}

/// What succeeded; what did not has to name the file.
fn settled<T>(source: &Source, result: Result<T>) -> Option<T> {
    let typed = |error: Error| {
        let is_typed = matches!(error, Error::Input { .. } | Error::Changed(_));
        assert!(is_typed && error.to_string().contains(&source.shown), "{error}");
    };
    result.map_err(typed).ok()
}

/// An archive without every so manieth member has the documents that the others are, and no others.
fn rewritten(source: &Source, seen: &[Seen], apart: u64, (wanted, max): (u8, u8)) {
    let gone: Vec<u64> = (0..1000).step_by(apart as usize).collect();
    let texts = |seen: &[Seen], gone: &[u64]| -> Vec<String> {
        let stays = seen.iter().filter(|seen| !gone.contains(&seen.place().1));
        let text = |seen: &Seen| match seen {
            Seen::Document { text, .. } => Some(text.clone()),
            Seen::Refused { .. } => None,
        };
        stays.filter_map(text).collect()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let hands = Hands { workers: 1, peers: None };
    let removed = vec![gone];
    let chosen = Chosen { side: Side::Kept, removed: &removed, ends: &[None] };
    let sources = std::slice::from_ref(source);
    let written =
        write_kept(folder.path(), sources, chosen, (hands, &RecordRoom::default()), &Progress::default());
    if settled(source, written).is_none() {
        // From what cannot be opened nothing is ever removed.
        assert!(seen.iter().all(|seen| matches!(seen, Seen::Refused { .. })), "it was read before");
        return;
    }
    let made = std::fs::read(folder.path().join("kept").join(&source.name)).expect("written");
    let hint = FormatHint { format: Some("zip".parse().expect("a format")), ..FormatHint::default() };
    let made = put(folder.path(), "b.zip", &made, hint).expect("an archive");
    let fields = fields(wanted, max);
    // A run that has no room ends, whatever is left.
    if let Some(left) = check(&made, u64::MAX, &fields).filter(|_| !seen.is_empty()) {
        assert_eq!(texts(&left, &[]), texts(seen, &removed[0]));
    }
}
