//! `alike lexicon show`: how a lexicon was made, and terms of it.

use std::process::ExitCode;

use alike::error::{Error, Result};
use alike::lexicon::{Lexicon, LexiconEntry};
use alike::printable::counted;
use alike::text::{Fold, Speller};
use serde_json::{Value, json};

use super::description::described;
use crate::cli::lexicon::ShowLexiconArgs;
use crate::cli::values::DataForm;
use crate::terminal::data::object::{print_object, print_separated};
use crate::terminal::stdout::OutputLines;

/// Columns of terms, where these are rows.
const TERM_COLUMNS: [&str; 5] = ["term", "documents", "idf", "normalised_idf", "rank"];

pub(crate) fn run(args: &ShowLexiconArgs) -> Result<ExitCode> {
    let lexicon = Lexicon::open(&args.lexicon)?;
    let fold = lexicon.header().terms.fold;
    let asked = args.term.iter().map(|term| canonical(term, fold)).collect::<Result<Vec<String>>>()?;
    let rows = rows(&lexicon, &asked, (args.top.unwrap_or(0), args.common.unwrap_or(0)));
    let mut lines = OutputLines::new();
    let (form, value) = (lines.form(args.print), value(&lexicon, &rows));
    let written = match (form, value["terms"].as_array()) {
        (DataForm::Tsv, Some(terms)) if !terms.is_empty() => {
            print_separated(&mut lines, terms, &TERM_COLUMNS, &[])
        }
        _ => print_object(&mut lines, form, &value, |lines| lines.texts(&text(&lexicon, &rows))),
    };
    lines.finish(written)
}

/// The one word that was typed, as terms are written.
fn canonical(term: &str, fold: Fold) -> Result<String> {
    let mut words = Vec::new();
    Speller::new(fold).each_word(term, |word| words.push(word.to_owned()));
    match (words.pop(), words.is_empty()) {
        (Some(word), true) => Ok(word),
        _ => Err(Error::config(format!("--term {term}: expected one word; a lexicon has no others"))),
    }
}

/// A term, and what the lexicon says of it.
type Row<'a> = (&'a str, Option<LexiconEntry<'a>>);

/// The terms asked for, then the rarest, then the most common.
fn rows<'a>(lexicon: &'a Lexicon, asked: &'a [String], (top, common): (usize, usize)) -> Vec<Row<'a>> {
    let order = if top + common > 0 { lexicon.by_rank() } else { Vec::new() };
    let numbers = order.iter().take(top).chain(order.iter().rev().take(common));
    let ranked = numbers.map(|number| lexicon.entry(*number)).map(|entry| (entry.term, Some(entry)));
    asked.iter().map(|term| (term.as_str(), lexicon.find(term))).chain(ranked).collect()
}

/// For people.
fn text(lexicon: &Lexicon, rows: &[Row<'_>]) -> String {
    let header = lexicon.header();
    let short = match header.short {
        0 => String::new(),
        short => format!("; counts may be too low by up to {short}"),
    };
    let mut text = format!(
        "lexicon {}\n{}, {}, in {} or more of {}{short}\n",
        lexicon.name(),
        counted(lexicon.len() as u64, "term"),
        header.terms,
        counted(header.min_df, "document"),
        header.documents
    );
    if !rows.is_empty() {
        text += &format!("\n{:>12}{:>10}{:>9}{:>12}  TERM\n", "DOCUMENTS", "IDF", "NORM", "RANK");
    }
    for (term, entry) in rows {
        text += &match entry {
            Some(entry) => {
                let (idf, rank) = (header.idf(entry.documents), entry.rank + 1);
                format!("{:>12}{idf:>10.4}{:>9.4}{rank:>12}  {term}\n", entry.documents, entry.idf)
            }
            None => format!("{:>12}{:>10}{:>9}{:>12}  {term}\n", "-", "-", "-", "-"),
        };
    }
    text
}

/// For programs.
fn value(lexicon: &Lexicon, rows: &[Row<'_>]) -> Value {
    let header = lexicon.header();
    let row = |(term, entry): &Row<'_>| match entry {
        Some(entry) => json!({
            "term": term,
            "documents": entry.documents,
            "idf": header.idf(entry.documents),
            "normalised_idf": entry.idf,
            "rank": entry.rank + 1,
        }),
        None => json!({ "term": term, "documents": null }),
    };
    let path = lexicon.path().display().to_string();
    let mut value = described(&path, &lexicon.name(), header, lexicon.len() as u64);
    value["terms"] = rows.iter().map(row).collect();
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_one_word() {
        assert_eq!(canonical(" Don\u{2019}T ", Fold::default()).expect("a word"), "don't");
        for wrong in ["", "--", "two words"] {
            assert!(matches!(canonical(wrong, Fold::default()), Err(Error::Config(_))), "{wrong}");
        }
    }
}
