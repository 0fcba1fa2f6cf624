//! The inside of a JSON string to the text it stands for.

use memchr::memchr;

/// Replaces `into` by what `raw`, the inside of a string that was scanned already, stands for.
/// The one thing a scan lets pass that is no text is a surrogate without its partner.
pub(super) fn unescape(raw: &str, into: &mut String) -> Result<(), &'static str> {
    into.clear();
    // An escape is never shorter than its character.
    into.reserve(raw.len());
    let mut rest = raw;
    while let Some(place) = memchr(b'\\', rest.as_bytes()) {
        into.push_str(&rest[..place]);
        let (character, length) = escape(&rest[place..])?;
        into.push(character);
        rest = &rest[place + length..];
    }
    into.push_str(rest);
    Ok(())
}

/// The character that the escape at the start of `text` stands for, and the escape's length.
fn escape(text: &str) -> Result<(char, usize), &'static str> {
    let character = match text.as_bytes().get(1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode(text),
        _ => return Err("an unknown escape"),
    };
    Ok((character, 2))
}

/// The character of one `\uXXXX`, or of two that are a surrogate pair.
fn unicode(text: &str) -> Result<(char, usize), &'static str> {
    const LONE: &str = "half of a surrogate pair in an escape";
    let first = hex(text).ok_or(LONE)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 6));
    }
    let second = text.get(6..).and_then(hex).ok_or(LONE)?;
    if first >= 0xdc00 || !(0xdc00..0xe000).contains(&second) {
        return Err(LONE);
    }
    let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    char::from_u32(code).map(|character| (character, 12)).ok_or(LONE)
}

/// The number of the `\uXXXX` at the start of `text`.
fn hex(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees(raw: &str) {
        let mut ours = String::from("left over");
        let theirs = serde_json::from_str::<String>(&format!("\"{raw}\""));
        match unescape(raw, &mut ours) {
            Ok(()) => assert_eq!(theirs.ok().as_ref(), Some(&ours), "{raw}"),
            Err(_) => assert!(theirs.is_err(), "{raw}"),
        }
    }

    #[test]
    fn agrees_with_serde_json() {
        for raw in [
            "",
            "plain",
            r"\n",
            r#"a\"b\\c\/d\be\ff\ng\rh\ti"#,
            r"\u00e9\u0000",
            r"\ud83d\ude00 x",
            r"x\uD83D\uDE00",
            r"\ud83d",
            r"\ude00",
            r"\ud83d\n",
            r"\ud83dx",
            r"\ud83d\ud83d",
            r"\ude00\ud83d",
            r"\ud83d\u0041",
            r"\uFFFF\ue000\udbff\udfff",
            "\u{1f600}\\n\u{e9}",
        ] {
            agrees(raw);
        }
    }

    #[test]
    fn is_total_on_what_no_scan_lets_pass() {
        let mut into = String::new();
        for raw in ["\\", r"\u", r"\u12", r"\u12g4", r"\x", "\\\u{e9}", "\\u00\u{e9}1", r"\ud83d\u"] {
            assert!(unescape(raw, &mut into).is_err(), "{raw}");
        }
    }
}
