//! The sample of the inputs that the rarity table is made of.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashSet;

use crate::config::Config;
use crate::document::Position;
use crate::error::{Error, Result};
use crate::lexicon::Lexicon;
use crate::limits::sized;
use crate::method::FrozenTables;
use crate::read::{
    Compression, Day, Extent, Fields, Record, Refusal, Sink, Source, Unit, UnitReader, begins_anywhere, units,
};
use crate::simd::Simd;
use crate::sketch::Rarity;
use crate::sketcher::{Digest, Sketcher};
use crate::system_memory::reserve_apart;

/// Least bytes of a stretch of the sample: a site of crawls may be short, and pages of a template stand together.
const STRETCH: u64 = sized(4 << 10, 64);
/// Most stretches of a sample, about: each is a place of a disk to go to.
const STRETCHES: u64 = 2 << 10;
/// Bytes of a stretch where a unit is no smaller, or where it takes much to begin one.
const LONG_STRETCH: u64 = sized(256 << 10, 256);
/// Least and greatest size of the sample, in bytes, and its share of the input.
const SAMPLE: (u64, u64, u64) = sized((4 << 20, 64 << 20, 64), (4 << 10, 64 << 10, 64));
/// The fraction part of the golden ratio, in 2^64ths: the fraction parts of its multiples are spread evenly, and in no order.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// Bytes of text to one of a compressed file, about.
const UNPACKED: u64 = 4;
/// Of a file that takes long to decompress, or to fetch, the part of it that is read for the sample; and how many times the
/// sample that may be at most.
const BEGINNING: (u64, u64) = (16, 16);
/// Bytes of text that stand together where it is spread.
const PIECE: u64 = STRETCH;
/// Longest record of the sample, in bytes: what a longer one would add takes much memory, and each of its shingles is met
/// once.
const LONGEST: usize = 1 << 20;

/// The rarity table of an input: stretches spread evenly over the files, each text counted once. All that comes before a place
/// in a compressed file has to be decompressed to reach it: the sample is spread over files for which that takes little time, and
/// over the beginnings of others. Threads share the stretches; their findings are put together in document order, so the table does
/// not depend on their number. About `most` bytes of text
/// are read, if that is more than the least size of a sample: small inputs have the same table whatever the memory.
pub fn sample_rarity(
    sources: &[Source],
    fields: &Arc<Fields>,
    config: &Config,
    lexicon: Option<&Arc<Lexicon>>,
    simd: Simd,
    threads: usize,
    most: u64,
) -> Result<Rarity> {
    let chosen = choose(sources, most);
    let longest = fields.max_record_bytes.min(LONGEST);
    let fields = &Arc::new(Fields { max_record_bytes: longest, ..(**fields).clone() });
    let part = chosen.len().div_ceil(threads).max(1);
    let samples: Result<Vec<Sample>> = std::thread::scope(|scope| {
        let read = |units: &[SampledUnit]| -> Result<Sample> {
            let mut sample = Sample::new(Sketcher::new(
                config,
                &FrozenTables { lexicon: lexicon.cloned(), ..FrozenTables::default() },
                simd,
            ));
            let mut earlier = None;
            for chosen in units {
                read_stretch(sources, chosen, fields, &mut earlier, &mut sample)?;
            }
            Ok(sample)
        };
        let mut parts = chosen.chunks(part);
        let own = parts.next().unwrap_or_default();
        let others: Vec<_> = parts.map(|units| scope.spawn(move || read(units))).collect();
        let panicked = |_| Err(Error::Worker("a thread that samples the input panicked".into()));
        let joined = others.into_iter().map(|thread| thread.join().unwrap_or_else(panicked));
        std::iter::once(read(own)).chain(joined.collect::<Vec<_>>()).collect()
    });
    let samples = samples?;
    let mut seen = HashSet::new();
    let mut sets: Vec<&[u64]> = Vec::new();
    for sample in &samples {
        let mut rest = sample.shingles.as_slice();
        for (digest, count) in &sample.texts {
            let set;
            (set, rest) = rest.split_at(*count);
            if seen.insert(*digest) {
                sets.push(set);
            }
        }
    }
    Ok(Rarity::of_sample(&sets))
}

