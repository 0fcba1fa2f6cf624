//! `alike tune filter`: features, values and how many must agree, for a threshold.

use std::fmt::Write as _;
use std::process::ExitCode;

use alike::error::{Error, Result};
use alike::limits::{MAX_FEATURES, MAX_MINWISE_VALUES};
use alike::output::Chart;
use alike::similarity::{Design, Wish, acceptance, design};
use serde_json::json;

use crate::cli::tune::TuneFilterArgs;
use crate::terminal::data::object::print_rows;
use crate::terminal::new_file::NewFile;
use crate::terminal::stdout::{OutputLines, print};

/// Bytes of a feature.
const FEATURE: usize = 8;
/// Parts of the curve that is printed or drawn, and columns and rows of the one in a terminal.
const PARTS: usize = 200;
const PLOT: (usize, usize) = (64, 16);

pub(super) fn run(args: &TuneFilterArgs) -> Result<ExitCode> {
    let wish = wish(args)?;
    let other = other(&args.compare, &wish)?;
    let svg = NewFile::if_named("--svg", args.svg.as_ref())?;
    let designs = design(&wish);
    let least = designs.iter().min_by(|a, b| a.cost.total_cmp(&b.cost)).copied();
    let best = least.ok_or_else(|| Error::config("no filter has no features"))?;
    let shown: Vec<Design> = [best].into_iter().chain(other).collect();
    svg.map_or(Ok(()), |svg| svg.write(&chart(&shown).to_svg()))?;
    if args.toml {
        return print(toml(&best, &wish).as_bytes());
    }
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let curves: Vec<_> = shown.iter().map(curve).collect();
    let value = json!({ "best": best, "compared": other, "by_features": designs, "curves": curves });
    let written = print_rows(&mut lines, form, &value, ("by_features", &["k", "s", "r"], &[]), |lines| {
        lines.texts(&text(&wish, &designs, &shown))
    });
    lines.finish(written)
}

/// What was asked for, if it can be.
fn wish(args: &TuneFilterArgs) -> Result<Wish> {
    let TuneFilterArgs { threshold, missed, wrong, bytes, values, .. } = *args;
    if !(threshold > 0.0 && threshold < 1.0) {
        return Err(Error::config(format!(
            "--threshold {threshold}: expected more than 0 and less than 1; equal texts need no filter"
        )));
    }
    for (name, cost) in [("--missed", missed), ("--wrong", wrong)] {
        if !(cost.is_finite() && cost >= 0.0) {
            return Err(Error::config(format!("{name} {cost}: expected 0 or more")));
        }
    }
    if missed + wrong == 0.0 {
        return Err(Error::config("--missed 0 --wrong 0: if no error costs anything, any filter will do"));
    }
    let features = bytes / FEATURE;
    if !(1..=MAX_FEATURES).contains(&features) {
        let most = MAX_FEATURES * FEATURE;
        return Err(Error::config(format!(
            "--bytes {bytes}: expected {FEATURE} to {most}, {FEATURE} a feature"
        )));
    }
    if !(1..=MAX_MINWISE_VALUES).contains(&values) {
        return Err(Error::config(format!("--values {values}: expected 1 to {MAX_MINWISE_VALUES}")));
    }
    Ok(Wish { threshold, costs: (wrong, missed), features, values })
}

/// The filter to be shown beside the best one.
fn other(parameters: &[usize], wish: &Wish) -> Result<Option<Design>> {
    match *parameters {
        [] => Ok(None),
        [k, s, r]
            if (1..=MAX_FEATURES).contains(&k)
                && (1..=k).contains(&r)
                && s > 0
                && s <= MAX_MINWISE_VALUES / k =>
        {
            Ok(Some(Design::of(k, s, r, wish)))
        }
        _ => Err(Error::config(format!(
            "--compare: expected k,s,r as in 6,14,2, with r of 1 to k features, at most {MAX_FEATURES}, and k times s at \
             most {MAX_MINWISE_VALUES}"
        ))),
    }
}

fn name(design: &Design) -> String {
    format!("{} of {} features of {}", design.r, design.k, design.s)
}

/// Resemblances from 0 to 1 with the chance of being accepted.
fn curve(design: &Design) -> Vec<(f64, f64)> {
    let at = |part: usize| part as f64 / PARTS as f64;
    (0..=PARTS).map(|part| (at(part), acceptance(design.k, design.s, design.r, at(part)))).collect()
}

