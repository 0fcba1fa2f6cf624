#!/usr/bin/env python3
"""Pages of HTML with all of their markup as texts: pages of one site that resemble each other by the million pairs.

    benches/markup.py FOLDER OUT.jsonl [MEGABYTES]

Takes the files that end with .html below FOLDER in the order of their names, each as a line with its path as id and what it is as text, until
OUT.jsonl has MEGABYTES (300). The documentation that comes with Rust is such a folder: $(rustc --print sysroot)/share/doc."""

import json
import os
import sys


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    folder, out = sys.argv[1:3]
    left = int(sys.argv[3] if len(sys.argv) == 4 else 300) * 1_000_000
    with open(out, "w", encoding="utf-8") as lines:
        for place, folders, files in os.walk(folder):
            folders.sort()
            for name in sorted(files):
                if not name.endswith(".html") or left < 0:
                    continue
                path = os.path.join(place, name)
                with open(path, encoding="utf-8", errors="replace") as page:
                    line = json.dumps({"id": os.path.relpath(path, folder), "text": page.read()}, ensure_ascii=False)
                left -= len(line.encode()) + 1
                lines.write(line + "\n")


main()
