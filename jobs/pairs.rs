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
    format!("{:>11}{:>9}{:>13}  {:<32}  {}", "RESEMBLANCE", "FEATURES", "CONTAINMENT", "A", "B")
}

fn row(pair: &PairRow<'_>) -> String {
    let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{share:.4}"));
    let features = pair.shared_features.map_or_else(|| "-".to_owned(), |features| features.to_string());
    let (resemblance, containment) = (share(pair.resemblance), share(pair.containment));
    format!("{resemblance:>11}{features:>9}{containment:>13}  {:<32}  {}", pair.a, pair.b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_under_their_headings() {
        let pair = PairRow {
            a: "x",
            b: "y",
            resemblance: Some(0.87654),
            shared_features: None,
            containment: None,
            relation: None,
        };
        assert_eq!(row(&pair).find("0.8765"), heading().find("BLANCE"));
        assert_eq!(row(&pair).find('x'), heading().find(" A ").map(|at| at + 1));
        let features = PairRow { resemblance: None, shared_features: Some(3), ..pair };
        assert_eq!(row(&features).split_whitespace().collect::<Vec<_>>(), ["-", "3", "-", "x", "y"]);
    }
}
