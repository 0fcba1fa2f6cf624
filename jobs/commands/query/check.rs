//! `alike check`: which stored documents texts resemble. Nothing is stored.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{AskedText, Checker, Resembled, Snapshot};
use alike::document::Position;
use alike::error::{Error, Result};
use alike::printable::{counted, printable};
use alike::progress::Progress;
use alike::read::{
    Day, Extent, Fields, Record, Refusal, Refused, RefusedCount, Rejected, Sink, Source, UnitReader, units,
};
use alike::scratch::private_folder;
use serde::Serialize;

use crate::cli::collections::CheckArgs;
use crate::cli::values::DataForm;
use crate::session::collection::open;
use crate::session::inputs::{find_inputs, refuse_most};
use crate::terminal::data::rows::{Cells, Column, DataRows, cell};
use crate::terminal::escape::sanitize;
use crate::terminal::interrupt::stop_on_interrupt;
use crate::terminal::stderr::warn;
use crate::terminal::stdout::OutputLines;

/// Refused records that are listed one by one.
const TOLD: usize = 10;

/// A text to be checked.
struct CheckedText {
    line: u32,
    id: Option<String>,
    text: String,
    day: Day,
    within: Option<String>,
}

impl CheckedText {
    fn asked(&self) -> AskedText<'_> {
        AskedText { text: &self.text, day: self.day, within: self.within.as_deref() }
    }
}

/// What is reported of a text.
#[derive(Serialize)]
struct CheckRow<'a> {
    id: Option<&'a str>,
    file: &'a str,
    line: u32,
    resembles: &'a [Resembled],
}

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode> {
    let progress = Arc::new(Progress::default());
    stop_on_interrupt(Arc::clone(&progress))?;
    let snapshot = open(&args.at)?;
    let scratch = private_folder(&std::env::temp_dir())?;
    let hint = args.form.hint(&snapshot.manifest().config.input);
    let found = find_inputs(std::slice::from_ref(&args.file), hint, scratch.path(), &progress);
    let found = found.map_err(|error| match error {
        Error::Input { path, reason } if !path.exists() && path == args.file => {
            let tip = "of a document of the collection `alike explain COLLECTION ID` says what resembles it";
            Error::Input { path, reason: format!("{reason}; {tip}") }
        }
        error => error,
    })?;
    let mut lines = OutputLines::new();
    let mut told = match lines.form(args.print) {
        DataForm::Table => CheckPrinter::People(&mut lines),
        form => CheckPrinter::Rows(DataRows::new(&mut lines, form, columns())),
    };
    let written = check_all(&snapshot, &found.sources, &mut told, &progress);
    let field = &snapshot.manifest().config.input.within_field;
    if let Some(taken) = written.as_ref().ok().filter(|taken| taken.valueless > 0 && !field.is_empty()) {
        warn(&format!(
            "{} without a number or a string in the field {}: held only against documents that have none",
            counted(taken.valueless, "text"),
            printable(field)
        ));
    }
    let written = written.and_then(|taken| told.finish().map(|()| taken));
    let refused = written.as_ref().ok().map(|taken| refuse_most(&taken.refused, taken.documents));
    let code = lines.finish(written.map(drop))?;
    refused.unwrap_or(Ok(())).map(|()| code)
}

fn check_all(
    snapshot: &Snapshot,
    sources: &[Source],
    told: &mut CheckPrinter<'_>,
    progress: &Progress,
) -> Result<CheckedRecords> {
    let fields = Arc::new(Fields::of(&snapshot.manifest().config.input)?);
    let mut checker = Checker::new(snapshot)?;
    let mut taken = CheckedRecords::default();
    for source in sources {
        taken.source = Some(source.clone());
        for unit in units(std::slice::from_ref(source), Extent::ALL, u64::MAX) {
            let mut reader = UnitReader::open(0, source, &unit, Arc::clone(&fields));
            // What one step reads is looked up together.
            while reader.advance(&mut taken)? || !taken.texts.is_empty() {
                let texts = std::mem::take(&mut taken.texts);
                let bodies: Vec<AskedText<'_>> = texts.iter().map(CheckedText::asked).collect();
                let mut asked = texts.iter();
                checker.check_each(&bodies, progress, &mut |resembles| {
                    let Some(CheckedText { line, id, .. }) = asked.next() else { return Ok(()) };
                    let (id, resembles) = (id.as_deref(), &resembles);
                    told.show(&CheckRow { id, file: &source.shown, line: *line, resembles })
                })?;
            }
        }
    }
    Ok(taken)
}

