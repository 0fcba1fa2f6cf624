#!/usr/bin/env python3
"""Rewritten Parquet in the programs that people read it with: kept rows, types, and what each program notes in metadata.

    benches/readers.py PROGRAM INPUT.jsonl [--records N] [--folder FOLDER]

PROGRAM is built with `--features full`. Of the first N records (3,000) of INPUT.jsonl, `datasets` writes a file with a
ClassLabel, a list and a struct, pandas one with an index, categories, zones and nullable numbers, and polars one with categories
and an enumeration; pyarrow writes one with metadata of its own and small row groups. PROGRAM removes near-duplicates from each. What is kept has to be the table without the
removed rows for pyarrow, of each row group `Table.equals(check_metadata=True)`, and be read alike by datasets (features too), pandas (types and
index too), polars, DuckDB and Spark. Each reader is used where it is installed (pip install pyarrow datasets pandas polars
duckdb pyspark; Spark needs Java); the table says which. Ends with 1 if anything differs."""

import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def has(module):
    return importlib.util.find_spec(module) is not None


def records(path, most):
    with open(path, encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for _, line in zip(range(most), lines)]
    # A shorter text is enough, and near-duplicates stay some.
    return [{"id": f"r{at}", "text": text[:2000]} for at, text in enumerate(texts)]


def of_datasets(rows, path):
    """As the hub has it: what the columns are stands in the metadata."""
    import datasets

    kinds = datasets.ClassLabel(names=["law", "licence", "other"])
    value = datasets.Value
    features = datasets.Features({
        "id": value("string"), "text": value("large_string"), "kind": kinds, "tags": datasets.Sequence(value("string")),
        "meta": {"source": value("string"), "year": value("int16")}, "score": value("float32"),
    })  # fmt: skip
    columns = {
        "id": [row["id"] for row in rows],
        "text": [row["text"] for row in rows],
        "kind": [at % 3 for at in range(len(rows))],
        "tags": [[f"t{at % 5}"] * (at % 3) for at in range(len(rows))],
        "meta": [{"source": f"s{at % 7}", "year": 1990 + at % 30} for at in range(len(rows))],
        "score": [at / 8 for at in range(len(rows))],
    }
    datasets.Dataset.from_dict(columns, features=features).to_parquet(str(path))


