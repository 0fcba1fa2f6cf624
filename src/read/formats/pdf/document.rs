//! A PDF to its text, its title and its date. What is here runs in a process of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};

use encoding_rs::UTF_16BE;
use hayro_interpret::hayro_syntax::metadata::Metadata;
use hayro_interpret::hayro_syntax::object::dict::keys::{COUNT, PAGES};
use hayro_interpret::hayro_syntax::object::{DateTime, Dict};
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, interpret_page};
use kurbo::{Affine, Rect};

use super::frames::{MOST_PROPERTY, PdfFault, PdfQuestion, PdfText};
use super::page::PageText;

/// What PDFDocEncoding has from 0x80 on that Latin-1 has not; a zero is no character.
const PDF_CHARACTERS: [char; 33] = [
    '\u{2022}', '\u{2020}', '\u{2021}', '\u{2026}', '\u{2014}', '\u{2013}', '\u{192}', '\u{2044}',
    '\u{2039}', '\u{203a}', '\u{2212}', '\u{2030}', '\u{201e}', '\u{201c}', '\u{201d}', '\u{2018}',
    '\u{2019}', '\u{201a}', '\u{2122}', '\u{fb01}', '\u{fb02}', '\u{141}', '\u{152}', '\u{160}', '\u{178}',
    '\u{17d}', '\u{131}', '\u{142}', '\u{153}', '\u{161}', '\u{17e}', '\0', '\u{20ac}',
];

/// What a PDF says: at most so many bytes of text, or nothing but title and date.
///
/// # Errors
/// The fault of a PDF without a text.
pub(super) fn pdf_text(pdf: Vec<u8>, question: PdfQuestion, most: usize) -> Result<PdfText, PdfFault> {
    // The PDF is gone then, and nothing else was touched.
    let read = catch_unwind(AssertUnwindSafe(|| read(pdf, question, most)));
    read.unwrap_or(Err(PdfFault::Unforeseen))
}

fn read(pdf: Vec<u8>, question: PdfQuestion, most: usize) -> Result<PdfText, PdfFault> {
    let pdf = Pdf::new(pdf).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => PdfFault::Locked,
        LoadPdfError::Decryption(_) => PdfFault::UnknownEncryption,
        LoadPdfError::Invalid => PdfFault::Damaged,
    })?;
    let text = if question == PdfQuestion::Text { pages(&pdf, most)? } else { String::new() };
    let said = pdf.metadata();
    let title = said.title.as_deref().map(text_string).unwrap_or_default();
    Ok(PdfText { title: bounded(title), date: date(said), text })
}

/// The text of all pages.
fn pages(pdf: &Pdf, most: usize) -> Result<String, PdfFault> {
    let settings = InterpreterSettings::default();
    let cache = InterpreterCache::new();
    let mut text = PageText::new(most);
    if pdf.pages().is_empty() {
        return Err(PdfFault::Damaged);
    }
    if said_pages(pdf).is_some_and(|said| said > pdf.pages().len()) {
        return Err(PdfFault::PagesMissing);
    }
    for page in pdf.pages().iter() {
        // Nothing is drawn, so any page is as good as another.
        let area = Rect::new(0.0, 0.0, 1.0, 1.0);
        let mut context = Context::new(Affine::IDENTITY, area, &cache, pdf.xref(), settings.clone());
        interpret_page(page, &mut context, &mut text);
        text.end_page();
        if text.is_too_long() {
            return Err(PdfFault::TooLong);
        }
    }
    if text.is_unknown() {
        return Err(PdfFault::NoCharacters);
    }
    let text = text.into_text();
    if text.is_empty() { Err(PdfFault::NoText) } else { Ok(text) }
}

/// How many pages it says that it has, if the root of its pages is found.
fn said_pages(pdf: &Pdf) -> Option<usize> {
    let root: Dict<'_> = pdf.xref().get(pdf.xref().root_id())?;
    let pages: Dict<'_> = root.get(PAGES)?;
    usize::try_from(pages.get::<i32>(COUNT)?).ok()
}

/// The characters of a string of text outside of pages.
fn text_string(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, units @ ..] => UTF_16BE.decode_without_bom_handling(units).0.into_owned(),
        [0xef, 0xbb, 0xbf, text @ ..] => String::from_utf8_lossy(text).into_owned(),
        _ => {
            let other = |byte: u8| PDF_CHARACTERS.get(usize::from(byte).wrapping_sub(0x80)).copied();
            let character = |byte: &u8| other(*byte).unwrap_or(char::from(*byte));
            bytes.iter().map(character).filter(|character| *character != '\0').collect()
        }
    }
}

/// As much of a property as is allowed.
fn bounded(mut text: String) -> String {
    let end = (0..=MOST_PROPERTY.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.truncate(end.unwrap_or_default());
    text
}

/// When it was last changed, or else made.
fn date(said: &Metadata) -> String {
    let date = said.modification_date.or(said.creation_date);
    date.map(|date| written(&date)).unwrap_or_default()
}

fn written(date: &DateTime) -> String {
    let DateTime { year, month, day, hour, minute, second, .. } = date;
    let (hours, minutes) = (date.utc_offset_hour, date.utc_offset_minute);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{hours:+03}:{minutes:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_in_one_of_three_encodings() {
        for (bytes, text) in [
            (&b"\xfe\xff\0T\x20\xac"[..], "T\u{20ac}"),
            (b"\xef\xbb\xbfT\xc3\xa9", "T\u{e9}"),
            (b"T\xe9 \x85\xa0\x9f\xad", "T\u{e9} \u{2013}\u{20ac}\u{ad}"),
            (b"", ""),
        ] {
            assert_eq!(text_string(bytes), text, "{bytes:?}");
        }
        assert_eq!(bounded("\u{e9}".repeat(MOST_PROPERTY)).len(), MOST_PROPERTY);
    }

    #[test]
    fn the_later_date_counts() {
        let date = |year| DateTime {
            year,
            month: 2,
            day: 3,
            hour: 4,
            minute: 5,
            second: 6,
            utc_offset_hour: -3,
            utc_offset_minute: 30,
        };
        let made = Metadata { creation_date: Some(date(1999)), ..Metadata::default() };
        assert_eq!(super::date(&made), "1999-02-03T04:05:06-03:30");
        let changed = Metadata { modification_date: Some(date(2001)), ..made };
        assert_eq!(super::date(&changed), "2001-02-03T04:05:06-03:30");
        assert_eq!(super::date(&Metadata::default()), "");
    }
}