/// A unit of which some is in the sample, and how much.
struct SampledUnit {
    unit: Unit,
    /// At most about so many bytes of text are.
    most: u64,
    /// Of so many pieces of the text one is.
    spread: u64,
}

/// What the sample consists of, of at most `most` bytes, or of the least there is: stretches spread evenly over all text.
fn choose(sources: &[Source], most: u64) -> Vec<SampledUnit> {
    let all = sources.iter().map(text_bytes).fold(0, u64::saturating_add);
    let sample =
        SampleSize { bytes: (all / SAMPLE.2).clamp(SAMPLE.0, SAMPLE.1.min(most).max(SAMPLE.0)), all };
    let (mut chosen, mut begin) = (Vec::new(), 0u64);
    for (file, source) in (0u32..).zip(sources) {
        let text = begin..begin.saturating_add(text_bytes(source));
        begin = text.end;
        if source.compression != Compression::None {
            chosen.extend(of_compressed(file, source, &text, &sample));
        } else if begins_anywhere(source) {
            chosen.extend(of_lines(file, source, &text, &sample));
        } else {
            chosen.extend(of_units(file, source, &text, &sample));
        }
    }
    chosen
}

/// What the sample takes of lines that are at hand: stretches wherever they fall.
fn of_lines(
    file: u32,
    source: &Source,
    text: &Range<u64>,
    sample: &SampleSize,
) -> impl Iterator<Item = SampledUnit> {
    let stretch = STRETCH.max(sample.bytes / STRETCHES);
    let (begin, length) = (text.start, source.length());
    sample.hits(text, stretch).map(move |hit| {
        let start = hit - begin;
        let unit = Unit { file, start, end: length.min(start + stretch) };
        SampledUnit { unit, most: stretch, spread: 1 }
    })
}

/// What the sample takes of a file in which units begin at certain places, or which is one unit: some from the beginning of some units.
fn of_units(
    file: u32,
    source: &Source,
    text: &Range<u64>,
    sample: &SampleSize,
) -> impl Iterator<Item = SampledUnit> {
    let units = units(std::slice::from_ref(source), Extent::ALL, LONG_STRETCH);
    units.into_iter().filter_map(move |unit| {
        let at = |place| text.start.saturating_add(source.bytes_of_places(place));
        let part = at(unit.start)..at(unit.end);
        let stretch = (part.end - part.start).clamp(STRETCH, LONG_STRETCH);
        let hits = sample.hits(&part, stretch).count() as u64;
        let unit = Unit { file, ..unit };
        (hits > 0).then_some(SampledUnit { unit, most: hits * stretch, spread: 1 })
    })
}

/// What the sample takes of a compressed file. Of one that is soon decompressed it takes pieces of all of it, else of its beginning.
fn of_compressed(file: u32, source: &Source, text: &Range<u64>, sample: &SampleSize) -> Option<SampledUnit> {
    let bytes = text.end - text.start;
    let stretch = bytes.clamp(STRETCH, LONG_STRETCH);
    let hits = sample.hits(text, stretch).count() as u64;
    if hits == 0 {
        return None;
    }
    let (share, stands_for) = (hits * stretch, bytes / stretch);
    let (most, spread) = match is_soon_at_end(source) {
        // How much text there is shows only at its end.
        true => (2 * share, (stands_for / hits).max(1)),
        false => (share, (stands_for / BEGINNING.0 / hits).clamp(1, BEGINNING.1)),
    };
    Some(SampledUnit { unit: Unit { file, start: 0, end: u64::MAX }, most, spread })
}

/// Bytes of text that a source has, about.
fn text_bytes(source: &Source) -> u64 {
    match source.compression {
        Compression::None => source.bytes_of_places(source.length()),
        _ => source.bytes.saturating_mul(UNPACKED),
    }
}

