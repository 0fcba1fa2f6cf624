#!/usr/bin/env python3
"""Writes the same documents in every format, and measures `dedup --method exact --dry-run` on each beside readers of other
projects on the same file: megabytes of text a second, and how many documents each counts.

    benches/formats.py PROGRAM INPUT.jsonl [--megabytes 100] [--folder /tmp/formats]

With fpdf2 (pip install fpdf2) the first 200 are PDFs, too, beside pdftotext, in documents a second.

Readers: mailbox, re, gzip and zipfile of Python's library; warcio, fastwarc and mwxml where they are installed (pip install warcio
fastwarc mwxml); the programs gzip, zstd, bzip2, xz and lz4. INPUT.jsonl has a text and an id a line. Everything is measured warm, three
times, and the best counts; `alike` on one worker.
"""
import argparse
import bz2
import email
import gzip
import html
import importlib.util
import json
import mailbox
import os
import pathlib
import re
import shutil
import subprocess
import time
import zipfile


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


PDFS = 200


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
    names = ["a.jsonl", "a.warc.wet", "a.warc", "a.warc.gz", "a.mbox", "a.trec", "a.web.trec", "a.xml", "b.xml.bz2"]
    files = {name: open(folder / name, "wb") for name in names}
    count = size = 0
    if importlib.util.find_spec("fpdf"):
        (folder / "pdf").mkdir()
    files["a.xml"].write(WIKI[0])
    files["b.xml.bz2"].write(bz2.compress(WIKI[0]))
    archive = zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED)
    pages = []
    for name, text in documents(source, most):
        count, size = count + 1, size + len(text.encode())
        files["a.jsonl"].write(json.dumps({"id": name, "text": text}, ensure_ascii=False).encode() + b"\n")
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
        if count <= PDFS and (folder / "pdf").exists():
            (folder / "pdf" / f"{name}.pdf").write_bytes(pdf(text))
    files["a.xml"].write(WIKI[1])
    files["b.xml.bz2"].write(bz2.compress(b"".join(pages)) + bz2.compress(WIKI[1]))
    archive.close()
    for file in files.values():
        file.close()
    for packer, end in [("gzip", "gz"), ("zstd", "zst"), ("bzip2", "bz2"), ("xz", "xz"), ("lz4", "lz4")]:
        if shutil.which(packer):
            with open(folder / "a.jsonl", "rb") as plain, open(folder / f"a.jsonl.{end}", "wb") as packed:
                subprocess.run([packer, "-c"], stdin=plain, stdout=packed, check=True)
    return count, size


def best(action):
    """The shortest time of three, and what it gave."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        result = action()
        times.append(time.perf_counter() - start)
    return min(times), result


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


def by_zipfile(path):
    with zipfile.ZipFile(path) as archive:
        return sum(len(archive.read(member)) > 0 for member in archive.infolist())


def by_pdftotext(path):
    files = list(path.iterdir())
    ran = (subprocess.run(["pdftotext", file, "-"], capture_output=True, check=True).stdout for file in files)
    return sum(len(text.strip()) > 0 for text in ran)


def unpacked(program):
    def run(path):
        subprocess.run([program, "-dc", path], stdout=subprocess.DEVNULL, check=True)
    return run


def readers(name):
    """Who else reads such a file."""
    if ".warc" in name:
        for module, reader in [("warcio", by_warcio), ("fastwarc", by_fastwarc)]:
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
    elif name == "a.jsonl":
        yield "json", by_json
    elif name == "pdf" and shutil.which("pdftotext"):
        yield "pdftotext", by_pdftotext
    for packer, end in [("gzip", ".gz"), ("zstd", ".zst"), ("bzip2", ".bz2"), ("xz", ".xz"), ("lz4", ".lz4")]:
        if name.endswith(end) and shutil.which(packer):
            yield f"{packer} -dc", unpacked(packer)


def pdfs(program, path):
    """Documents a second of a folder of PDFs."""
    for name, reader in [("alike", lambda path: alike(program, path)), *readers(path.name)]:
        seconds, found = best(lambda: reader(path))
        print(f"pdf            {name} {found / seconds:.0f} documents/s, {found}", flush=True)


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
    for path in sorted(options.folder.iterdir()):
        count, size = all_documents
        if path.name == "pdf":
            pdfs(options.program, path)
            continue
        seconds, found = best(lambda: alike(options.program, path))
        told = [f"alike {size / seconds / 1e6:.0f} MB/s, {found}"]
        for name, reader in readers(path.name):
            seconds, found_there = best(lambda: reader(path))
            told.append(f"{name} {size / seconds / 1e6:.0f} MB/s" + (f", {found_there}" if found_there is not None else ""))
            if found_there not in (None, count):
                told.append("(other count)")
        if found != count:
            wrong.append(path.name)
        print(f"{path.name:14} {os.path.getsize(path) / 1e6:8.1f} MB   " + "; ".join(told), flush=True)
    if wrong:
        raise SystemExit(f"not all documents were found in: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
