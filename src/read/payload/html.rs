//! HTML to its text: what stands between the tags, without what is never shown.

use std::convert::Infallible;

use html5gum::Span;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use memchr::memmem;

use super::charset::utf_16_of_markup;
use super::main_text::MainBlocks;
use super::markup_reader::tokens;
use super::quotation::Quotation;
use crate::read::BOM;
use crate::read::field::Fields;

/// Elements whose content is no text.
const UNSEEN: [&[u8]; 7] =
    [b"script", b"style", b"template", b"noscript", b"noembed", b"noframes", b"iframe"];
/// Elements whose content is text, and says of itself that it is no main text.
const APART: [&[u8]; 3] = [b"nav", b"select", b"title"];
/// Elements whose content is nothing that the sender of a mail says, beside quotations.
const NOT_OWN: [&[u8]; 8] =
    [b"script", b"style", b"template", b"noscript", b"noembed", b"noframes", b"iframe", b"title"];
/// Elements within a line: words on both sides of their tags may be one word.
const WITHIN_LINES: [&[u8]; 38] = [
    b"a", b"abbr", b"acronym", b"b", b"bdi", b"bdo", b"big", b"blink", b"cite", b"code", b"data", b"del",
    b"dfn", b"em", b"font", b"i", b"ins", b"kbd", b"label", b"mark", b"nobr", b"output", b"q", b"rb",
    b"ruby", b"s", b"samp", b"small", b"span", b"strike", b"strong", b"sub", b"sup", b"time", b"tt", b"u",
    b"var", b"wbr",
];
/// How HTML begins, in lower case: with a space or the end of the tag behind it, or it is another tag.
const BEGINNINGS: [&[u8]; 11] = [
    b"<!doctype html",
    b"<html",
    b"<head",
    b"<title",
    b"<meta",
    b"<body",
    b"<script",
    b"<link",
    b"<style",
    b"<div",
    b"<p>",
];
/// A space that is no blank of ASCII.
const NO_BREAK: &[u8] = "\u{a0}".as_bytes();
/// Bytes looked at of UTF-16.
const BEGINNING: usize = 1024;

/// Whether bytes begin as HTML does, comments and an XML declaration left aside.
pub(in crate::read) fn looks_like_html(bytes: &[u8]) -> bool {
    match utf_16_of_markup(bytes) {
        Some(encoding) => begins_html(encoding.decode(&bytes[..bytes.len().min(BEGINNING)]).0.as_bytes()),
        None => begins_html(bytes),
    }
}

/// The same of bytes that are no UTF-16.
fn begins_html(bytes: &[u8]) -> bool {
    let mut rest = bytes.trim_ascii_start();
    while let Some(behind) = [BOM, NO_BREAK].iter().find_map(|blank| rest.strip_prefix(*blank)) {
        rest = behind.trim_ascii_start();
    }
    while let Some(behind) = [("<!--", "-->"), ("<?xml", "?>")].iter().find_map(|(start, end)| {
        let begin = rest.get(..start.len())?;
        let inside = &rest[start.len()..];
        let behind = || memmem::find(inside, end.as_bytes()).map_or(&b""[..], |at| &inside[at + end.len()..]);
        begin.eq_ignore_ascii_case(start.as_bytes()).then(behind)
    }) {
        rest = behind.trim_ascii_start();
    }
    BEGINNINGS.iter().any(|tag| {
        let begin = rest.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag));
        let ends = |byte: &u8| tag.ends_with(b">") || byte.is_ascii_whitespace() || b"/>[".contains(byte);
        begin && rest.get(tag.len()).is_none_or(ends)
    })
}

/// How much of a page is its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum ShownText {
    /// All that is shown.
    All,
    /// What is no menu, no list of links and no notice; all, if that is hardly anything.
    Main,
    /// What does not stand in quotations. In place of each stands a line `>`.
    Unquoted,
}

impl ShownText {
    /// What `fields` want of pages.
    pub(in crate::read) fn wanted(fields: &Fields) -> ShownText {
        if fields.main_text { ShownText::Main } else { ShownText::All }
    }

