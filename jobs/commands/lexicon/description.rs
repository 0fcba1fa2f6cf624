//! A lexicon as it is described to people and programs.

use std::path::Path;

use alike::config::{Config, Input};
use alike::error::Result;
use alike::lexicon::{Frozen, Header};
use alike::printable::counted;
use serde_json::{Value, json};

use crate::terminal::reporter::Reporter;

/// Where texts stand in records.
pub(super) fn input(text_field: Option<&str>) -> Result<Input> {
    let mut config = Config::default();
    text_field.into_iter().for_each(|path| path.clone_into(&mut config.input.text_field));
    config.validate()?;
    Ok(config.input)
}

/// Tells people what was written; what programs are describe_new.
pub(super) fn describe_new(out: &Path, frozen: &Frozen, reporter: &Reporter<'_>) -> Value {
    let Frozen { header, count, left_out, bytes, .. } = frozen;
    let Header { min_df, short, .. } = header;
    reporter.line(&format!(
        "{}: {} in {} or more of {}; {left_out} rarer ones left out; {bytes} bytes",
        out.display(),
        counted(*count, "term"),
        counted(*min_df, "document"),
        header.documents
    ));
    if *short > 0 {
        reporter.line(&format!(
            "counts may be too low by up to {short}: lexicons that were merged had left out terms; build them with \
             --min-df 1 to have exact ones"
        ));
    }
    reporter.line(&format!("its name is {}", frozen.name()));
    let mut report = described(&out.display().to_string(), &frozen.name(), header, *count);
    report["left_out"] = (*left_out).into();
    report["bytes"] = (*bytes).into();
    report
}

/// A lexicon for programs.
pub(super) fn described(path: &str, name: &str, header: &Header, count: u64) -> Value {
    json!({
        "lexicon": path,
        "digest": name,
        "documents": header.documents,
        "count": count,
        "kind": header.terms.kind,
        "min_length": header.terms.min_length,
        "fold": header.terms.fold,
        "min_df": header.min_df,
        "short": header.short,
    })
}