/// How large the sample is, and all text together, in bytes.
struct SampleSize {
    bytes: u64,
    all: u64,
}

impl SampleSize {
    /// Where, of stretches of so many bytes that the sample would consist of, those begin that do so in a part of all text. In a part of
    /// a few bytes one hardly ever does: each has to be opened.
    fn hits(&self, part: &Range<u64>, stretch: u64) -> impl Iterator<Item = u64> + use<> {
        let apart = u128::from(stretch) * u128::from(self.all) / u128::from(self.bytes);
        let apart = u64::try_from(apart).unwrap_or(u64::MAX).max(stretch);
        // Not quite at even distances: of lines of one length, each stretch or none would have the beginning of one. Of neighbours the second is
        // shifted by at most two fifths less.
        let free = u128::from(if apart < 2 * stretch { apart - stretch + 1 } else { apart });
        let place = move |number: u64| {
            let shift = (u128::from(number.wrapping_mul(GOLDEN)) * free) >> u64::BITS;
            number.saturating_mul(apart).saturating_add(shift as u64)
        };
        let part = part.clone();
        let numbers = part.start / apart..part.end.div_ceil(apart);
        numbers.map(place).filter(move |place| part.contains(place))
    }
}

/// Whether it takes little time to decompress a file, beside what is done with its texts.
fn is_soon_at_end(source: &Source) -> bool {
    let fast = matches!(source.compression, Compression::Gzip | Compression::Lz4 | Compression::Zstd);
    fast && !source.is_remote()
}

/// Reads what the sample takes of a unit.
fn read_stretch(
    sources: &[Source],
    chosen: &SampledUnit,
    fields: &Arc<Fields>,
    earlier: &mut Option<UnitReader>,
    sample: &mut Sample,
) -> Result<()> {
    let source = &sources[chosen.unit.file as usize];
    let mut reader = UnitReader::open_after(earlier, source, &chosen.unit, Arc::clone(fields));
    let end = sample.bytes + chosen.most;
    // A page of columns may hold as many rows as several stretches.
    sample.most = if source.is_of_rows() { end } else { u64::MAX };
    (sample.passed, sample.spread, sample.is_asked) = (0, chosen.spread, false);
    while reader.advance(sample)? && sample.bytes < end {}
    *earlier = reader.at_hand();
    Ok(())
}

/// The shingles of some texts, one text after the other.
struct Sample {
    sketcher: Sketcher,
    /// Digest and number of shingles of each text.
    texts: Vec<(Digest, usize)>,
    shingles: Vec<u64>,
    bytes: u64,
    /// Bytes with which nothing more is taken.
    most: u64,
    /// Bytes of records of the unit so far, and of how many pieces of them one is taken.
    passed: u64,
    spread: u64,
    /// Whether the next document is one of them for certain.
    is_asked: bool,
}

impl Sample {
    fn new(sketcher: Sketcher) -> Sample {
        let (texts, shingles) = (Vec::new(), Vec::new());
        Sample { sketcher, texts, shingles, bytes: 0, most: u64::MAX, passed: 0, spread: 1, is_asked: false }
    }
}

impl Sink for Sample {
    fn document(&mut self, record: &Record<'_>) {
        // Not all formats ask before they parse.
        let is_passed = !std::mem::take(&mut self.is_asked) && self.skips_next(record.text.len());
        self.is_asked = false;
        if is_passed || self.bytes >= self.most {
            return;
        }
        self.bytes += record.text.len() as u64;
        if let Some(digest) = self.sketcher.read(record.text, Day::None) {
            let set = self.sketcher.distinct();
            self.texts.push((digest, set.len()));
            // What is freed here is to go back to the system, and not to stay between what the run holds.
            reserve_apart(&mut self.shingles, set.len());
            self.shingles.extend_from_slice(set);
        }
    }

    fn refuse(&mut self, _: Position, _: u32, _: Refusal) {}

