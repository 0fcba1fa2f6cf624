#!/usr/bin/env python3
"""The same documents through every kind of file that is read, given in each way: the clusters have to be the same.

    benches/same_clusters.py PROGRAM INPUT.jsonl [--documents N] [--folder FOLDER]

PROGRAM is built with `--features full`. The first N texts (1,000) of INPUT.jsonl are written as JSON Lines, CSV, TSV, WARC
(0.18, 1.0 and 1.1, with gzip too), WET, ARC, mbox, mails, Maildir, HTML, plain text, TREC, an export of MediaWiki, tar, zip,
DOCX, ODT, EPUB and RTF; as JSON Lines in gzip, zstd, bzip2, xz and LZ4; and as Parquet and Arrow where pyarrow is installed.
Each is read by its name, by a pattern, in its folder, by standard input, and with another name. A row of the table says how
many clusters and removed documents each has. It ends with 1 if any document is in another cluster, or kept where it was
removed, than as JSON Lines."""

import argparse
import bz2
import gzip
import html
import json
import lzma
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "campaign"))
from good_formats import arc, docx, epub, lz4_frame, odt, packed, tar, warc, wet, wiki  # noqa: E402

BREAK = "\n"


def documents(path, most):
    """Texts as every kind can hold them: XML has no controls, and mail no lone returns."""
    found = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            text = re.sub("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", " ", json.loads(line)["text"])
            if text.strip():
                found.append((f"d{len(found):06}", text))
            if len(found) == most:
                break
    return found


def rtf(text):
    """Text as RTF spells it."""
    def spelt(character):
        if character in "\\{}":
            return "\\" + character
        if character == BREAK:
            return "\\par\n"
        if ord(character) < 128:
            return character
        units = character.encode("utf-16-le")
        return "".join(f"\\u{int.from_bytes(units[at:at + 2], 'little', signed=True)}?" for at in range(0, len(units), 2))

    return ("{\\rtf1\\ansi\\uc1 " + "".join(map(spelt, text)) + "}").encode()


def message(name, text):
    """A mail of plain text."""
    return (f"From: a@b\nMessage-ID: <{name}@x>\nDate: Thu, 1 Jan 2020 00:00:00 +0000\nSubject: s\nMIME-Version: 1.0\n"
            f"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{text}\n").encode()


def posted(name, text):
    """The same in an mbox."""
    quoted = re.sub(b"(?m)^(>*From )", rb">\1", message(name, text))
    return b"From a@b Thu Jan  1 00:00:00 2020\n" + quoted + b"\n"


def page(text):
    return f"<!doctype html><html><head><meta charset=utf-8></head><body><pre>{html.escape(text)}</pre></body></html>".encode()


def trec(name, text):
    return f"<DOC>\n<DOCNO> {name} </DOCNO>\n<TEXT>\n{html.escape(text, False)}\n</TEXT>\n</DOC>\n".encode()


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def paragraphs(text, before, behind):
    return "".join(before + html.escape(line) + behind for line in text.split(BREAK))


def single_files(pages):
    """Kinds of which a file has many documents: what it is called, and its bytes."""
    lines = b"".join(json.dumps({"id": name, "text": text}).encode() + b"\n" for name, text in pages)
    archive = [(f"{name}.txt", text.encode()) for name, text in pages]
    marked = [(name, html.escape(text)) for name, text in pages]
    # What the texts of ARC and of WET are is for their writers to say: UTF-8, and lengths in bytes.
    found = {
        "JSON Lines": ("a.jsonl", lines),
        "JSON Lines, gzip": ("a.jsonl.gz", gzip.compress(lines)),
        "JSON Lines, bzip2": ("a.jsonl.bz2", bz2.compress(lines)),
        "JSON Lines, xz": ("a.jsonl.xz", lzma.compress(lines)),
        "JSON Lines, LZ4": ("a.jsonl.lz4", lz4_frame(lines)),
        "CSV": ("a.csv", ("id,text\n" + "".join(f"{name},{quoted(text)}\n" for name, text in pages)).encode()),
        "TSV": ("a.tsv", ("id\ttext\n" + "".join(f"{name}\t{quoted(text)}\n" for name, text in pages)).encode()),
        "WARC 0.18": ("a.warc", b"".join(warc(name, text, "0.18") for name, text in pages)),
        "WARC 1.0": ("a.warc", b"".join(warc(*one) for one in pages)),
        "WARC 1.1, gzip": ("a.warc.gz", b"".join(gzip.compress(warc(name, text, "1.1")) for name, text in pages)),
        "WET": ("a.warc.wet", b"".join(wet(*one) for one in pages)),
        "ARC": ("a.arc", b"".join(arc(marked))),
        "mbox": ("a.mbox", b"".join(posted(*one) for one in pages)),
        "TREC": ("a.trec", b"".join(trec(*one) for one in pages)),
        "MediaWiki": ("a.xml", b"".join(wiki(marked))),
        "MediaWiki, multistream": ("a.xml.bz2", b"".join(map(bz2.compress, wiki(marked)))),
        "tar": ("a.tar", tar(archive)),
        "tar, gzip": ("a.tgz", gzip.compress(tar(archive))),
        "zip": ("a.zip", packed(archive)),
    }
    if shutil.which("zstd"):
        content = subprocess.run(["zstd", "-c"], input=lines, capture_output=True, check=True).stdout
        found["JSON Lines, zstd"] = ("a.jsonl.zst", content)
    return found


