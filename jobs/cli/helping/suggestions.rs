//! What users of other tools type, and the option or value of alike that means the same.

use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::cli::definition;

/// Flags of other tools, each line with the flag of alike that means the same.
const FLAGS: &[(&str, &str)] = &[
    (
        "--text-column --column --content-column --text-key --field --content-field --content --body --key --text",
        "--text-field",
    ),
    ("--id-column --index-column --id-key --doc-id --key-field --id", "--id-field"),
    ("--date-column --timestamp-field --date", "--date-field"),
    ("--output --output-dir --output-folder --output-path --out-dir --dest -o", "--out"),
    (
        "--ngram-size --n-gram --n-grams --ngrams --shingle-size --shingle --shingles --shingle-length --k --width -n",
        "--ngram",
    ),
    (
        "--jaccard --jaccard-threshold --similarity --similarity-threshold --min-similarity --sim --cutoff -t",
        "--threshold",
    ),
    (
        "--num-workers --num-proc --nproc --jobs --threads --num-threads --parallel --cpus --cores -j",
        "--workers",
    ),
    ("--ram --mem --max-memory --memory-limit --sort-memory -m", "--memory"),
    ("--cluster-method --cluster --clusters --linkage", "--clustering"),
    ("--keep-policy --keep-first --keep-last --keep-longest --keep-shortest", "--keep"),
    ("--tokenizer --tokenize --token --analyzer", "--tokens"),
    ("--stopwords --stop-word", "--stop-words"),
    ("--stemmer --stemming", "--stem"),
    ("--normalize --normalise --unicode-normalization --strip-accents --ascii-folding --folding", "--fold"),
    ("--min-length --min-token --min-word-length", "--min-token-length"),
    ("--algorithm --algo --mode --technique", "--method"),
    ("--settings --options --config-file -c", "--config"),
    ("--silent", "--quiet"),
    ("--save-pairs --output-pairs", "--pairs"),
    ("--dryrun --simulate --check-only", "--dry-run"),
    ("--sync --mirror --prune --full", "--delete-missing"),
    ("--rank --process-id --node-rank", "--process"),
    ("--num-processes --nodes --num-nodes --np", "--processes"),
    ("--hostfile --machinefile --host", "--hosts"),
    ("--fields --field-names --question-field --item-fields", "--benchmark-fields"),
    ("--benchmark --evals --eval --test-sets", "--benchmarks"),
    ("--protect --exclude-like", "--against"),
];

/// Flags of other tools that alike has in another form.
const HINTS: &[(&str, &str)] = &[
    (
        "--num-perm --num-perms --permutations --num-hashes --num-hash --hashes --bands --num-bands --band --rows \
         --num-rows --band-size --rows-per-band",
        "MinHash bands and rows are keys of a configuration, k and s; see `alike presets` for ready ones, as in --preset \
         text-dedup, and `alike tune filter` to choose them for a threshold",
    ),
    (
        "--input --inputs --input-dir --input-file --path --data --files -i -f",
        "name inputs without a flag, as in: alike dedup FILE",
    ),
    ("--recursive -r -R", "folders are always read with all folders in them"),
    ("--force --overwrite -y --yes", "alike overwrites nothing; name a new folder, or remove the old one"),
    ("--verbose --progress -v", "progress is shown on a terminal; --json-progress writes it as JSON lines"),
    ("--seed --random-seed", "results depend on no random numbers; leave it out"),
    (
        "--lowercase --ignore-case --punctuation --ignore-punctuation --normalize --normalise",
        "case, punctuation and Unicode forms never matter; leave it out",
    ),
    ("--gpu --use-gpu --device --cuda", "alike runs on processors; --workers says on how many cores"),
    ("--cut --remove", "to cut passages out of texts: --action cut"),
    ("--mark --annotate", "to say in each record where passages are: --action mark; dedup has --annotate"),
    (
        "--measure",
        "dedup and load have --measure; where texts of a collection or a preset are compared it is in the configuration \
         (join.measure); decontaminate has --threshold, the share of an item's n-grams, or --any-ngram",
    ),
    (
        "--json",
        "figures of a run are in summary.json, among its lists; questions about it, as alike show, have --json",
    ),
    ("--exact", "for equal texts only: --method exact"),
    ("--minhash --lsh", "for MinHash: --method minhash, or a preset of it from `alike presets`"),
];

