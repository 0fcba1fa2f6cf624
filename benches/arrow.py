#!/usr/bin/env python3
"""Arrow by another implementation: what `alike` reads and writes held against pyarrow, and their speed.

    benches/arrow.py ALIKE CORPUS.jsonl FOLDER [--rows N]

Needs pyarrow (`pip install pyarrow`), and an `alike` built with `--features formats`. Makes files and streams of the records of
CORPUS in FOLDER with many types of columns, dictionaries that grow and that are replaced, and each compression. It removes
near-duplicates from each with ALIKE. It fails unless the lists are those of JSON Lines, and what is kept and what is removed
are the batches without the other rows: values, schema, metadata of schema and batches, dictionaries. Then prints how long
`dedup` takes of the same texts as JSON Lines and as Arrow, and pyarrow to read them. The checks take N records (3,000), the
times all.
"""
import argparse
import datetime
import decimal
import json
import os
import shutil
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.ipc as ipc


def wide(rows):
    """A table with columns of all layouts; every seventh value is null."""
    n = len(rows)

    def some(value):
        return [None if at % 7 == 3 else value(at) for at in range(n)]

    texts = [row["text"] for row in rows]
    moment = datetime.datetime(2024, 1, 1, 12)
    tags = some(lambda at: [None if tag == 2 else f"tag {tag}" for tag in range(at % 4)])
    ends = [n // 7, n // 2, n // 2 + 1, n] if n > 20 else [n]
    which = pa.array([at % 2 for at in range(n)], pa.int8())
    halves = [pa.array([f"u{at}" for at in range(n)]), pa.array(range(n))]
    columns = {
        "id": pa.array([row["id"] for row in rows]),
        "text": pa.array(texts),
        "large": pa.array(texts, pa.large_string()),
        "view": pa.array(texts, pa.string_view()),
        "binary": pa.array([text.encode() for text in texts]),
        "named": pa.array(texts).dictionary_encode(),
        "number": pa.array(some(lambda at: at * 31), pa.int32()),
        "flag": pa.array(some(lambda at: at % 2 == 0)),
        "nothing": pa.nulls(n),
        "half": pa.array(some(lambda at: at / 4), pa.float32()).cast(pa.float16()),
        "price": pa.array(some(lambda at: decimal.Decimal(at) / 4), pa.decimal128(12, 2)),
        "day": pa.array(some(lambda at: moment.date() + datetime.timedelta(days=at))),
        "time": pa.array(some(lambda at: moment + datetime.timedelta(seconds=at)), pa.timestamp("ns", "UTC")),
        "tags": pa.array(tags),
        "views": pa.array(tags, pa.large_list(pa.string_view())),
        "list_view": pa.array(tags, pa.list_view(pa.string())),
        "three": pa.array(some(lambda at: [at, at + 1, at + 2]), pa.list_(pa.int16(), 3)),
        "map": pa.array(some(lambda at: [(f"k{key}", key) for key in range(at % 3)]), pa.map_(pa.string(), pa.int32())),
        "meta": pa.array(some(lambda at: {"text": texts[at], "deep": {"keys": [at, at + 1]}})),
        "fixed": pa.array(some(lambda at: b"%05d" % at), pa.binary(5)),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), pa.array(["a", None, "b", "c"][: len(ends)])),
        "sparse": pa.UnionArray.from_sparse(which, halves),
        "dense": pa.UnionArray.from_dense(which, pa.array(range(n), pa.int32()), halves),
    }
    table = pa.table(columns)
    fields = [field.with_metadata({"about": field.name}) for field in table.schema]
    schema = pa.schema(fields, metadata={"huggingface": '{"info": {}}', "pandas": "{}"})
    return pa.table(table.columns, schema=schema)


def write(path, table, stream, size, compression=None):
    """Writes batches of so many rows, each with metadata of its own."""
    options = ipc.IpcWriteOptions(compression=compression)
    with (ipc.new_stream if stream else ipc.new_file)(path, table.schema, options=options) as out:
        for number, batch in enumerate(table.to_batches(max_chunksize=size)):
            out.write_batch(batch, custom_metadata={"batch": str(number)})


def write_named(path, rows, stream, deltas):
    """Writes texts of a dictionary that grows with each batch, or is replaced by the next."""
    options = ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)
    schema = pa.schema([("id", pa.string()), ("text", pa.dictionary(pa.int32(), pa.string()))])
    with (ipc.new_stream if stream else ipc.new_file)(path, schema, options=options) as out:
        known = []
        for start in range(0, len(rows), 100):
            some = rows[start : start + 100]
            known += [row["text"] for row in some if row["text"] not in known]
            keys = pa.array([known.index(row["text"]) for row in some], pa.int32())
            texts = pa.DictionaryArray.from_arrays(keys, pa.array(known))
            out.write_batch(pa.record_batch([pa.array([row["id"] for row in some]), texts], schema=schema))


def batches(path):
    """Schema and batches of a file or a stream, with their metadata."""
    with open(path, "rb") as file:
        is_file = file.read(6) == b"ARROW1"
    if is_file:
        reader = ipc.open_file(path)
        found = [reader.get_batch_with_custom_metadata(at) for at in range(reader.num_record_batches)]
    else:
        reader = ipc.open_stream(path)
        found = list(reader.iter_batches_with_custom_metadata())
    return is_file, reader.schema, found


