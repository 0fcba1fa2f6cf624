//! `alike explain`: why documents are together, or are not.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{
    Alone, Apart, Compared, Comparison, Explanation, Measures, Place, Preference, Step, Together, WordDiff,
};
use alike::error::{Error, Result};
use alike::printable::counted;
use alike::progress::Progress;

use crate::cli::collections::ExplainArgs;
use crate::session::collection::open;
use crate::terminal::data::object::print_object;
use crate::terminal::interrupt::stop_on_interrupt;
use crate::terminal::stdout::{OutputLines, Style};
use crate::terminal::words::{edits, piece};

/// Links and ids that are shown of a longer list.
const SHOWN: usize = 20;

pub(crate) fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let progress = Arc::new(Progress::default());
    stop_on_interrupt(Arc::clone(&progress))?;
    let snapshot = open(&args.at)?;
    let explained = snapshot.explain(&args.document, args.other.as_deref(), &progress);
    let explanation = explained.map_err(|error| match error {
        Error::Config(why) if names_file(&args.document) || args.other.as_deref().is_some_and(names_file) => {
            Error::config(format!("{why}; for a file that is not in it: alike check COLLECTION FILE"))
        }
        error => error,
    })?;
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let written = print_object(&mut lines, form, &explanation, |lines| {
        let mut told = ExplanationPrinter { lines };
        match &explanation {
            Explanation::Document(alone) => told.alone(alone),
            Explanation::Together(together) => told.together(together),
            Explanation::Apart(apart) => told.apart(apart),
        }
    });
    lines.finish(written)
}

/// Whether what should be an id is the name of a file.
fn names_file(id: &str) -> bool {
    Path::new(id).is_file()
}

/// An explanation for people.
struct ExplanationPrinter<'a> {
    lines: &'a mut OutputLines,
}

impl ExplanationPrinter<'_> {
    fn line(&mut self, line: &str) -> Result<()> {
        self.lines.text(line)
    }

    fn place(&mut self, place: &Place) -> Result<()> {
        let cluster = match (place.cluster, place.has_tokens) {
            (Some(cluster), _) => format!("cluster {cluster}"),
            (None, true) => "in no cluster".to_owned(),
            (None, false) => "in no cluster: its text has no token".to_owned(),
        };
        let Place { id, file, line, text_bytes, .. } = place;
        let bytes = counted(*text_bytes, "byte");
        self.line(&format!("{id}: {cluster}; {file}:{line}, {bytes} of text"))
    }

    fn alone(&mut self, alone: &Alone) -> Result<()> {
        self.place(&alone.document)?;
        match &alone.representative {
            Some(id) if alone.chain.is_empty() => self.line(&format!("{id} stands for its cluster")),
            Some(id) => {
                self.chain(&format!("what links it to {id}, which stands for its cluster:"), &alone.chain)
            }
            None => Ok(()),
        }?;
        self.stays(&alone.stays)?;
        if !alone.same_text.is_empty() {
            let shown: Vec<&str> = alone.same_text.iter().take(SHOWN).map(String::as_str).collect();
            let more = more(alone.same_text.len());
            self.line(&format!("the same text: {}{more}", shown.join(", ")))?;
        }
        if !alone.links.is_empty() {
            self.line("its stored links:")?;
            for link in alone.links.iter().take(SHOWN) {
                self.line(&format!("  {}: {}", link.second, how(link)))?;
            }
            let more = more(alone.links.len());
            if !more.is_empty() {
                self.line(&format!("  {more}"))?;
            }
        }
        Ok(())
    }

    fn together(&mut self, together: &Together) -> Result<()> {
        self.place(&together.first)?;
        self.place(&together.second)?;
        self.chain("together, by these links:", &together.chain)?;
        if let Some(ends) = &together.ends {
            self.line("both ends with each other:")?;
            self.step(ends)?;
        }
        self.stays(&together.stays)
    }

    fn stays(&mut self, stays: &Option<Preference>) -> Result<()> {
        stays.iter().try_for_each(|stays| {
            self.line(&format!("{} is kept before {}: {}", stays.kept, stays.before, because(stays)))
        })
    }

    fn apart(&mut self, apart: &Apart) -> Result<()> {
        self.place(&apart.first)?;
        self.place(&apart.second)?;
        self.line("not together:")?;
        let Some(ends) = &apart.ends else {
            return self.line("  a text without a token is like no other");
        };
        self.step(ends)?;
        if !apart.representatives.is_empty() {
            let heading = "with what stands for their clusters; each is with the first that it is linked to:";
            self.chain(heading, &apart.representatives)?;
        } else {
            self.closest(apart, ends)?;
        }
        match apart.capped {
            true => self.line(
                "some of that is enough, but the two never met: loads ignored keys of theirs as common",
            ),
            false => Ok(()),
        }
    }

    /// The closest pair of documents of two clusters.
    fn closest(&mut self, apart: &Apart, ends: &Step) -> Result<()> {
        let pairs = match apart.all_pairs {
            true => format!("all pairs of texts between the two ({})", apart.compared),
            false => {
                format!("{}, of each text with the cluster of the other", counted(apart.compared, "pair"))
            }
        };
        match &apart.best {
            None if ends.measures.is_some() && apart.compared == 0 => {
                self.line("each is kept itself: neither is linked to a document that is kept before it")
            }
            None if ends.measures.is_none() => self.line("the collection's method links equal texts only"),
            None => self.line(&format!("of {pairs} none shares anything")),
            Some(best) if best == ends => self.line(&format!("of {pairs} this is the closest")),
            Some(best) => {
                self.line(&format!("of {pairs} the closest is:"))?;
                self.step(best)
            }
        }
    }

    fn chain(&mut self, heading: &str, chain: &[Step]) -> Result<()> {
        self.line(heading)?;
        chain.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        self.line(&format!("  {} - {}: {}", step.first, step.second, how(step)))?;
        if let Some(relation) = &step.relation {
            let (kind, edits) = (relation.kind, edits(relation));
            self.line(&format!(
                "    kind {kind}: {edits} of {} edited",
                counted(relation.words as u64, "word")
            ))?;
        }
        match &step.texts {
            Some(Comparison::Words(diff)) => self.words(diff),
            Some(Comparison::Missing { why }) => self.line(&format!("    no words to show: {why}")),
            None => Ok(()),
        }
    }

    fn words(&mut self, diff: &WordDiff) -> Result<()> {
        for place in &diff.places {
            let pieces: Vec<(Style, String)> = place.iter().map(piece).collect();
            self.lines.styled("    ", &pieces)?;
        }
        let WordDiff { not_shown, not_compared, .. } = diff;
        if not_shown + not_compared > 0 {
            self.line(&format!(
                "    left out: {} not shown, {} not compared",
                counted(*not_shown, "word"),
                counted(*not_compared, "word")
            ))?;
        }
        Ok(())
    }
}

