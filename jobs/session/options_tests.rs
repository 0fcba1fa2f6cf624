//! What flags do to presets and configuration files, and which of them are refused.

use std::io::Write;

use alike::config::{Criterion, PRESETS, Rule};
use clap::Parser;

use super::*;
use crate::cli::{Cli, Command};

/// The options for `alike dedup in.jsonl --dry-run` followed by `flags`.
fn options(flags: &[&str]) -> Result<DedupOptions> {
    let line = [&["alike", "dedup", "in.jsonl", "--dry-run"], flags].concat();
    match Cli::try_parse_from(line).expect("a line that clap accepts").command {
        Command::Dedup(args) => configuration(&args.choices, Config::default())
            .and_then(|config| DedupOptions::new(*args, config)),
        other => panic!("not dedup: {other:?}"),
    }
}

fn config(flags: &[&str]) -> Config {
    options(flags).expect("good flags").config
}

/// The message of a configuration error.
fn refusal(flags: &[&str]) -> String {
    match options(flags) {
        Err(Error::Config(message)) => message,
        other => panic!("{flags:?}: expected a refusal, got {other:?}"),
    }
}

#[test]
fn without_flags_the_defaults_stand() {
    let options = options(&[]).expect("good flags");
    assert_eq!(options.config, Config::default());
    assert_eq!(options.inputs, [PathBuf::from("in.jsonl")]);
    assert!(options.machine.workers >= 1 && options.dry_run);
    assert!(!options.pairs && !options.refusals.strict && !options.quiet && !options.json_progress);
    assert_eq!(
        (options.out, options.machine.memory, options.machine.simd),
        (None, half_the_machine(1), Simd::detect())
    );
}

#[test]
fn a_preset_stands_where_no_flag_was_given() {
    for preset in PRESETS {
        assert_eq!(config(&["--preset", preset.name]), Config::preset(preset.name).expect("a preset"));
    }
}

#[test]
fn flags_win_over_a_preset_and_leave_the_rest() {
    let mut wanted = Config::preset("broder1997").expect("a preset");
    wanted.threshold = "0.55".parse().expect("a threshold");
    wanted.text.ngram = 7;
    wanted.text.tokens = Tokens::Chars;
    wanted.cluster.clustering = Clustering::Guarantee;
    wanted.cluster.keep = Criterion::Field { name: "meta.date".into(), max: true }.into();
    wanted.input.id_field = "meta.id".into();
    wanted.input.text_field = "body".into();
    let flags = "--preset broder1997 --threshold 0.55 --ngram 7 --tokens chars --clustering guarantee \
                 --keep field:meta.date:max --id-field meta.id --text-field body";
    assert_eq!(config(&flags.split_whitespace().collect::<Vec<_>>()), wanted);

    wanted.text.filter = Filter {
        numbers: true,
        stop_words: vec!["en".into(), "fr".into()],
        min_length: 3,
        alphabetic: true,
        min_idf: None,
        stem: "en".into(),
    };
    let flags =
        flags.to_owned() + " --drop-numbers --stop-words en,fr --min-token-length 3 --alphabetic --stem en";
    assert_eq!(config(&flags.split_whitespace().collect::<Vec<_>>()), wanted);

    let dated = config(&["--preset", "conrad2003-ddd", "--date-field", "meta.date"]);
    assert_eq!((dated.method, dated.input.date_field.as_str()), (Method::TermVector, "meta.date"));
    let verified = config(&["--preset", "datatrove", "--verify", "--threshold", "0.9"]);
    assert_eq!(verified.verify, Verify::Resemblance);
    assert_eq!((verified.minhash.k, verified.threshold.to_string().as_str()), (14, "0.9"));
    assert_eq!(config(&["--preset", "web", "--method", "exact"]).method, Method::Exact);
}

#[test]
fn flags_win_over_a_file_which_wins_over_the_defaults() {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    writeln!(file, "method = \"shingles\"\nthreshold = 0.6\n[count]\nrule = \"containment\"")
        .expect("written");
    let path = file.path().to_str().expect("a plain path");
    let read = config(&["--config", path, "--threshold", "0.7"]);
    assert_eq!((read.method, read.count.rule), (Method::Shingles, Rule::Containment));
    assert_eq!((read.threshold.to_string().as_str(), read.text.ngram), ("0.7", 5));
    assert!(refusal(&["--config", "no/such.toml"]).starts_with("no/such.toml: cannot read"));
}

#[test]
fn a_flag_without_effect_is_refused() {
    assert!(refusal(&["--method", "exact", "--threshold", "0.9"]).contains("method exact"));
    assert!(refusal(&["--method", "exact", "--ngram", "3"]).contains("--ngram has no effect"));
    assert!(refusal(&["--method", "minhash", "--threshold", "0.9"]).contains("add --verify"));
    assert!(refusal(&["--preset", "nemo", "--threshold", "0.9"]).contains("1 of 20 features"));
    assert!(refusal(&["--method", "exact", "--verify"]).contains("nothing is left to verify"));
    assert!(refusal(&["--method", "minhash", "--measure", "containment"]).contains("whose test is its own"));
    assert!(refusal(&["--measure", "containment", "--verify=containment"]).contains("measures that itself"));
    assert!(refusal(&["--lexicon", "my.lexicon"]).contains("looks no term up"));
    config(&["--measure", "containment", "--verify=resemblance"]);
    let counted = config(&["--method", "shingles", "--measure", "containment"]);
    assert_eq!(counted.count.rule, Rule::Containment);
    // The same words in a file are no contradiction: presets spell out every key.
    config(&["--preset", "fetterly2003"]);
    config(&["--method", "shingles", "--threshold", "0.9"]);
}

#[test]
fn bad_values_say_what_is_expected() {
    assert!(refusal(&["--threshold", "1.5"]).contains("like 0.8"));
    assert!(refusal(&["--ngram", "0"]).contains("1 to 1000"));
    assert!(refusal(&["--keep", "newest"]).contains("field:NAME:max"));
    assert!(refusal(&["--preset", "datatrov"]).contains("Did you mean datatrove?"));
    assert!(refusal(&["--workers", "0"]).contains("1 to 256"));
    assert!(refusal(&["-w", "257"]).contains("1 to 256"));
    assert!(refusal(&["--memory", "lots"]).starts_with("--memory: size \"lots\""));
    assert!(refusal(&["--memory", "4"]).contains("give a unit"));
    assert!(refusal(&["--stop-words", "en,tlh"]).contains("\"tlh\""));
    assert!(refusal(&["--stem", "tlh"]).contains("english"));
    assert!(refusal(&["--min-token-length", "65"]).contains("at most 64"));
    assert!(refusal(&["--method", "term-vector", "--date-field", "a..b"]).contains("input.date_field"));
    assert!(refusal(&["--date-field", "date"]).contains("compares no dates"));
    assert!(refusal(&["--text-field", ""]).contains("input.text_field"));
}

#[test]
fn machine_flags_arrive() {
    let options =
        options(&["-w", "3", "--memory", "1.5G", "--simd", "scalar", "--pairs", "--strict", "--quiet"]);
    let options = options.expect("good flags");
    assert_eq!(
        (options.machine.workers, options.machine.memory, options.machine.simd),
        (3, Some(3 << 29), Simd::Scalar)
    );
    assert!(options.pairs && options.refusals.strict && options.quiet);
}
