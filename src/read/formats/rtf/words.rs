//! What control words of RTF mean to whoever wants the text.

use crate::read::formats::text_parts::TextPart;

/// Groups that are no text: tables of the document, pictures, comments, codes of fields, entries of indexes, numbers of lists,
/// and what stands for something that is there in a newer form.
const SKIPPED: [&[u8]; 48] = [
    b"aftnsep",
    b"aftnsepc",
    b"aftncn",
    b"annotation",
    b"atnauthor",
    b"atndate",
    b"atnicn",
    b"atnid",
    b"atnparent",
    b"atnref",
    b"atntime",
    b"atrfend",
    b"atrfstart",
    b"bkmkend",
    b"bkmkstart",
    b"colorschememapping",
    b"colortbl",
    b"datafield",
    b"datastore",
    b"docvar",
    b"filetbl",
    b"fldinst",
    b"ftncn",
    b"ftnsep",
    b"ftnsepc",
    b"latentstyles",
    b"listoverridetable",
    b"listtable",
    b"listtext",
    b"nonshppict",
    b"objclass",
    b"objdata",
    b"objname",
    b"pict",
    b"pntext",
    b"pntxta",
    b"pntxtb",
    b"private",
    b"revtbl",
    b"rsidtbl",
    b"rxe",
    b"shprslt",
    b"sp",
    b"stylesheet",
    b"tc",
    b"themedata",
    b"txe",
    b"xe",
];

/// Groups that are text although those who do not know them may skip them.
const FOLLOWED: [&[u8]; 4] = [b"do", b"moMath", b"moMathPara", b"shpinst"];

/// What a control word says of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordMeaning {
    /// It is no text.
    Skipped,
    /// It is text if what stands around it is.
    Followed,
    /// It holds two forms of a text.
    Alternatives,
    /// It is the form in Unicode.
    Alternative,
    /// It is a part of the document.
    Part(TextPart),
    /// No group: here a row of a table ends.
    RowEnd,
}

/// What a control word says of its group, if it says anything.
pub(super) fn meaning(name: &[u8]) -> Option<WordMeaning> {
    Some(match name {
        b"upr" => WordMeaning::Alternatives,
        b"ud" => WordMeaning::Alternative,
        b"header" | b"headerf" | b"headerl" | b"headerr" => WordMeaning::Part(TextPart::Header),
        b"footer" | b"footerf" | b"footerl" | b"footerr" => WordMeaning::Part(TextPart::Footer),
        b"footnote" => WordMeaning::Part(TextPart::Footnote),
        b"ftnalt" => WordMeaning::Part(TextPart::Endnote),
        b"row" | b"nestrow" => WordMeaning::RowEnd,
        name if FOLLOWED.contains(&name) => WordMeaning::Followed,
        name if SKIPPED.contains(&name) => WordMeaning::Skipped,
        _ => return None,
    })
}

/// The character that a control word stands for.
pub(super) fn character(name: &[u8]) -> Option<char> {
    Some(match name {
        b"par" | b"line" | b"sect" | b"page" | b"column" | b"cell" | b"nestcell" => '\n',
        b"softline" | b"softpage" | b"softcol" | b"lbr" => '\n',
        b"tab" => '\t',
        b"emdash" => '\u{2014}',
        b"endash" => '\u{2013}',
        b"lquote" => '\u{2018}',
        b"rquote" => '\u{2019}',
        b"ldblquote" => '\u{201c}',
        b"rdblquote" => '\u{201d}',
        b"bullet" => '\u{2022}',
        b"emspace" => '\u{2003}',
        b"enspace" => '\u{2002}',
        b"qmspace" => '\u{2005}',
        _ => return None,
    })
}