def folders(pages):
    """Kinds of which a file has one document: the end of their names, and the bytes of each."""
    makes = {
        "plain text": (".txt", lambda name, text: text.encode()),
        "HTML": (".html", lambda name, text: page(text)),
        "mails": (".eml", message),
        "DOCX": (".docx", lambda name, text: docx(paragraphs(text, '<w:p><w:r><w:t xml:space="preserve">', "</w:t></w:r></w:p>"))),
        "ODT": (".odt", lambda name, text: odt(paragraphs(text, "<text:p>", "</text:p>"))),
        "EPUB": (".epub", lambda name, text: epub(paragraphs(text, "<p>", "</p>"))),
        "RTF": (".rtf", lambda name, text: rtf(text)),
    }
    for kind, (end, make) in makes.items():
        yield kind, {f"{name}{end}": make(name, text) for name, text in pages}
    yield "Maildir", {f"cur/{name}.host:2,S": message(name, text) for name, text in pages}


def columns(folder, pages):
    """Parquet and Arrow, by pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.ipc as ipc
        import pyarrow.parquet as pq
    except ImportError:
        print("pyarrow is not installed: no Parquet, no Arrow", file=sys.stderr)
        return
    names, texts = zip(*pages)
    table = pa.table({"id": names, "text": texts})
    for kind, name, write in (
        ("Parquet", "a.parquet", lambda path: pq.write_table(table, path, row_group_size=max(len(pages) // 3, 1))),
        ("Arrow file", "a.arrow", lambda path: with_writer(ipc.new_file, path, table)),
        ("Arrow stream", "a.arrow", lambda path: with_writer(ipc.new_stream, path, table)),
    ):
        place = folder / kind.replace(" ", "-")
        place.mkdir()
        write(str(place / name))
        yield kind, place, place / name


def with_writer(open_writer, path, table):
    with open_writer(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=max(len(table) // 4, 1))


def clusters(program, words, stdin=None):
    """Of each document in order the number of its cluster, and whether it is kept."""
    with tempfile.TemporaryDirectory() as name:
        line = [program, "dedup", *words, "--out", f"{name}/out", "--assignments", "-q"]
        given = open(stdin, "rb") if stdin else subprocess.DEVNULL
        ran = subprocess.run(line, stdin=given, capture_output=True, text=True, check=False)
        if ran.returncode:
            return ran.stderr.strip()
        rows = [json.loads(row) for row in open(f"{name}/out/assignments.jsonl", encoding="utf-8")]
    numbers = {}
    return [(numbers.setdefault(row["cluster"], len(numbers)) if row["cluster"] else None, row["kept"]) for row in rows]


def ways(program, folder, file):
    """What each way of giving an input finds."""
    yield "folder", clusters(program, [folder])
    if file is None:
        yield "pattern", clusters(program, [f"{folder}/**/*"])
        return
    yield "named", clusters(program, [file])
    yield "pattern", clusters(program, [f"{folder}/*"])
    yield "standard input", clusters(program, ["-"], file)
    other = file.with_name("without-an-end")
    file.rename(other)
    yield "another name", clusters(program, [other])
    other.rename(file)


def kinds(folder, pages):
    """Each kind, its folder, and its file if it is one."""
    for kind, (name, content) in single_files(pages).items():
        place = folder / kind.replace(" ", "-")
        place.mkdir()
        (place / name).write_bytes(content)
        yield kind, place, place / name
    yield from columns(folder, pages)
    for kind, files in folders(pages):
        place = folder / kind.replace(" ", "-")
        for name, content in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        yield kind, place, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("input", type=Path)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    pages, wanted, wrong = documents(options.input, options.documents), None, 0
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        print("| kind | clusters | removed | the same |\n|---|---:|---:|---|")
        for kind, place, file in kinds(Path(name), pages):
            differing, counts = [], ("", "")
            for way, found in ways(options.program, place, file):
                if isinstance(found, str):
                    differing.append(f"{way}: {found[:200]}")
                    continue
                wanted = wanted or found
                counts = len({one for one, _ in found} - {None}), sum(not kept for _, kept in found)
                if found != wanted:
                    differing.append(f"{way}: {counts[0]} clusters, {counts[1]} removed of {len(found)}")
            wrong += bool(differing)
            print(f"| {kind} | {counts[0]} | {counts[1]} | {'; '.join(differing) or 'yes'} |", flush=True)
            shutil.rmtree(place)
    sys.exit(int(wrong > 0))


if __name__ == "__main__":
    main()
