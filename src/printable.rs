//! Text for people: names from the user's files made harmless for a terminal, and numbers with their nouns.

use std::borrow::Cow;

/// `text` with every character escaped that would act on a terminal or hide in it: control, bidirectional, zero-width
/// and other invisible ones. Names and texts from the user's files pass through here before they are shown.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => safe.extend(c.escape_default()),
            c if acts(c) => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// A line of JSON with the same characters escaped as JSON escapes them: they can only stand in its strings.
pub fn json_escaped(line: &str) -> Cow<'_, str> {
    if !line.chars().any(acts) {
        return Cow::Borrowed(line);
    }
    let mut safe = String::with_capacity(line.len() + 16);
    for c in line.chars() {
        if acts(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| safe.push_str(&format!("\\u{unit:04x}")));
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// `1 record`, `250 records`: a number and what it counts.
pub fn counted(n: u64, one: &str) -> String {
    format!("{n} {}", plural(n, one))
}

/// The noun after the number `n`; `one` is its singular, and an s makes it the plural.
pub fn plural(n: u64, one: &str) -> String {
    if n == 1 { one.to_owned() } else { format!("{one}s") }
}

/// Whether a character does something else than stand for itself.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' // zero-width and direction marks
            | '\u{2028}'..='\u{202e}' // separators, embeddings and overrides
            | '\u{2060}'..='\u{206f}' // joiners, isolates and deprecated controls
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' // interlinear annotation
            | '\u{e0000}'..='\u{e007f}' // tags: invisible ASCII
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_shown_as_it_is() {
        for text in ["", "a plain name.txt", "\u{e9}\u{4e2d}\u{6587} \u{1f600}", "C:\\files"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn what_acts_on_a_terminal_is_escaped() {
        for (text, safe) in [
            ("a\u{1b}[31mred", "a\\u{1b}[31mred"),
            ("line\nbreak\ttab\r", "line\\nbreak\\ttab\\r"),
            ("bell\u{7} del\u{7f} c1\u{9b}", "bell\\u{7} del\\u{7f} c1\\u{9b}"),
            ("gpj.\u{202e}exe", "gpj.\\u{202e}exe"),
            ("zero\u{200b}width\u{feff}\u{2066}", "zero\\u{200b}width\\u{feff}\\u{2066}"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
        ] {
            assert_eq!(printable(text), safe);
            assert!(!printable(text).chars().any(acts));
        }
    }

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "record")), ["0 records", "1 record", "2 records"]);
    }

    #[test]
    fn escaped_json_means_the_same() {
        let line = "{\"a\":\"x\u{202e}\u{9b}\u{e0041}\"}";
        let safe = json_escaped(line);
        assert_eq!(safe, r#"{"a":"x\u202e\u009b\udb40\udc41"}"#);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(value(&safe), value(line));
        assert!(matches!(json_escaped("{}"), Cow::Borrowed("{}")));
    }
}
