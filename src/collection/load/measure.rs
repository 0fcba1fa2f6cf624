//! Measuring pairs of a load's hot groups: each pair once, and each set read about once.

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

use crate::document::Doc;
use crate::error::Result;
use crate::flow::{DocumentSets, Share};
use crate::limits::sized;
use crate::similarity::AcceptanceRule;

/// Members of sets that are kept at hand, if the memory has room for them.
const MOST: usize = sized(8 << 20, 1 << 10);
/// Bytes of a pair that is remembered: a table may be half empty.
const PAIR: usize = 4 * size_of::<(Doc, Doc)>();

/// Remembers sets, and pairs that are not linked, as far as there is room: what is forgotten is read or measured again.
pub struct Measuring<'a> {
    run: &'a DocumentSets,
    sets: HashMap<Doc, Rc<[u64]>>,
    /// Most members of sets, and how many are held.
    most: usize,
    held: usize,
    apart: HashSet<(Doc, Doc)>,
    /// Most pairs of these.
    most_apart: usize,
    scratch: Vec<u64>,
}

impl<'a> Measuring<'a> {
    /// Nothing measured yet.
    pub fn new(run: &'a DocumentSets) -> Measuring<'a> {
        // By now the dataflow is done, and its sets are all that is held of those.
        let room = usize::try_from(run.context.memory.budget.whole(Share::Sets)).unwrap_or(usize::MAX);
        let most = MOST.min(room / 2 / size_of::<u64>());
        let most_apart = most * size_of::<u64>() / PAIR;
        let (sets, apart) = (HashMap::new(), HashSet::new());
        Measuring { run, sets, most, held: 0, apart, most_apart, scratch: Vec::new() }
    }

    /// The size of a content's set.
    pub fn size(&self, content: Doc) -> u32 {
        self.run.size(content)
    }

    /// What two contents share, if they are linked.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`], and what stops the run.
    pub fn linked(&mut self, a: Doc, b: Doc) -> Result<Option<u32>> {
        let pair = (a.min(b), a.max(b));
        let allows = |rule: &AcceptanceRule| rule.own().allows(self.run.size(a), self.run.size(b));
        let may = self.run.context.rule.filter(allows);
        let Some(rule) = may.filter(|_| !self.apart.contains(&pair) && !self.run.are_unlike(a, b)) else {
            return Ok(None);
        };
        // Of a group of many thousands there may be hours of pairs.
        self.run.context.status.progress.check()?;
        let (x, y) = (self.set(a)?, self.set(b)?);
        let measure = rule.measure(&x, &y);
        if measure.is_none() {
            if self.apart.len() >= self.most_apart {
                self.apart.clear();
            }
            self.apart.insert(pair);
        }
        Ok(measure.map(|measure| measure.shared))
    }

    fn set(&mut self, content: Doc) -> Result<Rc<[u64]>> {
        if let Some(set) = self.sets.get(&content) {
            return Ok(Rc::clone(set));
        }
        if self.held > self.most {
            self.sets.clear();
            self.held = 0;
        }
        let set: Rc<[u64]> = self.run.set(content, &mut self.scratch)?.into();
        self.held += set.len();
        self.sets.insert(content, Rc::clone(&set));
        Ok(set)
    }
}
