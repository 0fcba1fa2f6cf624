"""Files that were made to harm: bombs, lies, names that lead elsewhere, loops, depth, and lines without an end."""

import bz2
import gzip
import lzma
import struct
import zlib

from bad_contents import gzip_bomb, zstd_bomb
from campaign import MIB
from good_formats import GOOD_LINES, docx, epub, lz4_block_bomb, odt, packed, tar, warc

DEEP = 100_000
LAUGHS = '<!DOCTYPE x [<!ENTITY a0 "ha">' + "".join(
    f'<!ENTITY a{at + 1} "{f"&a{at};" * 10}">' for at in range(12)
) + "]>"  # fmt: skip
PDF_MEMORY = 640


def of(content):
    """What writes a file of that content, a function."""
    return lambda path: path.write_bytes(content())


def long_line(before, behind, size=2 << 30):
    """A line of so many bytes between good ones."""

    def make(path):
        with open(path, "wb") as file:
            file.write(before)
            for _ in range(size // MIB):
                file.write(b"word word " * (MIB // 10) + b"w" * (MIB % 10))
            file.write(behind)

    return make


def many_members(count):
    """A zip archive of so many members, each of a byte that is stored."""

    def make(path):
        with open(path, "wb") as file:
            directory = bytearray()
            for at in range(count):
                name = b"m%07d.txt" % at
                fixed = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 33, zlib.crc32(b"x"), 1, 1, len(name), 0)
                directory += b"PK\x01\x02" + struct.pack("<H", 20) + fixed + struct.pack("<HHHII", 0, 0, 0, 0, file.tell())
                directory += name
                file.write(b"PK\x03\x04" + fixed + name + b"x")
            start, size = file.tell(), len(directory)
            file.write(directory)
            # As many members as that need the form for large archives.
            end = file.tell()
            file.write(b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, size, start))
            file.write(b"PK\x06\x07" + struct.pack("<IQI", 0, end, 1))
            file.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))

    return make


def shared_members(count):
    """A zip archive all of whose members are the same bytes."""
    one = packed([("a.txt", b"word " * MIB)])
    start = one.index(b"PK\x01\x02")
    entry, end = one[start : one.index(b"PK\x05\x06")], one[one.index(b"PK\x05\x06") :]
    size = len(entry) * count
    return one[:start] + entry * count + end[:8] + struct.pack("<HHII", count, count, size, start) + end[20:]


def body(content, encoding):
    """A crawl of one page that a server sent compressed."""
    http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {encoding}\r\n\r\n".encode() + content
    head = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:a>\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
    head += f"WARC-Target-URI: http://a/\r\nContent-Type: application/http\r\nContent-Length: {len(http)}\r\n\r\n"
    return head.encode() + http + b"\r\n\r\n" + warc("good", "a good page")


def nested_mail(depth):
    """A message in parts in parts."""
    head = b"From: a@b\nMessage-ID: <x@y>\nSubject: s\nMIME-Version: 1.0\n"
    parts = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (at, at) for at in range(depth))
    return head + parts + b"Content-Type: text/plain\n\nthe text\n"


def forwarded_mail(depth):
    """A message in a message in a message."""
    head = b"From: a@b\nMessage-ID: <x@y>\nSubject: s\nMIME-Version: 1.0\nContent-Type: message/rfc822\n\n"
    return head * depth + b"From: a@b\n\nthe text\n"


