//! `alike evaluate`: methods run side by side, and held against labels or the exact join.

mod printer;
mod report;
mod runs;

use std::process::ExitCode;

use alike::config::{Config, Input, Method, PRESETS, Preset};
use alike::error::{Error, Result};
use alike::evaluate::{Documents, Form, Resolved};
use alike::lexicon::{Lexicon, ONLY_SURVEY, Survey};

use self::report::{EvaluatedMethod, Evaluation};
use self::runs::MethodRuns;
use crate::cli::common::PrintArgs;
use crate::cli::evaluate::{EvaluateArgs, EvaluationForm, PairsOfArg};
use crate::cli::values::DataForm;
use crate::session::inputs::{find_inputs, refuse};
use crate::session::labels::{GivenLabels, labelled, load_labels};
use crate::session::options::{Machine, records};
use crate::session::run_folder::RunFolder;
use crate::session::watched::watched;
use crate::terminal::data::object::print_rows;
use crate::terminal::stdout::OutputLines;

pub(crate) fn run(args: &EvaluateArgs) -> Result<ExitCode> {
    let machine = Machine::new(&args.machine)?;
    let asked = asked(args)?;
    // A file that is no lexicon is an error at once, and not one of each method.
    args.lexicon.as_deref().map(Lexicon::open).transpose()?;
    let threshold = args.threshold.as_deref().map(str::parse).transpose().map_err(Error::Config)?;
    let given = load_labels(&args.truth)?;
    let evaluation = watched(&args.talk, |progress| {
        let place = RunFolder::new(None)?;
        let hint = args.records.form.hint(&asked[0].config.input);
        let sources = find_inputs(&args.inputs, hint, place.path(), progress)?;
        let survey = Survey {
            sources: &sources.sources,
            input: &asked[0].config.input,
            workers: machine.workers,
            memory: machine.memory,
            mesh: None,
            counter: ONLY_SURVEY,
        };
        let documents = Documents::read(&survey, machine.simd, progress)?;
        let refused = sources.rejected(documents.refused.clone());
        refuse(args.records.refusals, &refused, documents.len() as u64)?;
        let labels = given.map(|given| held(&given, args, &documents)).transpose()?;
        let runs = MethodRuns {
            sources: &sources.sources,
            documents: &documents,
            scratch: place.path(),
            machine,
            lexicon: args.lexicon.as_deref(),
            accepted: args.pairs_of == PairsOfArg::Links,
            progress,
            failed: None,
            done: Vec::new(),
        };
        let mut evaluation = Evaluation::new(args, &documents, (&refused, machine.workers), labels.as_ref());
        evaluation.rows = runs.all(&asked, labels.map(|(_, labels)| labels).as_ref(), threshold)?;
        Ok(evaluation)
    })?;
    let mut lines = OutputLines::new();
    let usual = match lines.form(PrintArgs { json: args.json, format: None }) {
        DataForm::Table => EvaluationForm::Table,
        _ => EvaluationForm::Json,
    };
    let written = match args.format.unwrap_or(usual) {
        EvaluationForm::Json => lines.json(&evaluation),
        EvaluationForm::Jsonl => evaluation.rows.iter().try_for_each(|row| lines.json(row)),
        EvaluationForm::Tsv => {
            let columns =
                ("rows", &["name", "failed"][..], &["config", "ran.scores.by_size", "ran.tally"][..]);
            print_rows(&mut lines, DataForm::Tsv, &evaluation, columns, |_| Ok(()))
        }
        EvaluationForm::Table => lines.texts(&printer::table(&evaluation, args.by_size)),
        EvaluationForm::Markdown => {
            printer::markdown(&evaluation, args.by_size).lines().try_for_each(|line| lines.plain(line))
        }
    };
    lines.finish(written)
}

/// The methods that were asked for, and one that others are compared with in speed.
fn asked(args: &EvaluateArgs) -> Result<Vec<EvaluatedMethod>> {
    let presets: Vec<&str> = match args.all {
        true => PRESETS.iter().map(|preset| preset.name).collect(),
        false => args.preset.iter().map(String::as_str).collect(),
    };
    let mut asked = Vec::new();
    for name in presets {
        let preset = Preset::find(name)?;
        asked.push(EvaluatedMethod { name: preset.name.to_owned(), config: preset.config()?, beside: false });
    }
    for path in &args.config {
        asked.push(EvaluatedMethod {
            name: path.display().to_string(),
            config: Config::load(path)?,
            beside: false,
        });
    }
    for EvaluatedMethod { config, .. } in &mut asked {
        records(&mut config.input, &args.records);
    }
    if !asked.iter().any(|asked| asked.config.method == Method::Join) {
        // Of other files the fields of records may be others.
        let input = asked.first().map(|asked| asked.config.input.clone());
        let mut config = Config { input: input.unwrap_or_default(), ..Config::default() };
        records(&mut config.input, &args.records);
        let beside = !asked.is_empty();
        asked.push(EvaluatedMethod { name: "join".into(), config, beside });
    }
    if args.lexicon.is_some() && !asked.iter().any(|asked| asked.config.needs_lexicon()) {
        return Err(Error::config(
            "--lexicon has no effect: none of the methods looks terms up; leave it out",
        ));
    }
    // Methods are compared on the same documents: those that any of them would read.
    let longest = asked.iter().map(|asked| asked.config.input.max_record_bytes).max().unwrap_or_default();
    asked.iter_mut().for_each(|asked| asked.config.input.max_record_bytes = longest);
    // Whether dates are read makes no other documents.
    let documents = |config: &Config| Input { date_field: String::new(), ..config.input.clone() };
    for EvaluatedMethod { name, config, .. } in &asked {
        config.validate()?;
        if documents(config) != documents(&asked[0].config) {
            return Err(Error::config(format!(
                "{} and {name} read other fields of records, or other records; methods are compared on the same \
                 documents: give --id-field and --text-field",
                asked[0].name
            )));
        }
    }
    Ok(asked)
}

/// Labels, held against the documents.
fn held(given: &GivenLabels<'_>, args: &EvaluateArgs, documents: &Documents) -> Result<(Form, Resolved)> {
    let (form, resolved) = labelled(given, &args.truth, documents)?;
    if args.pairs_of == PairsOfArg::Links && form == Form::Marks {
        return Err(Error::config(
            "--pairs-of links is about pairs, and these labels are marks of documents; leave it out",
        ));
    }
    Ok((form, resolved))
}
