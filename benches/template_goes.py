#!/usr/bin/env python3
"""What it costs a collection to lose a text that all others are alike to, and they to nobody else: the bare template of N pages.

    benches/template_goes.py target/dist/alike 1500 6000 50000

Prints seconds of the load of all, and of the deletion of the template, for each N. Two workers.
"""
import json
import os
import subprocess
import sys
import tempfile
import time


def words(name, count):
    return " ".join(f"{name}{at}" for at in range(count))


def seconds(*command):
    begin = time.monotonic()
    subprocess.run([*command, "-w", "2", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def main():
    program = os.path.abspath(sys.argv[1])
    print("| pages | load | deletion |\n|---:|---:|---:|")
    for pages in map(int, sys.argv[2:]):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            template = words("t", 60)
            with open("in.jsonl", "w") as lines, open("gone", "w") as gone:
                lines.write(json.dumps({"id": "template", "text": template}) + "\n")
                for page in range(pages):
                    text = f"{template} {words(f'o{page}x', 25)}"
                    lines.write(json.dumps({"id": f"p{page}", "text": text}) + "\n")
                gone.write("template\n")
            load = seconds(program, "load", "c", "in.jsonl", "--threshold", "0.6")
            deletion = seconds(program, "delete", "c", "--ids", "gone")
            os.chdir("/")
        print(f"| {pages:,} | {load:.2f} | {deletion:.2f} |")


if __name__ == "__main__":
    main()
