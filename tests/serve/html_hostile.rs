//! Whatever stands in a collection, a page is text, leads only to other pages, and fetches and runs nothing of others.

use std::collections::{BTreeSet, VecDeque};

use super::client::{Server, encoded};
use super::markup::Markup;
use super::pages::{HOSTILE, made};
use crate::support::program::Dir;
use crate::support::texts::line;

/// Every link of every page leads somewhere, to this server, and no page can run or fetch anything else.
#[test]
fn pages_lead_to_each_other_and_nowhere_else() {
    let dir = made("--store-text");
    let server = Server::start(&dir, "");
    let (mut seen, mut left) = (BTreeSet::new(), VecDeque::from(["/".to_owned(), "/nothing".to_owned()]));
    let mut shown = BTreeSet::new();
    while let Some(path) = left.pop_front() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let reply = server.browse(&path);
        // A change may tell of a cluster that is no more.
        let missing = path == "/nothing" || path.starts_with("/clusters/");
        assert!(reply.status == 200 || reply.status == 404 && missing, "{path}: {}", reply.status);
        if reply.header("content-type") != Some("text/html; charset=utf-8") {
            assert!(path.contains(".json") || path.starts_with("/static/"), "{path} is no page");
            continue;
        }
        let policy = reply.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; ")
                && !policy.contains("unsafe")
                && !policy.contains("http"),
            "{policy}"
        );
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
        ] {
            assert_eq!(reply.header(name), Some(value), "{path}");
        }
        let page = Markup::read(&reply.body);
        assert_eq!(page.tags.iter().filter(|tag| tag.name == "h1").count(), 1, "{path}");
        for tag in &page.tags {
            assert!(
                !["style", "img", "iframe", "object", "base", "embed"].contains(&&*tag.name),
                "{path}: {tag:?}"
            );
            for (name, value) in &tag.attributes {
                assert!(!name.starts_with("on") && name != "style", "{path}: {tag:?}");
                if ["href", "src", "action"].contains(&&**name) {
                    assert!(
                        value == "#main" || value.starts_with('/') && !value.starts_with("//"),
                        "{path}: {tag:?}"
                    );
                    left.extend(
                        (tag.name != "form" && value != "#main")
                            .then(|| value.split('#').next().unwrap().to_owned()),
                    );
                }
            }
            assert!(tag.name != "script" || tag.attributes["src"].starts_with("/static/"), "{path}: {tag:?}");
        }
        // Every field has a label, and every table a caption.
        let labels = page.values("label", "for");
        for tag in page.tags.iter().filter(|tag| ["input", "select", "textarea"].contains(&&*tag.name)) {
            let hidden = tag.attributes.get("type").is_some_and(|kind| kind == "hidden");
            assert!(hidden || labels.contains(&tag.attributes["id"].as_str()), "{path}: {tag:?}");
        }
        let count = |name: &str| page.tags.iter().filter(|tag| tag.name == name).count();
        assert_eq!(count("table"), count("caption"), "{path}");
        if let Some(id) = path.strip_prefix("/documents/").or(path.strip_prefix("/document?id=")) {
            shown.insert(id.to_owned());
        }
    }
    let documents = server.json("/")["documents"].as_u64().unwrap() as usize;
    assert!(shown.len() >= documents, "{} of {documents} documents are linked to", shown.len());
}

/// Ids that no address has as they are lead to their documents, and stand on every page as text.
#[test]
fn hostile_ids_are_shown_as_text() {
    let dir = made("--store-text");
    let server = Server::start(&dir, "");
    let list = server.page("/documents?limit=1000");
    for id in HOSTILE {
        let shown = alike::printable::printable(id);
        assert!(list.rows.iter().any(|row| row[0] == shown), "{id:?}");
        let at = list.rows.iter().position(|row| row[0] == shown).unwrap();
        let links: Vec<&str> = list
            .values("a", "href")
            .into_iter()
            .filter(|link| link.starts_with("/documents/") || link.starts_with("/document?"))
            .collect();
        let link = links[at];
        // As a browser resolves it: dots go, however they are encoded.
        assert!(
            !link
                .split('?')
                .next()
                .unwrap()
                .split('/')
                .any(|part| [".", "..", "%2e%2e", "%2E%2E"].contains(&part)),
            "{link}"
        );
        let page = server.page(link);
        page.says(&format!("Document {shown}"));
        let other = server.page(&format!("/compare?a={}&b=f1-0", encoded(id)));
        other.says(&shown);
        // Nothing that acts on a terminal, on the direction of a line or on a parser is on a page.
        for page in [&page, &list, &other] {
            assert!(
                page.text
                    .chars()
                    .all(|c| c == '\n' || alike::printable::printable(&c.to_string()) == c.to_string())
            );
        }
    }
}

