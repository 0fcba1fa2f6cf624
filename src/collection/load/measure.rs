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

/// Remembers sets, and pairs that are not linked.
pub struct Measuring<'a> {
    run: &'a DocumentSets,
    sets: HashMap<Doc, Rc<[u64]>>,
    most: usize,
    held: usize,
    apart: HashSet<(Doc, Doc)>,
    scratch: Vec<u64>,
}

impl<'a> Measuring<'a> {
    /// Nothing measured yet.
    pub fn new(run: &'a DocumentSets) -> Measuring<'a> {
        // By now the dataflow is done, and its sets are all that is held of those.
        let room = usize::try_from(run.context.memory.budget.whole(Share::Sets)).unwrap_or(usize::MAX) / 8;
        let most = MOST.min(room);
        Measuring { run, sets: HashMap::new(), most, held: 0, apart: HashSet::new(), scratch: Vec::new() }
    }

    /// The size of a content's set.
    pub fn size(&self, content: Doc) -> u32 {
        self.run.size(content)
    }

    /// What two contents share, if they are linked.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn linked(&mut self, a: Doc, b: Doc) -> Result<Option<u32>> {
        let pair = (a.min(b), a.max(b));
        let allows = |rule: &AcceptanceRule| rule.own().allows(self.run.size(a), self.run.size(b));
        let may = self.run.context.rule.filter(allows);
        let Some(rule) = may.filter(|_| !self.apart.contains(&pair) && !self.run.are_unlike(a, b)) else {
            return Ok(None);
        };
        let (x, y) = (self.set(a)?, self.set(b)?);
        let measure = rule.measure(&x, &y);
        if measure.is_none() {
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
