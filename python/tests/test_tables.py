"""Tables of every library give what the program finds in the same records, and come back with all their columns."""

from __future__ import annotations

import datetime
import decimal
import gc
import io
import os
from pathlib import Path
from typing import Any

import pytest

import alike

pa = pytest.importorskip("pyarrow")


def kept_ids(found: alike.Result) -> list[str]:
    return [row["id"] for row in found.kept.to_dicts()]


def frames(records: list[dict[str, Any]]) -> dict[str, Any]:
    """The same rows as each library that is installed has them."""
    table = pa.Table.from_pylist(records)
    given: dict[str, Any] = {"pyarrow": table, "chunks": pa.concat_tables([table.slice(0, 100), table.slice(100)])}
    given["reader"] = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7))
    try:
        import polars

        given["polars"] = polars.DataFrame(records)
        given["lazy polars"] = polars.LazyFrame(records)
        given["categories"] = polars.DataFrame(records).with_columns(polars.col("id").cast(polars.Categorical))
    except ImportError:
        pass
    try:
        import pandas

        given["pandas"] = pandas.DataFrame(records)
    except ImportError:
        pass
    try:
        import duckdb

        given["duckdb"] = duckdb.from_arrow(table)
    except ImportError:
        pass
    try:
        import datasets

        given["datasets"] = datasets.Dataset.from_list(records)
        given["chosen"] = datasets.Dataset.from_list(records[::-1]).select(range(len(records) - 1, -1, -1))
        given["iterable"] = datasets.Dataset.from_list(records).to_iterable_dataset()
    except ImportError:
        pass
    # Where all libraries are said to be there, none is passed over.
    assert len(given) == 11 or "ALIKE_ALL_LIBRARIES" not in os.environ, list(given)
    return given


def test_every_library_gives_what_the_program_finds(records: list[dict[str, Any]]) -> None:
    program = alike.dedup("samples/licences.jsonl", pairs=True)
    expected = kept_ids(program)
    assert len(expected) == 129
    for name, frame in frames(records).items():
        found = alike.dedup(frame, pairs=True)
        assert kept_ids(found) == expected, name
        assert found.pairs.to_dicts() == program.pairs.to_dicts(), name
        assert found.clusters.to_dicts() == program.clusters.to_dicts(), name
        assert len(found.removed_rows) == len(found.removed) == 198, name


def test_rows_without_ids_are_known_by_their_numbers(records: list[dict[str, Any]]) -> None:
    texts = pa.table({"text": [record["text"] for record in records]})
    found = alike.dedup(texts)
    assert found.kept.columns == ["text"]
    removed = found.removed.to_dicts()
    assert [row["row"] for row in removed] == [int(row["id"]) for row in removed]
    named = alike.dedup(pa.Table.from_pylist(records))
    assert [records[row["row"]]["id"] for row in removed] == [row["id"] for row in named.removed.to_dicts()]
    first = removed[0]
    assert found.explain(first["row"])["representative"] == first["representative_row"]


def every_type(rows: range) -> Any:
    day = datetime.datetime(2026, 11, 26, 12, tzinfo=datetime.timezone.utc)
    kinds = pa.array(["kind 0", "kind 1", "kind 2"])
    columns = {
        "whole": pa.array(rows, pa.uint16()),
        "real": pa.array([None if i % 7 == 0 else i / 3 for i in rows], pa.float32()),
        "money": pa.array([decimal.Decimal(i).scaleb(-2) for i in rows], pa.decimal128(12, 2)),
        "when": pa.array([day + datetime.timedelta(days=i) for i in rows], pa.timestamp("us", "UTC")),
        "list": pa.array([list(range(i % 4)) for i in rows], pa.list_(pa.int32())),
        "struct": pa.array([{"a": i, "b": [str(i)]} for i in rows]),
        "map": pa.array([[("k", i)] for i in rows], pa.map_(pa.string(), pa.int64())),
        "dictionary": pa.DictionaryArray.from_arrays(pa.array([i % 3 for i in rows], pa.int32()), kinds),
        "view": pa.array([f"a view of some length {i}" for i in rows], pa.string_view()),
        "binary": pa.array([bytes([i]) for i in rows]),
        "fixed": pa.array([bytes([i, i]) for i in rows], pa.binary(2)),
        "nothing": pa.nulls(len(rows)),
        "body": pa.array([f"one and two and three and four and five {i // 2}" for i in rows], pa.large_string()),
    }
    return pa.table(columns).replace_schema_metadata({"origin": "here"})


def test_all_columns_come_back_as_they_were() -> None:
    found = alike.dedup(every_type(range(50)), text="body")
    assert pa.table(found.kept).equals(every_type(range(0, 50, 2)), check_metadata=True)
    assert pa.table(found.removed_rows).equals(every_type(range(1, 50, 2)), check_metadata=True)


