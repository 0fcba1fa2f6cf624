//! Reading single records a second time.

use memchr::memchr;

use super::date::Day;
use super::decoder::Fault;
use super::extract::Extractor;
use super::field::Fields;
use super::record::Refusal;
use super::source::{Format, Source};
use super::window::Window;
use super::{BLOCK, BOM};
use crate::document::Position;
use crate::error::{Error, Result};

/// Gaps between wanted records below this are read through, larger ones are jumped over where that is possible.
const GAP: u64 = 256 << 10;
/// Bytes read first after a jump: a record is seldom longer.
const FIRST: usize = 64 << 10;

/// Reads the records at `offsets` (sorted) of `source`, file number `file`, again and hands on the index, the text
/// and the day of each; an error of `each` ends it. All of them were records the first time; one that no longer is means
/// [`Error::Changed`].
pub fn reread(
    source: &Source,
    file: u32,
    offsets: &[u64],
    fields: &Fields,
    each: &mut dyn FnMut(usize, &str, Day) -> Result<()>,
) -> Result<()> {
    source.unchanged()?;
    if offsets.is_empty() {
        return Ok(());
    }
    let window = Window::open(source, 0).map_err(|error| Error::io(&source.path, "read", error))?;
    let mut again = Again { source, window, step: FIRST };
    let mut extractor = Extractor::default();
    for (index, &offset) in offsets.iter().enumerate() {
        again.go_to(offset)?;
        let bytes = again.record(fields)?;
        let bytes = if offset == 0 { bytes.strip_prefix(BOM).unwrap_or(bytes) } else { bytes };
        let changed = || Error::Changed(source.path.clone());
        let text = std::str::from_utf8(bytes).map_err(|_| changed())?;
        match source.format {
            Format::Text if offset == 0 => each(index, text, Day::None)?,
            Format::Text => return Err(changed()),
            Format::JsonLines => {
                let position = Position::new(file, offset);
                let record = extractor.record(fields, position, 1, text).map_err(|_| changed())?;
                each(index, record.text, record.day)?;
            }
        }
    }
    Ok(())
}

/// The text and the day of a record, given as [`Record::raw`](super::Record::raw) gave it.
///
/// # Errors
/// The [`Refusal`] of a record that is none.
pub fn record_text(
    format: Format,
    raw: &str,
    fields: &Fields,
) -> std::result::Result<(String, Day), Refusal> {
    match format {
        Format::Text => Ok((raw.strip_prefix('\u{feff}').unwrap_or(raw).to_owned(), Day::None)),
        Format::JsonLines => {
            let mut extractor = Extractor::default();
            let record = extractor.record(fields, Position::new(0, 0), 1, raw)?;
            Ok((record.text.to_owned(), record.day))
        }
    }
}

struct Again<'a> {
    source: &'a Source,
    window: Window,
    /// Bytes to read next: more and more, as long as reading goes straight on.
    step: usize,
}

impl Again<'_> {
    fn changed<T>(&self) -> Result<T> {
        Err(Error::Changed(self.source.path.clone()))
    }

    /// Reads more; whether there was more.
    fn more(&mut self) -> Result<bool> {
        let read = self.window.more(self.step);
        self.step = (2 * self.step).min(BLOCK);
        match read {
            Ok(read) => Ok(read > 0),
            Err(Fault::Io(error)) => Err(Error::io(&self.source.path, "read", error)),
            Err(Fault::Panic(what)) => Err(Error::Worker(what)),
        }
    }

    /// Makes `offset` the first pending byte.
    fn go_to(&mut self, offset: u64) -> Result<()> {
        let back = offset < self.window.offset();
        if (back || offset.saturating_sub(self.window.read_to()) >= GAP) && self.window.seek(offset) {
            self.step = FIRST;
        }
        while self.window.read_to() < offset {
            self.window.consume(usize::MAX);
            if !self.more()? {
                return self.changed();
            }
        }
        match offset.checked_sub(self.window.offset()) {
            Some(gap) => {
                self.window.consume(usize::try_from(gap).unwrap_or(usize::MAX));
                Ok(())
            }
            None => self.changed(),
        }
    }

    /// The bytes of the record that starts with the first pending byte: a line without its end, or all of a text.
    fn record(&mut self, fields: &Fields) -> Result<&[u8]> {
        let mut searched = 0;
        let length = loop {
            let pending = self.window.pending();
            let end = match self.source.format {
                Format::JsonLines => memchr(b'\n', &pending[searched..]),
                Format::Text => None,
            };
            if let Some(end) = end {
                break searched + end;
            }
            searched = pending.len();
            if searched > fields.max_record_bytes.saturating_add(BOM.len()) {
                return self.changed();
            }
            if !self.more()? {
                break searched;
            }
        };
        Ok(&self.window.pending()[..length])
    }
}
