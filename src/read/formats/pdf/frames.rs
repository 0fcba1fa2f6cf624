//! What goes between this process and the one that reads PDFs: questions and answers, each as long as it says.
//!
//! A question is a byte that says what is wanted, the most bytes of text, the most seconds, and the PDF behind its length. An answer is a byte that
//! says what became of it, three lengths, and the title, the date and the text. Numbers begin with the lowest byte.

use std::io::{self, ErrorKind, Read, Write};

/// Longest title or date, in bytes.
pub(super) const MOST_PROPERTY: usize = 4 << 10;
/// Bytes that are copied at once.
const PIECE: u64 = 64 << 10;

/// What is wanted of a PDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PdfQuestion {
    /// All there is.
    Text,
    /// Title and date, without a look at its pages.
    Properties,
}

/// What goes before a PDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PdfRequest {
    /// What is wanted.
    pub(super) question: PdfQuestion,
    /// Most bytes of text.
    pub(super) most_text: u64,
    /// Most seconds of CPU time.
    pub(super) seconds: u64,
    /// Bytes of the PDF.
    pub(super) length: u64,
}

/// Why there is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PdfFault {
    /// Its pages draw no characters.
    NoText,
    /// Its fonts do not say which characters they draw.
    NoCharacters,
    /// It opens with a password.
    Locked,
    /// It is encrypted in a way that is not known.
    UnknownEncryption,
    /// It is no PDF, or has no pages that can be found.
    Damaged,
    /// It says that it has more pages.
    PagesMissing,
    /// Its text is longer than allowed.
    TooLong,
    /// The memory allowed has no room for it.
    TooLarge,
    /// Reading it failed in a way that nobody foresaw.
    Unforeseen,
}

impl PdfFault {
    /// All of them, in the order of their numbers, which begin with 1.
    const ALL: [PdfFault; 9] = [
        PdfFault::NoText,
        PdfFault::NoCharacters,
        PdfFault::Locked,
        PdfFault::UnknownEncryption,
        PdfFault::Damaged,
        PdfFault::PagesMissing,
        PdfFault::TooLong,
        PdfFault::TooLarge,
        PdfFault::Unforeseen,
    ];
}

/// What a PDF says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PdfText {
    /// Its title; empty if it has none.
    pub title: String,
    /// When it was last changed, or else made; empty if it does not say so.
    pub date: String,
    /// The text of its pages.
    pub text: String,
}

/// What goes before a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PdfHead {
    /// What it says beside its text.
    pub(super) said: PdfText,
    /// Bytes of the text that follows.
    pub(super) length: u64,
}

/// What is no frame.
fn invalid(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.to_owned())
}

