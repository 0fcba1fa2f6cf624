//! The checks on bytes that need no fuzzer: seeds that lead everywhere, and random mixtures of their parts.

use crate::{
    arc, arrow, checkpoint, config, csv, docx, eml, epub, features, found, frames, histories, hosts, html,
    labels, lexicon, manifest, mbox, mediawiki, odt, packed, parquet, pdf, reader, rtf, run, tables, take,
    tar, tokens, trec, tsv, warc, zip,
};

/// Steele's SplitMix generator: the same bytes on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most + 1)).map(|_| self.next() as u8).collect()
    }

    /// Parts of a dictionary, now and then with a byte changed.
    fn parts(&mut self, parts: &[Vec<u8>], most: usize) -> Vec<u8> {
        let mut all: Vec<u8> = Vec::new();
        for _ in 0..self.below(most + 1) {
            all.extend(&parts[self.below(parts.len())]);
        }
        if self.below(8) == 0 && !all.is_empty() {
            let at = self.below(all.len());
            all[at] ^= 1 << self.below(8);
        }
        all
    }
}

/// The entries of a dictionary in libFuzzer's form: `name="..."` with `\xAB`, `\\` and `\"`.
fn entries(dictionary: &str) -> Vec<Vec<u8>> {
    let lines = dictionary.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let start = line.find('"').expect("an entry is quoted") + 1;
            let mut rest = line[start..].strip_suffix('"').expect("an entry is quoted").bytes();
            let mut entry = Vec::new();
            while let Some(byte) = rest.next() {
                entry.push(match byte {
                    b'\\' => match rest.next() {
                        Some(b'x') => {
                            let digits = [rest.next(), rest.next()]
                                .map(|digit| char::from(digit.expect("two digits")));
                            let digit = |c: char| c.to_digit(16).expect("a digit") as u8;
                            digit(digits[0]) << 4 | digit(digits[1])
                        }
                        Some(quoted @ (b'\\' | b'"')) => quoted,
                        other => panic!("{line}: {other:?} after a backslash"),
                    },
                    byte => byte,
                });
            }
            entry
        })
        .collect()
}

#[test]
fn tokens_hold() {
    let parts = entries(include_str!("../dictionaries/tokens.dict"));
    let mut random = Random(1);
    tokens(b"");
    for _ in 0..3000 {
        tokens(&random.bytes(200));
        tokens(&random.parts(&parts, 60));
    }
}

#[test]
fn features_hold() {
    let mut random = Random(2);
    features(b"");
    for _ in 0..500 {
        features(&random.bytes(400));
    }
}

