#!/usr/bin/env python3
"""Whether `dedup` finds exactly the pairs of a file that another program finds: words, shingles and a prefix filter in Python, which share no
line with it.

    benches/exactness.py target/release/alike FILE.jsonl THRESHOLD...

Records need `text`, and an `id` that no other has. Texts of equal words are one, the first; the others are counted. Shingles are in the
order of how many texts have them, and all who meet in their prefixes are measured (Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and
Srikant 2007). Prints a row of Markdown a threshold, and ends with an error if any pair is missing, too many, or of another
resemblance. API pages at 0.5 take some minutes and 6 GB.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from math import ceil

sys.path.insert(0, str(pathlib.Path(__file__).parent / "peers"))
from texts import shingles, words  # noqa: E402


def read(file):
    """The ids of all records by the id of the first of equal words, and the shingles of these in the order of their frequency."""
    firsts, equal, of_text = {}, collections.defaultdict(list), {}
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            first = firsts.setdefault(" ".join(words(record["text"])), record["id"])
            equal[first].append(record["id"])
            if first == record["id"]:
                of_text[first] = shingles(record["text"])
    del firsts
    frequency = collections.Counter()
    for found in of_text.values():
        frequency.update(found)
    order = {shingle: at for at, (shingle, _) in enumerate(sorted(frequency.items(), key=lambda one: one[::-1]))}
    return equal, {first: sorted(order[shingle] for shingle in found) for first, found in of_text.items()}


def all_pairs(of_text, threshold):
    """The pairs of texts at or above a threshold, each with its resemblance."""
    rows = sorted((found for found in of_text.items() if found[1]), key=lambda row: len(row[1]))
    sets = [frozenset(found) for _, found in rows]
    holders, pairs = collections.defaultdict(list), {}
    of_index = 2 * threshold / (1 + threshold)
    for row, (name, found) in enumerate(rows):
        length, met = len(found), set()
        least = ceil(threshold * length)
        for shingle in found[: length - least + 1]:
            met.update(holders[shingle])
        for other in met:
            if len(sets[other]) < least:
                continue
            shared = len(sets[row] & sets[other])
            either = length + len(sets[other]) - shared
            if shared * threshold.denominator >= either * threshold.numerator:
                pairs[frozenset((name, rows[other][0]))] = shared / either
        for shingle in found[: length - ceil(of_index * length) + 1]:
            holders[shingle].append(row)
    return pairs


def found_by(program, file, threshold, equal):
    """The pairs that the program finds between first texts, and how many it finds of equal ones."""
    first_of = {name: first for first, names in equal.items() for name in names}
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out")
        options = ["--threshold", str(float(threshold)), "--pairs", "--quiet", "--out", out]
        subprocess.run([program, "dedup", file, *options], check=True)
        pairs, copies = {}, 0
        with open(out / "pairs.jsonl", encoding="utf-8") as lines:
            for pair in map(json.loads, lines):
                if first_of[pair["a"]] == first_of[pair["b"]]:
                    copies += 1
                else:
                    pairs[frozenset((pair["a"], pair["b"]))] = pair["resemblance"]
    return pairs, copies


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    program, file = sys.argv[1:3]
    equal, of_text = read(file)
    copies = sum(len(names) - 1 for names in equal.values())
    print("| threshold | texts | pairs | of equal texts | seconds in Python | missing | too many | other resemblance |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    wrong = 0
    for threshold in map(Fraction, sys.argv[3:]):
        began = time.perf_counter()
        wanted = all_pairs(of_text, threshold)
        took = time.perf_counter() - began
        found, of_equal = found_by(program, file, threshold, equal)
        missing, more = len(wanted.keys() - found.keys()), len(found.keys() - wanted.keys())
        other = sum(abs(found[pair] - alike) > 1e-12 for pair, alike in wanted.items() if pair in found)
        row = [float(threshold), len(of_text), len(wanted), of_equal, round(took), missing, more, other]
        print("|", " | ".join(map(str, row)), "|", flush=True)
        wrong += missing + more + other + abs(of_equal - copies)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
