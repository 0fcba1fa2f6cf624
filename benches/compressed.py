#!/usr/bin/env python3
"""One compressed file among several workers; prints a table in Markdown.

    cargo build --profile dist --features full && benches/compressed.py FILE.jsonl [--alike PATH] [--workers 1,2] [--runs 3]

FILE is any large JSON Lines file. It is read as it is, as one gzip file and as one Zstandard file, each by `dedup --out`
with so many workers. A row is the fastest of the runs: seconds, CPU seconds, and of the seconds those until all was read
and collided, those of verifying, and those of writing. The last column is the size of the kept file over that of the same
records compressed by the command-line tool at its usual level. `wc -w`, `gzip -dc` and `zstd -dc` of the same text come
first. The kept records must be the same in all rows. Needs Linux, Python 3.9, gzip and zstd, and as many cores with
nothing else to do as workers.
"""
import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time

FORMS = {"plain": ([], [], ""), "gzip": (["gzip", "-c"], ["gzip", "-dc"], ".gz"), "zstd": (["zstd", "-qc"], ["zstd", "-qdc"], ".zst")}


def timed(command, **options):
    """Seconds and CPU seconds of a command."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, **options)
    seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def digest(path, unpack):
    """The digest of what a file holds once it is unpacked, and what it holds."""
    text = subprocess.run([*unpack, path], check=True, stdout=subprocess.PIPE).stdout if unpack else open(path, "rb").read()
    return hashlib.sha256(text).hexdigest(), text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--alike", default="target/dist/alike")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    name, digests = os.path.basename(args.file), set()
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for form, (pack, _, end) in FORMS.items():
            paths[form] = os.path.join(folder, name + end)
            with open(paths[form], "wb") as out:
                subprocess.run([*pack, args.file] if pack else ["cat", args.file], check=True, stdout=out)
        print(f"{name}: {os.path.getsize(args.file) / 1e6:.0f} MB\n")
        for command in [["wc", "-w", paths["plain"]], *([*unpack, paths[form]] for form, (_, unpack, _) in FORMS.items() if unpack)]:
            best = min(timed(command, stdout=subprocess.DEVNULL) for _ in range(args.runs))
            print(f"- `{' '.join(command[:-1])}`: {best[0]:.2f} s, {best[1]:.2f} of CPU")
        print("\n| file | workers | seconds | CPU | read and collide | verify | write | kept file over the tool's |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        for form, (pack, unpack, end) in FORMS.items():
            for workers in args.workers.split(","):
                best, out = None, os.path.join(folder, "out")
                for _ in range(args.runs):
                    shutil.rmtree(out, ignore_errors=True)
                    command = [args.alike, "dedup", paths[form], "--out", out, "--workers", workers, "--quiet"]
                    taken = timed(command)
                    stages = {stage["name"]: stage["seconds"] for stage in json.load(open(f"{out}/summary.json"))["stages"]}
                    best = min(best or (taken, stages), (taken, stages), key=lambda row: row[0])
                (seconds, cpu), stages = best
                kept = os.path.join(out, "kept", name + end)
                found, text = digest(kept, unpack)
                digests.add(found)
                usual = len(subprocess.run(pack, input=text, stdout=subprocess.PIPE, check=True).stdout) if pack else len(text)
                read = stages["read"] + stages["collide"]
                print(f"| {form} | {workers} | {seconds:.2f} | {cpu:.2f} | {read:.2f} | {stages['verify']:.2f} | "
                      f"{stages['write']:.2f} | {os.path.getsize(kept) / usual:.3f} |", flush=True)
    assert len(digests) == 1, "the kept records differ"


main()
