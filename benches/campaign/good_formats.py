"""A small good file of every kind that is read, made of the same few documents."""

import bz2
import gzip
import html
import io
import json
import lzma
import tarfile
import zipfile
from pathlib import Path

from bad_contents import zstd_frame

ROOT = Path(__file__).parents[2]
# Columns and PDFs are made by other programs: what the tests and the fuzz crate have of them.
MADE = {
    **{f"arrow {name}": (f"fuzz/good/{name}.arrow", f"{name}.arrow")
       for name in ("file", "stream", "lz4", "zstd", "views", "runs")},
    "arrow types": ("tests/arrows/types.arrow", "types.arrow"),
    "parquet types": ("tests/arrows/types.parquet", "types.parquet"),
    **{f"pdf {name}": (f"tests/pdfs/{name}.pdf", f"{name}.pdf")
       for name in ("cairo", "fpdf2", "ghostscript", "reportlab", "owner", "user")},
}  # fmt: skip
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
REL = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def texts(count=24):
    """Texts with a near-duplicate behind each."""
    for at in range(count):
        words = " ".join(f"w{at // 2}x{number}" for number in range(40))
        yield f"d{at}", words + (f" and one more{at}" if at % 2 else "")


def lz4_frame(content):
    """A frame of blocks that are stored as they are: no checksum but that of the head."""
    blocks = [content[at : at + 65_536] for at in range(0, len(content), 65_536)]
    stored = b"".join((len(block) | 1 << 31).to_bytes(4, "little") + block for block in blocks)
    return b"\x04\x22\x4d\x18\x60\x40\x82" + stored + bytes(4)


