//! What stands on a page: its tags, and its text as people read it. Read by a tokenizer of its own, not by what wrote it.

use std::collections::BTreeMap;

use html5gum::{Token, Tokenizer};

use super::client::{Reply, Server};

/// What Chromium accepts.
pub(super) const BROWSER: &str =
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

/// A tag.
#[derive(Clone, Debug)]
pub(super) struct Tag {
    pub(super) name: String,
    pub(super) attributes: BTreeMap<String, String>,
}

/// A page.
#[derive(Debug)]
pub(super) struct Markup {
    pub(super) tags: Vec<Tag>,
    /// All text, but for what stands in the head.
    pub(super) text: String,
    /// The cells of all rows of bodies of tables.
    pub(super) rows: Vec<Vec<String>>,
}

fn string(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

impl Markup {
    /// Reads a page. Whatever stands open at its end, or is closed twice, is wrong.
    pub(super) fn read(bytes: &[u8]) -> Markup {
        let source = String::from_utf8(bytes.to_vec()).unwrap();
        let mut markup = Markup { tags: Vec::new(), text: String::new(), rows: Vec::new() };
        let mut open: Vec<String> = Vec::new();
        let void = ["meta", "link", "input", "br"];
        for token in Tokenizer::new(&source) {
            match token.unwrap() {
                Token::StartTag(tag) => {
                    let name = string(&tag.name);
                    let attributes =
                        tag.attributes.iter().map(|(name, value)| (string(name), string(&value.value)));
                    markup.tags.push(Tag { name: name.clone(), attributes: attributes.collect() });
                    if name == "tr" && open.iter().any(|open| open == "tbody") {
                        markup.rows.push(Vec::new());
                    }
                    if ["td", "th"].contains(&&*name) && open.iter().any(|open| open == "tbody") {
                        markup.rows.last_mut().unwrap().push(String::new());
                    }
                    if !void.contains(&&*name) {
                        open.push(name);
                    }
                }
                Token::EndTag(tag) => assert_eq!(open.pop(), Some(string(&tag.name)), "{source}"),
                Token::String(text) if open.iter().any(|open| open == "body") => {
                    let text = string(&text.value);
                    let in_cell = open.iter().any(|open| open == "td" || open == "th");
                    if in_cell && open.iter().any(|open| open == "tbody") {
                        markup.rows.last_mut().unwrap().last_mut().unwrap().push_str(&text);
                    }
                    markup.text.push_str(&text);
                }
                Token::Error(error) => panic!("{error:?}: {source}"),
                _ => {}
            }
        }
        assert!(open.is_empty(), "{open:?} is open: {source}");
        markup
    }

    /// All values of an attribute, of tags of a name.
    pub(super) fn values(&self, tag: &str, attribute: &str) -> Vec<&str> {
        let tags = self.tags.iter().filter(|found| found.name == tag);
        tags.filter_map(|found| found.attributes.get(attribute)).map(String::as_str).collect()
    }

    /// Where the only link with an attribute of a value leads.
    pub(super) fn link(&self, attribute: &str, value: &str) -> Option<String> {
        let with =
            |tag: &&Tag| tag.name == "a" && tag.attributes.get(attribute).is_some_and(|found| found == value);
        let found: Vec<&Tag> = self.tags.iter().filter(with).collect();
        assert!(found.len() < 2, "{found:?}");
        found.first().map(|tag| tag.attributes["href"].clone())
    }

    #[track_caller]
    pub(super) fn says(&self, what: &str) {
        assert!(self.text.contains(what), "{what:?} is not in\n{}", self.text);
    }
}

impl Server {
    /// Asks as a browser does.
    pub(super) fn browse(&self, path: &str) -> Reply {
        // What stands behind a hash sign stays with the browser.
        let path = path.split('#').next().unwrap();
        self.ask("GET", path, &[("Accept", BROWSER)], b"")
    }

    /// A page that must be there.
    #[track_caller]
    pub(super) fn page(&self, path: &str) -> Markup {
        let reply = self.browse(path).status(200);
        assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        Markup::read(&reply.body)
    }

    /// Sends a form as a browser does.
    pub(super) fn send_form(&self, path: &str, field: &str, value: &str, headers: &[(&str, &str)]) -> Reply {
        let sent: String = value
            .replace('\n', "\r\n")
            .bytes()
            .map(|byte| if byte == b' ' { "+".to_owned() } else { format!("%{byte:02X}") })
            .collect();
        let content = [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", BROWSER)];
        self.ask("POST", path, &[&content, headers].concat(), format!("{field}={sent}").as_bytes())
    }
}
