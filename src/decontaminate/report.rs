//! What was found, as rows and figures.

use std::path::Path;

use serde::Serialize;

use super::fields::ItemFields;
use super::hits::{ContaminatedDocument, ItemPassage};
use super::index::{BenchmarkCounts, BenchmarkIndex, Item, TextOwner};
use super::rule::ContaminationRule;
use super::score::MILLION;
use super::search::{CorpusFindings, CorpusTally};
use super::shares::ShareClasses;
use crate::error::{Error, Result};
use crate::output::Rows;
use crate::read::{Rejected, Source};

/// A text of a benchmark that stands in a document, where most of it does: a line of `contaminated.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContaminatedRow<'a> {
    /// Id of the document, or its file and line.
    pub id: &'a str,
    /// The file that it is in.
    pub file: &'a str,
    /// Its line, from 1.
    pub line: u64,
    /// The benchmark.
    pub benchmark: &'a str,
    /// Id of the item, or its file and line.
    pub item: &'a str,
    /// The file of the benchmark that it is in.
    pub item_file: &'a str,
    /// Its line, from 1.
    pub item_line: u64,
    /// The field that was found; all of them if they are joined.
    pub field: &'a str,
    /// Items of the benchmark that have the same text, if there are more than one; the first is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<u64>,
    /// Share of its n-grams that was found.
    pub share: f64,
    /// How many were found.
    pub found: u64,
    /// How many it has.
    pub ngrams: u64,
    /// Words of an n-gram.
    pub ngram: usize,
    /// The score of the item, where items have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The first byte of the passage in the text of the document.
    pub start: u64,
    /// The byte behind its last.
    pub end: u64,
    /// The passage, or how it begins.
    pub passage: &'a str,
    /// How many passages of the document have the text, if there are more than one; the first with most of it is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages: Option<u64>,
    /// How many more texts stand in the document, if not all are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlisted: Option<u64>,
}

/// What came of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BenchmarkRow {
    /// What it is called.
    pub benchmark: String,
    /// Its items.
    pub items: u64,
    /// Items of which no text is long enough to be looked for.
    pub too_short: u64,
    /// Items that stand in a document.
    pub found: u64,
    /// Documents that one stands in.
    pub documents: u64,
    /// Items by the share of their words in n-grams of the corpus, if that was asked for.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub shares: Option<ShareClasses>,
}

/// What becomes of documents that an item stands in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CorpusAction {
    /// They are not kept.
    #[default]
    Drop,
    /// The passages are cut out of their texts.
    Cut,
    /// They have a member `alike` that says where the passages are.
    Mark,
    /// No documents are written.
    List,
}

/// What came of all benchmarks: `benchmarks.json`. It is the same however it was found out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DecontaminationReport {
    /// Version of alike.
    pub version: &'static str,
    /// Fields of items that were looked for.
    pub fields: ItemFields,
    /// When one is found.
    pub rule: ContaminationRule,
    /// Files of the corpus.
    pub files: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Bytes of the texts of all documents.
    pub text_bytes: u64,
    /// Documents of the corpus.
    pub documents: u64,
    /// Those without any word.
    pub empty: u64,
    /// Records refused.
    pub rejected: u64,
    /// Documents that an item stands in.
    pub contaminated: u64,
    /// Stretches of documents that an item stands in, counted for each of its texts.
    pub passages: u64,
    /// Texts that stand in documents, but are not in the list.
    pub unlisted: u64,
    /// Documents that are kept.
    pub kept: u64,
    /// Documents that are not, as nothing is left of them when their passages are cut out.
    pub emptied: u64,
    /// What becomes of those with an item, if they are not dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<CorpusAction>,
    /// Distinct texts that were looked for.
    pub texts: u64,
    /// Different n-grams that were left out, as too many documents have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub common_ngrams: Option<u64>,
    /// Bytes of memory that they took.
    pub index_bytes: u64,
    /// What came of each benchmark.
    pub benchmarks: Vec<BenchmarkRow>,
}

impl DecontaminationReport {
    /// The figures of what was found.
    pub fn new(
        (fields, rule, action): (&ItemFields, ContaminationRule, CorpusAction),
        index: &BenchmarkIndex,
        found: &CorpusFindings,
        rejected: &[Rejected],
    ) -> DecontaminationReport {
        let CorpusFindings { tally, inputs, .. } = found;
        let emptied = if action == CorpusAction::Cut { tally.emptied } else { 0 };
        DecontaminationReport {
            version: env!("CARGO_PKG_VERSION"),
            fields: fields.clone(),
            rule,
            files: inputs.sources.len() as u64,
            bytes: inputs.sources.iter().map(|source| source.bytes).sum(),
            text_bytes: tally.text_bytes,
            documents: tally.documents,
            empty: tally.empty,
            rejected: Rejected::records(rejected),
            contaminated: tally.contaminated,
            passages: tally.passages,
            unlisted: tally.unlisted,
            kept: tally.documents - if action == CorpusAction::Drop { tally.contaminated } else { emptied },
            emptied,
            action: Some(action).filter(|action| *action != CorpusAction::Drop),
            texts: index.texts.len() as u64,
            common_ngrams: rule.max_documents.map(|_| index.common_ngrams()),
            index_bytes: index.bytes(),
            benchmarks: benchmark_rows(index, tally),
        }
    }