    /// The text of `markup` into `text`. Elements that begin a line in a browser begin one here. In XHTML, which `markup` also
    /// is if it begins with an XML declaration, a tag may close itself, and scripts are markup like all else.
    pub(in crate::read) fn take(self, markup: &str, xhtml: bool, text: &mut String) {
        let mut main = (self == ShownText::Main).then(MainBlocks::new);
        text.clear();
        let xhtml = xhtml || markup.trim_start_matches('\u{feff}').trim_start().starts_with("<?xml");
        let mut quotation = (self == ShownText::Unquoted).then(Quotation::default);
        let mut unseen = Unseen::of(if quotation.is_some() { &NOT_OWN } else { &UNSEEN });
        let mut apart = Unseen::of(&APART);
        let (mut opens_anchor, mut in_pre) = (false, false);
        let mut emitter =
            CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
                match event {
                    CallbackEvent::CloseStartTag { self_closing: true } if xhtml => {
                        unseen.close_opened();
                        quotation.iter_mut().for_each(Quotation::close_opened);
                        apart.close_opened();
                        if std::mem::take(&mut opens_anchor) {
                            main.iter_mut().for_each(|main| main.close_link(text));
                        }
                    }
                    CallbackEvent::OpenStartTag { name } => {
                        end_line(name, text, main.as_mut(), apart.depth > 0);
                        unseen.open(name);
                        if unseen.depth == 0 && apart.open(name) {
                            main.iter_mut().for_each(|main| main.pass(text));
                        }
                        in_pre |= name == b"pre";
                        opens_anchor = name == b"a";
                        if unseen.depth == 0
                            && quotation.as_mut().is_some_and(|quotation| quotation.open(name))
                        {
                            text.push_str(">\n");
                        }
                    }
                    CallbackEvent::AttributeName { name }
                        if opens_anchor && name == b"href" && unseen.depth == 0 && apart.depth == 0 =>
                    {
                        main.iter_mut().for_each(|main| main.open_link(text));
                    }
                    CallbackEvent::EndTag { name } => {
                        end_line(name, text, main.as_mut(), apart.depth > 0);
                        in_pre &= name != b"pre";
                        let was_seen = unseen.depth == 0;
                        unseen.close(name);
                        quotation.iter_mut().filter(|_| was_seen).for_each(|quotation| quotation.close(name));
                        if was_seen && apart.close(name) {
                            main.iter_mut().for_each(|main| main.pass(text));
                        }
                    }
                    CallbackEvent::String { value }
                        if unseen.depth == 0 && !quotation.as_ref().is_some_and(Quotation::is_open) =>
                    {
                        let value = String::from_utf8_lossy(value);
                        // Where lines tell what is quoted, those of the source are none that anybody sees.
                        if quotation.is_some() && !in_pre {
                            text.push_str(&value.replace(['\n', '\r'], " "));
                        } else {
                            text.push_str(&value);
                        }
                    }
                    _ => {}
                }
                None
            });
        emitter.naively_switch_states(!xhtml);
        // No event is a token, so the first one is behind the end.
        let None::<Infallible> = tokens(markup, emitter).next();
        if let Some(mut main) = main {
            if apart.depth > 0 {
                main.pass(text);
            }
            main.finish(text);
        }
    }
}

/// All text of `markup` into `text`, as [`ShownText::take`] has it.
pub(in crate::read) fn html_text(markup: &str, xhtml: bool, text: &mut String) {
    ShownText::All.take(markup, xhtml, text);
}

/// The title of a page, without spaces around it; `None` if it has none.
pub(super) fn html_title(markup: &str) -> Option<String> {
    let (mut title, mut inside) = (String::new(), false);
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<()> {
        match event {
            CallbackEvent::OpenStartTag { name } => inside = name == b"title",
            CallbackEvent::EndTag { name } if name == b"title" => return Some(()),
            CallbackEvent::String { value } if inside => title.push_str(&String::from_utf8_lossy(value)),
            _ => {}
        }
        None
    });
    emitter.naively_switch_states(true);
    let ended = tokens(markup, emitter).next().is_some();
    Some(title.trim().to_owned()).filter(|title| ended && !title.is_empty())
}

/// The element within which nothing is text.
struct Unseen {
    /// Which elements are such ones.
    names: &'static [&'static [u8]],
    name: Option<&'static [u8]>,
    /// How many of that name are open, one within the other.
    depth: usize,
    /// Whether the last tag opened one of them.
    opened: bool,
}

