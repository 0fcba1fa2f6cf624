//! What an explanation comes to in words, wherever people read it.

use super::{Compared, KeptApart, Preference, Step};
use crate::collection::query::measures::{Measures, ProtectedSide};
use crate::printable::counted;

/// The criterion that is before those of every policy.
pub const PROTECTED_CRITERION: &str = "--against";

impl Preference {
    /// The criterion that decided, and what it compared.
    pub fn because(&self) -> String {
        let value = |value: &Compared| match value {
            Compared::Bytes(bytes) => counted(*bytes, "byte"),
            Compared::Number(number) => number.to_string(),
            Compared::Integer(number) => number.to_string(),
            Compared::Text(text) => format!("{text:?}"),
            Compared::Load(load) => format!("load {load}"),
            Compared::Place { file, line } => format!("{file}:{line}"),
            Compared::Missing => "no value".to_owned(),
        };
        let compared = match &self.compared {
            [Compared::Load(one), Compared::Load(other)] if one == other => {
                format!("both came with load {one}, and ids decide")
            }
            [one, other] => format!("{} against {}", value(one), value(other)),
        };
        match &self.criterion {
            Some(criterion) if criterion == PROTECTED_CRITERION => match &self.compared[0] {
                Compared::Text(set) => format!("{PROTECTED_CRITERION} {set} protects it"),
                _ => format!("{PROTECTED_CRITERION} protects it"),
            },
            Some(criterion) => format!("{criterion}, {compared}"),
            None => format!("{} finds them equal, so the first stays: {compared}", self.keep),
        }
    }
}

impl Step {
    /// All measures of the pair, or what the lists of a run say of it; of one that is never compared why that is.
    pub fn how(&self) -> String {
        let listed = match (self.listed, self.same_text) {
            (Some(_), true) => Some("same text, as the run listed it".to_owned()),
            (Some(listed), false) if listed.figure() == listed.resemblance => {
                Some(format!("resemblance {listed}, as the run listed it"))
            }
            (Some(listed), false) => Some(format!("{listed}, as the run listed it")),
            (None, _) => None,
        };
        match (listed.filter(|_| self.measures.is_none()), self.kept_apart) {
            (Some(listed), _) => listed,
            (None, None) => Measures::told(self.measures.as_ref(), self.same_text),
            (None, Some(why)) => {
                let why = match why {
                    KeptApart::Within => "--within keeps them apart",
                    KeptApart::Protected => "both are protected, and such are never compared",
                };
                format!("{}; {why}", Measures::shares(self.measures.as_ref(), self.same_text))
            }
        }
    }
}

impl Measures {
    /// All that is known of a pair, of whose texts it is known whether they are the same.
    pub fn told(measures: Option<&Measures>, same_text: bool) -> String {
        let mut said = Measures::shares(measures, same_text);
        let Some(measures) = measures else { return said };
        let Measures { shared, only_first, only_second, union, needed, linked, .. } = measures;
        said += &format!("; {shared} shared of {union}, {only_first} and {only_second} of one only");
        said += &match (needed, linked) {
            (Some(needed), false) if *needed > u64::from(*shared) => {
                format!("; {needed} would link them, {} more", needed - u64::from(*shared))
            }
            (Some(_), false) if measures.shared_terms.is_some() => {
                "; their lengths or dates keep them apart".to_owned()
            }
            (Some(_), false) => "; something else than that keeps them apart".to_owned(),
            (Some(needed), true) => format!("; {needed} were needed"),
            (None, false) => "; too little, or too unlike in size: such are never linked".to_owned(),
            (None, true) => String::new(),
        };
        said
    }

    /// The figure of a pair that decides, and how much of each is in the other.
    fn shares(measures: Option<&Measures>, same_text: bool) -> String {
        let figure = Measures::figure(measures, same_text);
        let Some(Measures { containment: Some((first, second)), protected, .. }) = measures else {
            return figure;
        };
        if same_text {
            return figure;
        }
        let decides = "which is protected and decides";
        match protected {
            None => format!("{figure}, containment {first:.4} and {second:.4}"),
            Some(ProtectedSide::First) => {
                format!("{figure}, containment {first:.4} of the first, {decides}, and {second:.4}")
            }
            Some(ProtectedSide::Second) => {
                format!("{figure}, containment {first:.4}, and {second:.4} of the second, {decides}")
            }
        }
    }