/// What was found, as text for people or as rows.
enum CheckPrinter<'a> {
    People(&'a mut OutputLines),
    Rows(DataRows<'a>),
}

impl CheckPrinter<'_> {
    fn show(&mut self, row: &CheckRow<'_>) -> Result<()> {
        match self {
            CheckPrinter::People(lines) => tell(lines, row),
            CheckPrinter::Rows(rows) => rows.rows(row, || cells(row)),
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            CheckPrinter::People(_) => Ok(()),
            CheckPrinter::Rows(rows) => rows.finish(),
        }
    }
}

fn columns() -> Vec<Column> {
    let found = ["resembles", "cluster", "same_text", "shared", "resemblance"];
    ["file", "line", "id"].into_iter().chain(found).map(Column::text).collect()
}

/// A row for each document that a text resembles; one without any for a text that resembles nothing.
fn cells(row: &CheckRow<'_>) -> Vec<Cells> {
    let text = || [cell(row.file), cell(row.line), row.id.and_then(cell)];
    let found = |Resembled { id, cluster, same_text, measures }: &Resembled| {
        let cluster = cluster.map(|cluster| cluster.to_string());
        [cell(id), cluster, cell(same_text), cell(measures.shared), measures.resemblance.and_then(cell)]
    };
    match row.resembles {
        [] => vec![text().into_iter().chain([None, None, None, None, None]).collect()],
        all => all.iter().map(|one| text().into_iter().chain(found(one)).collect()).collect(),
    }
}

fn tell(lines: &mut OutputLines, row: &CheckRow<'_>) -> Result<()> {
    let id = row.id.map_or_else(String::new, |id| format!(" ({id})"));
    let what = match row.resembles {
        [] => "resembles nothing that is stored".to_owned(),
        all => format!("resembles {}", all.len()),
    };
    lines.text(&format!("{}:{}{id}: {what}", row.file, row.line))?;
    row.resembles.iter().try_for_each(|resembled| lines.text(&format!("  {}", found(resembled))))
}

/// A document that a text resembles, for people.
fn found(resembled: &Resembled) -> String {
    let measures = &resembled.measures;
    let how =
        match (resembled.same_text, measures.resemblance.or(measures.edit_similarity).or(measures.cosine)) {
            (true, _) => "same text".to_owned(),
            (false, Some(share)) => format!("{share:.4}"),
            (false, None) if measures.hamming_distance.is_some() => {
                format!("{} apart", counted(measures.hamming_distance.unwrap_or_default(), "bit"))
            }
            (false, None) if measures.shared_terms.is_some() => counted(u64::from(measures.shared), "term"),
            (false, None) => counted(u64::from(measures.shared), "feature"),
        };
    let cluster = resembled.cluster.map_or_else(|| "-".to_owned(), |cluster| cluster.to_string());
    format!("{how:<12}{cluster:<12}{}", resembled.id)
}

/// What was read and not checked yet, and what was refused.
#[derive(Default)]
struct CheckedRecords {
    source: Option<Source>,
    texts: Vec<CheckedText>,
    documents: u64,
    /// Those without a value of the field that documents must share.
    valueless: u64,
    /// How many were shown.
    shown: usize,
    refused: RefusedCount,
}

impl Sink for CheckedRecords {
    fn document(&mut self, record: &Record<'_>) {
        self.documents += 1;
        self.valueless += u64::from(record.within.is_none());
        let id = record.id.as_deref().map(str::to_owned);
        self.texts.push(CheckedText {
            line: record.line,
            id,
            text: record.text.to_owned(),
            day: record.day,
            within: record.within.as_deref().map(str::to_owned),
        });
    }

    fn refuse(&mut self, position: Position, line: u32, refusal: Refusal) {
        let Some(source) = &self.source else { return };
        let refused = Refused { position, line, refusal }.rejected(source, u64::from(line));
        if self.shown < TOLD {
            self.shown += 1;
            // Nobody listening is no failure.
            let _ = writeln!(io::stderr().lock(), "{}", sanitize(&format!("refused: {refused}")));
        }
        Rejected::wrong(&[refused]).for_each(|wrong| self.refused.add(wrong));
    }
}
