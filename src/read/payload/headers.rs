//! Lines `Name: value`, as HTTP, WARC and mail have them.

/// A block of header lines, up to and without the blank line that ends it.
#[derive(Clone, Copy, Debug)]
pub(in crate::read) struct HeaderLines<'a>(&'a [u8]);

impl<'a> HeaderLines<'a> {
    /// The header lines with which bytes begin, and what stands behind the blank line; `None` if there is none.
    pub(in crate::read) fn split(bytes: &'a [u8]) -> Option<(HeaderLines<'a>, &'a [u8])> {
        let mut end = 0;
        loop {
            let line = end + bytes[end..].iter().position(|byte| *byte == b'\n')? + 1;
            if matches!(&bytes[end..line], b"\n" | b"\r\n") {
                return Some((HeaderLines(&bytes[..end]), &bytes[line..]));
            }
            end = line;
        }
    }

    /// Header lines that go on behind `bytes`.
    pub(in crate::read) fn open(bytes: &'a [u8]) -> HeaderLines<'a> {
        HeaderLines(bytes)
    }

    /// The lines, each without its end.
    pub(in crate::read) fn lines(self) -> impl Iterator<Item = &'a [u8]> {
        self.0.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end)
    }

    /// The value of the first header of a name, whatever its case, without space around it. One that is not UTF-8 is none.
    pub(in crate::read) fn get(self, name: &str) -> Option<&'a str> {
        self.all(name).next()
    }

    /// The values of all headers of a name, likewise.
    pub(in crate::read) fn all(self, name: &str) -> impl Iterator<Item = &'a str> {
        self.lines().filter_map(move |line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let found = line[..colon].trim_ascii_end().eq_ignore_ascii_case(name.as_bytes());
            found.then(|| std::str::from_utf8(&line[colon + 1..]).ok()).flatten().map(str::trim)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_end_with_a_blank_line() {
        let (headers, rest) =
            HeaderLines::split(b"A: 1\r\nb-C :  x: y \nA: 2\r\n\r\n\r\nrest").expect("a block");
        assert_eq!(rest, b"\r\nrest");
        assert_eq!((headers.get("a"), headers.get("B-c"), headers.get("c")), (Some("1"), Some("x: y"), None));
        assert!(HeaderLines::split(b"A: 1\r\n").is_none());
        assert_eq!(HeaderLines::split(b"\nx").expect("an empty block").1, b"x");
    }
}