def of_pandas(rows, path):
    """A frame whose index, categories and zones stand in the metadata alone."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    # Categories in an order of their own, and one that no row has.
    frame["kind"] = pd.Categorical([f"k{at % 4}" for at in range(len(rows))], ["k2", "none", "k0", "k3", "k1"])
    sizes = [None if at % 9 == 2 else ("small", "large")[at // 40 % 2] for at in range(len(rows))]
    frame["size"] = pd.Categorical(sizes, ["small", "middle", "large"], ordered=True)
    frame["when"] = pd.date_range("2024-01-01", periods=len(rows), freq="h", tz="Europe/Vienna")
    frame["count"] = pd.array([None if at % 7 == 0 else at for at in range(len(rows))], dtype="Int32")
    frame.index = pd.Index([f"row {at}" for at in range(len(rows))], name="row")
    frame.to_parquet(path, row_group_size=500)


def of_pyarrow(rows, path):
    """Metadata of the file, of a column, and a dictionary."""
    table = pa.table({
        "id": [row["id"] for row in rows],
        "text": [row["text"] for row in rows],
        "kind": pa.array([f"k{at % 4}" for at in range(len(rows))]).dictionary_encode(),
        "number": pa.array(range(len(rows)), pa.uint64()),
    })  # fmt: skip
    field = table.schema.field("number").with_metadata({"unit": "m"})
    table = table.cast(table.schema.set(3, field)).replace_schema_metadata({"mine": "yes"})
    pq.write_table(table, path, row_group_size=300, compression="zstd", write_page_index=True, sorting_columns=None)


def of_polars(rows, path):
    """A frame with categories, an enumeration of which a member is not used, and row groups of few rows."""
    import polars as pl

    kinds = [None if at % 11 == 0 else f"k{at // 30 % 4}" for at in range(len(rows))]
    columns = {"kind": pl.Series(kinds, dtype=pl.Categorical), "level": pl.Series(kinds, dtype=pl.Enum(["k3", "no", "k1", "k0", "k2"]))}
    frame = pl.DataFrame(rows).with_columns(**columns)
    frame.write_parquet(path, row_group_size=400, compression="zstd")


WRITERS = {"datasets": of_datasets, "pandas": of_pandas, "polars": of_polars, "pyarrow": of_pyarrow}


def in_datasets(path, cache):
    import datasets

    datasets.disable_progress_bars()
    return datasets.Dataset.from_parquet(str(path), cache_dir=str(cache))


def same_in_pyarrow(source, target, kept):
    """Whether each row group has the kept rows of that of the source, with the same dictionaries."""
    at, groups = 0, 0
    for group in range(source.num_row_groups):
        table = source.read_row_group(group)
        is_kept = [at + row in kept for row in range(table.num_rows)]
        at += table.num_rows
        if any(is_kept):
            wanted, found = table.filter(pa.array(is_kept)), target.read_row_group(groups)
            groups += 1
            if not found.equals(wanted, check_metadata=True):
                return False
    return groups == target.num_row_groups and source.metadata.metadata == target.metadata.metadata


def compared(reader, source, target, kept, folder):
    """Whether a reader has of the target the kept rows of the source, and all that it says of them."""
    if reader == "pyarrow":
        return same_in_pyarrow(pq.ParquetFile(source), pq.ParquetFile(target), set(kept))
    if reader == "datasets":
        one, other = in_datasets(target, folder / "c1"), in_datasets(source, folder / "c2")
        return one.features == other.features and one[:] == other.select(kept)[:]
    if reader == "pandas":
        import pandas as pd

        wanted = pd.read_parquet(source).iloc[kept]
        if not wanted.index.name:
            # Numbers of rows are not in the file: pandas counts anew.
            wanted = wanted.reset_index(drop=True)
        pd.testing.assert_frame_equal(pd.read_parquet(target), wanted)
        return True
    if reader == "polars":
        import polars as pl

        one, other = pl.read_parquet(target), pl.read_parquet(source)
        return one.schema == other.schema and one.equals(other[kept])
    if reader == "duckdb":
        import duckdb

        def rows(path):
            found = duckdb.sql(f"select * from read_parquet('{path}')")
            return found.types, found.fetchall()

        (types, found), (other_types, all_of_it) = rows(target), rows(source)
        said = "select key, value from parquet_kv_metadata('{}') order by all"
        metadata = [duckdb.sql(said.format(path)).fetchall() for path in (target, source)]
        return types == other_types and found == [all_of_it[at] for at in kept] and metadata[0] == metadata[1]
    spark = session(folder)
    one, other = spark.read.parquet(str(target)), spark.read.parquet(str(source))
    all_of_it = other.collect()
    return one.schema == other.schema and one.collect() == [all_of_it[at] for at in kept]


def session(folder):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.warehouse.dir", str(folder)).config("spark.log.level", "ERROR")
    # One file is one partition, so that rows stay in their order.
    builder = builder.config("spark.sql.files.maxPartitionBytes", str(1 << 40))
    return builder.getOrCreate()


def kept_rows(out, count):
    """The rows that the lists do not remove."""
    removed = {json.loads(line)["line"] - 1 for line in open(out / "duplicates.jsonl", encoding="utf-8")}
    return [row for row in range(count) if row not in removed]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("input", type=Path)
    parser.add_argument("--records", type=int, default=3000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    rows, wrong = records(options.input, options.records), 0
    readers = [name for name in ("pyarrow", "datasets", "pandas", "polars", "duckdb", "pyspark")
               if has(name) and (name != "pyspark" or shutil.which("java"))]  # fmt: skip
    print(f"| written by | rows | kept | {' | '.join(readers)} |\n|---|---:|---:|{'---|' * len(readers)}")
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        for writer, write in WRITERS.items():
            if not has(writer):
                continue
            source, out = folder / f"{writer}.parquet", folder / f"out-{writer}"
            write(rows, source)
            line = [options.program.resolve(), "dedup", source, "--out", out, "--threshold", "0.7", "-q"]
            subprocess.run(line, check=True)
            kept, said = kept_rows(out, len(rows)), []
            if len(kept) in (0, len(rows)):
                sys.exit("nothing was removed, or all: use a file with near-duplicates")
            for reader in readers:
                try:
                    same = compared(reader, source, out / "kept" / source.name, kept, folder)
                except Exception as error:  # What a reader says against a file is what is looked for.
                    same, error = False, f"{type(error).__name__}: {error}"
                    print(f"{reader}: {error[:600]}", file=sys.stderr)
                said.append("the same" if same else "DIFFERS")
                wrong += not same
            print(f"| {writer} | {len(rows)} | {len(kept)} | {' | '.join(said)} |", flush=True)
    sys.exit(int(wrong > 0))


if __name__ == "__main__":
    main()
