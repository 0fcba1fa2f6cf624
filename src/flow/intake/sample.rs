//! The sample of the inputs that the rarity table is made of.

use crate::limits::sized;
use std::sync::Arc;

use hashbrown::HashSet;

use crate::config::Config;
use crate::document::Position;
use crate::error::{Error, Result};
use crate::lexicon::Lexicon;
use crate::method::FrozenTables;
use crate::read::{Day, Extent, Fields, Record, Refusal, Sink, Source, Unit, UnitReader, units};
use crate::simd::Simd;
use crate::sketch::Rarity;
use crate::sketcher::{Digest, Sketcher};

/// Bytes of a stretch of the sample.
const STRETCH: u64 = sized(256 << 10, 256);
/// Least and greatest size of the sample, in bytes, and its share of the input.
const SAMPLE: (u64, u64, u64) = sized((4 << 20, 64 << 20, 64), (4 << 10, 64 << 10, 64));
/// Longest record of the sample, in bytes: what a longer one would add takes much memory, and each of its shingles is met
/// once.
const LONGEST: usize = 1 << 20;

/// The rarity table of an input: stretches at even distances over the files, each text counted once. Threads share
/// the stretches; their findings are put together in document order, so the table does not depend on their number.
pub fn sample_rarity(
    sources: &[Source],
    fields: &Arc<Fields>,
    config: &Config,
    lexicon: Option<&Arc<Lexicon>>,
    simd: Simd,
    threads: usize,
) -> Result<Rarity> {
    let bytes: u64 = sources.iter().map(|source| source.bytes).sum();
    let wanted = (bytes / SAMPLE.2).clamp(SAMPLE.0, SAMPLE.1);
    let stretches = units(sources, Extent::ALL, STRETCH);
    let every = stretches.len().div_ceil((wanted / STRETCH) as usize).max(1);
    let chosen: Vec<&Unit> = stretches.iter().step_by(every).collect();
    let longest = fields.max_record_bytes.min(LONGEST);
    let fields = &Arc::new(Fields { max_record_bytes: longest, ..(**fields).clone() });
    let part = chosen.len().div_ceil(threads).max(1);
    let samples: Result<Vec<Sample>> = std::thread::scope(|scope| {
        let read = |units: &[&Unit]| -> Result<Sample> {
            let mut sample = Sample::new(Sketcher::new(
                config,
                &FrozenTables { lexicon: lexicon.cloned(), ..FrozenTables::default() },
                simd,
            ));
            let mut earlier = None;
            for unit in units {
                read_stretch(&sources[unit.file as usize], unit, fields, &mut earlier, &mut sample)?;
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
    let (mut seen, mut shingles) = (HashSet::new(), Vec::new());
    for sample in samples? {
        let mut rest = sample.shingles.as_slice();
        for (digest, count) in sample.texts {
            let set;
            (set, rest) = rest.split_at(count);
            if seen.insert(digest) {
                shingles.extend_from_slice(set);
            }
        }
    }
    Ok(Rarity::of_sample(shingles))
}

/// Reads one stretch; of a file that can only be read whole, about as much from its start.
fn read_stretch(
    source: &Source,
    unit: &Unit,
    fields: &Arc<Fields>,
    earlier: &mut Option<UnitReader>,
    sample: &mut Sample,
) -> Result<()> {
    let mut reader = UnitReader::open_after(earlier, source, unit, Arc::clone(fields));
    let before = sample.bytes;
    // A page of columns may hold as many rows as several stretches.
    sample.most = if source.is_of_rows() { before + STRETCH } else { u64::MAX };
    while reader.advance(sample)? && sample.bytes < before + STRETCH {}
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
}

impl Sample {
    fn new(sketcher: Sketcher) -> Sample {
        Sample { sketcher, texts: Vec::new(), shingles: Vec::new(), bytes: 0, most: u64::MAX }
    }
}

impl Sink for Sample {
    fn document(&mut self, record: &Record<'_>) {
        if self.bytes >= self.most {
            return;
        }
        self.bytes += record.text.len() as u64;
        if let Some(digest) = self.sketcher.read(record.text, Day::None) {
            let set = self.sketcher.distinct();
            self.texts.push((digest, set.len()));
            self.shingles.extend_from_slice(set);
        }
    }

    fn refuse(&mut self, _: Position, _: u32, _: Refusal) {}
}
