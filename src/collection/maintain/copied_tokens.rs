//! Tokens that a merge copies as they lie. All texts of a vocabulary that stay are copied with it, unless many others are gone
//! or the vocabulary is large beside them: such are written anew, as all are where no trace may be left of what is gone.

use crate::collection::maintain::merged_rows::{MergedRows, Stays};
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::Table;
use crate::collection::run::writer::RunWriter;
use crate::collection::tables::rows::{StoredText, TokenPlace};
use crate::collection::tables::run_cursors::MOST_PLACES;
use crate::collection::tables::tokens::{MovedBlocks, TokenWriter, VocabularyBlocks};
use crate::error::{Error, Result};
use crate::limits::sized;

/// Of so many texts of a vocabulary one may be gone where the others are copied: what its tokens took of the vocabulary stays.
const FEW: usize = 4;
/// Most texts of one run that are gone where others are copied: 16 bytes of memory each.
const MOST_GONE: usize = sized(1 << 18, 20);
/// Rows between two looks at whether to stop.
const STEP: usize = sized(1 << 14, 7);

/// The texts of one vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TextCount {
    all: usize,
    /// How many of them are gone.
    gone: usize,
    /// The least and the greatest content.
    contents: (u64, u64),
    are_copied: bool,
}

impl TextCount {
    fn add(&mut self, content: u64, is_gone: bool) {
        let first = self.all == 0;
        self.contents = if first {
            (content, content)
        } else {
            (self.contents.0.min(content), self.contents.1.max(content))
        };
        self.all += 1;
        self.gone += usize::from(is_gone);
    }

    /// Whether those that stay are most of them.
    fn mostly_stay(&self) -> bool {
        self.gone < self.all && self.gone <= self.all / FEW
    }
}

/// The vocabularies of a run, and their texts.
type TextsOfRun = Vec<(VocabularyBlocks, TextCount)>;

/// Where the blocks are that were copied.
#[derive(Debug)]
pub(super) struct CopiedTokens {
    /// By number of the run, from the newest on, among those that have texts; ascending.
    runs: Vec<Vec<(VocabularyBlocks, MovedBlocks)>>,
    /// Whether no text is left that is not copied.
    pub(super) are_all: bool,
}

impl CopiedTokens {
    /// Copies what can be copied of the texts that stay, run by run. Reads all their rows.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`] and [`Error::Interrupted`].
    pub(super) fn copy(
        rows: MergedRows<'_>,
        of: (Table, Stays),
        (writer, run): (&mut TokenWriter, &mut RunWriter),
    ) -> Result<CopiedTokens> {
        let sources: Vec<&RunReader> = rows.tables.having(of.0).collect();
        let mut copied = CopiedTokens { runs: vec![Vec::new(); sources.len()], are_all: false };
        if rows.live.is_some_and(|live| live.leaves_no_trace) {
            return Ok(copied);
        }
        let mut texts: Vec<TextsOfRun> =
            sources.iter().map(|source| texts_of(rows, of, source)).collect::<Result<_>>()?;
        texts.iter_mut().for_each(choose);
        let chosen = || texts.iter().flatten().filter(|(_, texts)| texts.are_copied);
        // Whoever reads them in order goes from place to place.
        if most_at_once(chosen().map(|(_, texts)| texts.contents).collect()) > MOST_PLACES {
            return Ok(copied);
        }
        copied.are_all = texts.iter().flatten().all(|(_, texts)| texts.are_copied);
        // The oldest run first: its contents are the first.
        for ((source, texts), copied) in sources.iter().zip(&texts).zip(&mut copied.runs).rev() {
            let mut gone = gone_of(rows, of, (source, texts))?;
            for (blocks, _) in texts.iter().filter(|(_, texts)| texts.are_copied) {
                let later = gone.split_off(gone.partition_point(|text| text.start < blocks.end()));
                let moved = writer.copy((source, blocks), &gone, (run, rows.progress))?;
                copied.push((*blocks, moved));
                gone = later;
            }
        }
        Ok(copied)
    }

    /// Whether the tokens of a text are copied.
    pub(super) fn has(&self, source: usize, text: &StoredText) -> bool {
        self.start(source, text).is_some()
    }

    /// Where the first block with tokens of a text starts now, if they are copied.
    pub(super) fn start(&self, source: usize, text: &StoredText) -> Option<u64> {
        let copied = &self.runs[source];
        let behind = copied.partition_point(|(blocks, _)| blocks.start() <= text.start);
        let (blocks, moved) = copied[..behind].last()?;
        (text.start < blocks.end()).then(|| moved.start(text.start))
    }
}

