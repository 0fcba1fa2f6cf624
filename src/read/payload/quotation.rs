//! Quotations of a page: what stands within `blockquote`, which the end of what it stands in closes, too.

/// The element of a quotation.
const QUOTATION: &[u8] = b"blockquote";
/// Elements that may hold quotations and be held by them, and whose ends close what is open within them.
const HOLDERS: [&[u8]; 26] = [
    QUOTATION,
    b"table",
    b"td",
    b"th",
    b"tr",
    b"tbody",
    b"div",
    b"center",
    b"section",
    b"article",
    b"main",
    b"ul",
    b"ol",
    b"dl",
    b"fieldset",
    b"details",
    b"li",
    b"dd",
    b"dt",
    b"header",
    b"footer",
    b"aside",
    b"figure",
    b"nav",
    b"address",
    b"pre",
];
/// The first few of them: ends of others do not reach out of these.
const CELLS: std::ops::Range<u8> = 1..4;
/// Ends of these reach out of the cells of their own table.
const OF_TABLES: std::ops::Range<u8> = 1..6;
/// Elements within each other that are told apart; what is deeper belongs to the last of them.
const DEEPEST: usize = 4096;

/// Which elements are open, as far as that tells whether a quotation is.
#[derive(Default)]
pub(super) struct Quotation {
    open: Vec<u8>,
    /// How many of them are quotations.
    depth: usize,
    /// Whether the last tag opened one of them.
    opened: bool,
}

impl Quotation {
    /// Whether what comes next is quoted.
    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// An element begins; whether a quotation begins with it that stands in no other one.
    pub(super) fn open(&mut self, name: &[u8]) -> bool {
        let holder = HOLDERS.iter().position(|holder| *holder == name).filter(|_| self.open.len() < DEEPEST);
        self.opened = holder.is_some();
        let Some(holder) = holder else { return false };
        self.open.push(holder as u8);
        self.depth += usize::from(holder == 0);
        holder == 0 && self.depth == 1
    }

    /// An element ends, and with it all that is open within it. An end of nothing that is open says nothing.
    pub(super) fn close(&mut self, name: &[u8]) {
        self.opened = false;
        let Some(holder) = HOLDERS.iter().position(|holder| *holder == name) else { return };
        let holder = holder as u8;
        let is_end = |open: &u8| *open == holder || CELLS.contains(open) && !OF_TABLES.contains(&holder);
        match self.open.iter().rposition(is_end) {
            Some(at) if self.open[at] == holder => self.shorten(at),
            _ => {}
        }
    }

    /// Closes what the last tag opened: it closes itself.
    pub(super) fn close_opened(&mut self) {
        if std::mem::take(&mut self.opened) {
            self.shorten(self.open.len() - 1);
        }
    }

    fn shorten(&mut self, left: usize) {
        self.depth -= self.open[left..].iter().filter(|open| **open == 0).count();
        self.open.truncate(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands outside quotations of tags and words.
    fn own(page: &str) -> Vec<&str> {
        let mut quotation = Quotation::default();
        let mut own = Vec::new();
        for part in page.split_whitespace() {
            match part.strip_prefix('<').map(|tag| tag.trim_end_matches('>')) {
                Some(tag) => match tag.strip_prefix('/') {
                    Some(name) => quotation.close(name.as_bytes()),
                    None => _ = quotation.open(tag.as_bytes()),
                },
                None if quotation.is_open() => {}
                None => own.push(part),
            }
        }
        own
    }

    #[test]
    fn quotations_end_with_what_they_stand_in() {
        assert_eq!(own("a <blockquote> b </blockquote> c"), ["a", "c"]);
        assert_eq!(own("a <blockquote> b <blockquote> c </blockquote> d </blockquote> e"), ["a", "e"]);
        assert_eq!(own("<div> a <blockquote> b </div> c"), ["a", "c"]);
        assert_eq!(own("<div> <div> a <blockquote> <div> b </div> c </div> d </div> e"), ["a", "d", "e"]);
        assert_eq!(own("<blockquote> a </div> b </blockquote> c"), ["c"]);
        assert_eq!(own("a <blockquote> b"), ["a"]);
        assert_eq!(own("</blockquote> a"), ["a"]);
        for holder in ["li", "dd", "header", "pre"] {
            let page = format!("<{holder}> a <blockquote> b </{holder}> c");
            assert_eq!(own(&page), ["a", "c"], "{holder}");
        }
    }

    #[test]
    fn cells_keep_the_ends_of_others_within_them() {
        assert_eq!(
            own("<div> <blockquote> <table> <tr> <td> a </div> b </td> </tr> </table> c </div> d"),
            ["d"]
        );
        assert_eq!(own("<table> <tr> <td> <blockquote> a </td> <td> b </td> </tr> </table> c"), ["b", "c"]);
        assert_eq!(own("<table> <tr> <td> <blockquote> a </table> b"), ["b"]);
    }

    #[test]
    fn tags_that_close_themselves_open_nothing() {
        let mut quotation = Quotation::default();
        quotation.open(QUOTATION);
        quotation.close_opened();
        assert!(!quotation.is_open());
        quotation.open(QUOTATION);
        quotation.open(b"i");
        quotation.close_opened();
        assert!(quotation.is_open());
        (0..2 * DEEPEST).for_each(|_| _ = quotation.open(b"div"));
        (0..2 * DEEPEST).for_each(|_| quotation.close(b"div"));
        assert!(quotation.is_open());
        quotation.close(QUOTATION);
        assert!(!quotation.is_open());
    }
}
