//! Good files of each kind, and changes of them.

use crate::reader::gzip;
use crate::take;

/// A table with quotes, line breaks, changes, dates and numbers.
pub(crate) const CSV: &str = "id,text,v,date,op,w\n\
    1,a b c,0.5,2024-01-31,upsert,x\n\
    2,\"a \"\"quoted\"\" text\r\nin two lines\",1e3,31.1.2024,,x\n\
    \n\
    3,,,,delete,\n\
    \"4\",\"x, y\",v,2024,,\"w\"\r\n";

/// The same with tabs.
pub(crate) const TSV: &str = "\u{feff}id\ttext\tv\n1\ta b c\t2\n2\t\"d\te\"\t3\n";

/// A page with a title, a character set, and what is never shown.
pub(crate) const HTML: &str = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>T &amp; t</title>\
    <style>p { x: y }</style><script>if (a < b) { \"</p>\" }</script></head>\
    <body><!-- c --><h1>A</h1><p>b<b>c</b> d&eacute;&#x41;<br/>e<noscript>n</noscript><table><tr><td>f</table>\
    <svg><![CDATA[g]]></svg><textarea>h</textarea></body></html>";

/// The body of a document of Word: paragraphs, a table, changes, hidden text and a field.
pub(crate) const WORD: &str = "<w:body><w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>a &amp; b</w:t><w:tab/></w:r></w:p>\
    <w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>x</w:t></w:r><w:del><w:r><w:t>x</w:t></w:r></w:del><w:r><w:t>c</w:t><w:br/>\
    <w:sym w:char=\"3b1\"/><w:instrText>x</w:instrText></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>d</w:t></w:r></w:p></w:tc>\
    </w:tr></w:tbl><mc:AlternateContent><mc:Fallback><w:t>x</w:t></mc:Fallback></mc:AlternateContent></w:body>";

/// The body of an OpenDocument text: paragraphs, notes, comments, spaces, and the header of a page.
pub(crate) const OPEN_TEXT: &str = "<text:tracked-changes><text:p>x</text:p></text:tracked-changes><text:h>a</text:h>\
    <text:p>b<text:s text:c=\"3\"/>c<text:tab/><text:note text:note-class=\"endnote\"><text:note-citation>1</text:note-citation>\
    <text:note-body><text:p>n</text:p></text:note-body></text:note><office:annotation><text:p>x</text:p></office:annotation></text:p>\
    <style:header><text:p>h</text:p></style:header><style:footer><text:p>f</text:p></style:footer>";

/// The description of a book, which is also a page of it.
pub(crate) const BOOK: &str = "<package><metadata><dc:title>T</dc:title><dc:date>2024-01-31</dc:date></metadata><manifest>\
    <item id=\"1\" href=\"1.xhtml\" media-type=\"application/xhtml+xml\"/><item id=\"2\" href=\"b%2Exhtml\" media-type=\"text/html\"/>\
    </manifest><spine><itemref idref=\"1\"/><itemref idref=\"2\"/></spine></package>";

/// RTF with fonts, properties, notes, fields, changes, and characters in every spelling.
pub(crate) const RTF: &str = "{\\rtf1\\ansi\\ansicpg1252\\deff0\\uc1{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset128 B;}}\
    {\\info{\\title T\\'e9}{\\revtim\\yr2024\\mo1\\dy31}}{\\header h\\par}a{\\b b}\\u233?\\'e9{\\f1\\'82\\'a0}\\par\\tab\
    {\\*\\unknown x{y}}{\\field{\\*\\fldinst X}{\\fldrslt r}}{\\footnote n}{\\v x}{\\deleted x}{\\pict\\bin3 }}}}\
    {\\upr{x}{\\*\\ud\\u-10179?\\u-8704?}}\\trowd c\\cell d\\cell\\row\\~\\_\\-\\{\\}\\\\}";

/// A message with parts within parts: text in two forms, in two encodings, a message, and an attachment.
pub(crate) const MAIL: &str = "From: A <a@example.org>\nTo: b@example.org, C <c@example.org>\n\
    Subject: =?utf-8?q?caf=C3=A9?= =?iso-8859-1?b?6Q==?=\nDate: Wed, 31 Jan 2024 10:00:00 +0100\n\
    Message-ID: <1@example.org>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"b1\"\n\n\
    --b1\nContent-Type: multipart/alternative; boundary=b2\n\n\
    --b2\nContent-Type: text/plain; charset=koi8-r\nContent-Transfer-Encoding: quoted-printable\n\n=C1=C2 a=\nb\n\
    --b2\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\nPHA+YTxiPmI8L2I+PC9wPg==\n--b2--\n\
    --b1\nContent-Type: message/rfc822\n\nSubject: inner\nFrom: d@example.org\n\ninner text\n\
    --b1\nContent-Type: application/octet-stream; name*0=\"a\"; name*1=\"b\"\nContent-Disposition: attachment\n\
    Content-Transfer-Encoding: base64\n\nAAEC\n--b1--\n";

/// Records of TREC: news, a page with its headers, and one as tools write it that take Wikipedia apart.
pub(crate) const TREC: &str = "<?xml version=\"1.0\"?>\n<DOC>\n<DOCNO> AP1 </DOCNO>\n<DATE>2024-01-31</DATE>\n<HEAD>a &amp; b</HEAD>\n\
    <TEXT>\n  <P>c d\n<P>e</TEXT>\n<v>2</v>\n</DOC>\n<DOC>\n<DOCNO>W1</DOCNO>\n<DOCHDR>\nhttp://a.example/ 1.2.3.4\n\
    Content-Type: text/html; charset=latin1\n</DOCHDR>\n<title>f</title><p>g &eacute;</DOC>\n\
    <doc id=\"12\" url=\"http://a.example/\" title=\"A &quot;b&quot;\">\nh i\n</doc>\n<DOC id=x >\n<HEADLINE>j</DOC>\n";

/// A dump: pages of one revision and of two, one that leads to another, one without a text.
pub(crate) const WIKI: &str = "<mediawiki version=\"0.11\">\n  <siteinfo>\n    <sitename>W</sitename>\n  </siteinfo>\n  <page>\n    \
    <title>A &amp; b</title>\n    <ns>0</ns>\n    <id>1</id>\n    <revision><id>2</id><timestamp>2024-01-31T10:00:00Z</timestamp>\
    <contributor><username>c</username><id>3</id></contributor><minor />\
    <text bytes=\"9\" xml:space=\"preserve\">''d'' &lt;b&gt; &#101;</text></revision>\n  </page>\n  <page>\n    <id>2</id>\n    \
    <redirect title=\"A\" />\n    <revision><text>#REDIRECT [[A]]</text></revision>\n  </page>\n  <page>\n    <id>3</id>\n    \
    <revision><text>old</text></revision>\n    <revision><v>5</v><text bytes=\"1\" deleted=\"deleted\" /></revision>\n  </page>\n  \
    <page><id>4</id><revision><text>f g</text></revision></page>\n</mediawiki>\n";

/// Messages one behind the other, with a quoted line.
pub(crate) fn mbox() -> Vec<u8> {
    let from = "From a@example.org Wed Jan 31 10:00:00 2024\n";
    let short = "From: a@example.org\nDate: Thu, 1 Feb 2024 10:00:00 +0000\nSubject: s\n\na b c\n>From d\n\n";
    [from, short, from, MAIL, "\n", from, short].concat().into_bytes()
}

/// A record of WARC.
fn warc_record(kind: &str, more: &str, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let head = format!("WARC/1.0\r\nWARC-Type: {kind}\r\n{more}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), content, b"\r\n\r\n"].concat()
}

/// A crawl: pages with their requests and metadata, of which one is packed, in chunks; and texts, as WET has them.
pub(crate) fn warc() -> Vec<u8> {
    let packed = gzip(HTML.as_bytes());
    let chunks = [format!("{:x}\r\n", packed.len()).as_bytes(), &packed, b"\r\n0\r\n\r\n"].concat();
    let http = |more: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{more}\r\n");
        [head.as_bytes(), body].concat()
    };
    let of = |id: u8| {
        format!(
            "WARC-Record-ID: <urn:uuid:{id}>\r\nWARC-Target-URI: http://a.example/{id}\r\n\
             WARC-Date: 2024-01-31T10:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n"
        )
    };
    let beside = "WARC-Record-ID: <urn:uuid:9>\r\nWARC-Concurrent-To: <urn:uuid:1>\r\n";
    let packed = http("Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", &chunks);
    [
        warc_record("warcinfo", "", b"software: none\r\n"),
        warc_record("request", beside, b"GET / HTTP/1.1\r\n\r\n"),
        warc_record("response", &of(1), &http("", b"<p>a b")),
        warc_record("metadata", beside, b"x: y\r\n"),
        warc_record("response", &of(2), &packed),
        warc_record("resource", "WARC-Target-URI: http://a/\r\nContent-Type: text/plain\r\n", b"c d"),
        warc_record("conversion", "Content-Type: text/plain\r\nWARC-Record-ID: <urn:uuid:3>\r\n", b"e f\n"),
        warc_record("revisit", &of(4), b""),
    ]
    .concat()
}

/// A record of ARC.
fn arc_record(url: &str, media: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("{url} 1.2.3.4 20141031103200 {media} {}\n", content.len());
    [head.as_bytes(), content, b"\n"].concat()
}

/// A crawl in the earlier form.
pub(crate) fn arc() -> Vec<u8> {
    let page = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<title>t</title><p>a b";
    [
        arc_record("filedesc://a.arc", "text/plain", b"1 0 x\nURL IP-address Archive-date\n"),
        arc_record("http://a.example/b c", "text/html", page),
        arc_record("dns:a.example", "text/dns", b"1.2.3.4"),
        arc_record("https://a.example/", "text/plain", b"HTTP/1.1 200 OK\n\nplain text"),
    ]
    .concat()
}

/// Records of a crawl whose contents are pieces of `data`, each as long as its head says.
pub(crate) fn crawl(is_warc: bool, mut data: &[u8]) -> Vec<u8> {
    let mut file = if is_warc { Vec::new() } else { arc_record("filedesc://a", "text/plain", b"x\n") };
    while !data.is_empty() {
        let [how, length] = take(&mut data);
        let (content, rest) = data.split_at(usize::from(length).min(data.len()));
        data = rest;
        let coding = [
            "",
            "Content-Encoding: gzip\r\n",
            "Content-Encoding: br\r\n",
            "Content-Encoding: deflate\r\n",
            "Content-Encoding: zstd\r\n",
            "Transfer-Encoding: chunked\r\n",
        ][usize::from(how % 6)];
        let body = match how % 6 {
            1 if how & 64 == 0 => gzip(content),
            4 if how & 64 == 0 => zstd::encode_all(content, 1).expect("compressed"),
            _ => content.to_vec(),
        };
        let media = ["text/html", "text/plain", "application/xhtml+xml", "unk"][usize::from(how >> 3 & 3)];
        let head = format!("HTTP/1.1 200 OK\r\n{coding}Content-Type: {media}\r\n\r\n");
        let sent = if how & 128 == 0 { [head.as_bytes(), &body].concat() } else { content.to_vec() };
        let kind = ["response", "conversion", "resource", "metadata"][usize::from(how >> 5 & 3)];
        file.extend(match is_warc {
            true => {
                let media = if how & 128 == 0 { "application/http" } else { media };
                warc_record(kind, &format!("Content-Type: {media}\r\nWARC-Date: 2024-01-31\r\n"), &sent)
            }
            false => arc_record("http://a.example/", media, &sent),
        });
    }
    file
}

/// A member of an archive, or whatever a kind of header stands for.
fn tar_member(name: &str, kind: u8, size: usize, content: &[u8]) -> Vec<u8> {
    let mut block = vec![0; 512];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(124, format!("{size:011o}").as_bytes());
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    if kind == b'S' {
        put(482, &[size as u8 & 1]);
    }
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    block.extend(content);
    block.resize(block.len().next_multiple_of(512), 0);
    block
}

/// An archive of a text, a page and a mail, with names that stand before their members, a folder, links, and files that hold
/// records of their own.
pub(crate) fn tar() -> Vec<u8> {
    let member = |name: &str, kind: u8, content: &[u8]| tar_member(name, kind, content.len(), content);
    [
        member("g", b'g', b"12 comment=\n"),
        member("a/", b'5', b""),
        member("a/text.txt", b'0', b"a b c"),
        member("x", b'x', b"20 path=a/page.html\n"),
        member("page", b'0', HTML.as_bytes()),
        member("././@LongLink", b'L', b"mail\0"),
        member("m", 0, MAIL.as_bytes()),
        member("link", b'1', b""),
        member("rows.csv", b'0', CSV.as_bytes()),
        member("image", b'0', b"\x89PNG\0"),
        vec![0; 1024],
        member("behind the end.md", b'7', b"d e f"),
        vec![0; 1024],
    ]
    .concat()
}

/// An archive whose members are pieces of `data`, most of them as long as their headers say.
pub(crate) fn archive(mut data: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    while !data.is_empty() {
        let [how, length] = take(&mut data);
        let (content, rest) = data.split_at(usize::from(length).min(data.len()));
        data = rest;
        let kind = *b"000000xxLLKg0015SM\x007".get(usize::from(how % 32)).unwrap_or(&b'0');
        let name = ["a.txt", "a.html", "a", "a.eml", ".a.txt", "a.csv", "b/", ""][usize::from(how >> 5)];
        let size = if how % 32 == 31 { 7 * content.len() } else { content.len() };
        file.extend(tar_member(name, kind, size, content));
    }
    file
}

/// Where two bytes point to in a file of so many bytes.
fn place(length: usize, part: [u8; 2]) -> usize {
    (length * usize::from(u16::from_be_bytes(part))) >> 16
}

/// Changes a file: each time some bytes say where and what, and more of them are put there.
pub(crate) fn changed(mut file: Vec<u8>, mut data: &[u8]) -> Vec<u8> {
    while !data.is_empty() {
        let [high, low, how] = take(&mut data);
        let at = place(file.len(), [high, low]);
        let (some, rest) = data.split_at(usize::from(how & 31).min(data.len()));
        let end = file.len().min(at + some.len());
        match how >> 5 {
            0..=2 => file[at..end].copy_from_slice(&some[..end - at]),
            3..=4 => drop(file.splice(at..at, some.iter().copied())),
            5 => drop(file.drain(at..file.len().min(at + 4 * usize::from(how & 31)))),
            6 => file.extend_from_within(at..file.len().min(at + 256)),
            _ => file.truncate(at.max(1)),
        }
        data = rest;
    }
    file
}

/// Changes the bytes of a file, and none of its places.
pub(crate) fn overwritten(file: &mut [u8], mut data: &[u8]) {
    while !data.is_empty() && !file.is_empty() {
        let [high, low, how] = take(&mut data);
        let at = place(file.len(), [high, low]);
        let (some, rest) = data.split_at(usize::from(how & 7).min(data.len()));
        file[at..].iter_mut().zip(some).for_each(|(byte, new)| *byte = *new);
        data = rest;
    }
}
