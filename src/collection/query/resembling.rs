//! Which stored contents any sets resemble: their keys probed, what they meet measured.

use hashbrown::HashMap;

use crate::collection::tables::Tables;
use crate::collection::tables::dead::Dead;
use crate::collection::tables::postings::{PostingForm, live_postings};
use crate::collection::tables::sets::signatures::each_signature;
use crate::collection::tables::sets::{SetCursor, each_set_by, salts};
use crate::config::Config;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::Posting;
use crate::limits::sized;
use crate::method::FrozenTables;
use crate::progress::Progress;
use crate::simd::Simd;
use crate::similarity::{AcceptanceRule, Measure, overlap};
use crate::sketch::{both_keys, indexes, least_difference, sign, spread};
use crate::sketcher::Sketcher;

/// Finds stored contents by sets, with what that takes.
pub struct Resembling {
    tables: Tables,
    form: PostingForm,
    sketcher: Sketcher,
    rule: Option<AcceptanceRule>,
    /// The rule of whose sketches the method's own words are signed, if they are.
    signed: Option<AcceptanceRule>,
    dead: Dead,
    /// How many postings were met.
    met: u64,
    /// What sets are read with: whoever asks again and again asks for neighbours.
    reading: (SetCursor, Vec<u64>),
}

/// Words for which there is room after a long set.
const ROOM: usize = sized(1 << 16, 8);

/// Most bytes taken to know which contents are dead.
const MOST: u64 = 64 << 20;

/// A set that is asked about, and what makes its keys differ from those of contents that it is not to be compared with.
#[derive(Clone, Copy, Debug)]
pub struct AskedSet<'a> {
    /// The words of its sketch.
    pub words: &'a [u64],
    /// 0 where all documents are compared.
    pub salt: u64,
}

/// A key under which stored contents are sought, and whether the own set is indexed by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SoughtKey {
    key: u64,
    indexing: bool,
}

/// The same with the number of the own set.
type Sought = (SoughtKey, u32);

/// The keys under which contents are sought that have a posted key of a set; `indexed` if it tells whether it indexes the set.
/// Contents that are no larger have to be indexed by it themselves.
fn sought(posted: u64, indexed: bool) -> impl Iterator<Item = SoughtKey> {
    let [all, first] = both_keys(posted);
    let indexing = indexed && indexes(posted);
    let own = if indexed { first } else { posted };
    let others = indexing.then_some(all);
    std::iter::once(own).chain(others).map(move |key| SoughtKey { key, indexing })
}

/// A stored content that shares a key with a set: the content, the number of the set, the size of the content's set.
type Met = (Doc, u32, u32);

/// Ascending pairs by content, and the contents.
fn by_content(pairs: &[Met]) -> (Vec<&[Met]>, Vec<u64>) {
    let of_content: Vec<&[Met]> = pairs.chunk_by(|a, b| a.0 == b.0).collect();
    let contents = of_content.iter().map(|pairs| u64::from(pairs[0].0)).collect();
    (of_content, contents)
}

impl Resembling {
    /// What finds contents of these tables, all below `next`, given the frozen order of shingles.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`].
    pub fn new(
        tables: &Tables,
        next: Doc,
        config: &Config,
        frozen_tables: &FrozenTables,
    ) -> Result<Resembling> {
        let (sketcher, rule) = (Sketcher::new(config, frozen_tables, Simd::Scalar), config.rule());
        let dead = Dead::of(tables, next, MOST)?;
        let form = PostingForm::of(config);
        let (tables, signed, reading) = (tables.clone(), config.signed(), Default::default());
        Ok(Resembling { tables, form, sketcher, rule, signed, dead, met: 0, reading })
    }

    /// How many postings of live contents [`Resembling::to`] has read, all in all.
    pub fn met(&self) -> u64 {
        self.met
    }

