//! What of pages and mails is compared, if not all of it: `--main-text` and `--strip-quotes`.

use serde_json::json;

use crate::support::job::done;
use crate::support::loads::whole;
use crate::support::output::Output;
use crate::support::program::Dir;
use crate::support::texts::gzip;

/// A page of a site: what it says, with a menu above and a notice below it.
fn page(site: usize, says: &str) -> String {
    let links = (0..250).map(|link| format!("<li><a href=/{link}>site{site} topic{link} more</a></li>"));
    format!(
        "<!doctype html><html><head><title>{says}</title></head><body><div><ul>{}</ul></div><h1>It says</h1>\
         <p>{says}</p><div>Site {site}</div></body></html>",
        links.collect::<String>()
    )
}

fn article(nth: usize) -> String {
    (0..120).map(|word| format!("a{nth}w{word}")).collect::<Vec<_>>().join(" ")
}

fn response(id: &str, page: &str) -> String {
    let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: {id}\r\nContent-Type: application/http; msgtype=response\r\n\
         Content-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    )
}

fn trec(id: &str, page: &str) -> String {
    format!("<DOC>\n<DOCNO>{id}</DOCNO>\n<DOCHDR>\nhttp://a/\n</DOCHDR>\n{page}\n</DOC>\n")
}

fn removed(output: &Output) -> usize {
    output.removed_ids().len()
}

fn mail(id: &str, body: &str) -> String {
    format!(
        "From {id}@example.org Tue Jan  5 10:00:00 2021\nFrom: {id}@example.org\nMessage-ID: <{id}>\nSubject: s\n\n{body}\n\n"
    )
}

/// The article of one site on another one is a duplicate; two articles of one site are none, whatever stands around them.
#[test]
fn pages_are_compared_by_what_they_say() {
    let dir = Dir::new();
    let pages: Vec<(String, String)> = (0..4)
        .flat_map(|site| {
            (0..2).map(move |nth| {
                (format!("{site}-{nth}"), page(site, &article(if nth == 0 { 9 } else { site })))
            })
        })
        .collect();
    for (id, page) in &pages {
        dir.write(&format!("pages/{id}.html"), page);
    }
    let joined =
        |one: fn(&str, &str) -> String| pages.iter().map(|(id, page)| one(id, page)).collect::<String>();
    dir.write("a.warc", joined(response));
    dir.write("a.trec", joined(trec));
    for input in ["pages", "a.warc", "a.trec"] {
        // Menus of a site are most of its pages.
        assert_eq!(
            removed(&dir.output(&format!("{input} --threshold 0.5"), &format!("all-{input}"))),
            4,
            "{input}"
        );
        let main = dir.output(&format!("{input} --main-text"), &format!("main-{input}"));
        assert_eq!(removed(&main), 3, "{input}: {:?}", main.removed_ids());
        assert_eq!(main.summary["configuration"]["input"]["main_text"], json!(true));
    }
    dir.write("c.toml", "[input]\nmain_text = true\n");
    assert_eq!(removed(&dir.output("a.warc --config c.toml", "configured")), 3);
    assert_eq!(removed(&dir.output("a.warc --config c.toml --main-text=false --threshold 0.5", "back")), 4);
}

/// Kept files are whole, whatever of them was compared; lines have the text that was compared.
#[test]
fn kept_pages_are_whole_pages() {
    let dir = Dir::new();
    let (first, second, other) = (page(0, &article(9)), page(1, &article(9)), page(0, &article(3)));
    dir.write("a.warc", [response("a", &first), response("b", &second), response("c", &other)].concat());
    done(&dir, (2, 1), "dedup a.warc --main-text --out two");
    let kept = [response("a", &first), response("c", &other)].concat();
    assert_eq!(Output::read(&dir.join("two")).kept("a.warc"), kept.as_bytes());
    let lines = dir.output("a.warc --main-text --to jsonl", "lines");
    let texts: Vec<String> = lines
        .kept_lines()
        .iter()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].as_str().unwrap().to_owned()
        })
        .collect();
    let said = |nth: usize| format!("It says {} Site 0", article(nth));
    let words = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(texts.iter().map(words).collect::<Vec<_>>(), [said(9), said(3)]);
}

/// A collection is made with main texts, or without, and knows it for ever.
#[test]
fn collections_keep_what_they_compare() {
    let dir = Dir::new();
    let pages: Vec<String> =
        (0..3).map(|site| response(&format!("p{site}"), &page(site, &article(9)))).collect();
    dir.write("a.warc", pages[..2].concat());
    dir.write("b.warc.gz", gzip(pages[2].as_bytes(), usize::MAX));
    for (name, flags) in [("plain", ""), ("stored", "--store-text")] {
        dir.alike(&format!("load {name} a.warc --main-text {flags}"), None).ok().says("2 added");
        dir.alike(&format!("load {name} b.warc.gz {flags}"), None).ok().says("1 added");
        let refused = dir.alike(&format!("load {name} b.warc.gz --main-text=false {flags}"), None);
        refused.code(2).says("input.main_text is true, not what it is by default");
        whole(&dir, name);
        let page = dir.alike(&format!("stats {name} --json"), None).ok();
        let stats: serde_json::Value = serde_json::from_str(&page.stdout).unwrap();
        assert_eq!((&stats["documents"], &stats["clusters"]), (&json!(3), &json!(1)), "{}", page.stdout);
        dir.alike(&format!("check {name} b.warc.gz"), None).ok();
        dir.alike(&format!("export {name} --out out-{name}"), None).ok();
        assert_eq!(Output::read(&dir.join(&format!("out-{name}"))).kept("a.warc"), pages[0].as_bytes());
    }
}

/// A reply that quotes all of a mail is no copy of it, and two replies of the same words are copies whatever they quote.
#[test]
fn mails_are_compared_by_what_they_say_themselves() {
    let dir = Dir::new();
    let quoted = |nth: usize| article(nth).split(' ').map(|word| format!("> {word}\n")).collect::<String>();
    let mails = [
        mail("one", &article(1)),
        mail("two", &format!("yes\n\nOn 5 Jan 2021, one wrote:\n{}", quoted(1))),
        mail("three", &format!("{}\n\none writes:\n{}", article(2), quoted(1))),
        mail("four", &format!("{}\n-----Original Message-----\nFrom: two\n\n{}", article(2), article(4))),
    ];
    dir.write("a.mbox", mails.concat());
    assert_eq!(dir.output("a.mbox", "all").removed_ids(), ["two"]);
    // So short a reply is compared whole.
    let own = dir.output("a.mbox --strip-quotes", "own");
    assert_eq!(own.removed_ids(), ["four", "two"]);
    assert_eq!(own.kept("a.mbox"), [&*mails[0], &mails[2]].concat().as_bytes());
}

#[test]
fn it_is_told_where_neither_has_an_effect() {
    let dir = Dir::new();
    dir.write("a.jsonl", "{\"id\": \"a\", \"text\": \"<p>some words\"}\n");
    dir.write("a.html", page(1, &article(1)));
    dir.write("a.eml", mail("one", &article(1)));
    let flags = "--main-text --strip-quotes --dry-run";
    let (pages, mails) = ("no input has pages of HTML", "no input is mail");
    dir.dedup(&format!("a.jsonl {flags}")).ok().says(pages).says(mails);
    let ran = dir.dedup(&format!("a.jsonl a.html a.eml {flags}")).ok();
    assert!(!ran.stderr.contains(pages) && !ran.stderr.contains(mails), "{}", ran.stderr);
    let ran = dir.dedup("a.jsonl --dry-run").ok();
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
}
