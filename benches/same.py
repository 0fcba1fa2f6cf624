#!/usr/bin/env python3
"""Whether two builds of alike answer the same: all presets of configs/ on some files, with pairs.

    benches/same.py OLD_PROGRAM NEW_PROGRAM FILE... [--rename OLD=NEW]...

Kept files, duplicates, pairs, clusters and refused records must be byte-equal, but for members of rows that were renamed
(--rename). Prints a row of Markdown for each preset and file, and ends with an error if any answer differs. A preset that
the old program does not know is named and left out.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

REPORTS = "summary.json"  # What a run came to: seconds, versions, paths.


def answers(program, file, preset, out):
    """The files of a run by their names, or what the program says against it."""
    command = [program, "dedup", file, "--out", out, "--preset", preset, "--pairs", "--quiet"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        return None, ran.stderr.strip()
    names = (path for path in sorted(out.rglob("*")) if path.is_file() and path.name != REPORTS)
    return {str(path.relative_to(out)): path.read_bytes() for path in names}, ""


def renamed(files, names):
    """The files with members of rows called as the new program calls them."""
    found = {}
    for name, content in files.items():
        if not name.startswith("kept/"):
            for old, new in names:
                content = re.sub(rb'([{,])"%s":' % old.encode(), rb'\1"%s":' % new.encode(), content)
        found[name] = content
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--rename", action="append", default=[], type=lambda pair: tuple(pair.split("=", 1)))
    args = parser.parse_args()
    configs = pathlib.Path(__file__).resolve().parent.parent / "configs"
    different = 0
    print("| preset | file | removed | pairs | bytes of all lists and kept files | |\n|---|---|---:|---:|---:|---|")
    for preset in sorted(path.stem for path in configs.glob("*.toml")):
        for file in args.files:
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                old, why = answers(args.old, file, preset, folder / "old")
                new, error = answers(args.new, file, preset, folder / "new")
            if new is None:
                sys.exit(f"{preset} on {file}: {error}")
            if old is None:
                print(f"| {preset} | {file.name} | | | | the old program: {why.splitlines()[0]} |", flush=True)
                continue
            same = renamed(old, args.rename) == new
            different += not same
            lines = {name: new.get(f"{name}.jsonl", b"").count(b"\n") for name in ("duplicates", "pairs")}
            size = sum(map(len, new.values()))
            verdict = "equal" if same else "DIFFERENT"
            row = (preset, file.name, lines["duplicates"], lines["pairs"], size, verdict)
            print("|", " | ".join(map(str, row)), "|", flush=True)
    if different:
        sys.exit(f"{different} answers differ")


if __name__ == "__main__":
    main()
