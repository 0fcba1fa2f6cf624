#!/usr/bin/env python3
"""Writes the same documents in every format, and measures `dedup --method exact --dry-run` on each beside readers of other
projects on the same file: megabytes of text a second, and how many documents each counts.

    benches/formats.py PROGRAM INPUT.jsonl [--megabytes 100] [--folder /tmp/formats]

The first 200 are files of one document each, too, beside readers of these, in documents a second: mails, DOCX, ODT, EPUB and RTF,
and with fpdf2 (pip install fpdf2) PDFs.

Readers: json, csv, mailbox, email, re, html.parser, tarfile and zipfile of Python's library; pyarrow, duckdb, warcio, fastwarc, mwxml,
docx2txt, odfpy, ebooklib and striprtf where they are installed by pip, and pdftotext; the programs gzip, zstd, bzip2, xz and lz4;
and for each kind another one of `second_readers.py`. INPUT.jsonl has a text and an id a line. Everything is measured warm, three
times, and the best counts; `alike` on one worker; in brackets the same by seconds of processors. A row ends with how many readers count as many documents as `alike`; it ends with
1 if one of them counts others, or if `alike` does not find all.
"""
import argparse
import bz2
import csv
import email
import gzip
import html
import html.parser
import importlib.util
import json
import mailbox
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from same_clusters import folders, quoted, with_writer  # noqa: E402
from good_formats import arc, tar  # noqa: E402
from second_readers import second_readers  # noqa: E402


def documents(path, most):
    """Ids and texts, until there are so many bytes of text."""
    total = 0
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            text = json.loads(line)["text"]
            total += len(text.encode())
            yield f"d{number}", text
            if total >= most:
                return


def warc(kind, name, media, content):
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:x:{name}>\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
    head += f"WARC-Target-URI: http://a/{name}\r\nContent-Type: {media}\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content + b"\r\n\r\n"


def page(text):
    return f"<!doctype html><html><body><pre>{html.escape(text)}</pre></body></html>".encode()


def response(name, text):
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page(text)
    return warc("response", name, "application/http; msgtype=response", http)


def message(name, text):
    body = re.sub("(?m)^(>*From )", r">\1", text.replace("\r", ""))
    return (f"From a@b Thu Jan  1 00:00:00 1970\nFrom: a@b\nMessage-ID: <{name}>\nSubject: s\nMIME-Version: 1.0\n"
            f"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{body}\n\n").encode()


def trec(name, text):
    return f"<DOC>\n<DOCNO> {name} </DOCNO>\n<TEXT>\n{html.escape(text, False)}\n</TEXT>\n</DOC>\n".encode()


def web(name, text):
    head = f"<DOC>\n<DOCNO>{name}</DOCNO>\n<DOCHDR>\nhttp://a/{name}\nContent-Type: text/html; charset=utf-8\n</DOCHDR>\n"
    return head.encode() + page(text) + b"\n</DOC>\n"


def wiki(name, text):
    # What XML cannot hold is left out, as MediaWiki does.
    text = html.escape(re.sub("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", text))
    return (f"  <page>\n    <title>{name}</title>\n    <ns>0</ns>\n    <id>{name[1:]}</id>\n    <revision>\n      <id>1</id>\n"
            f"      <timestamp>2020-01-01T00:00:00Z</timestamp>\n      <contributor>\n        <username>a</username>\n"
            f"        <id>1</id>\n      </contributor>\n      <model>wikitext</model>\n      <format>text/x-wiki</format>\n"
            f"      <text bytes=\"1\" xml:space=\"preserve\">{text}</text>\n    </revision>\n  </page>\n").encode()


WIKI = (b'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">\n  <siteinfo>\n    '
        b'<sitename>W</sitename>\n    <dbname>w</dbname>\n    <base>http://a/</base>\n    <generator>g</generator>\n    '
        b'<case>first-letter</case>\n    <namespaces>\n      <namespace key="0" case="first-letter" />\n    </namespaces>\n'
        b'  </siteinfo>\n', b'</mediawiki>\n')


# Files of one document each, and which of these are folders in what `folders` makes.
FEW = 200
OFFICE = ("mails", "DOCX", "ODT", "EPUB", "RTF")


def pdf(text):
    from fpdf import FPDF
    made = FPDF()
    made.add_page()
    made.set_font("Helvetica", size=10)
    # The fonts that every reader has know no other characters.
    made.multi_cell(0, 4, text.encode("latin-1", "replace").decode("latin-1"))
    return bytes(made.output())


