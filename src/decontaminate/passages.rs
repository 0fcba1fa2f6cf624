//! Which stretches of a document hold enough n-grams of a text.

/// Where an n-gram of a text stands in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GramAt {
    /// The number of its first token.
    pub(super) at: u32,
    /// Its number among those of the text.
    pub(super) gram: u32,
}

/// A stretch of a document with enough n-grams of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ItemStretch {
    /// Where its first n-gram begins.
    pub(super) first: u32,
    /// Where its last n-gram begins.
    pub(super) last: u32,
    /// How many distinct n-grams of the text it has.
    pub(super) found: u32,
}

/// What makes a stretch.
#[derive(Clone, Copy, Debug)]
pub(super) struct StretchRule {
    /// Tokens of an n-gram.
    pub(super) ngram: u32,
    /// Least distinct n-grams of the text, at least 1.
    pub(super) needed: u32,
    /// All n-grams of a stretch begin at so many tokens, one behind the other.
    pub(super) window: u32,
}

/// Finds stretches from the beginning of a document to its end; no two of them have a token in common.
///
/// The next one is looked for among the windows that begin within a window from the first that has enough. It has as many
/// distinct n-grams as any of these, ends where that many are there first, and begins as late as it still has them. What
/// stands before it, from that first window on, is searched in the same way.
#[derive(Default)]
pub(super) struct StretchFinder {
    /// How often each n-gram is in the present window.
    counts: Vec<u32>,
}

impl StretchFinder {
    /// Appends the stretches of a document in which n-grams of a text stand so, ascending; the text has `grams` of them.
    pub(super) fn find(
        &mut self,
        standing: &[GramAt],
        grams: usize,
        rule: StretchRule,
        out: &mut Vec<ItemStretch>,
    ) {
        // Whoever counts leaves zeros behind.
        self.counts.resize(self.counts.len().max(grams), 0);
        let mut rest = standing;
        while let Some(start) = self.first_start(rest, rule) {
            let here = &rest[start..];
            let stretch = self.best(here, rule);
            let before = here.partition_point(|gram| gram.at + rule.ngram <= stretch.first);
            self.find(&here[..before], grams, rule, out);
            out.push(stretch);
            rest = &here[here.partition_point(|gram| gram.at < stretch.last + rule.ngram)..];
        }
    }

    /// The first n-gram with which a window begins that has enough of them.
    fn first_start(&mut self, standing: &[GramAt], rule: StretchRule) -> Option<usize> {
        let (mut end, mut distinct) = (0, 0);
        let start = standing.iter().position(|first| {
            while end < standing.len() && standing[end].at - first.at < rule.window {
                distinct += self.enter(standing[end]);
                end += 1;
            }
            let enough = distinct >= rule.needed;
            if !enough {
                distinct -= self.leave(*first);
            }
            enough
        });
        let left = start.unwrap_or(standing.len());
        standing[left..end].iter().for_each(|gram| self.counts[gram.gram as usize] = 0);
        start
    }

    /// The best stretch of those that begin within a window from the first n-gram on.
    fn best(&mut self, standing: &[GramAt], rule: StretchRule) -> ItemStretch {
        let most = self.most(standing, rule);
        let (mut start, mut distinct) = (0, 0);
        for (end, last) in standing.iter().enumerate() {
            distinct += self.enter(*last);
            while last.at - standing[start].at >= rule.window {
                distinct -= self.leave(standing[start]);
                start += 1;
            }
            if distinct == most {
                while self.counts[standing[start].gram as usize] > 1 {
                    self.leave(standing[start]);
                    start += 1;
                }
                standing[start..=end].iter().for_each(|gram| self.counts[gram.gram as usize] = 0);
                return ItemStretch { first: standing[start].at, last: last.at, found: most };
            }
        }
        unreachable!("a window has as many as the best one")
    }

