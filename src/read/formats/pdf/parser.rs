//! PDFs to documents.

use std::cell::RefCell;
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_128;

use super::bounds::is_cut;
use super::frames::{PdfFault, PdfQuestion, PdfText};
use super::process::{PdfFailure, PdfInquiry, PdfReply, ask};
use crate::document::Position;
use crate::limits::{MAX_PDF_MEMORY, MAX_PDF_SECONDS, PDF_BYTES_A_SECOND, SMALL_PDF_SECONDS};
use crate::printable::counted;
use crate::read::bytes::RecordRoom;
use crate::read::codec::Parser;
use crate::read::field::Fields;
use crate::read::formats::properties::FileProperties;
use crate::read::record::{Record, Refusal};

/// How long reading a PDF may take.
#[derive(Clone, Copy)]
pub(super) enum PdfPatience {
    /// For the first time.
    First,
    /// Again: what was read in time once is not refused because the machine is busier now.
    Again,
}

impl PdfPatience {
    /// For a PDF of so many bytes: what takes long has many pages, and what never ends is mostly small.
    fn time(self, bytes: usize) -> Duration {
        let times = match self {
            PdfPatience::First => 1,
            PdfPatience::Again => 3,
        };
        let seconds = SMALL_PDF_SECONDS.saturating_add(bytes as u64 / PDF_BYTES_A_SECOND);
        Duration::from_secs(times * seconds.min(MAX_PDF_SECONDS))
    }
}

/// Makes documents of PDFs.
pub(super) struct PdfParser {
    fields: Fields,
    patience: PdfPatience,
    /// What was said of the PDF of a digest, whose weight was asked for; its text is not there if it is long.
    weighed: RefCell<Option<(u128, Result<Weighed, Refusal>)>>,
    text: String,
    properties: FileProperties,
}

/// What is known of a PDF that is not yet a document.
enum Weighed {
    Said(PdfText),
    Long(u64),
}

impl PdfParser {
    pub(super) fn new(fields: &Fields, patience: PdfPatience) -> PdfParser {
        let (weighed, text, properties) = (RefCell::default(), String::new(), FileProperties::default());
        PdfParser { fields: fields.clone(), patience, weighed, text, properties }
    }

    /// Asks for the text, of which at most `held` bytes are taken over.
    fn ask(&self, pdf: &[u8], held: usize) -> Result<Weighed, Refusal> {
        if is_cut(pdf) {
            return Err(Refusal::Malformed(
                "a PDF that is cut: its end is missing; get the file again".to_owned(),
            ));
        }
        let (question, most, patience) =
            (PdfQuestion::Text, self.fields.max_record_bytes, self.patience.time(pdf.len()));
        let inquiry = PdfInquiry { pdf, question, most, held, patience };
        match asked(&self.fields.room, &inquiry)? {
            PdfReply::Said(said) => Ok(Weighed::Said(said)),
            PdfReply::Long(length) => Ok(Weighed::Long(length)),
            PdfReply::Refused(fault) => Err(refusal(fault, most)),
        }
    }
}

impl Parser for PdfParser {
    fn rest(&mut self) {
        self.text = String::new();
        self.weighed.take();
    }

    fn weight(&self, raw: &[u8]) -> u64 {
        let digest = xxh3_128(raw);
        let mut weighed = self.weighed.borrow_mut();
        if weighed.as_ref().is_none_or(|(of, _)| *of != digest) {
            // A long text is not held before it is this worker's turn.
            *weighed = Some((digest, self.ask(raw, self.fields.room.free())));
        }
        let length = match weighed.as_ref() {
            Some((_, Ok(Weighed::Said(said)))) => said.text.len() as u64,
            Some((_, Ok(Weighed::Long(length)))) => *length,
            _ => 0,
        };
        length.max(raw.len() as u64)
    }

    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        let weighed = self.weighed.take().filter(|(digest, _)| *digest == xxh3_128(raw));
        let said = match weighed {
            Some((_, Err(refusal))) => return Err(refusal),
            Some((_, Ok(Weighed::Said(said)))) => said,
            Some((_, Ok(Weighed::Long(_)))) | None => match self.ask(raw, usize::MAX)? {
                Weighed::Said(said) => said,
                Weighed::Long(_) => unreachable!("no text is longer than any"),
            },
        };
        self.properties = FileProperties::new(&said.title, &said.date);
        self.text = said.text;
        Ok(self.properties.record(&self.fields, (position, line), raw, &self.text))
    }
}

/// Title and date of a PDF.
///
/// # Errors
/// Those of the process that reads it.
pub(super) fn pdf_properties(pdf: &[u8], room: &RecordRoom) -> Result<FileProperties, Refusal> {
    let (question, patience) = (PdfQuestion::Properties, PdfPatience::Again.time(pdf.len()));
    match asked(room, &PdfInquiry { pdf, question, most: 0, held: 0, patience })? {
        PdfReply::Said(said) => Ok(FileProperties::new(&said.title, &said.date)),
        PdfReply::Refused(fault) => Err(refusal(fault, 0)),
        PdfReply::Long(_) => Ok(FileProperties::default()),
    }
}

/// Asks as soon as the memory has room for one process more.
fn asked(room: &RecordRoom, inquiry: &PdfInquiry<'_>) -> Result<PdfReply, Refusal> {
    let not = |why: String| Err(Refusal::NotExtracted(why));
    let Some(_turn) = room.process_turn() else {
        return not(format!(
            "the memory allowed has no room for the process that reads PDFs: allow about {} MiB with --memory",
            room.memory_for_process()
        ));
    };
    match ask(inquiry) {
        Ok(reply) => Ok(reply),
        Err(PdfFailure::NoProgram) => {
            not("PDFs are read in a process of their own, and no program is named for it (read_pdfs_with)"
                .into())
        }
        Err(PdfFailure::NotStarted(error)) => {
            not(format!("no process can be started that reads PDFs: {error}"))
        }
        Err(PdfFailure::Ended) => not(format!(
            "the process that read it broke; it may take more than the {} MiB of memory that a PDF may take",
            MAX_PDF_MEMORY >> 20
        )),
        Err(PdfFailure::TooSlow(time)) => {
            not(format!("reading it took more than {} of computing", counted(time.as_secs(), "second")))
        }
    }
}

/// The refusal of a PDF, of which a text may have `most` bytes.
fn refusal(fault: PdfFault, most: usize) -> Refusal {
    let malformed = |what: &str| Refusal::Malformed(what.to_owned());
    match fault {
        PdfFault::NoText => Refusal::no_text_in("scanned pages?"),
        PdfFault::NoCharacters => Refusal::no_text_in("fonts that name no characters"),
        PdfFault::Locked => malformed("a PDF that opens with a password only"),
        PdfFault::UnknownEncryption => malformed("a PDF with an encryption that alike does not know"),
        PdfFault::Damaged => malformed("no PDF, or one whose pages cannot be found"),
        PdfFault::PagesMissing => malformed("a PDF that says it has more pages than can be found"),
        PdfFault::TooLong => Refusal::TooLong { limit: most },
        PdfFault::TooLarge => Refusal::NotExtracted(format!(
            "it takes more than the {} MiB of memory that a PDF may take",
            MAX_PDF_MEMORY >> 20
        )),
        PdfFault::Unforeseen => malformed("a PDF whose objects are not what they are said to be"),
    }
}
