//! Files and streams of Arrow, made byte by byte as its specification says, without what the program reads them with.

use super::columns::Columns;

/// What metadata is made of.
enum Flat {
    Byte(u8),
    Short(i16),
    Int(i32),
    Long(i64),
    Text(String),
    Table(Vec<(usize, Flat)>),
    Tables(Vec<Flat>),
    /// Things of one size, so many, one behind the other.
    Structs(usize, Vec<u8>),
}

/// How texts are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Laid {
    Strings,
    Large,
    Views,
    /// With a dictionary that grows from batch to batch.
    Growing,
    /// With a dictionary of each batch.
    Replaced,
    Runs,
}

/// How buffers are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packed {
    Not,
    Lz4,
    Zstd,
}

/// How a file is written.
#[derive(Clone, Debug)]
pub(crate) struct Batches {
    /// Whether it is a stream.
    pub(crate) stream: bool,
    /// Rows of each batch; the last of them again and again.
    pub(crate) sizes: Vec<usize>,
    pub(crate) laid: Laid,
    pub(crate) packed: Packed,
}

/// The body of a batch on its way, and what its head says.
struct Body {
    packed: Packed,
    bytes: Vec<u8>,
    nodes: Vec<u8>,
    buffers: Vec<u8>,
    variadic: Vec<u8>,
}

/// A message: its head, and its body.
struct Message {
    head: Vec<u8>,
    body: Vec<u8>,
}

const DICTIONARY: i64 = 7;

/// Files and streams of one content, in every way to lay out texts and to compress.
pub(crate) fn every_kind(rows: &[Columns]) -> Vec<(String, Vec<u8>)> {
    use Laid::{Growing, Large, Replaced, Runs, Strings, Views};
    let kinds: [(bool, &[usize], Laid, Packed); 9] = [
        (false, &[1000], Strings, Packed::Not),
        (true, &[50], Strings, Packed::Not),
        (false, &[1, 2, 300], Large, Packed::Zstd),
        (true, &[64, 7], Views, Packed::Not),
        (false, &[90], Views, Packed::Lz4),
        (true, &[33], Growing, Packed::Not),
        (false, &[70], Growing, Packed::Zstd),
        (true, &[90], Replaced, Packed::Lz4),
        (false, &[120, 3], Runs, Packed::Not),
    ];
    let made = kinds.into_iter().map(|(stream, sizes, laid, packed)| {
        let name = format!("{} of {laid:?}, {packed:?}", if stream { "stream" } else { "file" });
        (name, Batches { stream, sizes: sizes.to_vec(), laid, packed }.file(rows))
    });
    made.collect()
}

fn align(out: &mut Vec<u8>, to: usize, rest: usize) {
    while out.len() % to != rest {
        out.push(0);
    }
}

impl Flat {
    /// Appends it, behind all that leads to it; where it is.
    fn put(&self, out: &mut Vec<u8>) -> usize {
        match self {
            Flat::Table(fields) => put_table(fields, out),
            Flat::Text(text) => {
                align(out, 4, 0);
                let at = out.len();
                out.extend_from_slice(&(text.len() as u32).to_le_bytes());
                out.extend_from_slice(text.as_bytes());
                out.push(0);
                at
            }
            Flat::Tables(tables) => {
                align(out, 4, 0);
                let at = out.len();
                out.extend_from_slice(&(tables.len() as u32).to_le_bytes());
                out.resize(at + 4 + 4 * tables.len(), 0);
                for (number, table) in tables.iter().enumerate() {
                    let place = at + 4 + 4 * number;
                    lead(out, place, table);
                }
                at
            }
            Flat::Structs(size, bytes) => {
                align(out, 8, 4);
                let at = out.len();
                out.extend_from_slice(&((bytes.len() / size) as u32).to_le_bytes());
                out.extend_from_slice(bytes);
                at
            }
            Flat::Byte(_) | Flat::Short(_) | Flat::Int(_) | Flat::Long(_) => {
                unreachable!("no thing of its own")
            }
        }
    }
}

