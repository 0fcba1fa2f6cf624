#!/usr/bin/env python3
"""Writes a JSONL file several times over, each time in other words: a bigger file of the same structure.

    benches/grow.py IN.jsonl OUT.jsonl --times 3

The first copy is IN; in each further one the ASCII letters of every `text` are exchanged by another permutation of the
alphabet, small for small and capital for capital. Lengths, markup, escapes and near-duplicates within a copy stay as
they are, while copies share next to no shingles: no letter stands for the same one in two of them, so what they have in
common is text without ASCII letters, numbers above all. Ids are given anew, m1, m2, ... in order, so that they are unique.
"""
import argparse
import json

# One cycle through all letters. A copy takes each letter to the one that stands as many places further on as the copy's
# number, so two copies agree on none. It is shuffled because the plain alphabet would take one word to another too often.
CYCLE = "qhmzeprtvaxkocgyubnwdfsilj"


def permutation(copy):
    turned = CYCLE[copy:] + CYCLE[:copy]
    letters, images = (cycle + cycle.upper() for cycle in (CYCLE, turned))
    return bytes.maketrans(letters.encode(), images.encode())


def in_other_words(text, letters):
    # A table over bytes is many times as fast as one over characters. Escaped halves of surrogate pairs may stand alone.
    return text.encode("utf-8", "surrogatepass").translate(letters).decode("utf-8", "surrogatepass")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="IN.jsonl")
    parser.add_argument("grown", metavar="OUT.jsonl")
    parser.add_argument("--times", type=int, default=3, help="copies in all, IN among them, 1 to 26 (default: 3)")
    given = parser.parse_args()
    if not 1 <= given.times <= len(CYCLE):
        parser.error(f"--times {given.times}: there are 1 to {len(CYCLE)} copies that differ in every letter")
    return given


def copies(source, times):
    """All records of all copies, each with the line that it comes from."""
    for copy in range(times):
        letters = permutation(copy)
        with open(source, "rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    record = json.loads(line)
                    record["text"] = in_other_words(record["text"], letters)
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    raise SystemExit(f"{source}:{number}: not a JSON object with a string `text`: {error!r}")
                yield line, record


def main():
    given = arguments()
    # A path that is there is never written over: it may be IN.
    with open(given.grown, "xb") as out:
        for number, (line, record) in enumerate(copies(given.source, given.times), 1):
            record["id"] = f"m{number}"
            # What is escaped in IN is escaped in each copy; half a surrogate pair cannot be written otherwise.
            grown = json.dumps(record, ensure_ascii=line.isascii())
            out.write(grown.encode("utf-8", "backslashreplace") + b"\n")


main()
