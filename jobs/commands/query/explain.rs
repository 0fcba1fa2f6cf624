//! `alike explain`: why documents are together, or are not.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{Alone, Apart, Comparison, Explanation, Place, Preference, Step, Together, WordDiff};
use alike::config::{Clustering, Config};
use alike::document::DocumentName;
use alike::error::{Error, Result};
use alike::printable::{counted, printable};
use alike::progress::Progress;
use serde::Serialize;

use crate::cli::collections::ExplainArgs;
use crate::session::collection::open;
use crate::session::finished::{finished_run, questions};
use crate::terminal::data::object::print_object;
use crate::terminal::interrupt::stop_on_interrupt;
use crate::terminal::stdout::{OutputLines, Style};
use crate::terminal::words::piece;

/// Links and ids that are shown of a longer list.
const SHOWN: usize = 20;

pub(crate) fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let (explanation, rule) = match finished_run(&args.at)? {
        Some(run) => {
            let explanation =
                questions(&run, |questions| questions.explain(&args.document, args.other.as_deref()))?;
            (explanation, LinkRule::of("run", &run.config))
        }
        None => stored(args)?,
    };
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let answer = ExplanationWithRule { explanation: &explanation, rule: &rule };
    let written = print_object(&mut lines, form, &answer, |lines| {
        let mut told = ExplanationPrinter { lines };
        match &explanation {
            Explanation::Document(alone) => told.alone(alone),
            Explanation::Together(together) => told.together(together),
            Explanation::Apart(apart) => told.apart(apart),
        }?;
        told.line(&rule.told())
    });
    lines.finish(written)
}

/// What programs are answered.
#[derive(Serialize)]
struct ExplanationWithRule<'a> {
    #[serde(flatten)]
    explanation: &'a Explanation,
    rule: &'a LinkRule,
}

/// What links documents in a run or a collection.
#[derive(Serialize)]
struct LinkRule {
    /// Which of these it is.
    #[serde(skip)]
    whose: &'static str,
    /// What is held against which threshold.
    links: String,
    /// The field whose value documents must share, or `:file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<String>,
    clustering: Clustering,
    #[serde(skip)]
    is_within_files: bool,
}

impl LinkRule {
    fn of(whose: &'static str, config: &Config) -> LinkRule {
        let within = &config.input.within_field;
        LinkRule {
            whose,
            links: config.description().sentence,
            within: (!within.is_empty()).then(|| within.clone()),
            clustering: config.cluster.clustering,
            is_within_files: config.input.is_within_files(),
        }
    }

    fn told(&self) -> String {
        let within = match self.within.as_deref() {
            None => String::new(),
            Some(files) if self.is_within_files => {
                format!(", among documents of one file (--within {files})")
            }
            Some(field) => format!(", among documents with the same {} (--within)", printable(field)),
        };
        let clustering = match self.clustering {
            Clustering::Guarantee => "guarantee",
            Clustering::Transitive => "transitive",
        };
        format!("the {} links: {}{within}; {clustering} clustering", self.whose, self.links)
    }
}

/// The explanation of documents of a collection, and its rule.
fn stored(args: &ExplainArgs) -> Result<(Explanation, LinkRule)> {
    let progress = Arc::new(Progress::default());
    stop_on_interrupt(Arc::clone(&progress))?;
    let snapshot = open(&args.at.collection())?;
    let rule = LinkRule::of("collection", &snapshot.manifest().config);
    let explained = snapshot.explain(&args.document, args.other.as_deref(), &progress);
    let explanation = explained.map_err(|error| match error {
        Error::Config(why) if names_file(&args.document) || args.other.as_deref().is_some_and(names_file) => {
            Error::config(format!("{why}; for a file that is not in it: alike check COLLECTION FILE"))
        }
        error => error,
    })?;
    Ok((explanation, rule))
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
        let Place { id, file, line, text_bytes, against, .. } = place;
        let protected = against.as_ref().map_or_else(String::new, |set| format!(", protected by {set}"));
        let bytes =
            text_bytes.map_or_else(String::new, |bytes| format!(", {} of text", counted(bytes, "byte")));
        self.line(&format!("{id}: {cluster}{protected}; {file}:{line}{bytes}"))
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
            let shown: Vec<&str> = alone.same_text.iter().take(SHOWN).map(DocumentName::as_str).collect();
            let more = more(alone.same_text.len());
            self.line(&format!("the same text: {}{more}", shown.join(", ")))?;
        }
        if !alone.links.is_empty() {
            self.line("its stored links:")?;
            for link in alone.links.iter().take(SHOWN) {
                self.line(&format!("  {}: {}", link.second, link.how()))?;
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
            self.line(&format!("{} is kept before {}: {}", stays.kept, stays.before, stays.because()))
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
        if ends.kept_apart.is_some() {
            return Ok(());
        }
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
                self.line("no other pair counts: with guarantee clustering links to kept documents decide")
            }
            None if ends.measures.is_none() && !apart.all_pairs => {
                self.line("nothing more can be measured, as not all texts are at hand")
            }
            None if ends.measures.is_none() => self.line("the method links equal texts only"),
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
        self.line(&format!("  {} - {}: {}", step.first, step.second, step.how()))?;
        if let Some(relation) = &step.relation {
            let (kind, edits) = (relation.kind, relation.edits_told());
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

/// How many of a list are not shown.
fn more(of: usize) -> String {
    if of > SHOWN { format!("... and {} more", of - SHOWN) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_say_what_is_missing() {
        assert_eq!((more(SHOWN), more(SHOWN + 3)), (String::new(), "... and 3 more".to_owned()));
    }
}
