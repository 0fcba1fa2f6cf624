//! Every fixed bound of the program, in one place.

/// A size of pages, buffers or batches. A build with `--cfg alike_tiny` has the second: what then fits into nothing shows with
/// small inputs what the first only shows with large ones. Such a build neither reads nor writes what others do.
pub(crate) const fn sized<T: Copy>(usual: T, tiny: T) -> T {
    if cfg!(alike_tiny) { tiny } else { usual }
}

/// A test that goes through all cases takes one in `few`, and each of them with `ALIKE_FULL`.
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "how much is tested is no setting")]
pub(crate) fn stride(few: usize) -> usize {
    if std::env::var_os("ALIKE_FULL").is_some() { 1 } else { few }
}

/// Longest line or plain-text document accepted by default, in bytes; a longer one is refused and counted.
pub const MAX_RECORD_BYTES: usize = 16 << 20;
/// Of so many bytes that a record may have, one may be a word: as many as there are to a word of prose.
pub const BYTES_OF_WORD: usize = 6;
/// So many words a record may have in any case.
pub const FREE_WORDS: usize = 1 << 18;
/// Longest value that is written again without being read as a record, in bytes, and longest header or list of ids.
pub const MAX_VALUE_BYTES: usize = 256 << 20;
/// Longest record that says what a file is and is written with any of its records, in bytes.
pub const MAX_PREAMBLE_BYTES: usize = sized(1 << 20, 1 << 10);
/// Longest configuration file, in bytes.
pub const MAX_CONFIG_BYTES: u64 = 16 << 20;
/// Longest list of hosts, in bytes: the longest names there are, of as many processes as there may be, with comments.
pub const MAX_HOSTS_BYTES: u64 = 1 << 20;
/// Longest file of labels, in bytes: tens of millions of them.
pub const MAX_LABELS_BYTES: u64 = 1 << 30;
/// Longest id of a list, in bytes.
pub const MAX_LISTED_ID: usize = 1 << 20;
/// Most input files of one run: the file takes 24 bits of a [`crate::document::Position`].
pub const MAX_FILES: usize = 1 << 24;
/// Longest input file, decompressed, in bytes: the offset takes 40 bits of a [`crate::document::Position`].
pub const MAX_FILE_BYTES: u64 = 1 << 40;
/// Most bytes a compressed file may unfold to per compressed byte, once past [`RATIO_FREE_BYTES`].
pub const MAX_DECOMPRESSION_RATIO: u64 = 20_000;
/// Decompressed bytes that are never held against [`MAX_DECOMPRESSION_RATIO`].
pub const RATIO_FREE_BYTES: u64 = 1 << 30;
/// Longest footer of a Parquet file, in bytes: hundreds of thousands of columns of row groups.
pub const MAX_FOOTER_BYTES: u64 = 32 << 20;
/// How many times as long as a record a PDF, DOCX, ODT or EPUB may be: most of a large one is pictures.
#[cfg(any(feature = "pdf", feature = "office"))]
pub const TIMES_WITH_PICTURES: usize = 8;
/// How much larger than the longest record a page of Parquet may be, in bytes: there are many records in one, and DuckDB divides pages
/// at 100 MB.
pub const MAX_PAGE_BYTES: usize = 256 << 20;
/// Bytes of values, if one is not longer, beyond which a page is divided where it is written again.
pub const REWRITTEN_PAGE_BYTES: usize = sized(4 << 20, 1 << 10);
/// Most values of a page of Parquet. A run of nothing takes no bytes, and room all the same.
pub const MAX_PAGE_VALUES: u32 = 1 << 24;
/// Most rows of a Parquet or Arrow file to each of its bytes, once past [`FREE_ROWS`].
pub const MAX_ROWS_OF_BYTE: u64 = 16;
/// Longest metadata of an Arrow file or of a batch in it, in bytes: a hundred thousand columns.
pub const MAX_METADATA_BYTES: u64 = 16 << 20;
/// Most batches and dictionaries of an Arrow file.
pub const MAX_BATCHES: usize = 1 << 20;
/// Most columns of a Parquet file that is made of an Arrow file, those within others counted one by one.
pub const MAX_TABLE_COLUMNS: usize = 1 << 16;
/// Rows of a Parquet or Arrow file that are never held against [`MAX_ROWS_OF_BYTE`].
pub const FREE_ROWS: u64 = 1 << 22;
/// Most groups of RTF, or elements of XML, within each other.
pub const MAX_NESTING: usize = 4096;
/// Most objects and arrays of JSON within each other.
pub const MAX_JSON_DEPTH: usize = MAX_NESTING;
/// Most messages, and lists of parts, within one message.
pub const MAX_MAIL_PARTS: usize = 1 << 14;
/// Most members of a packed document, such as a DOCX.
pub const MAX_PACKAGE_MEMBERS: usize = 1 << 14;
/// Most members of a zip archive: where each stands is held while the archive is read.
pub const MAX_ARCHIVE_MEMBERS: usize = 1 << 22;
/// Most files of an archive that are read as sources of their own.
pub const MAX_FILES_OF_ARCHIVE: usize = sized(1 << 16, 100);
/// Longest that reading a PDF may take, in seconds; what was read before may take three times as long to be read again.
pub const MAX_PDF_SECONDS: u64 = 20;
/// What reading a small PDF may take, in seconds, and for how many bytes it may take one more.
pub const SMALL_PDF_SECONDS: u64 = 5;
/// See [`SMALL_PDF_SECONDS`].
pub const PDF_BYTES_A_SECOND: u64 = 64 << 10;
/// Most memory that reading a PDF may take, in bytes, the PDF itself included.
pub const MAX_PDF_MEMORY: u64 = 256 << 20;
/// What a process that reads PDFs takes before it reads one, in bytes.
pub const PDF_PROCESS_MEMORY: u64 = 16 << 20;
/// Most workers of a process.
pub const MAX_WORKERS: usize = 256;
/// What a run needs in any case, in bytes: the program itself and the rarity table.
pub const BASE_MEMORY: u64 = 20 << 20;
/// What each worker needs in any case, in bytes: what is read, tokenised and on its way at one moment.
pub const WORKER_MEMORY: u64 = 8 << 20;
/// How far a process may go beyond its memory for one long record, in bytes, if a twentieth of the memory is less.
pub const BEYOND_MEMORY: u64 = 32 << 20;
/// Least `--memory` beyond what program and workers need, in bytes: less is a forgotten unit, not a wish.
pub const LEAST_MEMORY: u64 = 8 << 20;
/// Least `--epoch`, in bytes: less is a forgotten unit, not a wish.
pub const LEAST_EPOCH: u64 = 1 << 10;
/// Least `--shard-size`, in bytes: less is a forgotten unit, not a wish.
pub const LEAST_SHARD: u64 = 1 << 10;
/// Most tokens a shingle; longer ones would make every ordinary document a single shingle.
pub const MAX_NGRAM: usize = 1000;
/// Most features that the filter designer looks at: beyond them a filter hardly gets sharper.
pub const MAX_FEATURES: usize = 64;
/// Most min-wise values a document (`k` times `s`): they are computed for every shingle.
pub const MAX_MINWISE_VALUES: usize = 4096;
/// Most random lexicons of I-Match: each makes a signature of every document.
pub const MAX_LEXICONS: usize = 64;
/// Most entries of a vector of terms: what a signature of 184 bytes holds.
pub const MAX_VECTOR: usize = 60;
/// Most terms of a lexicon that vectors of terms are made with: their ranks and the padding take 23 bits.
pub const MAX_VECTOR_LEXICON: usize = (1 << 23) - (1 << 20);
/// Widest window of winnowing, in shingles: one as wide as that keeps next to nothing.
pub const MAX_WINDOW: usize = 1000;
/// Most sentences or lines of a chunk.
pub const MAX_PIECES: usize = 1000;
/// Share of refused records above which a run ends with exit code 3, in percent.
pub const REFUSED_PERCENT: u64 = 10;
/// A key group with more pairs than one of this many contents has is not expanded into them but handed on whole (a
/// *hot group*), unless every pair is asked for and its members do not collide again. In a load, pairs of stored contents do not count.
pub const MAX_EXPANDED_GROUP: usize = 512;
/// Where members of hot groups collide again, so many pairs for each member are expanded all the same.
pub const MAX_PAIRS_OF_MEMBER: usize = MAX_EXPANDED_GROUP / 4;
/// Members of a hot group that is looked at before its members collide again: it may be one of near-copies in mass.
pub const LARGE_HOT_GROUP: usize = 4 << 10;
/// Documents of a kind that are named beside their number: the first ones.
pub const DOCUMENTS_NAMED: usize = 10;
/// Most items of benchmarks that are listed of a document: those of which the largest share stands there.
pub const LISTED_ITEMS: usize = 100;
/// Keys above the cap on common ones that are named one by one: those in the most contents.
pub const COMMON_NAMED: usize = 100;
/// Most loads and deletions of a collection that can be asked to stay, and be looked at again.
pub const MAX_RETAINED_LOADS: u32 = 500;
/// Most days for which commits of a collection can be asked to stay.
pub const MAX_RETAINED_DAYS: u32 = 36_500;
/// Most commits that stay, compactions included, whatever is asked: a writer reads the manifest of each.
pub const MAX_RETAINED: u64 = 1000;
/// Longest manifest of a collection, in bytes: hundreds of thousands of commits. More is no manifest.
pub const MAX_MANIFEST_BYTES: u64 = 128 << 20;
/// Most processes of one job: each holds a connection to every other.
pub const MAX_PROCESSES: usize = 256;
/// Least length of a shared secret, in bytes: shorter ones can be guessed.
pub const LEAST_SECRET: usize = 16;
/// Most connections that a process holds whose hello is not through; the oldest goes when another comes.
pub const MAX_PENDING_HELLOS: usize = 256;
/// Longest time that a hello may take, in milliseconds.
pub const HELLO_MILLIS: u64 = 5_000;
/// Longest time that one attempt to connect may take, in milliseconds.
pub const CONNECT_MILLIS: u64 = 2_000;
/// Longest time for which an address that is still taken is tried again, in milliseconds.
pub const BIND_MILLIS: u64 = 10_000;
/// Most lines that a mesh says to people.
pub const MAX_MESH_LINES: usize = 48;
/// Longest message between two processes, in bytes; more is no message.
pub const MAX_MESSAGE_BYTES: usize = 1 << 30;
/// Most runs that a process keeps open because others have asked about them, and most whose ends it remembers that others
/// have; the first of the alphabet, the oldest, goes before there is one more.
pub const MAX_ANSWERED_FILES: usize = 512;
/// Most bytes of a file that a process fetches from another one with one question.
pub const MAX_FETCH_BYTES: usize = sized(1 << 20, 4 << 10);
/// Most bytes of a file of another process that are fetched ahead of whoever reads on.
pub const MAX_STRETCH_BYTES: usize = sized(64 << 10, 4 << 10);
const _: () = assert!(MAX_STRETCH_BYTES <= MAX_FETCH_BYTES, "a stretch is fetched with one question");
/// Most such pieces of files that are remembered of an open collection: 4 MiB.
pub const MAX_STRETCHES: usize = 64;
/// Longest piece in which a message crosses a connection, in bytes: urgent words pass between pieces.
pub const MESSAGE_PIECE_BYTES: usize = sized(256 << 10, 100);
/// Longest head of a request over HTTP, in bytes; an address is a part of it.
pub const MAX_HEAD_BYTES: usize = 64 << 10;
/// Longest text that a process tells another about its end, in bytes.
pub const MAX_WORD_BYTES: usize = 4 << 10;
/// Bytes that wait to be sent to one process before a sender of more has to wait.
pub const MAX_QUEUED_BYTES: usize = 64 << 20;
/// Longest time for which last words are given a way out, in milliseconds.
pub const LAST_WORDS_MILLIS: u64 = 1_000;
/// Bytes that may wait for the network in a process while it reads.
pub const MAX_UNSENT: u64 = 64 << 20;
/// Longest lexicon, in bytes: hundreds of millions of terms. Where a term begins takes 32 bits.
pub const MAX_LEXICON_BYTES: u64 = u32::MAX as u64;
/// Most terms of a signature whose stability is measured.
pub const MAX_SIGNATURE: usize = 64;
/// Most characters that the words of a text may be asked to have at least.
pub const MAX_LEAST_LENGTH: usize = 64;
/// Longest word that becomes a stem, in bytes; longer than any word of a language, and stemming takes longer than in
/// proportion.
pub const MAX_STEMMED: usize = 512;

/// Most days between two documents that are compared by their dates: about a thousand years.
pub const MAX_DAYS: u32 = 366_000;
