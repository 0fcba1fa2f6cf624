//! The stems of words, by Snowball.

use std::borrow::Cow;

use snowball_stemmers_rs::{Algorithm, Stemmer};

use crate::limits::MAX_STEMMED;

/// What there are stems of: the code of the language (ISO 639-1, empty for a second algorithm of one), Snowball's
/// name of the algorithm, and the algorithm.
const LANGUAGES: [(&str, &str, Algorithm); 38] = [
    ("ar", "arabic", Algorithm::Arabic),
    ("hy", "armenian", Algorithm::Armenian),
    ("eu", "basque", Algorithm::Basque),
    ("ca", "catalan", Algorithm::Catalan),
    ("cs", "czech", Algorithm::Czech),
    ("da", "danish", Algorithm::Danish),
    ("nl", "dutch", Algorithm::Dutch),
    ("", "dutch_porter", Algorithm::DutchPorter),
    ("en", "english", Algorithm::English),
    ("eo", "esperanto", Algorithm::Esperanto),
    ("et", "estonian", Algorithm::Estonian),
    ("fi", "finnish", Algorithm::Finnish),
    ("fr", "french", Algorithm::French),
    ("de", "german", Algorithm::German),
    ("el", "greek", Algorithm::Greek),
    ("hi", "hindi", Algorithm::Hindi),
    ("hu", "hungarian", Algorithm::Hungarian),
    ("id", "indonesian", Algorithm::Indonesian),
    ("ga", "irish", Algorithm::Irish),
    ("it", "italian", Algorithm::Italian),
    ("lt", "lithuanian", Algorithm::Lithuanian),
    ("", "lovins", Algorithm::Lovins),
    ("ne", "nepali", Algorithm::Nepali),
    ("no", "norwegian", Algorithm::Norwegian),
    ("fa", "persian", Algorithm::Persian),
    ("pl", "polish", Algorithm::Polish),
    ("", "porter", Algorithm::Porter),
    ("pt", "portuguese", Algorithm::Portuguese),
    ("ro", "romanian", Algorithm::Romanian),
    ("ru", "russian", Algorithm::Russian),
    ("sr", "serbian", Algorithm::Serbian),
    ("st", "sesotho", Algorithm::Sesotho),
    ("es", "spanish", Algorithm::Spanish),
    ("sv", "swedish", Algorithm::Swedish),
    ("ta", "tamil", Algorithm::Tamil),
    ("tr", "turkish", Algorithm::Turkish),
    ("uk", "ukrainian", Algorithm::Ukrainian),
    ("yi", "yiddish", Algorithm::Yiddish),
];

/// The names that [`is_stem_language`] knows, codes and Snowball's, in order.
pub fn stem_languages() -> Vec<&'static str> {
    let mut names: Vec<&str> = LANGUAGES.iter().flat_map(|&(code, name, _)| [code, name]).collect();
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    names
}

/// Whether there are stems of the language of this code (ISO 639-1) or this name (Snowball's).
pub fn is_stem_language(name: &str) -> bool {
    algorithm(name).is_some()
}

fn algorithm(name: &str) -> Option<Algorithm> {
    let found = LANGUAGES.iter().find(|(code, long, _)| !name.is_empty() && [*code, *long].contains(&name));
    found.map(|(_, _, algorithm)| *algorithm)
}

/// Makes stems of words of one language.
pub(in crate::text) struct Stems(Stemmer);

impl Stems {
    /// The stems of a language; `None` if nothing is known of it.
    pub(in crate::text) fn of(name: &str) -> Option<Stems> {
        algorithm(name).map(|algorithm| Stems(Stemmer::create(algorithm)))
    }

    /// The stem of a canonical word: the word itself if it is longer than any word of a language, or if nothing would
    /// be left of it.
    pub(in crate::text) fn stem<'a>(&self, word: &'a str) -> Cow<'a, str> {
        if word.len() > MAX_STEMMED {
            return Cow::Borrowed(word);
        }
        let stem = self.0.stem(word);
        if stem.is_empty() { Cow::Borrowed(word) } else { stem }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stem(language: &str, word: &str) -> String {
        Stems::of(language).expect(language).stem(word).into_owned()
    }

    #[test]
    fn words_of_one_kind_have_one_stem() {
        for (language, words, expected) in [
            ("en", &["running", "runs", "run"][..], "run"),
            ("english", &["connection", "connected", "connecting"], "connect"),
            ("porter", &["relational", "relate"], "relat"),
            ("fr", &["continuellement", "continuelle", "continuel"], "continuel"),
            (
                "ru",
                &["\u{43a}\u{43d}\u{438}\u{433}\u{430}", "\u{43a}\u{43d}\u{438}\u{433}\u{438}"],
                "\u{43a}\u{43d}\u{438}\u{433}",
            ),
            ("de", &["katzen", "katze"], "katz"),
        ] {
            for word in words {
                assert_eq!(stem(language, word), expected, "{language} {word}");
            }
        }
    }

    #[test]
    fn something_is_always_left() {
        assert_eq!(Stemmer::create(Algorithm::Porter).stem("s"), "");
        assert_eq!(stem("porter", "s"), "s");
        let long = "running".repeat(100);
        assert_eq!(stem("en", &long), long);
        assert!(!is_stem_language("") && !is_stem_language("tlh"));
    }

    #[test]
    fn languages_are_named_once() {
        let names = stem_languages();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        assert!(names.iter().all(|name| is_stem_language(name)));
        assert_eq!(names.len(), 2 * LANGUAGES.len() - 3);
    }

    proptest! {
        // The algorithms cut strings at places they compute: no word of any script may bring one down.
        #[test]
        fn any_word_has_a_stem(word in "[a-z']{1,12}|\\PC{1,16}|[\u{400}-\u{45f}\u{600}-\u{65f}]{1,12}") {
            for (_, name, _) in LANGUAGES {
                prop_assert!(!stem(name, &word).is_empty());
            }
        }
    }
}
