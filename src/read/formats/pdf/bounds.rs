//! Where a PDF begins, and whether its end is there.

use memchr::memmem;

/// What a PDF begins with.
const MAGIC: &[u8] = b"%PDF-";
/// Where that may stand at the latest, in bytes: readers have always passed over what is before it.
const BEFORE: usize = 1024;

/// What stands behind all objects of a PDF, and behind those of each change that was added to it: where its table is, and its end.
const ENDS: [&[u8]; 2] = [b"startxref", b"%%EOF"];

/// Where what a PDF begins with stands.
pub(super) fn beginning(content: &[u8]) -> Option<usize> {
    memmem::find(&content[..content.len().min(BEFORE)], MAGIC)
}

/// Whether the end of a PDF is missing. What is left of it mostly has pages, and nothing in it says how many there were.
pub(super) fn is_cut(pdf: &[u8]) -> bool {
    let end = ENDS.iter().filter_map(|end| memmem::rfind(pdf, end)).max();
    let is_cut = end.is_none_or(|end| memmem::find(&pdf[end..], b" obj").is_some());
    is_cut && beginning(pdf).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pdf_ends_behind_its_last_object() {
        let whole = b"%PDF-1.7\n1 0 obj\nendobj\nxref\ntrailer\nstartxref\n9\n%%EOF\n".to_vec();
        let changed = [&whole[..], b"2 0 obj\nendobj\nxref\nstartxref\n70\n%%EOF"].concat();
        for good in [&whole, &changed, &[&whole[..], &[0; 3000]].concat(), &whole[..whole.len() - 8].to_vec()]
        {
            assert!(!is_cut(good), "{}", String::from_utf8_lossy(good));
        }
        assert!(!is_cut(b"no PDF"));
        for cut in [&whole[..30], &changed[..whole.len() + 9], b"%PDF-1.7"] {
            assert!(is_cut(cut), "{}", String::from_utf8_lossy(cut));
        }
    }
}