/// The next number.
fn number(input: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// The next bytes, so many, as text. Room is made for what is there, and not for what is said to be.
fn string(input: &mut impl Read, length: u64, into: &mut String) -> io::Result<()> {
    into.clear();
    if input.take(length).read_to_string(into)? as u64 != length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}

/// Writes a question about a PDF.
///
/// # Errors
/// What the system says.
pub(super) fn write_request(output: &mut impl Write, request: &PdfRequest, pdf: &[u8]) -> io::Result<()> {
    output.write_all(&[u8::from(request.question == PdfQuestion::Properties)])?;
    for number in [request.most_text, request.seconds, request.length] {
        output.write_all(&number.to_le_bytes())?;
    }
    output.write_all(pdf)?;
    output.flush()
}

/// Reads the next question up to its PDF; `None` at the end.
///
/// # Errors
/// What the system says, and [`ErrorKind::InvalidData`] of what is no question.
pub(super) fn read_request(input: &mut impl Read) -> io::Result<Option<PdfRequest>> {
    let mut first = [0];
    loop {
        match input.read(&mut first) {
            Ok(0) => return Ok(None),
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let question = match first {
        [0] => PdfQuestion::Text,
        [1] => PdfQuestion::Properties,
        _ => return Err(invalid("no question about a PDF")),
    };
    let [most_text, seconds, length] = [number(input)?, number(input)?, number(input)?];
    Ok(Some(PdfRequest { question, most_text, seconds, length }))
}

/// Reads the PDF of a question; `None` if there is no room for it: its bytes are then passed over.
///
/// # Errors
/// What the system says.
pub(super) fn read_pdf(input: &mut impl Read, length: u64) -> io::Result<Option<Vec<u8>>> {
    let mut pdf = Vec::new();
    let room = usize::try_from(length).is_ok_and(|length| pdf.try_reserve_exact(length).is_ok());
    let mut pieces = input.take(length);
    let read = match room {
        true => pieces.read_to_end(&mut pdf)? as u64,
        false => io::copy(&mut pieces, &mut io::sink())?,
    };
    if read != length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(room.then_some(pdf))
}

/// Writes the answer.
///
/// # Errors
/// What the system says.
pub(super) fn write_answer(output: &mut impl Write, answer: &Result<PdfText, PdfFault>) -> io::Result<()> {
    let none = PdfText::default();
    let said = answer.as_ref().unwrap_or(&none);
    let fault = answer.as_ref().err().and_then(|fault| PdfFault::ALL.iter().position(|known| known == fault));
    output.write_all(&[fault.map_or(0, |at| at as u8 + 1)])?;
    let parts = [&said.title, &said.date, &said.text];
    for part in parts {
        output.write_all(&(part.len() as u64).to_le_bytes())?;
    }
    for part in parts {
        output.write_all(part.as_bytes())?;
    }
    output.flush()
}

/// Reads an answer up to its text.
///
/// # Errors
/// What the system says, and [`ErrorKind::InvalidData`] of what is no answer to a question about at most `most_text` bytes.
pub(super) fn read_head(input: &mut impl Read, most_text: u64) -> io::Result<Result<PdfHead, PdfFault>> {
    let mut first = [0];
    input.read_exact(&mut first)?;
    let (title, date, length) = (number(input)?, number(input)?, number(input)?);
    if let Some(at) = usize::from(first[0]).checked_sub(1) {
        let fault = PdfFault::ALL.get(at).filter(|_| (title, date, length) == (0, 0, 0));
        return fault.map(|fault| Err(*fault)).ok_or_else(|| invalid("no answer about a PDF"));
    }
    if title.max(date) > MOST_PROPERTY as u64 || length > most_text {
        return Err(invalid("an answer about a PDF that is too long"));
    }
    let mut said = PdfText::default();
    string(input, title, &mut said.title)?;
    string(input, date, &mut said.date)?;
    Ok(Ok(PdfHead { said, length }))
}

/// Reads the text behind a head.
///
/// # Errors
/// What the system says, and [`ErrorKind::InvalidData`] of what is no UTF-8.
pub(super) fn read_text(input: &mut impl Read, head: PdfHead) -> io::Result<PdfText> {
    let mut said = head.said;
    // Text comes piece by piece: what is half there takes no more than it is.
    said.text.reserve(head.length.min(PIECE) as usize);
    string(input, head.length, &mut said.text)?;
    Ok(said)
}

/// Reads a whole answer to a question about at most `most_text` bytes of text: what the process that reads PDFs has written.
///
/// # Errors
/// What the system says, and [`ErrorKind::InvalidData`] of what is no answer.
pub fn read_pdf_answer(input: &mut impl Read, most_text: u64) -> io::Result<Result<PdfText, PdfFault>> {
    match read_head(input, most_text)? {
        Ok(head) => Ok(Ok(read_text(input, head)?)),
        Err(fault) => Ok(Err(fault)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said() -> PdfText {
        PdfText { title: "T\u{e9}".into(), date: "2020".into(), text: "some text".into() }
    }

    #[test]
    fn answers_are_read_as_they_were_written() {
        let faults = PdfFault::ALL.map(Err);
        for answer in faults.into_iter().chain([Ok(said()), Ok(PdfText::default())]) {
            let mut bytes = Vec::new();
            write_answer(&mut bytes, &answer).expect("written");
            assert_eq!(read_pdf_answer(&mut &bytes[..], 9).expect("an answer"), answer);
            for end in 0..bytes.len() {
                assert!(read_pdf_answer(&mut &bytes[..end], 9).is_err(), "{end}");
            }
        }
    }

    #[test]
    fn lies_are_no_answers() {
        let mut bytes = Vec::new();
        write_answer(&mut bytes, &Ok(said())).expect("written");
        let refused = |bytes: &[u8], most| {
            let error = read_pdf_answer(&mut &*bytes, most).expect_err("refused");
            error.kind() == ErrorKind::InvalidData
        };
        assert!(refused(&bytes, 8), "a text that is too long");
        for (at, byte) in [(0, 9), (0, 1), (2, 0xff), (10, 0xff), (24, 0x80), (26, 0xff), (35, 0xff)] {
            let mut bytes = bytes.clone();
            bytes[at] = byte;
            assert!(refused(&bytes, 9), "byte {at}");
        }
    }

    #[test]
    fn questions_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        for question in [PdfQuestion::Text, PdfQuestion::Properties] {
            let request = PdfRequest { question, most_text: 1 << 40, seconds: 20, length: 3 };
            write_request(&mut bytes, &request, b"PDF").expect("written");
        }
        let mut input = &bytes[..];
        for question in [PdfQuestion::Text, PdfQuestion::Properties] {
            let request = read_request(&mut input).expect("read").expect("a question");
            assert_eq!(request, PdfRequest { question, most_text: 1 << 40, seconds: 20, length: 3 });
            assert_eq!(read_pdf(&mut input, request.length).expect("read"), Some(b"PDF".to_vec()));
        }
        assert_eq!(read_request(&mut input).expect("read"), None);
        assert!(read_request(&mut &[2; 25][..]).is_err());
        assert!(read_pdf(&mut &b"PDF"[..], 4).is_err());
        assert!(read_pdf(&mut &b"PDF"[..], u64::MAX).is_err());
    }
}
