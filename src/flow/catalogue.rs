//! What a run remembers of each document: a row in the segment of the worker that read it. Never its text.

mod sent;

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use super::budget::{Budget, Share, mapped};
use super::crew::Crew;
use super::spill::Spill;
use crate::config::Keep;
use crate::document::Position;
use crate::error::Result;
use crate::read::{Record, Value};
use crate::sketch::{sign, signature_words};

pub use sent::Rows;

/// A document's number within a run: `base + row * workers + worker`, over the workers of all processes. It names the
/// worker that read the document (its *home*) and the row there. Numbers depend on the run; positions do not.
pub type Doc = u32;

/// The rows of one worker, in the order it read them, which is document order.
#[derive(Debug)]
pub struct Segment {
    positions: Vec<Position>,
    lines: Vec<u32>,
    sizes: Vec<u32>,
    /// Ids behind one another: those that do not fit in memory in the spill, the others here.
    labels: Vec<u8>,
    spilled_labels: Spill,
    most_labels: usize,
    label_ends: Vec<u64>,
    signatures: Vec<u64>,
    /// Shorter than the rows are many once there is no room for more: the others are not signed.
    signature_starts: Vec<u64>,
    most_signatures: usize,
    /// Bytes of each text, the greatest number for more; if a keep policy or a collection asks for them.
    lengths: Option<Vec<u32>>,
    worth: Worth,
}

/// Bytes of a row that stay in memory whatever the bound: position, line, size, ends of id and signature.
const ROW: u64 = 8 + 4 + 4 + 8 + 8;

/// What the keep policy compares, a row each.
#[derive(Debug, Default)]
enum Worth {
    /// Position alone decides.
    #[default]
    Position,
    /// Bytes of the text.
    Length,
    /// A field of the record.
    Field(Vec<Option<Value>>),
}

impl Segment {
    /// An empty segment for a keep policy, of a load of a collection or not, one of so `many` that are held. Ids beyond
    /// their share of the memory go to a file in `scratch`.
    pub fn new(keep: &Keep, load: bool, many: usize, budget: &Budget, scratch: &Path) -> Segment {
        let most = |share: Share| usize::try_from(budget.whole(share)).unwrap_or(usize::MAX) / many;
        let worth = match keep {
            Keep::First | Keep::Last => Worth::Position,
            Keep::Longest | Keep::Shortest => Worth::Length,
            Keep::Field { .. } => Worth::Field(Vec::new()),
        };
        let rows = most(Share::Rows) / ROW as usize;
        Segment {
            positions: mapped(rows),
            lines: mapped(rows),
            sizes: mapped(rows),
            labels: mapped(most(Share::Labels)),
            spilled_labels: Spill::new(scratch),
            most_labels: most(Share::Labels),
            label_ends: mapped(rows),
            signatures: mapped(most(Share::Signatures) / 8),
            signature_starts: mapped(rows),
            most_signatures: most(Share::Signatures) / 8,
            lengths: (load || matches!(worth, Worth::Length)).then(Vec::new),
            worth,
        }
    }

    /// Bytes of memory that rows take, whatever the bound.
    pub fn bytes(&self) -> u64 {
        let worth = match &self.worth {
            Worth::Position | Worth::Length => 0,
            Worth::Field(_) => size_of::<Option<Value>>() as u64,
        };
        let length = self.lengths.as_ref().map_or(0, |_| 4);
        if self.positions.is_empty() {
            return self.len() as u64 * size_of::<u32>() as u64;
        }
        self.len() as u64 * (ROW + length + worth)
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there is no row yet.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Adds a row; the size of its set is filled in by [`Segment::set_last_size`].
    pub fn push(&mut self, record: &Record<'_>) -> Result<()> {
        if let Some(lengths) = &mut self.lengths {
            lengths.push(record.text.len().min(u32::MAX as usize) as u32);
        }
        if let Worth::Field(values) = &mut self.worth {
            values.push(record.value.clone());
        }
        self.push_place(record.position, record.line, record.id.as_deref())
    }

    /// Adds the row of a stored document, of which [`Catalogue::worth`] gives `worth` and `value`. Its line is not
    /// known here.
    pub fn push_stored(&mut self, position: Position, id: &str, worth: u64, value: &str) -> Result<()> {
        if let Some(lengths) = &mut self.lengths {
            lengths.push(worth.min(u64::from(u32::MAX)) as u32);
        }
        if let Worth::Field(values) = &mut self.worth {
            values.push(match worth {
                0 => None,
                u64::MAX => Some(Value::Text(value.to_owned())),
                number => Some(Value::Number(number_of(number))),
            });
        }
        self.push_place(position, 0, Some(id))
    }

    fn push_place(&mut self, position: Position, line: u32, id: Option<&str>) -> Result<()> {
        self.positions.push(position);
        self.lines.push(line);
        self.sizes.push(0);
        let label = id.unwrap_or("").as_bytes();
        if self.labels.len() + label.len() > self.most_labels && !self.labels.is_empty() {
            self.spilled_labels.append(&self.labels)?;
            self.labels.clear();
        }
        self.labels.extend_from_slice(label);
        let end = self.spilled_labels.bytes() + self.labels.len() as u64;
        self.label_ends.push(end << 1 | u64::from(id.is_some()));
        Ok(())
    }

    /// The size of the last row's set.
    pub fn set_last_size(&mut self, size: u32) {
        if let Some(last) = self.sizes.last_mut() {
            *last = size;
        }
    }

    /// Signs the last row's set, if it and those before it have room.
    pub fn sign_last(&mut self, set: &[u64]) {
        if self.signatures.len() + signature_words(set.len()) > self.most_signatures {
            self.most_signatures = 0;
            return;
        }
        self.signature_starts.resize(self.positions.len() - 1, self.signatures.len() as u64);
        self.signature_starts.push(self.signatures.len() as u64);
        sign(set, &mut self.signatures);
    }

    fn length(&self, row: usize) -> u32 {
        self.lengths.as_ref().map_or(0, |lengths| lengths[row])
    }

    fn label(&self, row: usize) -> Result<Option<Cow<'_, str>>> {
        let start = if row == 0 { 0 } else { self.label_ends[row - 1] >> 1 };
        let end = self.label_ends[row] >> 1;
        if self.label_ends[row] & 1 == 0 {
            return Ok(None);
        }
        let Some(start_held) = start.checked_sub(self.spilled_labels.bytes()) else {
            let mut bytes = vec![0; (end - start) as usize];
            self.spilled_labels.read(start, &mut bytes)?;
            return Ok(Some(Cow::Owned(String::from_utf8(bytes).unwrap_or_default())));
        };
        let held = &self.labels[start_held as usize..][..(end - start) as usize];
        Ok(Some(Cow::Borrowed(std::str::from_utf8(held).unwrap_or_default())))
    }
}

