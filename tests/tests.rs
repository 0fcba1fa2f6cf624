//! All tests of the program as a whole: they run the binary on files of their own and read what it wrote.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(
    clippy::disallowed_types,
    reason = "the tests unpack what they or the program packed, apart from src/read"
)]
#![expect(clippy::disallowed_methods, reason = "ALIKE_TEST_DATA and ALIKE_FULL choose how much is tested")]

/// What a wrong input costs: a counted record or a clear error, never half an output.
mod bad_input;
/// Compactions, proofs that a collection is whole, faults and damage.
mod care;
/// The command line: every flag and subcommand, files in and files out.
mod cli;
/// Crowds against all pairs, and chains.
mod clusters;
/// Collections: loads, deletions, what is shown, and what is refused.
mod collections;
/// Presets, configuration files, and the documents the command line gives of itself.
mod config;
/// `join` against the oracle, on real corpora and on random collections.
mod exact;
/// What is written of a collection against what `dedup` writes.
mod export;
/// `features` accepts pairs as often as the formula says.
mod features;
/// Collections after random histories of loads against one-shot runs.
mod histories;
/// The map, the README and the sources against each other.
mod house;
/// The obvious independent program that `join` is held against.
mod oracle;
/// What may be asked of a collection: explain, check and group.
mod questions;
/// Stored documents taken in again against one-shot runs on their texts.
mod replay;
/// The same answer however the program is run.
mod same_answer;
/// Where documents came from, and what is kept of them.
mod sources;
/// Transitive clusters against differential-dataflow's connected components.
mod union_oracle;
/// Folders, inputs, runs and outputs.
mod util;
