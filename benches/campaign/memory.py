#!/usr/bin/env python3
"""The most memory of commands under --memory, in 44 settings, as a table. Wide windows take the program zstd.

    benches/campaign/memory.py PROGRAM [--only SETTING]

Most is what all processes of a command hold together, as the system counts it; of several processes each has the
limit. It may be 1.05 times the limit or 32 MiB above it, whichever is more. Inputs are drawn, the same each time; the
largest has 200 MB."""

import gzip
import io
import json
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from campaign import MIB, Fault, Program, launched, options

# A setting may take a while on a machine that does other things.
DEADLINE = 600


POOL = [f"{at:05x}" for at in range(1 << 17)]


def words(drawn, count):
    """So many words by chance, in lines."""
    return "\n".join(" ".join(drawn.choices(POOL, k=min(16, count - at))) for at in range(0, count, 16))


def lines(path, records):
    with open(path, "w", encoding="utf-8") as out:
        for record in records:
            out.write(json.dumps(record) + "\n")


def long_pairs(count, size):
    """Records of about so many bytes; each second one is like the one before."""

    def records(drawn):
        for at in range(count // 2):
            text = words(drawn, size // 6)
            yield {"id": f"a{at}", "text": text}
            yield {"id": f"b{at}", "text": text + " " + words(drawn, 20)}

    return records


def near_copies(count, size):
    """Copies of one page, each with some words changed."""

    def records(drawn):
        page = words(drawn, size // 6).split()
        for at in range(count):
            copy = list(page)
            for _ in range(3):
                copy[drawn.randrange(len(copy))] = f"own{drawn.randrange(1 << 30)}"
            yield {"id": at, "text": " ".join(copy)}

    return records


def repeats(count, size):
    """Records of about so many bytes that say the same few lines again and again: next to nothing when compressed."""

    def records(drawn):
        for at in range(count):
            page = words(drawn, 500)
            yield {"id": at, "text": page * (size // len(page))}

    return records


def tiny(count, of=1 << 20, ids=None):
    """Documents of a few words; with so many ids, if not each has its own."""

    def records(drawn):
        for at in range(count):
            yield {
                "id": drawn.randrange(ids) if ids else at,
                "text": f"{drawn.randrange(of)} {at % 1000} {drawn.randrange(of)} x y z",
            }

    return records


def family(count):
    """Pages that share a template of half their words."""

    def records(drawn):
        template = words(drawn, 150)
        for at in range(count):
            yield {"id": at, "text": template + " " + words(drawn, 75)}

    return records


def ordinary(count):
    """Pages of 200 words, a tenth of them copied with changes."""

    def records(drawn):
        last = words(drawn, 200)
        for at in range(count):
            if drawn.random() < 0.9:
                last = words(drawn, 200)
            yield {"id": at, "text": f"{last} {words(drawn, 3)}"}

    return records


def one_text(count):
    """The same text again and again."""

    def records(drawn):
        text = words(drawn, 100)
        for at in range(count):
            yield {"id": at, "text": text}

    return records


def many_words(count):
    """Records of nothing but words of one letter: the most tokens a byte."""

    def records(drawn):
        for at in range(count):
            yield {"id": at, "text": " ".join(drawn.choice("abcdefghij") for _ in range(500_000))}

    return records


class Setting:
    """An input, the commands that it goes through, and the limit. The last command counts."""

    def __init__(self, name, make, memory, *commands, processes=1, form="jsonl"):
        self.name, self.make, self.memory, self.commands = name, make, memory, commands
        self.processes, self.form = processes, form


LOAD = "load c in"
LEXICON = "lexicon build in --out out --terms alphanumeric --min-df 1"
# Made once.
ORDINARY, COPIES, LONG = ordinary(60_000), near_copies(8, 8_000_000), long_pairs(8, 8_000_000)
REPEATS = repeats(4, 60_000_000)
SETTINGS = [
    Setting("ordinary pages, dedup", ORDINARY, 64, "dedup in --out out"),
    Setting("ordinary pages, one worker", ORDINARY, 40, "dedup in --out out -w 1"),
    Setting("ordinary pages, 8 workers", ORDINARY, 128, "dedup in --out out -w 8"),
    Setting("ordinary pages, --kinds --pairs", ORDINARY, 64, "dedup in --out out --kinds --pairs"),
    Setting("ordinary pages, load", ORDINARY, 64, LOAD),
    Setting("ordinary pages, second load", ORDINARY, 64, LOAD, "load c in --id-field id --method join"),
    Setting("ordinary pages, pairs", ORDINARY, 64, LOAD, "pairs c"),
    Setting("ordinary pages, export", ORDINARY, 64, LOAD, "export c --out out"),
    Setting("ordinary pages, recluster", ORDINARY, 64, LOAD, "recluster c --threshold 0.9"),
    Setting("ordinary pages, minhash", ORDINARY, 64, "dedup in --out out --method minhash"),
    Setting("ordinary pages, shingles", ORDINARY, 64, "dedup in --out out --method shingles"),
    Setting("long records, 8 MB", LONG, 64, "dedup in --out out"),
    Setting("long records, 8 MB, load", LONG, 64, LOAD),
    Setting("near-copies of 8 MB, dedup", COPIES, 64, "dedup in --out out"),
    Setting("near-copies of 8 MB, load", COPIES, 64, LOAD),
    Setting("near-copies of 8 MB, pairs", COPIES, 64, LOAD, "pairs c"),
    Setting("near-copies of 8 MB, export", COPIES, 64, LOAD, "export c --out out"),
    Setting(
        "near-copies of 2 KB, transitive", near_copies(30_000, 2_000), 64, "dedup in --out out --clustering transitive"
    ),
    Setting("near-copies of 2 KB, load", near_copies(30_000, 2_000), 64, LOAD),
    Setting("words of one letter", many_words(20), 64, "dedup in --out out"),
    Setting("tiny documents", tiny(1_500_000), 128, "dedup in --out out"),
    Setting("tiny documents, load", tiny(600_000), 64, LOAD),
    Setting("tiny documents of few ids, load", tiny(600_000, ids=100), 64, LOAD),
    Setting("a family", family(50_000), 64, "dedup in --out out"),
    Setting("a family, load at 0.5", family(30_000), 64, "load c in --threshold 0.5"),
    Setting("one text", one_text(200_000), 64, "dedup in --out out"),
    Setting("3,000 gzip files", ordinary(30_000), 64, "dedup in --out out", form="gzip files"),
    Setting("20,000 text files", tiny(20_000), 64, "dedup in --out out", form="texts"),
    Setting("two processes", ORDINARY, 64, "dedup in --out out -w 1", processes=2),
    Setting("two processes, load", ORDINARY, 64, "load c in -w 1", processes=2),
    Setting("check of long texts", near_copies(3, 3_000_000), 64, LOAD, "check c in"),
    Setting("lexicon of many words", tiny(1_000_000, 1 << 40), 64, LEXICON),
    Setting("long records, 8 MB, lexicon", LONG, 64, LEXICON),
    Setting("bodies of 60 MB, compressed, dedup", REPEATS, 64, "dedup in --out out", form="warc"),
    Setting("bodies of 60 MB, compressed, load", REPEATS, 64, LOAD, form="warc"),
    Setting("bodies of 60 MB, compressed, passages", REPEATS, 64, "passages in --out out", form="warc"),
    Setting("DOCX of 60 MB of text, dedup", REPEATS, 64, "dedup in --out out", form="docx"),
    Setting("a tar of members of 8 MB, dedup", COPIES, 64, "dedup in --out out", form="tar"),
    Setting("a window of 32 MiB, dedup", ORDINARY, 96, "dedup in --out out", form="zst"),
    Setting("a window of 32 MiB, load", ORDINARY, 96, LOAD, form="zst"),
    Setting("a window of 32 MiB, passages", ORDINARY, 96, "passages in --out out", form="zst"),
    Setting("windows of 64 MiB, passages of words", ORDINARY, 320, "passages in --unit tokens:50 --out out", form="two zst"),
    Setting("a window of 32 MiB, repetition", ORDINARY, 96, "repetition in --out out", form="zst"),
    Setting("a window of 32 MiB, lexicon", ORDINARY, 96, LEXICON, form="zst"),
]


def response(record):
    """A record as a crawler that keeps bodies as they come writes it."""
    body = gzip.compress(record["text"].encode())
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n" + body
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:a:{record['id']}>\r\n"
    head += f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    return head.encode() + http + b"\r\n\r\n"


def docx(path, text):
    """The least of a document of Word."""
    main = f'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>{text}'
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    types = f'<Types><Override PartName="/word/document.xml" ContentType="{kind}"/></Types>'
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    relations = f'<Relationships><Relationship Id="1" Type="{relation}" Target="word/document.xml"/></Relationships>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", types)
        package.writestr("_rels/.rels", relations)
        package.writestr("word/document.xml", main + "</w:t></w:r></w:p></w:body></w:document>")


def write(setting, folder):
    """The input; the name by which commands know it. That of the setting before may do."""
    made = folder.parent / "made.jsonl"
    records = setting.make(random.Random(1))
    if setting.form == "jsonl":
        if setting.make is not write.last:
            lines(made, records)
            write.last = setting.make
        (folder / "in.jsonl").hardlink_to(made)
        return "in.jsonl"
    if setting.form in ("zst", "two zst"):
        lines(made, records)
        write.last = setting.make
        names, log = (["in.jsonl.zst"], 25) if setting.form == "zst" else (["in/a.jsonl.zst", "in/b.jsonl.zst"], 26)
        for name in names:
            (folder / name).parent.mkdir(exist_ok=True)
            # How long a stream is the compressor does not know, so it asks for the whole window.
            with open(made, "rb") as stream, open(folder / name, "wb") as out:
                subprocess.run(["zstd", "-q", "-1", f"--long={log}"], stdin=stream, stdout=out, check=True)
        return names[0].split("/")[0]
    if setting.form == "warc":
        with open(folder / "in.warc", "wb") as out:
            out.writelines(response(record) for record in records)
        return "in.warc"
    if setting.form == "tar":
        with tarfile.open(folder / "in.tar", "w") as out:
            for record in records:
                member, text = tarfile.TarInfo(f"{record['id']}.txt"), record["text"].encode()
                member.size = len(text)
                out.addfile(member, io.BytesIO(text))
        return "in.tar"
    (folder / "in").mkdir()
    if setting.form == "docx":
        for record in records:
            docx(folder / "in" / f"{record['id']}.docx", record["text"])
        return "in"
    if setting.form == "texts":
        for record in records:
            (folder / "in" / f"{record['id']}.txt").write_text(record["text"], encoding="utf-8")
        return "in"
    batch = []
    for at, record in enumerate(records):
        batch.append(json.dumps(record) + "\n")
        if len(batch) == 10:
            (folder / "in" / f"{at}.jsonl.gz").write_bytes(gzip.compress("".join(batch).encode()))
            batch.clear()
    return "in"


write.last = None


def line(setting, command, name, folder):
    """A command in words, with the limit where it takes one."""
    given = [name if word == "in" else word for word in command.split()]
    if given[0] != "check":
        given += ["--memory", f"{setting.memory}M"]
        given += [] if "-w" in given else ["-w", "2"]
    return launched(folder, given) if setting.processes == 2 else given


def measure(program, setting):
    """How the last command of a setting ended, all others without a limit worth the name."""
    name = write(setting, program.folder)
    for command in setting.commands[:-1]:
        given = [name if word == "in" else word for word in command.split()]
        if (ran := program.run([*given, "--quiet"], DEADLINE)).code != 0:
            raise Fault("wrong", f"{setting.name}: {ran}")
    ran = program.run(line(setting, setting.commands[-1], name, program.folder), DEADLINE)
    if ran.code not in (0, 3) or ran.code == 3 and "allow about" not in ran.stderr:
        raise Fault("wrong", f"{setting.name}: {ran}")
    return ran


def holds(program, at, setting):
    """Prints what a setting comes to; whether that is within the limit."""
    program.folder.mkdir()
    try:
        ran = measure(program, setting)
    except Fault as fault:
        print(f"{fault.kind.upper()}: {at}: {fault}", flush=True)
        return False
    finally:
        shutil.rmtree(program.folder)
    limit = setting.memory * setting.processes
    over = ran.peak > max(limit * 1.05, limit + 32 * setting.processes) * MIB
    told = [
        f"{at}: {setting.name}",
        limit,
        f"{ran.peak / MIB:.0f}",
        "over" if over else "",
        ran.code,
        f"{ran.seconds:.1f}",
    ]
    print("| " + " | ".join(map(str, told)) + " |", flush=True)
    return not over


def main():
    given = options(__doc__.split("\n", maxsplit=1)[0], len(SETTINGS))
    failed = 0
    print("| setting | limit, MiB | most, MiB | | code | seconds |\n|---|---:|---:|---|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory(prefix="alike-campaign-") as folder:
        for at, setting in enumerate(SETTINGS[: given.count]):
            if given.only in (None, at):
                failed += not holds(Program(given.program, Path(folder) / "w"), at, setting)
    count = given.count if given.only is None else 1
    print(f"{count} settings: {failed} beyond 1.05 times the limit or 32 MiB above it, or failed")
    sys.exit(int(failed > 0))


if __name__ == "__main__":
    main()
