//! Near-duplicate documents: all pairs whose word shingles resemble each other at a threshold, and no others; the
//! classical approximations beside it; clusters that say why. The program `alike` (in `jobs/`) is a thin layer over
//! this library: it parses options, calls [`read::discover`], [`flow::run`] and [`output`], and prints.
//!
//! # Five ways in
//!
//! Texts in memory, by the exact join:
//!
//! ```
//! let found = alike::Dedup::new().threshold("0.8")?.texts([
//!     "the quick brown fox jumps over the lazy dog by the river",
//!     "The quick brown fox jumps over the lazy dog, by the river!",
//!     "something else altogether",
//! ])?;
//! assert_eq!(found.kept, [0, 2]);
//! # Ok::<(), alike::error::Error>(())
//! ```
//!
//! Files, and what the program would write of them:
//!
//! ```
//! let found = alike::Dedup::new().files(["samples/licences.jsonl"])?;
//! assert_eq!(found.summary()?.removed, 198);
//! let folder = tempfile::tempdir().expect("a folder");
//! found.write(folder.path().join("clean"))?;
//! # Ok::<(), alike::error::Error>(())
//! ```
//!
//! Another method, here the MinHash bands of datatrove. Every option of a configuration file is a field of [`config::Config`]:
//!
//! ```
//! let mut config = alike::config::Config::preset("datatrove")?;
//! config.text.ngram = 3;
//! let found = alike::Dedup::with_config(config).texts(["one two three four", "One, two, three, four"])?;
//! assert_eq!(found.clusters, [[0, 1]]);
//! # Ok::<(), alike::error::Error>(())
//! ```
//!
//! A collection that stays on disk, and texts held against it:
//!
//! ```
//! let folder = tempfile::tempdir().expect("a folder");
//! let archive = alike::Collection::at(folder.path().join("archive"));
//! archive.load([("april", "it was a bright cold day in april and the clocks were striking thirteen")])?;
//! let found = archive.check("It was a bright, cold day in April, and the clocks were striking thirteen.")?;
//! assert_eq!(found[0].id, "april");
//! # Ok::<(), alike::error::Error>(())
//! ```
//!
//! Two texts, measured by the parts that all of this is made of:
//!
//! ```
//! use alike::{similarity::Measure, simd::Simd, sketch::shingles, text::{Fold, Tokenizer, Tokens}};
//!
//! let mut tokenizer = Tokenizer::new(Tokens::Words, Fold::default(), Simd::detect());
//! let [a, b] = ["the clocks were striking thirteen", "The clocks were striking twelve"].map(|text| {
//!     let mut set = Vec::new();
//!     shingles(tokenizer.tokens(text), 2, &mut set);
//!     set.sort_unstable();
//!     set.dedup();
//!     set
//! });
//! assert_eq!(Measure::of(&a, &b).resemblance(), 0.6);
//! ```
//!
//! # The map: one line a file
//!
//! The front door:
//! - `api/mod.rs` - deduplication and collections in a few lines
//! - `api/dedup.rs` - near-duplicates of texts in memory, and of files
//! - `api/collection.rs` - a collection in a folder: load, delete, clusters, check
//! - `api/run_lexicon.rs` - the lexicon of a one-shot run
//! - `api/spool.rs` - texts in memory as an input file
//!
//! What a run is made of:
//! - `document.rs` - what a document is, a record at a position of the input, and what it is called
//! - `config/mod.rs` - the typed configuration and its defaults
//! - `config/keep.rs` - which document of a cluster is kept: lists of criteria, written and read
//! - `config/load.rs` - from TOML to a configuration, with located messages
//! - `config/presets.rs` - the presets of `configs/`, embedded
//! - `config/rule.rs` - the method of a configuration, and what follows from its parameters
//! - `config/size.rs` - byte sizes as people write them
//! - `config/validate.rs` - which values make no sense, alone or together
//! - `error.rs` - what can go wrong, one variant per thing a person can act on
//! - `limits.rs` - every fixed bound
//! - `progress.rs` - what a run reports while it works, and how it is stopped
//! - `progress/epoch.rs` - what an epoch of a load came to in one process
//! - `progress/mark.rs` - counters at the beginning of an epoch, and what was counted since
//! - `progress/stage.rs` - the steps of a run
//! - `progress/profile.rs` - where the time of the workers goes
//! - `metrics.rs` - what is measured, named once, and as Prometheus reads it
//! - `simd.rs` - which vector instructions a run may use
//! - `threshold.rs` - thresholds as exact decimals
//! - `printable.rs` - names made harmless for a terminal, and numbers with their nouns
//! - `hex.rs` - ids and digests as text
//! - `partial_name.rs` - what output is called until it is complete
//! - `scratch/mod.rs` - folders for what is needed for a while, of this process and beside a collection
//! - `scratch/temporary.rs` - folders that are removed, at the latest by the next one of their kind
//! - `system_memory.rs` - how much memory the process holds and the machine has
//! - `threads/mod.rs` - work on several threads
//! - `threads/in_threads.rs` - a thread for each part of some work
//! - `threads/hand_out.rs` - jobs of unequal size, handed to threads one at a time
//!
//! Bytes to documents:
//! - `read/mod.rs` - the parts of reading and how they fit
//! - `read/format.rs` - the formats of input files by name
//! - `read/codec.rs` - the seam: what a format has to know
//! - `read/formats/mod.rs` - the formats there are
//! - `read/formats/listed.rs` - what formats are called, how files are recognised, and numbers on disk
//! - `read/formats/row_files.rs` - files whose records are rows: as objects, and what cannot be written again
//! - `read/formats/jsonl/mod.rs` - JSON Lines: a record is a line
//! - `read/formats/jsonl/line_records.rs` - records of lines of JSON
//! - `read/formats/jsonl/shared_lines.rs` - a worker's share of the lines of a compressed file
//! - `read/formats/csv/mod.rs` - CSV and TSV: a header row, then a record a row
//! - `read/formats/csv/by_content.rs` - tables that no name calls so
//! - `read/formats/csv/describer.rs` - all columns of rows, by their names
//! - `read/formats/csv/row_ends.rs` - where rows end
//! - `read/formats/csv/row_splitter.rs` - the bytes of a unit divided into rows
//! - `read/formats/csv/row_parser.rs` - rows to records
//! - `read/formats/extract.rs` - one line of JSON to one record
//! - `read/formats/depth.rs` - how deep JSON is
//! - `read/formats/find.rs` - the wanted fields of a line of JSON
//! - `read/formats/object.rs` - the members of an object, and what strings mean
//! - `read/formats/usual_object.rs` - the fast path for objects of the usual form
//! - `read/formats/plain.rs` - how far the plain characters of a string of JSON go
//! - `read/formats/whole.rs` - formats in which a file is one document
//! - `read/formats/text.rs` - plain text: the whole file is one document
//! - `read/formats/parquet/mod.rs` - Parquet: a record is a row
//! - `read/formats/parquet/thrift.rs` - Thrift's compact protocol, as much as headers and footers need
//! - `read/formats/parquet/footer.rs` - what a file says of itself, held against its size
//! - `read/formats/parquet/guard.rs` - the boundary to the crate that decodes
//! - `read/formats/parquet/pages/mod.rs` - the pages of a column, one after the other
//! - `read/formats/parquet/pages/header.rs` - headers of pages, held against the limits
//! - `read/formats/parquet/pages/dictionary.rs` - the dictionary of a column, where all its values are in it
//! - `read/formats/parquet/pages/unpack.rs` - decompressing pages within their size
//! - `read/formats/parquet/pages/encoded.rs` - counts within encoded values, held against the page
//! - `read/formats/parquet/pages/memory.rs` - the memory that pages take while a unit is read
//! - `read/formats/parquet/leaf.rs` - which column a field is, and what its values mean
//! - `read/formats/parquet/cell.rs` - a value of a record, whatever its column stores it as
//! - `read/formats/parquet/column.rs` - one column of a row group, record by record
//! - `read/formats/parquet/fields.rs` - the columns that are wanted, read in step
//! - `read/formats/parquet/rows.rs` - the rows of a unit
//! - `read/formats/parquet/objects/mod.rs` - rows as JSON objects
//! - `read/formats/parquet/objects/bytes.rs` - the bytes of an object on its way, within the memory
//! - `read/formats/parquet/texts_as_bytes.rs` - a schema whose texts are bytes, so that none is refused
//! - `read/formats/parquet/reread.rs` - reading single rows a second time
//! - `read/formats/parquet/undecodable.rs` - rows of which some column cannot be decoded
//! - `read/formats/parquet/rewritten.rs` - a file that is written again without some of its rows
//! - `read/formats/arrow/mod.rs` - Arrow: a record is a row of a batch
//! - `read/formats/arrow/metadata/mod.rs` - what a file says of its columns and batches
//! - `read/formats/arrow/metadata/flat.rs` - tables of FlatBuffers, as much as metadata needs
//! - `read/formats/arrow/metadata/schema.rs` - the fields of a file, and the ways to them
//! - `read/formats/arrow/metadata/carried.rs` - the schema that a file of another format carries along
//! - `read/formats/arrow/metadata/letters.rs` - bytes as the letters of RFC 4648
//! - `read/formats/arrow/metadata/message.rs` - messages: heads of batches and dictionaries
//! - `read/formats/arrow/metadata/layout.rs` - where the batches are, by a footer or in a stream
//! - `read/formats/arrow/columns/mod.rs` - the columns of a batch
//! - `read/formats/arrow/columns/batch.rs` - which buffers a column has
//! - `read/formats/arrow/columns/buffers.rs` - the bytes of a buffer, read forward and decompressed
//! - `read/formats/arrow/columns/column.rs` - one column, row by row
//! - `read/formats/arrow/columns/fixed.rs` - values of a fixed size
//! - `read/formats/arrow/columns/views.rs` - texts that are named by their beginnings
//! - `read/formats/arrow/columns/dictionary.rs` - dictionaries, as they are before a batch
//! - `read/formats/arrow/fields.rs` - the columns that are wanted, read in step
//! - `read/formats/arrow/rows.rs` - the rows of a unit
//! - `read/formats/arrow/reread.rs` - reading single rows a second time
//! - `read/formats/arrow/objects/mod.rs` - rows as JSON objects
//! - `read/formats/arrow/objects/room.rs` - how much objects may take
//! - `read/formats/arrow/objects/values.rs` - values of columns as JSON has them
//! - `read/formats/arrow/undecodable.rs` - rows that cannot be written again
//! - `read/formats/arrow/rewritten/mod.rs` - a file that is written again without some of its rows
//! - `read/formats/arrow/rewritten/select.rs` - some rows of a batch, moved as they are laid out
//! - `read/formats/arrow/rewritten/body.rs` - the body of a batch on its way to a file
//! - `read/formats/arrow/tables/mod.rs` - rows as those of a table of Parquet
//! - `read/formats/arrow/tables/declared.rs` - what a schema declares beside how values are laid out
//! - `read/formats/arrow/tables/leaves.rs` - values of leaves, with the levels that say where each stands
//! - `read/formats/arrow/tables/levels.rs` - of each field the type of Parquet, and where its values go
//! - `read/formats/arrow/tables/slots.rs` - places of values: their rows, and their levels
//! - `read/formats/arrow/tables/unfolded.rs` - rows of a batch taken apart to leaves
//! - `read/formats/arrow/tables/told.rs` - the schema of a table as Arrow has it
//! - `read/formats/html.rs` - HTML: the whole file is one page
//! - `read/formats/rtf/mod.rs` - RTF: the whole file is one document
//! - `read/formats/rtf/tokens.rs` - the tokens of RTF
//! - `read/formats/rtf/words.rs` - what control words mean to whoever wants the text
//! - `read/formats/rtf/code_pages.rs` - code pages by the numbers that RTF gives them
//! - `read/formats/rtf/reader.rs` - RTF to its text
//! - `read/formats/office/mod.rs` - DOCX, ODT and EPUB: packages of XML
//! - `read/formats/office/kind.rs` - the kinds of packages that are read
//! - `read/formats/office/package.rs` - members of a package, unpacked within limits
//! - `read/formats/office/markup.rs` - the markup of parts, piece by piece
//! - `read/formats/office/docx.rs` - DOCX to its text
//! - `read/formats/office/odt.rs` - ODT to its text
//! - `read/formats/office/epub.rs` - EPUB to its text
//! - `read/formats/office/about.rs` - title and date of a package
//! - `read/formats/office/parser.rs` - packages to documents
//! - `read/formats/pdf/mod.rs` - PDF: the whole file is one document, which a process of its own reads
//! - `read/formats/pdf/bounds.rs` - where a PDF begins, and whether its end is there
//! - `read/formats/pdf/process.rs` - the processes that read PDFs, seen from the one that asks
//! - `read/formats/pdf/frames.rs` - what goes between both: questions and answers
//! - `read/formats/pdf/parser.rs` - PDFs to documents
//! - `read/formats/pdf/serve.rs` - the process that reads PDFs
//! - `read/formats/pdf/process_limits.rs` - what that process may take
//! - `read/formats/pdf/document.rs` - a PDF to its text, its title and its date
//! - `read/formats/pdf/page.rs` - the characters of pages, put together
//! - `read/formats/properties.rs` - what a document says of itself beside its text
//! - `read/formats/text_parts.rs` - headers, body, notes and footers in the order of a text
//! - `read/formats/mail/mod.rs` - mail: one message a file, or mbox
//! - `read/formats/mail/mbox.rs` - where messages of an mbox end
//! - `read/formats/mail/envelope.rs` - what stands around a message in its file
//! - `read/formats/mail/message.rs` - messages to documents
//! - `read/formats/mail/parts.rs` - the parts of a message
//! - `read/formats/mail/media.rs` - what the headers of a part say of it
//! - `read/formats/mail/transfer.rs` - what parts are packed in
//! - `read/formats/mail/utf_7.rs` - UTF-7 to its text
//! - `read/formats/mail/enriched.rs` - enriched text to its text
//! - `read/formats/mail/quotes.rs` - what mails quote of others
//! - `read/formats/mail/structure.rs` - what the structure of a message takes beside its bytes
//! - `read/formats/trec/mod.rs` - TREC: SGML, one `<DOC>` behind the other
//! - `read/formats/trec/ends.rs` - where records of TREC end
//! - `read/formats/trec/markup.rs` - elements of SGML by their names
//! - `read/formats/trec/parser.rs` - records of TREC to documents
//! - `read/formats/mediawiki/mod.rs` - exports of MediaWiki: one page behind the other
//! - `read/formats/mediawiki/ends.rs` - where pages end
//! - `read/formats/mediawiki/tags.rs` - tags and entities of XML
//! - `read/formats/mediawiki/page.rs` - what a page says, and its last revision
//! - `read/formats/mediawiki/parser.rs` - pages of wikis to documents
//! - `read/formats/archive/mod.rs` - archives: a record is a member
//! - `read/formats/archive/apart.rs` - members that are sources of their own
//! - `read/formats/archive/member.rs` - members of archives to documents
//! - `read/formats/archive/rewritten.rs` - what becomes of members when an archive is written again
//! - `read/formats/archive/tar/mod.rs` - tar
//! - `read/formats/archive/tar/apart.rs` - copies of such members
//! - `read/formats/archive/tar/block.rs` - the block with which a member begins
//! - `read/formats/archive/tar/said.rs` - what is said of a member before its header
//! - `read/formats/archive/tar/scan.rs` - members as the bytes of an archive pass by
//! - `read/formats/archive/tar/ends.rs` - where members end
//! - `read/formats/archive/tar/parser.rs` - members of tar to documents
//! - `read/formats/archive/tar/links.rs` - links go with what they lead to
//! - `read/formats/archive/tar/rewritten.rs` - an archive that is written again, some of whose members are others
//! - `read/formats/archive/zip/mod.rs` - zip
//! - `read/formats/archive/zip/numbers.rs` - numbers as zip has them
//! - `read/formats/archive/zip/names.rs` - names of members, in UTF-8 or as DOS had them
//! - `read/formats/archive/zip/end.rs` - the end of an archive, found and written
//! - `read/formats/archive/zip/entry.rs` - members as the directory has them
//! - `read/formats/archive/zip/directory.rs` - the directory, read in windows
//! - `read/formats/archive/zip/unpack.rs` - content of members, unpacked step by step
//! - `read/formats/archive/zip/apart.rs` - copies of such members
//! - `read/formats/archive/zip/contents.rs` - members as far as they are documents
//! - `read/formats/archive/zip/single.rs` - a member by itself
//! - `read/formats/archive/zip/unit.rs` - the members of a unit
//! - `read/formats/archive/zip/reread.rs` - reading single members a second time
//! - `read/formats/archive/zip/anew.rs` - a member that gets another content
//! - `read/formats/archive/zip/rewritten.rs` - an archive that is written again without some of its members
//! - `read/formats/warc/mod.rs` - WARC, WET and ARC: what crawlers wrote down
//! - `read/formats/warc/head.rs` - the head of a record
//! - `read/formats/warc/arc.rs` - heads of ARC
//! - `read/formats/warc/ends.rs` - where records end that say how long they are
//! - `read/formats/warc/parser.rs` - records of a crawl to documents
//! - `read/formats/warc/companions.rs` - requests and metadata go with their pages
//! - `read/payload/mod.rs` - what text the bytes of a media type are
//! - `read/payload/charset.rs` - character sets
//! - `read/payload/headers.rs` - header lines of HTTP, WARC and mail
//! - `read/payload/html.rs` - HTML to its text
//! - `read/payload/markup_reader.rs` - markup on its way to the tokenizer, whose stack has an end
//! - `read/payload/quotation.rs` - quotations of a page
//! - `read/payload/main_text.rs` - the main text of a page
//! - `read/payload/zip_head.rs` - what a package is by its beginning
//! - `read/payload/http.rs` - what a server sent, unwrapped
//! - `read/find/mod.rs` - finding the input
//! - `read/find/discover.rs` - arguments to sources
//! - `read/find/foreign.rs` - formats that are not read, and what to do with such a file
//! - `read/find/gathering.rs` - files recognised and taken once, and why others are not
//! - `read/find/objects.rs` - URLs to objects: one, a folder of them, or those that a pattern matches
//! - `read/find/pattern.rs` - the files that a pattern matches
//! - `read/find/recognise.rs` - format and compression of a file
//! - `read/find/names.rs` - names for the outputs of sources: relative, harmless, unique
//! - `read/find/spool.rs` - standard input made a file
//! - `read/find/unfold.rs` - files of many records in archives made sources
//! - `read/head/mod.rs` - the beginning of a file, by which its format is recognised
//! - `read/head/beginning.rs` - how much has to be known of a file to tell what it is
//! - `read/source.rs` - an input file as found, and parts of it
//! - `read/bytes/mod.rs` - the bytes of input files
//! - `read/bytes/open.rs` - the one place that opens inputs and constructs decoders
//! - `read/bytes/digest.rs` - digests of input files, by which they are known again
//! - `read/bytes/counted_write.rs` - a writer that counts, where records are written anew
//! - `read/bytes/decoder.rs` - decompression beside parsing
//! - `read/bytes/read_ahead.rs` - how many bytes of objects may be under way, and what of the memory that takes
//! - `read/bytes/process_room.rs` - room for processes that read for this one
//! - `read/bytes/room.rs` - how long records may be within the memory, and whose turn it is to have a long one
//! - `read/bytes/window.rs` - a window that slides over the decompressed bytes of a file
//! - `read/bytes/line_stream.rs` - a compressed file of lines that several workers read together
//! - `read/bytes/packed_members.rs` - where the members of a gzip or bzip2 file are
//! - `read/bytes/members/mod.rs` - members decoded one behind the other
//! - `read/bytes/members/member.rs` - one of them
//! - `read/bytes/members/gzip.rs` - the members of a gzip file, read on behind damage
//! - `read/bytes/lz4.rs` - LZ4 frames, decoded and held against their checksums
//! - `read/bytes/xz.rs` - windows of xz files, and their decoder
//! - `read/bytes/zstd_window.rs` - the windows of Zstandard files, and whether the memory has room for them
//! - `read/unit.rs` - inputs cut into units, and reading a unit
//! - `read/windowed.rs` - units of formats whose records are stretches of bytes
//! - `read/stretches.rs` - records that lie one behind the other, whatever is in them
//! - `read/input.rs` - where the fields of a record stand, as a configuration says
//! - `read/inputs.rs` - the inputs of a run, divided into units, and what reads them
//! - `read/field.rs` - which fields of a record are wanted
//! - `read/date.rs` - dates as records have them, to days
//! - `read/record.rs` - records, refusals, and who takes them
//! - `read/rejected.rs` - refused records and files, ready to be shown
//! - `read/reread.rs` - reading single records a second time
//!
//! Text to tokens:
//! - `text/mod.rs` - canonical text, and the tokenizer
//! - `text/spelling/mod.rs` - the files of words in canonical form
//! - `text/spelling/options.rs` - what a configuration says of tokens, shingles and what is left out
//! - `text/fold.rs` - which spellings are taken for one, as a configuration says it
//! - `text/spellings.rs` - what folding does to single characters
//! - `text/classify.rs` - what a character is to a tokenizer
//! - `text/masks.rs` - which bytes of a block are what, one bit a byte
//! - `text/scan.rs` - the fast path: words found in bit masks
//! - `text/segment.rs` - the careful route for what is not ASCII
//! - `text/table.rs` - what single characters become in canonical text
//! - `text/typed.rs` - words that somebody types to find a name
//! - `text/out.rs` - the token hashes of one document
//! - `text/places.rs` - tokens with their places in the text
//! - `text/hash.rs` - the 64-bit identity of a token
//! - `text/spelling/words.rs` - words as they stand, for showing
//! - `text/spelling/spelt.rs` - words in canonical form, where their letters matter
//! - `text/spelling/pieces.rs` - texts cut into sentences or lines
//! - `text/spelling/filter.rs` - which words become tokens, and as which stems
//! - `text/spelling/stop_words.rs` - stop words of languages
//! - `text/spelling/stems.rs` - the stems of words
//!
//! What a report says of the inputs:
//! - `observed/mod.rs` - what is noted of records as they are read, beside their duplicates
//! - `observed/asked.rs` - which fields are observed
//! - `observed/observer.rs` - what a worker has noted
//! - `observed/values.rs` - values of a field, a number for each document
//! - `observed/lines.rs` - which lines of a text count, and what each is
//! - `observed/sample.rs` - the lines of a part of the documents
//!
//! Terms and how rare they are:
//! - `lexicon/mod.rs` - what a lexicon is
//! - `lexicon/terms.rs` - which words are terms, and idf
//! - `lexicon/survey.rs` - all texts of the inputs, read by all workers
//! - `lexicon/count.rs` - in how many documents terms occur, as one worker counts it
//! - `lexicon/sorted.rs` - counts in the order of terms: held, on disk, merged
//! - `lexicon/build.rs` - a lexicon from texts
//! - `lexicon/exchange.rs` - the counts of other processes, fetched in order
//! - `lexicon/file.rs` - a lexicon as a file
//! - `lexicon/frozen.rs` - a lexicon in use: terms by hash and by rank
//! - `lexicon/logarithm.rs` - logarithms that are the same on every machine
//! - `lexicon/band.rs` - which terms have an idf between two bounds
//! - `lexicon/merge.rs` - lexicons of several collections as one
//! - `lexicon/spearman.rs` - how alike two lexicons rank terms
//! - `lexicon/stability.rs` - how many signatures of documents are the same under two lexicons
//!
//! What sketches are made of:
//! - `sketch/mod.rs` - the parts of sketches
//! - `sketch/shingles.rs` - runs of tokens as 64-bit identities, and sets of them in order
//! - `sketch/rarity.rs` - the frozen table of how common shingles are
//! - `sketch/signature.rs` - parity signatures: a lower bound of how much two sets differ
//! - `sketch/sampling.rs` - which shingles are kept, by the methods that sample them
//! - `sketch/frequencies.rs` - in how many of some documents a shingle is
//! - `sketch/minwise.rs` - min-wise values and features of them
//! - `sketch/posting_key.rs` - the keys that members of sets are posted under
//! - `sketch/terms.rs` - terms of a document, the rarest first
//!
//! The methods:
//! - `method/mod.rs` - the list of methods
//! - `method/technique.rs` - the seam: what a method is
//! - `method/tables.rs` - the frozen tables that sketches are made by
//! - `method/count.rs` - when counted members are enough
//! - `method/exact.rs` - equal canonical text
//! - `method/join.rs` - the exact joins by resemblance and by containment
//! - `method/minhash.rs` - min-wise features, and banded MinHash
//! - `method/simhash.rs` - 64-bit fingerprints within a Hamming distance
//! - `method/imatch.rs` - I-Match: digests of terms of middling idf
//! - `method/fingerprint.rs` - a few rare terms and where they stand
//! - `method/term_vector.rs` - vectors of rare terms
//! - `method/cosine.rs` - vectors of idf weights, and how many of them are keys
//! - `method/counted/mod.rs` - the methods that count members of sets
//! - `method/counted/shingles.rs` - shared, perhaps sampled, shingles
//! - `method/counted/supershingles.rs` - shingles of the sorted sketch
//! - `method/counted/winnow.rs` - winnowing: one shingle of neighbouring ones
//! - `method/counted/anchors.rs` - windows of characters that their own hash selects
//! - `method/counted/chunks.rs` - chunks of sentences and of lines
//! - `method/counted/salient.rs` - the most salient terms as a set
//! - `sketcher/mod.rs` - from text to digest, posting keys and the sketch that pairs are measured on
//! - `sketcher/method_sketch.rs` - what a method itself looks at of the texts, one after the other
//!
//! The rules of pairs:
//! - `similarity/mod.rs` - the parts of measuring
//! - `similarity/lengths.rs` - lengths that are about equal
//! - `similarity/overlap.rs` - how many members two sorted sets share
//! - `similarity/packed_vector.rs` - a vector of terms in 184 bytes, and comparing two
//! - `similarity/cosine.rs` - the cosine of two vectors of weighted terms
//! - `similarity/acceptance_rule.rs` - when a pair is accepted: by its method, and by what verifies it
//! - `similarity/measure.rs` - what was measured of a pair, and what is reported of it
//! - `similarity/member_filter.rs` - what is not in a set, where it is compared with many
//! - `similarity/pair_test.rs` - single tests of a pair: what is counted, and how much of it is enough
//! - `similarity/curve.rs` - the filter curve of feature methods
//! - `similarity/edits.rs` - word edit distance
//! - `similarity/align.rs` - which words of two texts stand in both in the same order
//! - `similarity/kind.rs` - what kind of duplicates two texts are
//! - `similarity/relation.rs` - how one text became another
//! - `similarity/design.rs` - which filter suits a threshold, given what errors cost
//!
//! Links and components:
//! - `components/mod.rs` - connected components, in one process and over all workers
//! - `components/link.rs` - a link between two contents
//! - `components/forest.rs` - union-find
//! - `components/levels.rs` - the dataflow: links contracted level by level, labels brought back down
//! - `components/trees.rs` - links that stay, contracted before they are exchanged
//! - `components/engine.rs` - the dataflow with its input and output
//! - `components/touched.rs` - what a load does to the components that it touches
//!
//! The dataflow:
//! - `flow/mod.rs` - a run: its two dataflows, then its clusters, and what goes in and comes out
//! - `flow/request.rs` - what a run is asked for
//! - `flow/records.rs` - what crosses between operators
//! - `flow/left_out.rs` - the records that a load leaves out because they resemble protected documents
//! - `flow/stored.rs` - what a load sees of its collection, and stored documents that are taken in again
//! - `flow/status.rs` - the stage of a run, whether it is over, and with which error
//! - `flow/shared.rs` - what the workers of a process make once and use together
//! - `flow/context.rs` - what every part of a run needs
//! - `flow/documents.rs` - names and places of documents, what workers take in, and texts, read again
//! - `flow/document_sets.rs` - sizes and sets of documents, and measuring pairs of them
//! - `flow/connected.rs` - which documents candidates connect, and the round each is measured in
//! - `flow/measuring_rounds.rs` - candidates measured in rounds, so that few sets are held at once
//! - `flow/run.rs` - the parts of a run, put together
//! - `flow/worker.rs` - what a worker does: two dataflows, and a second collision between them
//! - `flow/profiled.rs` - times of operators, from what timely logs
//! - `flow/catalogue/mod.rs` - what a run remembers of each document
//! - `flow/catalogue/segment.rs` - the rows of one worker
//! - `flow/catalogue/keep_key.rs` - what the keep policy compares
//! - `flow/catalogue/names.rs` - lines and ids, which go to disk first
//! - `flow/catalogue/outlines.rs` - what sizes, signatures and shared keys tell of two documents before their sets are looked at
//! - `flow/catalogue/positions.rs` - where documents stand, four bytes each
//! - `flow/catalogue/signatures.rs` - signatures of sets
//! - `flow/catalogue/rows.rs` - rows on their way to another process
//! - `flow/intake/mod.rs` - a worker's reading
//! - `flow/intake/replayed.rs` - stored documents taken in in place of inputs
//! - `flow/intake/sample.rs` - the sample that the rarity table is made of
//! - `flow/intake/tables.rs` - the frozen tables of a run that brings none
//! - `flow/intake/unit_queue.rs` - which unit is read next, among all workers
//! - `flow/intake/within.rs` - which documents are compared with each other, where not all are
//! - `flow/intake/keepers.rs` - what a load keeps of each worker
//! - `flow/operators/mod.rs` - the operators
//! - `flow/operators/own_copies.rs` - telling the reader of a document that it is not the first of its text
//! - `flow/operators/first_halves.rs` - which ids and texts of a load others may have, by the first halves of digests
//! - `flow/operators/last_write_wins.rs` - of several changes of one id the last one
//! - `flow/operators/bucket_feed.rs` - an input stored, then given out bucket after bucket
//! - `flow/operators/exact_duplicates.rs` - equal canonical texts
//! - `flow/operators/broadcast_rows.rs` - rows of documents to the processes that need them
//! - `flow/operators/collide/mod.rs` - postings to key groups
//! - `flow/operators/collide/addressed.rs` - groups addressed to the owners of their members
//! - `flow/operators/collide/contained.rs` - groups of new contents and stored ones, of which the smaller is contained
//! - `flow/operators/collide/grouping.rs` - groups of documents that show the same key
//! - `flow/operators/collide/hot_postings.rs` - groups that are hot, until it is known whether it costs less to count them
//! - `flow/operators/collide/indexed.rs` - groups of which some index a key and others probe for it
//! - `flow/operators/collide/posting_feed.rs` - the postings of a worker, with cut keys where these only propose pairs
//! - `flow/operators/collide/order.rs` - postings of a bucket rid of singletons, and sorted
//! - `flow/operators/count.rs` - key groups to candidates, with the keys each pair shares
//! - `flow/operators/recall.rs` - sets derived again, and sent to where they are measured
//! - `flow/operators/verify.rs` - candidates measured, links
//! - `flow/packed/mod.rs` - records packed where they cross between processes
//! - `flow/packed/bits.rs` - numbers in no order in few bits
//! - `flow/packed/by_worker.rs` - records on their way to the workers that they belong to
//! - `flow/packed/bytes.rs` - packed bytes as serde writes them at once
//! - `flow/packed/columns.rs` - columns of numbers in few bytes
//! - `flow/packed/container.rs` - records that are packed when they leave the process
//! - `flow/packed/forms.rs` - how each kind of record is packed
//! - `flow/second_collision/mod.rs` - members of hot groups meet again under keys that are rare among them
//! - `flow/second_collision/keys.rs` - which keys these are
//! - `flow/second_collision/spared.rs` - members of hot groups that need not collide again
//! - `flow/second_collision/members.rs` - the sets that have them, read again and sent
//! - `flow/measuring/mod.rs` - candidates measured where one process can read all texts
//! - `flow/measuring/portions.rs` - candidates divided among workers, whole components of them
//! - `flow/measuring/by_leader.rs` - candidates that several processes leave to process 0
//! - `flow/measuring/candidate_parts.rs` - candidates by the part that they are measured in, in memory or on disk
//! - `flow/measuring/candidate_portions.rs` - the candidates of all workers, until it is known who takes which
//! - `flow/measuring/beside_stored.rs` - candidates with stored contents, brought to one worker for each content
//! - `flow/measuring/in_order.rs` - texts read again in order, and their pairs measured as they come
//! - `flow/measuring/in_parts.rs` - candidates measured part by part where memory is short
//! - `flow/memory/mod.rs` - what is held in memory, and what goes to disk
//! - `flow/memory/budget.rs` - how a bound of the memory is shared out
//! - `flow/memory/store.rs` - the budget, and the folder of spill files
//! - `flow/memory/spill.rs` - files for what does not fit
//! - `flow/memory/document_bits.rs` - a bit for each document
//! - `flow/memory/buckets.rs` - postings and arrivals bucketed by key
//! - `flow/memory/rounds.rs` - key groups given out in rounds
//! - `flow/memory/lots.rs` - values dealt to numbered lots, in memory or on disk
//! - `flow/memory/live_sets.rs` - sets that are held as long as somebody may ask for them
//! - `flow/memory/sets.rs` - lists of words by document
//! - `flow/memory/candidate_queue.rs` - candidates of all workers, measured by whoever is free
//! - `flow/distributed/mod.rs` - a run in several processes
//! - `flow/distributed/topology.rs` - the workers of all processes: who owns which document, and which key
//! - `flow/distributed/execute.rs` - running on the workers of one process or of all, failures agreed by all
//! - `flow/distributed/send_window.rs` - how much may wait for the network
//! - `flow/distributed/exchange_all.rs` - exchanging what workers have, at one go
//! - `flow/distributed/remote_candidates.rs` - candidates whose documents were read in different processes
//! - `flow/distributed/gather_bits.rs` - bits that workers set together, brought to all processes
//! - `flow/distributed/settling_rows.rs` - what process 0 settles, and what others know of that
//! - `flow/distributed/gather_to_leader.rs` - what other processes have gathered, sent to process 0
//! - `flow/distributed/contractor.rs` - who contracts links for a load: one process or all
//! - `flow/clustering/mod.rs` - from links to clusters
//! - `flow/clustering/graph.rs` - contents, links, copies and hot groups in document order
//! - `flow/clustering/node_lists.rs` - a list for each content
//! - `flow/clustering/unmeasured.rs` - candidates that are measured as clusters are formed
//! - `flow/clustering/earlier_candidates.rs` - the candidates before each content, some contents at a time
//! - `flow/clustering/at_hand.rs` - the sets that candidates are measured on as clusters are formed
//! - `flow/clustering/candidate_links.rs` - candidates that connected components measure as far as they need them
//! - `flow/clustering/by_size.rs` - members of a hot group by the sizes of their sets
//! - `flow/clustering/hot_links.rs` - links between members of hot groups, for connected components
//! - `flow/clustering/one_to_many.rs` - a content that is measured against many others
//! - `flow/clustering/transitive.rs` - connected components, and the chain that holds each member
//! - `flow/clustering/conservative.rs` - clustering with a guarantee
//! - `flow/clustering/form_clusters.rs` - from links to findings
//! - `flow/clustering/raised.rs` - what is left of a run at a higher threshold
//! - `flow/clustering/relate.rs` - texts of duplicates read again and related word by word
//! - `flow/common_members/mod.rs` - members that too many contents have, where a join stands for what counts all
//! - `flow/common_members/search.rs` - what workers find out of them together
//! - `flow/common_members/slots.rs` - in how many contents members are, at most
//! - `flow/common_members/tally.rs` - in how many contents members are, one by one
//! - `flow/common_members/apart.rs` - what sets share of members that are too common, and sets that share none
//! - `flow/results/mod.rs` - what a run finds
//! - `flow/results/tally.rs` - counts of a run
//! - `flow/results/common_keys.rs` - keys ignored because more contents have them than the cap allows
//! - `flow/results/warnings.rs` - documents that a user is warned about
//! - `flow/results/findings.rs` - clusters, and which documents are removed
//! - `flow/results/settled_by_leader.rs` - which documents of a load process 0 settles
//! - `flow/results/settling.rs` - what a process knows of that
//! - `flow/results/gathered.rs` - what the workers of a run hand in
//! - `flow/results/hot_groups.rs` - contents under one key, too many to be expanded
//!
//! Many processes:
//! - `mesh/mod.rs` - how the processes of a job meet, stay in touch, and notice a loss
//! - `mesh/meeting/mod.rs` - the files of how processes meet
//! - `mesh/meeting/hosts.rs` - the addresses of processes, as people write them
//! - `mesh/meeting/membership.rs` - what a process knows of its job before it meets the others
//! - `mesh/meeting/secret.rs` - the shared secret, and what is proved with it
//! - `mesh/meeting/key_agreement.rs` - how two processes agree on the keys of an encrypted connection
//! - `mesh/meeting/hello.rs` - the frames of a hello, as bytes
//! - `mesh/meeting/call.rs` - a hello from the side that connects
//! - `mesh/meeting/listener.rs` - a hello from the side that is connected to: one thread accepts, one drives all hellos
//! - `mesh/meeting/arrivals.rs` - who has come, who is admitted, and who was refused
//! - `mesh/meeting/rendezvous.rs` - meeting all others, or saying who did not come
//! - `mesh/rounds.rs` - the data sockets of the runs of a job
//! - `mesh/meeting/socket.rs` - addresses, and the options of connections
//! - `mesh/channel.rs` - connections: their bytes as they are, or encrypted and authenticated
//! - `mesh/link.rs` - the control connection to one process: what waits to be sent, and the thread that sends it
//! - `mesh/reader.rs` - the reading end of a control connection
//! - `mesh/topic.rs` - the topics of the mesh itself, and the number before a question and its answer
//! - `mesh/ask.rs` - questions that one process asks another
//! - `mesh/frame.rs` - the frames of a control connection, as bytes
//! - `mesh/fuzzing.rs` - the way in for fuzzers: bytes as another process may send them
//! - `mesh/state.rs` - what the others have said: messages, numbers, goodbyes, and the one loss
//! - `mesh/contact.rs` - how it stands with each other process
//! - `mesh/watchdog.rs` - heartbeats, and silence
//! - `mesh/wire.rs` - data sockets that count their bytes, and do not fail before their run is over
//! - `resources.rs` - what a process may use of its machine, and the processes that work with it
//! - `peers.rs` - what the processes of a job send each other beside the dataflow
//!
//! Passages that are repeated:
//! - `passages/mod.rs` - what a passage is
//! - `passages/unit.rs` - what may repeat: lines, paragraphs, sentences, or runs of words
//! - `passages/pieces.rs` - texts cut into pieces, and runs of pieces
//! - `passages/sorter.rs` - rows put in order in bounded memory
//! - `passages/runs.rs` - rows in order, on disk
//! - `passages/merge.rs` - rows of several sources as one
//! - `passages/remote_rows.rs` - the rows of another process
//! - `passages/exchange.rs` - rows given to other processes
//! - `passages/find.rs` - the way of a run
//! - `passages/repeats.rs` - what repeats in the order of the input
//! - `passages/excerpts.rs` - the texts of passages, read again
//! - `repetition/mod.rs` - documents that repeat themselves
//! - `repetition/measures.rs` - the measures of Gopher, and their limits
//! - `repetition/meter.rs` - the measures of a text
//! - `repetition/grams.rs` - which n-grams of a text occur more than once
//! - `repetition/find.rs` - the inputs read once, each document measured
//! - `repetition/report.rs` - what was found, as rows and figures
//!
//! Durable state:
//! - `collection/mod.rs` - what the state of a collection is made of
//! - `collection/run/mod.rs` - the file of a run
//! - `collection/run/page.rs` - pages: sealed, verified, decoded in place
//! - `collection/run/directory.rs` - which sections a run has and where their pages are
//! - `collection/run/file.rs` - a run file as pages, fetched in blocks
//! - `collection/run/writer.rs` - sections streamed into a run
//! - `collection/run/reader.rs` - opening a run
//! - `collection/run/rows/fences.rs` - the first key of each page
//! - `collection/run/rows/packed.rs` - how the rows of a page are packed
//! - `collection/run/rows/mod.rs` - sections of rows
//! - `collection/run/rows/probe.rs` - the rows of many keys, each page once
//! - `collection/run/rows/scan.rs` - the rows of a section one after another
//! - `collection/run/heap.rs` - values of any length
//! - `collection/run/merge.rs` - several runs as one, newer rows shadowing older ones
//! - `collection/run/verify.rs` - reading every page of a run
//! - `collection/run/schema.rs` - which tables and heaps a collection has, and what their rows look like
//! - `collection/run/rows/section.rs` - a section of rows as it lies in its file
//! - `collection/commit/mod.rs` - what a commit is, file by file
//! - `collection/commit/names.rs` - the names of a collection's files
//! - `collection/commit/manifest.rs` - everything that a commit is, in one small file
//! - `collection/commit/run_entry.rs` - a run as a manifest names it
//! - `collection/commit/log.rs` - files of lines, known by length and digest
//! - `collection/commit/changes.rs` - change logs as bytes
//! - `collection/commit/snapshot.rs` - one commit, open for reading
//! - `collection/commit/writer.rs` - the one writer, and publishing commits
//! - `collection/commit/retained/mod.rs` - commits that can be looked at again
//! - `collection/commit/retained/policy.rs` - how long they can, as it is written
//! - `collection/commit/retained/window.rs` - which commits stay when one is made
//! - `collection/commit/retained/at.rs` - an older commit that is asked for
//! - `collection/commit/retained/older.rs` - whose files those are, seen from the writer
//! - `collection/commit/durable.rs` - the steps by which a manifest appears, and superseded files go
//! - `collection/commit/guard.rs` - no write after a failed one
//! - `collection/commit/checkpoint.rs` - what there is of a load between two epochs
//! - `collection/commit/refused.rs` - records that the epochs of an interrupted load refused
//! - `collection/commit/sealed.rs` - small text files with a digest
//! - `collection/commit/tally.rs` - what is counted over the epochs of a load
//! - `collection/tables/mod.rs` - the tables of a collection, read through several runs
//! - `collection/tables/bits.rs` - sets of small numbers
//! - `collection/tables/document.rs` - the rows of tables as what they mean
//! - `collection/tables/sources.rs` - the files that documents came from, and opening them again
//! - `collection/tables/run_cursors.rs` - what is unpacked of each run that is read by turns
//! - `collection/tables/records/blocks.rs` - records in compressed blocks
//! - `collection/tables/records/mod.rs` - records as they stood in their files
//! - `collection/tables/dead.rs` - contents that are dead
//! - `collection/tables/postings.rs` - stored postings under keys
//! - `collection/tables/lookup.rs` - documents by id, clusters and documents of contents
//! - `collection/tables/clusters.rs` - clusters as they are stored, and the documents of each
//! - `collection/tables/sets/mod.rs` - the stored sets of contents
//! - `collection/tables/sets/signatures.rs` - the stored signatures of contents
//! - `collection/tables/tokens/mod.rs` - the tokens that sets are derived from
//! - `collection/tables/tokens/block.rs` - texts that are compressed together, as words of a heap
//! - `collection/tables/tokens/codes.rs` - tokens as bytes
//! - `collection/tables/tokens/copied.rs` - blocks copied from run to run with their vocabulary
//! - `collection/tables/tokens/cursor.rs` - reading tokens, and the sets that follow from them
//! - `collection/tables/tokens/kept_blocks.rs` - unpacked blocks that stay where texts are read in another order than they lie
//! - `collection/tables/tokens/vocabulary.rs` - which tokens have numbers
//! - `collection/tables/tokens/writer.rs` - writing tokens, block by block
//! - `collection/tables/frozen.rs` - the tables that a collection was created with
//! - `collection/tables/components.rs` - contents of components, and links, as they are stored
//! - `collection/tables/cluster_changes.rs` - the numbers of clusters, and what a load says about them
//! - `collection/tables/member.rs` - a document with its names, and the order in which documents are kept
//! - `collection/tables/rows.rs` - the rows of tables as what they mean
//! - `collection/distributed/mod.rs` - collections whose runs lie with several processes
//! - `collection/distributed/scattered.rs` - runs in the folders of several processes
//! - `collection/distributed/questions.rs` - what processes ask each other about runs, and the answers
//! - `collection/distributed/stretches.rs` - bytes of runs elsewhere, fetched ahead of whoever reads on
//! - `collection/distributed/protocol.rs` - what the leader of a job has its followers do, as data
//! - `collection/query/mod.rs` - questions to a commit
//! - `collection/query/resembling.rs` - which stored contents any sets resemble
//! - `collection/query/met.rs` - which stored contents share keys with sets, counted in bounded room
//! - `collection/query/measures.rs` - all that is said of how much two sets share
//! - `collection/query/check.rs` - which documents texts resemble that are not stored
//! - `collection/query/explain/mod.rs` - why documents are together, or are not
//! - `collection/query/explain/chain.rs` - chains of stored links
//! - `collection/query/explain/apart.rs` - the closest pair that fell short
//! - `collection/query/explain/told.rs` - an explanation in words
//! - `collection/query/explain/stays.rs` - which document is kept before another, and by which criterion
//! - `collection/query/record_objects.rs` - records of stored documents as JSON objects, where they can still be had
//! - `collection/query/texts.rs` - texts of stored documents, where they can still be had
//! - `collection/query/diff.rs` - two texts compared word by word
//! - `collection/query/group.rs` - a ranked list with duplicates folded
//! - `collection/query/browse/mod.rs` - looking at a commit by the page
//! - `collection/query/browse/clusters.rs` - the clusters of a commit in two orders
//! - `collection/query/browse/ids.rs` - the ids of a commit in order
//! - `collection/query/browse/divided.rs` - what a cluster falls into at a higher threshold
//! - `collection/query/browse/looseness.rs` - the clusters of a commit, the loosest first
//! - `collection/query/browse/members.rs` - the members of a cluster, each held against its representative
//! - `collection/query/browse/titles.rs` - the titles of stored documents
//! - `collection/query/view.rs` - looking at a commit
//! - `collection/query/stats.rs` - the figures of a commit
//! - `collection/recompute/mod.rs` - stored documents run through the dataflow once more
//! - `collection/recompute/related.rs` - texts of documents read again, and pairs related word by word
//! - `collection/recompute/replay.rs` - stored documents for a run that takes them in again
//! - `collection/recompute/request.rs` - what is asked of that run
//! - `collection/recompute/protected.rs` - stored documents that are protected, in the place of inputs of a run
//! - `collection/recompute/leave_out.rs` - which records of a load resemble protected documents, found before it
//! - `collection/recompute/overrides.rs` - what may be asked in place of the collection's own configuration
//! - `collection/maintain/mod.rs` - keeping a commit in order
//! - `collection/maintain/local_runs.rs` - runs that processes keep to themselves, removed once nobody names them
//! - `collection/maintain/compact.rs` - merging runs, and the commit of what they become
//! - `collection/maintain/combine.rs` - neighbouring runs written as one, without what is gone
//! - `collection/maintain/copied_tokens.rs` - tokens that a merge copies as they lie
//! - `collection/maintain/new_keys.rs` - keys made anew, where another rarity table is better
//! - `collection/maintain/live.rs` - what a commit still refers to
//! - `collection/maintain/merged_rows.rs` - the rows that are merged, read by one thread and written by another
//! - `collection/maintain/fsck/mod.rs` - proving that a commit is whole: its pages, then its tables against each other
//! - `collection/maintain/fsck/documents.rs` - documents, members, digests and texts against contents
//! - `collection/maintain/fsck/components.rs` - components, links and clusters against contents
//! - `collection/maintain/fsck/postings.rs` - postings against sets
//! - `collection/maintain/fsck/sources.rs` - documents against sources and records
//! - `collection/maintain/merge_plan.rs` - runs of several processes merged where they lie
//! - `collection/maintain/copy.rs` - a commit in a folder of its own
//! - `collection/maintain/rollback.rs` - an earlier commit made the last one
//! - `collection/maintain/restored_clusters.rs` - how its clusters differ from the last ones
//! - `collection/maintain/tiers.rs` - which runs are merged
//! - `collection/maintain/fsck/check.rs` - a commit while it is checked
//! - `collection/maintain/fsck/facts.rs` - what is known of live contents
//! - `collection/load/mod.rs` - the parts of a load
//! - `collection/load/load_base/mod.rs` - what the dataflow of a load sees of a collection, and where it leaves what it adds
//! - `collection/load/load_base/earlier.rs` - what earlier epochs of a load have brought
//! - `collection/load/load_base/unchanged_ids.rs` - which ids have which text
//! - `collection/load/load_base/worker_run.rs` - the run of a worker
//! - `collection/load/load_base/written.rs` - what workers have written
//! - `collection/load/load_base/kept_sketches.rs` - what is kept of sketches
//! - `collection/load/load_base/lookups.rs` - rows of keys, in the tables before a load and in those of its epochs
//! - `collection/load/epoch.rs` - a part of a load: what the dataflow finds in it, settled and written
//! - `collection/load/conclude.rs` - the end of a load: what its epochs make of the clusters, and the commit
//! - `collection/load/follow.rs` - a load as followers see it
//! - `collection/load/report.rs` - what a load did
//! - `collection/load/settle/mod.rs` - from what an epoch found to what it changes
//! - `collection/load/settle/newcomers.rs` - new texts under new ids, written by who has read them
//! - `collection/load/settle/documents_by_id.rs` - documents of newcomers, sorted by their ids a range at a time
//! - `collection/load/settle/documents.rs` - what becomes of documents that replace others
//! - `collection/load/settle/components.rs` - what becomes of contents and components
//! - `collection/load/settle/split.rs` - what becomes of components of which contents go
//! - `collection/load/settle/contents.rs` - the contents that a load touches, found at once
//! - `collection/load/settle/span.rs` - hot groups, as far as they join components
//! - `collection/load/measure.rs` - pairs of a load's hot groups, each measured once
//! - `collection/load/recollider.rs` - colliding a stored content again
//! - `collection/load/clusters/mod.rs` - what a load makes of the clusters
//! - `collection/load/clusters/diff_clusters.rs` - what becomes of documents and clusters
//! - `collection/load/clusters/linked_contents.rs` - which contents have links
//! - `collection/load/clusters/fresh_clusters.rs` - clusters of documents that were in none before, decided some at a time
//! - `collection/load/clusters/match_clusters.rs` - which clusters go on under their numbers, and what is said about them
//! - `collection/load/divide.rs` - components divided with a guarantee
//! - `collection/load/write.rs` - what a load changes, written
//! - `collection/load/epoch_done.rs` - what an epoch came to in a process
//! - `collection/load/parts.rs` - what a component falls into when contents go
//! - `collection/load/prepare.rs` - a load from its inputs over its epochs to its commit
//! - `collection/export/mod.rs` - the files that the documents of a collection came from, with what is kept
//! - `collection/export/dropped_lines.rs` - which lines of a file are left when some are kept
//!
//! What is left behind:
//! - `output/mod.rs` - the parts of output
//! - `output/staging.rs` - the folder that appears whole or not at all
//! - `output/chosen.rs` - which records are written: kept or removed ones
//! - `output/columns/mod.rs` - Parquet files without the removed rows
//! - `output/columns/parts.rs` - the Parquet files among the kept ones that lose rows
//! - `output/columns/groups.rs` - row groups that stay, shrink or go, and the files made of them
//! - `output/columns/failure.rs` - what goes wrong with columns, and what people are told of it
//! - `output/columns/encode.rs` - one column of a row group, written anew
//! - `output/columns/dictionaries/mod.rs` - columns whose dictionary stays, written anew
//! - `output/columns/dictionaries/pages.rs` - their pages, with the dictionary of the row group
//! - `output/columns/dictionaries/indices.rs` - places in a dictionary, in runs and bits
//! - `output/columns/dictionaries/codec.rs` - compressing pages
//! - `output/columns/properties.rs` - how a file is written that is to be like another one
//! - `output/columns/annotated.rs` - columns that are added to those of a Parquet file
//! - `output/columns/batches.rs` - batches of Arrow that stay, shrink or go, and the files made of them
//! - `output/columns/divided.rs` - a Parquet file as one or several, with the columns that it has or more
//! - `output/columns/table.rs` - rows of typed columns, written as Parquet
//! - `output/columns/borders.rs` - where their pages and row groups end
//! - `output/columns/leaves.rs` - rows with the columns of their own format, written as Parquet
//! - `output/finished/mod.rs` - outputs of `dedup`, asked afterwards
//! - `output/finished/record.rs` - how a run was asked, and its inputs: what an output keeps
//! - `output/finished/folder.rs` - an output opened again, and whether its inputs are as they were
//! - `output/finished/lists.rs` - its lists, read again
//! - `output/finished/index.rs` - its clusters and the documents in them, to be looked at by the page (feature `serve`)
//! - `output/finished/pass.rs` - all records of inputs, read once with several threads
//! - `output/finished/find.rs` - documents of the inputs by id, or by file and line, in one pass
//! - `output/finished/known.rs` - documents that somebody has seen already, read where they stand
//! - `output/finished/document.rs` - such a document, and what tells which of two is kept
//! - `output/hands.rs` - jobs that the threads of all processes share
//! - `output/forms/mod.rs` - the forms that records are written in
//! - `output/forms/form.rs` - what forms there are
//! - `output/forms/plan.rs` - which files are written of which inputs, and what is refused
//! - `output/forms/names.rs` - what these files are called
//! - `output/forms/write.rs` - records read once more, a worker for each file
//! - `output/forms/selection.rs` - which records of a source are taken, and what was found out about each
//! - `output/forms/taker.rs` - records on their way from their reader to an encoder
//! - `output/forms/encoders.rs` - the seam: what writes records in a form
//! - `output/forms/objects.rs` - records as JSON objects
//! - `output/forms/lines.rs` - objects with a member more
//! - `output/forms/cuts.rs` - stretches of texts that are cut out, or marked
//! - `output/forms/notes.rs` - what is said of each record
//! - `output/forms/tables.rs` - records as rows of tables, and notes as columns
//! - `output/forms/leaves.rs` - rows of Arrow as Parquet, with the columns that they have
//! - `output/forms/shards.rs` - a file that is written, or its parts
//! - `output/undecodable.rs` - what was read, and cannot be written again
//! - `output/kept/mod.rs` - the inputs without the removed records
//! - `output/kept/job.rs` - what one worker does at a time
//! - `output/kept/nested.rs` - archives that hold files of many records
//! - `output/kept/archive.rs` - zip archives without some of their members
//! - `output/kept/metered.rs` - compressed files being written, as progress
//! - `output/kept/plan.rs` - dividing a large file among workers
//! - `output/kept/filter.rs` - which bytes of a file of records are kept
//! - `output/kept/lz4.rs` - one LZ4 frame of what is written
//! - `output/kept/members.rs` - files of small members, of which most are copied
//! - `output/kept/gzip.rs` - one gzip member, compressed on several threads
//! - `output/kept/packer.rs` - files compressed as their sources were
//! - `output/members.rs` - members of clusters, and what was found out about each
//! - `output/list_file.rs` - the file of a list: lines or a table
//! - `output/lists.rs` - from an outcome to its lists and figures
//! - `output/rows/mod.rs` - the rows of the lists
//! - `output/rows/cells.rs` - these rows as cells of tables
//! - `output/rows/found.rs` - what is found document by document, in files of the workers
//! - `output/summary.rs` - the figures of a run
//! - `output/figures.rs` - figures as people read them
//! - `output/render.rs` - the figures for people
//! - `output/kinds.rs` - duplicates by kind, and how far they are from their representatives
//! - `output/svg.rs` - curves as a picture
//!
//! Benchmarks in a corpus:
//! - `decontaminate/mod.rs` - items of benchmarks that stand in documents
//! - `decontaminate/rule.rs` - when a text stands in a document
//! - `decontaminate/fields.rs` - texts of items in objects of JSON
//! - `decontaminate/items.rs` - the items of benchmarks, read once
//! - `decontaminate/index.rs` - all their texts, and their n-grams
//! - `decontaminate/grams/mod.rs` - what is done with n-grams
//! - `decontaminate/grams/table.rs` - n-grams, and the texts that are looked for by them
//! - `decontaminate/grams/places.rs` - the n-grams of a document, and where each of them stands
//! - `decontaminate/scan.rs` - one document after the other held against the index
//! - `decontaminate/grams/stretches.rs` - which stretches of a document hold enough n-grams of a text
//! - `decontaminate/score/mod.rs` - the score of a question with its answer and its passage
//! - `decontaminate/score/answers.rs` - how much of an answer stands near a question
//! - `decontaminate/shares.rs` - of each item the share that stands in the corpus
//! - `decontaminate/common.rs` - n-grams that many documents of a corpus have
//! - `decontaminate/around.rs` - what is cut around n-grams
//! - `decontaminate/found.rs` - what is found in a document
//! - `decontaminate/search.rs` - the corpus read once by all workers
//! - `decontaminate/hits.rs` - what is found of a document
//! - `decontaminate/report.rs` - what was found, as rows and figures
//!
//! How good a method is:
//! - `evaluate/mod.rs` - methods held against labels or the exact join
//! - `evaluate/documents.rs` - the documents of the inputs, their ids and lengths
//! - `evaluate/outcome.rs` - what a run has found, by the numbers of documents
//! - `evaluate/sizes.rs` - groups of lengths, and pairs by the length of the shorter document
//! - `evaluate/grouping.rs` - sets of pairs as groups and links, and what two of them share
//! - `evaluate/rand_index.rs` - the adjusted Rand index
//! - `evaluate/labels.rs` - files of labels
//! - `evaluate/table.rs` - lines of fields
//! - `evaluate/truth.rs` - what labels say about the documents of the inputs
//! - `evaluate/tally.rs` - what is counted, in blocks that have no pair in common
//! - `evaluate/intervals.rs` - intervals of confidence from such blocks
//! - `evaluate/score.rs` - the measures
//!
//! Parameters chosen by what they do:
//! - `tune/mod.rs` - the parts of choosing parameters for documents
//! - `tune/plan.rs` - precision and recall of sampled shingles, and the ratios that keep a floor
//! - `tune/sampling.rs` - the runs that a plan of adaptive sampling is made of
//! - `tune/part.rs` - some of the documents, as a file
//! - `tune/thresholds.rs` - what would go at several thresholds
//! - `tune/examples.rs` - pairs whose resemblance is near a threshold
//! - `tune/labelled.rs` - the resemblance of labelled pairs
//! - `tune/sweep.rs` - the threshold that tells labelled pairs apart best
//! - `tune/gap.rs` - the gap in the distribution of resemblances
//!
//! Reports:
//! - `report/mod.rs` - one page on a run, for people who look before they delete
//! - `report/facts.rs` - all that the page says
//! - `report/clusters.rs` - which clusters are shown, and sizes of all
//! - `report/breakdown/mod.rs` - what is lost of which part of the inputs
//! - `report/breakdown/sources.rs` - where removed documents come from, and where their representatives are
//! - `report/breakdown/fields.rs` - what values of fields lose, and months
//! - `report/breakdown/passages.rs` - lines that many documents have
//! - `report/breakdown/shown.rs` - sources, fields and passages on the page
//! - `report/scores.rs` - how alike removed documents and pairs are
//! - `report/thresholds.rs` - what other thresholds come to
//! - `report/glance.rs` - what the terminal shows when a run ends
//! - `report/excerpts.rs` - texts of what is shown, read again
//! - `report/chart.rs` - bars as pictures
//! - `report/finished/mod.rs` - questions about runs that have ended
//! - `report/finished/compare.rs` - two documents of the inputs held against each other
//! - `report/finished/divided.rs` - what a cluster of it falls into at a higher threshold (feature `serve`)
//! - `report/finished/explain.rs` - why documents of a run are together, or are not
//! - `report/finished/members.rs` - a cluster, each member held against what is kept
//! - `report/finished/outside.rs` - the closest document outside a cluster, of all inputs (feature `serve`)
//! - `report/page.rs` - the page, and its file
//! - `report/sections.rs` - the parts of the page
//! - `report/parts.rs` - tables and figures of pages
//! - `report/words.rs` - how two texts differ, on a page
//! - `report/documents.rs` - documents and pairs on the page
//!
//! Collections and outputs over HTTP (feature `serve`):
//! - `serve/mod.rs` - what a server is made of
//! - `serve/options.rs` - what a server is told: where it listens, who may do what, and how much
//! - `serve/http/mod.rs` - requests and answers
//! - `serve/http/accept.rs` - pages for browsers, JSON for others
//! - `serve/http/server.rs` - accepting, watching, and ending in order
//! - `serve/http/connections.rs` - who is connected, and who goes when there is no room
//! - `serve/http/handle.rs` - a request and its answer
//! - `serve/http/routes.rs` - which path and method is answered by what, and who may ask
//! - `serve/http/rendered.rs` - the form that a page is given
//! - `serve/http/checks.rs` - requests for what texts resemble, looked up together
//! - `serve/http/guard.rs` - who may ask: host, token, and pages of other sites
//! - `serve/http/query.rs` - parameters, and percent signs
//! - `serve/http/body.rs` - bodies up to a limit
//! - `serve/http/answer.rs` - answers and errors, with their headers
//! - `serve/http/change.rs` - changes that clients ask for, one after another, once for each key
//! - `serve/http/verdict.rs` - a verdict on two documents, and who may give it
//! - `serve/http/measured.rs` - counts and times of answers, as Prometheus reads them
//! - `serve/pages/mod.rs` - what is shown of a collection, as data
//! - `serve/pages/summary.rs` - what there is
//! - `serve/pages/clusters.rs` - clusters by the page, and one of them
//! - `serve/pages/documents.rs` - documents by the page, one of them, and two of them
//! - `serve/pages/check.rs` - texts held against the collection
//! - `serve/pages/titles.rs` - documents that words of their titles find
//! - `serve/pages/changes.rs` - the change logs by the page
//! - `serve/pages/run.rs` - what is shown of an output
//! - `serve/html/mod.rs` - pages for people
//! - `serve/html/asked.rs` - what a page is an answer to
//! - `serve/html/frame.rs` - what all pages have around them
//! - `serve/html/parts.rs` - what several pages have
//! - `serve/html/links.rs` - addresses within the server
//! - `serve/html/assets.rs` - style, script and picture of pages
//! - `serve/html/summary.rs` - what there is
//! - `serve/html/clusters.rs` - clusters, and the members of one
//! - `serve/html/documents.rs` - documents, and one of them
//! - `serve/html/compare.rs` - two documents, and what links them
//! - `serve/html/changes.rs` - changes, commit by commit
//! - `serve/html/check.rs` - a form for a text, and what it resembles
//! - `serve/html/verdicts.rs` - buttons for a verdict, and what was said before
//! - `serve/html/run.rs` - pages of an output
//! - `serve/html/titles.rs` - documents that words of their titles find
//! - `serve/index/mod.rs` - what is noted of all documents of what is served, so that some are found
//! - `serve/index/making.rs` - what is made in the background, and how far it is
//! - `serve/index/notes.rs` - notes of any length in files, found again by their places
//! - `serve/index/words.rs` - which documents have a word in their titles
//! - `serve/index/inputs.rs` - all documents of the inputs of an output
//! - `serve/index/stored.rs` - the titles of a commit of a collection
//! - `serve/state/mod.rs` - what is served
//! - `serve/state/served.rs` - what is served now, and what is wrong with it
//! - `serve/state/commit.rs` - one commit, with what is made of it once
//! - `serve/state/run.rs` - an output, with its lists in memory
//! - `serve/state/threads.rs` - the threads that wait for disks, a bounded number
//! - `serve/state/together.rs` - small questions that wait at the same moment
//! - `serve/state/write.rs` - loads and deletions of clients
//! - `serve/state/remembered.rs` - answers to changes by their keys
//! - `serve/state/verdicts.rs` - verdicts on pairs, a file of labels that only grows
//!
//! Inputs from afar:
//! - `remote/mod.rs` - objects in stores and on web servers, taken as files
//! - `remote/url.rs` - URLs of objects, as people write them
//! - `remote/state.rs` - what is known of an object, and what a reader of it may take
//! - `remote/spool.rs` - what was fetched, on the disk of this machine
//! - `remote/absent.rs` - a program without the feature `remote`: every URL is refused
//! - `remote/reader.rs` - reading an object: in few and large requests, ahead of whoever reads on
//! - `remote/requests.rs` - what is asked of stores: which objects there are, and ranges of their bytes
//! - `remote/upload.rs` - files that become objects, all of them or none
//! - `remote/waiting.rs` - threads of their own for all requests, and waiting for one
//! - `remote/trouble.rs` - what goes wrong with objects, in words that say what to do
//! - `remote/stores/mod.rs` - what serves objects
//! - `remote/stores/settings.rs` - what stores have to be told: where they are, and who asks
//! - `remote/stores/cloud.rs` - S3, Google Cloud Storage and Azure
//! - `remote/stores/web.rs` - web servers: anything that can be asked for a part of a file
//! - `remote/stores/hub.rs` - data sets on the hub of Hugging Face, in one commit
//!
//! Where a collection lies:
//! - `storage/mod.rs` - what a folder of immutable files promises, and what is durable after what
//! - `storage/folders.rs` - folders of the system, found or made
//! - `storage/local.rs` - a real folder
//! - `storage/copied.rs` - a file in another folder, too, by a link or as a copy
//! - `storage/overlay.rs` - a folder that stays as it is, whatever is written to it
//!
//! # Invariants
//!
//! - `text`, `sketch`, `method` and `similarity` touch no file and cannot fail: every text has tokens or none.
//! - Nothing here prints, exits, or reads the command line; of the environment only the folder for temporary files is asked.
//! - Only `read` opens inputs and constructs decoders. Only `output`, `storage`, `lexicon`, `report`, `collection/export`, `decontaminate` and
//!   the verdicts of `serve` write what stays; all other files are temporary, in a folder of `scratch`.
//! - Only `storage` touches the files of a collection. They are appended to, synced, and from then on only read or
//!   removed; a name is never given to another file while it is taken.
//! - A document is its position in the input; ids are labels. Document numbers never reach the output.
//! - Order never depends on workers: what is listed is sorted by position, and what is chosen is chosen by it.
//! - No comparison with a threshold rounds: thresholds are fractions of integers.
//! - `unsafe` is four calls into functions compiled for more vector instructions (`text/scan.rs`, `sketch/minwise.rs`,
//!   `sketch/shingles.rs`), each behind the question whether the machine has them, each with a portable twin; and one that decodes a page of 512 words in place, which any bytes
//!   are, in `collection/run/page.rs`.

mod api;
pub mod collection;
pub mod components;
pub mod config;
pub mod decontaminate;
pub mod document;
pub mod error;
pub mod evaluate;
pub mod flow;
mod hex;
pub mod lexicon;
pub mod limits;
pub mod mesh;
pub mod method;
pub mod metrics;
pub mod observed;
pub mod output;
mod partial_name;
pub mod passages;
pub mod peers;
pub mod printable;
pub mod progress;
pub mod read;
pub mod remote;
pub mod repetition;
pub mod report;
pub mod resources;
pub mod scratch;
#[cfg(feature = "serve")]
pub mod serve;
pub mod simd;
pub mod similarity;
pub mod sketch;
pub mod sketcher;
pub mod storage;
pub mod system_memory;
pub mod text;
mod threads;
pub mod threshold;
pub mod tune;

pub use api::{Collection, Dedup, Deduplicated, DeduplicatedFiles, Duplicate, run_lexicon};
