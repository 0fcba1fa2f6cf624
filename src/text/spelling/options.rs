//! Which words of a text become tokens, in which form, and how many of them a shingle has.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::limits::{MAX_LEAST_LENGTH, MAX_NGRAM};
use crate::text::Fold;
use crate::text::spelling::stems::{is_stem_language, stem_languages};
use crate::text::spelling::stop_words::{is_stop_language, stop_languages};
use crate::threshold::Threshold;

/// How text becomes tokens and tokens become shingles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Text {
    /// Words or characters.
    pub tokens: Tokens,
    /// Tokens a shingle, at least 1.
    pub ngram: usize,
    /// Which spellings are taken for one.
    pub fold: Fold,
    /// Which words become tokens, and as which stems.
    pub filter: Filter,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tokens {
    /// Words, case-folded; a character of a script without spaces is a word.
    Words,
    /// Characters of the canonical text, the single spaces between words among them.
    Chars,
}

impl Default for Text {
    fn default() -> Text {
        Text { tokens: Tokens::Words, ngram: 5, fold: Fold::default(), filter: Filter::default() }
    }
}

/// What is left out of a text before its tokens are taken: nothing, by default.
///
/// Each filter looks at the canonical words of the whole text, so that their order does not matter: a word goes when
/// one of them says so, and those that are left become stems. A text of which nothing would be left is taken as if
/// there were no filter at all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Whether numbers go: words of digits and other numeric characters alone, of any script, with marks and
    /// apostrophes between them. `1994` and `1'000` are numbers, `3rd` and `x86` are not; `2.5` is two numbers.
    pub numbers: bool,
    /// Languages whose stop words go, as ISO 639-1 codes: `en`, `zh`. The lists are those of Stopwords ISO.
    pub stop_words: Vec<String>,
    /// Words of fewer characters go; 0 or 1 is no bound. A letter of a script without spaces is long enough.
    pub min_length: usize,
    /// Whether words go that have a digit or another numeric character in them.
    pub alphabetic: bool,
    /// Terms of the run's lexicon whose normalised idf is below this go, an exact decimal in (0, 1], written as 0 for none.
    /// Words that are not in the lexicon stay.
    #[serde(with = "floor")]
    pub min_idf: Option<Threshold>,
    /// The language of the stems that words become, as an ISO 639-1 code or the name that Snowball gives it: `en`,
    /// `english`, `porter`. Empty for none.
    pub stem: String,
}

impl Text {
    /// Refuses a shingle that no text has, and filters that nothing is known of.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        if !(1..=MAX_NGRAM).contains(&self.ngram) {
            return Err(Error::config(format!(
                "text.ngram = {}: a shingle has 1 to {MAX_NGRAM} tokens; 5 words suit most texts",
                self.ngram
            )));
        }
        self.filter.check()
    }
}

impl Filter {
    /// Whether every word stays as it is.
    pub fn is_idle(&self) -> bool {
        let Filter { numbers, stop_words, min_length, alphabetic, min_idf, stem } = self;
        !(*numbers || *alphabetic || *min_length > 1)
            && stop_words.is_empty()
            && min_idf.is_none()
            && stem.is_empty()
    }

    /// Refuses languages that nothing is known of, and a length that no word has.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        if let Some(unknown) = self.stop_words.iter().find(|code| !is_stop_language(code)) {
            return Err(Error::config(format!(
                "text.filter.stop_words: no stop words are known of {unknown:?}; there are those of {}",
                stop_languages().join(", ")
            )));
        }
        if !self.stem.is_empty() && !is_stem_language(&self.stem) {
            return Err(Error::config(format!(
                "text.filter.stem: no stems are known of {:?}; there are those of {}",
                self.stem,
                stem_languages().join(", ")
            )));
        }
        if self.min_length > MAX_LEAST_LENGTH {
            return Err(Error::config(format!(
                "text.filter.min_length = {}: hardly a word is that long; expected at most {MAX_LEAST_LENGTH}, 3 is usual",
                self.min_length
            )));
        }
        Ok(())
    }
}

/// A least value as a decimal, 0 for none: a key that is left out would mean what another file says.
mod floor {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use crate::threshold::Threshold;

    pub(in crate::text) fn serialize<S: Serializer>(
        floor: &Option<Threshold>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(floor.map_or(0.0, Threshold::to_f64))
    }

    pub(in crate::text) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Threshold>, D::Error> {
        let value = f64::deserialize(deserializer)?;
        // The shortest decimal that reads back as the same float is what the author of the file wrote.
        let parse = |value: f64| format!("{value}").parse().map_err(de::Error::custom);
        (value != 0.0).then(|| parse(value)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> std::result::Result<Filter, toml::de::Error> {
        toml::from_str(text)
    }

    #[test]
    fn says_whether_it_does_anything() {
        for idle in ["", "min_length = 1\nmin_idf = 0\nstem = \"\"\nstop_words = []"] {
            assert!(parsed(idle).expect(idle).is_idle(), "{idle}");
        }
        for busy in [
            "numbers = true",
            "alphabetic = true",
            "min_length = 2",
            "min_idf = 0.2",
            "stem = \"fr\"",
            "stop_words = [\"fr\"]",
        ] {
            let filter = parsed(busy).expect(busy);
            assert!(!filter.is_idle(), "{busy}");
            filter.check().expect(busy);
            let written = toml::to_string(&filter).expect("as TOML");
            assert_eq!(parsed(&written).expect("read back"), filter, "{written}");
            assert!(written.contains("min_idf"), "{written}");
        }
        for wrong in ["min_idf = 1.5", "min_idf = -0.1", "number = true"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn refuses_what_nothing_is_known_of() {
        let refusal = |change: fn(&mut Filter)| {
            let mut filter = Filter::default();
            change(&mut filter);
            filter.check().expect_err("refused").to_string()
        };
        let told = refusal(|filter| filter.stop_words = vec!["en".into(), "english".into()]);
        assert!(told.contains("\"english\"") && told.contains(" en, "), "{told}");
        let told = refusal(|filter| filter.stem = "klingon".into());
        assert!(told.contains("\"klingon\"") && told.contains(" english, "), "{told}");
        let told = refusal(|filter| filter.min_length = 65);
        assert!(told.contains("65") && told.contains("at most 64"), "{told}");
    }
}
