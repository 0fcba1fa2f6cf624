//! `alike pairs`: every pair of near-duplicates of a collection.

use std::process::ExitCode;

use alike::collection::QueryOverrides;
use alike::error::{Error, Result};
use alike::output::{Lists, PairRow};

use crate::cli::recompute::PairsArgs;
use crate::session::collection::open;
use crate::session::recompute::{again, again_related, warn_of_cap};
use crate::terminal::stdout::OutputLines;
use crate::terminal::words::edits;

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
    let people = lines.for_people(args.json);
    let written = if people { lines.text(&heading(args.kinds)) } else { Ok(()) };
    let written = written.and_then(|()| {
        Lists::new(&outcome).with_kinds(related.as_ref()).each_pair(&mut |pair| {
            outcome.run.context.status.progress.check()?;
            if people { lines.text(&row(pair)) } else { lines.json(pair) }
        })
    });
    lines.finish(written)
}

fn heading(kinds: bool) -> String {
    let kinds = if kinds { format!("  {:<11}{:>9}", "KIND", "EDITS") } else { String::new() };
    format!("{:>17}{kinds}  {:<32}  {}", "IN COMMON", "A", "B")
}

fn row(pair: &PairRow<'_>) -> String {
    let related = pair
        .relation
        .map_or_else(String::new, |relation| format!("  {:<11}{:>9}", relation.kind, edits(&relation)));
    format!("{:>17}{related}  {:<32}  {}", pair.shown.to_string(), pair.a, pair.b)
}

#[cfg(test)]
mod tests {
    use alike::similarity::{Relation, ReportedScores};

    use super::*;

    #[test]
    fn rows_stand_under_their_headings() {
        let shown = ReportedScores { resemblance: Some(0.87654), ..ReportedScores::default() };
        let pair = PairRow { a: "x", b: "y", shown, relation: None };
        assert_eq!(row(&pair).find("8765").map(|at| at + 4), heading(false).find("  A"));
        assert_eq!(row(&pair).find('x'), heading(false).find(" A ").map(|at| at + 1));
        let relation = Relation { edits: None, edits_above: Some(7), ..Relation::SAME };
        let related = row(&PairRow { relation: Some(relation), ..pair });
        assert_eq!(related.find("exact"), heading(true).find("KIND"));
        assert_eq!(related.find(">7").map(|at| at + 2), heading(true).find("EDITS").map(|at| at + 5));
        let features = PairRow {
            shown: ReportedScores { shared_features: Some(3), ..ReportedScores::default() },
            ..pair
        };
        assert_eq!(row(&features).split_whitespace().collect::<Vec<_>>(), ["3", "features", "x", "y"]);
    }
}
