//! What the tests share: no test is in here.

/// Bytes of a page of a run.
pub(crate) const PAGE: usize = if cfg!(alike_tiny) { 512 } else { 4096 };

/// What is alike by comparing each text with all others.
pub(crate) mod all_pairs;
/// Files and streams of Arrow, made byte by byte.
#[cfg(feature = "parquet")]
pub(crate) mod batches;
/// Canonical tokens, slow and obvious.
pub(crate) mod canonical;
/// Texts checked against a collection, and the brute-force answer.
pub(crate) mod checks;
/// Parquet files, made and read back by the crate for it.
#[cfg(feature = "parquet")]
pub(crate) mod columns;
/// Corpora outside the repository.
pub(crate) mod corpora;
/// Runs of the program that are cut off: started, watched, and sent a signal.
pub(crate) mod cut_off;
/// Texts with dates, which every method can use.
pub(crate) mod dated;
/// Collections that cluster with a guarantee, held against one-shot runs.
pub(crate) mod guaranteed;
/// Histories of loads, and collections that are held against one-shot runs after each of them.
pub(crate) mod history;
/// The processes of a job, started without a launcher.
pub(crate) mod job;
/// Loads by several processes, and what a collection holds after them.
pub(crate) mod loads;
/// Processes that keep their runs in folders of their own.
pub(crate) mod local;
/// Jobs that lose a process at a chosen moment, and go on after it.
pub(crate) mod loss;
/// Processes that meet on this machine: addresses, members, and threads in place of machines.
pub(crate) mod meeting;
/// Documents of several kinds, as members of archives.
pub(crate) mod members;
/// Every method as a command line, and documents that all of them find something in.
pub(crate) mod methods;
/// The obvious independent program that `join` is held against.
pub(crate) mod oracle;
/// What the program wrote, read back.
pub(crate) mod output;
/// What a job wrote, read whole and compared.
pub(crate) mod outputs;
/// Packed documents, made byte by byte.
#[cfg(feature = "office")]
pub(crate) mod packages;
/// Pages about runs, taken apart.
pub(crate) mod page;
/// PDFs, made object by object, and those of other tools.
#[cfg(feature = "pdf")]
pub(crate) mod pdfs;
/// Folders, and runs of the program in them. Nothing here knows what an answer should be.
pub(crate) mod program;
/// A collection's documents clustered again, by the collection and by a one-shot run on their texts.
pub(crate) mod recompute;
/// Rows of files of columns: made, read, and found again in what a run wrote.
#[cfg(feature = "parquet")]
pub(crate) mod rows;
/// A job over a storage that fails, and what of it can be read afterwards.
pub(crate) mod seen;
/// A server of objects on this machine.
#[cfg(all(feature = "remote", feature = "parquet"))]
pub(crate) mod server;
/// Sentences, lines and chunks of them, for the slow sketches.
pub(crate) mod slow_pieces;
/// What each method looks at of a text, and when it accepts two: slow and obvious.
pub(crate) mod slow_sketches;
/// The lexicon of the slow sketches.
pub(crate) mod slow_terms;
/// Source files as the compiler sees them: modules, what they declare, and what they name.
pub(crate) mod sources;
/// A folder in memory that fails at chosen operations, for collections.
pub(crate) mod storage;
/// Tables of a collection, read raw, changed and sealed again.
pub(crate) mod tables;
/// Archives, made byte by byte.
pub(crate) mod tar;
/// Inputs: texts, lines, compressed files, and the random numbers that they are made of.
pub(crate) mod texts;
/// Small loads, compactions, and what fsck finds.
pub(crate) mod upkeep;
/// What a server of objects does with what is written to it.
#[cfg(all(feature = "remote", feature = "parquet"))]
pub(crate) mod uploads;
/// zip archives, made byte by byte.
pub(crate) mod zips;