def lz4_block_bomb(mib):
    """A frame of blocks, each of which is 4 MiB of one byte out of 16 kB."""
    size = 4 << 20
    block = b"\x1fa\x01\x00" + b"\xff" * ((size - 6 - 19) // 255) + bytes([(size - 6 - 19) % 255]) + b"\x50aaaaa"
    return b"\x04\x22\x4d\x18\x60\x70\x73" + (len(block).to_bytes(4, "little") + block) * (mib // 4) + bytes(4)


def packed(members):
    """A zip archive of names and contents."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def docx(body, before=""):
    """A document of Word; `body` is markup."""
    content_types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override '
        'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'wordprocessingml.document.main+xml"/></Types>'
    )
    relations = (
        f'<Relationships xmlns="{REL}"><Relationship Id="r" Type="{OFFICE}/officeDocument" '
        'Target="word/document.xml"/></Relationships>'
    )
    main = f'{before}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
    return packed([
        ("[Content_Types].xml", content_types), ("_rels/.rels", relations), ("word/document.xml", main)
    ])  # fmt: skip


def odt(body, before=""):
    """A document of OpenDocument."""
    office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    main = (
        f'{before}<office:document-content xmlns:office="{office}" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:'
        f'text:1.0"><office:body><office:text>{body}</office:text></office:body></office:document-content>'
    )
    kind, names = "application/vnd.oasis.opendocument.text", "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    listed = "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{media}"/>'
        for path, media in (("/", kind), ("content.xml", "text/xml"))
    )
    listed = f'<manifest:manifest xmlns:manifest="{names}">{listed}</manifest:manifest>'
    return packed([("mimetype", kind), ("content.xml", main), ("META-INF/manifest.xml", listed)])


def epub(body, before=""):
    """A book of one page."""
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="b.opf" '
        'media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i"><metadata xmlns:dc='
        '"http://purl.org/dc/elements/1.1/"><dc:identifier id="i">i</dc:identifier><dc:title>t</dc:title>'
        '<dc:language>en</dc:language></metadata><manifest><item id="p" href="p.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="p"/></spine></package>'
    )
    page = f'{before}<html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'
    return packed([
        ("mimetype", "application/epub+zip"), ("META-INF/container.xml", container), ("b.opf", book), ("p.xhtml", page)
    ])  # fmt: skip


def warc(name, text, version="1.0"):
    """A request and a response of a crawl."""
    page = f"<html><body><p>{html.escape(text)}</p></body></html>"
    body = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{page}".encode()
    date = "WARC-Date: 2020-01-01T00:00:00Z\r\n"
    head = f"WARC/{version}\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:{name}>\r\n{date}"
    head += f"WARC-Target-URI: http://a/{name}\r\nContent-Type: application/http; msgtype=response\r\n"
    record = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body + b"\r\n\r\n"
    asked = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    head = f"WARC/{version}\r\nWARC-Type: request\r\nWARC-Record-ID: <urn:x:q{name}>\r\n{date}"
    head += f"WARC-Concurrent-To: <urn:x:{name}>\r\nContent-Length: {len(asked)}\r\n\r\n"
    return head.encode() + asked + b"\r\n\r\n" + record


def wet(name, text):
    """A record of the text of a page."""
    head = f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:x:{name}>\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
    head += f"Content-Type: text/plain\r\nContent-Length: {len(text.encode())}\r\n\r\n"
    return f"{head}{text}\r\n\r\n".encode()


def arc(pages):
    """A crawl as it was before WARC."""
    head = b"1 0 x\nURL IP-address Archive-date Content-type Archive-length\n"
    yield b"filedesc://a.arc 0.0.0.0 20200101000000 text/plain %d\n%s\n" % (len(head), head)
    for name, text in pages:
        body = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{text}</p>".encode()
        yield f"http://a/{name} 1.1.1.1 20200101000000 text/html {len(body)}\n".encode() + body + b"\n"


def mail(name, text):
    """A message with a part of HTML."""
    return (
        f"From: a@b\nTo: c@d\nMessage-ID: <{name}@x>\nDate: Thu, 1 Jan 2020 00:00:00 +0000\nSubject: s\nMIME-Version: 1.0\n"
        f'Content-Type: multipart/alternative; boundary="b"\n\n--b\nContent-Type: text/plain\n\n{text}\n'
        f"--b\nContent-Type: text/html\n\n<p>{text}</p>\n--b--\n"
    ).encode()


def wiki(pages):
    """A dump of Wikipedia, in parts."""
    yield b'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11">\n  <siteinfo>\n  </siteinfo>\n'
    for name, text in pages:
        yield (
            f"  <page>\n    <title>{name}</title>\n    <ns>0</ns>\n    <id>{name[1:]}</id>\n    <revision>\n"
            f'      <id>1</id>\n      <text bytes="1">{text}</text>\n    </revision>\n  </page>\n'
        ).encode()
    yield b"</mediawiki>\n"


def tar(members):
    """A tar archive of names and contents."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in members:
            head = tarfile.TarInfo(name)
            head.size = len(content)
            archive.addfile(head, io.BytesIO(content))
    return out.getvalue()


GOOD_LINES = b"".join(json.dumps({"id": name, "text": text}).encode() + b"\n" for name, text in texts())


def good_formats():
    """By the name of its kind, what the file is called and what stands in it."""
    pages = list(texts())
    lines = GOOD_LINES
    table = "".join(f'{name},"{text}\nwith a ""quoted"" line"\n' for name, text in pages)
    tabs = "".join(f"{name}\t{text}\n" for name, text in pages)
    paragraph = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for _, text in pages)
    records = [warc(*page) for page in pages]
    members = [(f"{name}.txt", text.encode()) for name, text in pages]
    mbox = [b"From a@b Thu Jan  1 00:00:00 2020\n" + mail(*page) + b"\n" for page in pages]
    found = {
        "jsonl": ("a.jsonl", lines),
        "gzip": ("a.jsonl.gz", gzip.compress(lines)),
        "zstd": ("a.jsonl.zst", zstd_frame(lines)),
        "bzip2": ("a.jsonl.bz2", bz2.compress(lines)),
        "xz": ("a.jsonl.xz", lzma.compress(lines)),
        "lz4": ("a.jsonl.lz4", lz4_frame(lines)),
        "csv": ("a.csv", b"id,text\n" + table.encode()),
        "tsv": ("a.tsv", b"id\ttext\n" + tabs.encode()),
        "text": ("a.txt", pages[0][1].encode()),
        "html": ("a.html", f"<!doctype html><html><body><p>{pages[0][1]}</p></body></html>".encode()),
        "warc": ("a.warc", b"".join(records)),
        "warc 0.18": ("a.warc", b"".join(warc(*page, version="0.18") for page in pages)),
        "warc 1.1, gzip": ("a.warc.gz", b"".join(gzip.compress(warc(*page, version="1.1")) for page in pages)),
        "wet": ("a.warc.wet", b"".join(wet(*page) for page in pages)),
        "arc": ("a.arc", b"".join(arc(pages))),
        "eml": ("a.eml", mail(*pages[0])),
        "mbox": ("a.mbox", b"".join(mbox)),
        "trec": (
            "a.trec",
            b"".join(
                f"<DOC>\n<DOCNO> {name} </DOCNO>\n<TEXT>\n{text}\n</TEXT>\n</DOC>\n".encode() for name, text in pages
            ),
        ),
        "mediawiki": ("a.xml", b"".join(wiki(pages))),
        "mediawiki, multistream": ("a.xml.bz2", b"".join(map(bz2.compress, wiki(pages)))),
        "tar": ("a.tar", tar(members)),
        "tar, gzip": ("a.tgz", gzip.compress(tar(members))),
        "zip": ("a.zip", packed(members)),
        "docx": ("a.docx", docx(paragraph)),
        "odt": ("a.odt", odt("".join(f"<text:p>{text}</text:p>" for _, text in pages))),
        "epub": ("a.epub", epub("".join(f"<p>{text}</p>" for _, text in pages))),
        "rtf": ("a.rtf", b"{\\rtf1\\ansi " + b"\\par ".join(text.encode() for _, text in pages) + b"}"),
    }
    for kind, (path, name) in MADE.items():
        found[kind] = (name, (ROOT / path).read_bytes())
    return found
