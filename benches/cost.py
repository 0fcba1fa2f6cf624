#!/usr/bin/env python3
"""What a method costs as documents grow in number: seconds of one core, and pairs compared, on longer and longer beginnings of
a file, beside what equal texts alone cost. Shuffle the file first, or its beginning is of one kind.

    cargo build --profile dist && benches/cost.py FILE.jsonl --preset conrad2003-ddd --documents 10000,100000,1000000

A method that looks terms up does it in a lexicon of the whole file, made beforehand. Prints Markdown.
"""
import argparse
import itertools
import json
import math
import os
import resource
import shutil
import subprocess
import tempfile


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="FILE.jsonl")
    parser.add_argument("--preset", required=True)
    parser.add_argument("--documents", default="10000,100000,1000000", help="how many, with commas between")
    parser.add_argument("--lexicon", action="store_true", help="the preset looks terms up")
    return parser.parse_args()


def seconds(command):
    """Runs a command; the processor time it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    given = arguments()
    alike = os.environ.get("ALIKE", "target/dist/alike")
    with tempfile.TemporaryDirectory() as folder:
        lexicon = []
        if given.lexicon:
            lexicon = ["--lexicon", os.path.join(folder, "lexicon")]
            subprocess.run([alike, "lexicon", "build", given.source, "--out", lexicon[1]], check=True, capture_output=True)
        print("| documents | MB | `exact`: seconds | seconds | compared | removed | us a document | us / log2(n) |")
        print("|---:|---:|---:|---:|---:|---:|---:|---:|")
        for count in map(int, given.documents.split(",")):
            part, out = os.path.join(folder, "part.jsonl"), os.path.join(folder, "out")
            with open(given.source, "rb") as source, open(part, "wb") as target:
                target.writelines(itertools.islice(source, count))
            run = [alike, "dedup", part, "-w", "1", "--quiet", "--out", out]
            exact = seconds(run + ["--preset", "exact"])
            shutil.rmtree(out)
            took = seconds(run + ["--preset", given.preset] + lexicon)
            with open(os.path.join(out, "summary.json"), encoding="utf-8") as told:
                told = json.load(told)
            shutil.rmtree(out)
            each = 1e6 * took / count
            print(f"| {told['documents']:,} | {os.path.getsize(part) / 1e6:,.0f} | {exact:.2f} | {took:.2f} | "
                  f"{told['candidates']:,} | {told['removed']:,} | {each:.0f} | {each / math.log2(count):.2f} |", flush=True)


main()
