//! What the process that reads PDFs may answer.

use alike::read::{PdfFault, PdfText, read_pdf_answer};

use crate::take;

/// The longest title or date.
const MOST_PROPERTY: usize = 4096;

/// The first two bytes say how long a text may be; the rest is an answer.
pub fn pdf(mut data: &[u8]) {
    let most = u16::from_le_bytes(take(&mut data));
    let found = read_pdf_answer(&mut &*data, most.into());
    assert_eq!(found.ok(), plain(data, most.into()));
}

/// The answer, taken apart at once.
fn plain(data: &[u8], most: usize) -> Option<Result<PdfText, PdfFault>> {
    let (first, rest) = data.split_first()?;
    let (numbers, mut rest) = rest.split_at_checked(24)?;
    let [title, date, text] =
        [0, 8, 16].map(|at| u64::from_le_bytes(numbers[at..at + 8].try_into().expect("eight")));
    let fault = match first {
        0 => None,
        1 => Some(PdfFault::NoText),
        2 => Some(PdfFault::NoCharacters),
        3 => Some(PdfFault::Locked),
        4 => Some(PdfFault::UnknownEncryption),
        5 => Some(PdfFault::Damaged),
        6 => Some(PdfFault::TooLong),
        7 => Some(PdfFault::TooLarge),
        8 => Some(PdfFault::Unforeseen),
        _ => return None,
    };
    if let Some(fault) = fault {
        return numbers.iter().all(|byte| *byte == 0).then_some(Err(fault));
    }
    let mut part = |length: u64, most: usize| {
        let length = usize::try_from(length).ok().filter(|length| *length <= most)?;
        let (part, others) = rest.split_at_checked(length)?;
        rest = others;
        String::from_utf8(part.to_vec()).ok()
    };
    let (title, date) = (part(title, MOST_PROPERTY)?, part(date, MOST_PROPERTY)?);
    let text = part(text, most)?;
    Some(Ok(PdfText { title, date, text }))
}
