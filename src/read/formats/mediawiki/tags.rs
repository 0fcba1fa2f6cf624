//! Tags and entities of XML, as much of them as exports have.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// What a tag does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagKind {
    /// It opens an element.
    Open,
    /// It closes one.
    Close,
    /// It is an element without content.
    Empty,
}

/// A tag, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct XmlTag<'a> {
    pub(super) kind: TagKind,
    pub(super) name: &'a str,
    pub(super) attributes: &'a str,
    /// Its first byte, and the byte behind it.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The next tag at or behind `from`; `None` if there is none.
///
/// # Errors
/// What is wrong with it.
pub(super) fn next_tag(text: &str, from: usize) -> Result<Option<XmlTag<'_>>, &'static str> {
    let Some(start) = memchr(b'<', &text.as_bytes()[from..]).map(|at| from + at) else { return Ok(None) };
    let end = tag_end(&text.as_bytes()[start..]).ok_or("a tag that does not end")? + start;
    let inner = &text[start + 1..end - 1];
    let (kind, inner) = match (inner.strip_prefix('/'), inner.strip_suffix('/')) {
        (Some(inner), _) => (TagKind::Close, inner),
        (_, Some(inner)) => (TagKind::Empty, inner),
        _ => (TagKind::Open, inner),
    };
    let (name, attributes) = inner.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((inner, ""));
    if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return Err("what exports do not have: a comment, a declaration or CDATA");
    }
    Ok(Some(XmlTag { kind, name, attributes, start, end }))
}

/// Where the tag ends with which bytes begin. A `>` between quotes is a part of a value.
fn tag_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        let end = memchr(b'>', &bytes[at..])? + at;
        let Some(quote) = memchr2(b'"', b'\'', &bytes[at..end]).map(|quote| at + quote) else {
            return Some(end + 1);
        };
        at = quote + 1 + memchr(bytes[quote], &bytes[quote + 1..])? + 1;
    }
}

/// The value of an attribute, its entities decoded.
pub(super) fn attribute_value<'a>(mut attributes: &'a str, wanted: &str) -> Option<Cow<'a, str>> {
    loop {
        let (name, rest) = attributes.split_once('=')?;
        let rest = rest.trim_ascii_start();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let (value, behind) = rest[1..].split_once(quote)?;
        if name.trim_ascii() == wanted {
            return unescaped(value);
        }
        attributes = behind;
    }
}

/// A text with its entities decoded; `None` if one of them is none of XML.
pub(super) fn unescaped(text: &str) -> Option<Cow<'_, str>> {
    let Some(first) = memchr(b'&', text.as_bytes()) else { return Some(Cow::Borrowed(text)) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(behind) = rest.strip_prefix('&') {
        // The longest that there are is `&#x10ffff;`, unless someone writes zeros before it.
        let end = memchr(b';', &behind.as_bytes()[..behind.len().min(32)])?;
        out.push(entity(&behind[..end])?);
        rest = &behind[end + 1..];
        let next = memchr(b'&', rest.as_bytes()).unwrap_or(rest.len());
        out.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    Some(Cow::Owned(out))
}

/// The character that an entity stands for.
fn entity(name: &str) -> Option<char> {
    let number = |digits: &str, radix| {
        let digits = Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_alphanumeric()))?;
        u32::from_str_radix(digits, radix).ok().filter(|number| *number > 0).and_then(char::from_u32)
    };
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        name => match (name.strip_prefix("#x"), name.strip_prefix('#')) {
            (Some(digits), _) => number(digits, 16),
            (_, Some(digits)) => number(digits, 10),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_told_apart() {
        let text = "a<b c=\"x>y\" d='/'>e</b ><f />";
        let first = next_tag(text, 0).expect("well-formed").expect("a tag");
        assert_eq!(
            (first.kind, first.name, first.attributes, first.start, first.end),
            (TagKind::Open, "b", "c=\"x>y\" d='/'", 1, 18)
        );
        let second = next_tag(text, first.end).expect("well-formed").expect("a tag");
        assert_eq!((second.kind, second.name), (TagKind::Close, "b"));
        let third = next_tag(text, second.end).expect("well-formed").expect("a tag");
        assert_eq!((third.kind, third.name, third.end), (TagKind::Empty, "f", text.len()));
        assert_eq!(next_tag(text, third.end), Ok(None));
        for wrong in ["<", "<a", "<a b=\">", "<!-- -->", "<![CDATA[a]]>", "<?a?>", "<>", "</>", "< a>"] {
            assert!(next_tag(wrong, 0).is_err(), "{wrong}");
        }
    }

    #[test]
    fn attributes_and_entities_are_decoded() {
        let value =
            |name| attribute_value("a=\"1\" xml:space = 'p' title=\"A &amp; &quot;B&quot;\" b=\"&x;\"", name);
        assert_eq!(
            [value("a"), value("xml:space"), value("title")].map(Option::unwrap),
            ["1", "p", "A & \"B\""]
        );
        assert_eq!(
            [value("b"), value("space"), attribute_value("a", "a"), attribute_value("a=b", "a")],
            [None, None, None, None]
        );
        let decoded = "&lt;&gt;&amp;&apos;&#65;&#x1F600;&#0000000000000000000066;\u{e9}&amp;lt;";
        assert_eq!(unescaped(decoded).expect("decoded"), "<>&'A\u{1f600}B\u{e9}&lt;");
        assert!(matches!(unescaped("no entities"), Some(Cow::Borrowed(_))));
        for wrong in [
            "&",
            "&;",
            "&nbsp;",
            "a & b;",
            "&#;",
            "&#0;",
            "&#xd800;",
            "&#x110000;",
            "&#+5;",
            "&#99999999999;",
        ] {
            assert_eq!(unescaped(wrong), None, "{wrong}");
        }
    }
}
