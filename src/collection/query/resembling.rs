//! Which stored contents any sets resemble: their keys probed, what they meet measured.

use std::cell::Cell;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::collection::query::met::{AskedSet, MEETING_ROOM, Meeting, MeetingRoom, Met, Pass};
use crate::collection::tables::Tables;
use crate::collection::tables::dead::Dead;
use crate::collection::tables::postings::PostingForm;
use crate::collection::tables::sets::signatures::each_signature;
use crate::collection::tables::sets::{SetCursor, each_set_by, salts};
use crate::config::Config;
use crate::document::Doc;
use crate::error::Result;
use crate::limits::sized;
use crate::method::FrozenTables;
use crate::progress::Progress;
use crate::simd::Simd;
use crate::similarity::{AcceptanceRule, Measure, overlap};
use crate::sketch::{may_differ_by, sign};
use crate::sketcher::Sketcher;

/// Finds stored contents by sets, with what that takes.
pub struct Resembling {
    tables: Tables,
    form: PostingForm,
    sketcher: Sketcher,
    rule: Option<AcceptanceRule>,
    /// The rule of whose sketches the method's own words are signed, if they are.
    signed: Option<AcceptanceRule>,
    dead: Arc<Dead>,
    /// How much is held of what sets meet.
    room: MeetingRoom,
    /// How many postings were read.
    read: Cell<u64>,
    /// What sets are read with: whoever asks again and again asks for neighbours.
    reading: (SetCursor, Vec<u64>),
}

/// Words for which there is room after a long set.
const ROOM: usize = sized(1 << 16, 8);

/// Most bytes taken to know which contents are dead, where nobody has said how much memory there is.
const MOST: u64 = 64 << 20;

/// Takes what the next few sets are linked to.
type EachLinked<'a> = dyn FnMut(Vec<Vec<(Doc, Measure)>>) -> Result<()> + 'a;

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
        let dead = Arc::new(Dead::of(tables, next, MOST)?);
        Ok(Resembling::beside(tables, dead, config, frozen_tables))
    }

    /// The same where the dead contents of the tables are known.
    pub fn beside(
        tables: &Tables,
        dead: Arc<Dead>,
        config: &Config,
        frozen_tables: &FrozenTables,
    ) -> Resembling {
        let (sketcher, rule) = (Sketcher::new(config, frozen_tables, Simd::Scalar), config.rule());
        let (form, room, signed) = (PostingForm::of(config), MEETING_ROOM, config.signed());
        let (tables, read, reading) = (tables.clone(), Cell::new(0), Default::default());
        Resembling { tables, form, sketcher, rule, signed, dead, room, read, reading }
    }

    /// How many postings were read for sets that were held against others, all in all.
    pub fn postings_read(&self) -> u64 {
        self.read.get()
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
        let mut linked = Vec::with_capacity(sets.len());
        self.each(sets, wanted, progress, &mut |some| {
            linked.extend(some);
            Ok(())
        })?;
        Ok(linked)
    }

    /// The same, but what sets are linked to is handed on a few sets at a time, in their order: held is what one may be linked to, and
    /// little more.
    ///
    /// # Errors
    /// Those of [`Resembling::to`], and of `each`.
    pub fn each(
        &mut self,
        sets: &[AskedSet<'_>],
        wanted: &dyn Fn(Doc) -> bool,
        progress: &Progress,
        each: &mut EachLinked<'_>,
    ) -> Result<()> {
        progress.check()?;
        let mut linked = vec![Vec::new(); sets.len()];
        let mut pass = self.rule.map(|rule| (rule, Pass::FIRST));
        while let Some((rule, now)) = pass {
            let (tables, dead, form, room, read) =
                (&self.tables, &*self.dead, self.form, self.room, &self.read);
            let meeting = Meeting { tables, form, dead, wanted, rule, room, read, progress };
            let (met, next) = meeting.pass(&mut self.sketcher, sets, now)?;
            let behind = sets.len() - linked.len();
            self.measure(rule, met, (sets, behind), &mut linked, progress)?;
            // The first set that the next pass looks at may have been looked at in part.
            let rest = next.map_or_else(Vec::new, |next| linked.split_off(next.first() - behind));
            let mut done = std::mem::replace(&mut linked, rest);
            done.iter_mut().for_each(|linked| linked.sort_unstable_by_key(|(content, _)| *content));
            if !done.is_empty() {
                each(done)?;
            }
            pass = next.map(|next| (rule, next));
        }
        // Methods without a rule link nothing.
        if linked.is_empty() { Ok(()) } else { each(linked) }
    }

    /// Adds those of ascending pairs that the rule links to what sets are linked to, of which so many are behind.
    fn measure(
        &mut self,
        rule: AcceptanceRule,
        met: Vec<Met>,
        (sets, behind): (&[AskedSet<'_>], usize),
        linked: &mut [Vec<(Doc, Measure)>],
        progress: &Progress,
    ) -> Result<()> {
        let pairs = self.perhaps_alike(met, sets)?;
        let (of_content, contents) = by_content(&pairs);
        let (cursor, read) = &mut self.reading;
        each_set_by(&self.tables, &contents, &|_| true, (cursor, read), &mut |at, set| {
            progress.check()?;
            for (content, number, _) in of_content[at] {
                let number = *number as usize;
                let measure = rule.measure(sets[number].words, set);
                linked[number - behind].extend(measure.map(|measure| (*content, measure)));
            }
            Ok(())
        })?;
        read.clear();
        read.shrink_to(ROOM);
        Ok(())
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
                if needed.is_none_or(|needed| !may_differ_by(Simd::Scalar, most(needed), of_own, of_stored)) {
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
}

#[cfg(test)]
#[path = "resembling_tests.rs"]
mod tests;