def write(folder, source, most):
    """All files; how many documents they hold, and bytes of text."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "html").mkdir(parents=True)
    names = ["a.jsonl", "a.csv", "a.tsv", "a.warc.wet", "a.warc", "a.warc.gz", "a.mbox", "a.trec", "a.web.trec", "a.xml", "b.xml.bz2"]
    files = {name: open(folder / name, "wb") for name in names}
    count = size = 0
    if importlib.util.find_spec("fpdf"):
        (folder / "pdf").mkdir()
    files["a.csv"].write(b"id,text\n")
    files["a.tsv"].write(b"id\ttext\n")
    every = []
    files["a.xml"].write(WIKI[0])
    files["b.xml.bz2"].write(bz2.compress(WIKI[0]))
    archive = zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED)
    pages = []
    for name, text in documents(source, most):
        count, size = count + 1, size + len(text.encode())
        files["a.jsonl"].write(json.dumps({"id": name, "text": text}, ensure_ascii=False).encode() + b"\n")
        # What XML and lone returns cannot pass is left out of what holds texts in markup.
        every.append((name, re.sub("[\0-\x08\x0b-\x1f\ufffe\uffff]", "", text)))
        files["a.csv"].write(f"{name},{quoted(text)}\n".encode())
        files["a.tsv"].write(f"{name}\t{quoted(text)}\n".encode())
        files["a.warc.wet"].write(warc("conversion", name, "text/plain", text.encode()))
        files["a.warc"].write(response(name, text))
        files["a.warc.gz"].write(gzip.compress(response(name, text), 6))
        files["a.mbox"].write(message(name, text))
        files["a.trec"].write(trec(name, text))
        files["a.web.trec"].write(web(name, text))
        files["a.xml"].write(wiki(name, text))
        pages.append(wiki(name, text))
        if len(pages) == 100:
            files["b.xml.bz2"].write(bz2.compress(b"".join(pages)))
            pages = []
        archive.writestr(f"{name}.txt", text)
        (folder / "html" / f"{name}.html").write_bytes(page(text))
        if count <= FEW and (folder / "pdf").exists():
            (folder / "pdf" / f"{name}.pdf").write_bytes(pdf(text))
    files["a.xml"].write(WIKI[1])
    files["b.xml.bz2"].write(bz2.compress(b"".join(pages)) + bz2.compress(WIKI[1]))
    archive.close()
    for file in files.values():
        file.close()
    (folder / "a.tar").write_bytes(tar([(f"{name}.txt", text.encode()) for name, text in every]))
    (folder / "a.arc").write_bytes(b"".join(arc([(name, html.escape(text)) for name, text in every])))
    for kind, made in folders(every[:FEW]):
        if kind in OFFICE:
            (folder / kind.lower()).mkdir()
            for name, content in made.items():
                (folder / kind.lower() / name).write_bytes(content)
    columns(folder, every)
    for packer, end in [("gzip", "gz"), ("zstd", "zst"), ("bzip2", "bz2"), ("xz", "xz"), ("lz4", "lz4")]:
        if shutil.which(packer):
            with open(folder / "a.jsonl", "rb") as plain, open(folder / f"a.jsonl.{end}", "wb") as packed:
                subprocess.run([packer, "-c"], stdin=plain, stdout=packed, check=True)
    return count, size


def columns(folder, pages):
    """Parquet and Arrow, where pyarrow is installed."""
    if importlib.util.find_spec("pyarrow"):
        import pyarrow as pa
        import pyarrow.ipc as ipc
        import pyarrow.parquet as pq
        names, texts = zip(*pages)
        table = pa.table({"id": names, "text": texts})
        pq.write_table(table, folder / "a.parquet", row_group_size=10_000, use_dictionary=["id"])
        with_writer(ipc.new_file, str(folder / "a.arrow"), table)
        with_writer(ipc.new_stream, str(folder / "b.arrow"), table)


def processors():
    """Seconds of processors of this process and those that it has waited for."""
    return sum(os.times()[:4])


def best(action):
    """The shortest time of three, the fewest seconds of processors, and what it gave."""
    times, used = [], []
    for _ in range(3):
        start, before = time.perf_counter(), processors()
        result = action()
        times.append(time.perf_counter() - start)
        used.append(processors() - before)
    # They are counted in hundredths.
    return min(times), max(min(used), 0.01), result


def speed(size, seconds, used):
    return f"{size / seconds / 1e6:.0f} MB/s ({size / used / 1e6:.0f} of CPU)"


def alike(program, path):
    line = [program, "dedup", path, "--method", "exact", "--dry-run", "-w", "1"]
    ran = subprocess.run(line, capture_output=True, text=True)
    if ran.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, line))}: {ran.stderr}")
    found = re.search(r"of ([0-9,]+) documents?", ran.stdout + ran.stderr)
    return int(found[1].replace(",", ""))


def by_warcio(path):
    from warcio.archiveiterator import ArchiveIterator
    with open(path, "rb") as file:
        records = (record for record in ArchiveIterator(file) if record.rec_type in ("response", "conversion"))
        return sum(len(record.content_stream().read()) > 0 for record in records)


def by_fastwarc(path):
    from fastwarc.warc import ArchiveIterator, WarcRecordType
    kinds = WarcRecordType.response | WarcRecordType.conversion
    with open(path, "rb") as file:
        return sum(len(record.reader.read()) > 0 for record in ArchiveIterator(file, record_types=kinds))


def by_mailbox(path):
    parsed = mailbox.mbox(path, factory=email.message_from_binary_file)
    return sum(len(mail.get_payload(decode=True) or b"") > 0 for mail in parsed)


def by_re(path):
    with open(path, "rb") as file:
        return len(re.findall(rb"(?ms)^<DOC>.*?<DOCNO>\s*(\S+)\s*</DOCNO>.*?^</DOC>", file.read()))


def by_mwxml(path):
    import mwxml
    with (bz2.open(path, "rb") if path.suffix == ".bz2" else open(path, "rb")) as file:
        return sum(any(revision.text for revision in found) for found in mwxml.Dump.from_file(file))


def by_json(path):
    with open(path, encoding="utf-8") as lines:
        return sum("text" in json.loads(line) for line in lines)


def by_csv(path):
    csv.field_size_limit(sys.maxsize)
    with open(path, encoding="utf-8", newline="") as lines:
        return sum("text" in row for row in csv.DictReader(lines, delimiter="\t" if path.suffix == ".tsv" else ","))


def by_duckdb(path):
    import duckdb
    read = {".jsonl": "read_json('{}', format = 'newline_delimited', maximum_object_size = 500000000)",
            ".csv": "read_csv('{}', header = true, max_line_size = 100000000)",
            ".tsv": "read_csv('{}', header = true, delim = '\t', quote = '\"', max_line_size = 100000000)",
            ".parquet": "read_parquet('{}')"}[path.suffix].format(path)
    duckdb.sql("set threads = 1")
    # The lengths make it look at every text.
    return duckdb.sql(f"select count(*), sum(length(text)) from {read}").fetchall()[0][0]


def by_pyarrow(path):
    import pyarrow as pa
    import pyarrow.ipc as ipc
    import pyarrow.parquet as pq
    if path.suffix == ".parquet":
        return pq.read_table(path, columns=["text"], use_threads=False).num_rows
    with pa.memory_map(str(path)) as file:
        return (ipc.open_stream if path.name.startswith("b") else ipc.open_file)(file).read_all().num_rows


def by_tarfile(path):
    with tarfile.open(path) as archive:
        return sum(len(archive.extractfile(member).read()) > 0 for member in archive)


class Texts(html.parser.HTMLParser):
    """The text of a page."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_data(self, data):
        self.found.append(data)


