//! The pages of reference that `docs/reference.py` makes of definitions, against these: without Python by their sum alone, which
//! the first line of each page has.

use std::fs;
use std::path::{Path, PathBuf};

/// FNV-1a of all bytes of some files, 64 bits.
fn sum(paths: &[PathBuf]) -> u64 {
    let bytes = paths.iter().flat_map(|path| fs::read(path).unwrap());
    bytes.fold(0xCBF2_9CE4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

#[test]
fn pages_are_made_of_the_definitions_that_there_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let module = root.join("python/alike");
    let entries = fs::read_dir(&module).unwrap().map(|entry| entry.unwrap().path());
    let mut sources: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "py")).collect();
    sources.sort();
    assert!(sources.len() > 5, "{sources:?}");
    sources.extend([module.join("_alike.pyi"), root.join("python/src/sets.rs")]);
    for (page, made_of) in [("http.md", vec![root.join("src/serve/openapi.json")]), ("python.md", sources)] {
        let text = fs::read_to_string(root.join("docs/src/reference").join(page)).unwrap();
        let first = text.lines().next().unwrap();
        let expected = format!("; sum {:016x} -->", sum(&made_of));
        assert!(
            first.starts_with("<!-- made by docs/reference.py of ") && first.ends_with(&expected),
            "docs/src/reference/{page} is not made of the definitions that there are, whose line ends with \
             {expected:?}: run docs/reference.py\n{first}"
        );
    }
}