/// Appends a thing, and leads a place to it.
fn lead(out: &mut Vec<u8>, place: usize, to: &Flat) {
    let at = to.put(out);
    out[place..place + 4].copy_from_slice(&((at - place) as u32).to_le_bytes());
}

fn put_table(fields: &[(usize, Flat)], out: &mut Vec<u8>) -> usize {
    let slots = fields.iter().map(|(field, _)| field + 1).max().unwrap_or(0);
    align(out, 2, 0);
    let vtable = out.len();
    out.resize(vtable + 4 + 2 * slots, 0);
    // Behind the distance to its slots a table begins with what is aligned to eight bytes.
    align(out, 8, 4);
    let table = out.len();
    out.extend_from_slice(&((table - vtable) as i32).to_le_bytes());
    out.resize(table + 4 + 8 * fields.len(), 0);
    out[vtable..vtable + 2].copy_from_slice(&((4 + 2 * slots) as u16).to_le_bytes());
    out[vtable + 2..vtable + 4].copy_from_slice(&((4 + 8 * fields.len()) as u16).to_le_bytes());
    for (number, (field, value)) in fields.iter().enumerate() {
        let place = table + 4 + 8 * number;
        let slot = vtable + 4 + 2 * field;
        out[slot..slot + 2].copy_from_slice(&((place - table) as u16).to_le_bytes());
        match value {
            Flat::Byte(byte) => out[place] = *byte,
            Flat::Short(number) => out[place..place + 2].copy_from_slice(&number.to_le_bytes()),
            Flat::Int(number) => out[place..place + 4].copy_from_slice(&number.to_le_bytes()),
            Flat::Long(number) => out[place..place + 8].copy_from_slice(&number.to_le_bytes()),
            thing => lead(out, place, thing),
        }
    }
    table
}

/// Metadata whose root is a table.
fn metadata(root: Vec<(usize, Flat)>) -> Vec<u8> {
    let mut out = vec![0; 4];
    lead(&mut out, 0, &Flat::Table(root));
    align(&mut out, 8, 0);
    out
}

/// What a writer says beside the rows.
fn said(key: &str, value: &str) -> Flat {
    let pair = vec![(0, Flat::Text(key.to_owned())), (1, Flat::Text(value.to_owned()))];
    Flat::Tables(vec![Flat::Table(pair)])
}

/// A field of a type, by its number, with what describes it.
fn field(name: &str, number: u8, kind: Vec<(usize, Flat)>, children: Vec<Flat>) -> Vec<(usize, Flat)> {
    vec![
        (0, Flat::Text(name.to_owned())),
        (1, Flat::Byte(1)),
        (2, Flat::Byte(number)),
        (3, Flat::Table(kind)),
        (5, Flat::Tables(children)),
        (6, said("about", name)),
    ]
}

fn integer(bits: i32) -> Vec<(usize, Flat)> {
    vec![(0, Flat::Int(bits)), (1, Flat::Byte(1))]
}

fn text_field(name: &str, laid: Laid) -> Flat {
    match laid {
        Laid::Large => Flat::Table(field(name, 20, Vec::new(), Vec::new())),
        Laid::Views => Flat::Table(field(name, 24, Vec::new(), Vec::new())),
        Laid::Growing | Laid::Replaced => {
            let mut fields = field(name, 5, Vec::new(), Vec::new());
            let keys = vec![(0, Flat::Long(DICTIONARY)), (1, Flat::Table(integer(16)))];
            fields.push((4, Flat::Table(keys)));
            Flat::Table(fields)
        }
        Laid::Runs => {
            let ends = Flat::Table(field("run_ends", 2, integer(32), Vec::new()));
            let children = vec![ends, text_field("values", Laid::Strings)];
            Flat::Table(field(name, 22, Vec::new(), children))
        }
        Laid::Strings => Flat::Table(field(name, 5, Vec::new(), Vec::new())),
    }
}