def pdf(*objects):
    """A PDF of numbered objects; the first is its catalog."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(out) + b"trailer <</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)


def stream(content, more=b""):
    """A stream of a PDF."""
    return b"<</Length %d %s>>\nstream\n" % (len(content), more) + content + b"\nendstream"


CATALOG = b"<</Type /Catalog /Pages 2 0 R>>"
PAGES = b"<</Type /Pages /Kids [3 0 R] /Count 1>>"
PAGE = b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R /Resources <</XObject <</F 5 0 R>>>>>>"
FORM = b"/Type /XObject /Subtype /Form /BBox [0 0 99 99] /Resources <</XObject <</F 5 0 R>>>>"


def pdfs():
    """PDFs that lead back to where they came from, and ones that unfold."""
    packer = zlib.compressobj(9)
    bomb = zlib.compress(b"".join(packer.compress(b"q " * (MIB // 2)) for _ in range(1000)) + packer.flush(), 9)
    many = b"/F Do " * 64
    chain = [stream(many, FORM.replace(b"/F 5", b"/F %d" % (at + 1))) for at in range(5, 5 + 12)]
    back = pdf(CATALOG, PAGES, PAGE, stream(b""), b"null")
    start = back.rindex(b"startxref\n") + len(b"startxref\n")
    table = int(back[start:].split()[0])
    return {
        "pages": pdf(CATALOG, b"<</Type /Pages /Kids [2 0 R 2 0 R] /Count 2>>"),
        "form": pdf(CATALOG, PAGES, PAGE, stream(b"/F Do"), stream(b"/F Do /F Do", FORM)),
        "forms": pdf(CATALOG, PAGES, PAGE, stream(many), *chain, stream(b"q Q", FORM)),
        "references": pdf(b"2 0 R", b"3 0 R", b"1 0 R"),
        "tables": back.replace(b"/Root", b"/Prev %d /Root" % table),
        "length": pdf(CATALOG, PAGES, PAGE, b"<</Length 4 0 R>>\nstream\nq\nendstream"),
        "bomb": pdf(CATALOG, PAGES, PAGE, stream(bomb, b"/Filter [/FlateDecode /FlateDecode]"), b"null"),
        "arrays": pdf(CATALOG + b" " + b"[" * DEEP, PAGES, PAGE, stream(b""), b"null"),
        "operands": pdf(CATALOG, PAGES, PAGE, stream(b"[" * 10 * DEEP + b"<<" * DEEP), b"null"),
        "many pages": pdf(CATALOG, b"<</Type /Pages /Kids [" + b"3 0 R " * 1_000_000 + b"] /Count 1000000000>>", PAGE),
    }


def gzip_gib():
    """A GiB of blanks, packed by gzip."""
    return gzip_bomb(1024)


def varint(number):
    """A number as Thrift writes it."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def footers():
    """Files of Parquet with footers that lie: schema, rows and row groups are not what they say."""

    def file(footer, size=None):
        return b"PAR1" + bytes(64) + footer + (size if size is not None else len(footer)).to_bytes(4, "little") + b"PAR1"

    # A root, and a column of bytes called text.
    schema = b"\x15\x02\x19\x2c\x48\x04root\x15\x02\x00\x15\x0c\x25\x00\x18\x04text\x00"

    def said(rows, groups=b"\x19\x0c"):
        return schema + b"\x16" + varint(rows << 1) + groups + b"\x00"

    return {
        "a footer longer than the file": file(said(1), 1 << 31),
        "a footer of nothing": file(b"", 0),
        "rows without row groups": file(said(1 << 60)),
        "less than no rows": file(schema + b"\x16\x01\x19\x0c\x00"),
        "a billion row groups": file(said(1, b"\x19\xfc" + varint(1 << 30))),
        "a schema of two thousand million columns": file(b"\x15\x02\x19\xfc" + varint(1 << 31)),
        "structs within structs": file(b"\x1c" * DEEP),
        "lists within lists": file(b"\x15\x02\x79" + b"\x19" * DEEP),
    }


def elsewhere():
    """Names that lead out of where they are."""
    return [(name, b"some words of a member") for name in ("../../up.txt", "/etc/root.txt", "a/../../b.txt", "C:\\c.txt", "..")]


def xml_bombs(depth=DEEP):
    """Documents of XML whose entities unfold, and which go deep, by their names."""
    deep = "<w:p>" * depth + "<w:r><w:t>x</w:t></w:r>" + "</w:p>" * depth
    return {
        "a.docx": lambda: docx("<w:p><w:r><w:t>&a12; and words</w:t></w:r></w:p>", LAUGHS),
        "a.odt": lambda: odt("<text:p>&a12; and words</text:p>", LAUGHS),
        "a.epub": lambda: epub("<p>&a12; and words</p>", LAUGHS),
        "a.xml": lambda: (
            f"{LAUGHS}<mediawiki><page><title>t</title><id>1</id><revision><id>1</id><text>&a12; and words</text>"
            "</revision></page></mediawiki>"
        ).encode(),
        "deep.docx": lambda: docx(deep),
        "deep.odt": lambda: odt("<text:p>" * depth + "x" + "</text:p>" * depth),
        "deep.epub": lambda: epub("<div>" * depth + "x" + "</div>" * depth),
        "long.docx": lambda: docx("<w:p><w:r><w:t>" + "word " * (200 * MIB) + "</w:t></w:r></w:p>"),
        "long.odt": lambda: odt("<text:p>" + "word " * (200 * MIB) + "</text:p>"),
        "long.epub": lambda: epub("<p>" + "word " * (200 * MIB) + "</p>"),
    }


