"""Second readers for `formats.py`: of each kind of file another program or module than its usual reader, to count its documents.

Each function takes the path of a file or a folder and gives how many documents it finds. `SECOND` says which is for what. Those of
pip are used where they are installed: polars, lxml, python-docx, pypdf, pdfminer.six, mail-parser, zstandard, lz4."""

import bz2
import gzip
import html.parser
import importlib.util
import io
import lzma
import re
import shutil
import subprocess
import xml.etree.ElementTree
import zipfile


def lines(opened):
    """The lines that a module unpacks."""
    with opened as file:
        return sum(1 for _ in file)


def by_gzip(path):
    return lines(gzip.open(path))


def by_bz2(path):
    return lines(bz2.open(path))


def by_lzma(path):
    return lines(lzma.open(path))


def by_zstandard(path):
    import zstandard
    return lines(io.BufferedReader(zstandard.open(path, "rb")))


def by_lz4_frame(path):
    import lz4.frame
    return lines(lz4.frame.open(path))


def by_polars(path):
    import polars
    if path.suffix == ".parquet":
        return polars.read_parquet(path, columns=["text"]).height
    return (polars.read_ipc_stream if path.name.startswith("b") else polars.read_ipc)(path, columns=["text"]).height


def by_from_lines(path):
    """Messages of an mbox by their first lines: `From ` at the beginning, or behind a blank line."""
    with open(path, "rb") as file:
        content = file.read()
    return content.startswith(b"From ") + content.count(b"\n\nFrom ")


class Tags(html.parser.HTMLParser):
    """Counts the tags `doc` of SGML."""

    def __init__(self):
        super().__init__()
        self.found = 0

    def handle_starttag(self, tag, _):
        self.found += tag == "doc"


def by_html_parser(path):
    tags = Tags()
    tags.feed(path.read_text(encoding="utf-8"))
    return tags.found


def by_etree(path):
    """Pages of an export of MediaWiki."""
    found = 0
    with (bz2.open(path) if path.suffix == ".bz2" else open(path, "rb")) as file:
        for _, element in xml.etree.ElementTree.iterparse(file):
            if element.tag.endswith("}page"):
                found += 1
                element.clear()
    return found


def by_tar(path):
    listed = subprocess.run(["tar", "-tf", path], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-xOf", path], stdout=subprocess.DEVNULL, check=True)
    return len(listed.splitlines())


def by_unzip(path):
    listed = subprocess.run(["unzip", "-Z1", path], capture_output=True, check=True).stdout
    subprocess.run(["unzip", "-p", path], stdout=subprocess.DEVNULL, check=True)
    return len(listed.splitlines())


def by_lxml(path):
    from lxml import html as pages
    return sum(len(pages.fromstring(file.read_bytes()).text_content()) > 0 for file in path.iterdir())


def by_arc_headers(path):
    """ARC by the lines that say how long records are."""
    found, content, at = 0, path.read_bytes(), 0
    while at < len(content):
        end = content.index(b"\n", at)
        found += not content[at:end].startswith(b"filedesc:")
        at = end + 1 + int(content[at:end].rsplit(b" ", 1)[1]) + 1
    return found


def by_mailparser(path):
    import mailparser
    return sum(len(mailparser.parse_from_bytes(file.read_bytes()).body) > 0 for file in path.iterdir())


def by_python_docx(path):
    import docx
    return sum(any(paragraph.text for paragraph in docx.Document(str(file)).paragraphs) for file in path.iterdir())


def by_zip_and_etree(path):
    """Packages by their parts, with Python's library alone: those in which any XML or page has text."""
    def has_text(file):
        with zipfile.ZipFile(file) as package:
            parts = [name for name in package.namelist() if name.endswith(("content.xml", "html", "document.xml"))]
            return any("".join(xml.etree.ElementTree.fromstring(package.read(name)).itertext()).strip() for name in parts)

    return sum(has_text(file) for file in path.iterdir())


def by_words_of_rtf(path):
    """RTF with its control words taken out."""
    control = re.compile(r"\\[a-z]+-?\d* ?|\\'[0-9a-f]{2}|[{}]")
    return sum(len(control.sub("", file.read_text(encoding="ascii")).strip()) > 0 for file in path.iterdir())


def by_pypdf(path):
    import pypdf
    return sum(any(page.extract_text() for page in pypdf.PdfReader(file).pages) for file in path.iterdir())


def by_pdfminer(path):
    from pdfminer.high_level import extract_text
    return sum(len(extract_text(file).strip()) > 0 for file in path.iterdir())


# How names end, the module or the program that has to be there, what is told, and the reader.
SECOND = [
    (("a.jsonl.gz",), "gzip", "gzip of Python", by_gzip),
    (("a.jsonl.bz2",), "bz2", "bz2 of Python", by_bz2),
    (("a.jsonl.xz",), "lzma", "lzma of Python", by_lzma),
    (("a.jsonl.zst",), "zstandard", "zstandard", by_zstandard),
    (("a.jsonl.lz4",), "lz4", "lz4 of Python", by_lz4_frame),
    (("a.parquet", "a.arrow", "b.arrow"), "polars", "polars", by_polars),
    (("a.mbox",), "re", "From lines", by_from_lines),
    (("a.trec", "a.web.trec"), "html", "html.parser", by_html_parser),
    (("a.xml", "b.xml.bz2"), "xml", "xml.etree", by_etree),
    (("a.tar",), "tar!", "tar", by_tar),
    (("a.zip",), "unzip!", "unzip", by_unzip),
    (("html",), "lxml", "lxml", by_lxml),
    (("a.arc",), "re", "headers", by_arc_headers),
    (("mails",), "mailparser", "mail-parser", by_mailparser),
    (("docx",), "docx", "python-docx", by_python_docx),
    (("odt", "epub"), "zipfile", "zipfile and xml.etree", by_zip_and_etree),
    (("rtf",), "re", "control words taken out", by_words_of_rtf),
    (("pdf",), "pypdf", "pypdf", by_pypdf),
    (("pdf",), "pdfminer", "pdfminer.six", by_pdfminer),
]


def second_readers(name):
    """The second readers of such a file that are there."""
    for names, needed, told, reader in SECOND:
        there = shutil.which(needed[:-1]) if needed.endswith("!") else importlib.util.find_spec(needed)
        if name in names and there:
            yield told, reader
