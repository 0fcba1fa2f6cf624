//! `text/enriched` and `text/richtext` to their text.

/// Longest name of a command.
const LONGEST: usize = 60;

/// Commands whose content is not shown.
const HIDDEN: [&str; 2] = ["param", "comment"];

/// The text without its commands (RFC 1896; RFC 1341, section 7.1.3).
pub(super) fn enriched_text(markup: &str) -> String {
    let mut text = String::with_capacity(markup.len());
    let mut rest = markup;
    let mut may_end = [true; HIDDEN.len()];
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        let behind = &rest[open + 1..];
        let Some((name, after)) = command(behind) else {
            // A sign that begins no command is written twice, or stands for itself.
            rest = behind.strip_prefix('<').unwrap_or(behind);
            text.push('<');
            continue;
        };
        rest = after;
        let name = name.to_ascii_lowercase();
        match &*name {
            "lt" => text.push('<'),
            "nl" | "np" | "paragraph" | "/paragraph" => text.push('\n'),
            name => {
                let hidden = HIDDEN.iter().position(|hidden| *hidden == name).filter(|at| may_end[*at]);
                if let Some(at) = hidden {
                    match behind_end(rest, name) {
                        Some(shown) => rest = shown,
                        // What never ends is shown.
                        None => may_end[at] = false,
                    }
                }
            }
        }
    }
    text.push_str(rest);
    text
}

/// What stands behind the end of a command.
fn behind_end<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let end = format!("</{name}>");
    let mut windows = text.as_bytes().windows(end.len());
    let at = windows.position(|window| window.eq_ignore_ascii_case(end.as_bytes()))?;
    Some(&text[at + end.len()..])
}

/// The name of a command, and what stands behind it.
fn command(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().take(LONGEST + 2).position(|byte| byte == b'>')?;
    let name = &text[..end];
    let letters = name.strip_prefix('/').unwrap_or(name);
    let is_name =
        !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_name.then(|| (name, &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_go() {
        for (markup, text) in [
            ("<bold>Now</bold> is the <color><param>red</param>time</color>", "Now is the time"),
            ("one<nl>two <lt> three << four<Comment>no</Comment>", "one\ntwo < three < four"),
            ("a < b > c <a@b.c> <", "a < b > c <a@b.c> <"),
            ("<x-tad-bigger>caf\u{e9}</x-tad-bigger>", "caf\u{e9}"),
            ("<param>never <bold>ended</bold>", "never ended"),
        ] {
            assert_eq!(enriched_text(markup), text);
        }
    }
}
