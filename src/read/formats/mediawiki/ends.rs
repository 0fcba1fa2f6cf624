//! Where pages end: with the space behind their `</page>`, or where another one begins. In what a page says no such tag can
//! stand, since a `<` is written as an entity there.

use memchr::{memchr_iter, memmem, memrchr};

use super::page::{END, PAGE};
use crate::read::codec::Boundaries;

/// What stands in a page before its revisions, or in their place.
const IN_HEAD: [&[u8]; 4] = [b"<redirect", b"<revision", PAGE, END];

/// Where the bytes of a file stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WikiPlace {
    /// Where a page may begin.
    #[default]
    Between,
    /// In what is no page.
    Outside,
    /// In a page, before its first revision.
    Head,
    /// In a page.
    Body,
    /// Behind a page.
    Behind,
}

/// Finds where pages end, and what stands between them.
#[derive(Default)]
pub(super) struct PageEnds {
    place: WikiPlace,
    /// Whether it is a page that holds a document, as far as is known.
    document: bool,
    undecided: usize,
}

impl PageEnds {
    /// Passes over what stands before the revisions of a page; how much that is.
    fn pass_head(&mut self, bytes: &[u8]) -> Option<usize> {
        let tags = memchr_iter(b'<', bytes);
        let mut known =
            tags.filter_map(|at| Some((at, IN_HEAD.iter().position(|tag| bytes[at..].starts_with(tag))?)));
        let (at, tag) = known.next()?;
        self.document = tag != 0;
        Some(at)
    }

    /// None of some tags is there: how many of the last bytes may be the beginning of one.
    fn wait(&mut self, bytes: &[u8], tags: &[&[u8]]) -> Option<usize> {
        let rest = memrchr(b'<', bytes).map_or(&b""[..], |at| &bytes[at..]);
        self.undecided = if tags.iter().any(|tag| tag.starts_with(rest)) { rest.len() } else { 0 };
        None
    }
}

impl Boundaries for PageEnds {
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.undecided = 0;
        let mut at = 0;
        let end = loop {
            let rest = &bytes[at..];
            match self.place {
                WikiPlace::Between => {
                    self.document = false;
                    if rest.len() < PAGE.len() && PAGE.starts_with(rest) {
                        return self.wait(rest, &[PAGE]);
                    }
                    let page = rest.starts_with(PAGE);
                    self.place = if page { WikiPlace::Head } else { WikiPlace::Outside };
                    at += if page { PAGE.len() } else { 0 };
                }
                WikiPlace::Outside => match memmem::find(rest, PAGE) {
                    Some(found) => break at + found,
                    None => return self.wait(rest, &[PAGE]),
                },
                WikiPlace::Head => match self.pass_head(rest) {
                    Some(passed) => (at, self.place) = (at + passed, WikiPlace::Body),
                    None => return self.wait(rest, &IN_HEAD),
                },
                WikiPlace::Body => {
                    // Both tags end so, and no text has a `>`.
                    let mut found = memmem::find_iter(rest, b"page>").map(|found| &rest[..found + 5]);
                    match found.find_map(|seen| {
                        [END, PAGE].into_iter().find(|tag| seen.ends_with(tag)).map(|tag| (seen.len(), tag))
                    }) {
                        Some((length, END)) => (at, self.place) = (at + length, WikiPlace::Behind),
                        Some((length, _)) => {
                            // A page that is not closed is none that leads to another one, for all that is known.
                            self.document = true;
                            break at + length - PAGE.len();
                        }
                        None => return self.wait(rest, &[END, PAGE]),
                    }
                }
                WikiPlace::Behind => match rest.iter().position(|byte| !byte.is_ascii_whitespace()) {
                    Some(found) => break at + found,
                    None => return None,
                },
            }
        };
        self.place = WikiPlace::Between;
        Some(end)
    }

    fn undecided(&self) -> usize {
        self.undecided
    }

    fn is_blank(&self, _: &[u8]) -> bool {
        !self.document
    }

    fn numbers_blank(&self) -> bool {
        false
    }

    fn is_complete(&self) -> bool {
        self.place == WikiPlace::Behind
    }

    fn has_header(&self) -> bool {
        false
    }

    fn line_end(&self) -> &'static [u8] {
        b""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The records of a file that comes so many bytes at a time, and whether each is a document.
    fn records(file: &[u8], step: usize) -> Vec<(String, bool)> {
        let (mut ends, mut all, mut start, mut searched) = (PageEnds::default(), Vec::new(), 0, 0);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for read in (0..file.len()).step_by(step).map(|at| file.len().min(at + step)) {
            while let Some(end) = ends.end(&file[searched..read]) {
                searched += end;
                all.push((text(&file[start..searched]), !ends.is_blank(&file[start..searched])));
                start = searched;
            }
            searched = read - ends.undecided();
        }
        all.push((text(&file[start..]), !ends.is_blank(&file[start..])));
        all
    }

    #[test]
    fn pages_and_what_stands_between_them_follow_each_other() {
        for (file, expected) in [
            (
                "<mediawiki>\n  <page><revision></page>\n  <page></page>\n</mediawiki>\n",
                &[
                    ("<mediawiki>\n  ", false),
                    ("<page><revision></page>\n  ", true),
                    ("<page></page>\n", true),
                    ("</mediawiki>\n", false),
                ][..],
            ),
            (
                "<page><redirect/><revision></page><page><title>",
                &[("<page><redirect/><revision></page>", false), ("<page><title>", false)],
            ),
            (
                "<page><revision>a<page><redirect><page></page>x<page",
                &[
                    ("<page><revision>a", true),
                    ("<page><redirect>", true),
                    ("<page></page>", true),
                    ("x<page", false),
                ],
            ),
            (
                "<pages><page><id><revisions><redirect></page>",
                &[("<pages>", false), ("<page><id><revisions><redirect></page>", true)],
            ),
            ("text", &[("text", false)]),
        ] {
            for step in 1..=file.len() {
                let expected: Vec<_> =
                    expected.iter().map(|(text, page)| ((*text).to_owned(), *page)).collect();
                assert_eq!(records(file.as_bytes(), step), expected, "in steps of {step}");
            }
        }
    }
}