def made():
    """By what it is: what the file is called, what makes it, the memory in MiB, and what is said of it."""
    deep_json = b'{"id":"deep","text":"x","more":' + b"[" * DEEP + b"]" * DEEP + b"}\n"
    objects = b'{"id":"deep","text":"x","more":' + b'{"m":' * DEEP + b"1" + b"}" * DEEP + b"}\n"
    good = GOOD_LINES
    found = {
        "a line of 2 GiB": ("a.jsonl", long_line(good + b'{"id":"a","text":"', b'"}\n' + good), 64, "longer than"),
        "a row of 2 GiB": ("a.csv", long_line(b'id,text\nd,words\na,"', b'"\nd,other words\n'), 64, "longer than"),
        "a text of 2 GiB": ("a.txt", long_line(b"", b""), 64, "longer than"),
        "a page of 2 GiB": ("a.html", long_line(b"<html><p>", b"</p>"), 64, "longer than"),
        "a message of 2 GiB": ("a.mbox", long_line(b"From a@b Thu Jan  1 00:00:00 2020\nSubject: s\n\n", b"\n"), 64, "longer than"),
        "arrays 100,000 deep": ("a.jsonl", of(lambda: good + deep_json), 64, "within each other"),
        "objects 100,000 deep": ("a.jsonl", of(lambda: good + objects), 64, "within each other"),
        "a gzip bomb": ("a.jsonl.gz", of(gzip_gib), 64, ""),
        "a gzip bomb in gzip": ("a.jsonl.gz", of(lambda: gzip.compress(gzip_gib())), 64, ""),
        "a gzip bomb of a text": ("a.txt.gz", of(gzip_gib), 64, "longer than"),
        "a bzip2 bomb": ("a.jsonl.bz2", of(lambda: bz2.compress(b" " * (1024 * MIB))), 64, ""),
        "an xz bomb": ("a.jsonl.xz", of(lambda: lzma.compress(b" " * (1024 * MIB))), 64, ""),
        "a zstd bomb": ("a.jsonl.zst", of(lambda: zstd_bomb(8192)), 64, ""),
        "an LZ4 bomb": ("a.jsonl.lz4", of(lambda: lz4_block_bomb(256)), 64, ""),
        "a body of gzip in a crawl": ("a.warc", of(lambda: body(gzip_gib(), "gzip")), 64, ""),
        "gzip in gzip in a crawl": ("a.warc", of(lambda: body(gzip.compress(gzip_gib()), "gzip, gzip")), 64, ""),
        "a crawl that says too much": (
            "a.warc", of(lambda: body(b"x", "gzip").replace(b"Content-Length: ", b"Content-Length: 99999999999")), 64, ""
        ),
        "a zip bomb": ("a.zip", of(lambda: packed([("a.txt", b" " * (1024 * MIB)), ("b.txt", b"good")])), 64, "longer than"),
        "a zip in a zip": ("a.zip", of(lambda: packed([("a.zip", packed([("b.txt", b"b")])), ("b.txt", b"b")])), 64, "archive"),
        "a zip whose members share bytes": ("a.zip", of(lambda: shared_members(1000)), 64, "where another one is"),
        "a zip of 1,000,000 members": ("a.zip", many_members(1_000_000), 192, ""),
        "a zip of names that lead elsewhere": ("a.zip", of(lambda: packed(elsewhere())), 64, ""),
        "a tar of names that lead elsewhere": ("a.tar", of(lambda: tar(elsewhere())), 64, ""),
        "a tar that says too much": (
            "a.tar", of(lambda: tar([("a.txt", b"x")])[:124] + b"\x80" + b"\xff" * 11 + bytes(2000)), 64, ""
        ),
        "a message in parts in parts": ("a.eml", of(lambda: nested_mail(DEEP)), 64, ""),
        "a message in a message": ("a.eml", of(lambda: forwarded_mail(DEEP // 10)), 64, ""),
        "a page of elements within each other": ("a.html", of(lambda: b"<html>" + b"<div>" * 10 * DEEP + b"x"), 64, ""),
        "RTF of groups within each other": ("a.rtf", of(lambda: b"{\\rtf1 " + b"{" * 10 * DEEP + b"x"), 64, ""),
        "a record of TREC without an end": ("a.trec", of(lambda: b"<DOC>\n<DOCNO>a</DOCNO>\n" * DEEP), 64, ""),
    }  # fmt: skip
    found |= {f"XML: {name}": (name, of(make), 64, "") for name, make in xml_bombs().items()}
    for name in ("pages", "form", "forms", "references", "tables", "length", "bomb", "arrays", "operands", "many pages"):
        found[f"PDF: {name}"] = ("a.pdf", of(lambda name=name: pdfs()[name]), PDF_MEMORY, "")
    for name, content in footers().items():
        found[f"Parquet: {name}"] = ("a.parquet", of(lambda content=content: content), 64, "")
    return found
