//! How much has to be known of a file before its beginning shows what it is.

use memchr::{memchr, memmem, memrchr};

use crate::read::BOM;
use crate::read::payload::{begins_package, package_kind};

/// Bytes looked at, decompressed.
pub(in crate::read) const HEAD_BYTES: usize = 8 << 10;
/// More zeros than an archive of tar has that has no members: its blocks are written by twenties.
const MOST_ZEROS: usize = 20 * 512 + 1;
/// Bytes looked at for the end of the first line of a text file that begins like JSON.
const LINE: usize = 4 << 20;
/// Bytes looked at of a package that does not say at once what it is.
const PACKAGE: usize = 256 << 10;
/// Bytes looked at of a file that begins with blanks, remarks, headers or a line that are longer than what is looked at of others.
const LONG_BEGINNING: usize = 256 << 10;
/// As many more are read at a time.
const STEP: usize = 8 * HEAD_BYTES;

/// How many bytes more have to be known of a file that begins so: the first line, if it may be a JSON object, of a package what says
/// which, of zeros whether that is all, and what stands behind a long beginning.
pub(in crate::read) fn wanted(bytes: &[u8]) -> usize {
    let in_object = || first_byte(bytes.strip_prefix(BOM).unwrap_or(bytes)) == Some(b'{');
    match bytes.len() {
        0..HEAD_BYTES => HEAD_BYTES - bytes.len(),
        HEAD_BYTES..LINE if in_object() && memchr(b'\n', bytes).is_none() => 16 * HEAD_BYTES,
        HEAD_BYTES..MOST_ZEROS if bytes.iter().all(|byte| *byte == 0) => MOST_ZEROS - bytes.len(),
        HEAD_BYTES..LONG_BEGINNING if has_long_beginning(&bytes[..looked_at(bytes.len())]) => {
            looked_at(bytes.len()) + STEP - bytes.len()
        }
        HEAD_BYTES..PACKAGE if begins_package(bytes) && package_kind(bytes).is_none() => {
            PACKAGE - bytes.len()
        }
        _ => 0,
    }
}

/// The first byte that is not blank.
pub(super) fn first_byte(content: &[u8]) -> Option<u8> {
    content.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}

/// How much of so many bytes is looked at: the same, in whatever pieces they come.
fn looked_at(length: usize) -> usize {
    length - (length - HEAD_BYTES) % STEP
}

/// Whether what a file is shows behind these bytes alone: they are blank, a comment or a declaration, a line, or headers of a mail.
fn has_long_beginning(bytes: &[u8]) -> bool {
    let content = bytes.strip_prefix(BOM).unwrap_or(bytes).trim_ascii_start();
    if memchr(0, content).is_some() {
        return false;
    }
    let Some(last) = memrchr(b'\n', content) else { return true };
    behind_prolog(content).is_empty() || content[..last].split(|byte| *byte == b'\n').all(is_header_line)
}

/// Whether a line is a header, or goes on with one. An address of the web looks so, and is none.
fn is_header_line(line: &[u8]) -> bool {
    let colon = memchr(b':', line).unwrap_or_default();
    let is_named = colon > 0 && line[..colon].iter().all(u8::is_ascii_graphic);
    line.starts_with(b" ") || line.starts_with(b"\t") || is_named && !line[colon..].starts_with(b"://")
}

/// What stands behind the declarations and comments with which a file begins.
pub(in crate::read) fn behind_prolog(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes.trim_ascii_start();
    loop {
        let end: &[u8] = match rest {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            // A DOCTYPE that declares something ends behind that.
            [b'<', b'?' | b'!', ..] | [b']', b'>', ..] => b">",
            _ => return rest,
        };
        let Some(at) = memmem::find(rest, end) else { return b"" };
        rest = rest[at + end.len()..].trim_ascii_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_wanted_behind_a_long_beginning() {
        let long = |unit: &str| unit.repeat(HEAD_BYTES / unit.len() + 9);
        let headers = long("ARC-Seal: i=1; a=rsa-sha256; t=12345;\r\n d=b\r\n");
        for beginning in [long(" \n"), format!("<!-- {}", long("c\n")), long("id,"), headers] {
            for length in [HEAD_BYTES, HEAD_BYTES + 3] {
                assert_eq!(
                    length + wanted(&beginning.as_bytes()[..length]),
                    HEAD_BYTES + STEP,
                    "{beginning:.20}"
                );
            }
            let all = beginning.repeat(LONG_BEGINNING / HEAD_BYTES + 8);
            assert_eq!(wanted(all.as_bytes()), 0, "{beginning:.20}");
        }
        let ended = format!("Subject: s\r\n\r\n{}", long("text\n"));
        let binary = format!("\0{}", long("x"));
        for other in [
            long("a line\n"),
            long("one: line\n\n"),
            long("http://a/b\n"),
            long("a: b\nno header\n"),
            ended,
            binary,
            format!("<!-- c -->\n<p>{}", long("text\n")),
        ] {
            assert_eq!(wanted(other.as_bytes()), 0, "{other:.20}");
        }
    }

    #[test]
    fn declarations_and_comments_are_passed_over() {
        assert_eq!(behind_prolog(b" <?xml version='1.0'?>\n<!-- <DOC> -->\n<!DOCTYPE a>\n<DOC>"), b"<DOC>");
        assert_eq!(behind_prolog(b"<!DOCTYPE a [\n<!ELEMENT a ANY>\n]>\n<a>"), b"<a>");
        assert_eq!((behind_prolog(b"<!-- a >"), behind_prolog(b"text")), (&b""[..], &b"text"[..]));
    }
}