def test_a_member_of_a_struct_is_the_text(records: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist([{"meta": {"text": r["text"], "key": r["id"]}} for r in records])
    found = alike.dedup(table, text="meta.text", id="meta.key")
    assert len(found.kept) == 129
    assert found.removed.to_dicts(1)[0]["id"] == "common/GFDL-1.3"


def test_what_is_protected_stands_for_what_resembles_it(records: list[dict[str, Any]]) -> None:
    old = pa.Table.from_pylist(records[:100])
    new = pa.Table.from_pylist(records[100:])
    found = alike.dedup(new, against={"old": old})
    both = alike.dedup(new)
    assert found.summary["removed"] > both.summary["removed"]
    met = [row for row in found.removed.to_dicts() if row["against_set"] == "old"]
    assert met and all(row["representative"] in {r["id"] for r in records[:100]} for row in met)
    unnamed = alike.dedup(new.select(["text"]), against=old.select(["text"]))
    assert unnamed.summary["removed"] == found.summary["removed"]
    removed = unnamed.removed.to_dicts()
    assert {row["against_set"] for row in removed} == {None, "against"}
    for row in removed:
        own = row["representative_row"]
        assert row["representative"] == (str(own) if own is not None else f"against:{row['against_line'] - 1}")
    first = next(row["row"] for row in removed if row["against_set"])
    assert unnamed.explain(first)["document"]["id"] == first


def test_ids_that_repeat_are_told_apart_by_their_rows() -> None:
    table = pa.table({"id": ["x", "x", "a\nb"], "text": ["a b c", "a b c", "d e f"]})
    found = alike.dedup(table)
    assert len(found.kept) == 2
    with pytest.raises(alike.UsageError, match=r"the table, row 0.*the table, row 1"):
        found.explain("x")
    assert found.explain(1, rows=True)["document"]["line"] == 2


def test_views_are_written_without_what_they_do_not_show() -> None:
    polars = pytest.importorskip("polars")
    long = [f"row {i} " + "with a long text " * 20 for i in range(60_000)]
    frame = polars.DataFrame({"text": long, "more": [{"a": [text]} for text in long]})
    size = 2 * sum(map(len, long))
    for part, most in ((frame, 1.2 * size), (frame.head(10), 30_000), (frame.gather_every(100), 0.02 * size)):
        found = alike.dedup(part, method="exact")
        assert found._rows.sent is not None and found._rows.sent.stat().st_size < most
        assert found.kept.to_polars().equals(part)


def test_a_stream_outlives_its_result(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"text": "of {name}"}}\n')
    kept = pa.RecordBatchReader.from_stream(alike.dedup([str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]).kept)
    gc.collect()
    assert kept.read_all()["text"].to_pylist() == ["of a", "of b"]


def test_a_table_is_read_again_after_the_result_is_gone(records: list[dict[str, Any]], left: Any) -> None:
    kept = alike.dedup(pa.Table.from_pylist(records)).kept
    assert len(kept.to_dicts()) == len(kept) == 129
    assert len(left()) == 1
    del kept
    assert left() == []


