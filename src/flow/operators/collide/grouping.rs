//! Postings that are sorted by key to groups of documents, addressed to the workers that own their members.

use std::sync::Arc;

use crate::document::Doc;
use crate::flow::distributed::topology::Topology;
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::budget::Share;
use crate::flow::memory::document_bits::set;
use crate::flow::operators::collide::addressed::AddressedGroups;
use crate::flow::operators::collide::hot_postings::{GroupSize, HotPostings, MOST_KEPT, docs, ends};
use crate::flow::records::Posting;
use crate::flow::results::gathered::Collided;
use crate::flow::results::hot_groups::HotGroup;
use crate::flow::second_collision::spared::HotKeys;
use crate::limits::{LARGE_HOT_GROUP, MAX_EXPANDED_GROUP, MAX_PAIRS_OF_MEMBER};
use crate::similarity::{AcceptanceRule, PairTest};

/// So many times as large is a hot group under keys that alone say little.
const WEAK_KEY_FACTOR: usize = 32;

/// How postings become groups.
pub struct KeyGrouping {
    /// Test whose size filter applies to pairs; `None` where sizes say nothing.
    sizes: Option<PairTest>,
    /// Contents a key may be in, 0 for any number.
    cap: usize,
    /// A group with more pairs than so many new contents have is a hot group.
    most_expanded: usize,
    /// Unless it has no more than so many for each member.
    most_of_member: usize,
    /// Whether new contents are paired with each other.
    among_new: bool,
    /// Members of a hot group that is kept whole. Members of smaller ones collide again.
    kept_whole: usize,
    /// What is noted of the members of hot groups that may collide again.
    hot_keys: Arc<HotKeys>,
    /// The postings of smaller hot groups, as long as they may be counted all the same.
    hot_postings: HotPostings,
    workers: usize,
    /// Whether a pair may be met that sizes tell apart: it is dropped when it has been counted.
    meets_more: bool,
    /// What goes out.
    pub addressed: AddressedGroups,
    following: Vec<u32>,
    /// The protected members of a group, and the others.
    apart: [Vec<Posting>; 2],
}

impl KeyGrouping {
    /// Groups as the configuration of a run wants them.
    pub fn of(sets: &DocumentSets) -> KeyGrouping {
        let context = &sets.context;
        let cap = context.cap_of_keys();
        let own = context.rule.map(AcceptanceRule::own);
        let sizes = own.filter(|own| own.limits_sizes());
        // A hot group is measured on sketches alone. Under a cap counts decide, and must be complete. Where many have a term in
        // common that are not alike, counting is cheaper than measuring up to much larger groups.
        //
        // Where members of hot groups collide again, a group may be hot even if every pair is asked for: they are found then.
        let collides_again = context.rule.is_some_and(AcceptanceRule::has_prefixes);
        let most_expanded = if cap > 0 || context.pairs && !collides_again {
            usize::MAX
        } else if own.is_some_and(PairTest::has_weak_keys) {
            MAX_EXPANDED_GROUP * WEAK_KEY_FACTOR
        } else {
            MAX_EXPANDED_GROUP
        };
        let kept_whole = match (collides_again, context.pairs) {
            (false, _) => 0,
            (true, false) => LARGE_HOT_GROUP,
            (true, true) => usize::MAX,
        };
        let among_new = context.compares_new();
        let room = context.memory.budget.part(Share::HotPostings) / size_of::<Posting>() as u64;
        // Each worker may be sent all that another one keeps.
        let room = usize::try_from(room).unwrap_or(usize::MAX).min(2 * MOST_KEPT / context.topology.all());
        KeyGrouping {
            kept_whole,
            most_of_member: if collides_again { MAX_PAIRS_OF_MEMBER } else { 0 },
            among_new,
            hot_postings: HotPostings::with_room(room),
            meets_more: collides_again,
            hot_keys: sets.hot_keys(),
            ..KeyGrouping::new(sizes, cap, most_expanded, context.topology)
        }
    }

    fn new(sizes: Option<PairTest>, cap: usize, most_expanded: usize, topology: Topology) -> KeyGrouping {
        KeyGrouping {
            sizes,
            cap,
            most_expanded,
            most_of_member: 0,
            among_new: true,
            kept_whole: 0,
            hot_keys: Arc::default(),
            hot_postings: HotPostings::with_room(MOST_KEPT),
            workers: topology.all(),
            meets_more: false,
            addressed: AddressedGroups::new(topology),
            following: Vec::new(),
            apart: Default::default(),
        }
    }

    /// Forms the groups of one bucket of sorted postings; what goes to whom is then in `addressed`.
    ///
    /// Within a key sizes ascend: once the size filter fails for a partner it fails for all after it. `stored` holds
    /// the postings of stored contents under the same keys, in the same order.
    pub fn form(&mut self, postings: &[Posting], mut stored: &[Posting], collided: &mut Collided) {
        for group in postings.chunk_by(|a, b| a.key == b.key) {
            let key = group[0].key;
            // One after another: most keys have none, and whoever seeks among all that are left waits for memory.
            let of_key = stored.iter().take_while(|posting| posting.key <= key).count();
            let (of_key, rest) = stored.split_at(of_key);
            stored = rest;
            self.form_one(group, of_key, collided);
        }
    }

