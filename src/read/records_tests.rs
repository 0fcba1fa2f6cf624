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
