//! The parts of messages as another parser has them, and of messages that break the rules.

use super::media::{ListKind, Media, PartHead};
use super::parts::{MailPart, MailParts};
use mail_parser::{Message, MessageParser as Messages};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

/// The parts of a message behind its headers.
fn parts_of(message: &str) -> MailParts {
    let (headers, body) = message.split_once("\r\n\r\n").expect("a blank line");
    MailParts::of(
        message.as_bytes(),
        PartHead::read(&message.as_bytes()[..headers.len() + 2], ListKind::Other),
        message.len() - body.len(),
    )
}

/// What its texts, its pages and its attachments hold.
fn contents(message: &str) -> [Vec<String>; 3] {
    let parts = parts_of(message);
    let content =
        |part: &MailPart| String::from_utf8(part.content(message.as_bytes()).into_owned()).expect("text");
    let bodies = |places: &[usize]| places.iter().map(|at| content(&parts.all[*at])).collect();
    let attached = parts.all.iter().filter(|part| part.is_attachment).map(content).collect();
    [bodies(&parts.texts), bodies(&parts.pages), attached]
}

/// The same as another parser has it.
fn contents_elsewhere(message: &Message<'_>) -> [Vec<String>; 3] {
    let content =
        |id: &u32| String::from_utf8(message.part(*id).expect("a part").contents().to_vec()).expect("text");
    [&message.text_body, &message.html_body, &message.attachments]
        .map(|ids| ids.iter().map(content).collect())
}

/// A part, or a list of such.
fn any_part() -> BoxedStrategy<String> {
    let headers = [
        "",
        "Content-Type: text/plain\r\n",
        "Content-Type: text/plain; name=\"a.txt\"\r\n",
        "Content-Type: text/plain;\r\n charset=utf-8\r\nContent-Disposition: attachment; filename=a\r\n",
        "Content-Type: text/html\r\n",
        "Content-Disposition: inline\r\nContent-Type: text/html; name=b\r\n",
        // Others it has among bodies, too.
        "Content-Type: image/png\r\nContent-Disposition: attachment\r\n",
        "Content-Type: application/pdf\r\n",
        "Content-Type: message/rfc822\r\n",
    ];
    let content = "[a-z-]{0,9}(\r\n[a-z -]{0,9}){0,3}";
    let leaf = (prop::sample::select(headers.to_vec()), content)
        .prop_map(|(headers, content)| format!("{headers}\r\nSubject: s\r\n\r\n{content}"));
    let kinds = ["mixed", "alternative", "related", "digest", "signed"];
    let list = move |part: BoxedStrategy<String>| {
        let parts = prop::collection::vec(part, 1..4);
        (prop::sample::select(kinds.to_vec()), parts).prop_map(|(kind, parts)| {
            // No list within this one has the same.
            let delimiter = format!("=_{:x}_", xxh3_64(parts.concat().as_bytes()));
            let parts: String = parts.iter().map(|part| format!("--{delimiter}\r\n{part}\r\n")).collect();
            format!(
                "Content-Type: multipart/{kind}; boundary=\"{delimiter}\"\r\n\r\n{parts}--{delimiter}--\r\n"
            )
        })
    };
    leaf.prop_recursive(4, 16, 3, list).boxed()
}

proptest! {
    #[test]
    fn valid_messages_have_the_parts_of_another_parser(part in any_part()) {
        let message = format!("Subject: s\r\n{part}");
        let parsed = Messages::default().parse(&message).expect("a message");
        prop_assert_eq!(contents(&message), contents_elsewhere(&parsed), "{}", message);
    }

    #[test]
    fn whatever_is_cut_off_has_parts(part in any_part(), at: prop::sample::Index) {
        let message = format!("Subject: s\r\n{part}");
        let body = message.find("\r\n\r\n").expect("a blank line") + 4;
        let cut = body + at.index(message.len() - body + 1);
        for part in parts_of(&message[..cut]).all {
            prop_assert!(part.start <= part.end && part.end <= cut);
        }
    }
}

fn list(body: &str) -> String {
    format!("Content-Type: multipart/mixed; boundary=bb\r\n\r\n{body}")
}

