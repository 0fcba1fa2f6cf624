//! Members of a hot group by the sizes of their sets.
//!
//! Where members of a hot group have much of their own, sizes and the places of the key in their sets tell most of them apart.
//! Those of one size are passed over together where one is sought: looking at each pair would cost the square of their number. Only the
//! search for paths does look at each pair, within a part of a level that is as small that this takes less than putting sizes in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::Result;

/// A member of a hot group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizedMember {
    /// Its number.
    pub number: u32,
    /// Its place in the order in which members are looked at.
    pub order: u32,
    /// The size of its set.
    pub size: u32,
    /// The size of the largest set that it can be linked with here.
    pub limit: u32,
}

impl SizedMember {
    /// Whether each of two members is within the limit of the other.
    pub fn may_meet(&self, other: &SizedMember) -> bool {
        self.size <= other.limit && other.size <= self.limit
    }
}

/// Some members of a hot group.
#[derive(Clone, Debug, Default)]
pub struct BySize {
    /// By ascending size.
    classes: Vec<SizeClass>,
    len: usize,
}

/// Those of one size.
#[derive(Clone, Debug)]
struct SizeClass {
    size: u32,
    /// The greatest limit of any.
    limit: u32,
    members: Vec<SizedMember>,
}

impl BySize {
    /// Number of members.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of them, by size.
    pub fn members(&self) -> impl Iterator<Item = &SizedMember> {
        self.classes.iter().flat_map(|class| &class.members)
    }

    /// Adds a member, behind all others of its size in the order.
    pub fn push(&mut self, member: SizedMember) {
        self.len += 1;
        let at = self.classes.partition_point(|class| class.size < member.size);
        match self.classes.get_mut(at).filter(|class| class.size == member.size) {
            Some(class) => {
                class.limit = class.limit.max(member.limit);
                class.members.push(member);
            }
            None => {
                let SizedMember { size, limit, .. } = member;
                self.classes.insert(at, SizeClass { size, limit, members: vec![member] });
            }
        }
    }

    /// Takes in others, all of which are behind its own in the order, or of which no order is asked.
    pub fn append(&mut self, others: BySize) {
        others.classes.into_iter().flat_map(|class| class.members).for_each(|member| self.push(member));
    }

    /// Takes in others, of which no order is asked. The fewer are moved: of near-copies in mass each would otherwise move all before it.
    pub fn merge(&mut self, mut others: BySize) {
        if self.len < others.len {
            std::mem::swap(self, &mut others);
        }
        self.append(others);
    }

    /// The first member in the order, before `end`, that may meet `one` and that `is_linked` says is linked to it: its place in
    /// the order, and its number.
    ///
    /// # Errors
    /// Those of `is_linked`.
    pub fn first_linked(
        &self,
        one: &SizedMember,
        end: u32,
        mut is_linked: impl FnMut(u32) -> Result<bool>,
    ) -> Result<Option<(u32, u32)>> {
        let classes: Vec<&SizeClass> = self.classes_within(one).collect();
        // The next one of each size that may meet it, the first in the order on top.
        let next = |class: usize, from: usize| {
            let members = &classes[class].members;
            let at = from + members[from..].iter().position(|member| member.may_meet(one))?;
            Some(Reverse((members[at].order, class, at)))
        };
        let mut nearest: BinaryHeap<_> = (0..classes.len()).filter_map(|class| next(class, 0)).collect();
        while let Some(Reverse((order, class, at))) =
            nearest.pop().filter(|Reverse((order, ..))| *order < end)
        {
            let member = classes[class].members[at];
            if is_linked(member.number)? {
                return Ok(Some((order, member.number)));
            }
            nearest.extend(next(class, at + 1));
        }
        Ok(None)
    }

    /// Two members, one of `others` and one of these, that may meet and that `is_linked` says are linked, if there are any.
    ///
    /// # Errors
    /// Those of `is_linked`.
    pub fn any_linked<T>(
        &self,
        others: &BySize,
        mut is_linked: impl FnMut(u32, u32) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        for one in others.members() {
            for class in self.classes_within(one) {
                for member in class.members.iter().filter(|member| member.may_meet(one)) {
                    let link = is_linked(one.number, member.number)?;
                    if link.is_some() {
                        return Ok(link);
                    }
                }
            }
        }
        Ok(None)
    }

