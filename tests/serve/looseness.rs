//! Clusters of a collection the loosest first, against the members of each, one by one.

use serde_json::Value;

use super::client::{Server, encoded};
use super::pages::all;
use crate::support::program::Dir;
use crate::support::texts::{line, words};

/// A collection `c` in two commits: families of which each member has a few words less in common with the first, copies, documents
/// alone.
fn made(flags: &str) -> Dir {
    let dir = Dir::new();
    let of_family = |family: usize, members: std::ops::Range<usize>| -> String {
        let text = |member: usize| {
            let other = member * (family % 4 + 1);
            format!(
                "{} {}",
                words(family * 1000, 90 - other),
                words(family * 1000 + 500 + member * 20, other)
            )
        };
        members.map(|member| line(&format!("f{family}-{member}"), &text(member))).collect()
    };
    dir.write("one.jsonl", (0..14).map(|family| of_family(family, 0..family % 5 + 1)).collect::<String>());
    let copies: String =
        (0..6).map(|at| line(&format!("copy{at}"), &words(70_000 + at / 3 * 100, 50))).collect();
    dir.write(
        "two.jsonl",
        (0..14).map(|family| of_family(family, 5..6 + family % 2)).collect::<String>() + &copies,
    );
    for name in ["one", "two"] {
        dir.alike(&format!("load c {name}.jsonl {}", if name == "one" { flags } else { "" }), None).ok();
    }
    dir
}

/// What the members of a cluster have least in common with its representative, and in order: of bits that differ, fewer are more.
fn least(server: &Server, number: &str) -> Option<f64> {
    let members = all(server, &format!("/clusters/{number}"), "members", 1000);
    let others = members.iter().filter(|member| member["same_text"] == false);
    let figure = |member: &Value| {
        let measures = &member["measures"];
        let share = measures["resemblance"].as_f64();
        measures["hamming_distance"].as_f64().map(|bits| -bits).or(share).unwrap()
    };
    others.map(figure).reduce(f64::min)
}

#[test]
fn clusters_come_in_the_order_of_what_their_members_say() {
    for flags in ["--threshold 0.6", "--threshold 0.6 --clustering guarantee", "--method simhash"] {
        let dir = made(flags);
        let server = Server::start(&dir, "");
        let number = |brief: &Value| -> Vec<u64> {
            let number = brief["cluster"].as_str().unwrap();
            number.split('.').map(|part| part.parse().unwrap()).collect()
        };
        let briefs = all(&server, "/clusters", "clusters", 1000);
        let mut expected: Vec<(Option<f64>, Value)> = briefs
            .into_iter()
            .map(|brief| (least(&server, brief["cluster"].as_str().unwrap()), brief))
            .collect();
        expected.sort_by(|(x, a), (y, b)| {
            let figure = |least: &Option<f64>| least.unwrap_or(f64::INFINITY);
            figure(x).total_cmp(&figure(y)).then(number(a).cmp(&number(b)))
        });
        let distinct: std::collections::BTreeSet<String> =
            expected.iter().map(|(least, _)| format!("{least:?}")).collect();
        assert!(distinct.len() > 3 && distinct.contains("None"), "{flags}: {distinct:?}");
        for size in [0, 3, 1000] {
            let whole: Vec<&(Option<f64>, Value)> =
                expected.iter().filter(|(_, brief)| brief["size"].as_u64().unwrap() >= size).collect();
            let path = format!("/clusters?sort=looseness&min-size={size}");
            for limit in [1, 4, 1000] {
                let found = all(&server, &path, "clusters", limit);
                assert_eq!(found.len(), whole.len(), "{flags}, {size}, {limit}");
                for (mut found, (least, brief)) in found.into_iter().zip(&whole) {
                    let scores = found.as_object_mut().unwrap().remove("least");
                    let figure = scores.map(|scores| {
                        let share = scores["resemblance"].as_f64();
                        scores["hamming_distance"].as_f64().map(|bits| -bits).or(share).unwrap()
                    });
                    assert_eq!((&found, figure), (brief, *least), "{flags}, {size}, {limit}");
                }
            }
            assert_eq!(server.json(&path)["total"], whole.len());
        }
        let page = server.page("/clusters?sort=looseness&limit=1000");
        assert_eq!(page.rows.last().unwrap()[3], "same text");
        assert_eq!(page.rows.len(), expected.len());
        // A mark of the page of another commit, or of another order.
        let next = server.json("/clusters?sort=looseness&limit=2")["next"].as_str().unwrap().to_owned();
        let before = server.json("/")["commit"].as_u64();
        dir.write("three.jsonl", line("new", &words(0, 90)));
        dir.alike("load c three.jsonl", None).ok();
        server.until("/", |reply| reply.json()["commit"].as_u64() > before);
        server.json(&format!("/clusters?sort=looseness&after={}", encoded(&next)));
        server.get("/clusters?sort=looseness&after=3:1.1:2").status(400);
    }
}

/// Where equal texts alone are linked no cluster is looser than another, and the answer says so.
#[test]
fn where_nothing_is_measured_there_is_no_such_order() {
    let dir = made("--method exact");
    let server = Server::start(&dir, "");
    for _ in 0..2 {
        let told = server.get("/clusters?sort=looseness").status(400).message();
        assert!(told.contains("equal texts only"), "{told}");
    }
}