    /// The figure of a pair that decides.
    pub fn figure(measures: Option<&Measures>, same_text: bool) -> String {
        match measures.copied() {
            _ if same_text => "same text".to_owned(),
            None => "not measured".to_owned(),
            Some(Measures { edit_similarity: Some(share), .. }) => {
                format!("{share:.4} of the longer text unedited")
            }
            Some(Measures { hamming_distance: Some(bits), .. }) => format!("{} apart", counted(bits, "bit")),
            Some(Measures { cosine: Some(cosine), .. }) => format!("cosine {cosine:.4}"),
            Some(Measures { shared_terms: Some(terms), .. }) => format!("{} shared", counted(terms, "term")),
            Some(Measures { resemblance: Some(resemblance), .. }) => format!("resemblance {resemblance:.4}"),
            Some(Measures { shared, .. }) => format!("{} shared", counted(u64::from(shared), "feature")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::ReportedScores;

    fn step(measures: Option<Measures>, same_text: bool) -> Step {
        let (first, second) = ("a".into(), "b".into());
        Step {
            first,
            second,
            same_text,
            measures,
            kept_apart: None,
            listed: None,
            relation: None,
            texts: None,
        }
    }

    #[test]
    fn a_pair_is_told_with_what_it_lacks() {
        let measures = Measures {
            shared: 3,
            only_first: 1,
            only_second: 3,
            union: 7,
            resemblance: Some(3.0 / 7.0),
            containment: Some((0.75, 0.5)),
            edit_similarity: None,
            shared_terms: None,
            cosine: None,
            hamming_distance: None,
            protected: None,
            needed: Some(4),
            linked: false,
        };
        let told = step(Some(measures), false).how();
        assert!(
            told.starts_with("resemblance 0.4286, containment 0.7500 and 0.5000; 3 shared of 7"),
            "{told}"
        );
        assert!(told.ends_with("4 would link them, 1 more"), "{told}");
        let of_second = Measures { protected: Some(ProtectedSide::Second), ..measures };
        let said = step(Some(of_second), false).how();
        assert!(said.contains("0.7500, and 0.5000 of the second, which is protected and decides;"), "{said}");
        let listed =
            ReportedScores { resemblance: Some(0.4), containment: Some(0.75), ..ReportedScores::default() };
        let only_listed = Step { listed: Some(listed), ..step(None, false) };
        assert_eq!(only_listed.how(), "0.7500 contained, as the run listed it");
        assert_eq!(Step { same_text: true, ..only_listed }.how(), "same text, as the run listed it");
        let apart = |kept_apart| Step { kept_apart: Some(kept_apart), ..step(Some(measures), false) }.how();
        assert_eq!(
            apart(KeptApart::Within),
            "resemblance 0.4286, containment 0.7500 and 0.5000; --within keeps them apart"
        );
        assert!(apart(KeptApart::Protected).ends_with("; both are protected, and such are never compared"));
        let never = Measures { needed: None, ..measures };
        assert!(step(Some(never), false).how().ends_with("never linked"));
        let features = Measures { resemblance: None, containment: None, linked: true, ..measures };
        assert!(step(Some(features), false).how().starts_with("3 features shared; 3 shared of 7"));
        assert_eq!(
            (step(None, true).how(), step(None, false).how()),
            ("same text".into(), "not measured".into())
        );
    }

    #[test]
    fn what_decided_is_told_with_what_it_compared() {
        let told = |keep: &str, criterion: Option<&str>, compared: [Compared; 2]| {
            let (kept, before) = ("a".into(), "b".into());
            let criterion = criterion.map(str::to_owned);
            Preference { kept, before, keep: keep.into(), criterion, compared }.because()
        };
        let bytes = told("longest", Some("longest"), [Compared::Bytes(2), Compared::Bytes(1)]);
        assert_eq!(bytes, "longest, 2 bytes against 1 byte");
        let field = told(
            "field:a:max,last",
            Some("field:a:max"),
            [Compared::Text("x".into()), Compared::Number(1.5)],
        );
        assert_eq!(field, "field:a:max, \"x\" against 1.5");
        let missing = told("field:a:max", Some("field:a:max"), [Compared::Number(-1.0), Compared::Missing]);
        assert_eq!(missing, "field:a:max, -1 against no value");
        let protected =
            told("first", Some(PROTECTED_CRITERION), [Compared::Text("old".into()), Compared::Missing]);
        assert_eq!(protected, "--against old protects it");
        let loads = told("last", Some("last"), [Compared::Load(2), Compared::Load(1)]);
        assert_eq!(loads, "last, load 2 against load 1");
        let ids = told("shortest", None, [Compared::Load(3), Compared::Load(3)]);
        assert_eq!(
            ids,
            "shortest finds them equal, so the first stays: both came with load 3, and ids decide"
        );
    }
}