/// Says which texts of a run are copied.
fn choose(texts: &mut TextsOfRun) {
    let mut gone = 0;
    for (blocks, texts) in texts {
        texts.are_copied =
            texts.mostly_stay() && gone + texts.gone <= MOST_GONE && blocks.outweigh_their_vocabulary();
        gone += if texts.are_copied { texts.gone } else { 0 };
    }
}

/// How many of some stretches have a number in common, at most.
fn most_at_once(stretches: Vec<(u64, u64)>) -> usize {
    let mut ends: Vec<(u64, bool)> =
        stretches.into_iter().flat_map(|(first, last)| [(first, false), (last, true)]).collect();
    // Of one number those that begin come first.
    ends.sort_unstable();
    let (mut open, mut most) = (0usize, 0);
    for (_, is_end) in ends {
        open = if is_end { open - 1 } else { open + 1 };
        most = most.max(open);
    }
    most
}

/// Hands on all rows of texts of a run, with whether each is gone.
fn each_text(
    rows: MergedRows<'_>,
    (table, stays): (Table, Stays),
    run: &RunReader,
    each: &mut dyn FnMut(StoredText, bool) -> Result<()>,
) -> Result<()> {
    let Some(scan) = run.rows(table.kind) else { return Ok(()) };
    let (mut scan, mut seen) = (scan.scan(&[], None), 0);
    while let Some(row) = scan.next_row()? {
        if seen % STEP == 0 {
            rows.progress.check()?;
        }
        seen += 1;
        each(StoredText::of_row(row), rows.live.is_some_and(|live| !stays(row, live)))?;
    }
    Ok(())
}

/// Of which vocabulary a text is.
fn place(all: &TextsOfRun, text: &StoredText) -> Option<usize> {
    let at = all.partition_point(|(blocks, _)| blocks.start() <= text.start).checked_sub(1)?;
    (text.start < all[at].0.end()).then_some(at)
}

/// The texts of each vocabulary of a run.
fn texts_of(rows: MergedRows<'_>, of: (Table, Stays), run: &RunReader) -> Result<TextsOfRun> {
    let all = VocabularyBlocks::of(run)?;
    let mut all: TextsOfRun = all.into_iter().map(|blocks| (blocks, TextCount::default())).collect();
    each_text(rows, of, run, &mut |text, is_gone| {
        let lost = || Error::damaged(run.path(), 0, "a text is in no block of a vocabulary");
        let at = place(&all, &text).ok_or_else(lost)?;
        all[at].1.add(text.content, is_gone);
        Ok(())
    })?;
    Ok(all)
}

/// Where texts are that are gone, of vocabularies that are copied; ascending.
fn gone_of(
    rows: MergedRows<'_>,
    of: (Table, Stays),
    (run, texts): (&RunReader, &TextsOfRun),
) -> Result<Vec<TokenPlace>> {
    let mut gone = Vec::new();
    if texts.iter().any(|(_, texts)| texts.are_copied && texts.gone > 0) {
        each_text(rows, of, run, &mut |text, is_gone| {
            if is_gone && place(texts, &text).is_some_and(|at| texts[at].1.are_copied) {
                gone.push(TokenPlace { start: text.start, ordinal: text.ordinal });
            }
            Ok(())
        })?;
    }
    gone.sort_unstable();
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_may_be_gone() {
        let texts = |all, gone| TextCount { all, gone, ..TextCount::default() };
        assert!(texts(8, 0).mostly_stay() && texts(8, 2).mostly_stay());
        assert!(!texts(8, 3).mostly_stay() && !texts(3, 1).mostly_stay() && !texts(0, 0).mostly_stay());
        let mut counted = TextCount::default();
        for (content, is_gone) in [(7, false), (3, true), (5, false)] {
            counted.add(content, is_gone);
        }
        assert_eq!(counted, TextCount { all: 3, gone: 1, contents: (3, 7), are_copied: false });
    }

    #[test]
    fn stretches_that_lie_side_by_side_are_counted() {
        assert_eq!(most_at_once(vec![]), 0);
        assert_eq!(most_at_once(vec![(0, 9), (10, 19), (20, 20)]), 1);
        assert_eq!(most_at_once(vec![(0, 9), (9, 19), (19, 20)]), 2);
        assert_eq!(most_at_once(vec![(0, 99), (1, 98), (2, 5), (7, 8), (8, 9)]), 4);
    }
}