    /// The same for programs.
    ///
    /// # Errors
    /// [`Error::Worker`], which is a bug.
    pub fn to_json(&self) -> Result<serde_json::Value> {
        serde_json::to_value(self).map_err(|error| Error::Worker(error.to_string()))
    }

    /// Writes `benchmarks.json`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join("benchmarks.json");
        let json = serde_json::to_vec_pretty(self).map_err(|error| Error::Worker(error.to_string()))?;
        std::fs::write(&path, [&json[..], b"\n"].concat()).map_err(|e| Error::io(&path, "write", e))
    }
}

/// What came of each benchmark.
fn benchmark_rows(index: &BenchmarkIndex, tally: &CorpusTally) -> Vec<BenchmarkRow> {
    let found = tally.items_found(index).into_iter().zip(&tally.documents_of);
    let classes = tally.present(index).map(|present| index.share_classes(present));
    let shares = (0..index.counts.len()).map(|at| classes.as_ref().map(|classes| classes[at]));
    let row = |((counts, shares), (found, documents)): ((&BenchmarkCounts, _), (u64, &u64))| BenchmarkRow {
        benchmark: counts.benchmark.clone(),
        items: counts.items,
        too_short: counts.too_short,
        found,
        documents: *documents,
        shares,
    };
    index.counts.iter().zip(shares).zip(found).map(row).collect()
}

/// Names of what rows speak of.
pub struct RowNames<'a> {
    /// The texts that were looked for.
    pub index: &'a BenchmarkIndex,
    /// The files of the benchmarks.
    pub benchmarks: &'a [Source],
    /// The fields of items.
    pub fields: &'a ItemFields,
}

impl RowNames<'_> {
    /// Writes `contaminated.jsonl`: a row for each text of a document and each benchmark that has it, in document order; and
    /// `items.jsonl` if shares of items are told.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn write(&self, found: &CorpusFindings, folder: &Path) -> Result<()> {
        let mut rows = Rows::create(folder, "contaminated.jsonl")?;
        if let Some(hits) = &found.hits {
            hits.each(&mut |document| {
                let line = found.inputs.line_at(document.position, document.line);
                self.document(&document, &found.inputs.sources, line, &mut rows)
            })?;
        }
        rows.finish()?;
        let fields = (self.fields, self.benchmarks);
        let write = |present: &[u64]| self.index.write_shares(fields, present, folder);
        found.tally.present(self.index).map_or(Ok(()), write)
    }

    fn document(
        &self,
        document: &ContaminatedDocument,
        sources: &[Source],
        line: u64,
        rows: &mut Rows,
    ) -> Result<()> {
        let file = &*sources[document.position.file() as usize].shown;
        let id = document.id.clone().unwrap_or_else(|| format!("{file}:{line}"));
        for passage in &document.items {
            for (owners, item, field) in self.items(passage) {
                let text = &self.index.texts[passage.text as usize];
                rows.write(&ContaminatedRow {
                    id: &id,
                    file,
                    line,
                    benchmark: &self.index.counts[item.benchmark as usize].benchmark,
                    item: &item.id,
                    item_file: &self.benchmarks[item.file as usize].shown,
                    item_line: item.line,
                    field: &field,
                    items: Some(owners).filter(|owners| *owners > 1),
                    share: f64::from(passage.found) / text.size() as f64,
                    found: u64::from(passage.found),
                    ngrams: text.size() as u64,
                    ngram: text.ngram,
                    score: self.index.scores.as_ref().map(|_| f64::from(passage.score) / MILLION),
                    start: passage.start,
                    end: passage.end,
                    passage: &passage.excerpt,
                    passages: Some(u64::from(passage.passages)).filter(|passages| *passages > 1),
                    unlisted: Some(document.unlisted).filter(|unlisted| *unlisted > 0),
                })?;
            }
        }
        Ok(())
    }

    /// The items whose text a passage is: for each benchmark how many, the first of them, and its field.
    fn items(&self, passage: &ItemPassage) -> impl Iterator<Item = (u64, &Item, String)> {
        let benchmark = |owner: &TextOwner| self.index.items[owner.item as usize].benchmark;
        let owners = self.index.owners(passage.text as usize);
        owners.chunk_by(move |a, b| benchmark(a) == benchmark(b)).map(|same| {
            let field = self.fields.name(same[0].field as usize);
            (same.len() as u64, &self.index.items[same[0].item as usize], field)
        })
    }
}
