#!/usr/bin/env python3
"""Divides a JSONL file into a base and what changes it, for `benches/collection.sh`.

    benches/split.py BIG.jsonl OUT_DIR

OUT_DIR must not exist. It gets `base.jsonl`; `new_0.01.jsonl`, `new_0.1.jsonl`, `new_1.jsonl` and `new_10.jsonl`, records that
are in none of the others; `del_0.01.txt` to `del_10.txt`, ids of the base, one a line; and `change_1.jsonl`, records of the
base with a few words of their text replaced. The numbers are percent of the base. What a record becomes is
decided by a fixed hash of its line number, so percents are as near as chance has it; ids must be unique (`benches/grow.py`).
"""
import json
import os
import re
import sys

# Parts in 10,000 of the base.
PARTS = {"0.01": 1, "0.1": 10, "1": 100, "10": 1000}
BASE = 10_000
WORDS_REPLACED = 3


def scattered(number, salt):
    """The finalizer of splitmix64: 64 bits that have no visible relation to the line number."""
    bits = (number * 2 + salt) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    return bits ^ bits >> 31


def part(bits, names, whole):
    """The name whose range holds the bits, taken modulo the whole; None behind the last range."""
    rest = bits % whole
    for name, size in names.items():
        if rest < size:
            return name
        rest -= size
    return None


def reworded(record, number):
    """The line of the record with WORDS_REPLACED words, or as many as it has, replaced by ones that are nowhere else."""
    words = re.split(r"(\s+)", record["text"])
    places = [place for place, word in enumerate(words) if word and not word.isspace()]
    if not places:
        words, places = [""], [0]
    for turn in range(min(WORDS_REPLACED, len(places))):
        words[places.pop(scattered(number, turn) % len(places))] = f"reworded{number}x{turn}"
    record["text"] = "".join(words)
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def divide(lines, out):
    new = {f"new_{name}.jsonl": size for name, size in PARTS.items()}
    touched = {f"del_{name}.txt": size for name, size in PARTS.items()} | {"change_1.jsonl": PARTS["1"]}
    for number, line in enumerate(lines, 1):
        slice_ = part(scattered(number, 0), new, BASE + sum(PARTS.values()))
        out[slice_ or "base.jsonl"].write(line)
        touch = None if slice_ else part(scattered(number, 1), touched, BASE)
        if touch:
            record = json.loads(line)
            deleted = touch.startswith("del_")
            out[touch].write(f"{record['id']}\n".encode() if deleted else reworded(record, number))


def main():
    source, folder = sys.argv[1:]
    os.mkdir(folder)
    names = [f"{kind}_{name}" for name in PARTS for kind in ("new", "del")]
    names = ["base.jsonl", "change_1.jsonl"] + [name + (".jsonl" if name[0] == "n" else ".txt") for name in names]
    out = {name: open(os.path.join(folder, name), "wb") for name in names}
    with open(source, "rb") as lines:
        divide(lines, out)
    for file in out.values():
        file.close()


main()
