//! Packages, with parts that hold any bytes.

use std::io::Write;

/// A zip file of members: the first one stored, the others deflated.
pub(crate) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (at, (name, content)) in members.iter().enumerate() {
        let mut sum = flate2::Crc::new();
        sum.update(content);
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).expect("compressed");
        let deflated = encoder.finish().expect("compressed");
        let (method, data) = if at == 0 { (0, content.to_vec()) } else { (8, deflated) };
        let mut common = vec![20, 0, 0, 8, method, 0, 0, 0, 0x21, 0x50];
        for number in [sum.sum(), data.len() as u32, content.len() as u32] {
            common.extend(number.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        let place = [&[0; 10][..], &(file.len() as u32).to_le_bytes()].concat();
        file.extend([&b"PK\x03\x04"[..], &common, name.as_bytes(), &data].concat());
        directory.extend([&b"PK\x01\x02\x14\0"[..], &common, &place, name.as_bytes()].concat());
    }
    let count = (members.len() as u16).to_le_bytes();
    let [size, place] = [directory.len() as u32, file.len() as u32].map(u32::to_le_bytes);
    [&file[..], &directory, b"PK\x05\x06\0\0\0\0", &count, &count, &size, &place, &[0, 0]].concat()
}

/// A document of Word with such a body, and the same as its only header.
pub(crate) fn docx(body: &[u8]) -> Vec<u8> {
    let document = [b"<w:document>", body, b"</w:document>"].concat();
    zip(&[
        (
            "[Content_Types].xml",
            b"<Types><Override ContentType=\"x.wordprocessingml.document.main+xml\"/></Types>",
        ),
        (
            "_rels/.rels",
            b"<Relationships><Relationship Type=\"x/officeDocument\" Target=\"word/document.xml\"/>\
              <Relationship Type=\"x/core-properties\" Target=\"docProps/core.xml\"/></Relationships>",
        ),
        (
            "docProps/core.xml",
            b"<cp><dc:title>T</dc:title><dcterms:created>2024-01-31</dcterms:created></cp>",
        ),
        ("word/document.xml", &document),
        ("word/header1.xml", &document),
        (
            "word/_rels/document.xml.rels",
            b"<Relationships><Relationship Type=\"x/header\" Target=\"/word/header1.xml\"/></Relationships>",
        ),
    ])
}

/// A text in the OpenDocument format with such a body, which stands among its styles, too.
pub(crate) fn odt(body: &[u8]) -> Vec<u8> {
    let content = [b"<office:text>", body, b"</office:text>"].concat();
    zip(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("meta.xml", b"<m><dc:title>T</dc:title><dc:date>2024-01-31</dc:date></m>"),
        ("content.xml", &content),
        ("styles.xml", &content),
    ])
}

/// A book with such a description, and the same as its second page.
pub(crate) fn epub(description: &[u8]) -> Vec<u8> {
    zip(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", b"<c><rootfile full-path=\"b/b.opf\"/></c>"),
        ("b/b.opf", description),
        ("b/1.xhtml", b"<html><head><title>x</title></head><body><p>a b</p></body></html>"),
        ("b/b.xhtml", description),
        ("META-INF/encryption.xml", b"<e><CipherReference URI=\"b/x.otf\"/></e>"),
    ])
}