def listed(folder, name):
    """A list that a run wrote, without what tells of the form of its inputs."""
    path = os.path.join(folder, name)
    rows = [json.loads(line) for line in open(path)] if os.path.exists(path) else []
    return [{key: row[key] for key in row if not key.endswith(("offset", "file"))} for row in rows]


def check(path, out, side):
    """Fails unless one half of what a run wrote has the rows of that half, and all else that the file has."""
    (form, schema, before), (new_form, new_schema, after) = batches(path), batches(f"{out}/{side}/{os.path.basename(path)}")
    assert form == new_form and schema.equals(new_schema, check_metadata=True), f"{path}: another schema"
    gone = {row["line"] - 1 for row in listed(out, "duplicates.jsonl") + listed(out, "rejected.jsonl")}
    at = 0
    for old, metadata in ((found.batch, found.custom_metadata) for found in before):
        rows = [row for row in range(old.num_rows) if (at + row in gone) == (side == "removed")]
        at += old.num_rows
        if not rows:
            continue
        new = after.pop(0)
        new.batch.validate(full=True)
        assert new.custom_metadata == metadata, f"{path}: other metadata of a batch"
        for name, column in zip(schema.names, old.columns):
            written = new.batch.column(name)
            # As text, so that no number is another one than itself.
            assert str([column[row].as_py() for row in rows]) == str(written.to_pylist()), f"{path}, {side}: {name}"
            if pa.types.is_dictionary(column.type):
                assert column.dictionary.equals(written.dictionary), f"{path}: another dictionary of {name}"
    assert not after, f"{path}: more batches"
    return len(gone)


def dedup(alike, path, out, *flags):
    """Runs `alike dedup`; the seconds that it takes."""
    shutil.rmtree(out, ignore_errors=True)
    start = time.time()
    subprocess.run([alike, "dedup", path, "--out", out, "--quiet", *flags], check=True, stdout=subprocess.DEVNULL)
    return time.time() - start


def hold(alike, rows, folder):
    """Holds every kind of file against JSON Lines and pyarrow."""
    table, lines = wide(rows), os.path.join(folder, "lines.jsonl")
    with open(lines, "w") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    kinds = {}
    for stream in (False, True):
        for size, compression in ((100, None), (10**9, None), (333, "zstd"), (1000, "lz4")):
            name = f"{'stream' if stream else 'file'}-{size}-{compression}.arrow"
            write(os.path.join(folder, name), table, stream, size, compression)
            kinds[name] = ["text", "large", "view", "binary", "named"]
    for name, stream, deltas in (("grow.arrow", True, True), ("replace.arrow", True, False), ("grown.arrow", False, True)):
        write_named(os.path.join(folder, name), rows, stream, deltas)
        kinds[name] = ["text"]
    flags = ["--threshold", "0.7", "--write-removed"]
    want, out = os.path.join(folder, "want"), os.path.join(folder, "out")
    dedup(alike, lines, want, *flags)
    for name, fields in kinds.items():
        for number, field in enumerate(fields):
            path = os.path.join(folder, name)
            dedup(alike, path, out, *flags, "--text-field", field, "-w", str(1 + number % 3))
            for of in ("duplicates.jsonl", "clusters.jsonl"):
                assert listed(out, of) == listed(want, of), f"{name}, {field}: other {of}"
            gone = check(path, out, "kept")
            assert gone and check(path, out, "removed") == gone
        print(f"{name}: the same, {gone} of {len(rows)} rows removed")


def times(alike, rows, folder):
    """Prints what reading takes."""
    table = pa.table({"id": [row["id"] for row in rows], "text": [row["text"] for row in rows]})
    lines = os.path.join(folder, "all.jsonl")
    with open(lines, "w") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    paths = [lines]
    for name, compression in (("all.arrow", None), ("all-lz4.arrow", "lz4"), ("all-zstd.arrow", "zstd")):
        paths.append(os.path.join(folder, name))
        write(paths[-1], table, False, 10_000, compression)
    for path in paths:
        flags = ["--method", "exact", "--dry-run", "-w", "1"]
        took = min(dedup(alike, path, os.path.join(folder, "none"), *flags) for _ in range(3))
        start = time.time()
        if path != lines:
            ipc.open_file(path).read_all()
        other = f", pyarrow {time.time() - start:.2f}" if path != lines else ""
        print(f"{os.path.basename(path)}: {os.path.getsize(path) / 1e6:.0f} MB, {took:.2f} s{other}")


def main():
    """Checks, and then measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("alike")
    parser.add_argument("corpus")
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, default=3000)
    given = parser.parse_args()
    os.makedirs(given.folder, exist_ok=True)
    with open(given.corpus) as corpus:
        rows = [json.loads(line) for line in corpus]
    rows = [{"id": str(row.get("id", at)), "text": row["text"]} for at, row in enumerate(rows) if row.get("text")]
    hold(given.alike, rows[: given.rows], given.folder)
    times(given.alike, rows, given.folder)


if __name__ == "__main__":
    sys.exit(main())
