#!/usr/bin/env python3
"""Pages of HTML as a crawl, compared by all of their text and by their main text: seconds, and what is removed.

    benches/main_text.py PROGRAM PAGES.jsonl LABELS.tsv [--threshold T]

PAGES.jsonl has the markup of a page in each `text`; LABELS.tsv has the columns `id`, `version` and `logical_page`, as those of
html_kafka have. The pages are written as WARC, and PROGRAM removes near-duplicates of it both ways. A row says how many pages
go for another version of the same page, and how many for another page."""

import argparse
import csv
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path


def response(name: str, page: bytes) -> bytes:
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: {name}\r\n"
    head += f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    return head.encode() + http + b"\r\n\r\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("pages", type=Path)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--threshold", default="0.8")
    asked = parser.parse_args()
    with open(asked.labels, newline="") as rows:
        logical = {row["id"]: row["logical_page"] for row in csv.DictReader(rows, delimiter="\t")}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open(asked.pages, "rb") as pages, open(folder / "pages.warc", "wb") as crawl:
            for line in pages:
                page = json.loads(line)
                crawl.write(response(page["id"], page["text"].encode()))
        print("| compared | seconds | of processors | another version | another page |")
        print("|---|---:|---:|---:|---:|")
        for title, flags in [("all text", []), ("main text", ["--main-text"])]:
            out = folder / title.replace(" ", "-")
            began, before = time.monotonic(), os.times()
            command = [asked.program, "dedup", folder / "pages.warc", "--out", out, "--threshold", asked.threshold]
            subprocess.run([*command, "--quiet", *flags], check=True)
            took, after = time.monotonic() - began, os.times()
            burnt = after.children_user + after.children_system - before.children_user - before.children_system
            gone = [json.loads(line) for line in open(out / "duplicates.jsonl", "rb")]
            same = sum(logical[row["id"]] == logical[row["representative"]] for row in gone)
            print(f"| {title} | {took:.2f} | {burnt:.2f} | {same:,} | {len(gone) - same:,} |", flush=True)


if __name__ == "__main__":
    main()
