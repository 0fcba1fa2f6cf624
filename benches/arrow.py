#!/usr/bin/env python3
"""Arrow by another implementation: what `alike` reads and writes held against pyarrow, and their speed.

    benches/arrow.py ALIKE CORPUS.jsonl FOLDER [--rows N]
    benches/arrow.py --fixtures FOLDER

Needs pyarrow (`pip install pyarrow`), and an `alike` built with `--features formats`. Makes files and streams of the records of
CORPUS in FOLDER with many types of columns, dictionaries that grow and that are replaced, and each compression. It removes
near-duplicates from each with ALIKE. It fails unless the lists are those of JSON Lines, and what is kept and what is removed
are the batches without the other rows: values, schema, metadata of schema and batches, dictionaries. With `--to parquet`
pyarrow must read the same values, types and metadata, but for types that Parquet does not have. Then prints how long
`dedup` takes of the same texts as JSON Lines and as Arrow, and pyarrow to read and to convert them. The checks take N records
(3,000), the times all. `--fixtures` writes what `tests/arrows` has: rows of each type, as pyarrow writes them as Arrow and as
Parquet.
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
import pyarrow.compute as pc
import pyarrow.ipc as ipc
import pyarrow.parquet as pq


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


def typed(rows):
    """A table with a column of each type that Parquet has a place for; every seventh value is null."""
    n = len(rows)

    def some(value):
        return [None if at % 7 == 3 else value(at) for at in range(n)]

    table, columns = wide(rows).drop(["sparse", "dense", "list_view"]), {}
    for bits in (8, 16, 32, 64):
        whole, least = getattr(pa, f"int{bits}")(), -(2 ** (bits - 1))
        columns[str(whole)] = pa.array(some(lambda at: least + at % 120), whole)
        whole = getattr(pa, f"uint{bits}")()
        columns[str(whole)] = pa.array(some(lambda at: 2**bits - 1 - at % 120), whole)
    columns["double"] = pa.array(some(lambda at: [1 / (at + 1), float("inf"), -0.0][at % 3]))
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "Europe/Berlin", "+02:00"):
            kind = pa.timestamp(unit, zone)
            columns[str(kind)] = pa.array(some(lambda at: at * 1_000_003 - 10**6), kind)
        columns[f"duration {unit}"] = pa.array(some(lambda at: at - 5), pa.duration(unit))
    for kind, second in ((pa.time32("s"), 1), (pa.time32("ms"), 10**3), (pa.time64("us"), 10**6), (pa.time64("ns"), 10**9)):
        columns[str(kind)] = pa.array(some(lambda at: at * 13 % 86_400 * second + second // 3), kind)
    columns["day in ms"] = pa.array(some(lambda at: (at - 9) * 86_400_000), pa.date64())
    for kind in (pa.decimal32(9, 2), pa.decimal64(18, 3), pa.decimal128(38, 10), pa.decimal128(3, 0), pa.decimal256(76, 5), pa.decimal256(20, 5)):
        most = 10**kind.precision - 1
        number = lambda at: decimal.Decimal([at % 1000, -(at % 1000), most, -most][at % 4]).scaleb(-kind.scale, decimal.Context(prec=100))
        columns[str(kind)] = pa.array(some(number), kind)
    texts = pa.array(some(lambda at: rows[at]["text"]))
    for kind in (pa.large_string(), pa.large_binary(), pa.binary_view()):
        columns[str(kind)] = texts.cast(kind)
    words = pa.array(some(lambda at: f"word {at % 5}"))
    columns["dictionary of bytes"] = words.cast(pa.binary()).dictionary_encode()
    columns["dictionary of decimals"] = pa.array(some(lambda at: at % 5)).cast(pa.decimal128(21, 2)).dictionary_encode()
    columns["dictionary of moments"] = pa.array(some(lambda at: at % 5), pa.timestamp("us", "UTC")).dictionary_encode()
    columns["dictionary of truths"] = pa.array(some(lambda at: at % 2 == 0)).dictionary_encode()
    columns["dictionary of doubles"] = pa.array(some(lambda at: (at % 5) / 3)).dictionary_encode()
    keys = pa.array(some(lambda at: at % 3), pa.uint8())
    columns["dictionary with nulls"] = pa.DictionaryArray.from_arrays(keys, pa.array(["a", None, "c"]), ordered=True)
    columns["runs of dates"] = pc.run_end_encode(pa.array([None if at // 4 % 3 == 0 else at // 4 for at in range(n)], pa.date32()))
    columns["runs of words"] = pc.run_end_encode(words, pa.int64())
    pairs = [{"a": at // 3, "b": None if at % 5 == 0 else f"b{at // 3}"} for at in range(0, n, 3)]
    ends = pa.array([min(at + 3, n) for at in range(0, n, 3)], pa.int16() if n < 30_000 else pa.int32())
    columns["runs of structs"] = pa.RunEndEncodedArray.from_arrays(ends, pa.array(pairs))
    deep = some(lambda at: [None if one == 1 else [{"k": f"{at}", "v": [[one], [], None]}] * one for one in range(at % 4)])
    columns["deep"] = pa.array(deep)
    columns["many"] = pa.array(some(lambda at: list(range(at * 7 % 50)) if at % 97 else list(range(20_000))), pa.large_list(pa.uint16()))
    columns["wide map"] = pa.array(some(lambda at: [(key, [f"{key}"] * key) for key in range(at % 3)]), pa.map_(pa.int64(), pa.list_(pa.string())))
    columns["listed words"] = pa.ListArray.from_arrays(pa.array(range(n + 1), pa.int32()), words.dictionary_encode())
    columns["hidden"] = pa.StructArray.from_arrays([words, pa.array(range(n))], ["word", "at"], mask=pa.array([at % 3 == 1 for at in range(n)]))
    fields = [pa.field("never null", pa.int64(), nullable=False), pa.field("tight", pa.list_(pa.field("one", pa.int8(), nullable=False)), nullable=False)]
    arrays = [pa.array(range(n)), pa.array([[1] * (at % 3) for at in range(n)], fields[1].type)]
    for name, column in columns.items():
        fields.append(pa.field(name, column.type, metadata={"about": name}))
        arrays.append(column)
    schema = pa.schema([*table.schema, *fields], metadata={**table.schema.metadata, b"bytes": b"\xff\xfe"})
    return pa.table([*table.columns, *arrays], schema=schema)


def plain(kind):
    """The type that pyarrow should read from Parquet in the place of another one."""
    if pa.types.is_run_end_encoded(kind):
        return plain(kind.value_type)
    if pa.types.is_dictionary(kind):
        is_text = pa.types.is_string(kind.value_type) or pa.types.is_binary(kind.value_type)
        return pa.dictionary(pa.int32(), kind.value_type, kind.ordered) if is_text else plain(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_date64(kind):
        return pa.date32()
    if pa.types.is_time32(kind):
        return pa.time32("ms")
    if pa.types.is_timestamp(kind) and kind.unit == "s":
        return pa.timestamp("ms", kind.tz)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(plain(field.type)) for field in kind])
    for is_list, make in ((pa.types.is_large_list, pa.large_list), (pa.types.is_list, pa.list_)):
        if is_list(kind):
            return make(kind.value_field.with_name("element").with_type(plain(kind.value_type)))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_name("element").with_type(plain(kind.value_type)), kind.list_size)
    if pa.types.is_map(kind):
        return pa.map_(plain(kind.key_type), plain(kind.item_type))
    return kind


def check_table(path, out, side):
    """Fails unless one half of what a run wrote as Parquet has the rows of that half, as pyarrow reads them."""
    _, schema, before = batches(path)
    name = os.path.basename(path).rsplit(".", 1)[0] + ".parquet"
    made = pq.read_table(f"{out}/{side}/{name}")
    made.validate(full=True)
    gone = {row["line"] - 1 for row in listed(out, "duplicates.jsonl") + listed(out, "rejected.jsonl")}
    rows = [row for row in range(sum(found.batch.num_rows for found in before)) if (row in gone) == (side == "removed")]
    assert schema.names == made.schema.names and made.num_rows == len(rows), f"{path}: other columns or rows"
    assert schema.metadata == made.schema.metadata, f"{path}: other metadata: {made.schema.metadata}"
    for at, field in enumerate(schema):
        of, kind = made.schema.field(at), plain(field.type)
        # Newer ones of pyarrow read some types as they were.
        assert plain(of.type) == kind, f"{path}, {field.name}: {of.type}, not {kind}"
        assert of.nullable == field.nullable, f"{path}, {field.name}: nullable {of.nullable}"
        said = {key: of.metadata[key] for key in of.metadata or {} if key != b"PARQUET:field_id"}
        assert said == (field.metadata or {}), f"{path}, {field.name}: {said}"
        values = [value for found in before for value in found.batch.column(at).to_pylist()]
        # As text, so that no number is another one than itself.
        found, wanted = made.column(at).to_pylist(), [values[row] for row in rows]
        if pa.types.is_duration(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind):
            # What Python has for them may be of other units.
            column = pa.chunked_array([found.batch.column(at) for found in before], field.type)
            wanted = column.take(rows).cast(kind).cast(pa.int64() if kind.bit_width == 64 else pa.int32()).to_pylist()
            found = made.column(at).cast(pa.int64() if kind.bit_width == 64 else pa.int32()).to_pylist()
        assert str(found) == str(wanted), f"{path}, {side}: {field.name}"
    return len(gone)


def hold_tables(alike, rows, folder):
    """Holds rows of each type, written as Parquet, against pyarrow."""
    table, out = typed(rows), os.path.join(folder, "tables")
    for stream in (False, True):
        for size, compression in ((100, None), (10**9, None), (333, "zstd"), (1000, "lz4")):
            path = os.path.join(folder, f"typed-{'stream' if stream else 'file'}-{size}-{compression}.arrow")
            write(path, table, stream, size, compression)
            made = set()
            for workers in (1, 2, 3):
                dedup(alike, path, out, "--threshold", "0.7", "--write-removed", "--to", "parquet", "-w", str(workers))
                gone = check_table(path, out, "kept")
                assert gone and check_table(path, out, "removed") == gone
                with open(f"{out}/kept/{os.path.basename(path).replace('.arrow', '.parquet')}", "rb") as file:
                    made.add(file.read())
            assert len(made) == 1, f"{path}: other bytes with other workers"
            print(f"{os.path.basename(path)}: as Parquet the same, {gone} of {len(rows)} rows removed")
    dedup(alike, path, out, "--threshold", "0.7", "--annotate", "--to", "parquet")
    annotated = pq.read_table(f"{out}/annotated/{os.path.basename(path).replace('.arrow', '.parquet')}")
    assert annotated.num_rows == len(rows) and b"huggingface" not in annotated.schema.metadata
    assert annotated.column("alike_kept").to_pylist().count(False) == gone
    assert annotated.schema.field("alike_resemblance").type == pa.float64()
    assert annotated.schema.field("duration s").type == pa.duration("s")


def unrolled(column):
    """A column without runs, and without dictionaries that have nulls: pyarrow does not write them as Parquet."""
    kind = column.type
    is_made = pa.types.is_run_end_encoded(kind) or pa.types.is_dictionary(kind)
    return pa.array(column.to_pylist(), kind.value_type) if is_made else column


def fixtures(folder):
    """Writes small files of each type."""
    table = typed([{"id": f"{at}", "text": f"text {at}"} for at in range(16)]).drop(["many"]).combine_chunks()
    os.makedirs(folder, exist_ok=True)
    write(os.path.join(folder, "types.arrow"), table, True, 9)
    columns = [unrolled(column.chunk(0)) for column in table.columns]
    fields = [field.with_type(column.type) for field, column in zip(table.schema, columns)]
    pq.write_table(pa.table(columns, schema=pa.schema(fields)), os.path.join(folder, "types.parquet"), store_schema=False)
    table = wide([{"id": f"{at}", "text": f"text {at}"} for at in range(16)])
    noted = table.select(["id", "text"]).append_column("alike_kept", pa.array([True] * 16))
    write(os.path.join(folder, "noted.arrow"), noted, True, 16)
    table = table.append_column("interval", pa.array([pa.MonthDayNano([1, 2, at]) for at in range(16)]))
    table = table.append_column("lists", pa.DictionaryArray.from_arrays(pa.array([0] * 16), pa.array([["a"]])))
    ids = pa.array([f"{at}" for at in range(600)])
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([600], pa.int32()), pa.array(["x" * 50_000]))
    write(os.path.join(folder, "runs.arrow"), pa.table({"id": ids, "text": ids, "runs": runs}), True, 600, "zstd")
    for name in ("sparse", "dense", "list_view", "interval", "lists"):
        write(os.path.join(folder, f"{name}.arrow"), table.select(["id", "text", name]), True, 16)


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
        said = f"{os.path.basename(path)}: {os.path.getsize(path) / 1e6:.0f} MB, {took:.2f} s"
        if path != lines:
            start = time.time()
            table = ipc.open_file(path).read_all()
            said += f", pyarrow {time.time() - start:.2f}"
            flags = ["--method", "exact", "-w", "1"]
            own, made = (min(dedup(alike, path, os.path.join(folder, "none"), *flags, *to) for _ in range(3)) for to in ([], ["--to", "parquet"]))
            start = time.time()
            pq.write_table(table, os.path.join(folder, "none.parquet"), compression="zstd", compression_level=3)
            said += f"; written {own:.2f} s, as Parquet {made:.2f} s, pyarrow {time.time() - start:.2f}"
        print(said)


def main():
    """Checks, and then measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("alike", nargs="?")
    parser.add_argument("corpus", nargs="?")
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--fixtures")
    given = parser.parse_args()
    if given.fixtures:
        return fixtures(given.fixtures)
    if not given.folder:
        parser.error("ALIKE, CORPUS and FOLDER are needed")
    os.makedirs(given.folder, exist_ok=True)
    with open(given.corpus) as corpus:
        rows = [json.loads(line) for line in corpus]
    rows = [{"id": str(row.get("id", at)), "text": row["text"]} for at, row in enumerate(rows) if row.get("text")]
    hold(given.alike, rows[: given.rows], given.folder)
    hold_tables(given.alike, rows[: given.rows], given.folder)
    times(given.alike, rows, given.folder)


if __name__ == "__main__":
    sys.exit(main())
