//! Presets, configuration files, and the documents the command line gives of itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use alike::config::{
    Clustering, Config, Criterion, Keep, Method, PRESETS, Preset, Sampling, Tokens, Verify, parse_size,
};

/// Every `table.key` of a TOML document.
fn keys(table: &toml::Table) -> BTreeSet<String> {
    let inner = |name: &String, value: &toml::Value| match value {
        toml::Value::Table(table) => keys(table).iter().map(|key| format!("{name}.{key}")).collect(),
        _ => vec![name.clone()],
    };
    table.iter().flat_map(|(name, value)| inner(name, value)).collect()
}

/// Runs the program.
fn alike(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_alike")).args(arguments).output().expect("the program starts")
}

/// Standard output of a run that must succeed.
fn shown(arguments: &[&str]) -> String {
    let output = alike(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_preset_loads_and_is_valid() {
    for preset in PRESETS {
        let config = Config::preset(preset.name).expect(preset.name);
        config.validate().expect(preset.name);
        let file = Path::new("configs").join(format!("{}.toml", preset.name));
        assert_eq!(Config::load(&file).expect("the file itself"), config, "{}", preset.name);
    }
}

#[test]
fn every_file_of_configs_is_a_preset() {
    let files: BTreeSet<String> = fs::read_dir("configs")
        .expect("the folder of presets")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect();
    let presets: BTreeSet<String> = PRESETS.iter().map(|preset| format!("{}.toml", preset.name)).collect();
    assert_eq!(files, presets);
    assert_eq!(presets.len(), PRESETS.len(), "two presets of one name");
}

#[test]
fn every_preset_gives_every_key_that_has_an_effect() {
    let all = keys(&toml::Table::try_from(Config::default()).expect("the default as TOML"));
    assert!(all.contains("threshold") && all.contains("cluster.keep"), "{all:?}");
    for preset in PRESETS {
        let mut given = keys(&preset.source.parse().expect("TOML"));
        let Config { method, text, .. } = Config::preset(preset.name).expect("a preset");
        // A table of filters that would say nothing may be left out.
        if text.filter.is_idle() {
            given.extend(all.iter().filter(|key| key.starts_with("text.filter.")).cloned());
        }
        let tables = [&["input", "text", "cluster"], method.tables()].concat();
        // What has no effect with a method, and what names a file of the user's, would only distract.
        let idle = |key: &&String| match key.split_once('.') {
            Some((table, key)) => {
                !tables.contains(&table)
                    || matches!((table, key), ("count", "shared") | ("shingles", "ratios"))
            }
            None => *key == "lexicon",
        };
        let wanted: BTreeSet<String> = all.iter().filter(|key| !idle(key)).cloned().collect();
        let told: BTreeSet<String> = given.iter().filter(|key| !idle(key)).cloned().collect();
        assert_eq!(told, wanted, "{}", preset.name);
        let of_tables = |key: &&String| key.split_once('.').is_none_or(|(table, _)| tables.contains(&table));
        assert!(given.iter().all(|key| of_tables(&key)), "{}: {given:?}", preset.name);
    }
}

#[test]
fn every_value_of_a_preset_says_where_it_comes_from() {
    for preset in PRESETS {
        for line in preset.source.lines().filter(|line| !line.starts_with(['#', '[']) && !line.is_empty()) {
            let (value, comment) = line.split_once(" # ").unwrap_or((line, ""));
            assert!(value.contains(" = ") && comment.len() > 10, "{}: {line}", preset.name);
        }
        assert!(preset.source.starts_with("# ") && preset.source.is_ascii(), "{}", preset.name);
    }
}

#[test]
fn presets_say_what_was_published() {
    let preset = |name: &str| Config::preset(name).expect(name);
    for (name, ngram, k, s, r) in [
        ("broder2000", 10, 6, 14, 2),
        ("fetterly2003", 5, 6, 14, 2),
        ("datatrove", 5, 14, 8, 1),
        ("marin", 5, 26, 11, 1),
        ("nemo", 24, 20, 13, 1),
        ("text-dedup", 5, 24, 10, 1),
    ] {
        let config = preset(name);
        assert_eq!(config.method, Method::Minhash, "{name}");
        let found = (config.text.ngram, config.minhash.k, config.minhash.s, config.minhash.r);
        assert_eq!(found, (ngram, k, s, r), "{name}");
        assert_eq!(config.verify, Verify::None, "{name}");
        assert_eq!(config.text.tokens, if name == "nemo" { Tokens::Chars } else { Tokens::Words }, "{name}");
        assert_eq!(
            (config.cluster.clustering, config.cluster.keep),
            (Clustering::Transitive, Keep::default())
        );
    }
    let broder = preset("broder1997");
    assert_eq!((broder.method, broder.text.ngram), (Method::Shingles, 10));
    assert_eq!(broder.threshold.to_string(), "0.5");
    let shingles = &broder.shingles;
    assert_eq!((shingles.sampling, shingles.modulus, shingles.residue), (Sampling::Mod, 25, 0));
    assert_eq!((shingles.per_document, broder.count.common_cap), (400, 1000));
    for name in ["web", "news", "short", "sections", "titles", "code", "qa", "mail", "ediscovery"] {
        let config = preset(name);
        assert_eq!(
            (config.method, config.cluster.clustering),
            (Method::Join, Clustering::Guarantee),
            "{name}"
        );
    }
}

#[test]
fn the_web_preset_is_the_default() {
    assert_eq!(Config::preset("web").expect("a preset"), Config::default());
}

#[test]
fn an_unknown_preset_is_answered_with_all_names() {
    let message = Config::preset("broder1998").expect_err("no such preset").to_string();
    assert!(message.contains("Did you mean broder1997?"), "{message}");
    for Preset { name, .. } in PRESETS {
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn unknown_keys_and_values_are_refused_where_they_stand() {
    for (text, told) in [
        ("methods = \"join\"", "unknown field `methods`"),
        ("[text]\nngrams = 5", "unknown field `ngrams`"),
        ("[cluster]\nkeeper = \"first\"", "unknown field `keeper`"),
        ("method = \"minhash-lsh\"", "unknown variant `minhash-lsh`"),
        ("threshold = 1.5", "threshold \"1.5\""),
        ("threshold = \"0.8\"", "invalid type"),
        ("[text]\nngram = -1", "invalid value"),
        ("[cluster]\nkeep = \"newest\"", "keep policy \"newest\""),
        ("method = ", "line 1"),
    ] {
        let message = Config::parse("my.toml", text).expect_err(text).to_string();
        assert!(message.starts_with("my.toml: TOML parse error at line"), "{message}");
        assert!(message.contains(told), "{message}");
    }
    let message = Config::parse("my.toml", "[text]\nngrams = 5").expect_err("an unknown key").to_string();
    assert!(message.contains("line 2") && message.contains("ngrams = 5"), "{message}");
}

#[test]
fn keys_left_out_have_their_defaults() {
    assert_eq!(Config::parse("empty", "").expect("an empty file"), Config::default());
    let config =
        Config::parse("one", "threshold = 1\n[cluster]\nkeep = \"field:dc:date.issued:min\"").expect("valid");
    assert_eq!(config.threshold.to_string(), "1");
    assert_eq!(config.cluster.keep, Criterion::Field { name: "dc:date.issued".into(), max: false }.into());
    assert_eq!(config.text, Config::default().text);
}

#[test]
fn keys_left_out_may_be_those_of_another_configuration() {
    let mut base = Config { threshold: "0.123456".parse().expect("a threshold"), ..Config::default() };
    (base.cluster.clustering, base.cluster.keep) = (Clustering::Transitive, Criterion::Longest.into());
    assert_eq!(Config::parse_over("empty", "", &base).expect("an empty file"), base);
    let config =
        Config::parse_over("one", "[cluster]\nkeep = \"first\"\n[text]\nngram = 3", &base).expect("valid");
    assert_eq!((config.cluster.clustering, &config.cluster.keep), (Clustering::Transitive, &Keep::default()));
    assert_eq!((config.threshold, config.text.ngram), (base.threshold, 3));
    for preset in PRESETS {
        let over = Config::parse_over(preset.name, preset.source, &base).expect(preset.name);
        assert_eq!(over, preset.config().expect(preset.name), "a preset says everything");
    }
    let message =
        Config::parse_over("my.toml", "[text]\nngrams = 5", &base).expect_err("unknown").to_string();
    assert!(message.starts_with("my.toml: TOML parse error at line 2"), "{message}");
}

#[test]
fn a_configuration_survives_writing_and_reading() {
    for preset in PRESETS {
        let mut config = preset.config().expect(preset.name);
        config.cluster.keep = Criterion::Field { name: "a:b.c".into(), max: true }.into();
        let text = toml::to_string(&config).expect("as TOML");
        assert_eq!(Config::parse("written", &text).expect("read back"), config);
        let json = serde_json::to_string(&config).expect("as JSON");
        assert_eq!(serde_json::from_str::<Config>(&json).expect("read back"), config);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let message = Config::load(Path::new("no/such/file.toml")).expect_err("no such file").to_string();
    assert!(message.starts_with("no/such/file.toml: cannot read this configuration file"), "{message}");
}

#[test]
fn sizes_have_binary_units() {
    for (text, bytes) in [("2G", 2u64 << 30), ("512MiB", 512 << 20), ("1.5g", 3 << 29), ("1048576", 1 << 20)]
    {
        assert_eq!(parse_size(text).expect(text), bytes);
    }
    assert!(parse_size("2X").is_err());
}

/// The flags the manual promises, written down a second time on purpose: a flag lost from the definition is missed here.
const FLAGS: &str = "--out --method --threshold --ngram --tokens --preset --config --workers --keep --clustering \
    --memory --id-field --text-field --date-field --drop-numbers --alphabetic --stop-words --min-token-length --stem \
    --pairs --dry-run --strict --quiet --json-progress --verify --simd";

#[test]
fn help_completions_and_manual_mention_every_flag() {
    let help = shown(&["dedup", "--help"]);
    let man = shown(&["man", "dedup"]).replace("\\-", "-");
    let bash = shown(&["completions", "bash"]);
    for flag in FLAGS.split_whitespace() {
        for (name, text) in [("help", &help), ("man", &man), ("bash", &bash)] {
            assert!(text.contains(flag), "{name} does not mention {flag}");
        }
    }
    assert!(help.contains("Examples:"));
    let short = shown(&["dedup", "-h"]);
    assert!(!short.contains("--simd") && !short.contains("Examples:"));
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(shown(&["completions", shell]).contains("json-progress"), "{shell}");
    }
}

#[test]
fn presets_are_listed_and_printed() {
    let table = shown(&["presets"]);
    for preset in PRESETS {
        assert!(table.contains(preset.name));
        assert_eq!(shown(&["presets", preset.name]), preset.source);
    }
    assert_eq!(shown(&["--version"]), format!("alike {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_use_ends_with_code_2_and_says_so_on_standard_error() {
    for (arguments, told) in [
        (&[][..], "Usage:"),
        (&["dedup"], "INPUT"),
        (&["dedup", "x.jsonl"], "--out"),
        (&["dedup", "x", "--dry-run", "--threshhold", "1"], "--threshold"),
        (
            &["dedup", "x", "--dry-run", "--preset", "nemmo"],
            "alike: error: no preset is called \"nemmo\". Did you",
        ),
        (
            &["dedup", "x", "--dry-run", "--method", "exact", "--threshold", "1"],
            "alike: error: --threshold has no",
        ),
        (&["presets", "nothing"], "The presets are: web"),
        (&["dedup", "x", "--out", "src"], "alike: error: src: exists already"),
    ] {
        let output = alike(arguments);
        let stderr = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(told), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}