def by_html_parser(path):
    count = 0
    for file in path.iterdir():
        page = Texts()
        page.feed(file.read_text(encoding="utf-8"))
        count += len("".join(page.found)) > 0
    return count


def by_email(path):
    messages = (email.message_from_bytes(file.read_bytes()) for file in path.iterdir())
    return sum(len(message.get_payload(decode=True)) > 0 for message in messages)


def by_docx2txt(path):
    import docx2txt
    return sum(len(docx2txt.process(str(file))) > 0 for file in path.iterdir())


def by_odfpy(path):
    from odf import opendocument, teletype
    return sum(len(teletype.extractText(opendocument.load(str(file)).text)) > 0 for file in path.iterdir())


def by_ebooklib(path):
    import ebooklib
    from ebooklib import epub
    books = (epub.read_epub(str(file)) for file in path.iterdir())
    return sum(any(page.get_content() for page in book.get_items_of_type(ebooklib.ITEM_DOCUMENT)) for book in books)


def by_striprtf(path):
    from striprtf.striprtf import rtf_to_text
    return sum(len(rtf_to_text(file.read_text(encoding="ascii"))) > 0 for file in path.iterdir())


def by_zipfile(path):
    with zipfile.ZipFile(path) as archive:
        return sum(len(archive.read(member)) > 0 for member in archive.infolist())


def by_pdftotext(path):
    files = list(path.iterdir())
    ran = (subprocess.run(["pdftotext", file, "-"], capture_output=True, check=True).stdout for file in files)
    return sum(len(text.strip()) > 0 for text in ran)


