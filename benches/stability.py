#!/usr/bin/env python3
"""How many signatures of rare terms change while a dated collection grows (Conrad, Guo and Schriber 2003, figures 1 to 4).

    cargo build --profile dist && benches/stability.py FILE.jsonl [--growth 8] [--max-idf 1]

Documents are sorted by their `date`, which is as ISO 8601 writes dates: 2024, 2024-03 or 2024-03-10. Where a quarter of them has come, a half, three quarters, and all but the last step, a
lexicon is built of those so far, and another when they are `--growth` percent more; the first ones' signatures of the m
rarest terms are taken by both. Prints Markdown. Lines without a date or a text are passed over.
"""
import argparse
import json
import os
import subprocess
import tempfile

LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="FILE.jsonl")
    parser.add_argument("--growth", type=float, default=8, help="percent (default: 8)")
    parser.add_argument("--max-idf", default="1", help="greatest normalised idf of a term (default: 1)")
    parser.add_argument("--sample", default="1000", help="documents whose signatures are compared (default: 1000)")
    return parser.parse_args()


def dated(source):
    """The lines of a file with a date and a text, by date."""
    with open(source, encoding="utf-8") as lines:
        found = [(str(record["date"]), line) for line in lines
                 if (record := json.loads(line)).get("date") and record.get("text")]
    # Stable: what has the same date stays in its order.
    return sorted(found, key=lambda row: row[0])


def step(alike, folder, before, after, given):
    """What `alike lexicon compare` says of the lexicons of two states."""
    names = []
    for name, lines in (("before", before), ("after", after)):
        path = os.path.join(folder, name)
        with open(path + ".jsonl", "w", encoding="utf-8") as out:
            out.writelines(line for _, line in lines)
        if os.path.exists(path + ".lexicon"):
            os.remove(path + ".lexicon")
        subprocess.run([alike, "lexicon", "build", path + ".jsonl", "--out", path + ".lexicon"],
                       check=True, capture_output=True)
        names.append(path)
    compare = [alike, "lexicon", "compare", names[0] + ".lexicon", names[1] + ".lexicon", "--json",
               "--documents", names[0] + ".jsonl", "--sample", given.sample, "--max-idf", given.max_idf]
    return json.loads(subprocess.run(compare, check=True, capture_output=True).stdout)


def main():
    given = arguments()
    alike = os.environ.get("ALIKE", "target/dist/alike")
    lines = dated(given.source)
    grown = 1 + given.growth / 100
    cuts = [int(len(lines) * part) for part in (0.25, 0.5, 0.75, 1 / grown)]
    with tempfile.TemporaryDirectory() as folder:
        steps = [(cut, step(alike, folder, lines[:cut], lines[:round(cut * grown)], given)) for cut in cuts]
    print(f"| documents, {given.growth:g} % more | until | Spearman |", *(f"m = {m} |" for m in LENGTHS))
    print("|---:|---|---:|" + "---:|" * len(LENGTHS))
    for cut, told in steps:
        shares = {point["terms"]: 1 - point["share"] for point in told["stability"]["curve"]}
        print(f"| {cut:,} | {lines[cut - 1][0][:10]} | {told['agreement']['spearman']:.3f} |",
              *(f"{shares[m]:.0%} |" if m in shares else "- |" for m in LENGTHS))


main()