fn schema(laid: Laid) -> Flat {
    let tags = vec![text_field("item", Laid::Strings)];
    let score = Flat::Table(field("score", 3, vec![(0, Flat::Short(2))], Vec::new()));
    let fields = vec![
        text_field("id", Laid::Strings),
        text_field("text", laid),
        Flat::Table(field("n", 2, integer(64), Vec::new())),
        Flat::Table(field("tags", 12, Vec::new(), tags)),
        Flat::Table(field("meta", 13, Vec::new(), vec![score, text_field("text", Laid::Strings)])),
    ];
    Flat::Table(vec![(1, Flat::Tables(fields)), (2, said("huggingface", "{\"info\": {}}"))])
}

impl Body {
    fn new(packed: Packed) -> Body {
        let empty = Vec::new;
        Body { packed, bytes: empty(), nodes: empty(), buffers: empty(), variadic: empty() }
    }

    fn node(&mut self, rows: usize, nulls: usize) {
        for number in [rows, nulls] {
            self.nodes.extend_from_slice(&(number as i64).to_le_bytes());
        }
    }

    fn buffer(&mut self, bytes: &[u8]) {
        let start = self.bytes.len();
        match self.packed {
            _ if bytes.is_empty() => {}
            Packed::Not => self.bytes.extend_from_slice(bytes),
            // As writers do with what would grow.
            _ if bytes.len() < 20 => {
                self.bytes.extend_from_slice(&(-1i64).to_le_bytes());
                self.bytes.extend_from_slice(bytes);
            }
            packed => {
                self.bytes.extend_from_slice(&(bytes.len() as i64).to_le_bytes());
                self.bytes.extend_from_slice(&match packed {
                    Packed::Zstd => zstd::encode_all(bytes, 1).unwrap(),
                    _ => lz4(bytes),
                });
            }
        }
        for number in [start, self.bytes.len() - start] {
            self.buffers.extend_from_slice(&(number as i64).to_le_bytes());
        }
        align(&mut self.bytes, 8, 0);
    }

    /// Which of some values are there: a bit each.
    fn validity(&mut self, there: &[bool]) {
        let nulls = there.iter().filter(|there| !**there).count();
        self.node(there.len(), nulls);
        let bits =
            there.chunks(8).map(|some| some.iter().rev().fold(0, |bits, there| bits << 1 | u8::from(*there)));
        let bits: Vec<u8> = bits.collect();
        self.buffer(if nulls > 0 { &bits } else { &[] });
    }

    fn strings(&mut self, texts: &[Option<&str>], wide: bool) {
        self.validity(&texts.iter().map(Option::is_some).collect::<Vec<_>>());
        let lengths: Vec<usize> = texts.iter().map(|text| text.map_or(0, str::len)).collect();
        self.offsets(&lengths, wide);
        self.buffer(texts.iter().flatten().copied().collect::<String>().as_bytes());
    }

    fn offsets(&mut self, lengths: &[usize], wide: bool) {
        let (mut offset, mut offsets) = (0u64, Vec::new());
        for length in [0].iter().chain(lengths) {
            offset += *length as u64;
            offsets.extend_from_slice(&offset.to_le_bytes()[..if wide { 8 } else { 4 }]);
        }
        self.buffer(&offsets);
    }

    /// Texts in two buffers by turns, one of them the other way round.
    fn views(&mut self, texts: &[Option<&str>]) {
        self.validity(&texts.iter().map(Option::is_some).collect::<Vec<_>>());
        let mut data = [Vec::new(), Vec::new()];
        let mut views = vec![0; 16 * texts.len()];
        let order = (0..texts.len()).step_by(2).chain((0..texts.len()).rev().filter(|row| row % 2 == 1));
        for row in order {
            let view = &mut views[16 * row..16 * row + 16];
            let Some(text) = texts[row].map(str::as_bytes) else { continue };
            view[..4].copy_from_slice(&(text.len() as u32).to_le_bytes());
            if text.len() <= 12 {
                view[4..4 + text.len()].copy_from_slice(text);
                continue;
            }
            let of = &mut data[row % 2];
            view[4..8].copy_from_slice(&text[..4]);
            view[8..12].copy_from_slice(&(row as u32 % 2).to_le_bytes());
            view[12..].copy_from_slice(&(of.len() as u32).to_le_bytes());
            of.extend_from_slice(text);
        }
        self.buffer(&views);
        data.iter().for_each(|data| self.buffer(data));
        self.variadic.extend_from_slice(&2i64.to_le_bytes());
    }

