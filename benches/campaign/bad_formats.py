#!/usr/bin/env python3
"""Damaged files of every kind that is read, and files that were made to harm.

    benches/campaign/bad_formats.py PROGRAM [COUNT] [--seed N] [--only CASE] [--memory MIB] [--made]

PROGRAM is built with `--features full`. Each file is read in one of several ways, under `--memory`: 64M, and for PDFs what
these need, or MIB. With `--made` only what was made to harm is read. Whatever it is, the run ends with 0 or 3, and says of what it could not use file, place and reason; what it
writes can be read again. It never panics, and takes at most 1.05 times its memory or 32 MiB above it. The cases that were made to harm come first, each once: bombs, lies, names that lead elsewhere, loops, depth, and a
line of 2 GiB, which takes so much room on the disk for a minute."""

import json
import shutil

from bad_formats_made import made
from campaign import MIB, Fault, campaign, options
from good_formats import good_formats, texts

GOOD = good_formats()
MADE = made()
WAYS = {
    "kept": ["--out", "out"],
    "removed": ["--out", "out", "--write-removed"],
    "jsonl": ["--out", "out", "--to", "jsonl", "--write-removed"],
    "parquet": ["--out", "out", "--to", "parquet", "--write-removed"],
    "annotated": ["--out", "out", "--to", "jsonl", "--annotate"],
}


def more(parser):
    """Arguments of this campaign alone."""
    parser.add_argument("--memory", type=int, metavar="MIB", help="least memory of a run")
    parser.add_argument("--made", action="store_true", help="only files that were made to harm")


def damaged(drawn, content):
    """A file with some of its bytes changed, gone, doubled or in another place."""
    content, at = bytearray(content), drawn.randrange(len(content))
    length = min(drawn.choice((1, 4, 40, 400)), len(content) - at)
    how = drawn.randrange(8)
    if how == 0:
        del content[at:]
    elif how == 1:
        del content[at : at + length]
    elif how == 2:
        content[at : at + length] = drawn.randbytes(length)
    elif how == 3:
        content[at : at + length] = bytes([drawn.choice((0, 0x7F, 0x80, 0xFF))]) * length
    elif how == 4:
        content[at:at] = content[: drawn.randrange(len(content))]
    else:
        for _ in range(drawn.choice((1, 1, 2, 16))):
            content[drawn.randrange(len(content))] ^= 1 << drawn.randrange(8)
    return bytes(content)


def memory_of(name):
    """What a run gets: reading PDFs takes a process of its own."""
    return 640 if name.endswith(".pdf") else 64


def within(memory):
    """What keeps a run to so many MiB."""
    return ["--memory", f"{memory}M", "-w", "2"]


def read(program, way, path, memory):
    """Reads a file in one way, and judges what became of it."""
    words = ["dedup", path, *WAYS[way], *within(memory)]
    ran = program.run(words)
    if ran.code not in (0, 3):
        raise Fault("wrong", f"{' '.join(map(str, words))}: {ran}")
    if ran.code != 0 and "error" not in ran.stderr:
        raise Fault("wrong", f"{way} {path}: no word why: {ran}")
    if ran.peak > max(1.05 * memory * MIB, (memory + 32) * MIB):
        raise Fault("wrong", f"{way} {path} took {ran.peak // MIB} MiB of {memory}: {ran}")
    out = program.folder / "out"
    if ran.code == 0 or out.exists():
        told(out)
    return ran, out


def told(out):
    """What an output says of what could not be used."""
    summary = json.loads((out / "summary.json").read_text())
    rejected = [json.loads(line) for line in (out / "rejected.jsonl").read_text().splitlines()]
    for line in rejected:
        if not line.get("file") or not line.get("reason"):
            raise Fault("wrong", f"a refusal without place or reason: {line}")
    if summary["rejected"] > 0 and not rejected:
        raise Fault("wrong", f"{summary['rejected']} records refused, and no line says why")


def read_again(program, out, memory):
    """What was written is as good as what is read."""
    for half in ("kept", "removed", "annotated"):
        if (out / half).is_dir() and any((out / half).iterdir()):
            ran = program.run(["dedup", out / half, "--dry-run", *within(memory)])
            if ran.code not in (0, 3):
                raise Fault("wrong", f"reading {half} again: {ran}")


def parquet(program):
    """Parquet of the same documents, as alike writes it."""
    lines = "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts())
    (program.folder / "p.jsonl").write_text(lines)
    program.good(["dedup", "p.jsonl", "--out", "p", "--method", "exact", "--to", "parquet", "-q"])
    content = (program.folder / "p" / "kept" / "p.parquet").read_bytes()
    shutil.rmtree(program.folder / "p")
    (program.folder / "p.jsonl").unlink()
    return "a.parquet", content


def case(program, drawn, _left):
    """One file, damaged or made."""
    folder = program.folder / "in"
    folder.mkdir()
    kinds = [] if GIVEN.made else [*GOOD, "parquet"]
    listed = [*MADE, *kinds]
    # Few cases are of all kinds, too; many damage each kind again and again.
    at = drawn.number * max(len(listed) // drawn.count, 1)
    name = listed[at] if at < len(listed) else kinds[at % len(kinds)]
    if name in MADE:
        path, make, memory, says = MADE[name]
        make(folder / path)
        way = drawn.choice(list(WAYS))
    else:
        path, content = parquet(program) if name == "parquet" else GOOD[name]
        (folder / path).write_bytes(damaged(drawn, content))
        way, memory, says = drawn.choice(list(WAYS)), memory_of(path), ""
    memory = max(memory, GIVEN.memory or 0)
    given = drawn.choice((folder, folder / path))
    ran, out = read(program, way, given, memory)
    refused = (out / "rejected.jsonl").read_text() if out.exists() else ""
    if says and says not in ran.stderr + refused:
        raise Fault("wrong", f"{way} {path}: nothing of {says!r}: {ran} {refused[:500]}")
    if ran.code == 0:
        read_again(program, out, memory)
    shutil.rmtree(program.folder)
    program.folder.mkdir()
    return 1


if __name__ == "__main__":
    GIVEN = options(__doc__.split("\n", maxsplit=1)[0], 1500, more)
    if GIVEN.made:
        GIVEN.count = len(MADE)
    campaign(GIVEN, "bad files", case)