fn chart(designs: &[Design]) -> Chart {
    Chart {
        title: "How likely a pair is accepted".to_owned(),
        across: "resemblance".to_owned(),
        up: "probability".to_owned(),
        range: (0.0, 1.0),
        curves: designs.iter().map(|design| (name(design), curve(design))).collect(),
    }
}

/// A configuration with the filter.
fn toml(best: &Design, wish: &Wish) -> String {
    format!(
        "# Chosen by `alike tune filter` for resemblance {}: accepts half of all pairs at {:.4}.\n\
         method = \"minhash\"\n\n[minhash]\nk = {}\ns = {}\nr = {}\n",
        wish.threshold, best.half, best.k, best.s, best.r
    )
}

/// For people: a line for each number of features, then the curve.
fn text(wish: &Wish, designs: &[Design], shown: &[Design]) -> String {
    let mut text = format!(
        "{:>6}{:>4}{:>6}{:>4}{:>8}{:>10}{:>10}{:>10}{:>8}\n",
        "BYTES", "K", "S", "R", "VALUES", "WRONG", "MISSED", "COST", "HALF"
    );
    let mut row = |design: &Design, note: &str| {
        let Design { k, s, r, accepted_below, missed_above, cost, half } = design;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:>6}{k:>4}{s:>6}{r:>4}{:>8}{accepted_below:>10.5}{missed_above:>10.5}{cost:>10.5}{half:>8.4}{note}",
            k * FEATURE,
            k * s
        );
    };
    designs.iter().for_each(|design| row(design, if design == &shown[0] { "  best" } else { "" }));
    shown[1..].iter().for_each(|design| row(design, "  compared"));
    let _ = write!(
        text,
        "\nWRONG is the area under the curve below {t}, MISSED that over it above {t}; HALF of all pairs are accepted at \
         that resemblance.\n\n{}",
        plot(shown, wish.threshold),
        t = wish.threshold
    );
    text
}

/// The curves in letters: * the first, o the second, and a line where the threshold is.
fn plot(designs: &[Design], threshold: f64) -> String {
    let (columns, rows) = PLOT;
    let mut field = vec![vec![' '; columns + 1]; rows + 1];
    let column = (threshold * columns as f64).round() as usize;
    field.iter_mut().for_each(|row| row[column] = '|');
    let height = |design: &Design, column: usize| {
        let chance = acceptance(design.k, design.s, design.r, column as f64 / columns as f64);
        rows - (chance * rows as f64).round() as usize
    };
    // The first is drawn last, over the other.
    for (design, mark) in designs.iter().zip(['*', 'o']).rev() {
        (0..=columns).for_each(|column| field[height(design, column)][column] = mark);
    }
    let mut text = String::new();
    for (number, row) in field.iter().enumerate() {
        let label = if number % (rows / 4) == 0 {
            format!("{:.2}", 1.0 - number as f64 / rows as f64)
        } else {
            String::new()
        };
        let line: String = row.iter().collect();
        let _ = writeln!(text, "{label:>5} {}", line.trim_end());
    }
    let _ = writeln!(text, "{:>5} 0{:>half$}{:>half$}", "", "0.5", "1", half = columns / 2);
    designs.iter().zip(['*', 'o']).for_each(|(design, mark)| {
        let _ = writeln!(text, "    {mark} {}", name(design));
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const WISH: Wish = Wish { threshold: 0.9, costs: (1.0, 1.0), features: 6, values: 256 };

    #[test]
    fn the_curve_rises_from_the_lower_left_to_the_upper_right() {
        let text = plot(&[Design::of(6, 14, 2, &WISH), Design::of(1, 1, 1, &WISH)], 0.9);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), PLOT.1 + 4);
        assert!(lines[0].starts_with(" 1.00") && lines[0].ends_with('*'), "{text}");
        assert!(lines[PLOT.1].starts_with(" 0.00 ***"), "{text}");
        // The diagonal goes through the middle of the field.
        assert_eq!(lines[PLOT.1 / 2].chars().nth(6 + PLOT.0 / 2), Some('o'), "{text}");
        assert!(lines[..PLOT.1].iter().all(|line| line.len() <= 72), "{text}");
    }

    #[test]
    fn the_configuration_is_one() {
        let best = *design(&WISH).last().expect("designs");
        let config = alike::config::Config::parse("filter.toml", &toml(&best, &WISH)).expect("valid");
        assert_eq!((config.minhash.k, config.minhash.s, config.minhash.r), (6, 15, 2));
    }
}