def test_pairs_are_the_same_sooner_and_later(records: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(records)
    assert alike.dedup(table).pairs.to_dicts() == alike.dedup(table, pairs=True).pairs.to_dicts()


def test_thresholds_nearby(records: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(records)
    found = alike.dedup(table, threshold=0.9)
    near = found.near_threshold(5)
    assert [pair["near_duplicates"] for pair in near] == [False] * 5 + [True] * 5
    alike_by = [pair["resemblance"] for pair in near]
    assert alike_by == sorted(alike_by) and alike_by[4] < 0.9 <= alike_by[5]
    texts = {record["id"]: record["text"] for record in records}
    for pair in near:
        assert alike.resemblance(texts[pair["a"]], texts[pair["b"]]) == pair["resemblance"]
    lower = found.rethreshold(0.5)
    assert lower.summary["removed"] == alike.dedup(table, threshold=0.5).summary["removed"]


def test_shingles_are_what_resemblance_counts(records: list[dict[str, Any]]) -> None:
    a, b = records[4]["text"], records[5]["text"]
    one, other = ({shingle.lower() for shingle in alike.shingles(text)} for text in ("One two, THREE", "one two three"))
    assert one == {"one two, three"} and other == {"one two three"}
    assert alike.shingles("a b c a b c", ngram=3) == ["a b c", "b c a", "c a b"]
    assert alike.shingles("") == [] and alike.shingles("one") == ["one"]
    assert 0.85 < alike.resemblance(a, b) < 0.86
    assert alike.resemblance("", "") == 0.0
    with pytest.raises(ValueError, match="at least 1"):
        alike.shingles("a", ngram=0)


def test_no_cluster_stands_on_both_sides(records: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(records)
    train, test = alike.split(table, test_size=0.3, seed=7)
    assert len(train) + len(test) == len(table)
    assert 0.25 * len(table) < len(test) <= 0.3 * len(table) + 1
    assert alike.dedup(test, against=train).summary["removed"] == alike.dedup(test).summary["removed"]
    again = alike.split(table, test_size=0.3, seed=7)
    assert pa.table(again[1]).equals(pa.table(test))
    assert not pa.table(alike.split(table, test_size=0.3, seed=8)[1]).equals(pa.table(test))
    rows = sorted(row["id"] for side in (train, test) for row in side.to_dicts())
    assert rows == sorted(record["id"] for record in records)
    # A row without a word, and none that is refused, is on a side.
    odd = pa.table({"text": ["a b c", "...", None, "a b c"]})
    train, test = alike.split(odd, test_size=0.5, max_rejected=100)
    assert sorted(row["text"] for side in (train, test) for row in side.to_dicts()) == ["...", "a b c", "a b c"]
    # The whole in its order when nothing is held back.
    assert pa.table(alike.split(table, test_size=0)[0]).equals(table)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_says_how_far_the_work_is_where_somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, progress, shown in (
        (Terminal(), None, True),
        (Terminal(), False, False),
        (io.StringIO(), None, False),
        (io.StringIO(), True, True),
    ):
        monkeypatch.setattr("sys.stderr", stream)
        alike.dedup("samples/licences.jsonl", progress=progress)
        told = stream.getvalue()
        assert ("\ralike: write 100 %, 327 documents" in told) == shown, (told, progress)
        # The line is gone when the work is done.
        assert told.endswith(" \r") == shown, told


def test_a_notebook_shows_a_table_and_a_picture(records: list[dict[str, Any]]) -> None:
    found = alike.dedup(pa.Table.from_pylist(records))
    shown = found._repr_html_()
    assert "<svg" in shown and "129 (39.4 %)" in shown
    rows = found.clusters._repr_html_()
    assert rows.count("<tr>") == 11 and "and 37 more rows" in rows
    assert "&lt;b&gt;" in alike.dedup(pa.table({"text": ["<b>"]})).kept._repr_html_()


def test_no_share_is_more_than_was_asked_for() -> None:
    texts = [f"{at} alone here" for at in range(100)]
    wanted = [(1, 0.5, 0), (3, 0.5, 1), (7, 0.1, 0), (10, 0.25, 2), (10, 0.3, 3), (100, 0.29, 29), (100, 0.57, 57), (100, 0.58, 58)]
    for rows, share, tested in wanted:
        train, test = alike.split(pa.table({"text": texts[:rows]}), test_size=share)
        assert (len(train) + len(test), len(test)) == (rows, tested)
    with pytest.raises(alike.UsageError, match="connected components"):
        alike.split(pa.table({"text": texts}), clustering="guarantee")


def test_numbers_of_rows_are_those_of_this_table() -> None:
    table = pa.table({"text": ["a b c", "a b c", "x y"], "alike_row": [7, 8, 9]})
    with pytest.raises(alike.UsageError, match="has a column 'alike_row'"):
        alike.dedup(table)
    assert len(alike.dedup(table, id="alike_row").kept) == 2


def test_protected_rows_without_ids_are_numbered_beside_rows_with_ids() -> None:
    data = pa.table({"id": ["a", "b"], "text": ["x y z", "one two three"]})
    old = pa.table({"text": ["no words of these", "x y z"]})
    assert alike.dedup(data, against=old).removed.to_dicts()[0]["representative"] == "against:1"
    assert alike.dedup(data, against={"old": old}).removed.to_dicts()[0]["representative"] == "old:1"


def test_questions_after_a_run_write_nothing_of_it(records: list[dict[str, Any]], tmp_path: Path) -> None:
    table = pa.Table.from_pylist(records)
    page, out = tmp_path / "page.html", tmp_path / "out"
    found = alike.dedup(table, report=page, profile=tmp_path / "times", out=out, to="parquet", annotate=True, assignments=True)
    written = page.read_bytes()
    assert len(found.pairs) and found.rethreshold(0.9).summary["removed"] == 151 and found.near_threshold(1)
    assert page.read_bytes() == written
    assert len(alike.dedup(table, to="jsonl").kept) == 129
    with pytest.raises(alike.UsageError, match="name a folder with out"):
        alike.dedup(table, annotate=True)
    with pytest.raises(alike.UsageError, match="out is a folder here"):
        alike.dedup(table, out="s3://bucket/clean")


def test_a_sample_of_a_table_is_all_of_it(records: list[dict[str, Any]]) -> None:
    told = alike.tune(pa.Table.from_pylist(records), threshold="0.8")
    assert told["whole"] and told["thresholds"][0]["removed_of_all"] == 198
