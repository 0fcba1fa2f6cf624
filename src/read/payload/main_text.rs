//! The main text of a page: its blocks without menus, link lists, notices and what else stands around a text.
//!
//! The rule is the one by number of words and link density of Kohlschuetter, Fankhauser and Nejdl, "Boilerplate Detection using
//! Shallow Text Features" (WSDM 2010), Algorithm 2. A block is what stands between two tags that are not within lines; its link
//! density is the share of its words that stand in links. A block is judged by itself and by the blocks before and behind it;
//! a block that is not there has no words.

use std::ops::Range;

use crate::simd::Simd;
use crate::text::{Fold, Tokenizer, Tokens};

/// Fewest words that are the main text of a page: fewer do not tell it from others that say little (measured: decisions.md).
const LEAST_WORDS: usize = 100;

/// What of a block its class is decided by.
#[derive(Clone, Copy, Default)]
struct BlockWords {
    all: usize,
    linked: usize,
}

impl BlockWords {
    /// Whether the link density is above 0.333333.
    fn is_of_links(self) -> bool {
        self.linked * 3 >= self.all
    }

    /// Whether the link density is above 0.555556.
    fn is_menu(self) -> bool {
        self.linked * 9 > self.all * 5
    }
}

/// Whether a block between two others is main text.
fn is_main(before: BlockWords, block: BlockWords, behind: BlockWords) -> bool {
    if block.is_of_links() {
        return false;
    }
    if before.is_menu() {
        return block.all > 40 || behind.all > 17;
    }
    block.all > 16 || behind.all > 15 || before.all > 4
}

/// Gathers the main text of a page whose text is written block by block.
pub(super) struct MainBlocks {
    tokenizer: Tokenizer,
    main: String,
    /// Words of `main`.
    taken: usize,
    /// The block before the last that ended.
    before: BlockWords,
    /// The last block that ended, and where it stands: it is judged once the next one is known.
    last: Option<(Range<usize>, BlockWords)>,
    /// Where the block begins that is being written, and its words in links that have ended.
    start: usize,
    linked: usize,
    /// Where the text of the link begins that is open.
    link: Option<usize>,
}

impl MainBlocks {
    pub(super) fn new() -> MainBlocks {
        MainBlocks {
            tokenizer: Tokenizer::new(Tokens::Words, Fold::NONE, Simd::detect()),
            main: String::new(),
            taken: 0,
            before: BlockWords::default(),
            last: None,
            start: 0,
            linked: 0,
            link: None,
        }
    }

    /// Begins a link at the end of `text`.
    pub(super) fn open_link(&mut self, text: &str) {
        self.close_link(text);
        self.link = Some(text.len());
    }

    /// Ends the link that is open, if one is.
    pub(super) fn close_link(&mut self, text: &str) {
        if let Some(start) = self.link.take() {
            self.linked += self.tokenizer.tokens(&text[start..]).len();
        }
    }

    /// Ends the block at the end of `text`.
    pub(super) fn end_block(&mut self, text: &str) {
        let is_linked = self.link.is_some();
        self.close_link(text);
        let all = self.tokenizer.tokens(&text[self.start..]).len();
        if all > 0 {
            let block = BlockWords { all, linked: self.linked };
            self.judge_last(block, text);
            self.last = Some((self.start..text.len(), block));
        }
        self.pass(text);
        self.link = is_linked.then_some(text.len());
    }

    /// Leaves out what has been written since the last block ended.
    pub(super) fn pass(&mut self, text: &str) {
        (self.start, self.linked) = (text.len(), 0);
        self.link = self.link.map(|_| text.len());
    }

    /// Ends the last block of a page. `text` becomes its main text, if that is long enough.
    pub(super) fn finish(mut self, text: &mut String) {
        self.end_block(text);
        self.judge_last(BlockWords::default(), text);
        if self.taken >= LEAST_WORDS {
            *text = self.main;
        }
    }

