#!/usr/bin/env python3
"""Reads what `alike dedup` writes with the programs that people read it with, and holds it against the lists as lines.

    benches/outputs.py PROGRAM INPUT.jsonl [--folder /tmp/outputs]

PROGRAM is built with --features formats. Readers: pyarrow, pandas, polars and duckdb, each where it is installed (pip
install pyarrow pandas polars duckdb); gzip of Python's library; the program zstd. It also tells the seconds of each form, on
two workers, warm, and ends with 1 if anything differs. INPUT.jsonl has an id and a text a line.
"""
import argparse
import gzip
import importlib
import json
import pathlib
import shutil
import subprocess
import sys
import time


def readers():
    """How each reader that is installed makes columns of a file of Parquet."""
    found = {}
    for name, columns in {
        "pyarrow": lambda module, path: module.read_table(path).to_pydict(),
        "pandas": lambda module, path: {name: [none(value) for value in column.tolist()]
                                        for name, column in module.read_parquet(path).items()},
        "polars": lambda module, path: module.read_parquet(path).to_dict(as_series=False),
        "duckdb": lambda module, path: of_rows(module.sql(f"select * from read_parquet('{path}')")),
    }.items():
        try:
            module = importlib.import_module("pyarrow.parquet" if name == "pyarrow" else name)
        except ImportError:
            continue
        found[name] = lambda path, module=module, columns=columns: columns(module, str(path))
    return found


def none(value):
    """A value of pandas, where a number that is missing is no number."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return None if isinstance(value, float) and value != value else value


def of_rows(relation):
    rows = relation.fetchall()
    return {name: [row[at] for row in rows] for at, name in enumerate(relation.columns)}


def said(rows):
    """Rows without what they do not say, and numbers as numbers."""
    number = lambda value: float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return [{name: number(value) for name, value in row.items() if value is not None} for row in rows]


def rows_of(columns):
    names = list(columns)
    return [dict(zip(names, row)) for row in zip(*columns.values())]


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Bench:
    def __init__(self, program, source, folder):
        self.program, self.source, self.folder, self.wrong = program, source, folder, 0

    def run(self, name, *flags):
        out = self.folder / name
        begun = time.monotonic()
        subprocess.run([self.program, "dedup", self.source, "--out", out, "-q", "-w", "2", *flags], check=True)
        print(f"{name:12} {time.monotonic() - begun:6.2f} s  {' '.join(flags)}")
        return out

    def same(self, what, found, expected):
        if found != expected:
            self.wrong += 1
            print(f"  {what}: differs, {len(found)} and {len(expected)}")
            pairs = [pair for pair in zip(found, expected) if pair[0] != pair[1]]
            print(f"  {str(pairs[:1])[:600]}")
        else:
            print(f"  {what}: the same {len(found)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program")
    parser.add_argument("source")
    parser.add_argument("--folder", default="/tmp/outputs", type=pathlib.Path)
    args = parser.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    args.folder.mkdir(parents=True)
    bench, found = Bench(args.program, args.source, args.folder), readers()
    name = pathlib.Path(args.source).stem
    plain = bench.run("plain", "--pairs", "--assignments")
    kept = lines(plain / "kept" / f"{name}.jsonl")
    tables = bench.run("tables", "--pairs", "--assignments", "--lists", "parquet")
    for of in ["duplicates", "clusters", "pairs", "assignments", "rejected"]:
        expected = said(lines(plain / f"{of}.jsonl"))
        for reader, read in found.items():
            bench.same(f"{of} by {reader}", said(rows_of(read(tables / f"{of}.parquet"))), expected)
    rows = bench.run("rows", "--to", "parquet")
    for reader, read in found.items():
        columns = read(rows / "kept" / f"{name}.parquet")
        records = [json.loads(record) for record in columns["record"]]
        bench.same(f"records by {reader}", records, kept)
        bench.same(f"texts by {reader}", columns["text"], [record["text"] for record in kept])
    packed = bench.run("gzip", "--to", "jsonl.gz")
    with gzip.open(packed / "kept" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        bench.same("lines of gzip", [json.loads(line) for line in file], kept)
    packed = bench.run("zstd", "--to", "jsonl.zst")
    text = subprocess.run(["zstdcat", packed / "kept" / f"{name}.jsonl.zst"], check=True, stdout=subprocess.PIPE)
    bench.same("lines of zstd", [json.loads(line) for line in text.stdout.splitlines()], kept)
    again = bench.run("both", "--write-removed")
    halves = [(again / half / f"{name}.jsonl").read_bytes().splitlines() for half in ["kept", "removed"]]
    with open(args.source, "rb") as file:
        bench.same("both halves", sorted(halves[0] + halves[1]), sorted(file.read().splitlines()))
    noted = lines(bench.run("annotated", "--annotate") / "annotated" / f"{name}.jsonl")
    expected = lines(plain / "assignments.jsonl")
    short = lambda note: [note[key] for key in ["cluster", "size", "kept", "reason", "resemblance"]]
    bench.same("notes", [short(record["alike"]) for record in noted], [short(row) for row in expected])
    bench.run("parts", "--shard-size", "16MB", "--to", "jsonl.zst")
    sys.exit(bench.wrong > 0)


main()