    /// The sizes of which some member may meet another one.
    fn classes_within(&self, one: &SizedMember) -> impl Iterator<Item = &SizeClass> {
        let within = self.classes.partition_point(|class| class.size <= one.limit);
        let size = one.size;
        self.classes[..within].iter().filter(move |class| size <= class.limit)
    }
}

impl Extend<SizedMember> for BySize {
    fn extend<I: IntoIterator<Item = SizedMember>>(&mut self, members: I) {
        members.into_iter().for_each(|member| self.push(member));
    }
}

/// Members of a hot group that are known to hang together.
pub trait HangingTogether {
    /// How many there are.
    fn members(&self) -> usize;

    /// Takes in those of another part.
    fn join(&mut self, other: Self);
}

impl HangingTogether for BySize {
    fn members(&self) -> usize {
        self.len
    }

    fn join(&mut self, other: BySize) {
        self.merge(other);
    }
}

/// Adds a part to parts that are known to be apart, and joins it to all that `is_linked` says it is linked to. These are not compared with
/// each other.
///
/// # Errors
/// Those of `is_linked`.
pub fn join_part<P: HangingTogether>(
    settled: Vec<P>,
    mut part: P,
    mut is_linked: impl FnMut(&P) -> Result<bool>,
) -> Result<Vec<P>> {
    let mut apart = Vec::with_capacity(settled.len() + 1);
    for other in settled {
        if is_linked(&other)? {
            part.join(other);
        } else {
            apart.push(other);
        }
    }
    // The largest part first: most of what comes joins it at once.
    let at = apart.iter().position(|other| other.members() < part.members()).unwrap_or(apart.len());
    apart.insert(at, part);
    Ok(apart)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_the_first_that_may_meet_and_is_linked(
            all in prop::collection::vec((0u32..6, 0u32..9), 0..40), one in (0u32..6, 0u32..9), linked in any::<u64>(), end in 0u32..50,
            cut in any::<prop::sample::Index>(),
        ) {
            let member = |number: usize, (size, limit)| SizedMember { number: number as u32, order: number as u32 + 3, size, limit };
            let members: Vec<SizedMember> = all.iter().enumerate().map(|(number, of)| member(number, *of)).collect();
            let (mut by_size, mut behind) = (BySize::default(), BySize::default());
            let cut = if members.is_empty() { 0 } else { cut.index(members.len()) };
            members[..cut].iter().for_each(|member| by_size.push(*member));
            members[cut..].iter().for_each(|member| behind.push(*member));
            by_size.append(behind);
            prop_assert_eq!(by_size.len(), members.len());
            let one = SizedMember { size: one.0, limit: one.1, ..member(99, one) };
            let is_linked = |number: u32| linked >> number & 1 == 1;
            let may = |other: &&SizedMember| other.size <= one.limit && one.size <= other.limit && other.order < end;
            let truth = members.iter().filter(may).find(|other| is_linked(other.number)).map(|other| (other.order, other.number));
            let mut asked = Vec::new();
            let found = by_size.first_linked(&one, end, |number| {
                asked.push(number);
                Ok(is_linked(number))
            }).expect("nothing fails");
            prop_assert_eq!(found, truth);
            // In order, and none that cannot meet it.
            prop_assert!(asked.is_sorted_by(|a, b| a < b));
            prop_assert!(asked.iter().all(|number| may(&&members[*number as usize])));
            let (mut alone, mut any) = (BySize::default(), false);
            alone.push(one);
            by_size.any_linked(&alone, |other, number| {
                any = any || is_linked(number);
                Ok((other == 99 && is_linked(number)).then_some(()))
            }).expect("nothing fails");
            let linked = |other: &&SizedMember| other.size <= one.limit && one.size <= other.limit && is_linked(other.number);
            prop_assert_eq!(any, members.iter().any(|other| linked(&other)));
        }
    }
}