/// Values of other tools, each line with the flag, and with the value of alike that means the same.
const VALUES: &[(&str, &str, &str)] = &[
    (
        "--method",
        "minhash-lsh minhashlsh minhash_lsh lsh minhash_deduplication fuzzy bands min-hash",
        "minhash",
    ),
    ("--method", "exact-jaccard jaccard set-similarity-join ssjoin allpairs ppjoin brute-force", "join"),
    ("--method", "sha1 sha256 md5 hash exact-hash exact_hash equal identical url", "exact"),
    ("--method", "tfidf tf-idf tf_idf cosine-similarity", "cosine"),
    ("--method", "winnowing moss", "winnow"),
    ("--method", "i-match i_match", "imatch"),
    ("--method", "ngram ngrams n-gram k-shingles shingling", "shingles"),
    ("--method", "super-shingles supershingle", "supershingles"),
    ("--method", "paragraph paragraphs ccnet line", "lines"),
    (
        "--clustering",
        "components connected-components connected_components union-find uf single-linkage single cc",
        "transitive",
    ),
    ("--clustering", "star greedy center representative", "guarantee"),
    ("--tokens", "word whitespace unicode", "words"),
    ("--tokens", "char character characters letters", "chars"),
    ("--verify", "jaccard similarity exact", "resemblance"),
    ("--verify", "edit edit-distance levenshtein edit_similarity", "edits"),
];

/// Subcommands of other tools.
const COMMANDS: &[(&str, &str)] = &[
    ("deduplicate dedupe deduplication find run minhash lsh unique uniq clean", "dedup"),
    ("add insert index import ingest update upsert create init append put", "load"),
    ("remove rm del drop", "delete"),
    ("query search lookup match find-similar test", "check"),
    ("verify doctor validate scrub", "fsck"),
    ("vacuum optimize optimise gc merge", "compact"),
    ("clone backup snapshot cp", "copy"),
    ("revert restore undo reset checkout", "rollback"),
    ("list ls docs", "documents"),
    ("show status describe", "info"),
    ("diff", "changes"),
    ("history commits", "log"),
    ("why compare", "explain"),
    ("cluster", "recluster"),
    ("dump write extract", "export"),
    ("benchmark bench measure score eval", "evaluate"),
    ("mpirun srun distribute parallel", "launch"),
    ("preset configs config methods", "presets"),
    ("completion complete autocomplete", "completions"),
    ("manual manpage", "man"),
    ("idf terms vocabulary", "lexicon"),
];

/// The meaning of `typed` in a table.
fn meaning<'a>(table: &[(&str, &'a str)], typed: &str) -> Option<&'a str> {
    table.iter().find(|(words, _)| words.split(' ').any(|word| word == typed)).map(|(_, meaning)| *meaning)
}

/// The error of the command line `words`, with the option, value or command that was probably meant.
pub(in crate::cli) fn with_suggestion(mut error: Error, words: &[OsString]) -> Error {
    let (kind, typed) = match error.kind() {
        ErrorKind::MissingRequiredArgument => return with_missing(error, words),
        ErrorKind::ValueValidation => return with_expected(error),
        ErrorKind::UnknownArgument => (ContextKind::SuggestedArg, ContextKind::InvalidArg),
        ErrorKind::InvalidValue => (ContextKind::SuggestedValue, ContextKind::InvalidValue),
        ErrorKind::InvalidSubcommand => (ContextKind::SuggestedSubcommand, ContextKind::InvalidSubcommand),
        _ => return error,
    };
    let Some(ContextValue::String(typed)) = error.get(typed).cloned() else { return error };
    let typed = typed.split('=').next().unwrap_or(&typed).to_owned();
    match error.kind() {
        ErrorKind::UnknownArgument if !typed.starts_with('-') && is_command(words, "delete") => {
            error.remove(kind);
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![IDS.into()]));
        }
        ErrorKind::UnknownArgument if is_command(words, "launch") && lacks_dashes(&typed) => {
            let hint = format!("put -- before the command: alike launch -n 2 -- {typed} ...");
            error.remove(kind);
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
        }
        ErrorKind::UnknownArgument => {
            let flag = meaning(FLAGS, &typed).filter(|flag| has_flag(words, flag));
            let hint = meaning(HINTS, &typed);
            if let Some(flag) = flag {
                error.insert(kind, ContextValue::String(flag.to_owned()));
                error.remove(ContextKind::Suggested);
                // It shows the flag that clap took for similar.
                error.remove(ContextKind::Usage);
            } else if let Some(hint) = hint {
                error.remove(kind);
                // It may show an unrelated flag, as --process for --force.
                error.remove(ContextKind::Usage);
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
            } else if let Some(commands) = commands_with(&typed) {
                error.remove(kind);
                let hint = format!("{typed} is an option of {commands}");
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
            }
        }
        ErrorKind::InvalidValue => {
            let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else {
                return error;
            };
            let of = |flag: &str| argument.split([' ', '[', '=']).next() == Some(flag);
            let typed = typed.to_ascii_lowercase();
            let known =
                VALUES.iter().find(|(flag, words, _)| of(flag) && words.split(' ').any(|word| word == typed));
            if let Some((.., value)) = known {
                error.insert(kind, ContextValue::String((*value).to_owned()));
            }
        }
        _ => {
            if let Some(command) = meaning(COMMANDS, &typed) {
                error.insert(kind, ContextValue::String(command.to_owned()));
            } else if typed.contains(['/', '.', '*']) {
                let hint = format!("to deduplicate files: alike dedup {typed} --out DIR");
                error.remove(kind);
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
            }
        }
    }
    error
}