/// The segments of all workers; each is there from the moment its worker has read its last record, those of other
/// processes once all have.
#[derive(Debug)]
pub struct Catalogue {
    /// The number of the first document.
    base: Doc,
    crew: Crew,
    /// By worker.
    segments: Vec<OnceLock<Segment>>,
    keep: Keep,
}

impl Catalogue {
    /// A catalogue without segments yet.
    pub fn new(crew: Crew, keep: &Keep, base: Doc) -> Catalogue {
        let segments = (0..crew.all()).map(|_| OnceLock::new()).collect();
        Catalogue { base, crew, segments, keep: keep.clone() }
    }

    /// Hands in the finished segment of a worker, once.
    pub fn publish(&self, worker: usize, segment: Segment) {
        let first = self.segments[worker].set(segment).is_ok();
        debug_assert!(first, "a worker reads once");
    }

    fn segment(&self, doc: Doc) -> (&Segment, usize) {
        let segment = self.segments[self.crew.home(doc)].get();
        (
            segment.expect("asked only once every worker has read its input"),
            (doc - self.base) as usize / self.segments.len(),
        )
    }

    /// The number of the first document, a multiple of the number of workers; smaller ones are stored contents'.
    pub fn base(&self) -> Doc {
        self.base
    }

    /// Where the document stands.
    pub fn position(&self, doc: Doc) -> Position {
        let (segment, row) = self.segment(doc);
        segment.positions[row]
    }

    /// The document's line, counted from 1 within its unit of reading.
    pub fn line(&self, doc: Doc) -> u32 {
        let (segment, row) = self.segment(doc);
        segment.lines[row]
    }

    /// Bytes of the document's text, the greatest number for more; 0 if neither the keep policy nor a collection asks.
    pub fn text_bytes(&self, doc: Doc) -> u32 {
        let (segment, row) = self.segment(doc);
        segment.length(row)
    }

    /// The size of the set that pairs of the document are measured on.
    pub fn size(&self, doc: Doc) -> u32 {
        let (segment, row) = self.segment(doc);
        segment.sizes[row]
    }

    /// The signature of a document's set, if it was signed.
    pub fn signature(&self, doc: Doc) -> &[u64] {
        let (segment, row) = self.segment(doc);
        let Some(start) = segment.signature_starts.get(row) else { return &[] };
        let start = *start as usize;
        &segment.signatures[start..start + signature_words(segment.sizes[row] as usize)]
    }

    /// Some rows of a worker for another process: all that is known of them but their signatures, or their sizes alone.
    pub fn some_rows(&self, worker: usize, range: Range<usize>, whole: bool) -> Result<Rows> {
        self.segments[worker].get().map_or_else(|| Ok(Rows::default()), |segment| segment.rows(range, whole))
    }

