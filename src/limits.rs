//! Every fixed bound of the program, in one place.

/// Longest line or plain-text document accepted by default, in bytes; a longer one is refused and counted.
pub const MAX_RECORD_BYTES: usize = 256 << 20;
/// Most input files of one run: the file takes 24 bits of a [`crate::document::Position`].
pub const MAX_FILES: usize = 1 << 24;
/// Longest input file, decompressed, in bytes: the offset takes 40 bits of a [`crate::document::Position`].
pub const MAX_FILE_BYTES: u64 = 1 << 40;
/// Most bytes a compressed file may unfold to per compressed byte, once past [`RATIO_FREE_BYTES`].
pub const MAX_DECOMPRESSION_RATIO: u64 = 20_000;
/// Decompressed bytes that are never held against [`MAX_DECOMPRESSION_RATIO`].
pub const RATIO_FREE_BYTES: u64 = 1 << 30;
/// Most workers of one run: a document number holds its worker in the low part.
pub const MAX_WORKERS: usize = 256;
/// What a run needs in any case, in bytes: the program itself and the rarity table.
pub const BASE_MEMORY: u64 = 20 << 20;
/// What each worker needs in any case, in bytes: what is read, tokenised and on its way at one moment.
pub const WORKER_MEMORY: u64 = 8 << 20;
/// Least `--memory` beyond that, in bytes: less is a forgotten unit, not a wish.
pub const LEAST_MEMORY: u64 = 8 << 20;
/// Least `--epoch`, in bytes: less is a forgotten unit, not a wish.
pub const LEAST_EPOCH: u64 = 1 << 10;
/// Most tokens a shingle; longer ones would make every ordinary document a single shingle.
pub const MAX_NGRAM: usize = 1000;
/// Most min-wise values a document (`k` times `s`): they are computed for every shingle.
pub const MAX_MINWISE_VALUES: usize = 4096;
/// Share of refused records above which a run ends with exit code 3, in percent.
pub const REFUSED_PERCENT: u64 = 10;
/// A key group with more pairs than one of this many contents has is not expanded into them but handed on whole (a
/// *crowd*), unless every pair is asked for. In a load, pairs of stored contents do not count.
pub const CROWD: usize = 512;
/// Longest manifest of a collection, in bytes: hundreds of thousands of commits. More is no manifest.
pub const MAX_MANIFEST_BYTES: u64 = 128 << 20;
