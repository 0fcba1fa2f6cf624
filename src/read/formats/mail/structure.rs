//! What the structure of a message takes beside its bytes: whoever takes it apart holds every header and part at once.

use memchr::memmem;

use crate::limits::MAX_MAIL_PARTS;
use crate::read::record::Refusal;

/// What is held of a header, of an address or attribute in one, of a part, and of parts or a message within a part.
const HEADER_BYTES: u64 = 140;
const VALUE_BYTES: u64 = 60;
const PART_BYTES: u64 = 220;
const NESTED_BYTES: u64 = 2_400;
/// Bytes of memory that count as one byte of a record: a record costs more than it is long, too.
const BYTES_OF_RECORD: u64 = 4;
/// Headers and parts take no more than so many times the bytes of their message.
pub(super) const MOST_OF_BYTE: usize = 128;

/// Most pieces that the values of a head may be cut in (RFC 2231, section 3): whoever joins them copies what he has for each.
const MAX_PIECES_OF_VALUES: usize = 500;

/// Signs that there is more in a message than headers and a text.
const NESTED: [&[u8]; 3] = [b"boundary", b"rfc822", b"message/global"];

/// As how many bytes of a record the structure of a message counts.
pub(super) fn structure_weight(raw: &[u8]) -> u64 {
    let (headers, body) = divided(raw);
    let nested = nested(raw);
    let body = if nested > 0 { body } else { b"" };
    let parts = body.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"--")).count();
    let named = [headers, body].into_iter().flat_map(|bytes| bytes.split(|byte| *byte == b'\n'));
    let named = named.filter(|line| memchr::memchr(b':', line).is_some()).count();
    let values: usize =
        [headers, body].map(|bytes| memchr::memchr2_iter(b',', b';', bytes).count()).iter().sum();
    let held = named as u64 * HEADER_BYTES
        + values as u64 * VALUE_BYTES
        + parts as u64 * PART_BYTES
        + nested as u64 * NESTED_BYTES;
    held / BYTES_OF_RECORD
}

/// Refuses a message of more parts within parts than messages have, or with a head whose values are in more pieces.
pub(super) fn check_parts(raw: &[u8]) -> Result<(), Refusal> {
    // As short as a message with so many can be.
    if raw.len() > MAX_MAIL_PARTS * NESTED[1].len() && nested(raw) > MAX_MAIL_PARTS {
        let why = format!("more than {MAX_MAIL_PARTS} messages, or lists of parts, in one message");
        return Err(Refusal::Malformed(why));
    }
    if pieces_of_values(raw) > MAX_PIECES_OF_VALUES {
        let why = format!(
            "more than {MAX_PIECES_OF_VALUES} pieces of values in the headers of one message or part"
        );
        return Err(Refusal::Malformed(why));
    }
    Ok(())
}

/// The most pieces of values, like `; name*2=b`, that stand without a blank line between them.
fn pieces_of_values(raw: &[u8]) -> usize {
    let (mut most, mut count, mut last) = (0, 0, 0);
    for at in memchr::memchr_iter(b'*', raw).filter(|at| is_piece(&raw[..*at], &raw[at + 1..])) {
        let between = &raw[last..at];
        let is_apart = [&b"\n\n"[..], b"\n\r\n"].iter().any(|blank| memmem::find(between, blank).is_some());
        count = if is_apart { 1 } else { count + 1 };
        (most, last) = (most.max(count), at);
    }
    most
}

/// Whether what stands around an asterisk makes it that of a piece: before it a semicolon and a name, behind it a number, and `=` or `*=`.
fn is_piece(before: &[u8], behind: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let name =
        before.iter().rev().take_while(|byte| byte.is_ascii_graphic() && !b";=*\"".contains(byte)).count();
    if name == 0 || !before[..before.len() - name].trim_ascii_end().ends_with(b";") {
        return false;
    }
    let number = behind.trim_ascii_start();
    let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let behind = number[digits..].trim_ascii_start();
    let behind = behind.strip_prefix(b"*").unwrap_or(behind).trim_ascii_start();
    digits > 0 && behind.starts_with(b"=")
}

/// Headers, and what stands behind the blank line.
fn divided(raw: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    while let Some(end) = memchr::memchr(b'\n', &raw[at..]) {
        if matches!(&raw[at..at + end], b"" | b"\r") {
            return raw.split_at(at);
        }
        at += end + 1;
    }
    (raw, b"")
}

/// How many messages and lists of parts may be in a message.
fn nested(raw: &[u8]) -> usize {
    let begins = |at: usize, sign: &[u8]| {
        raw.get(at..at + sign.len()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(sign))
    };
    let lower = memchr::memchr3_iter(b'b', b'r', b'm', raw);
    let upper = memchr::memchr3_iter(b'B', b'R', b'M', raw);
    lower.chain(upper).filter(|at| NESTED.iter().any(|sign| begins(*at, sign))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_messages_weigh_what_their_headers_do() {
        let headers = "From: a@b\nTo: c@d, e@f\nSubject: s\n";
        let weight = (3 * HEADER_BYTES + VALUE_BYTES) / BYTES_OF_RECORD;
        assert_eq!(structure_weight(format!("{headers}\nx: y, z\n-- \nme").as_bytes()), weight);
        assert_eq!(structure_weight(headers.replace('\n', "\r\n").as_bytes()), weight);
        assert_eq!(structure_weight(b""), 0);
    }

    #[test]
    fn parts_weigh_where_there_may_be_any() {
        let message = b"Content-Type: multipart/mixed; Boundary=b\n\n--b\nA: b, c\n\ntext\n--b--\n";
        let held = 2 * HEADER_BYTES + 2 * VALUE_BYTES + 2 * PART_BYTES + NESTED_BYTES;
        assert_eq!(structure_weight(message), held / BYTES_OF_RECORD);
    }

    #[test]
    fn no_structure_weighs_more_than_is_looked_for() {
        for line in [":\n", "--\n", ",", "--:,\n"] {
            let raw = format!("A: boundary\n\n{}", line.repeat(1000));
            let most = (raw.len() * MOST_OF_BYTE) as u64 / BYTES_OF_RECORD;
            assert!(structure_weight(raw.as_bytes()) < most, "{line:?}");
        }
    }

    #[test]
    fn pieces_of_values_have_an_end() {
        let head = |pieces: usize| {
            let piece = |at| format!(";\r\n a*{at}{}=b", if at % 2 == 0 { "*" } else { "" });
            format!(
                "Content-Type: text/plain{}\r\n\r\n{}\r\n",
                (0..pieces).map(piece).collect::<String>(),
                "1 *2 = 2\r\n".repeat(MAX_PIECES_OF_VALUES + 1)
            )
        };
        assert_eq!(pieces_of_values(head(3).as_bytes()), 3);
        assert_eq!(check_parts(head(MAX_PIECES_OF_VALUES).repeat(3).as_bytes()), Ok(()));
        let many = head(MAX_PIECES_OF_VALUES + 1);
        assert!(matches!(check_parts(many.as_bytes()), Err(Refusal::Malformed(_))));
    }

    #[test]
    fn parts_within_parts_have_an_end() {
        let message = |times: usize| "Content-Type: multipart/mixed; boundary=b\n\n--b\n".repeat(times);
        assert_eq!(check_parts(message(MAX_MAIL_PARTS).as_bytes()), Ok(()));
        assert!(matches!(check_parts(message(MAX_MAIL_PARTS + 1).as_bytes()), Err(Refusal::Malformed(_))));
    }
}
