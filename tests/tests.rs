//! All tests of the program as a whole: they run the binary on files of their own and read what it wrote.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(
    clippy::disallowed_types,
    reason = "the tests unpack what they or the program packed, apart from src/read"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "ALIKE_CORPORA and ALIKE_FULL choose how much is tested, and processes of the tests learn from variables what to do"
)]

/// Protected documents: what resembles them goes, and they stay.
mod against;
mod against_collection;
mod against_contained;
/// Archives: the same documents as in folders, kept members byte for byte, and what damage and lies cost.
mod archives;
/// Archives that hold files of many records: read as in a folder, and written anew in their place.
mod archives_apart;
/// Arrow: the same documents as from lines, files and streams with the rows that are kept, and what damage costs.
#[cfg(feature = "parquet")]
mod arrow;
/// Arrow as Parquet: the same rows with the same types, and what has no place there.
#[cfg(feature = "parquet")]
mod arrow_tables;
/// What a wrong input costs: a counted record or a clear error, never half an output.
mod bad_input;
/// Compactions, and proofs that a collection is whole.
mod care;
/// The command line: every flag and subcommand, files in and files out.
mod cli;
/// What helps who types: help, suggestions, completions and manual pages.
mod cli_help;
/// The files of `cluster/`, each read as what it is for.
mod cluster_files;
/// Hot groups against all pairs, and chains.
mod clusters;
/// Collections: loads, deletions, what is shown, and what is refused.
mod collections;
/// A cap on common keys in collections.
mod common_keys;
/// Presets, configuration files, and the documents the command line gives of itself.
mod config;
/// Components that all workers keep together, while links come and go.
mod contract;
/// CSV and TSV: rows held against csv-core reading the file at once, kept rows byte for byte, and what is refused.
mod csv;
/// Items of benchmarks in a corpus: which stand where, and what is written without them.
mod decontaminate;
mod decontaminate_around;
mod decontaminate_presets;
/// Dictionaries of Arrow in Parquet, kept whole where rows go.
#[cfg(feature = "parquet")]
mod dictionaries;
/// The commands of README and book, and what they print.
mod docs;
/// Commits that are looked at again, restored, and copied.
mod earlier_commits;
/// Methods measured against labels and the exact join.
mod evaluate;
/// `join` against the oracle, on real corpora and on random collections.
mod exact;
/// What is written of a collection against what `dedup` writes.
mod export;
/// Sites that come into a collection one after the other, and what they leave to be measured.
mod families;
/// A small job with every operation of its storage failing or cut off.
mod faults;
/// `features` accepts pairs as often as the formula says.
mod features;
/// Outputs of runs that have ended, asked afterwards.
mod finished;
/// Which spellings are one, in runs, collections and lexicons.
mod folds;
/// The same documents in every format.
mod formats;
/// Records in another form, and with what was found.
mod forms;
/// Every contradiction of tables is named by fsck.
mod fsck;
/// What a terminal shows when a run ends.
mod glance;
/// Collections that cluster with a guarantee, and the program with them.
mod guarantee;
/// What is removed, written beside what is kept.
mod halves;
/// Collections after random histories of loads against one-shot runs.
mod histories;
/// Clusters over whole histories against differential-dataflow.
mod history_oracle;
/// The map, the README and the sources against each other.
mod house;
/// Ctrl-C at any moment of a run.
mod interrupts;
/// Rows of Parquet as JSON: dates and times in full.
#[cfg(feature = "parquet")]
mod json_forms;
/// How many documents of a cluster are kept.
mod keep;
/// `kill -9` at random moments of the program.
mod kill;
/// Kinds of duplicates, and how many words they are apart.
mod kinds;
/// Many processes started, watched and ended.
mod launch;
/// Parts above parts, no circle of files, and names declared once.
mod layers;
/// Lexicons: built in any shape, merged, compared, shown, and refused.
mod lexicon;
/// Lists as tables, and a row for every document.
mod lists;
/// Jobs that lose a process that keeps what it writes to itself.
mod load_against;
mod local_losses;
/// What processes keep to themselves, out of reach, missing or damaged.
mod local_refused;
/// Collections whose processes keep what they write to themselves.
mod local_state;
/// Jobs that lose a process.
mod losses;
/// Jobs of which a process is stopped or interrupted.
mod losses_alive;
/// What of pages and mails is compared, if not all.
mod main_text;
/// The memory that long records and wide windows take, and the caps of files that people write.
mod memory;
/// Processes that meet and talk.
mod mesh;
/// Processes that are lost, and how the others notice it.
mod mesh_encrypted;
mod mesh_losses;
/// Questions that processes ask each other.
mod mesh_questions;
/// Strangers who connect to a process.
mod mesh_strangers;
/// Every method in collections.
mod method_histories;
/// Every method against all pairs.
mod method_pairs;
/// What methods are refused, and what is counted of texts they cannot use.
mod method_refusals;
/// Every preset, and the methods of terms as several processes.
mod methods;
/// What a process tells of itself while it works.
mod metrics;
/// Jobs across network namespaces.
mod namespaces;
/// DOCX, ODT and EPUB: the same documents, kept files, damage, bombs and lies.
#[cfg(feature = "office")]
mod office;
/// Parquet: the same documents as from lines, files with the rows that are kept, and what damage costs.
#[cfg(feature = "parquet")]
mod parquet;
/// Passages that are repeated within and between documents: against an obvious program, in every shape.
mod passages;
/// PDF: the same documents, kept files, and what damage, bombs and pages without an end cost.
#[cfg(feature = "pdf")]
mod pdf;
/// What commands print: the forms of data, the log of commits, colours; and waiting for a lock.
mod printed;
/// `dedup` as several processes.
mod processes;
/// Collections that several processes change.
mod processes_load;
/// Jobs of several processes that come to nothing.
mod processes_refused;
/// What may be asked of a collection: explain, check and group.
mod questions;
/// Records between tags, read and kept like lines.
mod records;
/// Pages that are made of definitions.
mod reference;
/// Inputs from object stores and web servers, served by the tests themselves.
#[cfg(all(feature = "remote", feature = "parquet"))]
mod remote;
/// Archives in object stores whose files are read one by one.
#[cfg(all(feature = "remote", feature = "parquet"))]
mod remote_archives;
/// Outputs in object stores, whatever goes wrong.
#[cfg(all(feature = "remote", feature = "parquet"))]
mod remote_output;
/// Documents that repeat themselves: against an obvious program, in every shape.
mod repetition;
/// Stored documents taken in again against one-shot runs on their texts.
mod replay;
/// Pages about runs and collections.
mod report;
mod report_breakdown;
/// Loads that are cut off between their epochs.
mod resume;
/// Damaged bytes, pages and files.
mod rot;
/// RTF: the same documents, kept files, and damage.
mod rtf;
/// The same answer however the program is run.
mod same_answer;
/// Collections over HTTP.
#[cfg(feature = "serve")]
mod serve;
/// Where documents came from, and what is kept of them.
mod simulated;
mod sources;
/// `kill -9` at every step of a commit.
mod steps;
/// Strangers at the ports of a job.
mod strangers;
/// WARC, ARC and mbox against plain readers, packed, cut and damaged.
mod stretches;
/// What the tests share: no test is in here.
mod support;
/// What `tune` says where inputs, labels or a distribution do not give a threshold; and its `--fold`.
mod tune_doubts;
/// Sampling planned on documents, and thresholds tried on them.
mod tune_sampling;
/// N-gram and threshold chosen from labels, against all pairs, and from a gap.
mod tune_threshold;
/// Damage in columns that nobody reads before they are written.
#[cfg(feature = "parquet")]
mod undecodable;
/// Pages of one site of which some have several times as much of their own as others.
mod unequal_pages;
/// Transitive clusters against differential-dataflow's connected components.
mod union_oracle;
/// The memory that columns take which nobody reads.
#[cfg(feature = "parquet")]
mod unread_columns;
/// What crosses between processes.
mod wire;
/// Documents that are compared only within one value of a field, or one file.
mod within;
/// zip archives: the same documents as in folders, kept members byte for byte, and what damage and lies cost.
mod zips;
