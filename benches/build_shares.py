#!/usr/bin/env python3
"""Which parts of src the default build of the library is made of, at each commit that is named.

    benches/build_shares.py COMMIT...

Counts the lines of LLVM's intermediate code before anything is done with them: what a compiler's seconds go by. A function counts
for the first module of alike that its name has, so that a vector of records counts for the module of the records, and "shared" are
those that name none. Needs c++filt of binutils, and a gigabyte below TMPDIR; takes two minutes a commit. Prints a table of Markdown,
in thousands of lines. `build_cost.sh` has the seconds."""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

HASH = re.compile(r"\[[0-9a-f]+\]")
MODULE = re.compile(r"\balike::([a-z_]+)")
FLAGS = ["--emit=llvm-ir", "-Cno-prepopulate-passes", "-Ccodegen-units=1", "-Csymbol-mangling-version=v0"]


def intermediate_code(repository, commit, folder):
    """The file with the library's intermediate code at a commit."""
    sources, target = folder / "sources", folder / "target"
    sources.mkdir()
    archive = subprocess.run(["git", "-C", repository, "archive", commit], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", sources], input=archive, check=True)
    command = ["cargo", "rustc", "--release", "--locked", "--quiet", "--lib", "--target-dir", target, "--", *FLAGS]
    subprocess.run(command, cwd=sources, check=True)
    (found,) = (target / "release" / "deps").glob("alike-*.ll")
    return found


def functions(path):
    """Name and lines of each function that the file defines."""
    name, lines = None, 0
    with open(path, errors="replace") as text:
        for line in text:
            if line.startswith("define "):
                name, lines = re.search(r'@"?([^"(]+)"?\(', line).group(1), 0
            elif name and line.startswith("}"):
                yield name, lines
                name = None
            else:
                lines += 1


def by_module(path):
    """Lines of each module of alike."""
    found = list(functions(path))
    names = "\n".join(name for name, _ in found)
    readable = subprocess.run(["c++filt"], input=names, check=True, capture_output=True, text=True).stdout.split("\n")
    lines = collections.Counter()
    for (_, many), name in zip(found, readable):
        module = MODULE.search(HASH.sub("", name))
        lines[module.group(1) if module else "shared"] += many
    return lines


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    repository = pathlib.Path(__file__).resolve().parent.parent
    counted = []
    for commit in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            counted.append(by_module(intermediate_code(repository, commit, pathlib.Path(folder))))
    print("| module | " + " | ".join(sys.argv[1:]) + " |\n|---|" + "---:|" * len(counted))
    for module, _ in sum(counted, collections.Counter()).most_common():
        print(f"| {module} | " + " | ".join(f"{lines[module] / 1000:.0f}" for lines in counted) + " |")
    print("| all | " + " | ".join(f"{sum(lines.values()) / 1000:.0f}" for lines in counted) + " |")


if __name__ == "__main__":
    main()