#[test]
fn lists_are_read_as_far_as_they_go() {
    let texts = |message: &str| {
        let [texts, _, attached] = contents(message);
        assert_eq!(attached, [""; 0], "{message}");
        texts
    };
    let plain = "Content-Type: text/plain\r\n\r\n";
    assert_eq!(texts(&list(&format!("--bb\r\n{plain}one\r\n"))), ["one\r\n"]);
    assert_eq!(texts(&list(&format!("--bb\r\n{plain}one\r\n--bb\r\n{plain}two"))), ["one", "two"]);
    assert_eq!(texts(&list(&format!("--bb\r\n{plain}one\r\n--bb\r\n"))), ["one"]);
    assert_eq!(texts(&list(&format!("before\r\n--bb \t\r\n{plain}one\r\n--bb-- \r\nbehind"))), ["one"]);
    // Another delimiter, or none, divides nothing.
    let other = format!("--cc\r\n{plain}one\r\n");
    assert_eq!(texts(&list(&other)), [&*other]);
    assert_eq!(texts(&format!("Content-Type: multipart/mixed\r\n\r\n{other}")), [&*other]);
    // One that only begins so, or does not begin the line, is content.
    let longer = "--bbb\r\n >--bb\r\n--bb--b\r\n";
    assert_eq!(texts(&list(&format!("--bb\r\n{plain}{longer}\r\n--bb--"))), [longer]);
    // The list around ends one that nothing else ends.
    let inner = format!(
        "--bb\r\nContent-Type: multipart/mixed; boundary=cc\r\n\r\n{other}\r\n--bb\r\n\r\ntwo\r\n--bb--"
    );
    assert_eq!(texts(&list(&inner)), ["one\r\n", "two"]);
    assert_eq!(
        texts(&list(&inner.replace("--cc", "--dd"))),
        ["--dd\r\nContent-Type: text/plain\r\n\r\none\r\n", "two"]
    );
    // One with the delimiter of the list around it hides that.
    assert_eq!(texts(&list(&inner.replace("cc", "bb"))), ["one\r\n", "two"]);
    // Headers end before a line that is none.
    assert_eq!(texts(&list(&format!("--bb\r\n{}no header\r\n--bb--", &plain[..26]))), ["no header"]);
    assert_eq!(texts(&list("--bb\r\nno header\r\n\r\nat all\r\n--bb--")), ["no header\r\n\r\nat all"]);
    assert_eq!(texts(&list("")), [""]);
}

#[test]
fn types_that_are_none_are_text() {
    let media = |named: &str, content: &str| {
        parts_of(&format!("Content-Type: {named}\r\n\r\n{content}")).all[0].media
    };
    for named in [
        "text",
        "TEXT",
        "text/plain",
        "TEXT/PLAIN charset=US-ASCII",
        "text/plain, charset=utf-8",
        "text/",
        "text / plain",
    ] {
        assert_eq!(media(named, "a"), Media::Plain, "{named}");
    }
    for named in ["plain/text", "unknown", "X-sun-attachment", "*/*", "html/text", "x-a", "application"] {
        assert_eq!(media(named, "a"), Media::Plain, "{named}");
        assert_eq!(media(named, "<html>a"), Media::Html, "{named}");
        assert_eq!(media(named, "a\0b"), Media::Other, "{named}");
    }
    assert_eq!(media("", "a"), Media::Plain);
    assert_eq!(media("text/html, charset=utf-8", "a"), Media::Html);
    assert_eq!((media("text/RichText", "a"), media("text/csv", "a")), (Media::Enriched, Media::OtherText));
    for named in ["application/octet-stream", "image/png", "x-a/b", "video/x; a=b"] {
        assert_eq!(media(named, "a"), Media::Other, "{named}");
    }
    let charset = |named: &str| parts_of(&format!("Content-Type: {named}\r\n\r\na")).all.remove(0).charset;
    for named in ["text/plain charset=koi8-r", "text/plain, charset=\"KOI8-R\"", "text/plain; charset=koi8-r"]
    {
        assert!(charset(named).is_some_and(|name| name.eq_ignore_ascii_case("koi8-r")), "{named}");
    }
}

#[test]
fn texts_of_other_kinds_are_bodies_but_beside_what_says_the_same() {
    let part =
        |named: &str, content: &str| format!("--bb\r\nContent-Type: text/{named}\r\n\r\n{content}\r\n");
    let [texts, pages, attached] = contents(&list(&[part("x-patch", "one"), part("csv", "two")].concat()));
    assert_eq!((texts, attached.len()), (vec!["one".to_owned(), "two\r\n".to_owned()], 0));
    assert_eq!(pages, ["one", "two\r\n"]);
    let alternative = |parts: &[String]| contents(&list(&parts.concat()).replace("mixed", "alternative"));
    let [texts, pages, attached] = alternative(&[part("enriched", "one"), part("calendar", "two")]);
    assert_eq!(
        (texts, pages, attached),
        (vec!["one".to_owned()], vec!["one".to_owned()], vec!["two\r\n".to_owned()])
    );
    let [texts, pages, attached] = alternative(&[part("enriched", "one"), part("plain", "two")]);
    assert_eq!(
        (texts, pages, attached),
        (vec!["two\r\n".to_owned()], vec!["two\r\n".to_owned()], vec!["one".to_owned()])
    );
    let attached = "Content-Type: text/csv\r\nContent-Disposition: attachment\r\n\r\none";
    assert_eq!(contents(attached), [vec![], vec![], vec!["one".to_owned()]]);
}
