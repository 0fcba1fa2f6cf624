//! Packed documents, made byte by byte: DOCX, ODT and EPUB of some paragraphs, and zip files that lie.

use std::io::Write;

/// A member of a zip file.
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) content: Vec<u8>,
    /// The size that the directory says, if it is not the true one.
    pub(crate) said: Option<u32>,
    pub(crate) stored: bool,
}

impl Member {
    pub(crate) fn new(name: &'static str, content: impl Into<Vec<u8>>) -> Member {
        Member { name, content: content.into(), said: None, stored: name == "mimetype" }
    }
}

/// A zip file.
pub(crate) fn zip(members: &[Member]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for member in members {
        let mut crc = flate2::Crc::new();
        crc.update(&member.content);
        let data = match member.stored {
            true => member.content.clone(),
            false => {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(&member.content).unwrap();
                encoder.finish().unwrap()
            }
        };
        let size = member.said.unwrap_or(member.content.len().try_into().unwrap());
        let mut common = vec![20, 0, 0, 8, if member.stored { 0 } else { 8 }, 0, 0, 0, 0x21, 0x50];
        for number in [crc.sum(), data.len().try_into().unwrap(), size] {
            common.extend(number.to_le_bytes());
        }
        common.extend(u16::try_from(member.name.len()).unwrap().to_le_bytes());
        common.extend([0, 0]);
        let at = u32::try_from(file.len()).unwrap();
        file.extend([&b"PK\x03\x04"[..], &common, member.name.as_bytes(), &data].concat());
        let place = [&[0; 10][..], &at.to_le_bytes()].concat();
        directory.extend([&b"PK\x01\x02\x14\0"[..], &common, &place, member.name.as_bytes()].concat());
    }
    let count = u16::try_from(members.len()).unwrap().to_le_bytes();
    let sizes = [u32::try_from(directory.len()).unwrap(), u32::try_from(file.len()).unwrap()];
    let end = [
        &b"PK\x05\x06\0\0\0\0"[..],
        &count,
        &count,
        &sizes[0].to_le_bytes(),
        &sizes[1].to_le_bytes(),
        &[0, 0],
    ];
    [file, directory, end.concat()].concat()
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn paragraphs(text: &str, begin: &str, end: &str) -> String {
    text.lines().map(|line| format!("{begin}{}{end}", escaped(line))).collect()
}

/// The members of a document of Word.
pub(crate) fn docx_members(text: &str, title: &str, date: &str) -> Vec<Member> {
    const TYPES: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let body = paragraphs(
        text,
        "<w:p><w:pPr><w:jc/></w:pPr><w:r><w:t xml:space=\"preserve\">",
        "</w:t></w:r></w:p>",
    );
    let core = format!(
        "<cp:p><dc:title>{}</dc:title><dcterms:modified>{date}T00:00:00Z</dcterms:modified></cp:p>",
        escaped(title)
    );
    vec![
        Member::new(
            "[Content_Types].xml",
            "<Types><Override PartName=\"/word/document.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.\
             wordprocessingml.document.main+xml\"/></Types>",
        ),
        Member::new(
            "_rels/.rels",
            format!(
                "<Relationships><Relationship Id=\"1\" Type=\"{TYPES}/officeDocument\" Target=\"word/document.xml\"/>\
                 <Relationship Id=\"2\" Type=\"x/metadata/core-properties\" Target=\"docProps/core.xml\"/></Relationships>"
            ),
        ),
        Member::new("docProps/core.xml", core),
        Member::new("word/media/image1.png", *b"\x89PNG"),
        Member::new(
            "word/_rels/document.xml.rels",
            format!(
                "<Relationships><Relationship Id=\"1\" Type=\"{TYPES}/footnotes\" Target=\"footnotes.xml\"/></Relationships>"
            ),
        ),
        Member::new("word/footnotes.xml", "<w:footnotes><w:footnote w:type=\"separator\"/></w:footnotes>"),
        Member::new(
            "word/document.xml",
            format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?><w:document><w:body>{body}<w:sectPr/></w:body></w:document>"
            ),
        ),
    ]
}

/// The members of a text in the OpenDocument format.
pub(crate) fn odt_members(text: &str, title: &str, date: &str) -> Vec<Member> {
    let body = paragraphs(text, "<text:p text:style-name=\"P1\">", "</text:p>");
    let content = format!(
        "<office:document-content><office:body><office:text>{body}</office:text></office:body></office:document-content>"
    );
    let meta = format!(
        "<office:meta><dc:title>{}</dc:title><dc:date>{date}</dc:date></office:meta>",
        escaped(title)
    );
    vec![
        Member::new("mimetype", "application/vnd.oasis.opendocument.text"),
        Member::new("meta.xml", meta),
        Member::new("content.xml", content),
        Member::new("META-INF/manifest.xml", "<manifest/>"),
    ]
}

/// The members of a book, of two pages if the text has two lines.
pub(crate) fn epub_members(text: &str, title: &str, date: &str) -> Vec<Member> {
    let lines: Vec<&str> = text.lines().collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    let page = |lines: &[&str]| {
        let body = paragraphs(&lines.join("\n"), "<p>", "</p>");
        format!("<?xml version=\"1.0\"?><html><head><title>page</title></head><body>{body}</body></html>")
    };
    let description = format!(
        "<package><metadata><dc:title>{}</dc:title><dc:date>{date}</dc:date></metadata><manifest>\
         <item id=\"2\" href=\"b%20c.xhtml\" media-type=\"application/xhtml+xml\"/><item id=\"x\" href=\"x.png\" media-type=\"image/png\"/>\
         <item id=\"1\" href=\"a.xhtml#x\" media-type=\"application/xhtml+xml\"/></manifest>\
         <spine><itemref idref=\"1\"/><itemref idref=\"x\"/><itemref idref=\"2\"/></spine></package>",
        escaped(title)
    );
    vec![
        Member::new("mimetype", "application/epub+zip"),
        Member::new(
            "META-INF/container.xml",
            "<container><rootfiles><rootfile full-path=\"OPS/book.opf\"/></rootfiles></container>",
        ),
        Member::new("OPS/book.opf", description),
        Member::new("OPS/b c.xhtml", page(second)),
        Member::new("OPS/a.xhtml", page(first)),
    ]
}