def unpacked(program):
    """Unpacks a file to nowhere; what it gives counts the lines, if these are documents, so that counting takes no time of it."""
    def run(path):
        subprocess.run([program, "-dc", path], stdout=subprocess.DEVNULL, check=True)
        return lambda: count_lines(path)

    def count_lines(path):
        if not path.name.startswith("a.jsonl."):
            return None
        with subprocess.Popen([program, "-dc", path], stdout=subprocess.PIPE) as running:
            return sum(1 for _ in running.stdout)
    return run


def readers(name):
    """Who else reads such a file."""
    if ".warc" in name or name == "a.arc":
        for module, reader in [("warcio", by_warcio), ("fastwarc", by_fastwarc)][: 1 if name == "a.arc" else 2]:
            try:
                __import__(module)
                yield module, reader
            except ImportError:
                pass
    elif name.endswith(".trec"):
        yield "re", by_re
    elif ".xml" in name:
        try:
            __import__("mwxml")
            yield "mwxml", by_mwxml
        except ImportError:
            pass
    elif name == "a.mbox":
        yield "mailbox", by_mailbox
    elif name.endswith(".zip"):
        yield "zipfile", by_zipfile
    elif name == "a.tar":
        yield "tarfile", by_tarfile
    elif name == "html":
        yield "html.parser", by_html_parser
    elif name == "a.jsonl":
        yield "json", by_json
    elif name in ("a.csv", "a.tsv"):
        yield "csv", by_csv
    elif name.endswith((".parquet", ".arrow")):
        yield "pyarrow", by_pyarrow
    elif name == "mails":
        yield "email", by_email
    elif name == "pdf" and shutil.which("pdftotext"):
        yield "pdftotext", by_pdftotext
    if name in ("a.jsonl", "a.csv", "a.tsv", "a.parquet") and importlib.util.find_spec("duckdb"):
        yield "duckdb", by_duckdb
    for module, kind, reader in [("docx2txt", "docx", by_docx2txt), ("odf", "odt", by_odfpy), ("ebooklib", "epub", by_ebooklib),
                                 ("striprtf", "rtf", by_striprtf)]:
        if name == kind and importlib.util.find_spec(module):
            yield module, reader
    for packer, end in [("gzip", ".gz"), ("zstd", ".zst"), ("bzip2", ".bz2"), ("xz", ".xz"), ("lz4", ".lz4")]:
        if name.endswith(end) and shutil.which(packer):
            yield f"{packer} -dc", unpacked(packer)
    yield from second_readers(name)


def few(program, path):
    """Documents a second of a folder of files of one document each; whether all count the same."""
    told, counts = [], []
    for name, reader in [("alike", lambda path: alike(program, path)), *readers(path.name)]:
        seconds, used, found = best(lambda: reader(path))
        counts.append(found)
        told.append(f"{name} {found / seconds:.0f} documents/s ({found / used:.0f} of CPU), {found}")
    print(f"{path.name:14} {len(list(path.iterdir())):8} files   " + "; ".join(told) + f"; equal to {counts.count(counts[0]) - 1}", flush=True)
    return len(set(counts)) == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/formats"))
    options = parser.parse_args()
    count, size = write(options.folder, options.input, options.megabytes * 1e6)
    print(f"{count} documents, {size / 1e6:.1f} MB of text")
    wrong = []
    all_documents = count, size
    unpacked_used = {}
    for path in sorted(options.folder.iterdir()):
        count, size = all_documents
        if path.is_dir() and path.name != "html":
            if not few(options.program, path):
                wrong.append(path.name)
            continue
        seconds, used, found = best(lambda: alike(options.program, path))
        told = [f"alike {speed(size, seconds, used)}, {found}"]
        unpacked_used[path.name] = used
        if path.stem in unpacked_used:
            more = max(used - unpacked_used[path.stem], 0.01)
            told.append(f"unpacking within it {size / more / 1e6:.0f} MB/s of CPU")
        equal = 0
        for name, reader in readers(path.name):
            seconds, used, found_there = best(lambda: reader(path))
            found_there = found_there() if callable(found_there) else found_there
            equal += found_there == found
            told.append(f"{name} {speed(size, seconds, used)}" + (f", {found_there}" if found_there is not None else ""))
            if found_there not in (None, count):
                told.append("(other count)")
                wrong.append(path.name)
        if found != count:
            wrong.append(path.name)
        told.append(f"equal to {equal}")
        print(f"{path.name:14} {os.path.getsize(path) / 1e6:8.1f} MB   " + "; ".join(told), flush=True)
    if wrong:
        raise SystemExit(f"other counts in: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