#[test]
fn the_reader_holds() {
    let parts = entries(include_str!("../dictionaries/reader.dict"));
    let mut random = Random(3);
    reader(b"");
    // A document of RTF among changes: its id is the name of its file, which is another one when it is compressed.
    reader(b"p>\x9c\xff\xff{\\rtfawedii*}");
    for _ in 0..300 {
        reader(&random.bytes(200));
        let head = [0, 0, 0, 0, 0].map(|_: u8| if random.below(2) == 0 { 0 } else { random.next() as u8 });
        reader(&[&head[..], &random.parts(&parts, 40)].concat());
        // Heads of compressed files, and something after.
        let magic: [&[u8]; 3] = [b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"];
        reader(&[&head[..], magic[random.below(3)], &random.bytes(60)].concat());
    }
}

/// Tries a check of files of one kind: bytes, parts of a dictionary, and good files with few changes or none.
fn files(check: fn(&[u8]), seed: u64, dictionary: &str, times: usize) {
    let (mut random, parts) = (Random(seed), entries(dictionary));
    check(b"");
    for _ in 0..times {
        let head = [0; 6].map(|_: u8| if random.below(2) == 0 { 0 } else { random.next() as u8 });
        check(&[&head[..], &random.bytes(200)].concat());
        check(&[&head[..], &random.parts(&parts, 40)].concat());
        // A change of a few bytes of a good file, or of a few entries of the dictionary.
        let good = [head[0], head[1], head[2], head[3], head[4] | 2, head[5]];
        let change = [random.next() as u8, random.next() as u8, random.next() as u8];
        check(&[&good[..], &change, &random.bytes(6)].concat());
        check(&[&good[..], &change, &random.parts(&parts, 2)].concat());
        check(&good);
    }
}

#[test]
fn tables_of_text_hold() {
    files(csv, 14, include_str!("../dictionaries/tables.dict"), 150);
    files(tsv, 15, include_str!("../dictionaries/tables.dict"), 50);
}

#[test]
fn crawls_hold() {
    files(warc, 16, include_str!("../dictionaries/crawls.dict"), 150);
    files(arc, 17, include_str!("../dictionaries/crawls.dict"), 100);
}

#[test]
fn pages_hold() {
    files(html, 18, include_str!("../dictionaries/pages.dict"), 200);
}

#[test]
fn archives_hold() {
    files(tar, 29, include_str!("../dictionaries/archives.dict"), 200);
}

#[test]
fn mail_holds() {
    files(eml, 19, include_str!("../dictionaries/mail.dict"), 150);
    files(mbox, 20, include_str!("../dictionaries/mail.dict"), 150);
}

#[test]
fn records_between_tags_hold() {
    files(trec, 24, include_str!("../dictionaries/tags.dict"), 150);
    files(mediawiki, 25, include_str!("../dictionaries/tags.dict"), 150);
}

#[test]
fn members_of_a_directory_hold() {
    files(zip, 38, include_str!("../dictionaries/zip.dict"), 200);
    // A good archive, without every so manieth member, with all fields.
    for apart in 0..8 {
        for wanted in 0..=127 {
            zip(&[wanted & 110, 0, 1, apart, 2]);
        }
    }
}

#[test]
fn documents_hold() {
    files(docx, 34, include_str!("../dictionaries/office.dict"), 100);
    files(odt, 35, include_str!("../dictionaries/office.dict"), 100);
    files(epub, 36, include_str!("../dictionaries/office.dict"), 100);
    files(rtf, 37, include_str!("../dictionaries/rtf.dict"), 200);
}

#[test]
fn columns_hold() {
    files(parquet, 21, include_str!("../dictionaries/parquet.dict"), 200);
    // Each way to write a good file.
    for written in 0..=255 {
        parquet(&[written & 12, 0, 1, written >> 5, 2, written]);
    }
}

/// Whoever passed over a page went by another number than who read it.
#[test]
fn pages_of_fewer_rows_than_values_hold() {
    parquet(include_bytes!("../found/parquet-few-rows"));
}

/// Whoever passed over rows of a repeated column looked for them without end; of another one, nobody who did missed them.
#[test]
fn levels_that_end_before_their_values_hold() {
    parquet(include_bytes!("../found/parquet-few-levels"));
    parquet(include_bytes!("../found/parquet-few-definitions"));
}

#[test]
fn batches_hold() {
    files(arrow, 25, include_str!("../dictionaries/arrow.dict"), 200);
    // Each good file, with all fields and stretches.
    for which in 0..6 {
        for wanted in 0..=127 {
            arrow(&[wanted & 110, 0, 1, wanted >> 3, 2, which]);
        }
    }
    // Found: behind a row whose offsets are damaged, texts stand before those of the rows before it.
    arrow(b"\x04\x00\x08\x00o#wwARROW1\x00\x00\xff\xffJ\xe6TT\\\x08");
}

#[test]
fn packed_files_hold() {
    files(packed, 22, include_str!("../dictionaries/packed.dict"), 200);
}

#[test]
fn files_of_any_name_hold() {
    files(found, 23, include_str!("../dictionaries/found.dict"), 200);
}

#[test]
fn runs_hold() {
    let mut random = Random(4);
    run(b"");
    for how in [0, 1, 2] {
        for _ in 0..200 {
            run(&[&[how], &random.bytes(20_000)[..]].concat());
            run(&[&[how], &random.bytes(100)[..]].concat());
        }
    }
    // Small words in the pages that are believed most.
    for _ in 0..2000 {
        let mut edit = [0; 25];
        edit[0] = 2;
        for at in [1, 13] {
            edit[at] = random.next() as u8;
            edit[at + 2] = random.next() as u8;
            edit[at + 4 + random.below(8)] = random.next() as u8;
        }
        run(&edit);
    }
}

/// Tries random bytes behind each of some first bytes, and mixtures of the parts of a dictionary.
fn mixtures(check: fn(&[u8]), seed: u64, heads: &[&[u8]], dictionary: &str, times: usize) {
    let (mut random, parts) = (Random(seed), entries(dictionary));
    check(b"");
    for _ in 0..times {
        let head = heads[random.below(heads.len())];
        check(&[head, &random.bytes(200)].concat());
        if !parts.is_empty() {
            check(&[head, &random.parts(&parts, 40)].concat());
        }
    }
}

#[test]
fn configurations_hold() {
    let heads: [&[u8]; 3] = [&[0], &[7], &[20]];
    mixtures(config, 5, &heads, include_str!("../dictionaries/config.dict"), 400);
}

#[test]
fn labels_hold() {
    let heads: [&[u8]; 4] = [&[0, 0], &[1, 0], &[2, 3], &[3, 4]];
    mixtures(labels, 6, &heads, include_str!("../dictionaries/labels.dict"), 3000);
}

#[test]
fn lexicons_hold() {
    mixtures(lexicon, 7, &[&[0], &[1], &[2]], include_str!("../dictionaries/lexicon.dict"), 1000);
}

#[test]
fn hosts_hold() {
    mixtures(hosts, 8, &[b""], include_str!("../dictionaries/hosts.dict"), 3000);
}

#[test]
fn frames_hold() {
    mixtures(frames, 9, &[&[0], &[1], &[2]], include_str!("../dictionaries/frames.dict"), 500);
}

#[test]
fn answers_about_pdfs_hold() {
    let heads: [&[u8]; 3] = [&[255, 255], &[4, 0], &[255, 255, 0]];
    mixtures(pdf, 38, &heads, include_str!("../dictionaries/pdf.dict"), 3000);
}

#[test]
fn manifests_hold() {
    let heads: [&[u8]; 4] = [&[0, 0], &[1, 0], &[2, 0], &[2, 1]];
    mixtures(manifest, 10, &heads, "", 150);
}

#[test]
fn checkpoints_hold() {
    let heads: [&[u8]; 4] = [&[0, 0], &[1, 0], &[2, 0], &[2, 1]];
    mixtures(checkpoint, 11, &heads, "", 100);
}

#[test]
fn tables_hold() {
    mixtures(tables, 12, &[b"", &[0], &[255]], "", 100);
}

#[test]
fn histories_hold() {
    mixtures(histories, 13, &[b""], "", 80);
}

#[test]
fn taking_ends_with_zeros() {
    let mut data: &[u8] = &[1, 2, 3];
    assert_eq!(take(&mut data), [1, 2]);
    assert_eq!(take(&mut data), [3, 0]);
    assert_eq!((take(&mut data), data), ([0], &[][..]));
}

/// What was found once: each file has the name of its target before the first dash.
#[test]
fn findings_stay_mended() {
    let mut count = 0;
    for file in std::fs::read_dir("found").expect("a folder") {
        let path = file.expect("a file").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let target = match name.split('-').next() {
            Some("parquet") => parquet,
            Some("eml") => eml,
            // A collection read a page without the mark that said its characters.
            Some("html") => html,
            // The twin took a mark for part of a line that it stands before.
            Some("reader") => reader,
            _ => panic!("{name} has the name of no target"),
        };
        target(&std::fs::read(&path).expect("a finding"));
        count += 1;
    }
    assert!(count > 4, "{count}");
}
