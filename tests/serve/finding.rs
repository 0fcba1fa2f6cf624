//! Documents that are found by words of their ids, and the closest of other clusters, against plain lists and `/check`.

use serde_json::{Value, json};

use super::client::{Server, encoded};
use super::pages::{all, made};
use crate::support::program::Dir;
use crate::support::texts::{line, words};

/// The ids of a list, page by page.
fn ids(server: &Server, path: &str, limit: usize) -> Vec<String> {
    let found = all(server, path, "documents", limit);
    found.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

/// Words that somebody may type.
const TYPED: [&str; 9] = ["", " ", "1", "F1 -", "ETC ..", "script <", "-1 nothing", "\u{4e2d}", "a b"];

fn has_all(id: &str, typed: &str) -> bool {
    typed.split(' ').all(|word| id.to_lowercase().contains(&word.to_lowercase()))
}

#[test]
fn documents_are_found_by_words_of_their_ids() {
    let dir = made("");
    let inputs = "one.jsonl two.jsonl three.jsonl";
    dir.alike(&format!("dedup {inputs} --out out -q --clustering transitive"), None).ok();
    let mut found_any = 0;
    for what in ["c", "out"] {
        let server = Server::of(&dir, what, "");
        let whole = ids(&server, "/documents", 1000);
        for prefix in ["", "f1", "a"] {
            for typed in TYPED {
                let fits = |id: &&String| id.starts_with(prefix) && has_all(id, typed);
                let expected: Vec<&String> = whole.iter().filter(fits).collect();
                let path = format!("/documents?q={prefix}&words={}", encoded(typed));
                for limit in [1, 3, 1000] {
                    let found = ids(&server, &path, limit);
                    assert_eq!(
                        found.iter().collect::<Vec<_>>(),
                        expected,
                        "{what}: {prefix:?}, {typed:?}, {limit}"
                    );
                }
                let page = server.page(&format!("{path}&limit=2"));
                assert_eq!(page.rows.len(), expected.len().min(2));
                assert_eq!(page.link("rel", "next").is_some(), expected.len() > 2);
                found_any += usize::from(!expected.is_empty() && expected.len() < whole.len());
            }
        }
        // The form says again what was asked for.
        assert!(server.page("/documents?words=F1+-").values("input", "value").contains(&"F1 -"));
    }
    assert!(found_any > 10, "{found_any}");
}

/// A collection of texts that differ in more and more words, so that what is linked is not always in one cluster.
pub(super) fn chained(flags: &str) -> (Dir, Vec<(String, String, &'static str)>) {
    let (dir, mut documents) = (Dir::new(), Vec::new());
    for family in 0..6 {
        for member in 0..7 {
            let from = family * 1000 + member * 6;
            let text = words(from, 80);
            let language = if (family + member) % 3 == 0 { "de" } else { "en" };
            documents.push((format!("f{family}-{member}"), text, language));
        }
    }
    documents.push(("alone".to_owned(), words(500_000, 50), "en"));
    documents.push(("empty".to_owned(), "...".to_owned(), "en"));
    let lines: String = documents
        .iter()
        .map(|(id, text, language)| json!({"id": id, "text": text, "language": language}).to_string() + "\n")
        .collect();
    dir.write("in.jsonl", lines);
    dir.alike(&format!("load c in.jsonl --threshold 0.7 {flags}"), None).ok();
    (dir, documents)
}

#[test]
fn the_nearest_outside_is_the_first_of_another_cluster_that_check_names() {
    for flags in ["--clustering guarantee", "--clustering guarantee --within language"] {
        let (dir, documents) = chained(flags);
        let server = Server::start(&dir, "");
        let mut named = 0;
        for (id, text, language) in &documents {
            let page = server.json(&format!("/documents/{id}"));
            let asked = match flags.contains("--within") {
                true => json!({"text": text, "within": language}),
                false => json!({"text": text}),
            };
            let resembles = server.post("/check", &asked).status(200).json()["resembles"].clone();
            let outside = |found: &&Value| {
                found["id"] != **id && (found["cluster"].is_null() || found["cluster"] != page["cluster"])
            };
            let expected = resembles.as_array().unwrap().iter().find(outside).cloned().unwrap_or(Value::Null);
            assert_eq!(page["nearest_outside"], expected, "{flags}: {id}");
            let shown = server.page(&format!("/documents/{id}"));
            shown.says("The nearest outside its cluster");
            match expected["id"].as_str() {
                Some(other) => {
                    named += 1;
                    let pair = format!("/compare?a={id}&b={other}");
                    assert!(shown.values("a", "href").contains(&&*pair), "{pair}");
                }
                None => shown.says("linked to no document that is not in its cluster"),
            }
        }
        assert!(named > 5 && named < documents.len(), "{flags}: {named}");
    }
    // Where clusters are all that links connect there is none to look for.
    let (dir, _) = chained("--clustering transitive");
    let server = Server::start(&dir, "");
    assert!(server.json("/documents/f0-3").get("nearest_outside").is_none());
    assert!(!server.page("/documents/f0-3").text.contains("outside"));
}

/// One that was loaded later counts from its commit on.
#[test]
fn the_nearest_outside_is_of_the_commit_that_is_served() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", &words(0, 80)) + &line("b", &words(6, 80)));
    dir.alike("load c in.jsonl --threshold 0.7 --clustering guarantee", None).ok();
    let server = Server::start(&dir, "");
    assert_eq!(server.json("/documents/a")["nearest_outside"], Value::Null);
    assert_eq!(server.json("/documents/a")["cluster"], server.json("/documents/b")["cluster"]);
    let before = server.json("/")["commit"].as_u64();
    dir.write("more.jsonl", line("c", &words(18, 80)));
    dir.alike("load c more.jsonl", None).ok();
    server.until("/", |reply| reply.json()["commit"].as_u64() > before);
    let page = server.json("/documents/c");
    assert_eq!(page["nearest_outside"]["id"], "b", "{page}");
}