    /// For each set the live contents, of those that are `wanted`, that the rule links it to, ascending, with their
    /// measures: those whose own set it is are among them.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`], [`crate::error::Error::Io`] and [`crate::error::Error::Interrupted`].
    pub fn to(
        &mut self,
        sets: &[AskedSet<'_>],
        wanted: &dyn Fn(Doc) -> bool,
        progress: &Progress,
    ) -> Result<Vec<Vec<(Doc, Measure)>>> {
        let mut linked = vec![Vec::new(); sets.len()];
        let Some(rule) = self.rule else { return Ok(linked) };
        progress.check()?;
        let met = self.meet(sets, wanted)?;
        let pairs = met.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        let pairs = pairs.filter(|same| {
            rule.is_enough(same.len() as u32, rule.posted(sets[same[0].1 as usize].words), same[0].2)
        });
        let pairs = self.perhaps_alike(pairs.map(|same| same[0]).collect(), sets)?;
        let (of_content, contents) = by_content(&pairs);
        let (cursor, read) = &mut self.reading;
        each_set_by(&self.tables, &contents, &|_| true, (cursor, read), &mut |at, set| {
            progress.check()?;
            for (content, number, _) in of_content[at] {
                let number = *number as usize;
                let measure = rule.measure(sets[number].words, set);
                linked[number].extend(measure.map(|measure| (*content, measure)));
            }
            Ok(())
        })?;
        read.clear();
        read.shrink_to(ROOM);
        linked.iter_mut().for_each(|linked| linked.sort_unstable_by_key(|(content, _)| *content));
        Ok(linked)
    }

    /// Those of ascending pairs whose signatures, if there are any, leave room for as much as the rule wants to be shared. Of most
    /// contents that are met no set need be read by that.
    fn perhaps_alike(&self, mut pairs: Vec<Met>, sets: &[AskedSet<'_>]) -> Result<Vec<Met>> {
        let Some((signed, rule)) = self.signed.zip(self.rule) else { return Ok(pairs) };
        let (of_content, contents) = by_content(&pairs);
        let mut unlike = Vec::new();
        let mut own: HashMap<u32, Vec<u64>> = HashMap::new();
        each_signature(&self.tables, &contents, &mut |at, of_stored| {
            for pair in of_content[at] {
                let (_, number, stored) = *pair;
                let words = sets[number as usize].words;
                let of_own = own.entry(number).or_insert_with(|| {
                    let mut signature = Vec::new();
                    sign(signed.own_words(words), &mut signature);
                    signature
                });
                let size = rule.posted(words);
                let most = |needed| u64::from(size) + u64::from(stored) - 2 * needed;
                let needed = rule.own().needed(size, stored);
                if needed.is_none_or(|needed| least_difference(of_own, of_stored) > most(needed)) {
                    unlike.push(*pair);
                }
            }
        })?;
        unlike.sort_unstable();
        pairs.retain(|pair| unlike.binary_search(pair).is_err());
        Ok(pairs)
    }

    /// The contents, of ascending ones, that the rule links a set to, with their measures. All are looked at, one after the
    /// other: for a few that costs less than the postings of the set's keys.
    ///
    /// # Errors
    /// Those of [`Resembling::to`].
    pub fn among(
        &mut self,
        asked: AskedSet<'_>,
        few: &[u64],
        progress: &Progress,
    ) -> Result<Vec<(Doc, Measure)>> {
        let Some(rule) = self.rule else { return Ok(Vec::new()) };
        progress.check()?;
        let set = asked.words;
        let salts = salts(&self.tables, few)?;
        let comparable = few.iter().zip(salts).filter(|(_, salt)| *salt == asked.salt);
        let few: Vec<u64> = comparable.map(|(content, _)| *content).collect();
        let join = rule.has_prefixes() || rule.all_of_larger().is_some();
        let size = rule.posted(set);
        // Then the words of a sketch are as many as its keys are posted with.
        let sized = join && rule.is_sized();
        let mut linked = Vec::new();
        let (tables, (mut cursor, mut read)) = (self.tables.clone(), std::mem::take(&mut self.reading));
        let may = |other| !sized || rule.own().allows(size, other);
        let measured = each_set_by(&tables, &few, &may, (&mut cursor, &mut read), &mut |at, other| {
            // All that `join` links shares a key.
            if join || self.share_enough(rule, set, other) {
                linked.extend(rule.measure(set, other).map(|measure| (few[at] as Doc, measure)));
            }
            Ok(())
        });
        read.clear();
        read.shrink_to(ROOM);
        self.reading = (cursor, read);
        measured.map(|()| linked)
    }

    /// Whether the keys that two sets share make them worth measuring.
    fn share_enough(&mut self, rule: AcceptanceRule, a: &[u64], b: &[u64]) -> bool {
        let mut sorted = |words| {
            let (keys, size) = self.sketcher.keys_of(words);
            let mut keys = keys.to_vec();
            keys.sort_unstable();
            keys.dedup();
            (keys, size)
        };
        let ((left, of_left), (right, of_right)) = (sorted(a), sorted(b));
        let shared = overlap(&left, &right) as u32;
        shared > 0 && rule.is_enough(shared, of_left, of_right)
    }

    /// What shares keys with the sets, an entry for each key, ascending. Where keys tell whether they index a set, the smaller
    /// of both is indexed by these.
    fn meet(&mut self, sets: &[AskedSet<'_>], wanted: &dyn Fn(Doc) -> bool) -> Result<Vec<Met>> {
        let indexed = self.rule.is_some_and(|rule| rule.all_of_larger().is_some());
        let (mut keys, mut sizes) = (Vec::new(), Vec::new());
        for (number, set) in (0..).zip(sets) {
            let (own, size) = self.sketcher.keys_of(set.words);
            sizes.push(size);
            let posted = own.iter().map(|key| spread(*key) ^ set.salt);
            keys.extend(posted.flat_map(|key| sought(key, indexed)).map(|key| (key, number)));
        }
        keys.sort_unstable();
        keys.dedup();
        let owners: Vec<&[Sought]> = keys.chunk_by(|a, b| a.0.key == b.0.key).collect();
        let distinct: Vec<u64> = owners.iter().map(|owners| owners[0].0.key).collect();
        let mut met: Vec<Met> = Vec::new();
        let mut found = Vec::new();
        live_postings(&self.tables, self.form, &distinct, &self.dead, &mut found)?;
        self.met += found.len() as u64;
        found.retain(|posting| wanted(posting.doc));
        let mut owners = owners.into_iter();
        for of_key in found.chunk_by(|a, b| a.key == b.key) {
            let owners = owners.find(|owners| owners[0].0.key == of_key[0].key).unwrap_or_default();
            for (sought, number) in owners {
                let size = sizes[*number as usize];
                let meets =
                    |p: &&Posting| !indexed || if p.size <= size { indexes(p.key) } else { sought.indexing };
                met.extend(of_key.iter().filter(meets).map(|p| (p.doc, *number, p.size)));
            }
        }
        met.sort_unstable();
        Ok(met)
    }
}
