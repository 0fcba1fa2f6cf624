#!/usr/bin/env python3
"""Memory of columns that nobody reads: cells, pages, dictionaries and lists of Parquet and Arrow that are large.

    benches/campaign/unread_columns.py ALIKE [MEMORY]

Makes files of 60 records with a column `big` beside their id and text: one cell of 150 MB, 60 cells of 5 MB in one page, a
dictionary of 100 MB, and a list of 8 million numbers; by three codecs. Then `dedup` writes each in its own form, as JSON Lines, as
Parquet, with notes and with the removed rows, with one worker and with two, and MEMORY (256M). Prints a row of Markdown for each
file and form: the most memory of all codecs and workers, how many rows were refused at most, and how runs ended. Ends with 1 if a run took more
than MEMORY and the 32 MiB beyond it that are allowed. Needs pyarrow, a gigabyte below TMPDIR, and some minutes.
"""
import json
import random
import shutil
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from campaign import Program

ROWS = 60
BEYOND = 32 << 20
FORMS = ["", "--to jsonl", "--to parquet", "--annotate", "--write-removed"]


def letters(count, seed):
    return random.Random(seed).randbytes(count // 2).hex()


def columns():
    words = [letters(6, seed) for seed in range(5000)]
    text = lambda at: " ".join(random.Random(at).choices(words, k=60))
    # Every tenth repeats the one before, so that the row group loses rows.
    texts = [text(at if at % 10 != 9 else at - 1) for at in range(ROWS)]
    of = lambda big, kind: pa.table({"id": [f"d{at}" for at in range(ROWS)], "text": texts, "big": pa.array(big, kind)})
    one = [letters(150 << 20, 1) if at == 20 else "x" for at in range(ROWS)]
    numbers = [[1] * (8_000_000 if at == 20 else 10) for at in range(ROWS)]
    return {
        "one cell of 150 MB": of(one, pa.string()),
        "60 cells of 5 MB": of([letters(5 << 20, at) for at in range(ROWS)], pa.string()),
        "a dictionary of 100 MB": of([letters((100 << 20) // ROWS, at) for at in range(ROWS)], pa.string()),
        "a list of 8 M numbers": of(numbers, pa.list_(pa.int32())),
    }


def files(folder):
    """Each kind of file: what it is, its format, and the paths by codec."""
    for what, table in columns().items():
        dictionary = ["big"] if "dictionary" in what else False
        paths = []
        for codec in ["none", "snappy", "zstd"]:
            paths.append(folder / f"{codec}.parquet")
            pq.write_table(table, paths[-1], compression=codec, use_dictionary=dictionary, dictionary_pagesize_limit=1 << 30,
                           data_page_size=1 << 30, write_batch_size=1000)
        yield what, "Parquet", paths
        if dictionary:
            table = table.set_column(2, "big", table["big"].dictionary_encode())
        paths = []
        for codec in [None, "lz4", "zstd"]:
            paths.append(folder / f"{codec}.arrow")
            with pa.ipc.new_file(paths[-1], table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
                writer.write_table(table)
        yield what, "Arrow", paths


def run(program, path, form, workers, memory):
    """Peak memory in bytes, rows refused, and the exit code."""
    out = program.folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    allowed = ["--max-rejected", "100%", "-w", workers, "--memory", memory, "--quiet"]
    ran = program.run(["dedup", path, *form.split(), *allowed, "--out", out])
    refused = json.loads((out / "summary.json").read_text())["rejected"] if ran.code == 0 else 0
    return ran.peak, refused, ran.code


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    alike, memory = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "256M"
    allowed = int(memory[:-1]) * {"M": 1 << 20, "G": 1 << 30}[memory[-1]] + BEYOND
    folder = Path(tempfile.mkdtemp()).resolve()
    program = Program(Path(alike).resolve(), folder)
    worst = 0
    print("| file | form | most MB | rows refused | codes |\n|---|---|---:|---:|---|", flush=True)
    try:
        for what, kind, paths in files(folder):
            for form in FORMS:
                if kind == "Arrow" and form == "--annotate":
                    # It has no place for notes in its own form.
                    continue
                runs = [run(program, path, form, workers, memory) for path in paths for workers in (1, 2)]
                peak, refused, codes = max(run[0] for run in runs), max(run[1] for run in runs), sorted({run[2] for run in runs})
                worst = max(worst, peak)
                print(f"| {kind}, {what} | `{form}` | {peak / 1e6:.0f} | {refused} | {codes} |", flush=True)
            for path in paths:
                path.unlink()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"most: {worst / 1e6:.0f} MB; allowed: {allowed / 1e6:.0f}")
    sys.exit(worst > allowed)


if __name__ == "__main__":
    main()
