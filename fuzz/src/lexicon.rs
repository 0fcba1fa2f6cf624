//! Lexicons: whatever a file holds, it is a lexicon whose terms are found under their ranks, or it is refused.

use std::io::Write;

use alike::error::Error;
use alike::lexicon::Lexicon;
use alike::text::token_hash;
use xxhash_rust::xxh3::xxh3_128;

use crate::take;

/// What a good file has behind its first line.
const HEAD: &str =
    "{\"terms\":{\"kind\":\"alphabetic\",\"min_length\":3},\"min_df\":1,\"short\":0,\"documents\":9}\n";

/// The first byte says how the rest becomes a file: as it is; behind a first line with its digest; or as the rows of one
/// with a good head.
pub fn lexicon(mut data: &[u8]) {
    let [how] = take(&mut data);
    let bytes = match how % 3 {
        0 => data.to_vec(),
        1 => sealed(data),
        _ => sealed(&[HEAD.as_bytes(), data].concat()),
    };
    check(bytes);
}

fn sealed(content: &[u8]) -> Vec<u8> {
    let line = format!("alike lexicon, format 2, xxh3-128 {:032x}\n", xxh3_128(content));
    [line.as_bytes(), content].concat()
}

fn check(bytes: Vec<u8>) {
    let lexicon = Lexicon::of_bytes(bytes.clone());
    // The same from a file.
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&bytes).expect("written");
    let opened = Lexicon::open(file.path());
    assert_eq!(opened.is_ok(), lexicon.is_ok());
    let lexicon = match lexicon {
        Ok(lexicon) => lexicon,
        Err(Error::LexiconUnfit { .. } | Error::LexiconDamaged { .. } | Error::NewerFormat { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(lexicon.as_bytes(), bytes);
    let by_rank = lexicon.by_rank();
    let (mut before, mut most) = ("", 0);
    for entry in lexicon.entries() {
        assert!(before < entry.term);
        before = entry.term;
        assert_eq!(lexicon.find(entry.term), Some(entry));
        assert!((0.0..=1.0).contains(&entry.idf), "{entry:?} of {:?}", lexicon.header());
        let idf = lexicon.fixed_idf(token_hash(entry.term.as_bytes())).expect("a term");
        assert!(idf <= u64::from(u16::MAX));
        assert_eq!(by_rank[entry.rank as usize], entry.number);
    }
    for number in by_rank {
        let documents = lexicon.entry(number).documents;
        assert!(documents >= most && documents <= lexicon.header().documents);
        most = documents;
    }
    assert!(lexicon.find("").is_none() && lexicon.require(lexicon.len() + 1, "nobody").is_err());
}
