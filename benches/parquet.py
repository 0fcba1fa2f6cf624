#!/usr/bin/env python3
"""Parquet by another implementation: what `alike` reads and writes held against pyarrow, and their speed.

    benches/parquet.py ALIKE CORPUS.jsonl FOLDER [--rows N]

Needs pyarrow (`pip install pyarrow`), and an `alike` built with `--features formats`. Makes files of the records of CORPUS in
FOLDER with many options of pyarrow's writer and many types of columns, removes near-duplicates from each with ALIKE, and
fails unless what is kept is the table without the removed rows: of each row group `Table.equals(check_metadata=True)`, with the
dictionaries of Arrow that it has, codecs and metadata of the file. Then prints how long `dedup` takes of the same texts as JSON Lines and as Parquet, and
pyarrow to read them. The checks take N records (20,000), the times all.
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
import pyarrow.parquet as pq


def wide(rows):
    """A table with columns of many types; every seventh value is null."""
    n = len(rows)

    def some(value):
        return [None if at % 7 == 3 else value(at) for at in range(n)]

    day = datetime.date(2024, 1, 1)
    moment = datetime.datetime(2024, 1, 1, 12)
    # Of the rows in the middle none has the first values, and no row the last.
    names = [f"kind {at}" for at in (4, 0, 3, 1, 2)] + ["", "unused"]

    def kinds(index, ordered=False):
        places = some(lambda at: at % 5 if at % 1000 < 500 else 2 + at % 3)
        return pa.DictionaryArray.from_arrays(pa.array(places, index), pa.array(names), ordered=ordered)

    few = kinds(pa.int8())
    # About 400 kB of values, of which each row has another one.
    many = pa.array(some(lambda at: f"{at * 7919 % n:020}")).dictionary_encode()
    ends = pa.array([at // 2 for at in range(n + 1)], pa.int32())
    columns = {
        "id": pa.array([row["id"] for row in rows]),
        "text": pa.array([row["text"] for row in rows]),
        "number": pa.array(some(lambda at: at * 31), pa.int32()),
        "unsigned": pa.array(some(lambda at: 2**64 - 1 - at), pa.uint64()),
        "small": pa.array(some(lambda at: at % 100), pa.int8()),
        "real": pa.array(some(lambda at: at / 7), pa.float32()),
        "double": pa.array(some(lambda at: at / 3), pa.float64()),
        "half": pa.array(some(lambda at: float(at % 64)), pa.float16()),
        "truth": pa.array(some(lambda at: at % 3 == 0)),
        "day": pa.array(some(lambda at: day + datetime.timedelta(days=at % 900)), pa.date32()),
        "moment": pa.array(some(lambda at: moment + datetime.timedelta(seconds=at)), pa.timestamp("us", "UTC")),
        "nanos": pa.array(some(lambda at: at * 10**9), pa.timestamp("ns")),
        "time": pa.array(some(lambda at: at * 1000), pa.time64("us")),
        "span": pa.array(some(lambda at: at), pa.duration("ms")),
        "price": pa.array(some(lambda at: decimal.Decimal(at) / 100), pa.decimal128(12, 2)),
        "long_price": pa.array(some(lambda at: decimal.Decimal(at)), pa.decimal256(60, 0)),
        "bytes": pa.array(some(lambda at: bytes([at % 256, 0, 255])), pa.binary()),
        "fixed": pa.array(some(lambda at: at.to_bytes(8, "big")), pa.binary(8)),
        "large": pa.array(some(lambda at: "x" * (at % 40)), pa.large_string()),
        "view": pa.array(some(lambda at: "y" * (at % 40)), pa.string_view()),
        "kind": few,
        "ordered": kinds(pa.int32(), True),
        "many": many,
        "kinds": pa.ListArray.from_arrays(ends, few),
        "kind_within": pa.StructArray.from_arrays([few, pa.array(range(n))], ["kind", "number"]),
        "tags": pa.array(some(lambda at: [f"t{at % 9}"] * (at % 4)), pa.list_(pa.string())),
        "large_list": pa.array(some(lambda at: list(range(at % 3))), pa.large_list(pa.int64())),
        "fixed_list": pa.array([[at, at + 1] for at in range(n)], pa.list_(pa.int32(), 2)),
        "nested": pa.array(some(lambda at: [[at], [], [1, None]][: at % 4]), pa.list_(pa.list_(pa.int16()))),
        "meta": pa.array(some(lambda at: {"url": f"u{at}", "deep": {"n": at}})),
        "messages": pa.array(
            some(lambda at: [{"role": "user", "content": f"c{at}"}] * (at % 3)),
            pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())])),
        ),
        "map": pa.array(some(lambda at: [("k", at)] * (at % 3)), pa.map_(pa.string(), pa.int64())),
        "nothing": pa.nulls(n),
    }
    table = pa.table(columns)
    fields = [
        field.with_metadata({"note": "of a column"}) if field.name == "number" else field for field in table.schema
    ]
    fields[0] = fields[0].with_nullable(False)
    metadata = {"huggingface": json.dumps({"info": {"features": {}}}), "pandas": "{}", "own": "\u00e9"}
    return table.cast(pa.schema(fields, metadata=metadata))


# Options of the writer, by name.
KINDS = {
    "usual": {},
    "zstd": {"compression": "zstd", "row_group_size": 3000},
    "gzip": {"compression": "gzip", "row_group_size": 5000},
    "lz4": {"compression": "lz4", "row_group_size": 999},
    "plain": {"compression": "none", "use_dictionary": False, "row_group_size": 1},
    "mixed": {"compression": {"text": "zstd", "id": "none"}, "row_group_size": 1000},
    "newer": {"data_page_version": "2.0", "row_group_size": 2500},
    "older": {"version": "1.0", "row_group_size": 2500},
    "int96": {"use_deprecated_int96_timestamps": True},
    "index": {"write_page_index": True, "row_group_size": 4000, "data_page_size": 20_000},
    "sums": {"write_page_checksum": True, "row_group_size": 4000},
    "chunked": {"use_content_defined_chunking": True, "write_page_index": True, "row_group_size": 4000},
    "sorted": {"sorting_columns": [pq.SortingColumn(2)], "row_group_size": 4000},
    "no schema": {"store_schema": False},
    "no statistics": {"write_statistics": False, "row_group_size": 4000},
    "lengths": {"use_dictionary": False, "column_encoding": {"text": "DELTA_LENGTH_BYTE_ARRAY"}},
    "prefixes": {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY", "number": "DELTA_BINARY_PACKED"}},
    "split": {"use_dictionary": False, "column_encoding": {"double": "BYTE_STREAM_SPLIT", "number": "BYTE_STREAM_SPLIT"}},
}


def alike(program, *arguments):
    subprocess.run([program, *arguments], check=True, stderr=subprocess.DEVNULL)


def removed_rows(out):
    with open(os.path.join(out, "duplicates.jsonl"), encoding="utf-8") as lines:
        return {json.loads(line)["line"] - 1 for line in lines}


def without(table, gone):
    """A table without some rows; not all types can be filtered."""
    ends = [*sorted(gone), table.num_rows]
    begins = [0, *(row + 1 for row in ends[:-1])]
    return pa.concat_tables([table.slice(begin, end - begin) for begin, end in zip(begins, ends)])


def check(program, folder, name, table, options):
    """Writes a table, removes duplicates, and holds what is kept against the table without these rows."""
    if name == "int96":
        table = table.drop_columns(["span"])
    if options.get("use_dictionary") is False:
        # Where the file has no dictionary pyarrow makes one of the values that there are, as they come.
        table = table.drop_columns(["many"])
    path, out = os.path.join(folder, "in.parquet"), os.path.join(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    pq.write_table(table, path, **options)
    alike(program, "dedup", path, "--out", out, "--threshold", "0.7")
    before, after = pq.ParquetFile(path), pq.ParquetFile(os.path.join(out, "kept", "in.parquet"))
    gone = removed_rows(out)
    groups, at, compared = [], 0, 0
    for group in range(before.metadata.num_row_groups):
        rows = before.metadata.row_group(group).num_rows
        lost = {row - at for row in gone if at <= row < at + rows}
        at += rows
        if len(lost) == rows:
            continue
        # Each row group has dictionaries of its own, and pyarrow reads nested ones of one row group alone.
        want, found = without(before.read_row_group(group), lost), after.read_row_group(len(groups))
        assert found.schema.equals(want.schema, check_metadata=True), f"{name}: another schema\n{found.schema}\n{want.schema}"
        # In one chunk each: slices of dictionaries and lists do not compare well.
        found, want = found.combine_chunks(), want.combine_chunks()
        other = [of for of in want.column_names if not found[of].equals(want[of])]
        assert found.equals(want, check_metadata=True), f"{name}: other rows of the row group {group} in {other}"
        groups.append((group, rows - len(lost)))
    assert [left for _, left in groups] == [
        after.metadata.row_group(group).num_rows for group in range(after.metadata.num_row_groups)
    ], f"{name}: other row groups"
    for now, (group, left) in enumerate(groups):
        for leaf in range(before.metadata.num_columns):
            one = before.metadata.row_group(group).column(leaf)
            two = after.metadata.row_group(now).column(leaf)
            same = ["compression", "has_offset_index", "is_stats_set", "path_in_schema", "physical_type"]
            for of in same:
                assert getattr(one, of) == getattr(two, of), f"{name}: {of} of {one.path_in_schema}"
            if left == before.metadata.row_group(group).num_rows:
                assert one.total_compressed_size == two.total_compressed_size, f"{name}: not copied"
                compared += 1
    assert before.metadata.metadata == after.metadata.metadata, f"{name}: other metadata"
    assert before.metadata.created_by == after.metadata.created_by
    assert before.metadata.format_version == after.metadata.format_version, f"{name}: another version"
    print(f"{name}: {len(gone)} rows removed of {before.metadata.num_rows}, {len(groups)} row groups, {compared} columns copied")
    shutil.rmtree(out)
    os.remove(path)


def seconds(work):
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def measure(program, corpus, folder, table):
    """Times of the same texts in several forms, the best of three."""
    texts = sum(len(text.as_py().encode()) for text in table["text"])
    print(f"\n{texts} bytes of text, {table.num_rows} records, MB of text a second, best of 3\n")
    print("| input | bytes | dedup, dry run | dedup | pyarrow, read | pyarrow, read and write |\n|---|---:|---:|---:|---:|---:|")
    forms = {
        "Parquet, snappy": {},
        "Parquet, zstd": {"compression": "zstd", "row_group_size": 10_000},
        "Parquet, plain": {"compression": "none", "use_dictionary": False, "row_group_size": 20_000},
    }
    out, again = os.path.join(folder, "out"), os.path.join(folder, "again.parquet")
    for name, options in {"JSON Lines": None, **forms}.items():
        path = corpus if options is None else os.path.join(folder, "times.parquet")
        if options is not None:
            pq.write_table(table, path, **options)

        def best(work, after=lambda: None):
            times = []
            for _ in range(3):
                times.append(seconds(work))
                after()
            return f"{texts / min(times) / 1e6:.0f}"

        dry = best(lambda: alike(program, "dedup", path, "--dry-run"))
        wet = best(lambda: alike(program, "dedup", path, "--out", out), lambda: shutil.rmtree(out))
        read = both = "-"
        if options is not None:
            read = best(lambda: pq.read_table(path))
            both = best(lambda: pq.write_table(pq.read_table(path), again, **options))
            os.remove(again)
        print(f"| {name} | {os.path.getsize(path)} | {dry} | {wet} | {read} | {both} |")
        if options is not None:
            os.remove(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("alike")
    parser.add_argument("corpus")
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--no-times", action="store_true")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    with open(arguments.corpus, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rows = [{"id": str(row["id"]), "text": row["text"]} for row in rows]
    table = wide(rows[: arguments.rows])
    print(f"pyarrow {pa.__version__}")
    for name, options in KINDS.items():
        check(arguments.alike, arguments.folder, name, table if options.get("row_group_size") != 1 else table.slice(0, 300), options)
    if not arguments.no_times:
        text = pa.table({"id": [row["id"] for row in rows], "text": [row["text"] for row in rows]})
        measure(arguments.alike, arguments.corpus, arguments.folder, text)
    return 0


sys.exit(main())