/// How ids of documents are given to `alike delete`.
const IDS: &str = "give ids in a file, one a line: --ids FILE; or on standard input: echo ID | alike delete COLLECTION --ids -";

/// The error of a line that lacks arguments, with the choice there is if one of them is the folder for the result or the
/// file of ids.
fn with_missing(mut error: Error, words: &[OsString]) -> Error {
    let lacks = |name: &str| match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) => missing.iter().any(|argument| argument == name),
        _ => false,
    };
    let hint = if lacks("--out <DIR>") {
        "name a new folder for the result with --out, or give --dry-run to write nothing"
    } else if lacks("--ids <FILE>") && is_command(words, "delete") {
        IDS
    } else {
        return error;
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    error
}

/// The error of a value that is no number, with what was expected: the words of the parser do not say.
fn with_expected(mut error: Error) -> Error {
    let Some(source) = std::error::Error::source(&error) else { return error };
    let hint = match source.downcast_ref::<ParseIntError>().map(ParseIntError::kind) {
        Some(IntErrorKind::Zero) => "a whole number from 1 on is expected, such as 2",
        Some(IntErrorKind::PosOverflow | IntErrorKind::NegOverflow) => {
            "a smaller number is expected, such as 2"
        }
        Some(_) => "a whole number is expected, such as 2",
        None if source.is::<ParseFloatError>() => "a number is expected, such as 0.5",
        None => return error,
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    error
}

/// The commands that have a flag, for people; none if no command has.
fn commands_with(flag: &str) -> Option<String> {
    let name = flag.strip_prefix("--").filter(|name| !name.is_empty())?;
    let has = |command: &Command| command.get_arguments().any(|argument| argument.get_long() == Some(name));
    let definition = definition();
    let commands = definition.get_subcommands().filter(|command| has(command) && !command.is_hide_set());
    let commands: Vec<String> = commands.map(|command| format!("alike {}", command.get_name())).collect();
    match &commands[..] {
        [] => None,
        [one] => Some(one.clone()),
        [rest @ .., last] if rest.len() <= NAMED => Some(format!("{} and {last}", rest.join(", "))),
        more => Some(format!("{} and {} more commands", more[..NAMED].join(", "), more.len() - NAMED)),
    }
}

/// Commands that a hint names.
const NAMED: usize = 4;

/// Whether the command has this name.
fn is_command(words: &[OsString], name: &str) -> bool {
    words.get(1).is_some_and(|command| command == name)
}

/// Whether what stands where `alike launch` knows its own options only is a command of `alike`.
fn lacks_dashes(typed: &str) -> bool {
    definition().find_subcommand(typed).is_some()
}

/// Whether the command that `words` name has a flag.
fn has_flag(words: &[OsString], flag: &str) -> bool {
    let mut command = definition();
    for word in words.iter().skip(1) {
        if let Some(subcommand) = command.find_subcommand(word).cloned() {
            command = subcommand;
        }
    }
    let name = flag.trim_start_matches('-');
    command.get_arguments().any(|argument| argument.get_long() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::line::CommandLine;

    fn message(line: &str) -> String {
        let words: Vec<OsString> = ["alike"].into_iter().chain(line.split(' ')).map(OsString::from).collect();
        match CommandLine::parse(&words) {
            Ok(_) => panic!("{line}: accepted"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn words_of_other_tools_lead_to_ours() {
        for (line, meant) in [
            ("dedup in --out o --text-column body", "'--text-field'"),
            ("dedup in --out o --column=body", "'--text-field'"),
            ("dedup in --output o", "'--out'"),
            ("dedup in -o o", "'--out'"),
            ("load c in --ngram-size 5", "'--ngram'"),
            ("load c in --protect old.jsonl", "'--against'"),
            ("dedup in --out o --jaccard 0.8", "'--threshold'"),
            ("dedup in --out o --num-workers 4", "'--workers'"),
            ("evaluate in -j 4", "'--workers'"),
            ("dedup in --out o --num-perm 128", "alike presets"),
            ("dedup --input in --out o", "without a flag"),
            ("dedup in --out o --threshhold 0.8", "'--threshold'"),
            ("dedup in --out o --method minhash-lsh", "'minhash'"),
            ("dedup in --out o --method SHA256", "'exact'"),
            ("dedup in --out o --method joins", "'join'"),
            ("dedup in --out o --clustering union-find", "'transitive'"),
            ("dedup in --out o --verify=jaccard", "'resemblance'"),
            ("cluster c", "'recluster'"),
            ("dedupe in", "'dedup'"),
            ("dedup in", "--dry-run"),
            ("crawl/", "alike dedup crawl/ --out DIR"),
            ("rm c", "'delete'"),
            ("delete c doc1", "echo ID | alike delete COLLECTION --ids -"),
            ("delete c doc1 --ids x", "--ids FILE"),
            ("delete c", "--ids FILE"),
            ("launch -n 2 dedup in --out o", "put -- before the command: alike launch -n 2 -- dedup"),
            ("dedup in --out o -w many", "a whole number is expected"),
            ("dedup in --out o --ngram x", "a whole number is expected"),
            ("clusters c --top 0x1", "a whole number is expected"),
            ("dedup in --out o -w 99999999999999999999999", "a smaller number is expected"),
            ("check c f --threshold 0.5", "--threshold is an option of alike dedup"),
            ("dedup in --out o --json", "summary.json"),
            ("export c --out o --to jsonl", "--to is an option of alike dedup"),
            ("dedup in --out o --store-text", "--store-text is an option of alike load"),
        ] {
            let message = message(line);
            assert!(message.contains("tip:") && message.contains(meant), "{line}: {message}");
        }
    }

    #[test]
    fn a_flag_is_only_suggested_where_it_is_one() {
        assert!(!message("info c --column text").contains("--text-field"));
        assert!(!message("stats c --jobs 3").contains("--workers"));
        for flag in ["--force", "--overwrite", "--yes"] {
            let message = message(&format!("dedup in --out o {flag}"));
            assert!(message.contains("overwrites nothing") && !message.contains("--process"), "{message}");
        }
    }

    #[test]
    fn the_tables_name_what_there_is() {
        let definition = definition();
        let of_commands = definition.get_subcommands().flat_map(|command| {
            command.get_subcommands().chain([command]).flat_map(clap::Command::get_arguments)
        });
        let flags: Vec<String> =
            of_commands.filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect();
        for (typed, flag) in FLAGS {
            assert!(flags.contains(&(*flag).to_owned()), "{flag}");
            // A flag of one command may be a word for another one in the next.
            assert!(!typed.split(' ').any(|word| word == *flag), "{flag}");
        }
        for (_, command) in COMMANDS {
            assert!(definition.find_subcommand(command).is_some(), "{command}");
        }
        let dedup = definition.find_subcommand("dedup").expect("a command");
        let known = |flag: &str, value: &str| {
            let argument = dedup.get_arguments().find(|argument| argument.get_long() == Some(&flag[2..]));
            let values = argument.expect("a flag").get_possible_values();
            values.iter().any(|possible| possible.matches(value, false))
        };
        for (flag, typed, value) in VALUES {
            assert!(known(flag, value), "{flag} {value}");
            for word in typed.split(' ') {
                assert!(!known(flag, word), "{flag} {word} is a value of alike");
            }
        }
    }
}