/// The criterion that decided, and what it compared.
fn because(stays: &Preference) -> String {
    let value = |value: &Compared| match value {
        Compared::Bytes(bytes) => counted(*bytes, "byte"),
        Compared::Number(number) => number.to_string(),
        Compared::Text(text) => format!("{text:?}"),
        Compared::Load(load) => format!("load {load}"),
        Compared::Missing => "no value".to_owned(),
    };
    let compared = match &stays.compared {
        [Compared::Load(one), Compared::Load(other)] if one == other => {
            format!("both came with load {one}, and ids decide")
        }
        [one, other] => format!("{} against {}", value(one), value(other)),
    };
    match &stays.criterion {
        Some(criterion) => format!("{criterion}, {compared}"),
        None => format!("{} finds them equal, so the first stays: {compared}", stays.keep),
    }
}

/// How many of a list are not shown.
fn more(of: usize) -> String {
    if of > SHOWN { format!("... and {} more", of - SHOWN) } else { String::new() }
}

/// All measures of a pair.
fn how(step: &Step) -> String {
    let Some(measures) = &step.measures else {
        return if step.same_text { "same text" } else { "not measured" }.to_owned();
    };
    let Measures { shared, only_first, only_second, union, containment, needed, linked, .. } = measures;
    let mut said = if step.same_text { "same text".to_owned() } else { measure(measures) };
    if let Some((first, second)) = containment.filter(|_| !step.same_text) {
        said += &format!(", containment {first:.4} and {second:.4}");
    }
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

/// The figure that decides.
fn measure(measures: &Measures) -> String {
    match *measures {
        Measures { edit_similarity: Some(share), .. } => format!("{share:.4} of the longer text unedited"),
        Measures { hamming_distance: Some(bits), .. } => format!("{} apart", counted(bits, "bit")),
        Measures { cosine: Some(cosine), .. } => format!("cosine {cosine:.4}"),
        Measures { shared_terms: Some(terms), .. } => format!("{} shared", counted(terms, "term")),
        Measures { resemblance: Some(resemblance), .. } => format!("resemblance {resemblance:.4}"),
        Measures { shared, .. } => format!("{} shared", counted(u64::from(shared), "feature")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(measures: Option<Measures>, same_text: bool) -> Step {
        Step { first: "a".into(), second: "b".into(), same_text, measures, relation: None, texts: None }
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
            needed: Some(4),
            linked: false,
        };
        let told = how(&step(Some(measures), false));
        assert!(
            told.starts_with("resemblance 0.4286, containment 0.7500 and 0.5000; 3 shared of 7"),
            "{told}"
        );
        assert!(told.ends_with("4 would link them, 1 more"), "{told}");
        let never = Measures { needed: None, ..measures };
        assert!(how(&step(Some(never), false)).ends_with("never linked"));
        let features = Measures { resemblance: None, containment: None, linked: true, ..measures };
        assert!(how(&step(Some(features), false)).starts_with("3 features shared; 3 shared of 7"));
        assert_eq!(
            (how(&step(None, true)), how(&step(None, false))),
            ("same text".into(), "not measured".into())
        );
    }

    #[test]
    fn what_decided_is_told_with_what_it_compared() {
        let told = |keep: &str, criterion: Option<&str>, compared: [Compared; 2]| {
            let (kept, before) = ("a".to_owned(), "b".to_owned());
            let criterion = criterion.map(str::to_owned);
            because(&Preference { kept, before, keep: keep.into(), criterion, compared })
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
        let loads = told("last", Some("last"), [Compared::Load(2), Compared::Load(1)]);
        assert_eq!(loads, "last, load 2 against load 1");
        let ids = told("shortest", None, [Compared::Load(3), Compared::Load(3)]);
        assert_eq!(
            ids,
            "shortest finds them equal, so the first stays: both came with load 3, and ids decide"
        );
    }

    #[test]
    fn long_lists_say_what_is_missing() {
        assert_eq!((more(SHOWN), more(SHOWN + 3)), (String::new(), "... and 3 more".to_owned()));
    }
}