    /// Texts as runs of equal ones.
    fn runs(&mut self, texts: &[Option<&str>]) {
        self.node(texts.len(), 0);
        let (mut ends, mut values, mut rows) = (Vec::new(), Vec::new(), 0u32);
        for run in texts.chunk_by(|one, two| one == two) {
            rows += run.len() as u32;
            ends.extend_from_slice(&rows.to_le_bytes());
            values.push(run[0]);
        }
        self.node(values.len(), 0);
        self.buffer(&[]);
        self.buffer(&ends);
        self.strings(&values, false);
    }

    /// A batch of so many rows, of a message of a kind.
    fn message(self, rows: usize, of: impl FnOnce(Flat) -> (u8, Flat), number: usize) -> Message {
        let mut batch = vec![
            (0, Flat::Long(rows as i64)),
            (1, Flat::Structs(16, self.nodes)),
            (2, Flat::Structs(16, self.buffers)),
        ];
        match self.packed {
            Packed::Not => {}
            packed => batch.push((3, Flat::Table(vec![(0, Flat::Byte(u8::from(packed == Packed::Zstd)))]))),
        }
        if !self.variadic.is_empty() {
            batch.push((4, Flat::Structs(8, self.variadic)));
        }
        let (kind, header) = of(Flat::Table(batch));
        message(kind, header, self.bytes, number)
    }
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

fn message(kind: u8, header: Flat, body: Vec<u8>, number: usize) -> Message {
    let fields = vec![
        (0, Flat::Short(4)),
        (1, Flat::Byte(kind)),
        (2, header),
        (3, Flat::Long(body.len() as i64)),
        (4, said("message", &number.to_string())),
    ];
    let metadata = metadata(fields);
    let mut head = vec![0xff; 4];
    head.extend_from_slice(&(metadata.len() as u32).to_le_bytes());
    head.extend_from_slice(&metadata);
    Message { head, body }
}

/// A footer, and what is behind it.
fn footer(laid: Laid, dictionaries: Vec<u8>, batches: Vec<u8>) -> Vec<u8> {
    let fields = vec![
        (0, Flat::Short(4)),
        (1, schema(laid)),
        (2, Flat::Structs(24, dictionaries)),
        (3, Flat::Structs(24, batches)),
        (4, said("of", "the file")),
    ];
    let mut footer = metadata(fields);
    let length = footer.len() as u32;
    footer.extend_from_slice(&length.to_le_bytes());
    footer.extend_from_slice(b"ARROW1");
    footer
}

impl Batches {
    /// A file, or a stream, of batches of so many rows.
    pub(crate) fn plain(stream: bool, sizes: &[usize]) -> Batches {
        Batches { stream, sizes: sizes.to_vec(), laid: Laid::Strings, packed: Packed::Not }
    }

    /// The file.
    pub(crate) fn file(&self, rows: &[Columns]) -> Vec<u8> {
        let mut out = if self.stream { Vec::new() } else { b"ARROW1\0\0".to_vec() };
        let first = message(1, schema(self.laid), Vec::new(), 0);
        out.extend_from_slice(&first.head);
        let [mut dictionaries, mut batches] = [Vec::new(), Vec::new()];
        let (mut rest, mut sizes, mut size) = (rows, self.sizes.iter(), 0);
        let mut known: Vec<&str> = Vec::new();
        let mut number = 0;
        while !rest.is_empty() {
            size = sizes.next().copied().unwrap_or(size);
            let (some, behind) = rest.split_at(size.min(rest.len()));
            if matches!(self.laid, Laid::Growing | Laid::Replaced) {
                let dictionary = self.dictionary(some, &mut known, number);
                place(&mut out, &dictionary, &mut dictionaries);
            }
            number += 1;
            place(&mut out, &self.batch(some, &known, number), &mut batches);
            rest = behind;
        }
        out.extend_from_slice(b"\xff\xff\xff\xff\0\0\0\0");
        if !self.stream {
            out.extend_from_slice(&footer(self.laid, dictionaries, batches));
        }
        out
    }

