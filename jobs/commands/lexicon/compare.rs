//! `alike lexicon compare`: how alike two lexicons are.

use std::path::Path;
use std::process::ExitCode;

use alike::error::Result;
use alike::lexicon::{
    Agreement, Lexicon, ONLY_SURVEY, Point, Stability, StabilityRequest, Survey, agreement, stability,
};
use alike::output::Chart;
use alike::printable::counted;
use alike::read::{RefusedCount, Rejected};
use alike::scratch::private_folder;
use serde_json::{Value, json};

use super::description::{described, input};
use crate::cli::common::MachineArgs;
use crate::cli::lexicon::CompareArgs;
use crate::cli::values::DataForm;
use crate::session::inputs::{find_inputs, refuse_most};
use crate::session::options::Machine;
use crate::session::watched::watched;
use crate::terminal::data::object::print_object;
use crate::terminal::new_file::NewFile;
use crate::terminal::reporter::Reporter;
use crate::terminal::stdout::OutputLines;

/// Documents drawn, and terms of the longest signature, unless said otherwise.
const SAMPLE: usize = 1000;
const LONGEST: usize = 30;

pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode> {
    let tsv_file = NewFile::if_named("--tsv", args.tsv.as_ref())?;
    let svg_file = NewFile::if_named("--svg", args.svg.as_ref())?;
    let (a, b) = (Lexicon::open(&args.a)?, Lexicon::open(&args.b)?);
    let agreement = agreement(&a, &b);
    let stability = (!args.documents.is_empty()).then(|| measure(args, (&a, &b))).transpose()?;
    if let Some(stability) = &stability {
        tsv_file.map_or(Ok(()), |file| file.write(&tsv(&stability.curve)))?;
        svg_file.map_or(Ok(()), |file| file.write(&chart((&args.a, &args.b), &stability.curve).to_svg()))?;
    }
    let mut lines = OutputLines::new();
    let (form, value) = (lines.form(args.print), value((&a, &b), &agreement, stability.as_ref()));
    let written = match &stability {
        Some(stability) if form == DataForm::Tsv => {
            tsv(&stability.curve).lines().try_for_each(|line| lines.plain(line))
        }
        _ => print_object(&mut lines, form, &value, |lines| {
            lines.texts(&text((&a, &b), &agreement, stability.as_ref()))
        }),
    };
    lines.finish(written)
}

/// Draws documents and compares their signatures.
fn measure(args: &CompareArgs, lexicons: (&Lexicon, &Lexicon)) -> Result<Stability> {
    let Machine { workers, memory, simd, .. } =
        Machine::new(&MachineArgs { workers: args.workers, ..MachineArgs::default() })?;
    let question = StabilityRequest {
        sample: args.sample.unwrap_or(SAMPLE),
        seed: args.seed.unwrap_or(0),
        longest: args.longest.unwrap_or(LONGEST),
        max_idf: args.max_idf.unwrap_or(1.0),
    };
    watched(&args.talk, |progress| {
        let spool = private_folder(&std::env::temp_dir())?;
        let input = input(args.text_field.as_deref())?;
        let found = find_inputs(&args.documents, args.form.hint(&input), spool.path(), progress)?;
        let (sources, input) = (&found.sources[..], &input);
        let survey = Survey { sources, input, workers, memory, mesh: None, counter: ONLY_SURVEY };
        let stability = stability(lexicons, &survey, question, simd, progress)?;
        let rejected = found.rejected(stability.refused.clone());
        Reporter::of_people(&args.talk).refused(&rejected);
        refuse_most(&RefusedCount::of(Rejected::wrong(&rejected)), stability.read)?;
        Ok(stability)
    })
}

/// A line for each length, below a heading; no share where there are no documents.
fn tsv(curve: &[Point]) -> String {
    let row = |point: &Point| {
        let share = point.share.map_or_else(String::new, |share| share.to_string());
        format!("{}\t{}\t{}\t{share}\n", point.terms, point.documents, point.unchanged)
    };
    "terms\tdocuments\tunchanged\tshare\n".to_owned() + &curve.iter().map(row).collect::<String>()
}

fn chart((a, b): (&Path, &Path), curve: &[Point]) -> Chart {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let points = curve.iter().filter_map(|point| Some((point.terms as f64, point.share?)));
    Chart {
        title: "Signatures that are the same under two lexicons".to_owned(),
        across: "terms of a signature".to_owned(),
        up: "share of documents".to_owned(),
        range: (1.0, curve.len() as f64),
        curves: vec![(format!("{} and {}", name(a), name(b)), points.collect())],
    }
}

/// For people.
fn text((a, b): (&Lexicon, &Lexicon), agreement: &Agreement, stability: Option<&Stability>) -> String {
    let line = |lexicon: &Lexicon| {
        let (path, name) = (lexicon.path().display(), lexicon.name());
        let (terms, documents) = (lexicon.len() as u64, lexicon.header().documents);
        format!("{path}: {} of {}, {name}\n", counted(terms, "term"), counted(documents, "document"))
    };
    let Agreement { shared, only_a, only_b, spearman } = agreement;
    let spearman =
        spearman.map_or_else(|| "none: all ranks are tied".to_owned(), |value| format!("{value:.6}"));
    let mut text = line(a) + &line(b);
    text += &format!(
        "{} in both, {only_a} in the first only, {only_b} in the second only\n\
         rank correlation of terms in both: {spearman}\n",
        counted(*shared, "term")
    );
    let Some(Stability { documents, curve, .. }) = stability else { return text };
    text += &format!(
        "\n{} drawn\n\n{:>6}{:>12}{:>12}{:>9}\n",
        counted(*documents, "document"),
        "TERMS",
        "DOCUMENTS",
        "UNCHANGED",
        "SHARE"
    );
    for Point { terms, documents, unchanged, share } in curve {
        let share = share.map_or_else(|| "-".to_owned(), |share| format!("{share:.4}"));
        text += &format!("{terms:>6}{documents:>12}{unchanged:>12}{share:>9}\n");
    }
    text
}

/// For programs.
fn value((a, b): (&Lexicon, &Lexicon), agreement: &Agreement, stability: Option<&Stability>) -> Value {
    let each = |lexicon: &Lexicon| {
        let path = lexicon.path().display().to_string();
        described(&path, &lexicon.name(), lexicon.header(), lexicon.len() as u64)
    };
    json!({ "a": each(a), "b": each(b), "agreement": agreement, "stability": stability })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_without_documents_has_no_share() {
        let point = |terms, documents, unchanged, share| Point { terms, documents, unchanged, share };
        let curve = [point(1, 4, 3, Some(0.75)), point(2, 0, 0, None)];
        assert_eq!(tsv(&curve), "terms\tdocuments\tunchanged\tshare\n1\t4\t3\t0.75\n2\t0\t0\t\n");
        let chart = chart((Path::new("x/a"), Path::new("b")), &curve);
        assert_eq!(chart.curves, [("a and b".to_owned(), vec![(1.0, 0.75)])]);
    }
}
