//! `alike pairs`: every pair of near-duplicates of a collection.

use std::process::ExitCode;

use alike::collection::QueryOverrides;
use alike::error::{Error, Result};
use alike::output::{Lists, PairRow};
use alike::similarity::Relation;

use crate::cli::recompute::PairsArgs;
use crate::cli::values::DataForm;
use crate::session::collection::open;
use crate::session::recompute::{again, again_related, warn_of_cap};
use crate::terminal::data::rows::{Cells, Column, DataRows, cell};
use crate::terminal::stdout::OutputLines;

pub(crate) fn run(args: &PairsArgs) -> Result<ExitCode> {
    let threshold = args.threshold.as_deref().map(str::parse).transpose().map_err(Error::Config)?;
    let choice = QueryOverrides { threshold, ..QueryOverrides::default() };
    let (outcome, related) = if args.kinds {
        let (outcome, related) = again_related(&args.at, &choice, &args.talk, &args.machine)?;
        (outcome, Some(related))
    } else {
        let outcome = again(&args.at, &choice, true, &args.talk, &args.machine, None)?;
        (outcome.expect("who works alone has a result"), None)
    };
    warn_of_cap(open(&args.at)?.manifest(), outcome.common.keys(), &args.talk);
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let people = form == DataForm::Table;
    let mut rows = DataRows::new(&mut lines, form, columns(args.kinds));
    let written = Lists::new(&outcome).with_kinds(related.as_ref()).each_pair(&mut |pair| {
        outcome.run.context.status.progress.check()?;
        rows.row(pair, || cells(pair, people, args.kinds))
    });
    let written = written.and_then(|()| rows.finish());
    lines.finish(written)
}

fn columns(kinds: bool) -> Vec<Column> {
    let related = if kinds { vec![Column::text("kind"), Column::number("edits")] } else { Vec::new() };
    let pair = [Column::text("a"), Column::text("b")];
    [Column::number("in_common")].into_iter().chain(related).chain(pair).collect()
}

/// The figure that decides, as people read it or as it is; then the two.
fn cells(pair: &PairRow<'_>, people: bool, kinds: bool) -> Cells {
    let common = if people { cell(pair.shown) } else { pair.shown.figure().map(|figure| figure.to_string()) };
    let kind = pair.relation.map(|relation| relation.kind.to_string());
    let related =
        if kinds { vec![kind, pair.relation.as_ref().map(Relation::edits_told)] } else { Vec::new() };
    [common].into_iter().chain(related).chain([cell(pair.a), cell(pair.b)]).collect()
}

#[cfg(test)]
mod tests {
    use alike::similarity::{Relation, ReportedScores};

    use super::*;

    #[test]
    fn a_row_has_a_cell_for_each_column() {
        let shown = ReportedScores { resemblance: Some(0.87654), ..ReportedScores::default() };
        let (a, b) = ("x".into(), "y".into());
        let pair = PairRow { a: &a, b: &b, shown, relation: None };
        let texts = |pair: &PairRow<'_>, people, kinds| {
            let cells = cells(pair, people, kinds);
            assert_eq!(cells.len(), columns(kinds).len());
            cells.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>()
        };
        assert_eq!(texts(&pair, true, false), ["0.8765", "x", "y"]);
        assert_eq!(texts(&pair, false, false), ["0.87654", "x", "y"]);
        assert_eq!(texts(&pair, true, true), ["0.8765", "", "", "x", "y"]);
        let relation = Relation { edits: None, edits_above: Some(7), ..Relation::SAME };
        let related = PairRow { relation: Some(relation), ..pair };
        assert_eq!(texts(&related, true, true), ["0.8765", "exact", ">7", "x", "y"]);
        let features = PairRow {
            shown: ReportedScores { shared_features: Some(3), ..ReportedScores::default() },
            ..pair
        };
        assert_eq!(texts(&features, true, false), ["3 features", "x", "y"]);
        assert_eq!(texts(&features, false, false), ["3", "x", "y"]);
    }
}
