//! Texts with dates, which every method can use.

use std::sync::{LazyLock, OnceLock};

use alike::config::Tokens;
use serde_json::{Value, json};

use crate::support::canonical::canonical_tokens;
use crate::support::corpora::sample;
use crate::support::texts::Random;

/// Near copies of one template: more than the 512 contents that a key group may have before it is handled as a hot group.
const HOT_GROUP: usize = 560;

/// A text with what its record says of its date.
pub(crate) struct Dated {
    pub(crate) text: String,
    date: Value,
    words: OnceLock<Vec<String>>,
}

impl Dated {
    pub(crate) fn line(&self, id: usize) -> String {
        format!("{}\n", json!({"id": format!("d{id}"), "text": self.text, "date": self.date}))
    }

    /// Its canonical words, made once: the twin of every method begins with them.
    pub(crate) fn words(&self) -> &[String] {
        self.words.get_or_init(|| canonical_tokens(&self.text, Tokens::Words))
    }

    /// Its day, counted from the first of January; `None` where the record has no date, or none that is understood.
    pub(crate) fn day(&self) -> Option<i64> {
        let (month, day) = self.date.as_str()?.strip_prefix("2024-")?.split_once('-')?;
        let before = [0, 31, 60, 91][month.parse::<usize>().unwrap() - 1];
        Some(before + day.parse::<i64>().unwrap())
    }
}

/// A word of letters.
fn spelt(number: usize) -> String {
    (0..5).map(|place| char::from(b'a' + (number / 26usize.pow(place) % 26) as u8)).collect()
}

/// The shorter ones of the texts, each twice more with a few words changed and some of its end cut off.
fn edited(texts: &[String], random: &mut Random) -> Vec<String> {
    let short = texts.iter().filter(|text| text.len() < 6000);
    let copies = short.flat_map(|text| [text, text]);
    copies
        .map(|text| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.truncate(words.len() - words.len() * random.below(10) / 100);
            for _ in 0..random.below(1 + words.len() / 200) {
                let at = random.below(words.len());
                words[at] = spelt(1_000_000 + random.below(5_000_000));
            }
            words.join(" ")
        })
        .collect()
}

/// The sample and edited copies of it, near copies of one template, texts of few words; on days of four months, some
/// without a date.
pub(crate) static TEXTS: LazyLock<Vec<Dated>> = LazyLock::new(|| dated(sample()));

/// The same of other texts than the sample.
pub(crate) fn dated(mut texts: Vec<String>) -> Vec<Dated> {
    let mut random = Random(11);
    texts.extend(edited(&texts, &mut random));
    for copy in 0..HOT_GROUP {
        let mut words: Vec<String> = (0..100).map(|at| spelt(at * 7919 + 30_000)).collect();
        for _ in 0..copy % 4 {
            words[random.below(100)] = spelt(1_000_000 + random.below(5_000_000));
        }
        texts.push(words.join(" "));
    }
    texts.extend((0..60).map(|few| format!("a few words {} and no more", spelt(few / 2))));
    random.shuffle(&mut texts);
    let date = |random: &mut Random| match random.below(20) {
        0 | 1 => Value::Null,
        2 => json!("a day in spring"),
        _ => json!(format!("2024-{:02}-{:02}", 1 + random.below(4), 1 + random.below(28))),
    };
    let words = OnceLock::new;
    texts.into_iter().map(|text| Dated { date: date(&mut random), text, words: words() }).collect()
}
