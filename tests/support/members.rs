//! Documents of several kinds, as members of archives.

use std::fs;

use crate::support::output::jsonl;

/// Names and contents of documents: texts, pages and mails, some with names that need more room than a header has.
pub(crate) fn documents() -> Vec<(String, String)> {
    let sample = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).unwrap();
    let texts = jsonl(sample.as_bytes()).into_iter().map(|row| row["text"].as_str().unwrap().to_owned());
    let document = |(at, text): (usize, String)| match at % 4 {
        0 => {
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            (format!("a/{at:05}.html"), format!("<!doctype html><title></title><pre>{text}</pre>"))
        }
        1 => {
            let headers = "From: a@b\nTo: b@a\nSubject: s\nMIME-Version: 1.0\n\
                           Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n";
            (format!("b/{at:05}.eml"), format!("{headers}{text}\n"))
        }
        2 => (format!("c/{at:05}.txt"), text),
        _ => (format!("d/{}/{at:05}.md", "long".repeat(28)), text),
    };
    let mut documents: Vec<_> = texts.enumerate().map(document).collect();
    documents.sort();
    documents
}
