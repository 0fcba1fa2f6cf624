//! Formats whose records stand between tags, against slow twins that look at a whole file at once.

use super::stretches_tests::read;

/// Where each piece of a file begins with one of some bytes, if `begins` says so; and the end of the file.
fn starts(file: &str, mark: &str, begins: impl Fn(&str) -> bool) -> Vec<usize> {
    let found = file.match_indices(mark).map(|(at, _)| at).filter(|at| begins(&file[..*at]));
    found.chain([file.len()]).collect()
}

/// What a file of news in the form of TREC holds.
fn trec_twin(file: &str) -> Vec<(u64, String)> {
    let starts = starts(file, "<DOC>", |before| before.is_empty() || before.ends_with('\n'));
    let records = starts.windows(2).map(|pair| (pair[0], &file[pair[0]..pair[1]]));
    let seen = records.map(|(at, record)| {
        let text = record.split("</DOC>").next().filter(|_| record.contains("</DOC>"));
        let text = text.map(|text| text.split("<TEXT>").nth(1).unwrap_or_default());
        let text = text.map(|text| format!("{}\n", text.split("</TEXT>").next().unwrap_or_default()));
        (at as u64, text.unwrap_or_else(|| "malformed".to_owned()))
    });
    let before = Some((0, "malformed".to_owned())).filter(|_| starts[0] > 0);
    before.into_iter().chain(seen).collect()
}

fn news() -> String {
    let record = |number: usize| {
        format!(
            "<DOC>\n<DOCNO> {number} </DOCNO>\n<TEXT>a text {number} {}</TEXT>\n</DOC>\n",
            "in some words ".repeat(number % 5)
        )
    };
    (0..30).map(record).collect()
}

#[test]
fn trec_is_read_as_its_slow_twin_reads_it_wherever_it_is_cut_off() {
    let file = news();
    for end in (0..400).chain([file.len()]) {
        let cut = &file[..end];
        let expected = trec_twin(cut);
        assert_eq!(read("trec", cut.as_bytes(), u64::MAX, 1 << 20), expected, "{cut}");
        assert_eq!(read("trec", cut.as_bytes(), 1, 1 << 20), expected, "{cut}");
    }
}

#[test]
fn no_byte_of_trec_can_be_changed_so_that_other_records_suffer() {
    let file = news();
    let all = trec_twin(&file);
    let far = 400;
    for at in 0..far {
        for byte in [b'<', b'>', b'/', b'\n', 0, 0xff] {
            let mut damaged = file.clone().into_bytes();
            damaged[at] = byte;
            let seen = read("trec", &damaged, 1, 1 << 20);
            let behind = |seen: &[(u64, String)]| {
                seen.iter().filter(|(at, _)| *at > far as u64 + 100).cloned().collect::<Vec<_>>()
            };
            assert_eq!(behind(&seen), behind(&all), "{byte} at {at}");
        }
    }
}

#[test]
fn what_is_too_long_between_tags_costs_nothing_else() {
    let short = "<DOC>\n<TEXT>a b</TEXT></DOC>\n";
    for long in [30, 200, super::BLOCK, 3 * super::BLOCK] {
        let file = format!("{short}<DOC><TEXT>{}</TEXT></DOC>\n{short}", "x".repeat(long));
        let seen = read("trec", file.as_bytes(), 1, 40);
        let texts: Vec<&str> = seen.iter().map(|(_, text)| &**text).collect();
        assert_eq!(texts, ["a b\n", "too long", "a b\n"], "{long}");
        assert_eq!(seen[2].0, (file.len() - short.len()) as u64);
    }
}

/// What a dump of small pages holds.
fn wiki_twin(file: &str) -> Vec<(u64, String)> {
    let starts = starts(file, "<page>", |_| true);
    let mut seen: Vec<(u64, String)> = Vec::new();
    for pair in starts.windows(2) {
        let page = &file[pair[0]..pair[1]];
        let text = page.split("</page>").next().filter(|_| page.contains("</page>"));
        let text = text.map(|text| {
            text.rsplit("<text>").next().unwrap_or_default().split("</text>").next().unwrap_or_default()
        });
        let redirect = page.contains("<redirect");
        match text {
            Some(_) if redirect => {}
            Some(text) => seen.push((pair[0] as u64, text.replace("&lt;", "<").replace("&amp;", "&"))),
            None => seen.push((pair[0] as u64, "malformed".to_owned())),
        }
    }
    // What begins behind a page as another one does may be one that is cut off.
    let behind = file.rfind("</page>").map(|end| file[end + "</page>".len()..].trim());
    let cut = |tag: &&str| !tag.is_empty() && "<page>".starts_with(*tag) && *tag != "<page>";
    if let Some(tag) = behind.filter(cut) {
        seen.push(((file.len() - tag.len()) as u64, "malformed".to_owned()));
    }
    seen
}

fn dump() -> String {
    let page = |number: usize| {
        let redirect = if number % 4 == 3 { "<redirect title=\"x\" />" } else { "" };
        let text =
            "in &lt;b&gt; words &amp; more ".replace("&gt;", ">").replace('>', "&amp;").repeat(number % 5);
        format!(
            "<page>\n    <id>{number}</id>{redirect}\n<revision><text>a text {text}</text></revision>\n  </page>\n  "
        )
    };
    let pages: String = (0..30).map(page).collect();
    format!("<mediawiki>\n  {pages}</mediawiki>\n")
}

#[test]
fn pages_are_read_as_their_slow_twin_reads_them_wherever_the_file_is_cut_off() {
    let file = dump();
    for end in (16..700).chain([file.len()]) {
        let cut = &file[..end];
        let expected = wiki_twin(cut);
        assert_eq!(read("mediawiki", cut.as_bytes(), u64::MAX, 1 << 20), expected, "{cut}");
        assert_eq!(read("mediawiki", cut.as_bytes(), 1, 1 << 20), expected, "{cut}");
    }
}

#[test]
fn no_byte_of_a_dump_can_be_changed_so_that_other_pages_suffer() {
    let file = dump();
    let all = wiki_twin(&file);
    let far = 700;
    for at in 0..far {
        for byte in [b'<', b'>', b'/', b'&', 0, 0xff] {
            let mut damaged = file.clone().into_bytes();
            damaged[at] = byte;
            let seen = read("mediawiki", &damaged, 1, 1 << 20);
            let behind = |seen: &[(u64, String)]| {
                seen.iter().filter(|(at, _)| *at > far as u64 + 300).cloned().collect::<Vec<_>>()
            };
            assert_eq!(behind(&seen), behind(&all), "{byte} at {at}");
        }
    }
}