    /// The same with protected documents among those of `postings`: they meet new documents as stored contents do. Where a group
    /// has as many new documents as protected ones, or more, it goes out whole, pairs of two protected ones too: nobody looks at
    /// these.
    ///
    /// Of each pair the one that comes first leads, so that all keys of a pair are counted in one place.
    pub fn form_beside(
        &mut self,
        postings: &[Posting],
        is_protected: &impl Fn(Doc) -> bool,
        collided: &mut Collided,
    ) {
        for group in postings.chunk_by(|a, b| a.key == b.key) {
            let protected = group.iter().filter(|posting| is_protected(posting.doc)).count();
            let new = group.len() - protected;
            let of = |wanted| group.iter().filter(move |posting| is_protected(posting.doc) == wanted);
            let members = || of(true).chain(of(false));
            let size = GroupSize { new, others: protected, is_mixed: true };
            if new == 0 || protected > 0 && self.sets_aside(size, group[0].key, members, collided) {
                continue;
            }
            match protected {
                0 => self.form_one(group, &[], collided),
                _ => self.send_beside(group, size, is_protected),
            }
        }
    }

    /// Sends a group of new and protected documents.
    fn send_beside(&mut self, group: &[Posting], size: GroupSize, is_protected: &impl Fn(Doc) -> bool) {
        // One group for all costs less than one for each.
        if self.among_new && size.others <= size.new {
            self.send_whole(group);
        } else {
            self.send_apart(group, is_protected);
        }
    }

    /// Once all groups were formed: sends the smaller hot ones if it costs less to count their pairs; if not, their members collide
    /// again. `is_protected` is asked as where they were formed.
    pub fn settle(&mut self, is_protected: &impl Fn(Doc) -> bool, collided: &mut Collided) {
        let kept = std::mem::replace(&mut self.hot_postings, HotPostings::with_room(0));
        if !kept.are_counted(self.workers) {
            return self.collide_again(kept, collided);
        }
        kept.each(|size, postings| match size.is_mixed {
            true => {
                postings.sort_unstable();
                self.send_beside(postings, size, is_protected);
            }
            false => {
                let (stored, new) = postings.split_at(size.others);
                self.send(new, stored);
            }
        });
    }

    /// Has the members of hot groups collide again.
    fn collide_again(&self, kept: HotPostings, collided: &mut Collided) {
        kept.each(|_, postings| self.meet_again(postings, collided));
    }

    /// Has those of one hot group collide again.
    fn meet_again(&self, postings: &[Posting], collided: &mut Collided) {
        self.hot_keys.note(docs(postings), ends(postings.iter().map(|posting| posting.size)));
        docs(postings).for_each(|doc| set(&mut collided.hot_members, doc));
    }

    /// Forms the group of one key, in which there are new postings.
    #[inline]
    fn form_one(&mut self, group: &[Posting], of_key: &[Posting], collided: &mut Collided) {
        let members = || of_key.iter().chain(group);
        let size = GroupSize { new: group.len(), others: of_key.len(), is_mixed: false };
        if !self.sets_aside(size, group[0].key, members, collided) {
            self.send(group, of_key);
        }
    }

    /// Sends the group of one key.
    #[inline]
    fn send(&mut self, group: &[Posting], of_key: &[Posting]) {
        if self.send_together(group, of_key) {
            return;
        }
        for posting in group.iter().filter(|_| !of_key.is_empty()) {
            let meets =
                |other: &&Posting| self.sizes.is_none_or(|rule| rule.allows(posting.size, other.size));
            let first = of_key.partition_point(|other| other.size < posting.size && !meets(&other));
            self.addressed.send_alone(posting, of_key[first..].iter().take_while(meets));
        }
        if self.among_new {
            self.send_whole(group);
        }
    }

    /// Sends a group in which several new postings meet about the same stored ones: these go out once, and not once for each.
    /// Whether that was done; otherwise nothing is sent.
    ///
    /// Each new posting is paired with the new ones behind it, as where nothing is stored, and with all stored ones from the first that
    /// anyone meets to the last that it meets itself. Some of these are too small for it, and some of the new ones too large.
    #[inline]
    fn send_together(&mut self, group: &[Posting], of_key: &[Posting]) -> bool {
        if group.len() < 3 || of_key.is_empty() || !self.among_new || !self.meets_more {
            return false;
        }
        self.following.clear();
        let (mut first, mut end, mut begin) = (0, 0, None);
        let (mut wanted, mut met) = (0, 0);
        for (posting, behind) in group.iter().zip((0..group.len()).rev()) {
            let meets = |other: &Posting| self.sizes.is_none_or(|rule| rule.allows(posting.size, other.size));
            let is_small = |other: &&Posting| other.size < posting.size && !meets(other);
            first += of_key[first..].iter().take_while(is_small).count();
            end = first.max(end);
            end += of_key[end..].iter().take_while(|other| meets(other)).count();
            let paired = behind + end - *begin.get_or_insert(first);
            (wanted, met) = (wanted + end - first, met + paired);
            self.following.push(paired as u32);
        }
        let stored = &of_key[begin.unwrap_or(end)..end];
        // Counting a pair that is not wanted costs less than sending one that is. Each worker may be sent all.
        let pays = 2 * (group.len() + stored.len()) <= wanted && met <= 2 * wanted;
        if pays {
            self.addressed.send_together(group, stored, &self.following);
        }
        pays
    }

