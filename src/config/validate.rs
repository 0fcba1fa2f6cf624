//! Which values make no sense, alone or together. Every message says what to write instead.

use super::{Config, JoinMeasure, Method, Tokens, Verify};
use crate::error::{Error, Result};

impl Config {
    /// Refuses a configuration that contradicts itself. Parameters of methods not chosen are checked as well, so
    /// that a file does not become wrong when only its `method` is changed.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn validate(&self) -> Result<()> {
        self.input.check()?;
        self.text.check()?;
        self.count.check()?;
        for method in Method::ALL {
            self.technique_of(*method).check()?;
        }
        if !self.finds_pairs() && self.verify != Verify::None {
            return Err(Error::config(
                "verify: method = \"exact\" finds equal texts, of which nothing is left to verify; choose another \
                 method, or verify = \"none\"",
            ));
        }
        self.check_lexicon()
    }

    /// The same, of a collection: its documents came from files of many loads.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn validate_for_collection(&self) -> Result<()> {
        if self.input.is_within_files() {
            let within = &self.input.within_field;
            return Err(Error::config(format!(
                "input.within_field = {within:?} (--within): the files of a collection change from load to load, so it cannot \
                 compare each by itself; name a field, like \"source\", or use it with dedup"
            )));
        }
        self.require_protected(false)?;
        self.validate()
    }

    /// Refuses a measure that is about protected documents where there are none.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn require_protected(&self, has_protected: bool) -> Result<()> {
        let is_about =
            self.method == Method::Join && self.join.measure == JoinMeasure::ContainmentOfProtected;
        if has_protected || !is_about {
            return Ok(());
        }
        Err(Error::config(
            "join.measure = \"containment-of-protected\" (--measure containment-of-protected): only with \
             --against is anything measured so, on documents that it protects; take --measure containment here, by which the \
             smaller of two texts is the contained one",
        ))
    }

    fn check_lexicon(&self) -> Result<()> {
        let digits =
            |text: &str| text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if !self.lexicon.is_empty() && !digits(&self.lexicon) {
            return Err(Error::config(format!(
                "lexicon = {:?}: expected the name of a lexicon, the 32 hexadecimal digits that `alike lexicon show` \
                 tells; name its file with --lexicon",
                self.lexicon
            )));
        }
        if self.needs_terms() && self.text.tokens == Tokens::Chars {
            return Err(Error::config(format!(
                "text.tokens = \"chars\": method {} looks words up in a lexicon, which has no single characters; choose \
                 words",
                self.method
            )));
        }
        if self.needs_lexicon() && !self.text.filter.stem.is_empty() {
            return Err(Error::config(format!(
                "text.filter.stem = {:?}: a lexicon has words as they are, and no stems; leave stems out, or choose a \
                 method without a lexicon",
                self.text.filter.stem
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Minhash, Rule, Sampling};

    /// The message for a default configuration changed by `change`.
    fn refusal(change: impl Fn(&mut Config)) -> String {
        let mut config = Config::default();
        change(&mut config);
        config.validate().expect_err("an invalid configuration").to_string()
    }

    #[test]
    fn accepts_the_default_and_the_bounds() {
        let mut config = Config::default();
        config.validate().expect("the default is valid");
        config.text.ngram = 1000;
        config.minhash = Minhash { k: 64, s: 64, r: 64 };
        config.shingles.modulus = 1;
        config.validate().expect("the bounds are valid");
        config.method = Method::Shingles;
        config.count.rule = Rule::Containment;
        config.validate().expect("containment is a rule of shingles");
    }

    #[test]
    fn names_the_key_and_the_cure() {
        assert!(refusal(|c| c.text.ngram = 0).starts_with("text.ngram = 0"));
        assert!(refusal(|c| c.text.ngram = 1001).contains("1 to 1000"));
        assert!(refusal(|c| c.minhash.k = 0).contains("at least 1"));
        assert!(refusal(|c| c.minhash.s = 0).contains("at least 1"));
        assert!(refusal(|c| c.minhash.s = 683).contains("over 4096"));
        assert!(refusal(|c| c.minhash.k = usize::MAX).contains("over 4096"));
        assert!(refusal(|c| c.minhash.r = 0).contains("1 to k = 6"));
        assert!(refusal(|c| c.minhash.r = 7).contains("1 to k = 6"));
        assert!(refusal(|c| c.shingles.modulus = 0).contains("at least 1"));
        assert!(refusal(|c| c.shingles.residue = 25).contains("below modulus = 25"));
        assert!(refusal(|c| c.shingles.sampling = Sampling::Smallest).contains("per_document"));
        assert!(refusal(|c| (c.count.rule, c.count.shared) = (Rule::Shared, 0)).contains("count.shared = 0"));
        let many = u32::MAX as usize + 2;
        let refused = refusal(|c| (c.count.rule, c.count.shared) = (Rule::Shared, many));
        assert!(refused.contains("count.shared = 4294967297"), "{refused}");
        let exact = |c: &mut Config| (c.method, c.verify) = (Method::Exact, Verify::Edits);
        assert!(refusal(exact).contains("equal texts"));
        assert!(refusal(|c| c.lexicon = "my.lexicon".into()).contains("--lexicon"));
        assert!(refusal(|c| c.input.text_field.clear()).contains("input.text_field"));
        assert!(refusal(|c| c.input.date_field = "a.".into()).contains("input.date_field"));
        assert!(refusal(|c| c.text.filter.stem = "tlh".into()).contains("text.filter.stem"));
        let stems = |c: &mut Config| (c.method, c.text.filter.stem) = (Method::Cosine, "en".into());
        assert!(refusal(stems).contains("a lexicon has words as they are"));
        let chars = |c: &mut Config| (c.method, c.text.tokens) = (Method::TermVector, Tokens::Chars);
        assert!(refusal(chars).contains("no single characters"));
        let days = |c: &mut Config| (c.method, c.term_vector.days) = (Method::TermVector, u32::MAX);
        assert!(refusal(days).contains("term-vector.days"));
        assert!(refusal(|c| c.shingles.ratios[3] = 6).contains("power of two"));
        assert!(refusal(|c| c.input.max_record_bytes = 0).contains("max_record_bytes"));
    }
}
