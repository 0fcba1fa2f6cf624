//! Which stretches of a document hold enough n-grams of a text.

use std::collections::VecDeque;
use std::ops::Range;

/// Where an n-gram of a text stands in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::decontaminate) struct GramAt {
    /// The number of its first token.
    pub(in crate::decontaminate) at: u32,
    /// Its number among those of the text.
    pub(in crate::decontaminate) gram: u32,
}

/// A stretch of a document with enough n-grams of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::decontaminate) struct ItemStretch {
    /// Where its first n-gram begins.
    pub(in crate::decontaminate) first: u32,
    /// Where its last n-gram begins.
    pub(in crate::decontaminate) last: u32,
    /// How many distinct n-grams of the text it has.
    pub(in crate::decontaminate) found: u32,
    /// The score of the item, in millionths; 0 where items have none.
    pub(in crate::decontaminate) score: u32,
}

/// What makes a stretch.
#[derive(Clone, Copy, Debug)]
pub(in crate::decontaminate) struct StretchRule {
    /// Tokens of an n-gram.
    pub(in crate::decontaminate) ngram: u32,
    /// Least distinct n-grams of the text, at least 1.
    pub(in crate::decontaminate) needed: u32,
    /// All n-grams of a stretch begin at so many tokens, one behind the other.
    pub(in crate::decontaminate) window: u32,
}

/// Finds stretches of a document; no two of them have a token in common.
///
/// The next one is looked for from the first window that has enough, and from the best of those that begin within a window from it,
/// until none of these has more distinct n-grams. So fragments of a text that stand before the whole of it do not hide that. Of the
/// stretches with as many that begin in the one that ends first, each as late as it can, it is the shortest. What stands before it, from that first
/// window on, is searched in the same way.
///
/// The time is linear in what stands in the document for each time that something before a stretch is searched, and each
/// time what is found there has fewer n-grams than the stretch behind it. Its buffers are reused.
#[derive(Default)]
pub(in crate::decontaminate) struct StretchFinder {
    /// How often each n-gram is in the present window; zeros between two windows.
    counts: Vec<u32>,
    /// How many distinct n-grams the window has that begins with each n-gram of a part.
    sizes: Vec<u32>,
    /// Windows near the present one that may be the best, none larger than one before it.
    near: VecDeque<u32>,
    /// Parts that are to be searched.
    parts: Vec<Range<usize>>,
}

impl StretchFinder {
    /// Appends the stretches of a document in which n-grams of a text stand so, ascending; the text has `grams` of them.
    pub(in crate::decontaminate) fn find(
        &mut self,
        standing: &[GramAt],
        grams: usize,
        rule: StretchRule,
        out: &mut Vec<ItemStretch>,
    ) {
        // Mostly no window has as many n-grams, distinct or not.
        let (needed, window) = (rule.needed as usize, rule.window);
        let may_have = |near: &[GramAt]| near[near.len() - 1].at - near[0].at < window;
        if !standing.windows(needed).any(may_have) {
            return;
        }
        self.counts.resize(self.counts.len().max(grams), 0);
        let begin = out.len();
        self.parts.push(0..standing.len());
        while let Some(part) = self.parts.pop() {
            self.search(&standing[part.clone()], part.start, rule, out);
        }
        out[begin..].sort_unstable_by_key(|stretch| stretch.first);
    }

    /// Finds the stretches of a part that begins with the n-gram `from`; what stands before them is a part of its own.
    fn search(&mut self, standing: &[GramAt], from: usize, rule: StretchRule, out: &mut Vec<ItemStretch>) {
        self.measure(standing, rule);
        self.near.clear();
        let (mut rest, mut behind) = (0, 0);
        while let Some(first) = (rest..standing.len()).find(|at| self.sizes[*at] >= rule.needed) {
            behind = behind.max(first);
            while self.near.front().is_some_and(|at| (*at as usize) < first) {
                self.near.pop_front();
            }
            let mut best = first;
            loop {
                while behind < standing.len() && standing[behind].at - standing[best].at < rule.window {
                    self.look_at(behind);
                    behind += 1;
                }
                let next = self.near.front().map_or(best, |at| *at as usize);
                if self.sizes[next] <= self.sizes[best] {
                    break;
                }
                best = next;
            }
            let stretch = self.tightest(&standing[best..], self.sizes[best]);
            let here = &standing[first..];
            let before = here.partition_point(|gram| gram.at + rule.ngram <= stretch.first);
            // Fewer cannot have enough.
            if before >= rule.needed as usize {
                self.parts.push(from + first..from + first + before);
            }
            out.push(stretch);
            rest = first + here.partition_point(|gram| gram.at < stretch.last + rule.ngram);
        }
    }