    /// Whether nothing is sent of a group, at least for now: it is hot, or its key too common. Of its `members` the stored or
    /// protected ones come first.
    #[inline]
    fn sets_aside<'a, Members: Iterator<Item = &'a Posting>>(
        &mut self,
        size: GroupSize,
        key: u64,
        members: impl Fn() -> Members,
        collided: &mut Collided,
    ) -> bool {
        if self.is_hot(size) {
            match size.contents() >= self.kept_whole {
                true => self.keep_whole(members, collided),
                false => self.set_aside(size, &members().copied().collect::<Vec<_>>(), collided),
            }
            return true;
        }
        let contents = size.contents();
        if self.cap > 0 && contents > self.cap {
            collided.common.ignore(key, contents as u64, size.new as u64);
            return true;
        }
        false
    }

    /// Takes a large hot group.
    fn keep_whole<'a, Members: Iterator<Item = &'a Posting>>(
        &self,
        members: impl Fn() -> Members,
        collided: &mut Collided,
    ) {
        if self.kept_whole > 0 {
            let docs = members().map(|posting| posting.doc);
            self.hot_keys.note(docs, ends(members().map(|posting| posting.size)));
        }
        // A document may be there twice where keys are cut.
        let mut docs: Vec<Doc> = members().map(|posting| posting.doc).collect();
        docs.dedup();
        collided.hot_groups.push(HotGroup::of(docs));
    }

    /// Takes a smaller hot group: what becomes of it is seen when there are all.
    fn set_aside(&mut self, size: GroupSize, members: &[Posting], collided: &mut Collided) {
        if !self.hot_postings.keep(size, self.twice_the_pairs(size) / 2, members) {
            let all = std::mem::replace(&mut self.hot_postings, HotPostings::with_room(0));
            self.collide_again(all, collided);
            self.meet_again(members, collided);
        }
    }

    /// Sends a group in which each member is paired with all behind it that it may meet.
    #[inline]
    fn send_whole(&mut self, group: &[Posting]) {
        if group.len() > 1 {
            self.follow(group);
            self.addressed.send(group, &self.following);
        }
    }

    /// Sends a group in which members are paired with those behind them, but two protected ones never, and two new ones only
    /// where new contents are paired.
    fn send_apart(&mut self, group: &[Posting], is_protected: impl Fn(Doc) -> bool) {
        let [mut protected, mut new] = std::mem::take(&mut self.apart);
        protected.clear();
        new.clear();
        for posting in group {
            if is_protected(posting.doc) { &mut protected } else { &mut new }.push(*posting);
        }
        for (leading, behind) in [(&new, &protected), (&protected, &new)] {
            for posting in leading {
                let meets =
                    |other: &&Posting| self.sizes.is_none_or(|rule| rule.allows(posting.size, other.size));
                let first = behind.partition_point(|other| other < posting);
                self.addressed.send_alone(posting, behind[first..].iter().take_while(meets));
            }
        }
        if self.among_new {
            self.send_whole(&new);
        }
        self.apart = [protected, new];
    }

    /// Whether there are more pairs in a group than in one of as many new contents as make a hot group. Pairs of stored
    /// contents are known: a few new ones can meet very many of them.
    fn is_hot(&self, size: GroupSize) -> bool {
        let pairs = self.twice_the_pairs(size);
        // Where a few new ones meet a stored family, counting costs less than colliding all of it again.
        let few = pairs / 2 <= self.most_of_member.saturating_mul(size.contents());
        pairs > self.most_expanded.saturating_mul(self.most_expanded) && !few
    }

    /// The pairs of which at least one document is new, counted from both ends.
    fn twice_the_pairs(&self, size: GroupSize) -> usize {
        let among_new = if self.among_new { size.new } else { 0 };
        size.new.saturating_mul(2 * size.others + among_new)
    }

    /// For each member of a group how many behind it the size filter lets it meet.
    fn follow(&mut self, group: &[Posting]) {
        self.following.clear();
        let mut end = 0;
        for (at, a) in group.iter().enumerate() {
            end = end.max(at + 1);
            let meets = |b: &Posting| self.sizes.is_none_or(|rule| rule.allows(a.size, b.size));
            end += group[end..].iter().take_while(|b| meets(b)).count();
            self.following.push((end - at - 1) as u32);
        }
    }
}

#[cfg(test)]
#[path = "grouping_tests.rs"]
mod tests;