    /// The most distinct n-grams of any window that begins within a window from the first n-gram on.
    fn most(&mut self, standing: &[GramAt], rule: StretchRule) -> u32 {
        let (mut end, mut distinct, mut most) = (0, 0, 0);
        let near = |gram: &&GramAt| gram.at - standing[0].at < rule.window;
        let mut starts = 0;
        for first in standing.iter().take_while(near) {
            while end < standing.len() && standing[end].at - first.at < rule.window {
                distinct += self.enter(standing[end]);
                end += 1;
            }
            most = most.max(distinct);
            distinct -= self.leave(*first);
            starts += 1;
        }
        standing[starts..end.max(starts)].iter().for_each(|gram| self.counts[gram.gram as usize] = 0);
        most
    }

    /// Takes an n-gram into the window: 1 if it was not in it.
    fn enter(&mut self, gram: GramAt) -> u32 {
        let count = &mut self.counts[gram.gram as usize];
        *count += 1;
        u32::from(*count == 1)
    }

    /// Takes one out of it: 1 if it is not in it any more.
    fn leave(&mut self, gram: GramAt) -> u32 {
        let count = &mut self.counts[gram.gram as usize];
        *count -= 1;
        u32::from(*count == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The slow form: every window, each counted by a set.
    fn obvious(standing: &[GramAt], rule: StretchRule) -> Vec<ItemStretch> {
        let distinct = |from: u32, to: u32| {
            let within = standing.iter().filter(|gram| (from..to).contains(&gram.at));
            within.map(|gram| gram.gram).collect::<BTreeSet<_>>().len() as u32
        };
        let starts: Vec<u32> = standing.iter().map(|gram| gram.at).collect();
        let enough = |start: &&u32| distinct(**start, **start + rule.window) >= rule.needed;
        let Some(&first) = starts.iter().find(enough) else { return Vec::new() };
        let near = starts.iter().filter(|start| (first..first + rule.window).contains(start));
        let most = near.map(|start| distinct(*start, start + rule.window)).max().expect("the first");
        let windows = starts.iter().filter(|end| **end >= first).flat_map(|end| {
            let begins =
                starts.iter().rev().filter(move |at| (first..=*end).contains(at) && end - *at < rule.window);
            begins.map(move |begin| (*begin, *end))
        });
        let (begin, end) =
            windows.into_iter().find(|(begin, end)| distinct(*begin, end + 1) == most).expect("a window");
        let part = |keep: &dyn Fn(u32) -> bool| -> Vec<GramAt> {
            standing.iter().copied().filter(|gram| gram.at >= first && keep(gram.at)).collect()
        };
        let mut all = obvious(&part(&|at| at + rule.ngram <= begin), rule);
        all.push(ItemStretch { first: begin, last: end, found: most });
        all.extend(obvious(&part(&|at| at >= end + rule.ngram), rule));
        all
    }

    fn found(standing: &[GramAt], rule: StretchRule) -> Vec<ItemStretch> {
        let mut out = Vec::new();
        StretchFinder::default().find(standing, 6, rule, &mut out);
        out
    }

    fn text(grams: &[Option<u32>]) -> Vec<GramAt> {
        let at = |(at, gram): (usize, &Option<u32>)| gram.map(|gram| GramAt { at: at as u32, gram });
        grams.iter().enumerate().filter_map(at).collect()
    }

    proptest! {
        #[test]
        fn finds_what_the_slow_form_finds(grams in prop::collection::vec(prop::option::of(0u32..6), 0..60),
                                          ngram in 1u32..4, needed in 1u32..7, window in 1u32..12) {
            let (standing, rule) = (text(&grams), StretchRule { ngram, needed, window });
            prop_assert_eq!(found(&standing, rule), obvious(&standing, rule));
        }
    }

    #[test]
    fn each_copy_is_found() {
        let copy = (0..6).map(Some);
        let grams: Vec<Option<u32>> = copy.clone().chain([None; 3]).chain(copy).collect();
        let rule = StretchRule { ngram: 2, needed: 5, window: 9 };
        let stretches = found(&text(&grams), rule);
        assert_eq!(stretches, [(0, 5), (9, 14)].map(|(first, last)| ItemStretch { first, last, found: 6 }));
    }
}
