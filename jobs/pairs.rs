//! `alike pairs`: every pair of near-duplicates of a collection.

use std::process::ExitCode;

use alike::collection::Choice;
use alike::error::{Error, Result};
use alike::output::{Lists, PairRow};

use crate::again::again;
use crate::cli_again::PairsArgs;
use crate::shown::Lines;

pub(crate) fn run(args: &PairsArgs) -> Result<ExitCode> {
    let threshold = args.threshold.as_deref().map(str::parse).transpose().map_err(Error::Config)?;
    let choice = Choice { threshold, ..Choice::default() };
    let outcome = again(&args.at, &choice, true, &args.talk, &args.machine, None)?;
    let outcome = outcome.expect("who works alone has a result");
    let mut lines = Lines::new();
    let people = lines.for_people(args.json);
    let written = if people { lines.text(&heading()) } else { Ok(()) };
    let written = written.and_then(|()| {
        Lists::new(&outcome).each_pair(&mut |pair| {
            outcome.shared.progress.check()?;
            if people { lines.text(&row(pair)) } else { lines.json(pair) }
        })
    });
    lines.finish(written)
}

fn heading() -> String {
    format!("{:>17}  {:<32}  {}", "IN COMMON", "A", "B")
}

fn row(pair: &PairRow<'_>) -> String {
    format!("{:>17}  {:<32}  {}", pair.shown.to_string(), pair.a, pair.b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alike::similarity::Shown;

    #[test]
    fn rows_stand_under_their_headings() {
        let pair =
            PairRow { a: "x", b: "y", shown: Shown { resemblance: Some(0.87654), ..Shown::default() } };
        assert_eq!(row(&pair).find("8765").map(|at| at + 4), heading().find("  A"));
        assert_eq!(row(&pair).find('x'), heading().find(" A ").map(|at| at + 1));
        let features = PairRow { shown: Shown { shared_features: Some(3), ..Shown::default() }, ..pair };
        assert_eq!(row(&features).split_whitespace().collect::<Vec<_>>(), ["3", "features", "x", "y"]);
    }
}