#[test]
fn long_texts_are_cut_where_it_is_said() {
    let dir = Dir::new();
    let word = "y".repeat(1_000_000);
    let hostile = "<script>alert(1)</script>\u{202e}\u{1b}[31m\ttab\nline";
    let id = "i".repeat(5000);
    let lines =
        [("word", &*word), ("again", &*format!("{word} z")), ("hostile", hostile), (&id, "some other text")];
    dir.write("in.jsonl", lines.iter().map(|(id, text)| line(id, text)).collect::<String>());
    dir.alike("load c in.jsonl --store-text", None).ok();
    let server = Server::start(&dir, "");
    let reply = server.browse("/documents/word").status(200);
    assert!(reply.body.len() < 40_000, "{}", reply.body.len());
    let page = Markup::read(&reply.body);
    page.says("These are the first 20,000 characters.");
    assert!(page.text.contains(&"y".repeat(20_000)) && !page.text.contains(&"y".repeat(20_001)));
    assert!(page.values("a", "href").contains(&"/document?id=word&text=yes"));
    server.page("/document?id=word&text=yes").says(&word);
    let compared = server.browse("/compare?a=word&b=again").status(200);
    assert!(compared.body.len() < 40_000, "{}", compared.body.len());
    let page = server.page("/documents/hostile");
    page.says("<script>alert(1)</script>\\u{202e}\\u{1b}[31m\ttab\nline");
    assert_eq!(page.values("script", "src").len(), 1);
    let list = server.browse("/documents").status(200);
    assert!(list.body.len() < 20_000, "{}", list.body.len());
    assert!(Markup::read(&list.body).rows.iter().any(|row| row[0] == format!("{}...", "i".repeat(100))));
    server.page(&format!("/documents/{id}")).says(&id);
}

#[test]
fn files_of_pages_are_kept_by_their_version() {
    let dir = made("");
    let server = Server::start(&dir, "");
    let page = server.page("/");
    let mut files: Vec<&str> = page.values("link", "href");
    files.extend(page.values("script", "src"));
    files.retain(|file| file.starts_with("/static/"));
    assert_eq!(files.len(), 3);
    for file in files {
        let reply = server.browse(file).status(200);
        let name = file.split('?').next().unwrap();
        let expected = [
            (".css", "text/css; charset=utf-8"),
            (".js", "text/javascript; charset=utf-8"),
            (".svg", "image/svg+xml"),
        ];
        let kind = expected.iter().find(|(ending, _)| name.ends_with(ending)).unwrap().1;
        assert_eq!(reply.header("content-type"), Some(kind));
        assert_eq!(reply.header("cache-control"), Some("public, max-age=31536000, immutable"));
        let text = String::from_utf8(reply.body.clone()).unwrap();
        let namespace = "http://www.w3.org/2000/svg";
        assert!(!text.replace(namespace, "").contains("//") || name.ends_with(".js"), "{file}");
        assert!(!text.contains("@import") && !text.contains("url("), "{file}");
        let tag = reply.header("etag").unwrap();
        for plain in [name.to_owned(), format!("{name}?v=other")] {
            let plain = server.get(&plain).status(200);
            assert_eq!((plain.header("cache-control"), plain.header("etag")), (Some("no-cache"), Some(tag)));
            assert_eq!(plain.body, reply.body);
        }
        let again = server.ask("GET", name, &[("If-None-Match", &format!("\"x\", {tag}"))], b"").status(304);
        assert!(again.body.is_empty() && again.header("etag") == Some(tag));
        server.ask("GET", name, &[("If-None-Match", "\"other\"")], b"").status(200);
    }
    for path in ["/static/", "/static/nothing.css", "/static/../serve/mod.rs", "/static/%2e%2e/mod.rs"] {
        server.get(path).status(404);
    }
}
