//! What stands around a message in its file: the line that an mbox puts before it, the count and the property list of Apple Mail.

use std::borrow::Cow;

use memchr::memchr;

use crate::read::BOM;
use crate::read::record::Refusal;

/// Most digits of a count of bytes.
const MOST_DIGITS: usize = 12;

/// A message without what stands around it.
///
/// # Errors
/// The refusal of a file of Apple Mail that ends within its message.
pub(super) fn message_within(raw: &[u8]) -> Result<&[u8], Refusal> {
    let begin = raw.strip_prefix(BOM).unwrap_or(raw).trim_ascii_start();
    if let Some(from) = begin.strip_prefix(b"From ") {
        return Ok(memchr(b'\n', from).map_or(raw, |end| &from[end + 1..]));
    }
    let Some((bytes, rest)) = counted_message(raw) else { return Ok(raw) };
    rest.get(..bytes).ok_or_else(|| {
        Refusal::Malformed(format!(
            "the file is cut: of the {bytes} bytes of its message it has {}",
            rest.len()
        ))
    })
}

/// The bytes that a message has by the first line of its file, as `.emlx` files of Apple Mail have one, and what follows that line. Behind the
/// message there is a property list, or nothing.
pub(super) fn counted_message(raw: &[u8]) -> Option<(usize, &[u8])> {
    let end = memchr(b'\n', &raw[..raw.len().min(2 * MOST_DIGITS)])?;
    let count = raw[..end].trim_ascii_end();
    let is_count = (1..=MOST_DIGITS).contains(&count.len()) && count.iter().all(u8::is_ascii_digit);
    let count = std::str::from_utf8(count).ok().filter(|_| is_count)?;
    let (bytes, rest) = (count.parse().ok()?, &raw[end + 1..]);
    let behind = rest.get(bytes..).unwrap_or_default().trim_ascii_start();
    (behind.is_empty() || behind.starts_with(b"<?xml")).then_some((bytes, rest))
}

/// A message with lines that end as all others do: those of an old Macintosh end with a carriage return.
pub(super) fn with_line_feeds(message: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'\n', message).is_some() || memchr(b'\r', message).is_none() {
        return Cow::Borrowed(message);
    }
    Cow::Owned(message.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect())
}

/// Where the body of a message begins whose last header ends at `at`: behind a blank line.
pub(super) fn begin_of_body(message: &[u8], mut at: usize) -> usize {
    while let Some(length) = memchr(b'\n', &message[at..]) {
        let is_blank = message[at..at + length].trim_ascii().is_empty();
        at += length + 1;
        if is_blank {
            return at;
        }
    }
    message.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_apple_mail_has_as_many_bytes_as_its_file_says() {
        let message = b"Subject: s\n\nbody\n";
        for count in ["17\n", "17        \n", "17\r\n"] {
            let file = [count.as_bytes(), message, b"<?xml version=\"1.0\"?>\n<plist/>\n"].concat();
            assert_eq!(message_within(&file), Ok(&message[..]), "{count:?}");
            assert!(message_within(&file[..16]).is_err(), "{count:?}");
        }
        for other in [
            "Subject: 18\n\nbody",
            "18 mails\n\nbody",
            "\n",
            "",
            "1234567890123\nbody",
            "18",
            "1\nSubject: s\n\nbody",
        ] {
            assert_eq!(message_within(other.as_bytes()), Ok(other.as_bytes()));
        }
    }
}