impl Unseen {
    fn of(names: &'static [&'static [u8]]) -> Unseen {
        Unseen { names, name: None, depth: 0, opened: false }
    }

    /// Returns whether one was closed by it, and nothing of the kind is open any more.
    fn open(&mut self, name: &[u8]) -> bool {
        self.opened = false;
        match self.name {
            None => self.name = self.names.iter().copied().find(|unseen| *unseen == name),
            Some(open) if open != name => return false,
            // Browsers take a second one for the end of the first.
            Some(b"select") => return self.close_last(),
            Some(_) => {}
        }
        self.opened = self.name.is_some();
        self.depth += usize::from(self.opened);
        false
    }

    /// Returns whether nothing of the kind is open any more that was open before.
    fn close(&mut self, name: &[u8]) -> bool {
        self.opened = false;
        self.name == Some(name) && self.close_last()
    }

    /// Closes what the last tag opened: it closes itself.
    fn close_opened(&mut self) {
        if std::mem::take(&mut self.opened) {
            self.close_last();
        }
    }

    fn close_last(&mut self) -> bool {
        self.depth -= 1;
        if self.depth == 0 {
            self.name = None;
        }
        self.depth == 0
    }
}

/// Ends the line at a tag that is not within one, and the block at one that is no mere line break. A tag of a link ends the one before.
fn end_line(name: &[u8], text: &mut String, main: Option<&mut MainBlocks>, is_apart: bool) {
    if WITHIN_LINES.contains(&name) {
        if let Some(main) = main.filter(|_| name == b"a") {
            main.close_link(text);
        }
        return;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if let Some(main) = main.filter(|_| name != b"br" && !is_apart) {
        main.end_block(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(markup: &str) -> Vec<String> {
        let mut text = "before".to_owned();
        html_text(markup, false, &mut text);
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn tags_go_and_blocks_divide_words() {
        assert_eq!(
            words("<p>one<b>t</b>wo<p>three<br>four<td>five</td>six"),
            ["onetwo", "three", "four", "five", "six"]
        );
        assert_eq!(words("<p><label>on<time>e</time></label>s <output>t</output>wo"), ["ones", "two"]);
        assert_eq!(words("a &amp; b &eacute;t&#233; &lt;p&gt;"), ["a", "&", "b", "\u{e9}t\u{e9}", "<p>"]);
        assert_eq!(words("<title>t &amp; u</title><textarea><b></textarea>"), ["t", "&", "u", "<b>"]);
        assert_eq!(words("1 < 2 <!-- x --> and <a href='>'>b</a>"), ["1", "<", "2", "and", "b"]);
    }

    #[test]
    fn what_is_never_shown_is_no_text() {
        assert_eq!(words("a<script>if (1 < 2) '<p>x'</script>b"), ["a", "b"]);
        assert_eq!(
            words("<style>x{}</style><noscript>y</noscript><TEMPLATE>z<template>w</template>v</template>c"),
            ["c"]
        );
        assert_eq!(words("a</script>b</template>c"), ["a", "b", "c"]);
        assert_eq!(words("a<template>never closed"), ["a"]);
    }

    #[test]
    fn tags_of_xhtml_may_close_themselves() {
        let page = "<html><head><script src='a.js'/><style/></head><p>one<script>x</script>two</p></html>";
        let mut text = String::new();
        html_text(page, true, &mut text);
        assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(words(&format!("<?xml version='1.0'?>{page}")), ["one", "two"]);
    }

    #[test]
    fn broken_markup_is_read_to_its_end() {
        for markup in
            ["<", "<a", "<a b=", "<!--", "<![CDATA[x", "&#xffffffff;", "&", "</", "<script>", "\0<\0>"]
        {
            words(markup);
        }
        assert_eq!(words(&format!("{}x", "<div>".repeat(100_000))), ["x"]);
    }

    #[test]
    fn html_is_known_by_its_beginning() {
        let behind_much = format!("<!--{}-->{}<body>", "c".repeat(BEGINNING), "\n".repeat(BEGINNING));
        for html in [
            "<!DOCTYPE html>",
            "\u{feff} <HTML lang=en>",
            "<?xml version='1.0'?>\n<!-- c --><html>",
            "<p>x",
            "<Div\nid=a>",
            "<!DOCTYPE html[<!ENTITY a 'b'>]>",
            "\u{feff}\u{feff}\u{a0} <html>",
            &behind_much,
        ] {
            assert!(looks_like_html(html.as_bytes()), "{html}");
        }
        for other in [
            "",
            "text <html>",
            "<xml>",
            "<!doctype book>",
            "<!-- only a comment",
            "{\"a\": \"<p>\"}",
            "<header>",
            "<headline>x",
            "<metadata xmlns='a'>",
            "<linkGrp>",
            "<html5>",
            "<p align=\"center\">",
            "<article xmlns='a'>",
        ] {
            assert!(!looks_like_html(other.as_bytes()), "{other}");
        }
    }
}