    /// Bytes of memory that the rows of all workers take that are known by now.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().filter_map(OnceLock::get).map(Segment::bytes).sum()
    }

    /// Rows of a worker.
    pub fn rows(&self, worker: usize) -> usize {
        self.segments[worker].get().map_or(0, Segment::len)
    }

    /// One more than the greatest number of any document.
    pub fn doc_limit(&self) -> usize {
        let rows = self.segments.iter().map(|segment| segment.get().map_or(0, Segment::len));
        let ends = (1..).zip(rows).filter(|(_, rows)| *rows > 0);
        let ends = ends.map(|(worker, rows)| (rows - 1) * self.segments.len() + worker);
        self.base as usize + ends.max().unwrap_or(0)
    }

    /// The documents of all workers, in no order that means anything.
    pub fn docs(&self) -> impl Iterator<Item = Doc> {
        let workers = self.segments.len();
        let of =
            move |worker| (0..self.rows(worker)).map(move |row| (row * workers + worker) as Doc + self.base);
        (0..workers).flat_map(of)
    }

    /// The document's id, if its record has one.
    pub fn label(&self, doc: Doc) -> Result<Option<Cow<'_, str>>> {
        let (segment, row) = self.segment(doc);
        segment.label(row)
    }

    /// What the keep policy compares, as a number that orders as it does, and the string beside it if it is one: 0 for
    /// none, the greatest for a string, else bytes of text or a value.
    pub fn worth(&self, doc: Doc) -> (u64, &str) {
        let (segment, row) = self.segment(doc);
        match &segment.worth {
            Worth::Position => (0, ""),
            Worth::Length => (u64::from(segment.length(row)), ""),
            Worth::Field(values) => match &values[row] {
                None => (0, ""),
                Some(Value::Number(number)) => (ordered(*number), ""),
                Some(Value::Text(text)) => (u64::MAX, text),
            },
        }
    }

    /// Orders documents by the keep policy, the one to keep first; ties go to the earlier position.
    pub fn keep_order(&self, a: Doc, b: Doc) -> std::cmp::Ordering {
        let (left, i) = self.segment(a);
        let (right, j) = self.segment(b);
        let position = left.positions[i].cmp(&right.positions[j]);
        let policy = match (&self.keep, &left.worth, &right.worth) {
            (Keep::Last, ..) => return position.reverse(),
            (Keep::Longest, ..) => right.length(j).cmp(&left.length(i)),
            (Keep::Shortest, ..) => left.length(i).cmp(&right.length(j)),
            (Keep::Field { max, .. }, Worth::Field(x), Worth::Field(y)) => by_field(&x[i], &y[j], *max),
            _ => std::cmp::Ordering::Equal,
        };
        policy.then(position)
    }
}

/// A number that orders like a finite one, neither 0 nor the greatest.
fn ordered(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number that [`ordered`] made `order` of.
fn number_of(order: u64) -> f64 {
    f64::from_bits(if order >> 63 == 1 { order & !(1 << 63) } else { !order })
}

/// Documents without the field come last, whichever way the others are ordered; numbers stand before strings.
fn by_field(a: &Option<Value>, b: &Option<Value>, max: bool) -> std::cmp::Ordering {
    let ascending = match (a, b) {
        (None, None) => return std::cmp::Ordering::Equal,
        (None, Some(_)) => return std::cmp::Ordering::Greater,
        (Some(_), None) => return std::cmp::Ordering::Less,
        (Some(Value::Number(_)), Some(Value::Text(_))) => return std::cmp::Ordering::Less,
        (Some(Value::Text(_)), Some(Value::Number(_))) => return std::cmp::Ordering::Greater,
        (Some(Value::Number(x)), Some(Value::Number(y))) => x.total_cmp(y),
        (Some(Value::Text(x)), Some(Value::Text(y))) => x.cmp(y),
    };
    if max { ascending.reverse() } else { ascending }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_numbers_are_those_of_the_numbers_and_turn_back_into_them() {
        let numbers =
            [f64::MIN, -1e300, -2.5, -1.0, -f64::MIN_POSITIVE, -0.0, 0.0, 1e-300, 1.0, 9.5, f64::MAX];
        let orders = numbers.map(ordered);
        assert!(
            orders.is_sorted_by(|a, b| a < b) && orders.iter().all(|order| (1..u64::MAX).contains(order))
        );
        for (number, order) in numbers.into_iter().zip(orders) {
            assert_eq!(number_of(order).to_bits(), number.to_bits());
        }
    }

    #[test]
    fn numbers_then_strings_then_documents_without_the_field() {
        let number = |n| Some(Value::Number(n));
        let text = |t: &str| Some(Value::Text(t.to_owned()));
        let sorted = |max| {
            let mut values =
                [text("b"), None, number(10.0), text("a"), number(-1.0), number(9.0), text("10")];
            values.sort_by(|a, b| by_field(a, b, max));
            values
        };
        let ascending = [number(-1.0), number(9.0), number(10.0), text("10"), text("a"), text("b"), None];
        assert_eq!(sorted(false), ascending);
        let descending = [number(10.0), number(9.0), number(-1.0), text("b"), text("a"), text("10"), None];
        assert_eq!(sorted(true), descending);
        assert!(by_field(&None, &None, true).is_eq() && by_field(&number(1.0), &number(1.0), true).is_eq());
    }
}