    fn skips_next(&mut self, bytes: usize) -> bool {
        let piece = self.passed / PIECE;
        self.passed += bytes as u64;
        self.is_asked = piece.is_multiple_of(self.spread);
        !self.is_asked
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::read::{Format, Input, discover};

    /// Lines of texts of their own, at the end of each of which stands which part of the file it is in.
    fn lines(parts: u64) -> String {
        let line = |at: u64| {
            let words: Vec<String> = (0..6).map(|word| format!("word{}x{word}", at * 7919)).collect();
            format!("{{\"text\": \"{} part{}\"}}\n", words.join(" "), at * parts / 400)
        };
        (0..400).map(line).collect()
    }

    fn sources(folder: &std::path::Path, name: &str, content: &[u8]) -> Vec<Source> {
        let path = folder.join(name);
        std::fs::write(&path, content).expect("written");
        discover(&[path.to_str().expect("UTF-8").to_owned()], folder).expect("found").sources
    }

    /// The texts that the sample takes of a file, by the part that they are in, and all bytes of it.
    fn taken(sources: &[Source], spread: u64) -> (Vec<u64>, u64) {
        struct Parts(Sample, Vec<u64>);
        impl Sink for Parts {
            fn document(&mut self, record: &Record<'_>) {
                let before = self.0.bytes;
                self.0.document(record);
                if self.0.bytes > before {
                    let part = record.text.rsplit_once("part").expect("a part").1;
                    self.1.push(part.parse().expect("a number"));
                }
            }
            fn refuse(&mut self, _: Position, _: u32, _: Refusal) {}
            fn skips_next(&mut self, bytes: usize) -> bool {
                self.0.skips_next(bytes)
            }
        }
        let config = Config::default();
        let sketcher = Sketcher::new(&config, &FrozenTables::default(), Simd::detect());
        let mut parts = Parts(Sample { spread, ..Sample::new(sketcher) }, Vec::new());
        let fields = Arc::new(Fields::of(&Input::default()).expect("fields"));
        for unit in units(sources, Extent::ALL, u64::MAX) {
            let mut reader = UnitReader::open(0, &sources[0], &unit, Arc::clone(&fields));
            while reader.advance(&mut parts).expect("read") {}
        }
        (parts.1, parts.0.bytes)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// The sample is a part of all, and as many of it are in one part of a file as in another.
        #[test]
        fn a_sample_is_spread_over_all_of_a_file(spread in 1u64..5) {
            let folder = tempfile::tempdir().expect("a folder");
            // Many pieces in any case.
            let content: String = lines(4).repeat(if PIECE > 64 { 100 } else { 1 });
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(content.as_bytes()).expect("packed");
            let packed = packed.finish().expect("packed");
            let of = |name: &str, content: &[u8]| taken(&sources(folder.path(), name, content), spread);
            let (plain, gzip) = (of("a.jsonl", content.as_bytes()), of("a.jsonl.gz", &packed));
            prop_assert_eq!(&plain, &gzip);
            let all = 400 * if PIECE > 64 { 100 } else { 1 };
            let share = plain.0.len() as f64 * spread as f64 / all as f64;
            prop_assert!((0.8..1.25).contains(&share), "{share}");
            for part in 0..4 {
                let here = plain.0.iter().filter(|found| **found == part).count() as f64 / plain.0.len() as f64;
                prop_assert!((0.15..0.35).contains(&here), "{here} of part {part}");
            }
        }
    }

    proptest! {
        /// However the text is divided into files, about as much of it is in the sample, of each file in proportion.
        #[test]
        fn files_have_a_share_of_the_sample_by_their_bytes(
            sizes in proptest::collection::vec(1..64 * LONG_STRETCH, 1..20),
            small in 0..2000u64,
            is_text in any::<bool>(),
            most in prop_oneof![Just(u64::MAX), SAMPLE.0 / 8..SAMPLE.1],
        ) {
            let of = |format, bytes| Source { bytes, ..Source::new("x".into(), format, Compression::None, bytes) };
            let format = if is_text { Format::Text } else { Format::JsonLines };
            let mut sources: Vec<Source> = (0..small).map(|at| of(format, 1 + at * 7919 % LONG_STRETCH)).collect();
            sources.extend(sizes.iter().map(|bytes| of(Format::JsonLines, *bytes)));
            let all: u64 = sources.iter().map(|source| source.bytes).sum();
            let wanted = (all / SAMPLE.2).clamp(SAMPLE.0, SAMPLE.1.min(most).max(SAMPLE.0)).min(all) as f64;
            let chosen = choose(&sources, most);
            prop_assert!(chosen.is_sorted_by_key(|one| (one.unit.file, one.unit.start)));
            let bytes = |of: &[SampledUnit]| of.iter().map(|one| one.unit.end - one.unit.start).sum::<u64>() as f64;
            for pair in chosen.windows(2).filter(|pair| pair[0].unit.file == pair[1].unit.file) {
                prop_assert!(pair[0].unit.end <= pair[1].unit.start);
            }
            // Stretches of lines may go beyond the least length where there would be too many, and small files are either taken or not.
            let (taken, longest) = (bytes(&chosen), LONG_STRETCH as f64);
            prop_assert!((taken - wanted).abs() < 0.2 * wanted + 20.0 * longest, "{taken} of {wanted}");
            let few: u64 = sources[..small as usize].iter().map(|source| source.bytes).sum();
            let of_small = chosen.partition_point(|one| u64::from(one.unit.file) < small);
            let (taken, wanted) = (bytes(&chosen[..of_small]), wanted * few as f64 / all as f64);
            prop_assert!((taken - wanted).abs() < 0.4 * wanted + 8.0 * longest, "{taken} of {wanted} of small files");
        }
    }

    /// Lines that are all as long as stretches are apart: as many begin in the sample as its bytes let one expect.
    #[test]
    fn lines_of_one_length_have_their_share() {
        for long in [3, 64, 1000] {
            let bytes = 64 * SAMPLE.0;
            let size = SampleSize { bytes: SAMPLE.0, all: bytes };
            let line = long * STRETCH;
            let begins = |start: u64| start.next_multiple_of(line) < start + STRETCH;
            let found = size.hits(&(0..bytes), STRETCH).filter(|start| begins(*start)).count() as u64;
            let wanted = SAMPLE.0 / line;
            assert!(found.abs_diff(wanted) <= 2 + wanted / 4, "{found} of {wanted}, {long}");
        }
    }

    #[test]
    fn a_compressed_file_stands_for_what_is_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |compression, bytes| {
            let mut source = sources(folder.path(), "a.jsonl", b"{}\n").remove(0);
            (source.compression, source.bytes) = (compression, bytes);
            source
        };
        let bytes = 400 * LONG_STRETCH;
        let chosen = |compression, bytes| {
            let chosen = choose(&[of(compression, bytes)], u64::MAX);
            chosen.iter().map(|chosen| (chosen.most, chosen.spread)).collect::<Vec<_>>()
        };
        let plain = chosen(Compression::None, bytes);
        assert!(plain.len() > 4 && plain.iter().all(|one| *one == (STRETCH, 1)), "{plain:?}");
        // As much is taken of it, of all that there is; of what takes long, near its beginning.
        let zstd = chosen(Compression::Zstd, bytes / UNPACKED);
        let share = zstd[0].0 / 2;
        let (hits, of_plain) = (share / LONG_STRETCH, plain.len() as u64 * STRETCH);
        assert!(share.abs_diff(of_plain) <= LONG_STRETCH, "{share} and {of_plain}");
        let every = 400 / hits;
        assert_eq!(zstd, [(2 * share, every)]);
        assert_eq!(chosen(Compression::Xz, bytes / UNPACKED), [(share, (every / BEGINNING.0).max(1))]);
        assert_eq!(chosen(Compression::Gzip, 1), [(2 * STRETCH, 1)]);
    }
}
