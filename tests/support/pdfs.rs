//! PDFs, made object by object: pages of lines, and files that lie.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

/// The same five lines, as four tools write them, and locked with a password.
pub(crate) const TOOLS: [(&str, &[u8]); 5] = [
    ("reportlab", include_bytes!("../pdfs/reportlab.pdf")),
    ("fpdf2", include_bytes!("../pdfs/fpdf2.pdf")),
    ("cairo", include_bytes!("../pdfs/cairo.pdf")),
    ("ghostscript", include_bytes!("../pdfs/ghostscript.pdf")),
    ("owner", include_bytes!("../pdfs/owner.pdf")),
];
pub(crate) const LOCKED: &[u8] = include_bytes!("../pdfs/user.pdf");

/// A stream with its dictionary, compressed.
pub(crate) fn stream(dictionary: &str, content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    let data = encoder.finish().unwrap();
    let head = format!("<< {dictionary} /Filter /FlateDecode /Length {} >>\nstream\n", data.len());
    [head.as_bytes(), &data, b"\nendstream"].concat()
}

/// A file of objects, numbered from 1: the first is the root, the second says what the document says of itself.
pub(crate) fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (at, object) in objects.iter().enumerate() {
        writeln!(table, "{:010} 00000 n ", file.len()).unwrap();
        file.extend([format!("{} 0 obj\n", at + 1).as_bytes(), object, b"\nendobj\n"].concat());
    }
    let trailer = format!("trailer\n<< /Root 1 0 R /Info 2 0 R /Size {} >>\n", objects.len() + 1);
    let start = file.len();
    file.extend(format!("{table}{trailer}startxref\n{start}\n%%EOF\n").as_bytes());
    file
}

/// The objects of a document of one page: it draws what the operators say.
pub(crate) fn page(operators: &[u8]) -> Vec<Vec<u8>> {
    vec![
        b"<< /Type /Catalog /Pages 3 0 R >>".to_vec(),
        b"<< /Title (T) /ModDate (D:20240102030405Z) >>".to_vec(),
        b"<< /Type /Pages /Kids [4 0 R] /Count 1 /MediaBox [0 0 612 792] >>".to_vec(),
        b"<< /Type /Page /Parent 3 0 R /Contents 5 0 R /Resources << /Font << /F 6 0 R >> /XObject << /X 7 0 R >> >> >>"
            .to_vec(),
        stream("", operators),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
    ]
}

/// A document whose pages have the lines of a text, and a title and a date. Characters have numbers of their own, which the font
/// tells; line by line they are drawn from the top.
pub(crate) fn pdf(text: &str, title: &str, date: &str) -> Vec<u8> {
    let mut codes: BTreeMap<char, usize> = BTreeMap::new();
    for character in text.chars() {
        let next = codes.len() + 1;
        codes.entry(character).or_insert(next);
    }
    let mut map = "begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange\n".to_owned();
    for (character, code) in &codes {
        let units: String =
            character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("{unit:04X}")).collect();
        writeln!(map, "1 beginbfchar <{code:04X}> <{units}> endbfchar").unwrap();
    }
    map += "endcmap";
    let lines: Vec<&str> = text.lines().collect();
    let pages: Vec<&[&str]> = lines.chunks(50).collect();
    let utf16 = |text: &str| text.encode_utf16().map(|unit| format!("{unit:04X}")).collect::<String>();
    let numbers = |at: usize| (9 + 2 * at, 10 + 2 * at);
    let kids: String = (0..pages.len()).map(|at| format!("{} 0 R ", numbers(at).0)).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 3 0 R >>".to_vec(),
        format!("<< /Title <FEFF{}> /CreationDate (D:19990101) /ModDate (D:{date}) >>", utf16(title)).into(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {} /MediaBox [0 0 612 792] >>", pages.len()).into(),
        b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [5 0 R] /ToUnicode 6 0 R >>"
            .to_vec(),
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /DW 600 /FontDescriptor 7 0 R \
          /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
            .to_vec(),
        stream("", map.as_bytes()),
        b"<< /Type /FontDescriptor /FontName /X /Flags 4 >>".to_vec(),
        b"<< /Font << /F 4 0 R >> >>".to_vec(),
    ];
    for (at, lines) in pages.iter().enumerate() {
        let mut operators = "BT /F 10 Tf 14 TL 50 750 Td\n".to_owned();
        for line in *lines {
            let codes: String = line.chars().map(|character| format!("{:04X}", codes[&character])).collect();
            writeln!(operators, "<{codes}> Tj T*").unwrap();
        }
        let page =
            format!("<< /Type /Page /Parent 3 0 R /Resources 8 0 R /Contents {} 0 R >>", numbers(at).1);
        objects.extend([page.into(), stream("", format!("{operators}ET").as_bytes())]);
    }
    file(&objects)
}

/// Lines as they are read: a word that is divided between two of them is one.
pub(crate) fn joined(text: &str) -> String {
    let mut joined = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let word = joined.trim_end_matches('\n');
        let divided = word.strip_suffix('-').is_some_and(|word| word.ends_with(char::is_alphabetic));
        if divided && line.starts_with(char::is_lowercase) {
            joined.truncate(word.len() - 1);
        }
        joined += line;
        joined += "\n";
    }
    joined
}
