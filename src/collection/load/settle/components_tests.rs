use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

proptest! {
    /// The obvious twin does one note after the other.
    #[test]
    fn members_are_what_one_note_after_the_other_makes_of_them(
        members in prop::collection::btree_map(0u32..4, prop::collection::btree_set(0u32..12, 0..8), 0..4),
        changes in prop::collection::vec(((0u32..5, 0u32..12), any::<bool>()), 0..20),
    ) {
        let mut expected = members.clone();
        for ((label, content), comes) in &changes {
            if let Some(members) = expected.get_mut(label) {
                if *comes { members.insert(*content) } else { members.remove(content) };
            }
        }
        let mut changed: Members =
            members.into_iter().map(|(label, contents)| (label, contents.into_iter().collect())).collect();
        change_members(&mut changed, changes);
        changed.values_mut().for_each(|contents| contents.sort_unstable());
        let expected: Members =
            expected.into_iter().map(|(label, contents)| (label, contents.into_iter().collect())).collect();
        prop_assert_eq!(changed, expected);
    }
}

/// Half of a family leaves it, and as many come: a pass for each of them would take minutes.
#[test]
fn half_of_a_family_leaves_it_at_once() {
    let many = 1 << 20;
    let mut members: Members = BTreeMap::from([(7, (0..many).collect())]);
    let notes = (0..many / 2).flat_map(|at| [((7, 2 * at), false), ((7, many + at), true)]);
    change_members(&mut members, notes.collect());
    let left = (0..many).filter(|content| content % 2 == 1).chain(many..many + many / 2);
    assert!(members[&7].iter().copied().eq(left));
}