    fn judge_last(&mut self, behind: BlockWords, text: &str) {
        let Some((place, block)) = self.last.take() else { return };
        if is_main(self.before, block, behind) {
            self.main.push_str(&text[place]);
            self.taken += block.all;
        }
        self.before = block;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::html::{ShownText, html_text};
    use super::LEAST_WORDS;

    fn main_words(markup: &str) -> Vec<String> {
        let mut text = "before".to_owned();
        ShownText::Main.take(markup, false, &mut text);
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn sentence(word: &str, words: usize) -> String {
        vec![word; words].join(" ")
    }

    #[test]
    fn menus_notices_and_titles_are_no_main_text() {
        let text = sentence("text", 60);
        let menu = "<ul><li><a href=/>Start</a><li><a href=/a>About us</a></ul>";
        let page = format!(
            "<title>A title of many words that is shown in no page, and so is not part of what the page says</title>\
             <a href=o><nav><a href=n>{text}</a><p><a href=n>{text}</nav></a><a href=o>{menu}</a><h1>Over it</h1><p>{text}<br>on <a href=x>with</a> it<p>{text}</p><select><option>one\
             <option>two</select>{menu}<p>All rights reserved</p>"
        );
        let mut expected = vec!["Over", "it"];
        expected.extend(vec!["text"; 60]);
        expected.extend(["on", "with", "it"]);
        expected.extend(vec!["text"; 60]);
        assert_eq!(main_words(&page), expected);
    }

    #[test]
    fn a_page_of_hardly_any_main_text_is_taken_whole() {
        let page = |words| format!("<li><a href=x>menu</a><p>{}", sentence("w", words));
        assert_eq!(main_words(&page(LEAST_WORDS)), vec!["w"; LEAST_WORDS]);
        assert_eq!(main_words(&page(LEAST_WORDS - 1)).len(), LEAST_WORDS);
        assert_eq!(main_words("<title>t</title><p>one<p>two"), ["t", "one", "two"]);
        assert_eq!(main_words(""), [""; 0]);
    }

    #[test]
    fn a_link_is_an_anchor_with_an_address() {
        let linked = |open: &str, close: &str| format!("<p>{open}{}{close}", sentence("w", 20));
        for (open, close) in [("<a href=x>", "</a>"), ("<A HREF>", ""), ("<a name=n href=x><b>", "</b></a>")]
        {
            let page = format!("<p>{}<p>{}", sentence("t", 120), linked(open, close));
            assert_eq!(main_words(&page), vec!["t"; 120], "{open}");
        }
        for (open, close) in [("<a name=n>", "</a>"), ("<area href=x>", ""), ("<a data-href=x>", "</a>")] {
            let page = format!("<p>{}{}", sentence("t", 120), linked(open, close));
            assert_eq!(main_words(&page), [vec!["t"; 120], vec!["w"; 20]].concat(), "{open}");
        }
        // What opens and closes elsewhere is none of the text behind it.
        let text = sentence("w", 130);
        for before in [
            "<nav><a href=x>n</nav>",
            "<select><a href=x>n</select>",
            "<select><option>n<select>",
            "<template><nav><a href=x></template>",
        ] {
            assert_eq!(main_words(&format!("{before}<p>{text}")), vec!["w"; 130], "{before}");
        }
        assert_eq!(main_words(&format!("<?xml version='1.0'?><p><a href='x'/>{text}</p>")), vec!["w"; 130]);
        // A link goes on in the next block.
        let over_blocks =
            format!("<p>{}<a href=x><p>{}<p>{}", sentence("t", 120), sentence("w", 20), sentence("v", 20));
        assert_eq!(main_words(&over_blocks), vec!["t"; 120]);
    }

    #[test]
    fn letters_of_scripts_without_spaces_are_words() {
        let text = "\u{4eca}\u{65e5}".repeat(60);
        assert_eq!(
            main_words(&format!("<li>\u{5173}\u{4e8e}<p>{text}<p>\u{5173}")),
            ["\u{5173}\u{4e8e}", &text, "\u{5173}"]
        );
    }

    /// The rule as the paper's decision tree has it, on densities.
    fn twin(blocks: &[(usize, usize)]) -> Vec<bool> {
        let at = |at: Option<usize>| at.and_then(|at| blocks.get(at)).copied().unwrap_or_default();
        let density =
            |(words, linked): (usize, usize)| if words == 0 { 0.0 } else { linked as f64 / words as f64 };
        (0..blocks.len())
            .map(|here| {
                let (before, block, behind) = (at(here.checked_sub(1)), at(Some(here)), at(Some(here + 1)));
                if density(block) > 0.333_333 {
                    false
                } else if density(before) <= 0.555_556 {
                    if block.0 <= 16 { if behind.0 <= 15 { before.0 > 4 } else { true } } else { true }
                } else if block.0 <= 40 {
                    behind.0 > 17
                } else {
                    true
                }
            })
            .collect()
    }

    proptest! {
        #[test]
        fn blocks_stay_as_the_tree_of_the_paper_says(
            blocks in prop::collection::vec((1usize..50, 0usize..50), 1..12),
            tag in prop::sample::select(vec!["p", "td", "h2"]),
        ) {
            let blocks: Vec<_> = blocks.into_iter().map(|(words, linked)| (words, linked.min(words))).collect();
            let mut page = String::new();
            let words = |at: usize, (all, _): (usize, usize)| (0..all).map(move |word| format!("b{at}w{word}"));
            for (at, block) in blocks.iter().enumerate() {
                page.push_str(&format!("<{tag}>\n"));
                for (nth, word) in words(at, *block).enumerate() {
                    // Some words are links of their own, and others stand in one link.
                    match (nth < block.1, nth % 3) {
                        (false, _) => page.push_str(&word),
                        (true, 0) => page.push_str(&format!("<a href=x>{word}</a>")),
                        (true, _) => page.push_str(&format!("<a href=x><b>{word}</b>")),
                    }
                    if nth + 1 == block.1 {
                        page.push_str("</a>");
                    }
                    page.push(' ');
                }
                page.push_str(&format!("</{tag}>"));
            }
            let stays = twin(&blocks);
            let expected: Vec<String> = blocks
                .iter()
                .enumerate()
                .filter(|(at, _)| stays[*at])
                .flat_map(|(at, block)| words(at, *block))
                .collect();
            if expected.len() < LEAST_WORDS {
                let mut all = String::new();
                html_text(&page, false, &mut all);
                prop_assert_eq!(main_words(&page), all.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
            } else {
                prop_assert_eq!(main_words(&page), expected);
            }
        }
    }
}
