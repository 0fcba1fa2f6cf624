//! `alike info`: what a collection is made of.

use std::collections::BTreeMap;
use std::io;
use std::process::ExitCode;

use alike::collection::{FORMAT, Manifest, Retain};
use alike::config::Config;
use alike::error::{Error, Result};
use alike::printable::counted;
use alike::storage::Storage;
use serde::Serialize;

use crate::cli::collections::ShowArgs;
use crate::session::collection::{open, reach};
use crate::terminal::data::object::print_object;
use crate::terminal::stdout::OutputLines;

/// All that is reported.
#[derive(Serialize)]
struct Info<'a> {
    format: u32,
    collection: String,
    commit: u64,
    load: u64,
    documents: u64,
    contents: u64,
    clusters: u64,
    /// How often a load ignored a key as common.
    ignored_keys: u64,
    store_text: bool,
    /// Of what the commit names.
    commit_bytes: u64,
    bytes_a_document: Option<f64>,
    /// How long commits can be looked at again, if that was said.
    retain: Option<Retain>,
    /// The first commit that stays.
    retained_from: u64,
    /// The last commit whose change log is gone.
    changes_after: u64,
    /// Of all files in the folder, superseded ones included, without what processes keep to themselves.
    disk_bytes: u64,
    runs: Vec<RunInfo<'a>>,
    configuration: &'a Config,
}

#[derive(Serialize)]
struct RunInfo<'a> {
    run: u64,
    bytes: u64,
    rows: &'a BTreeMap<String, u64>,
    /// The process that keeps it to itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<u32>,
}

pub(crate) fn run(args: &ShowArgs) -> Result<ExitCode> {
    let snapshot = open(&args.at)?;
    let info = Info::new(snapshot.manifest(), bytes_on_disk(&*reach(&args.at.place, None)?)?);
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let people = |lines: &mut OutputLines| lines.texts(&info.text()?);
    let written = print_object(&mut lines, form, &info, people);
    lines.finish(written)
}

/// Bytes of all files in the folder.
fn bytes_on_disk(storage: &dyn Storage) -> Result<u64> {
    let mut sum = 0;
    for name in storage.names().map_err(|e| Error::io(&storage.path(""), "list", e))? {
        match storage.open(&name).and_then(|file| file.len()) {
            Ok(bytes) => sum += bytes,
            // A commit of somebody else's has superseded it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(&storage.path(&name), "look at", error)),
        }
    }
    Ok(sum)
}

impl<'a> Info<'a> {
    fn new(manifest: &'a Manifest, disk_bytes: u64) -> Info<'a> {
        let (counts, bytes) = (manifest.counts, manifest.bytes());
        let runs = manifest.runs.iter().map(|run| RunInfo {
            run: run.id,
            bytes: run.bytes,
            rows: &run.rows,
            process: run.keeper.map(|keeper| keeper.process),
        });
        Info {
            format: FORMAT,
            collection: format!("{:016x}", manifest.collection),
            commit: manifest.commit,
            load: manifest.load,
            documents: counts.documents,
            contents: counts.contents,
            clusters: counts.clusters,
            ignored_keys: counts.ignored_keys,
            store_text: manifest.store_text,
            commit_bytes: bytes,
            disk_bytes,
            retain: manifest.retain,
            retained_from: manifest.first_kept(),
            changes_after: manifest.changes_after,
            bytes_a_document: (counts.documents > 0).then(|| bytes as f64 / counts.documents as f64),
            runs: runs.collect(),
            configuration: &manifest.config,
        }
    }

    /// For people.
    fn text(&self) -> Result<String> {
        let config = toml::to_string(self.configuration).map_err(|error| Error::config(error.to_string()))?;
        let each = self.bytes_a_document.map_or_else(String::new, |each| format!(", {each:.1} a document"));
        let kept = if self.store_text { "; records are kept" } else { "" };
        let mut text = format!(
            "collection {}, format {}\ncommit {}, load {}\n{}, {}, {}\n\
             {} bytes of this commit{each}{kept}\n{} bytes on disk, superseded files included\n",
            self.collection,
            self.format,
            self.commit,
            self.load,
            counted(self.documents, "document"),
            counted(self.contents, "content"),
            counted(self.clusters, "cluster"),
            self.commit_bytes,
            self.disk_bytes
        );
        if let Some(retain) = self.retain {
            text +=
                &format!("commits {} to {} are kept (--retain {retain})\n", self.retained_from, self.commit);
        }
        if self.changes_after > 0 {
            text += &format!("change logs up to that of commit {} are gone\n", self.changes_after);
        }
        if self.ignored_keys > 0 {
            text += &format!(
                "keys ignored as common: {}; clusters may depend on the order of loads\n",
                self.ignored_keys
            );
        }
        for RunInfo { run, bytes, rows, process } in &self.runs {
            let rows: Vec<String> = rows
                .iter()
                .filter(|(_, rows)| **rows > 0)
                .map(|(name, rows)| format!("{name} {rows}"))
                .collect();
            let kept = process.map_or_else(String::new, |process| format!(", kept by process {process}"));
            text += &format!("run {run}: {bytes} bytes{kept}; {}\n", rows.join(", "));
        }
        Ok(text + "\n" + &config)
    }
}