    /// Finds out how many distinct n-grams each window has.
    fn measure(&mut self, standing: &[GramAt], rule: StretchRule) {
        self.sizes.clear();
        let (mut end, mut distinct) = (0, 0);
        for first in standing {
            while end < standing.len() && standing[end].at - first.at < rule.window {
                distinct += self.enter(standing[end]);
                end += 1;
            }
            self.sizes.push(distinct);
            distinct -= self.leave(*first);
        }
    }

    /// Takes a window among those of which the best is wanted.
    fn look_at(&mut self, window: usize) {
        let size = self.sizes[window];
        while self.near.back().is_some_and(|at| self.sizes[*at as usize] < size) {
            self.near.pop_back();
        }
        self.near.push_back(window as u32);
    }

    /// The shortest stretch with `most` distinct n-grams that begins in the one that ends first, in a window that has as many. What is
    /// longer than one that was seen is not looked at, and all end behind the first, so the time is linear.
    fn tightest(&mut self, standing: &[GramAt], most: u32) -> ItemStretch {
        let (mut start, mut end, mut distinct) = (0, 0, 0);
        let mut found: Option<ItemStretch> = None;
        let mut last_start = 0;
        while let Some(next) = standing.get(end) {
            let is_too_long = |found: &ItemStretch| next.at - standing[start].at >= found.last - found.first;
            if found.as_ref().is_some_and(is_too_long) {
                if start == last_start {
                    break;
                }
                distinct -= self.leave(standing[start]);
                start += 1;
                continue;
            }
            distinct += self.enter(*next);
            end += 1;
            if distinct < most {
                continue;
            }
            while self.counts[standing[start].gram as usize] > 1 {
                self.leave(standing[start]);
                start += 1;
            }
            if found.is_none() {
                last_start = end - 1;
            } else if start > last_start {
                break;
            }
            found = Some(ItemStretch { first: standing[start].at, last: next.at, found: most, score: 0 });
        }
        standing[start..end].iter().for_each(|gram| self.counts[gram.gram as usize] = 0);
        found.unwrap_or_default()
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

/// Appends the runs of n-grams that share tokens, ascending: where each n-gram counts by itself.
pub(in crate::decontaminate) fn runs(standing: &[GramAt], ngram: u32, out: &mut Vec<ItemStretch>) {
    for run in standing.chunk_by(|a, b| b.at < a.at + ngram) {
        let mut grams: Vec<u32> = run.iter().map(|gram| gram.gram).collect();
        grams.sort_unstable();
        grams.dedup();
        let (first, last) = (run[0].at, run[run.len() - 1].at);
        out.push(ItemStretch { first, last, found: grams.len() as u32, score: 0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// The slow form: every window, each counted by a set.
    fn obvious(standing: &[GramAt], rule: StretchRule) -> Vec<ItemStretch> {
        let distinct = |from: u32, to: u32| {
            let within = standing.iter().filter(|gram| (from..to).contains(&gram.at));
            within.map(|gram| gram.gram).collect::<BTreeSet<_>>().len() as u32
        };
        let starts: Vec<u32> = standing.iter().map(|gram| gram.at).collect();
        let enough = |start: &&u32| distinct(**start, **start + rule.window) >= rule.needed;
        let Some(&first) = starts.iter().find(enough) else { return Vec::new() };
        let size = |start: u32| distinct(start, start + rule.window);
        let mut best = first;
        while let Some(better) = starts
            .iter()
            .filter(|start| (best..best + rule.window).contains(start) && size(**start) > size(best))
            .max_by_key(|start| (size(**start), std::cmp::Reverse(**start)))
        {
            best = *better;
        }
        let most = size(best);
        let stretches = || {
            let ends = starts.iter().filter(|end| **end >= best);
            let all = ends.flat_map(|end| {
                let begins =
                    starts.iter().filter(move |at| (best..=*end).contains(at) && end - *at < rule.window);
                begins.map(move |begin| (*begin, *end))
            });
            all.filter(|(begin, end)| distinct(*begin, end + 1) == most)
        };
        let first_end = stretches().map(|(_, end)| end).min().expect("the window");
        let latest: BTreeMap<u32, u32> = stretches().map(|(begin, end)| (end, begin)).collect();
        let (end, begin) = latest
            .into_iter()
            .filter(|(_, begin)| *begin <= first_end)
            .min_by_key(|(end, begin)| (end - begin, *begin))
            .expect("one that ends there");
        let part = |keep: &dyn Fn(u32) -> bool| -> Vec<GramAt> {
            standing.iter().copied().filter(|gram| gram.at >= first && keep(gram.at)).collect()
        };
        let mut all = obvious(&part(&|at| at + rule.ngram <= begin), rule);
        all.push(ItemStretch { first: begin, last: end, found: most, score: 0 });
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

    /// A window as long as the document, and a stretch every few tokens: a look at all of it for each would take hours.
    #[test]
    fn many_stretches_in_a_long_window() {
        let standing: Vec<GramAt> = (0..3_000_000).map(|at| GramAt { at, gram: 0 }).collect();
        let rule = StretchRule { ngram: 2, needed: 1, window: 3_000_000 };
        let stretches = found(&standing, rule);
        assert_eq!(stretches.len(), 1_500_000);
        assert_eq!(stretches[7], ItemStretch { first: 14, last: 14, found: 1, score: 0 });
    }

    /// Each stretch has more n-grams than the one before it, all within a window of the first.
    #[test]
    fn what_stands_before_a_better_stretch_is_found() {
        let grams: Vec<GramAt> = (1..300u32)
            .scan(0, |at, size| {
                let begin = *at;
                *at += size + 1;
                Some((0..size).map(move |gram| GramAt { at: begin + gram, gram }))
            })
            .flatten()
            .collect();
        let mut out = Vec::new();
        let rule = StretchRule { ngram: 1, needed: 1, window: 1_000_000 };
        StretchFinder::default().find(&grams, 300, rule, &mut out);
        let sizes: Vec<u32> = out.iter().map(|stretch| stretch.found).collect();
        assert_eq!(sizes, (1..300).collect::<Vec<_>>());
    }

    /// Fragments of a text before the whole of it: the whole is found, and of it all.
    #[test]
    fn fragments_do_not_hide_the_whole_behind_them() {
        let whole = (0..6).map(Some);
        let rule = StretchRule { ngram: 1, needed: 4, window: 9 };
        for fragments in [&[3, 4, 5][..], &[2, 3, 4, 0, 1], &[0, 1, 2, 3, 4]] {
            let grams: Vec<Option<u32>> =
                fragments.iter().map(|gram| Some(*gram)).chain([None]).chain(whole.clone()).collect();
            let first = fragments.len() as u32 + 1;
            let expected = ItemStretch { first, last: first + 5, found: 6, score: 0 };
            assert_eq!(found(&text(&grams), rule).last(), Some(&expected), "{fragments:?}");
        }
    }

    #[test]
    fn each_copy_is_found() {
        let copy = (0..6).map(Some);
        let grams: Vec<Option<u32>> = copy.clone().chain([None; 3]).chain(copy).collect();
        let rule = StretchRule { ngram: 2, needed: 5, window: 9 };
        let stretches = found(&text(&grams), rule);
        let copies = [(0, 5), (9, 14)].map(|(first, last)| ItemStretch { first, last, found: 6, score: 0 });
        assert_eq!(stretches, copies);
    }
}
