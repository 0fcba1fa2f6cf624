//! Elements within a record of SGML, by their names. What is no element of a name that is looked for is passed over.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem};

/// An element, and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SgmlElement {
    /// Which of the names that are looked for it has.
    pub(super) name: usize,
    /// All of it.
    pub(super) outer: Range<usize>,
    /// What stands between its tags.
    pub(super) inner: Range<usize>,
}

/// The elements of some names, whatever their case, one behind the other. None of them is within another.
pub(super) struct SgmlElements<'a> {
    bytes: &'a [u8],
    names: &'a [&'a str],
    at: usize,
    /// Which names close nowhere from here on: nobody looks for the same end twice.
    unclosed: u64,
}

impl<'a> SgmlElements<'a> {
    /// The elements of at most 64 names.
    pub(super) fn new(bytes: &'a [u8], names: &'a [&'a str]) -> SgmlElements<'a> {
        SgmlElements { bytes, names, at: 0, unclosed: 0 }
    }

    /// The element of a name whose opening tag begins at `start`; `None` if it does not end.
    fn closed(&self, name: usize, start: usize) -> Option<SgmlElement> {
        let from = start + memchr(b'>', &self.bytes[start..])? + 1;
        let ends = memmem::find_iter(&self.bytes[from..], b"</").map(|at| from + at);
        let end = ends.into_iter().find(|end| is_named(&self.bytes[end + 2..], self.names[name]))?;
        let behind = end + memchr(b'>', &self.bytes[end..])? + 1;
        Some(SgmlElement { name, outer: start..behind, inner: from..end })
    }
}

impl Iterator for SgmlElements<'_> {
    type Item = SgmlElement;

    fn next(&mut self) -> Option<SgmlElement> {
        for at in memchr_iter(b'<', &self.bytes[self.at..]).map(|at| self.at + at) {
            let rest = &self.bytes[at + 1..];
            let Some(name) = self.names.iter().position(|name| is_named(rest, name)) else { continue };
            if self.unclosed >> name & 1 == 1 {
                continue;
            }
            if let Some(element) = self.closed(name, at) {
                self.at = element.outer.end;
                return Some(element);
            }
            self.unclosed |= 1 << name;
        }
        self.at = self.bytes.len();
        None
    }
}

/// Whether what stands behind the `<` or the `</` of a tag is a name.
fn is_named(bytes: &[u8], name: &str) -> bool {
    let Some((front, behind)) = bytes.split_at_checked(name.len()) else { return false };
    let ends = behind.first().is_some_and(|byte| *byte == b'>' || byte.is_ascii_whitespace());
    ends && front.eq_ignore_ascii_case(name.as_bytes())
}

/// The value of an attribute, whatever the case of its name, among those of a tag.
pub(super) fn attribute<'a>(mut tag: &'a str, wanted: &str) -> Option<&'a str> {
    loop {
        let (name, rest) = tag.split_once('=')?;
        let name = name.rsplit(|c: char| c.is_ascii_whitespace()).find(|name| !name.is_empty());
        let rest = rest.trim_ascii_start();
        let (value, behind) = match rest.as_bytes().first() {
            Some(quote @ (b'"' | b'\'')) => {
                rest[1..].split_once(char::from(*quote)).unwrap_or((&rest[1..], ""))
            }
            _ => rest.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((rest, "")),
        };
        if name.is_some_and(|name| name.eq_ignore_ascii_case(wanted)) {
            return Some(value);
        }
        tag = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, names: &[&str]) -> Vec<(usize, String)> {
        let elements = SgmlElements::new(text.as_bytes(), names);
        elements.map(|element| (element.name, text[element.inner].to_owned())).collect()
    }

    #[test]
    fn elements_are_found_by_their_names() {
        let text = "<A>1</A><b x=y>2</B ><AB>3</AB>< A>4</A><A\n>5<b>6</b></A>";
        let expected = [(0, "1"), (1, "2"), (0, "5<b>6</b>")].map(|(name, text)| (name, text.to_owned()));
        assert_eq!(found(text, &["A", "B"]), expected);
        assert_eq!(found("<A>1<A>2</A>3</A>", &["A"]), [(0, "1<A>2".to_owned())]);
    }

    #[test]
    fn what_does_not_end_is_no_element() {
        for open in ["<A>1", "<A", "<A>1</A", "</A>", "<A>1</AB>", "<", "<A>1</"] {
            assert_eq!(found(open, &["A"]), [], "{open}");
        }
        assert_eq!(found("<A>1<B>2</B>", &["A", "B"]), [(1, "2".to_owned())]);
        // Each of these could be looked for to the end.
        let many = "<A>".repeat(1 << 20);
        assert_eq!(found(&many, &["A"]), []);
    }

    #[test]
    fn attributes_have_values() {
        let tag = "<doc id=\"a b\" url='c=\"d\"' Title=e x = f>";
        let of = |name| attribute(tag.trim_end_matches('>'), name);
        assert_eq!(
            [of("ID"), of("url"), of("title"), of("x")],
            [Some("a b"), Some("c=\"d\""), Some("e"), Some("f")]
        );
        assert_eq!(
            (of("d"), attribute("<DOC", "id"), attribute("<DOC id=\"a", "id")),
            (None, None, Some("a"))
        );
    }
}
