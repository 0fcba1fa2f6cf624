//! Which spellings are taken for one, as a configuration says it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which spellings are taken for one, beyond case and what Unicode calls canonically equivalent. Written as a list of words;
/// an empty list, or `none`, is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Fold {
    forms: bool,
    marks: bool,
    digits: bool,
    letters: bool,
}

impl Fold {
    /// Nothing: canonical equivalence and case alone, as in lexicons of format 1.
    pub const NONE: Fold = Fold { forms: false, marks: false, digits: false, letters: false };
    /// Compatibility forms alone: the default.
    pub const FORMS: Fold = Fold { forms: true, ..Fold::NONE };
    /// All there is.
    pub const ALL: Fold = Fold { forms: true, marks: true, digits: true, letters: true };

    /// The words of a list, each with what it is.
    pub const WORDS: [(&str, &str); 5] = [
        ("none", "Nothing beyond case and canonical equivalence (NFC)"),
        (
            "forms",
            "Compatibility forms (NFKC): width, presentation forms, ligatures; tatweel. The others include it",
        ),
        ("marks", "Vowel points of Arabic and Hebrew, accents of Latin and Greek, stress in Cyrillic"),
        ("digits", "Digits of all scripts, as ASCII"),
        (
            "letters",
            "Hamza, alef, yeh, kaf, teh marbuta; dotless i; Cyrillic io; in Arabic script ZWNJ as a blank",
        ),
    ];

    /// What a list of [`Fold::WORDS`] says.
    ///
    /// # Errors
    /// What is wrong with the list.
    pub fn of<S: AsRef<str>>(words: &[S]) -> Result<Fold, String> {
        let mut fold = if words.is_empty() { Fold::NONE } else { Fold::FORMS };
        for word in words.iter().map(AsRef::as_ref) {
            match word {
                "none" if words.len() == 1 => fold = Fold::NONE,
                "none" => return Err("none stands alone: leave it out, or what stands beside it".to_owned()),
                "forms" => {}
                "marks" => fold.marks = true,
                "digits" => fold.digits = true,
                "letters" => fold.letters = true,
                _ => {
                    let known = Fold::WORDS.map(|(word, _)| word).join(", ");
                    return Err(format!("nothing is known of {word:?}; there are {known}"));
                }
            }
        }
        Ok(fold)
    }

    /// Whether compatibility forms are one, and tatweel goes.
    pub fn forms(self) -> bool {
        self.forms
    }

    /// Whether marks go that readers do without.
    pub fn marks(self) -> bool {
        self.marks
    }

    /// Whether digits of all scripts are one.
    pub fn digits(self) -> bool {
        self.digits
    }

    /// Whether letters are one that writers put for each other.
    pub fn letters(self) -> bool {
        self.letters
    }

    /// The words of the shortest list that says so.
    fn words(self) -> Vec<&'static str> {
        let Fold { forms, marks, digits, letters } = self;
        let said = [(forms, "forms"), (marks, "marks"), (digits, "digits"), (letters, "letters")];
        said.into_iter().filter_map(|(is, word)| is.then_some(word)).collect()
    }
}

impl Default for Fold {
    fn default() -> Fold {
        Fold::FORMS
    }
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&if *self == Fold::NONE { "none".to_owned() } else { self.words().join(",") })
    }
}

impl TryFrom<Vec<String>> for Fold {
    type Error = String;

    fn try_from(words: Vec<String>) -> Result<Fold, String> {
        Fold::of(&words).map_err(|wrong| format!("fold: {wrong}"))
    }
}

impl From<Fold> for Vec<String> {
    fn from(fold: Fold) -> Vec<String> {
        fold.words().into_iter().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_says_what_is_folded() {
        assert_eq!(Fold::of::<&str>(&[]), Ok(Fold::NONE));
        assert_eq!(Fold::of(&["none"]), Ok(Fold::NONE));
        assert_eq!(Fold::of(&["forms"]), Ok(Fold::default()));
        let marks = Fold::of(&["marks"]).expect("a word");
        assert!(marks.forms() && marks.marks() && !marks.digits() && !marks.letters());
        assert_eq!(Fold::of(&["letters", "digits", "marks", "marks"]), Ok(Fold::ALL));
        for fold in [Fold::NONE, Fold::FORMS, marks, Fold::ALL] {
            assert_eq!(Fold::try_from(Vec::<String>::from(fold)), Ok(fold), "{fold}");
            let written = fold.to_string();
            assert_eq!(Fold::of(&written.split(',').collect::<Vec<_>>()), Ok(fold), "{written}");
        }
    }

    #[test]
    fn what_is_unknown_is_refused_with_what_is_known() {
        for wrong in [&["accents"][..], &["marks", "Digits"], &[""]] {
            let message = Fold::of(wrong).expect_err("no such word");
            assert!(Fold::WORDS.iter().all(|(word, _)| message.contains(word)), "{message}");
        }
        assert!(Fold::of(&["none", "marks"]).expect_err("both").contains("stands alone"));
    }
}
