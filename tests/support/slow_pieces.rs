//! Sentences and lines, found by looking back from each place.

/// Marks that end a sentence before a blank; marks that end it whatever follows; and what closes a quotation or a bracket.
const ENDS: &str = ".!?\u{2026}\u{964}\u{965}\u{6d4}\u{61f}\u{589}\u{1362}";
const WIDE: &str = "\u{3002}\u{ff01}\u{ff1f}\u{ff0e}\u{ff61}";
const CLOSING: &str = "\"')]}\u{2019}\u{201d}\u{bb}\u{300d}\u{300f}\u{ff09}\u{3011}\u{300b}";

/// Whether a sentence ends before the character at a place.
fn ends_before(text: &[char], at: usize) -> bool {
    let (before, next) = (&text[..at], text[at]);
    let line = before.iter().rposition(|c| *c == '\n');
    if next == '\n' && line.is_some_and(|line| before[line..].iter().all(|c| c.is_whitespace())) {
        return true;
    }
    let is_mark = |c: char| ENDS.contains(c) || WIDE.contains(c) || CLOSING.contains(c);
    let marks: Vec<char> = before.iter().rev().copied().take_while(|c| is_mark(*c)).collect();
    if marks.iter().any(|c| WIDE.contains(*c)) {
        !is_mark(next)
    } else {
        marks.iter().any(|c| ENDS.contains(*c)) && next.is_whitespace()
    }
}

/// The sentences of a text; together they are all of it.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    let text: Vec<char> = text.chars().collect();
    let mut cuts: Vec<usize> = (1..text.len()).filter(|at| ends_before(&text, *at)).collect();
    cuts.insert(0, 0);
    cuts.push(text.len());
    cuts.windows(2).map(|ends| text[ends[0]..ends[1]].iter().collect()).collect()
}

/// The lines of a text.
pub(crate) fn lines(text: &str) -> Vec<String> {
    text.replace("\r\n", "\n").replace('\r', "\n").split('\n').map(str::to_owned).collect()
}

/// Runs of `size` pieces, of which one begins at every `every`-th, until one reaches the end.
pub(crate) fn chunks(pieces: &[Vec<u64>], size: usize, every: usize) -> Vec<Vec<Vec<u64>>> {
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < pieces.len() {
        let end = (start + size).min(pieces.len());
        chunks.push(pieces[start..end].to_vec());
        if end == pieces.len() {
            break;
        }
        start += every;
    }
    chunks
}