    /// The dictionary of a batch, or what it adds.
    fn dictionary<'a>(&self, rows: &'a [Columns], known: &mut Vec<&'a str>, number: usize) -> Message {
        let delta = number > 0 && self.laid == Laid::Growing;
        if !delta {
            known.clear();
        }
        let before = known.len();
        for text in rows.iter().filter_map(|row| row.text.as_deref()) {
            if !known.contains(&text) {
                known.push(text);
            }
        }
        let mut body = Body::new(self.packed);
        let values: Vec<Option<&str>> = known[before..].iter().copied().map(Some).collect();
        body.strings(&values, false);
        let of = |batch| {
            let fields = vec![(0, Flat::Long(DICTIONARY)), (1, batch), (2, Flat::Byte(u8::from(delta)))];
            (2, Flat::Table(fields))
        };
        body.message(values.len(), of, 1000 + number)
    }

    fn batch(&self, rows: &[Columns], known: &[&str], number: usize) -> Message {
        let mut body = Body::new(self.packed);
        let texts: Vec<Option<&str>> = rows.iter().map(|row| row.text.as_deref()).collect();
        body.strings(&rows.iter().map(|row| Some(&*row.id)).collect::<Vec<_>>(), false);
        match self.laid {
            Laid::Strings => body.strings(&texts, false),
            Laid::Large => body.strings(&texts, true),
            Laid::Views => body.views(&texts),
            Laid::Runs => body.runs(&texts),
            Laid::Growing | Laid::Replaced => {
                body.validity(&texts.iter().map(Option::is_some).collect::<Vec<_>>());
                let key = |text: &&str| known.iter().position(|known| known == text).unwrap() as i16;
                let keys = texts.iter().map(|text| text.as_ref().map_or(-1, key));
                body.buffer(&keys.flat_map(i16::to_le_bytes).collect::<Vec<u8>>());
            }
        }
        body.validity(&rows.iter().map(|row| row.n.is_some()).collect::<Vec<_>>());
        body.buffer(&rows.iter().flat_map(|row| row.n.unwrap_or(-1).to_le_bytes()).collect::<Vec<u8>>());
        body.validity(&rows.iter().map(|row| row.tags.is_some()).collect::<Vec<_>>());
        body.offsets(
            &rows.iter().map(|row| row.tags.as_ref().map_or(0, Vec::len)).collect::<Vec<_>>(),
            false,
        );
        let tags = rows.iter().flat_map(|row| row.tags.iter().flatten().map(Option::as_deref));
        body.strings(&tags.collect::<Vec<_>>(), false);
        body.validity(&vec![true; rows.len()]);
        body.validity(&rows.iter().map(|row| row.score.is_some()).collect::<Vec<_>>());
        let scores = rows.iter().flat_map(|row| row.score.unwrap_or(f64::NAN).to_le_bytes());
        body.buffer(&scores.collect::<Vec<u8>>());
        body.strings(&texts, false);
        body.message(rows.len(), |batch| (3, batch), number)
    }
}

/// Appends a message, and what a footer says of its place.
fn place(out: &mut Vec<u8>, message: &Message, blocks: &mut Vec<u8>) {
    for number in [out.len(), message.head.len(), message.body.len()] {
        blocks.extend_from_slice(&(number as i64).to_le_bytes());
    }
    out.extend_from_slice(&message.head);
    out.extend_from_slice(&message.body);
}
